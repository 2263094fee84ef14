"""A joint more: which kind, between which ports, where they are made to meet."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np

from coordinator.laboratory.acts import Doing, Receipt
from coordinator.laboratory.snapshot import Plan, Snapshot
from modular.component import class_name
from modular.elements import Array
from modular.errors import ModelError
from modular.events import LAWS, Join
from modular.joint import Joint
from modular.port import GROUND
from scenarios.laboratory.fields import Fields, add_vector
from scenarios.laboratory.kinds import LEFT_OUT, data_of, described, kinds_of
from scenarios.laboratory.places import place_of
from scenarios.laboratory.quantities import ports_of
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.words import free_name

MAX_OFFERED_PORTS = 2000  # ports that are offered for choice; others are clicked
STANDING, FIRST, SECOND, MIDDLE, OWN = (
    "where the ports are", "at the first port", "at the second port", "in the middle", "own point",
)  # fmt: skip
FITS = "the one that fits"


class JoinForm:
    """Its fields are made when it is known whether the model is planar."""

    def __init__(self, gui: Any, post: Callable[[Doing], Receipt], selection: Selection, inputs: Fields) -> None:
        self.gui, self.post, self.selection, self.inputs = gui, post, selection, inputs
        self.handles: dict[str, Any] = {}
        self.data: dict[str, Any] = {}  # fields of the data that some kinds have
        self.kinds: dict[str, type[Joint]] = {}
        self.plan: Plan | None = None
        self._snapshot: Snapshot | None = None
        self._followed: list[str] = []
        self._proposed = self._given = ""
        self._ports: tuple[str, ...] = ()
        self._place = gui.add_folder(None)

    def update(self, snapshot: Snapshot) -> None:
        """Ports that there are, and a name that is free."""
        self._snapshot, plan = snapshot, snapshot.plan
        if plan is not self.plan:
            self.plan = plan
            if not self.handles:
                with self._place:
                    self._build(plan)
            ports = tuple(islice(ports_of(plan), MAX_OFFERED_PORTS))
            if ports != self._ports:
                self._ports = self.handles["first"].options = self.handles["second"].options = ports
            if self.handles["name"].value.strip() in (
                self._proposed,
                self._given if self._given in plan.joints else "",
            ):
                taken = {*plan.bodies, *plan.joints, *plan.forces}
                self._proposed = self.handles["name"].value = free_name("joint", taken)
        if self.selection.ports is not self._followed:
            self._followed = self.selection.ports
            if len(self._followed) == 2:
                self.take_clicked()

    def _build(self, plan: Plan) -> None:
        gui, later = self.gui, self.inputs.later
        self.kinds = kinds_of(Joint, plan.dimension)
        self.handles = made = {
            "kind": gui.add_dropdown("kind of new joint", tuple(self.kinds), initial_value=_usual(plan.dimension)),
            "first": gui.add_dropdown("first port", (GROUND,)),
            "second": gui.add_dropdown("second port", (GROUND,)),
        }
        clicked = gui.add_button("Use clicked ports", icon="pointer", color="gray")
        for name in dict.fromkeys(n for kind in self.kinds.values() for n in data_of_kind(kind, plan.dimension)):
            self.data[name] = gui.add_text(f"{name} of new joint", "", hint=LEFT_OUT)
        made["place"] = gui.add_dropdown("place of new joint", (STANDING, FIRST, SECOND, MIDDLE, OWN))
        made["own"] = add_vector(gui, "own point [m]", (0.0,) * plan.dimension)
        made["law"] = gui.add_dropdown("what stops", LAWS, hint="How the motion of its points is stopped")
        made["name"] = gui.add_text("name of new joint", "")
        join = gui.add_button("Join", icon="link")
        made["drawn"] = gui.add_dropdown(
            "joint drawn with shift", (FITS, *self.kinds), hint="What a drag with shift from body to body makes"
        )
        for name in ("kind", "place"):
            made[name].on_update(later(self._show))
        made["drawn"].on_update(later(self._draw))
        clicked.on_click(later(self.take_clicked))
        join.on_click(later(self.join))
        self._show()

    def _show(self) -> None:
        """The fields of this kind."""
        assert self.plan is not None
        own = data_of_kind(self.kinds[self.handles["kind"].value], self.plan.dimension)
        for name, handle in self.data.items():
            handle.visible = name in own
        self.handles["own"].visible = self.handles["place"].value == OWN

    def _draw(self) -> None:
        kind = self.kinds.get(self.handles["drawn"].value)
        self.selection.joint = "" if kind is None else class_name(kind)

    def take_clicked(self) -> None:
        """The two ports that were clicked last."""
        ports = self.selection.ports
        if len(ports) < 2:
            raise ModelError("new joint: two ports are needed; click them in the picture first.")
        for handle, port in zip((self.handles["first"], self.handles["second"]), ports, strict=True):
            if port not in handle.options:
                handle.options = (*handle.options, port)
            handle.value = port

    def joint(self) -> Joint:
        """The joint that the fields describe, read as on the command line."""
        return described(Joint, self.handles["kind"].value, self.data, "new joint:")

    def at(self) -> Array | None:
        """Where it is made."""
        place, snapshot = self.handles["place"].value, self._snapshot
        if place == STANDING or snapshot is None:
            return None
        if place == OWN:
            return np.array(self.handles["own"].value)
        first, second = self.handles["first"].value, self.handles["second"].value
        if place == FIRST:
            return place_of(snapshot, first, "new joint")
        if place == SECOND:
            return place_of(snapshot, second, "new joint")
        return 0.5 * (place_of(snapshot, first, "new joint") + place_of(snapshot, second, "new joint"))

    def join(self) -> None:
        """Post it; once it is there, its name is not proposed again."""
        value = {name: handle.value for name, handle in self.handles.items()}
        at, joint, self._given = self.at(), self.joint(), value["name"].strip()
        self.post(
            Join(
                self._given, joint, value["first"], value["second"],
                at=None if at is None else tuple(at.tolist()), law=value["law"],
            )
        )  # fmt: skip


def data_of_kind(kind: type[Joint], dimension: int) -> list[str]:
    """What there is to say of joints of a kind; nothing, where the two points are all that they read."""
    if kind.example(dimension).points(dimension) is not None:
        return []
    return data_of(kind)


def _usual(dimension: int) -> str:
    return "Revolute" if dimension == 2 else "Spherical"
