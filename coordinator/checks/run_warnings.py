"""What a run is warned of before it begins and on its way: margins below one, each change of them once, and each body once.

*Contacts that begin with their shapes in each other.* A joint that does not close is refused when it is made. Shapes in each other
are a mistake of the model as well, but one that runs: their springs, as stiff as the step allows, throw them out, about as fast as
they are deep by the step. So it is said before the run; how it looks at the end says nothing of the mechanism. What weight or
approach bring about within a few ticks is none.

*Forces that grow stiffer as things move*, such as the drag of the air with its speed. What a margin says when a run begins holds
for springs and dampers, whose gains stay as they are. A ball that is let go has no drag at all; at its last velocity the same step
may be too long. Then accelerations change their sign from tick to tick, while nothing diverges, and what is found between such
velocities is not the drag at their mean.

An alarm that names the joint or force whose leak exceeds a limit.

Forces along an angle or a way that a joint between the same bodies does not leave: they move nothing, which nobody meant.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.checks import load_stiffness
from coordinator.checks.context import CheckContext
from coordinator.checks.diagnosis import beyond, proposed
from coordinator.checks.load_stiffness import answers_kept
from coordinator.couplings.margins import as_dict
from coordinator.engine.program import Operation
from coordinator.record.past import BEYOND, OVERLAP
from coordinator.system import System
from modular.along_joint import axis_along
from modular.elements import Array
from modular.errors import LeakWarning, ModelError, StabilityWarning, StartWarning, UnseenWarning
from modular.force import BeginsAtRest, BeginsBeyond, Beyond, Force, Overlap
from modular.ledger import LEAKED, Booked, leak_loop
from modular.names import first_few
from modular.port import GROUND
from modular.tiles import kinds_of

if TYPE_CHECKING:
    from coordinator.couplings.resting import Unsettled
    from modular.assembly import Assembly
    from modular.component import Component

ALONG = 1e-6  # of a force along its coordinate: what a joint leaves less of, it locks


def along_one(force: Force) -> bool:
    """Whether it acts along an angle or a way alone."""
    return force.coordinate in ("angle", "way")


def across_joints(simulation: CheckContext, names: Iterable[str] | None = None) -> Iterator[str]:
    """What is to be said of such forces, of all or of those that are named.

    Of joints counts what leaves one angle or one way, and may not break.
    """
    model = simulation.assembly
    edges = model.force_edges
    asked = [name for name in (edges if names is None else names) if along_one(edges[name].force)]
    if not asked:
        return
    lasting: dict[frozenset[str], list[str]] = {}
    for name, edge in model.joint_edges.items():
        form = simulation.system.joint_home[name].stack.form
        leaves_one = form.locks == (5 if model.dimension == 3 else 2) and not form.drives
        if leaves_one and edge.breaks_at is None and edge.joint.coordinates in (("angle",), ("way",)):
            lasting.setdefault(frozenset((edge.first_body, edge.second_body)), []).append(name)
    for name in asked:
        force = edges[name]
        measure = str(force.force.coordinate)
        for joint in lasting.get(frozenset(port.body for port in force.ports[:2]), ()):
            edge = model.joint_edges[joint]
            left = edge.joint.coordinates[0]
            if measure == "way" and left == "angle":
                continue  # what turns goes some way, beside its axis
            try:
                line = np.asarray(axis_along(model, force.force.line, *force.ports[:2]), float)
                axis = np.asarray(axis_along(model, getattr(edge.joint, "axis", None), edge.first, edge.second), float)
            except ModelError:  # a body that does not say how its ports are turned
                continue
            turns = measure == "angle" == left and model.dimension == 2
            if turns or (measure == left and abs(line @ axis) > ALONG * np.linalg.norm(line) * np.linalg.norm(axis)):
                continue
            yield _words(name, measure, line, joint, left, axis)


def _words(name: str, measure: str, line: Array, joint: str, left: str, axis: Array) -> str:
    acts = {"angle": "acts about", "way": "acts along"}[measure]
    leaves = {"angle": "turning about", "way": "sliding along"}[left]
    return (
        f"force '{name}' {acts} {_told(line)}, and joint '{joint}' between the same bodies leaves nothing but {leaves} "
        f"{_told(axis)}: it moves nothing. Put it along the joint, apply('{name}', …, joint='{joint}'), or give it that axis."
    )


def _told(axis: Array) -> str:
    return f"({', '.join(f'{x:.3g}' for x in axis)})"


class Alarm:
    """Looks at all ledgers; rings once per name."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.rung: set[str] = set()  # names that have been told

    def program(self, system: System) -> list[Operation]:
        """Loops that stop a run of many ticks where the alarm has to ring."""
        if self.limit is None:
            return []
        system.elements.alarm[0] = self.limit
        own = [stack for stack in system.booked if isinstance(stack, Booked)]
        for stack in own:
            stack.loops["leak"] = leak_loop
        return [(stack, "leak") for stack in own]

    def ring(self, system: System, time: float) -> dict[str, float]:
        """Names that have just passed the limit, with their leak [J]."""
        if self.limit is None:
            return {}
        found: dict[str, float] = {}
        for stack in system.booked:
            leaks = stack.ledger[: stack.count, LEAKED]
            for row in np.flatnonzero(np.abs(leaks) > self.limit):
                if isinstance(stack, Booked):
                    stack.rung[row] = 1
                name = stack.names[row]
                if name not in self.rung:
                    self.rung.add(name)
                    found[name] = float(leaks[row])
        for name, leak in found.items():
            warnings.warn(
                f"'{name}' has leaked {leak:.3g} J at {time:.6g} s, more than the {self.limit:g} J allowed; a smaller step helps "
                "with its square.",
                LeakWarning,
                stacklevel=5,
            )
        return found


