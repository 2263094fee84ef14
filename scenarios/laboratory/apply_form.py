"""A force more: a load, a moment, a spring with a damper, drag, contact, or any other kind with its data as text."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from components import HAND, AirDrag, Box, Contact, HalfSpace, Load, Moment, Sphere, SpringDamper
from components.forces.shapes import Shape
from coordinator.laboratory.acts import Doing, Receipt
from coordinator.laboratory.snapshot import Plan, Snapshot
from modular.component import class_name
from modular.errors import ModelError
from modular.events import Apply
from modular.force import Force
from modular.port import GROUND
from scenarios.laboratory.fields import Fields, add_number, add_vector
from scenarios.laboratory.join_form import MAX_OFFERED_PORTS
from scenarios.laboratory.kinds import LEFT_OUT, data_of, described, kinds_of
from scenarios.laboratory.quantities import ports_of
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.words import free_name

LOAD, MOMENT, SPRING, AIR, CONTACT = "Load", "Moment", "SpringDamper", "AirDrag", "Contact"
SPHERE, BOX = "Sphere", "Box"
VISIBLE_FIELDS = {
    LOAD: ("force", "port"),
    MOMENT: ("moment", "port"),
    SPRING: ("stiffness", "damping", "length", "port", "other", "at"),
    AIR: ("quadratic", "linear", "wind", "port"),
    CONTACT: ("shape", "width", "other_shape", "other_width", "friction", "restitution", "port", "other", "at"),
}


class ApplyForm:
    """Its fields are made when it is known whether the model is planar."""

    def __init__(self, gui: Any, post: Callable[[Doing], Receipt], selection: Selection, inputs: Fields) -> None:
        self.gui, self.post, self.selection, self.inputs = gui, post, selection, inputs
        self.handles: dict[str, Any] = {}
        self.data: dict[str, Any] = {}  # fields of the data of all other kinds
        self.kinds: dict[str, type[Force]] = {}
        self.plan: Plan | None = None
        self._followed: list[str] = []
        self._proposed = self._given = ""
        self._ports: tuple[str, ...] = ()
        self._place = gui.add_folder(None)

    def update(self, snapshot: Snapshot) -> None:
        """Ports that there are, and a name that is free."""
        plan = snapshot.plan
        if plan is not self.plan:
            self.plan = plan
            if not self.handles:
                with self._place:
                    self._build(plan)
            ports = tuple(islice(ports_of(plan), MAX_OFFERED_PORTS))
            if ports != self._ports:
                self._ports = ports
                self.handles["port"].options = ports[1:] or (GROUND,)
                self.handles["other"].options = self.handles["third"].options = ports
            if self.handles["name"].value.strip() in (
                self._proposed,
                self._given if self._given in plan.forces else "",
            ):
                taken = {*plan.bodies, *plan.joints, *plan.forces}
                self._proposed = self.handles["name"].value = free_name("force", taken)
        if self.selection.ports is not self._followed:
            self._followed = self.selection.ports
            self._follow()

    def _build(self, plan: Plan) -> None:
        gui, d = self.gui, plan.dimension
        weight = -_heft(plan)
        others = {name: kind for name, kind in kinds_of(Force, d).items() if name not in VISIBLE_FIELDS}
        self.kinds = {name: kind for name, kind in others.items() if class_name(kind) != HAND}
        self.handles = made = {
            "kind": gui.add_dropdown("kind of new force", (*VISIBLE_FIELDS, *self.kinds)),
            "port": gui.add_dropdown("port of new force", (GROUND,)),
            "other": gui.add_dropdown("other port of new force", (GROUND,)),
            "third": gui.add_dropdown("third port of new force", (GROUND,), hint="Of a regulator: what it reads"),
            "at": add_vector(
                gui, "end on the ground [m]", (0.0,) * d, hint="Where a spring to the ground ends, or a floor lies"
            ),
            "force": add_vector(gui, "force of new force [N]", (0.0,) * (d - 1) + (weight,)),
            "stiffness": add_number(gui, "stiffness of new force [N/m]", 50.0),
            "damping": add_number(gui, "damping of new force [N s/m]", 0.5),
            "length": gui.add_text("length of new force [m]", "", hint="Empty: as far apart as its ends are"),
            "quadratic": add_number(
                gui, "quadratic of new force [N s²/m²]", 0.5, hint="Half density times coefficient and area"
            ),
            "linear": add_number(gui, "linear of new force [N s/m]", 0.0),
            "wind": add_vector(gui, "wind of new force [m/s]", (0.0,) * d),
            "shape": gui.add_dropdown("shape at the port of new force", (SPHERE, BOX)),
            "width": add_number(gui, "width of that shape [m]", 0.2, hint="Edge of a box, diameter of a sphere"),
            "other_shape": gui.add_dropdown("shape at the other port of new force", (SPHERE, BOX)),
            "other_width": add_number(gui, "width of the other shape [m]", 0.2),
            "friction": add_number(gui, "friction of new force", 0.4),
            "restitution": add_number(gui, "restitution of new force", 0.3),
        }
        label = "moment of new force [N m]"
        made["moment"] = add_number(gui, label, 1.0) if d == 2 else add_vector(gui, label, (0.0, 1.0, 0.0))
        for name in dict.fromkeys(n for kind in self.kinds.values() for n in data_of(kind)):
            self.data[name] = gui.add_text(f"{name} of that force", "", hint=LEFT_OUT)
        made["name"] = gui.add_text("name of new force", "")
        apply = gui.add_button("Apply", icon="arrow-up-right")
        made["kind"].on_update(self.inputs.later(self._show))
        made["other"].on_update(self.inputs.later(self._show))
        apply.on_click(self.inputs.later(self.apply))
        self._show()

    def _show(self) -> None:
        """The fields of this kind."""
        kind = self.kinds.get(self.handles["kind"].value)
        seen = {*(_ports(self._sides(kind)) if kind else VISIBLE_FIELDS[self.handles["kind"].value]), "kind", "name"}
        own = data_of(kind) if kind else []
        for name, handle in self.data.items():
            handle.visible = name in own
        if self.handles["other"].value != GROUND:
            seen.discard("at")
        else:  # where contact meets a floor
            seen -= {"other_shape", "other_width"}
        for name, handle in self.handles.items():
            if handle.visible != (name in seen):
                handle.visible = name in seen

    def _sides(self, kind: type[Force]) -> int:
        """On how many ports forces of a kind act."""
        assert self.plan is not None
        return kind.example(self.plan.dimension).sides

    def _follow(self) -> None:
        """The ports that were clicked last."""
        named = [port for port in reversed(self.selection.ports) if port != GROUND]
        for key, port in zip(("port", "other"), named, strict=False):
            if port in self.handles[key].options:
                self.handles[key].value = port

    def force(self) -> Force:
        """The force that the fields describe."""
        value = {name: handle.value for name, handle in self.handles.items()}
        if value["kind"] in self.kinds:
            return described(Force, value["kind"], self.data, "new force:")
        if value["kind"] == LOAD:
            return Load(value["force"])
        if value["kind"] == MOMENT:
            return Moment(value["moment"])
        if value["kind"] == AIR:
            return AirDrag(value["quadratic"], value["linear"], value["wind"])
        if value["kind"] == CONTACT:
            return self._contact(value)
        text = value["length"].strip()
        try:
            length = float(text) if text else None
        except ValueError as error:
            raise ModelError(f"new force: length = {text!r}; give a number [m], or leave it empty.") from error
        return SpringDamper(value["stiffness"], value["damping"], length)

    def _contact(self, value: dict[str, Any]) -> Contact:
        """Of a shape on a port with one on another, or with a floor square to gravity."""
        assert self.plan is not None
        d, gravity = self.plan.dimension, self.plan.gravity
        own = _shape(value["shape"], value["width"], d)
        other: Shape = _shape(value["other_shape"], value["other_width"], d)
        if value["other"] == GROUND:
            other = HalfSpace(normal=tuple(-g for g in gravity) if any(gravity) else None, centre=value["at"])
        return Contact(own, other, value["friction"], value["restitution"])

    def apply(self) -> None:
        """Post it; once it is there, its name is not proposed again."""
        value = {name: handle.value for name, handle in self.handles.items()}
        force = self.force()
        ports = [value[name] for name in ("port", "other", "third")[: force.sides]]
        at = value["at"] if len(ports) == 2 and GROUND in ports and not force.placed_by else None
        self._given = value["name"].strip()
        self.post(Apply(self._given, force, ports, at))


def _ports(sides: int) -> tuple[str, ...]:
    """The fields that say where a force acts."""
    return ("port", "other", "third")[:sides] + (("at",) if sides == 2 else ())


def _shape(kind: str, width: float, dimension: int) -> Shape:
    """A sphere or a box of a width."""
    return Sphere(0.5 * width) if kind == SPHERE else Box((width,) * dimension)


def _heft(plan: Plan) -> float:
    """About the weight of a body: a force that is felt."""
    masses = [body.total_mass for body in islice(plan.bodies.values(), 50) if not body.led]
    pull = sum(g * g for g in plan.gravity) ** 0.5 or 10.0
    return float(f"{sum(masses) / len(masses) * pull:.2g}") if masses else 10.0
