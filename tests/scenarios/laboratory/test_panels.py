"""Panels of the laboratory, without a browser: what they post is accepted, what is refused jumps back, nothing is sent in vain."""

import asyncio
import contextlib
import dataclasses
import html
import math
from types import SimpleNamespace

import pytest

import scenarios
from components import Load, Revolute, RigidBody, Rod
from coordinator import Simulation
from coordinator.couplings import Coupling, Glued, Mixed, Penalty
from coordinator.couplings.rules import Shannon, Stable
from coordinator.laboratory import acts
from coordinator.laboratory.acts import Receipt
from coordinator.laboratory.session import Session
from modular import Assembly, ModelError, events
from modular.force import Force
from modular.joint import Joint
from modular.limit import Limit
from scenarios.laboratory.apply_form import VISIBLE_FIELDS
from scenarios.laboratory.as_typed import OFFERED, OTHER, as_typed, offered
from scenarios.laboratory.fields import TYPING_PAUSE_SECONDS, Fields
from scenarios.laboratory.join_form import MIDDLE, OWN, data_of_kind
from scenarios.laboratory.kinds import data_of, kinds_of
from scenarios.laboratory.quantities import Quantity
from scenarios.laboratory.readings import readings
from scenarios.laboratory.selection import Selection
from scenarios.settings import read_coupling
from waiting import GUARD

viser = pytest.importorskip("viser")

from scenarios.laboratory import controls, plots, tree  # noqa: E402
from scenarios.laboratory.controls import Controls  # noqa: E402
from scenarios.laboratory.plots import Plots, drawable, power_of  # noqa: E402
from scenarios.laboratory.tree import PAGE_SIZE, Tree  # noqa: E402

DT = 1e-3


@pytest.fixture(autouse=True)
def at_every_look(monkeypatch):
    """Readings and charts are drawn whenever somebody looks."""
    monkeypatch.setattr(tree, "REFRESH_SECONDS", 0.0)
    monkeypatch.setattr(plots, "REFRESH_SECONDS", 0.0)


class Panels:
    """A session and its panels on a server that nobody has opened; whoever tests is the thread of the page."""

    def __init__(self, model, dt=DT):
        self.session = Session(Simulation(model, dt))
        self.server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
        self.selection = Selection()
        self.posted = []
        self.later = 0.0
        self.tree = Tree(self.server, self.post, self.selection)
        self.controls = Controls(self.server, self.post, self.selection)
        self.plots = Plots(self.server, self.selection)
        self.controls.hear(self.tree.fields, self.plots.inputs)
        for fields in (self.tree.fields, self.controls.inputs, self.plots.inputs):
            fields.clock = lambda: self.later
        self.look()

    def post(self, act):
        receipt = self.session.post(act)
        self.posted.append(receipt)
        return receipt

    def look(self):
        """What the thread of the page does, and that of the session."""
        for _ in range(2):
            self.flush()
            for panel in (self.tree, self.controls, self.plots):
                panel.update(self.session.snapshot)
            self.session.turn()
            while self.session.pace.moving and not self.session.pace.playing:
                self.session.turn()
        for panel in (self.tree, self.controls, self.plots):
            panel.update(self.session.snapshot)

    def flush(self):
        """Until the viewer has called whom it has to call."""

        async def nothing():
            pass

        asyncio.run_coroutine_threadsafe(nothing(), self.server.get_event_loop()).result(GUARD)

    @property
    def handles(self):
        return list(self.server.gui._gui_input_handle_from_uuid.values())

    def find(self, label):
        (found,) = [handle for handle in self.handles if handle._impl.props.label == label]
        return found

    def labels(self):
        return [handle._impl.props.label for handle in self.handles if handle._impl.props.label]

    def fill(self, label, value):
        """Type something, and let it rest."""
        self.find(label).value = value
        self.flush()
        self.look()
        self.later += 2 * TYPING_PAUSE_SECONDS
        self.look()

    def enter(self, label, text):
        """Type something, and press Enter."""
        handle = self.find(label)
        handle.value = text
        form = self.server.gui._container_handle_from_uuid[handle._impl.parent_container_id]
        form.submit()
        self.look()

    def press(self, label):
        self.find(label).value = True
        self.look()

    def group(self, option):
        (found,) = [h for h in self.handles if option in getattr(h._impl.props, "options", ()) and h._impl.is_button]
        found.value = option
        self.look()

    def strike(self, label):
        (command,) = [c for c in self.server.gui._command_handle_from_uuid.values() if c.label == label]
        for called in command._impl.trigger_cb:
            asyncio.run_coroutine_threadsafe(called(None), self.server.get_event_loop()).result(GUARD)
        self.look()

    @property
    def plan(self):
        return self.session.snapshot.plan

    @property
    def last(self):
        return self.posted[-1]

    def close(self):
        self.server.stop()
        self.session.close()


