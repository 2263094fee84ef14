"""The architecture as a tree: bodies, joints, forces and merged components, with everything about them that can be changed.

Each component has a folder. When the plan changes, only what came, went or changed is made anew, so a folder that somebody has
opened stays open. Of a large model a page of components is shown at a time, and whoever is selected is on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from coordinator.laboratory.acts import Doing, Receipt
from coordinator.laboratory.hand import NAME as HAND
from coordinator.laboratory.snapshot import Plan, Snapshot
from modular.events import Merge
from modular.port import GROUND
from scenarios.laboratory.fields import Fields, put
from scenarios.laboratory.panels import side_tab
from scenarios.laboratory.parts import NOBODY, BodyPart, ForcePart, GroupPart, JointPart, Part, _plus, _same
from scenarios.laboratory.readings import readings
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.words import (
    block,
    in_red,
    table,
)

Post = Callable[[Doing], Receipt]

MAX_UNPAGED, PAGE_SIZE = 24, 10  # components that a section shows at once; more are shown in pages of so many
MAX_OPEN_FOLDERS = 4  # folders of a section that begin open, if there are no more
REFRESH_SECONDS = 0.2  # seconds between two readings


class Tree:
    """The panel on the left."""

    def __init__(self, server: Any, post: Post, selection: Selection) -> None:
        self.server, self.gui, self.post, self.selection = server, server.gui, post, selection
        self.fields = Fields(self.gui)
        self.plan: Plan | None = None
        self._chosen: str | None = None
        self._read_at, self._turned = 0.0, False
        self._names: tuple[str, ...] = ()
        with side_tab(server, "Model", "hierarchy"):
            self.said = self.gui.add_html("", visible=False)
            self._choice = self.fields.choice("selected", (NOBODY,), NOBODY, self._choose)
            self._reading = self.gui.add_html("")
            self.sections: list[Section] = [
                Section(self, "Bodies", BodyPart, lambda plan: plan.bodies),
                Section(self, "Joints", JointPart, lambda plan: plan.joints),
                Section(self, "Forces", ForcePart, lambda plan: {n: f for n, f in plan.forces.items() if n != HAND}),
                Section(
                    self, "Components of several bodies", GroupPart, lambda plan: {_plus(g): g for g in plan.groups}
                ),
            ]
            self.merging = Merging(self)

    def update(self, snapshot: Snapshot) -> None:
        """Show a snapshot; cheap where nothing has changed."""
        self.fields.update()
        plan, name = snapshot.plan, self.selection.name
        if plan is not self.plan or name != self._chosen or self._turned:
            with self.server.atomic():
                self._reconcile(plan, name)
        self.merging.follow()
        now = time.monotonic()
        if now - self._read_at >= REFRESH_SECONDS:
            self._read_at = now
            self._read(snapshot)

    def turned(self) -> None:
        """Another page is asked for."""
        self._turned = True

    def _reconcile(self, plan: Plan, name: str | None) -> None:
        chosen = name if name != self._chosen else None  # just chosen: it is brought to light
        self.plan, self._chosen, self._turned = plan, name, False
        for section in self.sections:
            section.update(plan, chosen)
        self.merging.update(plan)
        names = (NOBODY, *plan.bodies, *plan.joints, *(name for name in plan.forces if name != HAND))
        if names != self._names:
            self._names = self._choice.handle.options = names
        self._choice.show(name if name in names else NOBODY)

    def _choose(self, name: str) -> None:
        self.selection.choose(None if name == NOBODY else name)

    def _read(self, snapshot: Snapshot) -> None:
        found = readings(snapshot, self.selection.name) if self.selection.name is not None else []
        rows = [(reading.what, f"{reading.value:.4g} {reading.unit}") for reading in found]
        put(self._reading, block(table(rows)) if rows else "")
        fresh = self.fields.refused_lately
        put(self.said, block(in_red(self.fields.refusal)) if fresh else "")
        if self.said.visible != fresh:
            self.said.visible = fresh


class Section:
    """Components of one kind."""

    def __init__(self, tree: Tree, title: str, kind: type[Part], of: Callable[[Plan], Mapping[str, Any]]) -> None:
        self.tree, self.title, self.kind, self.of = tree, title, kind, of
        self.folder = tree.gui.add_folder(title, visible=False)
        self.parts: dict[str, Part] = {}
        self._known: dict[str, Any] = {}
        self._page = 0
        with self.folder:
            self.pages = tree.gui.add_dropdown(f"{title.lower()} shown", ("all",), visible=False, order=-1)

        async def turned(_: Any) -> None:
            tree.turned()

        self.pages.on_update(turned)

    def update(self, plan: Plan, chosen: str | None) -> None:
        """Let folders come and go; `chosen`: a component that was just selected."""
        known = dict(self.of(plan))
        self._rename(known)
        self._known = known
        names = self._shown(list(known), chosen)
        for name in [name for name in self.parts if name not in names]:
            self.parts.pop(name).remove()
        order = {name: float(k) for k, name in enumerate(known)}
        for name in names:
            part = self.parts.get(name)
            if part is not None and name == chosen and not part.opened:
                part.remove()
                part = None
            if part is None:
                opened = name == chosen or (self.kind.open and len(known) <= MAX_OPEN_FOLDERS)
                with self.folder:
                    part = self.parts[name] = self.kind(self.tree, name, order[name], opened)
            part.show(plan)
        title = f"{self.title} ({len(known)})"
        if self.folder.label != title:
            self.folder.label = title
        if self.folder.visible != bool(known):
            self.folder.visible = bool(known)

    def _rename(self, known: Mapping[str, Any]) -> None:
        """Who has another name keeps the folder: a renamed component stands where it stood, and nobody else came or went."""
        if len(known) != len(self._known):
            return
        pairs = [(a, b) for a, b in zip(self._known, known, strict=True) if a != b]
        if len(pairs) != 1:
            return
        ((before, now),) = pairs
        if before in self.parts and _same(self._known[before], known[now]):
            self.parts = {now if name == before else name: part for name, part in self.parts.items()}
            self.parts[now].rename(now)

    def _shown(self, names: list[str], chosen: str | None) -> list[str]:
        """All, or a page of them."""
        if len(names) <= MAX_UNPAGED:
            if self.pages.visible:
                self.pages.visible = False
            return names
        options = tuple(
            f"{k + 1} – {min(k + PAGE_SIZE, len(names))}: {names[k]} …" for k in range(0, len(names), PAGE_SIZE)
        )
        if self.pages.options != options:
            asked = self._page
            self.pages.options = options
            self.pages.value = options[min(asked, len(options) - 1)]
        if chosen in names:
            self.pages.value = options[names.index(chosen) // PAGE_SIZE]
        self._page = options.index(self.pages.value)
        if not self.pages.visible:
            self.pages.visible = True
        return names[self._page * PAGE_SIZE : (self._page + 1) * PAGE_SIZE]


class Merging:
    """Two neighbours become one component."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._names: tuple[str, ...] = ()
        self._followed: list[str] = []
        with tree.gui.add_folder("Merge", expand_by_default=False, visible=False) as folder:
            self.folder = folder
            self.first = tree.gui.add_dropdown("first to merge", (NOBODY,))
            self.second = tree.gui.add_dropdown("second to merge", (NOBODY,))
            button = tree.gui.add_button("Merge", icon="arrows-join")

        async def merge(_: Any) -> None:
            tree.post(Merge((self.first.value, self.second.value)))

        button.on_click(merge)

    def update(self, plan: Plan) -> None:
        """Bodies that there are, and the ground."""
        names = (*plan.bodies, GROUND)
        if names != self._names:
            self._names = names
            self.first.options = self.second.options = names
            self.second.value = names[min(1, len(names) - 1)]
            self.folder.visible = len(plan.bodies) > 0

    def follow(self) -> None:
        """Bodies of the ports that were clicked last."""
        ports = self.tree.selection.ports
        if ports is not self._followed and len(ports) == 2:
            first, second = (port.partition(".")[0] for port in ports)
            if first in self._names and second in self._names and first != second:
                self.first.value, self.second.value = first, second
        self._followed = ports
