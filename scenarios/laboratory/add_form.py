"""A body more: which kind, where and how heavy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from components import Beam, ModalBody, NewtonEulerBody, PointMassRod, RigidBody, Rod
from coordinator.laboratory.acts import Doing, Receipt
from coordinator.laboratory.snapshot import Plan, Snapshot
from modular.body import Body
from modular.elements import Array
from modular.errors import ModelError
from modular.events import Add
from scenarios.laboratory.fields import Fields, add_number, add_vector
from scenarios.laboratory.places import place_of, room_beside
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.solid_form import GIVEN, OF_SHAPES, solid_fields, solid_of
from scenarios.laboratory.words import free_name

ROD, POINTS, RIGID, POSED = "Rod", "PointMassRod", "RigidBody", "NewtonEulerBody"
BEAM, MODAL = "Beam", "ModalBody"
# mass [kg] per length [m] of what is proposed, and its radius as a share of its length
DEFAULT_MASS_PER_LENGTH, DEFAULT_RADIUS_OVER_LENGTH = 1.0, 0.05
VISIBLE_FIELDS = {
    ROD: ("start", "end", "mass", "radius"),
    POINTS: ("start", "end", "mass_at_start", "mass_at_end"),
    RIGID: ("centre", "size", "made_of"),
    POSED: ("centre", "size", "made_of"),
    BEAM: ("start", "end", "mass", "radius", "young"),
    MODAL: ("start", "end", "mass", "radius", "young"),
}
BENDING = (BEAM, MODAL)
PIECES, MODES = 8, 4  # of what bends
YOUNG = 1e7  # of rubber [Pa]: what is proposed bends visibly


class AddForm:
    """Its fields are made when it is known whether the model is planar."""

    def __init__(self, gui: Any, post: Callable[[Doing], Receipt], selection: Selection, inputs: Fields) -> None:
        self.gui, self.post, self.selection, self.inputs = gui, post, selection, inputs
        self.handles: dict[str, Any] = {}
        self.plan: Plan | None = None
        self._snapshot: Snapshot | None = None
        self._taken: set[str] = set()
        self._proposed = self._given = ""
        self._place = gui.add_folder(None)

    def update(self, snapshot: Snapshot) -> None:
        """Propose a name that is free."""
        self._snapshot, plan = snapshot, snapshot.plan
        if plan is self.plan:
            return
        self.plan = plan
        self._taken.update(plan.bodies, plan.forces)  # names of bodies that have gone are not given again
        if not self.handles:
            with self._place:
                self._build(plan, *room_beside(snapshot))
        if self.handles["name"].value.strip() in (self._proposed, self._given if self._given in plan.bodies else ""):
            self._proposed = self.handles["name"].value = free_name("body", self._taken)

    def _build(self, plan: Plan, start: Array, end: Array) -> None:
        gui, size = self.gui, float(np.linalg.norm(end - start))
        mass = _round(DEFAULT_MASS_PER_LENGTH * size)
        inertia = _round(mass * size**2 / 12)
        self.handles = made = {
            "kind": gui.add_dropdown("kind of new body", tuple(VISIBLE_FIELDS)),
            "name": gui.add_text("name of new body", ""),
            "start": add_vector(gui, "start of new body [m]", start.tolist()),
            "end": add_vector(gui, "end of new body [m]", end.tolist()),
            "centre": add_vector(gui, "centre of new body [m]", (0.5 * (start + end)).tolist()),
            "size": add_number(
                gui, "size of new body [m]", size, hint="Between its ports left and right, which lie along x"
            ),
            "mass": add_number(gui, "mass of new body [kg]", mass),
            "mass_at_start": add_number(gui, "mass at start of new body [kg]", mass / 2),
            "mass_at_end": add_number(gui, "mass at end of new body [kg]", mass / 2),
            "radius": add_number(
                gui,
                "radius of new body [m]",
                _round(DEFAULT_RADIUS_OVER_LENGTH * size),
                hint="0: a slender rod, without orientation about its line",
            ),
            "young": add_number(
                gui, "Young's modulus of new body [Pa]", YOUNG, hint="Rubber 1e7, wood 1e10, steel 2.1e11"
            ),
        }
        label = "inertia of new body [kg m²]"
        if plan.dimension == 2:
            made["inertia"] = add_number(gui, label, inertia, hint="About the mass centre")
        else:
            made["inertia"] = add_vector(gui, label, (inertia,) * 3, hint="About the mass centre, along x, y and z")
        made.update(solid_fields(gui, _round(size)))
        clicked = gui.add_button("Begin at clicked port", icon="current-location", color="gray")
        add = gui.add_button("Add body", icon="plus")
        made["kind"].on_update(self.inputs.later(self._show))
        made["made_of"].on_update(self.inputs.later(self._show))
        clicked.on_click(self.inputs.later(self.begin_at_port))
        add.on_click(self.inputs.later(self.add))
        self._show()

    def _show(self) -> None:
        """The fields of this kind."""
        assert self.plan is not None
        seen = {*VISIBLE_FIELDS[self.handles["kind"].value], "kind", "name"}
        if "made_of" in seen:
            seen.update(OF_SHAPES[self.handles["made_of"].value])
        if self.plan.dimension == 2 and self.handles["kind"].value not in BENDING:
            seen.discard("radius")  # which counts for nothing there
        for name, handle in self.handles.items():
            if handle.visible != (name in seen):
                handle.visible = name in seen

    def begin_at_port(self) -> None:
        """Let it begin where a port is that was clicked."""
        ports = self.selection.ports
        if not ports or self._snapshot is None:
            raise ModelError("new body: no port was clicked yet; click one in the picture first.")
        place = place_of(self._snapshot, ports[-1], "new body")
        moved = place - np.array(self.handles["start"].value)
        for name in ("start", "end", "centre"):
            self.handles[name].value = tuple((np.array(self.handles[name].value) + moved).tolist())

    def body(self) -> Body:
        """The body that the fields describe."""
        value = {name: handle.value for name, handle in self.handles.items()}
        flat = self.plan is not None and self.plan.dimension == 2
        if value["kind"] == ROD:
            return Rod(value["start"], value["end"], value["mass"], 0.0 if flat else value["radius"])
        if value["kind"] == POINTS:
            return PointMassRod(value["start"], value["end"], (value["mass_at_start"], value["mass_at_end"]))
        if value["kind"] in BENDING:
            beam = _beam(value["start"], value["end"], value["mass"], value["radius"], value["young"])
            return beam if value["kind"] == BEAM else ModalBody.of_beam(beam, MODES)
        half = np.zeros(len(value["centre"]))
        half[0] = 0.5 * value["size"]
        centre = np.array(value["centre"])
        ports = {"left": centre - half, "right": centre + half}
        kind = NewtonEulerBody if value["kind"] == POSED else RigidBody
        mass, inertia = value["mass"], value["inertia"]
        if value["made_of"] != GIVEN:
            solid = solid_of(value)
            mass = solid.mass
            inertia = float(solid.inertia[2, 2]) if flat else tuple(map(tuple, solid.inertia.tolist()))
        return kind(mass=mass, inertia=inertia, centre=value["centre"], ports=ports)

    def add(self) -> None:
        """Post it; once it is there, its name is not proposed again."""
        body, self._given = self.body(), self.handles["name"].value.strip()
        self.post(Add(self._given, body))


def _beam(start: Any, end: Any, mass: float, radius: float, young: float) -> Beam:
    """A round one, as dense as it must be."""
    length = float(np.linalg.norm(np.subtract(end, start)))
    if not (length > 0.0 and radius > 0.0 and young > 0.0):
        raise ModelError(
            f"new body: length {length:g} m, radius {radius:g} m, Young's modulus {young:g} Pa; what bends needs them positive."
        )
    density = mass / (np.pi * radius**2 * length)
    return Beam.of_circle(start, end, radius=radius, young=young, density=density, elements=PIECES)


def _round(value: float) -> float:
    return float(f"{value:.2g}")