def pendulum():
    model = scenarios.load("double-pendulum")
    model.apply("push", Load((0.4, 0.2)), "lower.end")
    return model


@pytest.fixture
def panels():
    found = Panels(pendulum())
    yield found
    found.close()


# --- the model -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [2, 3])
def test_a_body_may_be_given_by_its_shape_and_density(dimension):
    """Its mass and its inertia are those of the shape, along the axis that was chosen; other fields are those of numbers."""
    model = Assembly(gravity=(0.0, -9.81) if dimension == 2 else (0.0, 0.0, -9.81))
    model.add("a", Rod((0.0,) * dimension, (1.0,) + (0.0,) * (dimension - 1), mass=1.0))
    panels = Panels(model)
    seen = lambda label: panels.find(label).visible  # noqa: E731
    try:
        panels.fill("kind of new body", "RigidBody")
        assert seen("mass of new body [kg]") and not seen("density of new body [kg/m³]")
        for kind, labels, mass, about_z in (
            ("box", {"edges of new body [m]": (0.4, 0.2, 0.1)}, 8.0, 8.0 * 0.2 / 12.0),
            ("ball", {"radius of new shape [m]": 0.1}, 4.0 * math.pi / 3.0, 0.4 * 0.01 * 4.0 * math.pi / 3.0),
            ("cylinder", {"length of new shape [m]": 0.5}, 5.0 * math.pi, 5.0 * math.pi * (0.0025 + 0.25 / 12.0)),
            ("capsule", {"new shape lies along": "z"}, 19.0 * math.pi / 3.0, None),
            ("cylinder", {}, 5.0 * math.pi, 5.0 * math.pi * 0.005),
        ):
            panels.fill("new body is given by", kind)
            assert seen("density of new body [kg/m³]") and not seen("mass of new body [kg]")
            for label, value in labels.items():
                panels.find(label).value = value
            body = panels.controls.adding.body()
            assert body.mass == pytest.approx(mass, rel=1e-12) and body.check("new") == []
            if about_z is not None:
                inertia = body.inertia if dimension == 2 else body.inertia[2][2]
                assert inertia == pytest.approx(about_z, rel=1e-12)
        panels.press("Add body")
        assert panels.plan.bodies["body-1"].mass == pytest.approx(5.0 * math.pi)
        panels.find("density of new body [kg/m³]").value = 0.0
        with pytest.raises(ModelError, match="density = 0"):
            panels.controls.adding.body()
    finally:
        panels.close()


