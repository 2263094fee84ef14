"""After a run that went wrong: what grew, where, since when, and the last ticks to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from pathlib import Path

from coordinator.checks.diagnosis import GROWTH_RATIO, Growth, growth
from coordinator.record.run import Run

MAX_LISTED = 6
MAX_GROWTH_PER_TICK = 1e6  # times as much from tick to tick: no growth that one could speak of


def report(run: Run, why: str, moved_by: Mapping[str, str] | None = None, messages: Sequence[str] = ()) -> str:
    """What the last ticks say, as text; `moved_by`: the worker of each body; `messages`: what was last said among workers."""
    first, last = (int(run.ticks[0]), int(run.ticks[-1])) if len(run) else (0, 0)
    lines = [why, "", f"ticks {first} to {last}, {first * run.dt:.6g} to {last * run.dt:.6g} s, every one recorded"]
    events = [event for event in run.happenings if event["tick"] >= first]
    if events:
        lines.append(
            "events: " + "; ".join(f"{e['kind']} '{e['name']}' at tick {e['tick']}" for e in events[-MAX_LISTED:])
        )
    grown = [one for one in growth(run) if one.ratio >= GROWTH_RATIO]
    if not grown:
        lines += [
            "",
            f"nothing grew in them: no joint or body is off by {GROWTH_RATIO:g} times as much as it was before",
        ]
    else:
        margins: dict[str, float] = {}
        for entry in run.margins:
            margins.update(entry["margins"])
        lines += ["", "what grew most, its size at the end over its usual one:"]
        lines += [_line(one, margins, moved_by or {}) for one in grown[:MAX_LISTED]]
    if messages:
        lines += ["", "what the workers said last:", *messages]
    return "\n".join(lines) + "\n"


def _line(one: Growth, margins: Mapping[str, float], moved_by: Mapping[str, str]) -> str:
    unit = " m" if one.kind == "joint" else ""
    pace = f"{one.per_tick:.3g}-fold per tick" if one.per_tick < MAX_GROWTH_PER_TICK else "at once, from about nothing"
    if 1.001 < one.per_tick < MAX_GROWTH_PER_TICK:
        pace += f", doubles in {log(2) / log(one.per_tick):.2g} ticks"
    words = [f"  {one.kind} '{one.name}': {one.ratio:.2g} times, {one.size:.2g}{unit}, {pace}, since tick {one.since}"]
    if one.name in margins:
        words.append(f"margin {margins[one.name]:.2g}")
    if one.name in moved_by:
        words.append(f"moved by {moved_by[one.name]}")
    return ", ".join(words)


def write_post_mortem(folder: Path, run: Run, text: str) -> Path:
    """The last ticks as a run folder, and the report beside them."""
    run.save(folder)
    (folder / "report.txt").write_text(text, encoding="utf-8")
    return folder
