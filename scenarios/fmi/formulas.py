"""What a native FMU does, as formulas and numbers: how the model moves, what its ports show, its energies and its parameters."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from components import Load, Moment
from components.bodies.posed.quaternions import product
from coordinator import Centralized, Formulas, Simulation
from coordinator.couplings.centralized.equations import Equations
from coordinator.equations.common_formulas import CommonFormulas
from coordinator.equations.courses import TIME
from coordinator.equations.formulas import OPEN
from coordinator.equations.joint_efforts import check_unique
from coordinator.equations.observed_ports import ObservedPort
from coordinator.equations.parameters import TURNED
from coordinator.equations.written import Written, function_of
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import CouplingError, ModelError, RunWarning
from scenarios.fmi.exported import energies, force_name, moment_name, shown_motion
from scenarios.fmi.guided import Cubic, GuidedBody, labels
from scenarios.fmi.led_ports import grip, hold, leader
from scenarios.fmi.variables import ENERGIES, Port

OUR_OWN = ("M", "w", "gram")  # of numbers that are no numbers of people: parts of mass matrices, ports in coordinates
SAME = 1e-9  # of the largest that is shown: what formulas and bodies may differ by
ROUGHLY = 1e-5  # the same of angular accelerations, which bodies tell by differences
# the last: quaternions, which are put together of axes behind the formulas
EXACTLY, BY_DIFFERENCES, NOT_AT_ALL = range(3)
LOOKED_AT, SHORT = 3, 1e-3  # steps after which formulas are held against bodies, beside the start; their length [s]


@dataclass(frozen=True)
class Shown:
    """Outputs in order; places of angles, and of quaternions with those of the axes that they are made of, behind all outputs;
    last where angles of forces are, over turns, with the parameters that say so in the next tick.
    """

    formulas: list[Any]
    angles: list[int]
    turns: list[tuple[int, int]]
    turned: list[tuple[int, int]]
    count: int


class FormulasOf:
    """Of one model whose ports are held or shown."""

    def __init__(self, model: Assembly, dt: float, ports: Sequence[Port], *, project: bool = False) -> None:
        self.ports, self.dt, self.dimension = list(ports), dt, model.dimension
        self.model = model.copy()
        _refuse(self.model)
        forces = _hold(self.model, self.ports)
        self.moved = [port for port in self.ports if port.moved]
        elsewhere = bool(self.model.begin)  # than described: leaders stand where bodies begin
        if not elsewhere:
            self._lead(self.model)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RunWarning)
                simulation = Simulation(self.model, dt, Centralized(), project_velocities=project, threads=1)
        except CouplingError as error:
            raise _refused(error) from error
        with simulation:
            if elsewhere:
                self._lead(simulation)
            system = simulation.system
            seen = [port for port in self.ports if not port.moved]
            observed_ports = {port.name: ObservedPort(system, self.model, port.name, port.turns) for port in seen}
            elements = [element for observed in observed_ports.values() for element in observed.elements]
            whole = frozenset([*forces, *(name for port in self.moved for name, _ in course_of(port, self.dimension))])
            try:
                equations = Formulas().equations_of(system)
                self.common = CommonFormulas(system, equations, whole, elements)
            except ModelError as error:
                raise _refused(error) from error
            self.q, self.v = equations.read()
            self.accelerations = [sympy.Symbol(f"{one.name}''", real=True) for one in self.common.written.coordinates]
            for port in self.moved if self.common.solved.dependent else ():
                check_unique(self.written, grip(port))
            led = [name for name, body in simulation.assembly.bodies.items() if body.led]
            self.energies = _energies(self.common.written, forces, led)
            self.shown = self._shown(observed_ports)
            self._check(simulation, equations)
        self.loads = self._loads()

    @property
    def written(self) -> Written:
        """What the components wrote."""
        return self.common.written

    def _lead(self, model: Assembly | Simulation) -> None:
        """Ports that are moved go on from where they stand, as their numbers say."""
        d = self.dimension
        for port in self.moved:
            turn, spin = ({2: 1, 3: 4}[d], 2 * d - 3) if port.turns else (0, 0)
            place, angle, velocity, rate = np.split(np.array(port.start), np.cumsum([d, turn, d]))
            if d == 3 and len(rate) == spin and port.turns:
                rate = 0.5 * product(np.array([0.0, *rate]), angle)
            still = np.zeros(2)
            way = Cubic([[x, v, *still] for x, v in zip(place, velocity, strict=True)])
            turning = Cubic([[x, v, *still] for x, v in zip(angle, rate, strict=True)]) if port.turns else None
            hold(model, port, GuidedBody(way=way, turning=turning, ports={"grip": place.tolist()}))

    def _shown(self, observed_ports: Mapping[str, ObservedPort]) -> Shown:
        formulas: list[Any] = []
        angles: list[int] = []
        quaternions: list[tuple[int, list[Any]]] = []
        for port in self.ports:
            if port.moved:
                formulas += self._wrench(port)
                continue
            seen = observed_ports[port.name].seen(self.written, self.accelerations)
            formulas += seen.position
            if port.turns and self.dimension == 2:
                angles.append(len(formulas))
                formulas.append(sympy.atan2(seen.axes[0][1], seen.axes[0][0]))
            elif port.turns:
                quaternions.append((len(formulas), [x for axis in seen.axes for x in axis]))
                formulas += [sympy.Integer(0)] * 4
            formulas += [*seen.velocity, *seen.spin, *seen.acceleration, *seen.bend]
        formulas += self.energies.values()
        count = len(formulas)
        turns = [(at, count + 9 * k) for k, (at, _) in enumerate(quaternions)]
        formulas += [x for _, axes in quaternions for x in axes]
        places = {one.name: k for k, one in enumerate(self.written.parameters)}
        turned = [(places[name], len(formulas) + k) for k, name in enumerate(self.written.turned)]
        return Shown([*formulas, *self.written.turned.values()], angles, turns, turned, count)

    def _wrench(self, port: Port) -> list[Any]:
        """What a leader exerts on its port: what holds it on its course, over what moves it, which has a mass of one."""
        w, d = self.written, self.dimension
        column, row = w.columns[leader(port)].start, w.closing[leader(port)].start
        count = d + (0 if not port.turns else 1 if d == 2 else 4)
        pulls = [-(self.accelerations[column + k] + w.multipliers[row + k]) for k in range(count)]
        if count <= 3:
            return pulls
        p0, p1, p2, p3 = w.coordinates[column + d : column + d + 4]
        turns = ((-p1, p0, -p3, p2), (-p2, p3, p0, -p1), (-p3, -p2, p1, p0))  # dp of a turn about x, y and z, twice
        moments = [sum(pull * share for pull, share in zip(pulls[d:], turn, strict=True)) / 2 for turn in turns]
        return [*pulls[:d], *moments]

    def _check(self, simulation: Simulation, equations: Equations) -> None:
        """Hold what is shown against what bodies tell, where the model stands and some ticks later."""
        w, common, system = self.written, self.common, simulation.system
        evaluate = function_of(
            [TIME, *w.coordinates, *w.rates, *self.accelerations, *w.multipliers, *w.parameters], self.shown.formulas
        )
        common.read(self.q, self.v, np.zeros(equations.size))
        common.read_turns()
        common.rest(0.0)
        h = min(self.dt, SHORT)
        for time in h * np.arange(LOOKED_AT + 1):
            if common.wrong(OPEN) is not None:
                break
            q, v, a = (np.zeros(equations.size) for _ in range(3))
            multipliers = np.zeros(equations.rows)
            common.tell(q=q, v=v, a=a, multipliers=multipliers)
            equations.at(time)
            equations.go(q, v)
            equations.write(a=a)
            for joints in system.joints:
                joints.measure(system.elements)
            equations.exert_joints(multipliers)
            numbers = [x[common.columns[0]] for x in (q, v, a)] + [multipliers[common.rows[0]]]
            found = np.array(evaluate(time, *np.concatenate(numbers), *common.motions.parameters[0]), float)
            start = 0
            for port in self.ports:
                told = self._told_wrench(simulation, port) if port.moved else shown_motion(simulation, port)
                self._compare(f"port '{port.name}'", told, found[start : start + len(told)], self._kinds(port))
                start += len(told)
            for forces in system.forces:
                forces.exert(system.elements, time)
            whole = dict(zip(ENERGIES, energies(simulation), strict=True))
            for name, value in zip(self.energies, found[start:], strict=False):
                self._compare(f"the {name} energy", np.array([whole[name]]), np.array([value]), np.array([EXACTLY]))
            common.step(time, h)

    def _kinds(self, port: Port) -> Array:
        """How well each number of a port can be compared."""
        d = self.dimension
        w, turn = ((2 * d - 3), {2: 1, 3: 4}[d]) if port.turns else (0, 0)
        if port.moved:
            return np.array([EXACTLY] * (d + w))
        return np.array(
            [EXACTLY] * d + [EXACTLY if d == 2 else NOT_AT_ALL] * turn + [EXACTLY] * (2 * d + w) + [BY_DIFFERENCES] * w
        )

    def _told_wrench(self, simulation: Simulation, port: Port) -> Array:
        """What a leader exerts on its port, as the joint between them tells."""
        joints: Any = simulation.system.joint_home[grip(port)].stack
        width = self.dimension + (2 * self.dimension - 3 if port.turns else 0)
        return np.asarray(joints.wrenches(simulation.system.elements)[joints.row[grip(port)]][:width])

    def _compare(self, what: str, told: Array, found: Array, kinds: Array) -> None:
        for kind in np.unique(kinds):
            own = kinds == kind
            if kind == NOT_AT_ALL:
                continue
            off = float(np.abs(told[own] - found[own]).max(initial=0.0))
            if not off <= (ROUGHLY if kind == BY_DIFFERENCES else SAME) * max(
                1.0, float(np.abs(told[own]).max(initial=0.0))
            ):
                raise ModelError(
                    f"{what}: its formulas and its bodies differ by {off:.2g} (SI); export it without --native, and report it."
                )

    def _loads(self) -> list[tuple[int, int, int]]:
        """Of each number of a force or moment: its place among parameters, in the inputs of its port, and the port."""
        names = {one.name: k for k, one in enumerate(self.written.parameters)}
        found = []
        for n, port in enumerate(self.ports):
            if not port.held:
                continue
            d, w = self.dimension, 2 * self.dimension - 3 if port.turns else 0
            for k in range(d):
                found.append((names.get(f"{force_name(port)}.force_{'xyz'[k]}", -1), k, n))
            for k in range(w):
                label = "moment" if w == 1 else f"moment_{'xyz'[k]}"
                found.append((names.get(f"{moment_name(port)}.{label}", -1), d + k, n))
        return [one for one in found if one[0] >= 0]

    def parameters(self) -> dict[str, float]:
        """Numbers that may be changed without moving what joints hold: masses, stiffnesses, weights; not lengths and places."""
        w = self.written
        held = {symbol for value in w.constraints for symbol in value.free_symbols}
        held |= {symbol for value in (*w.jacobian.values(), *w.flow.values()) for symbol in value.free_symbols}
        own = {force_name(port) for port in self.ports} | {moment_name(port) for port in self.ports}
        found = {}
        for symbol, value in w.parameters.items():
            owner, _, label = symbol.name.rpartition(".")
            if symbol not in held and owner not in own and label.partition("_")[0] not in (*OUR_OWN, TURNED):
                found[symbol.name] = float(value)
        return found


def course_of(port: Port, dimension: int) -> Iterator[tuple[str, int]]:
    """Names of the numbers by which a port is led, and where each lies in the piece of its course."""
    rows = {"way": dimension} | ({"turn": 1 if dimension == 2 else 4} if port.turns else {})
    for column, count in rows.items():
        for label, place in labels(column, count):
            yield f"{leader(port)}.{label}", place


def _refused(error: ModelError) -> ModelError:
    """What a coupling said, of a native FMU."""
    told = str(error).removeprefix("Formulas: ").removeprefix("Centralized: ")
    return ModelError(f"a native FMU is made of the formulas of its model: {told} Or export it without --native.")


def _refuse(model: Assembly) -> None:
    """What changes the formulas on the way."""
    breaking = [name for name, edge in model.joint_edges.items() if edge.breaks_at is not None]
    if model.schedule or breaking:
        what = f"joint '{breaking[0]}' may break" if breaking else "it has events, which change them on the way"
        raise ModelError(
            f"a native FMU is made of the formulas of its model: {what}; leave that out, or export it without --native."
        )


def _hold(model: Assembly, ports: Sequence[Port]) -> list[str]:
    """Forces on ports that are held, of nothing; their names."""
    names = []
    for port in ports:
        if not port.held:
            continue
        model.apply(force_name(port), Load([0.0] * model.dimension), port.name)
        names.append(force_name(port))
        if port.turns:
            model.apply(moment_name(port), Moment(0.0 if model.dimension == 2 else [0.0] * 3), port.name)
            names.append(moment_name(port))
    return names


def _energies(written: Written, forces: Sequence[str], led: Sequence[str]) -> dict[str, Any]:
    """Formulas; no potential energy where weights are not the same everywhere, as of what bends; bodies that are led have none."""
    nothing = sympy.Integer(0)
    without = {c for name in led for c in range(len(written.coordinates))[written.columns[name]]}
    moved = ((i, j, m) for (i, j), m in written.mass.items() if not {i, j} & without)
    found = {"kinetic": sum((m * written.rates[i] * written.rates[j] for i, j, m in moved), nothing) / 2}
    weights = {c: value for c, value in written.loads.items() if c not in without}
    for pushes in written.pushes.values():
        for column, push in pushes.items():
            weights[column] = weights.get(column, nothing) - (nothing if column in without else push)
    still = {c: value.xreplace(dict.fromkeys(written.rates, nothing)) for c, value in weights.items()}
    if not any(value.free_symbols.intersection({*written.coordinates, TIME}) for value in still.values()):
        found["potential"] = -sum((value * written.coordinates[c] for c, value in still.items()), nothing)
    found["stored"] = sum((value for name, value in written.stored.items() if name not in forces), nothing)
    return found
