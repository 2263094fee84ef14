"""Reconfiguration: a simulation goes on as another, under other settings, or with bodies that are described anew.

What a simulation computes hangs on its step, its coupling, its gravity and its bodies; a run is of one of each. Where one of them
changes while the mechanism moves, a new simulation begins where the old one stands: the same places, velocities, marks and
ledgers, accelerations found anew, and a record of its own. The old one is of no use from then on.

Where bodies stand after one of them was described anew: what hangs on a port that has moved moves along, as a whole.

A longer rod keeps the end by which it hangs on the ground, and everything that hangs on its other end goes with that; if nothing
of it hangs on the ground, it keeps its first element. Nothing turns: so no joint notices but by the load that it carries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.building import JointHome
from coordinator.couplings import Coupling
from coordinator.couplings.implicit import may_be_implicit
from coordinator.couplings.interface.interface import Interface
from coordinator.couplings.interface.members import Members
from coordinator.couplings.interface.position_stage import tolerate
from coordinator.couplings.interface.projection import project_positions, release_springs
from coordinator.couplings.with_components import WithComponents
from coordinator.distributed.workers.distributed_run import check_divisible
from coordinator.events.bulk_add import undisturbed
from coordinator.events.controlling import sensors_of
from coordinator.events.encounters import encounter_of, known_encounters, without_encounters
from coordinator.record.past import Given, Past
from coordinator.record.recorder import Recorder
from coordinator.simulation import Simulation
from coordinator.system import System
from modular.assembly import Assembly, ForceEdge, JointEdge
from modular.body import Body, DriftsAndKicks
from modular.component import plain
from modular.elements import Array
from modular.errors import CouplingError, ModelError
from modular.joint import Attachment
from modular.names import missing
from modular.numbers import number
from modular.port import GROUND, PortName
from modular.side import Mark
from modular.table import Table

if TYPE_CHECKING:
    from coordinator.simulation import Simulation

SAME_SHIFT_TOLERANCE = 1e-9  # as a share of the extent: shifts that agree so well agree


@dataclass
class Moves:
    """New states, and what becomes of the marks that joints took on a body."""

    state: dict[str, tuple[Array, Array]] = field(default_factory=dict)  # q and v of bodies that stand elsewhere now
    marks: dict[str, Callable[[Mark], Mark]] = field(default_factory=dict)


def moves_for(simulation: Simulation, name: str, body: Body) -> Moves:
    """For another description of one body; refused where no place suits all that it is joined to."""
    system, before = simulation.system, simulation.assembly.bodies[name]
    q, v = _state(simulation, name)
    fresh_q, fresh_v = (np.array(x) for x in body.carried(before, q, v))
    shifts: dict[str, tuple[Array, Array]] = {}  # of points by the joints that hold them: place and velocity
    for joint, edge in simulation.assembly.joint_edges.items():
        if name not in (edge.first_body, edge.second_body):
            continue
        attachment = system.attachment_of(joint, edge)
        mark = (attachment.first if edge.first_body == name else attachment.second)[0]
        now, was = body.marked_motion(body.marked(before, mark), fresh_q, fresh_v), before.marked_motion(mark, q, v)
        shifts[joint] = now[0] - was[0], now[1] - was[1]
    moves = Moves(marks={name: partial(body.marked, before)})
    still = np.zeros_like(simulation.assembly.gravity)
    parts = _parts(simulation, name)
    size = max(1.0, float(np.abs(q).max()))
    own, found = (still, still), []
    for bodies, joints in parts:
        here = [shifts[joint] for joint in joints]
        for joint, (shift, _) in zip(joints[1:], here[1:], strict=True):
            gap = float(np.linalg.norm(shift - here[0][0]))
            if gap > SAME_SHIFT_TOLERANCE * size:
                raise ModelError(
                    f"body '{name}' cannot change like this: joints '{joints[0]}' and '{joint}' connect it to the "
                    f"same part of the mechanism, and would be {gap:.4g} m apart. Cut one of them first."
                )
        if GROUND in bodies:
            own = -here[0][0], -here[0][1]
        else:
            found.append((bodies, here[0]))
    moves.state[name] = body.moved(fresh_q, own[0]), body.moved(fresh_v, own[1])
    for bodies, (shift, drift) in found:
        for other in bodies:
            described, (place, velocity) = simulation.assembly.bodies[other], _state(simulation, other)
            if np.any(own[0] + shift) or np.any(own[1] + drift):
                moves.state[other] = (
                    described.moved(place, own[0] + shift),
                    described.moved(velocity, own[1] + drift),
                )
    return moves


def _state(simulation: Simulation, name: str) -> tuple[Array, Array]:
    stack = simulation.system.body_home[name]
    state, row = stack.state(), stack.row[name]
    return state["q"][row], state["v"][row]


def _parts(simulation: Simulation, name: str) -> list[tuple[set[str], list[str]]]:
    """What the mechanism falls into without a body: bodies of each part, and the joints by which they hold that body."""
    import networkx as nx

    graph = nx.MultiGraph()
    graph.add_nodes_from((GROUND, *simulation.assembly.bodies))
    mine: dict[str, str] = {}
    for joint, edge in simulation.assembly.joint_edges.items():
        if name in (edge.first_body, edge.second_body):
            mine[joint] = edge.second_body if edge.first_body == name else edge.first_body
        else:
            graph.add_edge(edge.first_body, edge.second_body)
    graph.remove_node(name)
    parts = []
    for bodies in nx.connected_components(graph):
        joints = [joint for joint, other in mine.items() if other in bodies]
        if joints:
            parts.append((set(bodies), joints))
    return parts


STATE = ("q", "v", "a")
WHOLE_TICK_TOLERANCE = 1e-12  # of a number of ticks
CLOSURE_TOLERANCE = 1e-14  # what may stay open of joints, as a share of the extent of the system


def with_settings(
    old: Simulation,
    *,
    dt: float | None = None,
    coupling: Coupling | None = None,
    gravity: Sequence[float] | None = None,
    still: bool = False,
) -> Simulation:
    """With another step [s], coupling or gravity.

    Where the step is another one, the clock goes on from the nearest of its ticks. `still`: from where it stands, be it between two
    of them; and samples are taken about as long after each other as they were [s].
    """
    system, time = old.system, old.time
    before = old.coupling, system.gravity.copy(), system.tick, system.part
    model, step = _as_it_is(old), old.dt if dt is None else number(dt, "step", "s")
    if not step > 0.0:
        raise ModelError(f"step = {step} s; give a positive one, such as 1e-4.")
    if gravity is not None:
        model.gravity = Assembly(gravity).gravity
        if len(model.gravity) != old.assembly.dimension:
            raise ModelError(f"gravity = {list(gravity)}; give {old.assembly.dimension} numbers, as the model has.")
        _pull(system, model.gravity)
    chosen = old.coupling if coupling is None else coupling
    try:
        springs = {name for name, way in _ways(old).items() if way == "penalty"}
        system.cache.clear()
        system.memory.clear()
        system.version += 1
        if dt is not None:
            system.tick, system.part = _clock_of(time / step) if still else (round(time / step), 0.0)
        new = _continued(old, model, system, step, chosen)
        if still:
            new.recorder.every = max(1, round(old.recorder.every * old.dt / step))
        if gravity is None:
            _change_over(new, springs)
        what = ("step", f"{step:g} s") if dt is not None else ("gravity", str(model.gravity.tolist()))
        _settle(new, *(what if coupling is None else ("coupling", type(chosen).__name__)))
        return new
    except (ModelError, CouplingError):
        _pull(system, before[1])
        system.tick, system.part = before[2:]
        system.cache.clear()
        before[0].configure(system, old.dt)
        raise


def _clock_of(ticks: float) -> tuple[int, float]:
    """The tick at which a clock stands or that it has passed, and which part of the next one has gone by."""
    nearest = round(ticks)
    if abs(ticks - nearest) < WHOLE_TICK_TOLERANCE * max(ticks, 1.0):
        return nearest, 0.0
    return int(ticks), ticks - int(ticks)


def with_body(old: Simulation, name: str, body: Body) -> Simulation:
    """With another description of a body, which stands where it stood; what hangs on a port that has moved moves along."""
    old.assembly.known(name, old.assembly.bodies, "body")
    problems = body.problems(name)
    if problems:
        raise ModelError("\n".join(problems))
    model = _as_it_is(old)
    model.bodies[name] = body
    model.begin.pop(name, None)
    return _with_model(old, model, {}, ("body", name), moves_for(old, name, body))


def with_names(old: Simulation, names: Mapping[str, str]) -> Simulation:
    """With other names of bodies, joints or forces; `names`: new ones by the old."""
    before = old.assembly
    met = known_encounters(old.system, before)
    for name in names:
        if name not in {*before.bodies, *before.joint_edges, *before.force_edges}:
            raise ModelError(missing("body, joint or force", name, (*before.bodies, *before.joints, *before.forces)))
    for what, data in (
        ("an event of the model", [s.to_data() for s in old.schedule.pending()]),
        ("the coupling", plain(old.coupling)),
        *((f"a sensor of '{force}'", plain(inputs)) for force, inputs in sensors_of(old)),
        *(
            (f"the surface '{name}'", list(getattr(held.force, "through", ())))
            for name, held in before.force_edges.items()
        ),
    ):
        for name in names:
            if _speaks_of(data, name):
                raise ModelError(f"'{name}' cannot be renamed: {what} refers to it.")
    told, names = (
        names,
        {**names, **{name: encounter_of(*(names.get(one, one) for one in pair)) for name, pair in met.items()}},
    )
    model = _as_it_is(old)
    fresh = Assembly(before.gravity.tolist())
    others = [names.get(name, name) for name in (*before.joint_edges, *before.force_edges)]
    for body, described in before.bodies.items():
        if body in names:  # in what was built already, a body may share its name with a joint
            fresh._check_name(names[body], "body", others)
        fresh.add(names.get(body, body), described)
    model.bodies, model.joint_edges, model.force_edges = fresh.bodies, {}, {}
    model.begin = {names.get(body, body): state for body, state in before.begin.items()}
    model.counted = {names.get(joint, joint): value for joint, value in before.counted.items()}
    model.pictures = tuple(replace(one, body=names.get(one.body, one.body)) for one in before.pictures)
    for joint, edge in before.joint_edges.items():
        model._check_name(
            names.get(joint, joint),
            "joint",
            model.joint_edges,
            model.force_edges,
            model.bodies if joint in names else (),
        )
        model.joint_edges[names.get(joint, joint)] = _edge(edge, names)
    for force, held in before.force_edges.items():
        model._check_name(names.get(force, force), "force", model.joint_edges, model.force_edges, model.bodies)
        model.force_edges[names.get(force, force)] = ForceEdge(
            held.force, tuple(_port(p, names) for p in held.ports), held.at
        )
    return _with_model(old, model, names, ("name", ", ".join(f"{a} -> {b}" for a, b in told.items())), Moves())


# --- the parts of it -------------------------------------------------------------------------------------------------


def _with_model(
    old: Simulation, model: Assembly, names: Mapping[str, str], what: tuple[str, str], moves: Moves
) -> Simulation:
    """Build the system anew and let everything stand in it where it stood."""
    source = old.system
    for stack in source.bodies:
        if not isinstance(stack, Table) or not set(STATE) <= set(stack.state()):
            raise ModelError(
                f"body '{stack.names[0]}' does not expose its state ({type(stack).__name__}); while it takes part, "
                "no component can be changed. Reset, or begin with another model."
            )
    was = {names.get(name, name): name for name in (*source.body_home, *source.joint_home, *source.force_home)}
    with undisturbed():
        system = System(model.gravity, model.bodies, grouped=old.past.grouped, acting=model.force_edges)
        system.tick, system.part, system.evaluations = source.tick, source.part, source.evaluations
        for name, body in model.bodies.items():
            system.add_body(name, body)
            _place_body(source, was[name], system, name, moves)
        system.closed = {name: row.copy() for name, row in source.closed.items()}
        gone = {}
        for name, edge in model.joint_edges.items():
            _place_joint(source, was[name], old.assembly.joint_edges[was[name]], system, name, edge, moves)
            row = old.breakage.watched.row.get(was[name])
            if row is not None:
                kept = old.breakage.watched
                gone[name] = tuple(column[row].copy() for column in (kept.before, kept.once, kept.twice))
        for name, edge_of_force in model.force_edges.items():
            system.add_force(name, edge_of_force)
            home, before = system.force_home[name], source.force_home[was[name]]
            if isinstance(home.stack, Table) and isinstance(before.stack, Table):
                home.stack.take_row(home.stack.row[name], before.stack, before.stack.row[was[name]])
        system.groups = [tuple(names.get(body, body) for body in group) for group in source.groups]
    if old.distributed_run is not None:
        old.distributed_run.bodies = [[names.get(body, body) for body in part] for part in old.distributed_run.bodies]
    new = _continued(old, model, system, old.dt, old.coupling)
    new.breakage.gone = gone
    for name, edge in model.joint_edges.items():
        new.breakage.watch(name, edge, system.joint_home[name])
    system.show()
    _settle(new, *what)
    return new


def _continued(old: Simulation, model: Assembly, system: System, dt: float, coupling: Coupling) -> Simulation:
    """Another simulation where an old one stands."""
    past = Past(Given(without_encounters(system, model), coupling), project=False, grouped=old.past.grouped)
    system.described = model.bodies
    new = Simulation.from_state(
        model, system, dt, coupling, past, Recorder(old.recorder.every), leak_limit=old.alarm.limit,
        threads=old.engine.threads, distributed_run=old.distributed_run, stack_host=old._stack_host,
    )  # fmt: skip
    new.alarm.rung = set(old.alarm.rung)
    for watch, known in zip(new.schedule.armed, old.schedule.armed, strict=True):
        watch.side = known.side
    if new.distributed_run is not None:
        check_divisible(new)
    for name, edge in model.joint_edges.items():
        new.breakage.check(name, edge)
    if system is old.local_system:
        for name in list(old.breakage.watched.row):
            old.breakage.leave(name)
        new.breakage.gone = dict(old.breakage.gone)
        for name, edge in model.joint_edges.items():
            home = system.joint_home[name]
            again, home.again = home.again, True
            new.breakage.watch(name, edge, home)
            home.again = again
    return new


def _settle(new: Simulation, kind: str, name: str) -> None:
    """Accelerations anew, and the first line of its log; which forces are found is decided anew, but for other names."""
    if kind != "name":
        for forces in may_be_implicit(new.local_system):
            forces.implicit[:] = 0
    new.system.elements.clock[:] = new.dt, new.time, new.dt
    new.settle_anew(kind, name)


def _as_it_is(old: Simulation) -> Assembly:
    """The model as it is now, with the events that are still to come."""
    model = old.assembly.copy()
    model.schedule = old.schedule.pending()
    return model


def _pull(system: System, gravity: Any) -> None:
    system.gravity[:] = gravity
    for bodies in system.bodies:
        bodies.gravity = system.gravity


def _ways(simulation: Simulation) -> dict[str, str]:
    """How every joint has been treated until now."""
    treated = {name: way for name, (way, _) in simulation.coupling.ways(simulation.local_system).items()}
    usual = "penalty" if isinstance(simulation.coupling, WithComponents) else "glued"
    return {name: treated.get(name, usual) for name in simulation.local_system.joint_home}


def _change_over(new: Simulation, springs: set[str]) -> None:
    """Joints begin anew: the gaps that springs have left are closed, and as springs they carry their load from the start.

    The stiffness of a spring hangs on the step and on the rule: with another one the gap that it has would be another load.
    """
    system, coupling = new.local_system, new.coupling
    release_springs(system, system.joint_home)
    if springs and all(isinstance(bodies, DriftsAndKicks) for bodies in system.bodies):
        tolerate(system, CLOSURE_TOLERANCE)
        interface = Interface(system, [1.0], members=Members.everyone(system))
        system.elements.clock[:] = 0.0, new.time, new.dt
        interface.perform("update_operator")
        project_positions(system, [interface], new.dt)
    if isinstance(coupling, WithComponents):
        for name, home in system.joint_home.items():
            home.stack.fresh[home.stack.row[name]] = 1
            if isinstance(kept := system.joint_home._known[name], JointHome):
                kept.again = False


def _place_body(source: System, was: str, system: System, name: str, moves: Moves) -> None:
    """A body stands where it stood."""
    stack, home = source.body_home[was], system.body_home[name]
    before, now = stack.state(), home.state()
    row, place = stack.row[was], home.row[name]
    q, v = moves.state.get(was, (before["q"][row], before["v"][row]))
    now["q"][place], now["v"][place] = q, v
    now["a"][place] = before["a"][row] if now["a"][place].shape == before["a"][row].shape else 0.0


def _place_joint(
    source: System, was: str, old_edge: JointEdge, system: System, name: str, edge: JointEdge, moves: Moves
) -> None:
    """A joint holds its bodies where it held them, with its load and its ledger."""
    home = source.joint_home[was]
    row, attachment = home.stack.row[was], source.attachment_of(was, old_edge)
    sides: list[list[Mark]] = []
    for owner, marks in zip(home.owners, (attachment.first, attachment.second), strict=True):
        convert = moves.marks.get(owner)
        sides.append([mark if convert is None else convert(mark) for mark in marks])
    made = Attachment(attachment.form, sides[0], sides[1], attachment.marker)
    system.just_cut = [(system.tick + system.part, edge, made, home.stack.preload[row].copy())]
    system.closed[name] = home.stack.ledger[row].copy()
    found = system.add_joint(name, edge)
    system.just_cut = []
    found.stack.take_row(found.stack.row[name], home.stack, row)


def _edge(edge: JointEdge, names: Mapping[str, str]) -> JointEdge:
    return edge._replace(
        first_body=names.get(edge.first_body, edge.first_body),
        second_body=names.get(edge.second_body, edge.second_body),
    )


def _port(port: PortName, names: Mapping[str, str]) -> PortName:
    return port if port.body == GROUND else PortName(names.get(port.body, port.body), port.port)


def _speaks_of(data: Any, name: str) -> bool:
    """Whether a name, or a port of it, stands anywhere in some data."""
    if isinstance(data, str):
        return data == name or data.startswith(f"{name}.")
    if isinstance(data, Mapping):
        return any(_speaks_of(item, name) for pair in data.items() for item in pair)
    return isinstance(data, Iterable) and any(_speaks_of(item, name) for item in data)