MIN_STEPS_PER_SWING, STEPS_PER_SWING = 8.0, 40.0  # with fewer a sine is off by a twentieth; with so many by 2e-3


class WarningMemory:
    """Remembers of what it has told."""

    def __init__(self) -> None:
        self.look_at = load_stiffness.FIRST_CHECK_TICK  # the tick from which on loads are looked at again
        self.carriers: dict[
            str, load_stiffness.Carrier
        ] = {}  # bodies that pass on loads, as they stood when that was looked at
        self._reported = 0  # changes of margins
        self._loads: list[load_stiffness.Load] = []  # that bodies pass on, as last looked at
        self._looked_at = (0, 0)  # entries of the log of margins, and the tick, when that was looked at of all
        self._overloaded: set[str] = set()  # bodies of which it has told
        self.starts: list[str] = []  # what is to be said of them
        self._slow: list[str] = []  # contacts that part too slowly, as last said
        self._across: dict[str, Component] = {}  # forces of which it knows whether a joint leaves what they act along
        self._looked: dict[str, Component] = {}  # parts of which it knows whether ticks see what they do

    def begin(self, simulation: CheckContext) -> None:
        """Say so where something is stiffer than the step can bear, or over before a step is."""
        self._look_between(simulation)
        self._look_across(simulation)
        self._say_starts()
        if self._reported == len(simulation.past.margins):
            return
        self._reported = len(simulation.past.margins)
        looked = (self._reported, simulation.tick) == self._looked_at
        if (found := beyond(simulation, loads=self._loads if looked else None)) is not None:
            self._overloaded |= {found[0]} if found[1] == "body" else set()
            _warn(simulation, *found[:4])

    def look(self, simulation: CheckContext) -> None:
        """Say so where loads ask for more than the step bears: as an event has left them, or now and then."""
        self._say_starts()
        if simulation.tick >= self.look_at:
            at_home = not simulation.is_distributed
            latest = simulation.past.latest_margins()
            below = load_stiffness.NEAR_MARGIN
            self._loads = (
                load_stiffness.now(simulation, latest, below) if at_home else load_stiffness.sampled(simulation)
            )
            near = any(load.margin < below for load in self._loads) or hardens(simulation)
            self.look_at = load_stiffness.next_look(simulation.tick, near=near)
            self._tell_hardened(simulation)
        loads, self._loads = self._loads, []
        load = load_stiffness.least([load for load in loads if load.body not in self._overloaded])
        if load is not None:
            self._overloaded.add(load.body)
            remedy, _ = proposed(simulation, *load_stiffness.remedy(load, simulation.coupling, simulation.dt))
            _warn(simulation, load.body, "body", load.margin, remedy)

    def _tell_hardened(self, simulation: CheckContext) -> None:
        """Log forces that have come to be beyond their limit, and say so of the one that is furthest."""
        if found := hardened(simulation):
            simulation.past.margins.append({"tick": simulation.tick, "margins": found})
            self._reported = len(simulation.past.margins)
            if (worst := beyond(simulation)) is not None:
                _warn(simulation, *worst[:4])

    def note_start(self, simulation: CheckContext, found: Unsettled | None) -> None:
        """Log contacts and stops that begin where they throw, part too slowly, or begin with forces not found.

        Said when the run goes on.
        """
        if not simulation.system.force_stacks:
            self._slow = []
            return
        at = {"tick": simulation.tick, "time": simulation.time}
        if inside := overlaps(simulation):
            first, *others = [each.name for each in inside]
            simulation.events.append({**at, "kind": OVERLAP, "name": first, "others": others, "depth": inside[0].depth})
            self.starts.append(overlap_words(simulation, inside))
        if outside := begun_beyond(simulation):
            first, *others = [each.name for each in outside]
            simulation.events.append({**at, "kind": BEYOND, "name": first, "others": others, "by": outside[0].by})
            self.starts.append(beyond_words(outside))
        if (slow := rebounding(simulation)) and slow != self._slow:
            simulation.events.append({**at, "kind": "rebound", "name": slow[0], "others": slow[1:]})
            self.starts.append(rebounding_words(simulation, slow))
        self._slow = slow
        if found is not None:
            first, *others = found.contacts
            simulation.events.append({**at, "kind": "unsettled", "name": first, "others": others, "left": found.left})
            self.starts.append(unsettled_words(found))

    def end(self) -> None:
        """Say what the last events of a run have begun, after which nobody has looked."""
        self._say_starts()

    def _say_starts(self) -> None:
        while self.starts:
            warnings.warn(self.starts.pop(0), StartWarning, stacklevel=5)

    def _look_across(self, simulation: CheckContext) -> None:
        """Say so of each new force that moves nothing, for a joint holds what it acts along."""
        forces = {name: edge.force for name, edge in simulation.assembly.force_edges.items() if along_one(edge.force)}
        new = [name for name, force in forces.items() if self._across.get(name) is not force]
        self.starts += across_joints(simulation, new)
        self._across = dict(forces)

    def _look_between(self, simulation: CheckContext) -> None:
        """Say so of each new force that does something between two ticks, where nobody goes there."""
        if getattr(simulation.coupling, "meets_corners", False):
            return
        model, steps = simulation.assembly, f"dt = {simulation.dt:g} s"
        for name, edge in model.force_edges.items():
            if (
                self._looked.get(name) is not edge.force
                and (at := edge.force.unseen(simulation.dt, simulation.time)) is not None
            ):
                warnings.warn(unseen_words(name, at, steps), UnseenWarning, stacklevel=5)
        for name, part in following(model):
            if (
                self._looked.get(name) is not part
                and (pace := fastest(part)) * simulation.dt * MIN_STEPS_PER_SWING > 1.0
            ):
                warnings.warn(unfollowed_words(name, pace, simulation.dt, steps), UnseenWarning, stacklevel=5)
            self._looked[name] = part

    def entry(
        self, simulation: CheckContext, margins: Mapping[str, float], bodies: Sequence[str] | None
    ) -> dict[str, Any]:
        """Margins of stiffness, all or those on touched bodies, with what loads leave of them, as the log has it."""
        known = as_dict(margins)  # for now: of many the log keeps no more than they are
        self._loads = load_stiffness.after(simulation, known, bodies)
        self._looked_at = (len(simulation.past.margins) + 1, simulation.tick) if bodies is None else (0, 0)
        reported, loads = load_stiffness.tell(known, self._loads)
        return (
            {"tick": simulation.tick, "margins": reported, "loads": loads}
            if loads
            else {"tick": simulation.tick, "margins": margins}
        )