def test_every_act_that_panels_can_post_is_accepted(panels):
    plan = lambda: panels.plan  # noqa: E731
    panels.fill("mass at end of upper [kg]", 2.5)
    assert plan().bodies["upper"].masses == (1.0, 2.5)
    panels.fill("length of lower [m]", 0.8)
    panels.fill("force of push [N]", (0.1, 0.7))
    assert plan().forces["push"].force.force == (0.1, 0.7)
    panels.enter("name of lower", "arm")
    assert list(plan().bodies) == ["upper", "arm"] and plan().joints["elbow"].second_body == "arm"
    panels.enter("name of elbow", "knee")
    panels.enter("name of push", "wind")
    panels.fill("limit of knee [N]", 750.0)
    assert plan().joints["knee"].breaks_at == Limit(750.0, window=0.025)
    assert panels.find("knee breaks").value is True
    panels.fill("knee breaks", False)
    assert plan().joints["knee"].breaks_at is None
    panels.fill("knee breaks", True)
    assert plan().joints["knee"].breaks_at == Limit(750.0, window=0.025)
    # settings
    panels.fill("step [s]", 5e-4)
    panels.fill("gravity [m/s²]", (0.5, -8.0))
    panels.fill("safety of the rule", 1.6)
    panels.fill("stiffness rule", "shannon")
    assert plan().coupling == Penalty(rule=Shannon()) and plan().dt == 5e-4 and plan().gravity == (0.5, -8.0)
    panels.fill("delta of the rule", 0.2)
    assert plan().coupling == Penalty(rule=Shannon(delta=0.2))
    panels.fill("coupling", "mixed, auto")
    assert plan().coupling == Mixed(rule=Shannon(delta=0.2))
    panels.enter("coupling as typed", "Penalty(rule=stable(safety=1.4))")
    assert plan().coupling == Penalty(rule=Stable(safety=1.4))
    # components of several bodies
    panels.fill("first to merge", "upper")
    panels.fill("second to merge", "arm")
    panels.press("Merge")
    assert plan().groups == [("upper", "arm")]
    panels.press("Part upper + arm")
    assert plan().groups == []
    # more of everything
    for kind, name in (("Rod", "r"), ("PointMassRod", "p"), ("RigidBody", "b")):
        panels.fill("kind of new body", kind)
        panels.find("name of new body").value = name
        panels.press("Add body")
        assert type(plan().bodies[name]).__name__ == kind
    for kind in ("NewtonEulerBody", "Beam", "ModalBody"):  # what the form describes; others tests let them move
        panels.fill("kind of new body", kind)
        body = panels.controls.adding.body()
        assert type(body).__name__ == kind and body.check("new") == []
        assert body.total_mass == pytest.approx(panels.find("mass of new body [kg]").value)
    panels.find("radius of new body [m]").value = 0.0
    with pytest.raises(ModelError, match="radius 0 m"):
        panels.controls.adding.body()
    panels.selection.ports = ["upper.start", "b.left"]
    panels.look()
    assert (panels.find("first port").value, panels.find("second port").value) == ("upper.start", "b.left")
    panels.find("kind of new joint").value = "Distance"
    panels.press("Join")
    assert plan().joints["joint-1"].second_body == "b"
    panels.find("kind of new joint").value = "Prismatic"
    panels.find("first port").value, panels.find("second port").value = "r.start", "ground"
    panels.flush(), panels.look()
    panels.find("axis of new joint").value = "1, 0"
    panels.press("Join")
    assert plan().joints["joint-2"].joint.axis == (1, 0)
    floor = (0.3, -30.0)
    for kind, other, end in (
        ("Load", None, None),
        ("Moment", None, None),
        ("SpringDamper", "ground", (0.3, 3.0)),
        ("AirDrag", None, None),
        ("Contact", "ground", floor),
        ("Contact", "upper.start", None),
    ):
        panels.fill("kind of new force", kind)
        panels.find("port of new force").value = "p.end"
        if other is not None:
            panels.find("other port of new force").value = other
            panels.find("end on the ground [m]").value = end or (0.0, 0.0)
        panels.press("Apply")
    assert [type(edge.force).__name__ for edge in plan().forces.values()] == [
        "Load",
        "Load",
        "Moment",
        "SpringDamper",
        "AirDrag",
        "Contact",
        "Contact",
    ]
    ball_on_floor, two_balls = list(plan().forces.values())[-2:]
    assert ball_on_floor.force.second.centre == floor and ball_on_floor.force.second.normal[1] > 0
    assert type(two_balls.force.second).__name__ == "Sphere"
    panels.press("Remove " + list(plan().forces)[-1])
    panels.fill("stiffness of force-3 [N/m]", 70.0)
    # less
    panels.press("Remove wind")
    panels.press("Cut joint-2")
    panels.press("Delete b")
    assert list(plan().joints) == ["pivot", "knee"] and "b" not in plan().bodies
    # the clock
    panels.press("Play")
    panels.press("Pause")
    panels.find("steps per click").value = 7
    tick = panels.session.simulation.tick
    panels.group("Step")
    assert panels.session.simulation.tick == tick + 7
    panels.group("× 0.1")
    assert panels.session.pace.speed == 0.1
    panels.fill("speed", 3.0)
    panels.group("Undo")
    assert "b" in plan().bodies
    panels.group("Redo")
    panels.group("Reset")
    assert panels.session.simulation.tick == 0 and list(plan().bodies) == ["upper", "lower"]
    assert [receipt.error for receipt in panels.posted if receipt.error] == []
    told = {type(receipt.act) for receipt in panels.posted}
    here = {act for act in vars(acts).values() if isinstance(act, type) and issubclass(act, acts.Act)}
    by_others = {acts.Act, acts.Change, acts.Command, acts.Grab, acts.Drag, acts.Release}  # the hand is in the picture
    # extras of the page
    by_others |= {getattr(acts, name) for name in ("Follow", "Collect", "ShowMode", "AskLoads") if hasattr(acts, name)}
    model = {events.Cut, events.Join, events.Add, events.Remove, events.Apply, events.Merge, events.Unmerge}
    assert told == (here - by_others) | model


