"""The summary of a run: what moved, how far energy drifted, what the joints carried and leaked, what happened, what was written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from coordinator.record.across import internal_errors, joint_forces, joint_gaps, joint_turns, ledgers, reading
from coordinator.record.at_a_glance import leaked_within
from coordinator.record.lifetimes import Ever
from coordinator.record.run import Run
from coordinator.record.turning import anything_acts, coordinates, efforts, some_samples
from modular.elements import Array
from modular.ledger import LEDGER
from scenarios.report.balance import Balance, balance
from scenarios.report.mechanism import dimension, joint_classes
from scenarios.report.page import peak, quantity, worst
from scenarios.report.progress import rate_text, waiting

MAX_ROWS = 12
MAX_LEAKS = 4  # bodies
MAX_SAMPLES = 1000  # at which efforts are worked out for a table or a picture
ROUNDING_SHARE = 1e-12  # of the extent: rounding
REST_ENERGY_SHARE = 1e-12  # of the energy at hand: less in motion is rounding
PARTS = {
    "gave": "joint '{joint}' yields most",
    "slid": "joint '{joint}' slides",
    "swallowed": "{taker} removes or adds energy",
    "bent": "mostly the step itself",
    "late": "'{wall}' is only as stiff as the step allows",
}  # of the estimate (coordinator/record/verdict.py)


def print_summary(console: Console, run: Run, files: Sequence[Path] = ()) -> None:
    """Print the summary of a run and of the files that were written."""
    with waiting(console, "summing up…"):
        parts = summary(run)
    console.print(Group(*parts))
    if files:
        folder = files[0].parent
        console.print(Text(f"written to {folder}", style="bold"), soft_wrap=True)
        console.print(Text("  " + ", ".join(file.name for file in files)))


def summary(run: Run) -> list[RenderableType]:
    """Its parts, to be printed one below the other."""
    with reading(run):
        parts: list[RenderableType] = [_overview(run)]
        if run.joints:
            parts.append(_joints(run))
        if (along := _along(run)) is not None:
            parts.append(along)
        if run.joints or run.forces:
            parts.append(_ledger(run))
        if run.events:
            parts.append(_events(run))
    return parts


# --- overview --------------------------------------------------------------------------------------------------------


def _overview(run: Run) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold")
    table.add_column()
    for name, text in overview(run).items():
        table.add_row(Text(name), Text(text))
    return table


def overview(run: Run) -> dict[str, str]:
    """The figures of the whole run, as text."""
    d = dimension(run)
    gone = sum(1 for event in run.events if event["kind"] == "remove" and event["name"] in run.bodies)
    place = "in the plane" if d == 2 else "in space"
    counts = f"{count(len(run.bodies), 'body')}, {count(len(run.joints), 'joint')}"
    lines = {
        "model": f"{run.model.get('title') or '(no title)'}, {place}: {counts}"
        + (f" ({gone} removed on the way)" if gone else ""),
        "coupling": settings_text(run.settings.get("coupling", {})),
    }
    if not len(run):
        return lines
    lines["time"] = (
        f"{run.time[0]:g} to {run.time[-1]:.9g} s, Δt = {quantity(run.dt, 's')}, {count(int(run.ticks[-1]), 'tick')}, "
        f"{count(len(run), 'sample')}"
    )
    seconds, ticks = run.timings.get("seconds", 0.0), run.timings.get("ticks", 0.0)
    if seconds > 0 and ticks > 0:
        lines["computed in"] = (
            f"{seconds:.3g} s, {rate_text(ticks * run.dt / seconds)} × real time, "
            f"{rate_text(1e6 * seconds / ticks / max(len(run.bodies), 1))} µs per body and step"
        )
    ledger = balance(run)
    for name, k in (("energy at the start", 0), ("energy at the end", -1)):
        lines[name] = (
            f"{_joules(ledger.total[k])} (kinetic {_joules(ledger.kinetic[k])}, potential {_joules(ledger.potential[k])})"
        )
    lines["energy drift"] = drift_text(ledger)
    leaks = leaked_within(run)
    if leaks:
        shown = worst({name: abs(value) for name, value in leaks.items()}, MAX_LEAKS)
        left = f"; and {len(leaks) - MAX_LEAKS} more" if len(leaks) > MAX_LEAKS else ""
        lines["leaked within"] = "; ".join(f"{name} {quantity(leaks[name], 'J')}" for name in shown) + left
    if run.estimate:
        lines["estimated error"] = estimate_text(run)
    if run.verified:
        lines["measured error"] = run.verified["words"]
    if run.never:
        left = f"; and {len(run.never) - MAX_ROWS} more" if len(run.never) > MAX_ROWS else ""
        lines["did not happen"] = "; ".join(run.never[:MAX_ROWS]) + left
    inner = internal_errors(run)[0].peaks()
    if inner:
        body = max(inner, key=lambda name: inner[name])
        lines["internal constraints"] = f"largest error {inner[body]:.2g} (body {body})"
    return lines


def estimate_text(run: Run) -> str:
    """About how far it is off, and whose doing that is."""
    found = run.estimate
    if found["share"] < ROUNDING_SHARE:
        return "none visible in its samples"
    part = max(PARTS, key=lambda name: found.get(name, 0.0))  # older runs know nothing of walls
    taker = f"{found['kind']} '{found['taker']}'" if found.get("taker") else "what moves"  # older runs name nobody
    whose = PARTS[part].format(joint=found["joint"], taker=taker, wall=found.get("wall"))
    control = found.get("control") is not None
    how = "at least" if found.get("or_more", found["least"]) else "about"
    by = ", held against another step" if control else ""
    return (
        f"{how} {quantity(found['length'], 'm')}, {found['share']:.1g} of the extent{by}; {whose}; --verify measures it"
    )


def drift_text(ledger: Balance) -> str:
    """How well energy is kept, where that means something."""
    if ledger.changed:
        return "not judged: bodies were added or removed on the way"
    if ledger.scale == 0.0:
        return "not judged: nothing moves"
    taken = [
        name
        for name, series in (("the work of forces", ledger.work), ("losses in impacts", ledger.impacts))
        if peak(series)
    ]
    apart = f", {' and '.join(taken)} taken out" if taken else ""
    largest = peak(ledger.drift)
    if ledger.scale < REST_ENERGY_SHARE * max(peak(ledger.total), largest):
        return f"at most {quantity(largest, 'J')}: nothing moves{apart}"
    share = f"{largest / ledger.scale:.2g} of the largest kinetic energy ({_joules(ledger.scale)})"
    return f"at most {quantity(largest, 'J')}, {share}{apart}"


def settings_text(data: Mapping[str, Any]) -> str:
    """A component written as it is typed: Penalty(rule=Shannon(delta=0.25))."""
    name = str(data.get("class", "?")).partition(":")[2] or "?"
    words = []
    for key, value in data.items():
        if isinstance(value, Mapping):
            if len(value) > 1 or key in ("rule", "solver"):  # more than its class: not the default
                words.append(f"{key}={settings_text(value)}")
        elif key != "class":
            words.append(f"{key}={value}")
    return f"{name}({', '.join(words)})" if words else name


# --- joints ----------------------------------------------------------------------------------------------------------


def _joints(run: Run) -> Table:
    kinds = joint_classes(run)
    gaps, turns, forces = joint_gaps(run), joint_turns(run), joint_forces(run)
    open_by, off_by = gaps.peaks(), turns.peaks()
    score = dict.fromkeys(run.joints, 0.0) | open_by
    score |= {joint: max(score[joint], turn) for joint, turn in off_by.items()}
    shown = sorted(worst(score, MAX_ROWS), key=lambda joint: -score[joint])
    margins, carriers = _least_margins(run, shown)
    table = plain_table(f"Joints{_left_out(len(score), 'worst first')}", "joint", "type")
    turning = bool(off_by)
    headings = ["largest\ngap [m]", "mean\nforce [N]", "peak\nforce [N]", "stability\nmargin"]
    headings[1:1] = ["direction\nerror [-]"] * turning
    for heading in headings:
        table.add_column(Text(heading), justify="right", no_wrap=True)
    for joint in shown:
        gap, turn, force = open_by.get(joint, 0.0), off_by.get(joint), forces[joint]
        cells = [joint, kinds.get(joint, "").partition(":")[2] or "-", _number(gap)]
        cells += ["-" if turn is None else _number(turn)] * turning
        if run.translations(joint):
            cells += [_force(float(np.nanmean(force)) if np.isfinite(force).any() else 0.0), _force(peak(force))]
        else:
            cells += ["-", "-"]
        margin = margins.get(joint, np.inf)
        cells.append(margin_text(margin) + load_text(carriers.get(joint)) if np.isfinite(margin) else "-")
        table.add_row(*(Text(cell) for cell in cells), style="yellow" if margin < 1 else "")
    return table


def _least_margins(run: Run, joints: Sequence[str]) -> tuple[dict[str, float], dict[str, str | None]]:
    """Of some joints the smallest stability margin on the way, and the body whose load left no more."""
    margins: dict[str, float] = {}
    carriers: dict[str, str | None] = {}
    for entry in run.margins:
        for joint in joints:
            margin = entry["margins"].get(joint, np.inf)
            if margin < margins.get(joint, np.inf):
                margins[joint] = margin
                carriers[joint] = entry.get("loads", {}).get(joint, {}).get("body")
    return margins, carriers


def _along(run: Run) -> Table | None:
    """Drives, motors and springs: how far they went, and what they did along that; None where there are none."""
    if not anything_acts(run):
        return None
    some = some_samples(run, MAX_SAMPLES)
    ever = Ever(some)
    acts = {column.of: column for column in efforts(some, ever)}
    if not acts:
        return None
    shown = worst({name: peak(column.values) for name, column in acts.items()}, MAX_ROWS)
    moves = {column.of: column for column in coordinates(run, names=shown)}
    table = plain_table(f"Along their axes{_left_out(len(acts), 'largest first')}", "name", "type")
    for heading in ("from", "to", "mean\neffort", "peak\neffort"):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    for name in shown:
        act, move = acts[name], moves.get(name)
        ends = ["-", "-"] if move is None else [f"{_force(value)} {move.unit}" for value in _range(move.values)]
        values = act.values[np.isfinite(act.values)]
        done = (float(values.mean()), float(values[np.argmax(np.abs(values))])) if values.size else (0.0, 0.0)
        cells = [name, type(ever[name].component).__name__, *ends, *(f"{_force(value)} {act.unit}" for value in done)]
        table.add_row(*map(Text, cells))
    return table


def _range(values: Array) -> tuple[float, float]:
    return (float(np.nanmin(values)), float(np.nanmax(values))) if np.isfinite(values).any() else (0.0, 0.0)


def _ledger(run: Run) -> Table:
    all_ledgers = ledgers(run)
    last = _last(all_ledgers.whole)
    supplied = last[:, LEDGER.index("supplied")]
    names = (
        "stored",
        "dissipated",
        *(("supplied",) if run.forces or supplied.any() else ()),
        "released",
        "impact",
        "leaked",
    )
    final = last[:, [LEDGER.index(name) for name in names]]
    score = dict(zip(all_ledgers, np.abs(final[:, 1:]).max(axis=1).tolist(), strict=True))
    what = "joints and forces" if run.forces else "the joints"
    table = plain_table(f"energy ledger of {what} at the end [J]{_left_out(len(final), 'largest first')}", "name")
    for name in names:
        table.add_column(Text(name), justify="right", no_wrap=True)
    for joint in sorted(worst(score, MAX_ROWS), key=lambda joint: -score[joint]):
        table.add_row(Text(joint), *(Text(_number(value)) for value in final[all_ledgers.rows[joint]].tolist()))
    if len(final) > 1:
        table.add_section()
        total = [_number(value) for value in np.cumsum(final, axis=0)[-1].tolist()]
        table.add_row(Text("together"), *(Text(cell) for cell in total), style="bold")
    return table


def _left_out(count: int, order: str) -> str:
    if count <= MAX_ROWS:
        return ""
    return f" ({order}; {count - MAX_ROWS} of {count} left out)"


# --- events ----------------------------------------------------------------------------------------------------------

TOLD: dict[str, Callable[[dict[str, Any]], str]] = {
    "too late": lambda event: "it had been removed before",
    "verdict": lambda event: f"causes most of the error of the run, about {quantity(event.get('length', 0.0), 'm')}",
    "unsettled": lambda event: f"{len(event.get('others', ())) + 1} contacts do not quite begin at rest",
    "rebound": lambda event: (
        f"{len(event.get('others', ())) + 1} contacts part too slowly: their blows see no glued joints"
    ),
    "beyond": lambda event: f"begins {event.get('by', 0.0):.4g} beyond its limit",
    "overlap": lambda event: f"begins {quantity(event.get('depth', 0.0), 'm')} inside",
    "prescribed": lambda event: "nothing was integrated: drives or paths prescribe the motion",
    "alarm": lambda event: f"leaked {quantity(event.get('leaked', 0.0), 'J')}",
}


def _events(run: Run) -> Table:
    left = len(run.events) - MAX_ROWS
    table = plain_table(
        f"Events{f' (the first {MAX_ROWS}; {left} left out)' if left > 0 else ''}", "time [s]", "event", "what it did"
    )
    table.columns[0].justify = "right"
    for event in run.events[:MAX_ROWS]:
        done = [
            f"{text} {quantity(event[key], 'J')}"
            for key, text in (("released", "let go"), ("impact", "impact took"), ("energy", "took"))
            if event.get(key)
        ]
        if event["kind"] in TOLD:
            done.append(TOLD[event["kind"]](event))
        table.add_row(Text(f"{event['time']:g}"), Text(f"{event['kind']} {event['name']}"), Text(", ".join(done)))
    return table


# --- shared ----------------------------------------------------------------------------------------------------------


def load_text(carrier: str | None) -> str:
    """What stands behind a margin that a load leaves; `carrier`: the body that passes the load on."""
    return "" if carrier is None else f" (load on {carrier})"


def margin_text(margin: float) -> str:
    """A stability margin in three digits, never rounded up: 0.998 is below the limit and must look so."""
    if not np.isfinite(margin):
        return str(margin)
    if margin >= 100:
        return str(int(margin))
    power = int(np.floor(np.log10(margin))) - 2 if margin > 0 else -2
    step = 10.0**power
    digits = float(np.floor(margin / step * (1 + 1e-9))) * step
    if power >= 0:
        return f"{digits:.0f}"
    whole, _, part = f"{digits:.{-power}f}".partition(".")
    return f"{whole}.{part.rstrip('0') or '0'}"


def plain_table(title: str, *left: str) -> Table:
    """A table without frame; the first columns hold words, folded where they are long."""
    table = Table(
        title=Text(title),
        title_justify="left",
        title_style="bold",
        header_style="",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    for heading in left:
        table.add_column(Text(heading), overflow="fold")
    return table


def _number(value: float) -> str:
    return "0" if value == 0 else f"{value:.2e}"


def _force(value: float) -> str:
    return f"{value:#.3g}".rstrip(".") if 1e-3 <= abs(value) < 1e5 else _number(value)


def _joules(value: float) -> str:
    return "0 J" if value == 0 else f"{value:.6g} J"


def _last(all_ledgers: Array) -> Array:
    """The last number of each line of ledgers, (ledgers, n, lines) to (ledgers, lines); 0 where there is none."""
    if not all_ledgers.shape[1]:
        return np.zeros((len(all_ledgers), all_ledgers.shape[2]))
    found: Array = all_ledgers[:, -1].copy()
    for ledger in np.flatnonzero(~np.isfinite(found).all(axis=1)):  # who went before the end
        there = np.isfinite(all_ledgers[ledger])
        back = len(there) - 1 - np.argmax(there[::-1], axis=0)
        found[ledger] = all_ledgers[ledger][back, np.arange(all_ledgers.shape[2])]
    return np.where(np.isfinite(found), found, 0.0)


def count(number: int, what: str) -> str:
    """So many of them, in words."""
    plural = {"body": "bodies"}.get(what, f"{what}s")
    return f"{number:,} {what if number == 1 else plural}"
