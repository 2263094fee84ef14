"""Live plots: energies, whatever quantities somebody chooses, and violations of the joints."""

from __future__ import annotations

import time
from collections.abc import Sequence
from math import floor, isfinite, log10
from typing import Any

import numpy as np

from coordinator.laboratory.snapshot import Plan, Snapshot
from modular.elements import Array
from scenarios.laboratory.curves import Curves
from scenarios.laboratory.fields import Fields, put
from scenarios.laboratory.panels import tab_below_main
from scenarios.laboratory.quantities import ALL, Quantity, choices
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.words import block, dim, in_red, short, swatch

COLOURS = ("#1864ab", "#c92a2a", "#2b8a3e", "#862e9c", "#e67700", "#0b7285", "#a61e4d", "#495057")
REFRESH_SECONDS = 0.12  # seconds between two pictures
MAX_POINTS = 600
WINDOW_SECONDS = 10.0  # that curves show [s]
CHART_HEIGHT, MAX_CURVES = 112, 8  # pixels of a chart; curves in it
MAX_LEGEND_LENGTH = 32  # letters of what a legend tells
MAX_OFFERED_NAMES = 1000  # names that are offered for choice
EVERYBODY = "all"
ENERGY = tuple(Quantity("energy", ALL, part) for part in ("kinetic", "potential", "total"))
WHATS = {
    "position": "position", "velocity": "velocity", "acceleration": "acceleration", "force": "reaction: force",
    "moment": "reaction: moment", "ledger": "ledger", "energy": "energy", "violation": "violation",
    "log violation": "violation, log10",
}  # fmt: skip


class Plots:
    """The panel below the controls."""

    def __init__(self, server: Any, selection: Selection) -> None:
        self.server, self.gui, self.selection = server, server.gui, selection
        self.curves = Curves(WINDOW_SECONDS, MAX_POINTS)
        self.inputs = Fields(self.gui)
        self.chosen: list[Quantity] = []
        self.plan: Plan | None = None
        self._drawn_at, self._seen = 0.0, (-1, 0)
        self._changes = 0
        self._options: dict[str, tuple[Sequence[str], Sequence[str]]] = {}
        with tab_below_main(server, "Plots", "chart-line"):
            self.charts = {
                "energy": Chart(self.gui, "energy", 0),
                "violation": Chart(self.gui, "violation", 1),
                "chosen": Chart(self.gui, "chosen", 2),
            }
            with self.gui.add_folder("Curves", order=9, expand_by_default=False):
                self._build()
        self._watch()

    def _build(self) -> None:
        gui, later = self.gui, self.inputs.later
        self.what = gui.add_dropdown("quantity", tuple(WHATS.values()))
        self.of = gui.add_dropdown("of", (EVERYBODY,))
        self.part = gui.add_dropdown("part", ("x",))
        add = gui.add_button("Add curve", icon="plus")
        self.which = gui.add_dropdown("curve", ("none",), visible=False)
        self.remove = gui.add_button("Remove curve", icon="minus", color="gray", visible=False)
        self.window = self.inputs.number("window [s]", self.curves.window, self._window)
        self.said = gui.add_html("")
        self.what.on_update(later(self._offer))
        add.on_click(later(self.add))
        self.remove.on_click(later(self.take_out))

    # --- what is followed --------------------------------------------------------------------------------------------

    def _window(self, seconds: float) -> None:
        self.curves.window = seconds
        self._changes += 1

    def _offer(self) -> None:
        """Of whom, and which parts, there are of this quantity; what is selected comes first."""
        what = next(key for key, word in WHATS.items() if word == self.what.value)
        names, parts = self._options.get(what, ((), ()))
        chosen = self.selection.name
        first = [name for name in names if chosen is not None and name.partition(".")[0] == chosen]
        shown = tuple(dict.fromkeys(name or EVERYBODY for name in (*first, *names)))[:MAX_OFFERED_NAMES] or (
            "nothing there",
        )
        if self.of.options != shown:
            before = self.of.value
            self.of.options = shown
            self.of.value = before if before in shown and not first else shown[0]
        some = tuple(part.replace("_", " on ") for part in parts) or ("",)
        if self.part.options != some:
            self.part.options = some
        if self.part.visible != (some != ("",)):
            self.part.visible = some != ("",)

    def add(self) -> None:
        """Another curve."""
        what = next(key for key, word in WHATS.items() if word == self.what.value)
        names, parts = self._options.get(what, ((), ()))
        of = ALL if self.of.value == EVERYBODY else self.of.value
        part = next((part for part in parts if part.replace("_", " on ") == self.part.value), "")
        if of not in names:
            return
        self.follow(Quantity(what, of, part))

    def follow(self, quantity: Quantity) -> None:
        """Draw a quantity among the chosen ones; the oldest goes where there are too many."""
        if quantity not in self.chosen:
            self.chosen = [*self.chosen, quantity][-MAX_CURVES:]
            self._watch()

    def take_out(self) -> None:
        """A curve less."""
        self.chosen = [quantity for quantity in self.chosen if quantity.label != self.which.value]
        self._watch()

    def _watch(self) -> None:
        joint = self.selection.name
        own = [Quantity("log violation", joint)] if joint and self.plan and joint in self.plan.joints else []
        wanted = {"energy": ENERGY, "violation": (Quantity("log violation"), *own), "chosen": tuple(self.chosen)}
        self.curves.watch([quantity for quantities in wanted.values() for quantity in quantities])
        self._changes += 1
        for name, quantities in wanted.items():
            self.charts[name].quantities = quantities
        labels = tuple(quantity.label for quantity in self.chosen)
        if labels and self.which.options != labels:
            self.which.options = labels
            self.which.value = labels[-1]
        for handle in (self.which, self.remove):
            if handle.visible != bool(labels):
                handle.visible = bool(labels)

    # --- pictures ----------------------------------------------------------------------------------------------------

    def update(self, snapshot: Snapshot) -> None:
        """Read what has been recorded, and draw it now and then."""
        self.inputs.update()
        put(self.said, block(in_red(self.inputs.refusal)) if self.inputs.refused_lately else "")
        plan = snapshot.plan
        if plan is not self.plan or self.selection.name != self._followed:
            self.plan, self._followed = plan, self.selection.name
            self._options = choices(plan)
            self._offer()
            self._watch()
        seen = snapshot.number, self._changes
        now = time.monotonic()
        if seen == self._seen:
            return
        self.curves.take(snapshot)
        if now - self._drawn_at < REFRESH_SECONDS:
            return
        self._seen, self._drawn_at = seen, now
        time_, *series = self.curves.arrays()
        columns = dict(zip(self.curves.quantities, zip(series, self.curves.latest, strict=True), strict=True))
        with self.server.atomic():
            for chart in self.charts.values():
                chart.draw(time_, [columns[quantity] for quantity in chart.quantities])

    _followed: str | None = None