@pytest.mark.parametrize(
    ("label", "value", "why"),
    [
        ("mass at end of upper [kg]", -1.0, "masses"),
        ("length of upper [m]", 0.0, "length"),
        ("limit of elbow [N]", -5.0, "joint 'elbow': limit = -5 N"),
        ("step [s]", 0.0, "step"),
        ("safety of the rule", 0.3, "safety"),
        ("speed", -1.0, "speed"),
    ],
)
def test_a_number_that_is_refused_jumps_back_and_says_why(panels, label, value, why):
    before = panels.find(label).value
    panels.fill(label, value)
    panels.look()
    assert panels.find(label).value == before != value
    assert why in html.unescape(panels.controls.log.content)


def test_what_was_refused_is_read_no_longer_once_it_was_put_right(panels):
    panels.fill("length of upper [m]", -1.0)
    panels.look()
    assert "must be positive" in panels.tree.said.content
    panels.fill("length of upper [m]", 1.2)
    panels.look()
    assert panels.tree.said.content == "" and not panels.tree.said.visible


@pytest.mark.parametrize(
    ("label", "text"), [("name of upper", "lower"), ("name of elbow", "a b"), ("coupling as typed", "glued(order=3)")]
)
def test_a_text_that_is_refused_jumps_back(panels, label, text):
    before = panels.find(label).value
    panels.enter(label, text)
    panels.look()
    assert panels.find(label).value == before
    assert "refused" in panels.controls.log.content


def test_texts_wait_for_enter(panels):
    panels.fill("name of upper", "uppe")
    assert panels.posted == [] and "upper" in panels.plan.bodies


def test_a_coupling_that_cannot_be_read_is_told_without_words_of_the_command_line(panels):
    panels.enter("coupling as typed", "nonsense")
    content = panels.controls.log.content
    assert "refused: coupling nonsense" in content and "--coupling" not in content


@pytest.mark.parametrize("target", ["double-pendulum", "double-pendulum-3d", "slider-crank"])
def test_every_field_and_button_has_a_label_of_its_own(target):
    panels = Panels(scenarios.load(target))
    try:
        labels = panels.labels()
        assert len(labels) == len(set(labels)) > 30
    finally:
        panels.close()


def test_folders_that_others_have_stay(panels):
    _, joints, *_ = panels.tree.sections
    pivot, elbow = joints.parts["pivot"], joints.parts["elbow"]
    limit = panels.find("limit of pivot [N]")
    panels.press("Cut elbow")
    assert list(joints.parts) == ["pivot"] and joints.parts["pivot"] is pivot
    assert panels.find("limit of pivot [N]") is limit and "Cut elbow" not in panels.labels()
    panels.group("Undo")
    assert joints.parts["pivot"] is pivot and joints.parts["elbow"] is not elbow and "Cut elbow" in panels.labels()
    assert joints.folder.label == "Joints (2)"


def test_who_is_renamed_keeps_the_folder(panels):
    bodies = panels.tree.sections[0]
    part, folder = bodies.parts["upper"], bodies.parts["upper"].folder
    panels.enter("name of upper", "arm")
    assert bodies.parts["arm"] is part and part.folder is folder and folder.label == "arm"
    panels.fill("mass at start of arm [kg]", 3.0)
    assert panels.plan.bodies["arm"].masses[0] == 3.0