def unseen_words(name: str, at: float, steps: str) -> str:
    """Of a force that does something between two ticks of such steps."""
    return (
        f"force '{name}' has a pulse at {at:.6g} s that lasts about one step ({steps}), too short to be sampled "
        "correctly. Remedy: take a shorter step, or a longer pulse of the same area."
    )


def following(model: Assembly) -> Iterator[tuple[str, Component]]:
    """What may follow a course over time: forces, driven joints, bodies that are led."""
    yield from ((name, edge.force) for name, edge in model.force_edges.items())
    if any(edge.joint.drive for edge in kinds_of(model.joint_edges)):
        yield from ((name, edge.joint) for name, edge in model.joint_edges.items() if edge.joint.drive)
    if any(body.led for body in kinds_of(model.bodies)):
        yield from ((name, body) for name, body in model.bodies.items() if body.led)


def fastest(part: Component) -> float:
    """The highest frequency of its courses [Hz]."""
    return max((getattr(value, "fastest", 0.0) for value in vars(part).values()), default=0.0)


def unfollowed_words(name: str, pace: float, dt: float, steps: str) -> str:
    """Of a part whose course swings faster than such steps can follow."""
    return (
        f"'{name}' swings at {pace:g} Hz, {1.0 / (pace * dt):.2g} steps to a swing ({steps}), too few to be followed. "
        f"Remedy: take a step of {1.0 / (STEPS_PER_SWING * pace):.2g} s or shorter."
    )


