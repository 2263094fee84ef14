"""The architecture as a tree: bodies, joints, forces and merged components, with everything about them that can be changed.

Each component has a folder. When the plan changes, only what came, went or changed is made anew, so a folder that somebody has
opened stays open. Of a large model a page of components is shown at a time, and whoever is selected is on it.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from coordinator.laboratory.acts import Adjust, Doing, Rename, SetLimit
from coordinator.laboratory.hand import NAME as HAND
from coordinator.laboratory.session import Receipt
from coordinator.laboratory.snapshot import Plan, Snapshot
from modular.errors import ModelError
from modular.events import Cut, Merge, Remove, Unmerge
from modular.limit import Limit
from modular.port import GROUND
from scenarios.laboratory.fields import Field, Fields, forget, put
from scenarios.laboratory.panels import side_tab
from scenarios.laboratory.readings import readings
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.words import (
    about_body,
    about_force,
    about_joint,
    block,
    class_of,
    data_of,
    in_red,
    is_number,
    is_vector,
    label_of,
    safe,
    short,
    table,
)

Post = Callable[[Doing], Receipt]

MAX_UNPAGED, PAGE_SIZE = 24, 10  # components that a section shows at once; more are shown in pages of so many
MAX_OPEN_FOLDERS = 4  # folders of a section that begin open, if there are no more
REFRESH_SECONDS = 0.2  # seconds between two readings
NOBODY = "nobody"
DEFAULT_LIMIT, DEFAULT_WINDOW = 100.0, 0.02  # [N], [s]


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


class Part(ABC):
    """The folder of one component."""

    word: ClassVar[str] = ""  # on the button that lets it go
    icon: ClassVar[str] = "trash"
    open: ClassVar[bool] = True  # whether folders of this kind begin open, if there are few
    renamed: ClassVar[bool] = True  # whether it has a name that people can change

    def __init__(self, tree: Tree, name: str, order: float, opened: bool) -> None:
        self.tree, self.name, self.opened = tree, name, opened
        self.folder = tree.gui.add_folder(short(name), order=order, expand_by_default=opened)
        self.made: object = None
        self._fields: list[Field] = []
        self._handles: list[Any] = []

    def show(self, plan: Plan) -> None:
        """As it is now; its contents are made anew where they are others."""
        make = (self.name, *self.make(plan))
        if make != self.made:
            self.clear()
            self.made = make
            with self.folder:
                self.build(plan)
                self.close()
        self.refresh(plan)

    def rename(self, name: str) -> None:
        """It has another name from now on."""
        self.name, self.folder.label = name, short(name)

    def clear(self) -> None:
        """Let the contents go."""
        forget(self._fields)
        for handle in self._handles:
            handle.remove()
        self._fields.clear()
        self._handles.clear()

    def remove(self) -> None:
        """Let the folder go."""
        forget(self._fields)
        self.folder.remove()

    def field(self, field: Field) -> Field:
        """One of its fields."""
        self._fields.append(field)
        self._handles.append(field.handle if field.form is None else field.form)
        return field

    def handle(self, handle: Any) -> Any:
        """Something else in its folder."""
        self._handles.append(handle)
        return handle

    # --- for every kind ----------------------------------------------------------------------------------------------

    @abstractmethod
    def make(self, plan: Plan) -> tuple[object, ...]:
        """What decides which fields there are."""

    @abstractmethod
    def build(self, plan: Plan) -> None:
        """Its fields."""

    @abstractmethod
    def refresh(self, plan: Plan) -> None:
        """Values as they are."""

    @abstractmethod
    def leave(self) -> Doing:
        """What lets it go."""

    def close(self) -> None:
        """Its name, and the button that lets it go."""
        name = self.name
        if self.renamed:
            self.field(self.tree.fields.text(f"name of {short(name)}", name, self._rename, hint="Enter renames"))
        button = self.handle(self.tree.gui.add_button(f"{self.word} {short(name)}", color="red", icon=self.icon))

        async def go(_: Any) -> None:
            self.tree.post(self.leave())

        button.on_click(go)

    def _rename(self, to: str) -> Receipt:
        return self.tree.post(Rename(self.name, to.strip()))


class BodyPart(Part):
    """A body: its numbers."""

    word, open = "Delete", False

    def make(self, plan: Plan) -> tuple[object, ...]:
        """Class, ports and the names of its numbers."""
        body = plan.bodies[self.name]
        return class_of(body), *body.adjustable()

    def build(self, plan: Plan) -> None:
        """What it is, and a field for each of its numbers."""
        self.about = self.handle(self.tree.gui.add_html(""))
        name = self.name

        def tell(key: str) -> Callable[[float], Receipt]:
            return lambda value: self.tree.post(Adjust(name, {key: value}))

        self.numbers = {
            key: self.field(self.tree.fields.number(label_of(key, name), value, tell(key)))
            for key, value in plan.bodies[name].adjustable().items()
        }

    def refresh(self, plan: Plan) -> None:
        """Values as they are."""
        body = plan.bodies[self.name]
        put(self.about, about_body(plan, self.name, body))
        for key, value in body.adjustable().items():
            self.numbers[key].show(value)

    def leave(self) -> Doing:
        """With the joints and forces on it."""
        return Remove(self.name)


class JointPart(Part):
    """A joint: how it is treated, and what it can take."""

    word, icon = "Cut", "scissors"

    def make(self, plan: Plan) -> tuple[object, ...]:
        """The same fields for all."""
        return ()

    def build(self, plan: Plan) -> None:
        """What it is, and its limit."""
        name = self.name
        self.about = self.handle(self.tree.gui.add_html(""))
        self.breaks = self.field(
            self.tree.fields.tick(f"{short(name)} breaks", False, self._break, hint="Unticked, it takes any force")
        )
        self.limit = self.field(
            self.tree.fields.number(
                f"limit of {short(name)} [N]", DEFAULT_LIMIT, self._limit, hint="The force at which it breaks"
            )
        )
        self.edge = plan.joints[name]
        self._dt = plan.dt

    def refresh(self, plan: Plan) -> None:
        """Values as they are."""
        self.edge, self._dt = plan.joints[self.name], plan.dt
        put(self.about, about_joint(plan, self.name, self.edge))
        limit = self.edge.breaks_at
        self.breaks.show(limit is not None)
        if limit is not None and limit.force is not None:
            self.limit.show(float(limit.force))

    def leave(self) -> Doing:
        """The button cuts."""
        return Cut(self.name)

    def _limit(self, force: float) -> Receipt:
        """Filters last as long as they did, and at least as long as the step asks for."""
        if not force > 0.0:
            raise ModelError(
                f"joint '{self.name}': limit = {force:g} N; a limit must be positive. Untick '{self.name} breaks' for none."
            )
        now = self.edge.breaks_at
        window = max(DEFAULT_WINDOW, 25.0 * self._dt) if now is None else now.window
        return self.tree.post(SetLimit(self.name, Limit(force, None if now is None else now.impulse, window)))

    def _break(self, breaks: bool) -> Receipt:
        return self._limit(float(self.limit.handle.value)) if breaks else self.tree.post(SetLimit(self.name, None))


class ForcePart(Part):
    """A force: its data."""

    word = "Remove"

    def make(self, plan: Plan) -> tuple[object, ...]:
        """Class, and which of its data are numbers."""
        force = plan.forces[self.name].force
        data = data_of(force)
        return class_of(force), *(key for key, value in data.items() if is_number(value) or is_vector(value))

    def build(self, plan: Plan) -> None:
        """What it is, and a field for each of its data."""
        self.about = self.handle(self.tree.gui.add_html(""))
        name, fields = self.name, self.tree.fields

        def tell(key: str) -> Callable[[Any], Receipt]:
            return lambda value: self.tree.post(Adjust(name, {key: value}))

        self.data = {
            key: self.field(
                (fields.number if is_number(value) else fields.vector)(label_of(key, name), value, tell(key))
            )
            for key, value in data_of(plan.forces[name].force).items()
            if is_number(value) or is_vector(value)
        }

    def refresh(self, plan: Plan) -> None:
        """Values as they are."""
        edge = plan.forces[self.name]
        put(self.about, about_force(self.name, edge.force, edge.ports))
        data = data_of(edge.force)
        for key, field in self.data.items():
            field.show(float(data[key]) if is_number(data[key]) else tuple(float(x) for x in data[key]))

    def leave(self) -> Doing:
        """It acts no more."""
        return Remove(self.name)


class GroupPart(Part):
    """Bodies that are one component."""

    word, icon, renamed = "Part", "arrows-split", False

    def make(self, plan: Plan) -> tuple[object, ...]:
        """Its bodies, which its name says."""
        return ()

    def build(self, plan: Plan) -> None:
        """Which bodies there are."""
        self.bodies = next(tuple(group) for group in plan.groups if _plus(group) == self.name)
        self.handle(self.tree.gui.add_html(block(safe(f"{len(self.bodies)} bodies, joints between them closed"))))

    def refresh(self, plan: Plan) -> None:
        """Nothing in it changes."""

    def leave(self) -> Doing:
        """It falls apart."""
        return Unmerge(self.bodies)


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


def _plus(group: Sequence[str]) -> str:
    return " + ".join(group)


def _same(before: Any, now: Any) -> bool:
    """Whether a component that stands where another stood is described like that one."""
    what = [getattr(one, "joint", None) or getattr(one, "force", None) or one for one in (before, now)]
    return what[0] is what[1]