def test_what_somebody_is_typing_stays_when_the_model_changes(panels):
    handle = panels.find("mass at end of upper [kg]")
    handle.value = 4.0
    panels.look()
    panels.press("Cut elbow")
    assert handle.value == 4.0 and panels.plan.bodies["upper"].masses[1] == 0.5
    panels.later += 2 * TYPING_PAUSE_SECONDS
    panels.look()
    assert panels.plan.bodies["upper"].masses[1] == 4.0


def test_numbers_are_shown_without_the_rounding_of_their_last_digits(panels):
    assert panels.plan.bodies["lower"].adjustable()["length"] != 1.0
    assert panels.find("length of lower [m]").value == 1.0
    panels.look()
    assert panels.posted == []


def test_a_name_is_never_part_of_the_page():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("<b>bold", RigidBody(mass=1.0, inertia=0.1, centre=(0.0, 0.0), ports={"<i>at": (0.5, 0.0)}))
    model.join("<u>joint", Revolute(), "ground", "<b>bold.<i>at")
    panels = Panels(model)
    try:
        panels.selection.choose("<u>joint")
        panels.plots.follow(Quantity("position", "<b>bold.<i>at", "x"))
        panels.controls.post(events.Cut("<u>joint"))
        panels.look()
        pages = [child.content for child in all_html(panels.server.gui)]
        told = "".join(pages)
        assert "&lt;b&gt;bold" in told and "&lt;i&gt;at" in told and "&lt;u&gt;joint" in told
        assert "<b>bold" not in told and "<i>at" not in told and "<u>joint" not in told
    finally:
        panels.close()


def all_html(gui):
    waiting = list(gui._container_handle_from_uuid.values())
    seen = [child for container in waiting for child in container._children.values()]
    return [child for child in seen if type(child).__name__ == "GuiHtmlHandle"]


# --- large models ----------------------------------------------------------------------------------------------------


def test_a_large_model_is_shown_in_pages_and_whoever_is_selected_is_on_one():
    small, large = Panels(scenarios.load("chain", bodies=30)), Panels(scenarios.load("chain", bodies=150))
    try:
        assert len(large.handles) == len(small.handles), "fields do not grow with the model"
        bodies, joints, *_ = large.tree.sections
        assert list(bodies.parts) == [f"rod{k}" for k in range(PAGE_SIZE)]
        large.selection.choose("ball77")
        large.look()
        assert "ball77" in joints.parts and len(joints.parts) == PAGE_SIZE and joints.parts["ball77"].opened
        large.fill("bodies shown", large.find("bodies shown").options[3])
        assert next(iter(bodies.parts)) == f"rod{3 * PAGE_SIZE}" and "ball77" in joints.parts
        large.press("Cut ball77")
        assert "ball77" not in large.plan.joints and "ball77" not in joints.parts and "ball78" in joints.parts
    finally:
        small.close(), large.close()


def test_nothing_is_sent_where_nothing_has_changed(panels, monkeypatch):
    panels.selection.choose("elbow")
    panels.look()
    sent = []
    interface = panels.server.gui._websock_interface
    monkeypatch.setattr(interface, "queue_message", lambda message: sent.append(message))
    panels.look()
    assert sent == []


# --- keys ------------------------------------------------------------------------------------------------------------


def test_keys_do_what_buttons_do(panels):
    panels.selection.choose("elbow")
    panels.strike("Delete what is selected")
    assert "elbow" not in panels.plan.joints and panels.selection.name is None
    panels.strike("Undo")
    assert "elbow" in panels.plan.joints
    panels.strike("Redo")
    assert "elbow" not in panels.plan.joints
    panels.selection.choose("lower")
    panels.strike("Delete what is selected (backspace)")
    assert list(panels.plan.bodies) == ["upper"] and list(panels.plan.forces) == []
    panels.strike("Step")
    assert panels.session.simulation.tick == 1
    panels.selection.choose("upper")
    panels.strike("Select nothing")
    assert panels.selection.name is None
    panels.strike("Delete what is selected")
    assert list(panels.plan.bodies) == ["upper"]