def unsettled_words(found: Unsettled) -> str:
    """Of contacts that begin at rest, but for a little."""
    first, *others = found.contacts
    more = f" and {len(others)} more" if others else ""
    return (
        f"contact '{first}'{more}: the forces with which they begin at rest were not found to the end (the last iteration "
        f"still changed them by {found.left:.1g} of the largest), so what rests there may move a little at first. Remedy: let "
        "it come to rest for some time before you measure, or divide the pile into smaller ones."
    )


def _warn(simulation: CheckContext, name: str, what: str, margin: float, remedy: str) -> None:
    at = f" at {simulation.time:.6g} s" if simulation.tick else ""
    warnings.warn(
        f"{what} '{name}' is beyond its stability limit (margin {margin:.2g} < 1){at}, so the run may diverge. Remedy: {remedy}.",
        StabilityWarning,
        stacklevel=5,
    )


BEYOND_TOLERANCE = 1e-9  # [m], [rad]: what begins no further beyond a limit begins at it
SETTLING_STEPS = 20.0  # the depth that gravity brings in one tick, so many times, is what springs under weight have
APPROACH_STEPS = 2.0  # the same for how fast they meet


def overlaps(simulation: CheckContext) -> list[Overlap]:
    """Those of new contacts that nothing explains, the deepest first."""
    dt, pull = simulation.dt, float(np.linalg.norm(simulation.assembly.gravity))
    stacks = [stack for stack in simulation.system.forces if isinstance(stack, BeginsAtRest)]
    found = [overlap for stack in stacks for overlap in stack.overlaps()]
    approach = APPROACH_STEPS * dt if simulation.tick > 0 else 0.0
    unexplained = [each for each in found if each.depth > SETTLING_STEPS * pull * dt**2 + approach * each.speed]
    return sorted(unexplained, key=lambda each: (-each.depth, each.name))


