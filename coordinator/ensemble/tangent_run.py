"""A simulation beside which tangents go: by how much a motion moves away where numbers of its model change.

Tangents are carried over changes of the model. Where a condition brings one about its instant t moves as well (saltation): with
g = 0 the condition and d the change at a fixed time,

    dt = -dg / g',    dq+ = dq- + (v- - v+) dt,    dv+ = dv- + (a- - a+) dt

R. I. Leine and H. Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems (2004), section 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coordinator.couplings.centralized.solver import State
from coordinator.equations.common_formulas import CommonFormulas
from coordinator.equations.formulas import Formulas, StepObserver
from coordinator.equations.tangents import Directions, tangent_loop
from coordinator.simulation import Simulation
from coordinator.system import System
from modular.assembly import Assembly
from modular.body import Body
from modular.elements import Array
from modular.errors import ModelError
from modular.events import Condition, Cut, Event
from modular.port import PortName

STENCIL = {
    -3: -1 / 60,
    -2: 3 / 20,
    -1: -3 / 4,
    1: 3 / 4,
    2: -3 / 20,
    3: 1 / 60,
}  # central differences of order 6, by place
AHEAD = {0: -49 / 20, 1: 6.0, 2: -15 / 2, 3: 20 / 3, 4: -15 / 4, 5: 6 / 5, 6: -1 / 6}  # where there is nothing below
PART = 2.0**-8  # of what is differenced: their step, which leaves 1e-14 of it
GRAZING = 1e-8  # of the largest velocity: a margin that changes more slowly has no instant

Motion = dict[str, tuple[Array, Array, Array]]  # by body: q, v, a, (directions, …) each


@dataclass(frozen=True)
class Beginning:
    """By what the beginning of a motion and its numbers change, for each direction."""

    whole: frozenset[str]  # components whose numbers change, and numbers in the rows of bodies that do
    changes: Mapping[str, Array]  # of the numbers in the formulas by name, (directions,)
    q: Mapping[str, Array]  # by body, (directions, …)
    v: Mapping[str, Array]
    stencils: list[Mapping[int, float]]  # of each direction
    models: list[dict[int, Assembly]]  # by place in these: other numbers
    steps: Array  # between them


class Accompanied(Simulation):
    """A simulation by formulas with a observer."""

    def __init__(
        self, model: Assembly, dt: float, observer: StepObserver, shared: dict[str, Any], record_every: int = 1
    ) -> None:
        """`shared`: what it has in common with others that differ in numbers."""
        self._observer, self._shared = observer, shared
        super().__init__(model, dt, Formulas(), record_every=record_every)

    def _build(self, project: bool) -> None:
        self.system.observer, self.system.shared = self._observer, self._shared
        super()._build(project)


class TangentRun(Accompanied):
    """Tangents at all samples beside it."""

    def __init__(
        self, model: Assembly, dt: float, beginning: Beginning, record_every: int, shared: dict[str, Any]
    ) -> None:
        self.along = _Along(beginning, record_every, self._instant)
        self.number: int | None = None  # which condition brings about the change that is being made
        super().__init__(model, dt, self.along, shared, record_every)
        self.schedule.dry_run_done = True

    def carry_out(self, event: Event) -> None:
        """Tangents go through cuts; other events change velocities or take lengths from where bodies stand."""
        if not isinstance(event, Cut):
            raise ModelError(
                f"gradient: tangents cannot be continued through {type(event).__name__}; take method='differences', "
                "or end before it."
            )
        own = [k for k, each in enumerate(self.assembly.schedule) if any(event is one for one in each.events)]
        self.number = own[0] if own and self.system.part > 0.0 else None
        try:
            super().carry_out(event)
        finally:
            self.number = None

    def _instant(self, q: Array, v: Array, a: Array, dq: Array, dv: Array, where: Mapping[str, slice]) -> Array | float:
        """By how much the instant of the present change moves, (directions,); arguments before it, by columns of formulas."""
        number = self.number
        condition = None if number is None else self.assembly.schedule[number].condition
        if number is None or condition is None:
            return 0.0

        def margin(of: Condition, bodies: Mapping[str, Body], q: Array, v: Array) -> float:
            found = of.margin(_Seen(self, bodies, {name: (q[own], v[own]) for name, own in where.items()}))
            if not np.isfinite(found):
                raise ModelError(
                    "gradient: a condition has no margin at the instant of its event; take method='differences'."
                )
            return found

        bodies, count = self.assembly.bodies, len(dq)

        def along(move: Array, rate: Array) -> float:
            size = max(1.0, float(np.abs(move).max(initial=0.0)), float(np.abs(rate).max(initial=0.0)))
            h = PART * self.along.extent / size
            return (
                sum(w * margin(condition, bodies, q + k * h * move, v + k * h * rate) for k, w in STENCIL.items()) / h
            )

        pace = along(v, a)
        if not abs(pace) > GRAZING * float(np.abs(v).max(initial=0.0)):
            raise ModelError(
                f"gradient: {condition!r} comes true where its margin hardly changes; there is no derivative there."
            )
        found = np.array([along(dq[d], dv[d]) for d in range(count)])
        for d, models in enumerate(self.along.beginning.models):
            for k, other in models.items():
                asked = other.schedule[number].condition
                assert asked is not None
                weight = self.along.beginning.stencils[d][k] / self.along.beginning.steps[d]
                found[d] += weight * margin(asked, other.bodies, q, v)
        return -found / pace


class _Seen:
    """What a condition reads, at a place where nobody stands."""

    def __init__(
        self, simulation: TangentRun, bodies: Mapping[str, Body], state: Mapping[str, tuple[Array, Array]]
    ) -> None:
        self.simulation, self.bodies, self.state = simulation, bodies, state

    def has_port(self, port: str) -> bool:
        """Whether the body of a port is there."""
        return self.simulation.has_port(port)

    def has_joint(self, joint: str) -> bool:
        """Whether a joint holds."""
        return self.simulation.has_joint(joint)

    def port_motion(self, port: str) -> tuple[Array, Array, Array]:
        """Position and velocity; nobody accelerates."""
        name = PortName.parse(port, "condition")
        home: Any = self.simulation.system.body_home[name.body]
        shape = (1, *home.state()["q"].shape[1:])
        q, v = (x.reshape(shape) for x in self.state[name.body])
        x, dx, ddx = self.bodies[name.body].port_motion(name.port, q, v, np.zeros(shape))
        return x[0], dx[0], ddx[0]


class _Along:
    """Tangents beside a motion."""

    def __init__(self, beginning: Beginning, every: int, instant: Callable[..., Array | float]) -> None:
        self.beginning, self.every, self.instant = beginning, every, instant
        self.samples: dict[int, Motion] = {}
        self._latest = 0
        self.sizes: list[Array] = []  # of tangents after each step, (directions,)
        self.extent = 1.0
        self.where: dict[str, slice] = {}  # columns of each body, in the order of the formulas
        self.was: dict[str, slice] = {}  # the same before the last change
        self.order = self.order_before = np.empty(0, np.int64)  # of these columns, among those of the system

    def names(self, system: System) -> frozenset[str]:
        """Of whatever changes."""
        return self.beginning.whole

    def configured(self, system: System, common: CommonFormulas) -> None:
        """New formulas, new code."""
        written, count = common.written, len(self.beginning.steps)
        self.table = Directions(count, len(written.coordinates), len(written.parameters), common.code.tangents)
        self.table.parameters[:] = common.motions.parameters[0]
        for k, one in enumerate(written.parameters):
            self.table.changes[:count, k] = self.beginning.changes.get(one.name, 0.0)
        self.was, self.where = self.where, dict(written.columns)
        self.order_before, self.order = self.order, common.columns[0]
        self.extent = common.equations.extent

    def settled(self, system: System, before: Mapping[str, Array], time: float) -> None:
        """Tangents at the start, or behind a change."""
        equations = system.cache["equations"]
        q, v = equations.read()
        q, v, a = (x[self.order] for x in (q, v, system.memory["a"]))
        dq, dv = (np.zeros((len(self.beginning.steps), len(q))) for _ in "qv")
        if "dq" not in before:
            for name, own in self.where.items():
                dq[:, own], dv[:, own] = self.beginning.q[name], self.beginning.v[name]
        else:
            a_before = np.zeros(len(q))
            for name, own in self.where.items():
                was = self.was[name]
                dq[:, own], dv[:, own] = before["dq"][:, was], before["dv"][:, was]
                a_before[own] = before["a"][self.order_before][was]
            later = self.instant(q, v, a_before, dq, dv, self.where)
            dv = dv + np.multiply.outer(later, a_before - a) if np.ndim(later) else dv
        here = State(q, v, a, a)
        system.memory |= self._step(system, here, here, (dq, dv, dv), time, 0.0)
        if system.part in (0.0, 1.0):
            self._keep(system.tick + int(system.part), system.memory)

    def advanced(self, system: System, before: State, after: State, time: float, h: float) -> dict[str, Array]:
        """Tangents of a step."""
        memory, order = system.memory, self.order
        one, other = (State(x.q[order], x.v[order], x.a[order], x.a[order]) for x in (before, after))
        found = self._step(system, one, other, (memory["dq"], memory["dv"], memory["da"]), time, h)
        self._keep(system.tick + 1, found)
        self.sizes.append(np.maximum(np.abs(found["dq"]).max(axis=1), np.abs(found["dv"]).max(axis=1)))
        return found

    def _step(
        self, system: System, before: State, after: State, tangents: Sequence[Array], time: float, h: float
    ) -> dict[str, Array]:
        table, n = self.table, len(self.beginning.steps)
        table.q[:n], table.v[:n], table.a[:n] = before.q, before.v, before.a
        table.q_end[:n], table.v_end[:n] = after.q, after.v
        table.dq[:n], table.dv[:n], table.da[:n] = tangents
        table.time, table.step = time, h
        tangent_loop(table, system.elements, 0, n)
        return {"dq": table.dq[:n].copy(), "dv": table.dv[:n].copy(), "da": table.da[:n].copy()}

    def _keep(self, tick: int, found: Mapping[str, Array]) -> None:
        if self._latest % self.every:
            self.samples.pop(self._latest, None)
        self._latest = tick  # where it may end
        self.samples[tick] = {
            name: (found["dq"][:, own], found["dv"][:, own], found["da"][:, own]) for name, own in self.where.items()
        }