def test_a_key_that_is_held_down_pauses_once(panels, monkeypatch):
    now = [5.0]
    monkeypatch.setattr(controls, "time", SimpleNamespace(monotonic=lambda: now[0]))
    for _ in range(5):
        panels.strike("Pause or play")
        now[0] += 0.2
    assert [type(receipt.act) for receipt in panels.posted] == [acts.Resume]
    assert panels.find("Pause") is panels.controls.play
    now[0] += 0.3
    panels.strike("Pause or play")
    assert [type(receipt.act) for receipt in panels.posted] == [acts.Resume, acts.Pause]


# --- forms -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [2, 3])
def test_every_kind_of_joint_can_be_described(dimension):
    model = Assembly(gravity=(0.0, -9.81, 0.0)[:dimension])
    panels = Panels(model)
    try:
        form = panels.controls.joining
        assert form.kinds == kinds_of(Joint, dimension) and {"Revolute", "Distance", "Gear"} <= set(form.kinds)
        for name, kind in form.kinds.items():
            panels.fill("kind of new joint", name)
            example = kind.example(dimension)
            for field in data_of_kind(kind, dimension):
                value = getattr(example, field)
                form.data[field].value = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            assert form.joint() == example
            for handle in form.data.values():
                handle.value = ""
            needed = [field.name for field in dataclasses.fields(kind) if field.default is dataclasses.MISSING]
            if needed:
                with pytest.raises(ModelError, match=needed[0]):
                    form.joint()
            else:
                assert form.joint() == kind()
    finally:
        panels.close()


@pytest.mark.parametrize("dimension", [2, 3])
def test_every_kind_of_force_can_be_described(dimension):
    """Six with fields of their own, the hand by grabbing, and all others by the names of their data."""
    model = Assembly(gravity=(0.0, -9.81, 0.0)[:dimension])
    panels = Panels(model)
    try:
        form = panels.controls.applying
        assert set(kinds_of(Force, dimension)) == {*VISIBLE_FIELDS, *form.kinds, "Hand"} and {"Motor", "Stop"} <= set(
            form.kinds
        )
        for name, kind in form.kinds.items():
            panels.fill("kind of new force", name)
            example = kind.example(dimension)
            assert form.handles["third"].visible == (example.sides == 3)
            for field in data_of(kind):
                value = getattr(example, field)
                form.data[field].value = ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
            assert form.force() == example
            for handle in form.data.values():
                handle.value = ""
    finally:
        panels.close()


def test_a_motor_turns_what_hangs_on_a_hinge(panels):
    panels.fill("kind of new force", "Motor")
    panels.find("port of new force").value, panels.find("other port of new force").value = "upper.start", "ground"
    panels.find("effort of that force").value = "ramp(rate=2.0)"
    panels.press("Apply")
    (force,) = [
        edge.force for edge in panels.session.snapshot.plan.forces.values() if type(edge.force).__name__ == "Motor"
    ]
    assert force.effort.rate == 2.0


def test_a_joint_that_cannot_be_read_says_why(panels):
    panels.fill("kind of new joint", "Prismatic")
    panels.find("axis of new joint").value = "1, oops("
    panels.press("Join")
    assert "refused" in panels.controls.log.content and panels.posted == []


def test_places_of_a_joint(panels):
    form = panels.controls.joining
    panels.selection.ports = ["upper.end", "lower.end"]
    panels.look()
    assert form.at() is None
    places = {}
    for place in panels.find("place of new joint").options[1:4]:
        panels.fill("place of new joint", place)
        places[place] = form.at()
    motion = panels.session.simulation.port_motion
    assert places["at the first port"] == pytest.approx(motion("upper.end")[0], abs=1e-15)
    assert places["at the second port"] == pytest.approx(motion("lower.end")[0], abs=1e-15)
    assert places[MIDDLE] == pytest.approx(0.5 * (motion("upper.end")[0] + motion("lower.end")[0]), abs=1e-15)
    panels.fill("place of new joint", OWN)
    panels.find("own point [m]").value = (0.3, 0.7)
    assert form.at().tolist() == [0.3, 0.7]


def test_a_new_body_begins_where_somebody_has_clicked(panels):
    panels.press("Begin at clicked port")
    assert "no port was clicked" in panels.controls.log.content
    panels.selection.ports = ["lower.end"]
    panels.press("Begin at clicked port")
    panels.press("Add body")
    start = panels.session.simulation.port_motion("body-1.start")[0]
    assert start == pytest.approx(panels.session.simulation.port_motion("lower.end")[0], abs=1e-9)
    assert panels.find("name of new body").value == "body-2"