def overlap_words(simulation: CheckContext, found: list[Overlap]) -> str:
    """What is wrong with the deepest of them, and how it is mended."""
    worst = found[0]
    owners, way = simulation.system.force_home[worst.name].owners, np.array(worst.way)
    mover, other = owners[worst.mover], owners[1 - worst.mover]
    if mover == GROUND or simulation.system.described[mover].led:
        mover, other, way = other, mover, -way
    line = ", ".join(f"{number:.3g}" for number in way + 0.0)
    more = f" {len(found) - 1} more contacts begin so." if len(found) > 1 else ""
    return (
        f"contact '{worst.name}': '{mover}' begins {worst.depth:.4g} m inside '{other}' and will be thrown out.{more} Remedy: move "
        f"'{mover}' by {worst.depth:.4g} m along ({line}), or give the contact a stiffness of its own."
    )


def begun_beyond(simulation: CheckContext) -> list[Beyond]:
    """Those stops that nothing explains, the one that throws fastest first."""
    pressed = SETTLING_STEPS * float(np.linalg.norm(simulation.assembly.gravity)) * simulation.dt**2
    stacks = [stack for stack in simulation.system.forces if isinstance(stack, BeginsBeyond)]
    found = [each for stack in stacks for each in stack.begun_beyond(simulation.system.elements)]
    least = BEYOND_TOLERANCE * (1.0 + pressed)
    unexplained = [each for each in found if each.by * each.arm > pressed and each.by > least]
    return sorted(unexplained, key=lambda each: (-each.by * each.arm, each.name))


def beyond_words(found: list[Beyond]) -> str:
    """What is wrong with the first of them, and how it is mended."""
    worst = found[0]
    side = "above its upper" if worst.reached > worst.limit else "below its lower"
    more = f" {len(found) - 1} more begin so." if len(found) > 1 else ""
    return (
        f"force '{worst.name}' begins at {worst.reached:.4g}, {worst.by:.4g} {side} limit of {worst.limit:.4g}, and throws what it "
        f"holds out of its wall.{more} Remedy: begin between its limits (angles and ways count from where the force was made, "
        "unless a joint counts them otherwise), or give it a stiffness of its own."
    )


def rebounding(simulation: CheckContext) -> list[str]:
    """Those contacts."""
    system, edges = simulation.system, simulation.assembly.force_edges
    found = []
    for name, home in system.force_home.items() if system.joint_home else ():
        if edges[name].force.bounces:
            unseen = simulation.coupling.unseen_by_blows(system, name)
            held = {owner for joint in unseen for owner in system.joint_home[joint].owners if owner in system.body_home}
            found += [name] if held.intersection(home.owners) else []
    return found


def rebounding_words(simulation: CheckContext, found: list[str]) -> str:
    """What is wrong with them, and how it is mended."""
    several = len(found) > 1
    who = first_few(map(repr, found))
    return (
        f"contact{'s' if several else ''} {who}: {type(simulation.coupling).__name__} finds blows as if no glued "
        f"joints held what they strike, so {'they part' if several else 'it parts'} more slowly than with the restitution that was "
        "given. Remedy: Glued(), where blows see the joints, or a stiffness of its own instead of the restitution."
    )


def hardens(simulation: CheckContext) -> bool:
    """Whether there may be forces that grow stiffer on the way; of a mechanism that is with workers nobody asks."""
    return simulation.is_distributed or any(getattr(stack, "hardens", False) for stack in simulation.system.forces)


def hardened(simulation: CheckContext) -> dict[str, float]:
    """Their margins as they are now, of those that are beyond their limit and were not when that was last looked at.

    At the faster of the velocities that are shown and that were read: beyond the limit one is far from the other.
    """
    if simulation.is_distributed:  # to ask for the system would call the mechanism home
        return {}
    system = simulation.system
    names = [name for stack in system.forces if getattr(stack, "hardens", False) for name in stack.names]
    if not names:
        return {}
    elements = system.elements
    shown, read = elements.velocity.copy(), elements.current_velocity
    faster = np.square(read).sum(axis=-1) > np.square(shown).sum(axis=-1)
    with answers_kept(system):
        try:
            elements.velocity[faster] = read[faster]
            margins = simulation.coupling.margins(system, simulation.dt)
        finally:
            elements.velocity[:] = shown
    known = simulation.past.latest_margins()
    return {name: margins[name] for name in names if name in margins and margins[name] < 1.0 <= known.get(name, 1.0)}
