"""A row of the tree for each part of the mechanism, which opens to what can be done with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from coordinator.laboratory.acts import Adjust, Doing, Receipt, Rename, SetLimit
from coordinator.laboratory.snapshot import Plan
from modular.errors import ModelError
from modular.events import Cut, Remove, Unmerge
from modular.limit import Limit
from scenarios.laboratory.fields import Field, forget, put
from scenarios.laboratory.words import (
    about_body,
    about_force,
    about_joint,
    block,
    class_of,
    data_of,
    is_number,
    is_vector,
    label_of,
    safe,
    short,
)

if TYPE_CHECKING:
    from scenarios.laboratory.tree import Tree

DEFAULT_LIMIT, DEFAULT_WINDOW = 100.0, 0.02  # [N], [s]


NOBODY = "nobody"


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


def _plus(group: Sequence[str]) -> str:
    return " + ".join(group)


def _same(before: Any, now: Any) -> bool:
    """Whether a component that stands where another stood is described like that one."""
    what = [getattr(one, "joint", None) or getattr(one, "force", None) or one for one in (before, now)]
    return what[0] is what[1]