@pytest.mark.parametrize(
    ("label", "name", "button", "then"),
    [
        ("name of new body", "arm", "Add body", "body-1"),
        ("name of new joint", "brace", "Join", "joint-1"),
        ("name of new force", "pull", "Apply", "force-1"),
    ],
)
def test_a_name_that_was_given_away_makes_room_for_one_that_is_free(panels, label, name, button, then):
    panels.find(label).value = name
    panels.find("first port").value, panels.find("second port").value = "ground", "lower.end"
    panels.find("place of new joint").value = "at the second port"
    panels.press(button)
    assert [receipt.error for receipt in panels.posted if receipt.error] == []
    assert panels.find(label).value == then


def test_names_of_bodies_that_have_gone_are_not_proposed_again(panels):
    panels.press("Add body")
    panels.press("Delete body-1")
    assert panels.find("name of new body").value == "body-2"


def test_a_kind_of_joint_can_be_chosen_for_drags(panels):
    panels.fill("joint drawn with shift", "Fixed")
    assert panels.selection.joint == "components:Fixed"
    panels.fill("joint drawn with shift", "the one that fits")
    assert panels.selection.joint == ""


# --- couplings as typed ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", OFFERED)
def test_a_coupling_that_is_offered_reads_back_and_is_known_again(name):
    coupling = read_coupling(OFFERED[name], None)
    assert isinstance(coupling, Coupling)
    assert read_coupling(as_typed(coupling), None) == coupling
    assert offered(coupling) == name


def test_any_coupling_reads_back():
    for coupling in (
        Penalty(rule=Stable(safety=1.7, damping=0.02), guard=True),
        Mixed(joints={"elbow": "penalty", "*": "glued"}, steps={"up*": 3}),
        Glued(order=6, tolerance=1e-12),
    ):
        assert read_coupling(as_typed(coupling), None) == coupling
    assert offered(Penalty(rule=Shannon())) == "penalty" and offered(Glued(tolerance=1e-9)) == OTHER


@pytest.mark.short(4)
@pytest.mark.parametrize("name", OFFERED)
def test_every_coupling_that_is_offered_is_taken(panels, name):
    panels.fill("coupling", "glued, order 2" if name == "penalty" else "penalty")
    panels.fill("coupling", name)
    assert panels.last.error == "" and offered(panels.plan.coupling) == name
    panels.group("Step")
    assert panels.session.trouble == "" and panels.find("coupling").value == name


# --- what there is to read -------------------------------------------------------------------------------------------


def test_readings_are_those_of_the_simulation(panels):
    panels.find("steps per click").value = 200
    panels.group("Step")
    snapshot, simulation = panels.session.snapshot, panels.session.simulation
    read = {reading.what: reading.value for reading in readings(snapshot, "elbow")}
    ledger = {line.replace("_", " on "): value for line, value in simulation.ledger("elbow").items() if value}
    assert ledger and all(read[line] == value for line, value in ledger.items())
    run = simulation.recorded
    assert read["violation"] == abs(run.violation("elbow")[-1]).max()
    body = {reading.what: reading.value for reading in readings(snapshot, "lower")}
    assert body["kinetic energy"] == pytest.approx(run.kinetic_energy("lower")[-1], rel=1e-14)
    assert body["mass centre y"] == pytest.approx(run.mass_centre("lower")[-1, 1], rel=1e-14)
    assert {reading.what for reading in readings(snapshot, "push")} >= {"force", "supplied"}
    assert readings(snapshot, "nobody") == []


def test_the_log_has_the_last_things_first_and_what_was_refused_in_red(panels):
    for _ in range(12):
        panels.press("Cut elbow")
        panels.group("Undo")
    panels.controls.post(events.Cut("nowhere"))
    panels.look()
    content = panels.controls.log.content
    assert content.count("<div>") == 8 and content.index("refused") < content.index("undo")
    assert "no joint" in content and "#c92a2a" in content


def test_trouble_is_said(panels):
    panels.session.trouble = "body 'upper' has lost its shape."
    panels.session.turn()
    panels.look()
    assert "lost its shape" in panels.controls.status.content