class Chart:
    """One chart, with its legend and the present values above it."""

    def __init__(self, gui: Any, name: str, order: int) -> None:
        self.gui, self.name = gui, name
        self.quantities: tuple[Quantity, ...] = ()
        self._drawn: tuple[Quantity, ...] | None = None
        self.legend = gui.add_html("", order=order)
        self._place = gui.add_folder(None, order=order + 0.5)
        self.plot: Any = None

    def draw(self, time_: Array, columns: Sequence[tuple[Array, float]]) -> None:
        """Curves with their present values."""
        power = power_of([array for array, _ in columns])
        put(self.legend, self._legend([float(latest) for _, latest in columns], power))
        if self._drawn != self.quantities:
            self._drawn = self.quantities
            if self.plot is not None:
                self.plot.remove()
            with self._place:
                self.plot = self._new() if self.quantities else None
        if self.plot is not None:
            self.plot.data = drawable(time_, [array * 10.0**-power for array, _ in columns])

    def _new(self) -> Any:
        series: list[dict[str, Any]] = [{"label": "t"}]
        for k, quantity in enumerate(self.quantities):
            series.append({"label": quantity.label, "stroke": COLOURS[k % len(COLOURS)], "width": 1.5})
        nothing = np.zeros(1)
        return self.gui.add_uplot(
            (nothing,) * len(series), series=tuple(series), height=CHART_HEIGHT, scales={"x": {"time": False}, "y": {"auto": True}},
            legend={"show": False}, padding=(6, 10, 0, 0),
            axes=({"size": 30, "space": 40}, {"size": 58, "space": 24}),  # room for a sign and five digits, and for two marks
        )  # fmt: skip

    def _legend(self, values: Sequence[float], power: int) -> str:
        if not self.quantities:
            return ""
        units = list(dict.fromkeys(quantity.unit for quantity in self.quantities))
        title = f"{self.name} [{', '.join(units)}]" + (f" × 1e{power}" if power else "")
        marks = []
        for k, (quantity, value) in enumerate(zip(self.quantities, values, strict=True)):
            word = quantity.part if self.name == "energy" else quantity.label
            shown = "–" if np.isnan(value) else f"{value:.4g}"
            marks.append(swatch(COLOURS[k % len(COLOURS)], f"{short(word, MAX_LEGEND_LENGTH)} {shown}"))
        return block(f"{dim(title)} {''.join(marks)}", size=0.75)


def power_of(series: Sequence[Array]) -> int:
    """The power of ten by which curves are divided: the axis has room for a few digits."""
    largest = max((float(np.nanmax(np.abs(array))) for array in series if np.isfinite(array).any()), default=0.0)
    if largest <= 0.0 or 1e-1 <= largest < 1e5:
        return 0
    return 3 * floor(log10(largest) / 3)


def drawable(time_: Array, series: Sequence[Array]) -> Any:
    """What a chart takes: arrays, or lists with None for what is not there; a NaN would take the whole axis with it."""
    if all(np.isfinite(array).all() for array in series):
        return (time_, *series)
    return [time_.tolist(), *([x if isfinite(x) else None for x in array.tolist()] for array in series)]