# --- plots -----------------------------------------------------------------------------------------------------------


def test_curves_are_added_and_removed(panels):
    charts = panels.plots.charts
    panels.fill("quantity", "velocity")
    panels.fill("of", "lower.end")
    panels.fill("part", "y")
    panels.press("Add curve")
    panels.fill("quantity", "ledger")
    panels.fill("of", "elbow")
    panels.fill("part", "stored")
    panels.press("Add curve")
    wanted = [Quantity("velocity", "lower.end", "y"), Quantity("ledger", "elbow", "stored")]
    assert panels.plots.chosen == wanted and len(charts["chosen"].plot.series) == 3
    panels.find("steps per click").value = 50
    panels.group("Step")
    assert charts["chosen"].plot.data[0][-1] == panels.session.simulation.time == 0.05
    assert f"{panels.session.simulation.port_motion('lower.end')[1][1]:.4g}" in charts["chosen"].legend.content
    panels.fill("curve", "y-velocity of lower.end")
    panels.press("Remove curve")
    assert panels.plots.chosen == wanted[1:] and len(charts["chosen"].plot.series) == 2


def test_what_is_not_there_is_left_out_of_a_chart():
    import numpy as np

    t, y = np.arange(3.0), np.array([np.nan, 1.0, np.nan])
    assert drawable(t, [y]) == [[0.0, 1.0, 2.0], [None, 1.0, None]]
    assert [power_of([np.array([x])]) for x in (0.0, 3e-8, 0.2, 40.0, 3e7)] == [0, -9, 0, 0, 6]


# --- fields ----------------------------------------------------------------------------------------------------------


class Box:
    """A field that nobody sees."""

    def __init__(self, value):
        self.value, self.called = value, None

    def on_update(self, called):
        self.called = called

    def type(self, value):
        self.value = value
        with contextlib.suppress(StopIteration):
            self.called(None).send(None)


class Typing:
    """Somebody who types, on a clock of our own."""

    def __init__(self, answer):
        self.now, self.told = 0.0, []
        self.fields = Fields(None, clock=lambda: self.now)
        self.box = Box(1.0)

        def tell(value):
            self.told.append(value)
            return answer(value)

        self.field = self.fields._field(self.box, tell, TYPING_PAUSE_SECONDS)

    def type(self, value, pause=0.1):
        self.box.type(value)
        self.wait(pause)

    def wait(self, seconds):
        self.now += seconds
        self.fields.update()


def test_only_what_has_come_to_rest_is_told():
    typing = Typing(lambda value: None)
    for value in (0.0, 0.5, 0.52):
        typing.type(value)
    assert typing.told == []
    typing.wait(TYPING_PAUSE_SECONDS)
    assert typing.told == [0.52]
    typing.wait(TYPING_PAUSE_SECONDS)
    assert typing.told == [0.52]


def test_who_types_back_what_was_there_tells_nothing():
    typing = Typing(lambda value: None)
    typing.type(2.0)
    typing.type(1.0)
    typing.wait(2 * TYPING_PAUSE_SECONDS)
    assert typing.told == []


def test_a_value_that_is_refused_later_jumps_back_unless_somebody_types_on():
    receipt = Receipt(acts.Pause())
    typing = Typing(lambda value: receipt)
    typing.type(-2.0, 2 * TYPING_PAUSE_SECONDS)
    typing.wait(0.1)
    assert typing.told == [-2.0] and typing.box.value == -2.0
    receipt.close("a mass must be positive.")
    typing.wait(0.1)
    assert typing.box.value == 1.0 and typing.fields.refusal == "a mass must be positive."
    second = Receipt(acts.Pause())
    typing.field.tell = lambda value: second
    typing.type(-3.0, 2 * TYPING_PAUSE_SECONDS)
    typing.wait(0.1)
    typing.type(3.0)
    second.close("a mass must be positive.")
    typing.wait(0.1)
    assert typing.box.value == 3.0


def test_a_value_that_cannot_even_be_posted_jumps_back():
    def refuse(value):
        raise ModelError("no such thing.")

    typing = Typing(refuse)
    typing.type(5.0, 2 * TYPING_PAUSE_SECONDS)
    assert typing.box.value == 1.0 and list(typing.fields.refusals) == ["no such thing."]
