"""Conditions that a coordinate of a port crosses a value, watched by the engine itself.

It plays a tick, asks whether a condition has come true in it, and if so takes the tick back and leaves it to the step, which
finds the instant (coordinator/events/schedule.py). What a tick changes is copied before it for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.extending import intrinsic

from coordinator.engine.context import EngineContext
from coordinator.system import System
from modular.elements import Array, Indices
from modular.kernel import kernel
from modular.lanes import NUMBER, types
from modular.loop import NO_FAILED_ROW, loop
from modular.port import PortName
from modular.stack import Stack
from modular.table import Table
from modular.views import View

MAX_ELEMENTS_PER_PORT = 4  # elements that a port is put together from


class Guards(Stack):
    """Watched conditions, one row each."""

    place: Indices  # address of the coordinate of the first element of the body, and how far the next one is [bytes]
    step: Indices
    weights: Array  # how the port is put together from the elements
    value: Array  # that is crossed [m]
    band: Array  # [m]
    direction: Indices  # 1 rising, -1 falling, 0 either way
    side: Array  # on which it stood last, once beyond the band

    def __init__(self) -> None:
        super().__init__()
        for name in ("place", "step", "direction"):
            self.column(name, dtype=np.int64)
        for name in ("value", "band", "side"):
            self.column(name)
        self.column("weights", MAX_ELEMENTS_PER_PORT)
        self.loops = {"guard": guard_loop}


def guards_of(simulation: EngineContext) -> Guards | None:
    """The conditions that wait, as they stand; None where one of them can only be asked in Python."""
    system, schedule = simulation.system, simulation.schedule
    schedule.look(simulation)
    guards = Guards()
    for k, watch in enumerate(schedule.armed):
        crossing = watch.condition.crossing
        if crossing is None:
            return None
        if not np.isfinite(watch.side) and not np.isfinite(watch.condition.margin(simulation)):
            continue  # not to be asked while nothing comes or goes
        port = PortName.parse(crossing.port, "condition")
        stack: Any = system.body_home[port.body]
        if not hasattr(stack, "ports"):
            return None
        weights, q = stack.port(port), stack.q[stack.row[port.body]]
        row = guards.add_row(str(k))
        guards.place[row] = q.ctypes.data + 8 * crossing.axis
        guards.step[row] = q.strides[0]
        guards.weights[row, : len(weights)] = weights
        guards.value[row], guards.band[row] = crossing.value, crossing.band
        guards.direction[row], guards.side[row] = crossing.direction, watch.side
    return guards


Aims = list[tuple[Any, int, int]]  # of every guard: the stack of its body, the row there and the axis


def guards_among(guards: Guards, simulation: EngineContext, system: System) -> tuple[Guards, Aims]:
    """Those of the guards whose bodies stand in a system that is a part of the simulated one, and what they look at."""
    found, aims = Guards(), []
    for name, row in guards.row.items():
        crossing = simulation.schedule.armed[int(name)].condition.crossing
        assert crossing is not None
        body = PortName.parse(crossing.port, "condition").body
        for stack in system.bodies:
            if body in stack.row:
                mine = found.add_row(name)
                for column in ("direction", "value", "band", "side", "weights"):
                    getattr(found, column)[mine] = getattr(guards, column)[row]
                aims.append((stack, stack.row[body], crossing.axis))
    take_aim(found, aims)
    return found, aims


def take_aim(guards: Guards, aims: Aims) -> None:
    """Look at coordinates of bodies where they lie now."""
    for row, (stack, place, axis) in enumerate(aims):
        q = stack.q[place]
        guards.place[row], guards.step[row] = q.ctypes.data + 8 * axis, q.strides[0]


def tell(simulation: EngineContext, guards: Guards) -> None:
    """The conditions in Python remember on which side things stood last."""
    for name, row in guards.row.items():
        simulation.schedule.armed[int(name)].side = float(guards.side[row])


def changed_by_a_tick(system: System) -> list[Array]:
    """All arrays that a tick changes and the next one reads."""
    tables = [bodies for bodies in system.bodies if isinstance(bodies, Table)]  # all others save and restore
    found: list[Array] = [array for bodies in tables for array in bodies.state().values()]
    remembering = [*tables, *(stack for stack in system.booked if isinstance(stack, Table))]
    found += [array for table in remembering for array in table.memory().values()]
    for stack in system.booked:
        n = stack.count
        found += [stack.ledger[:n], stack.power[:n], stack.power_before[:n]]
    elements = system.elements
    n = elements.count
    return [*found, elements.force[:n], elements.force_before[:n], elements.velocity_before[:n]]


def kept_by(system: System) -> tuple[Indices, list[Array]]:
    """Copies of all that, as the driver makes them (address, bytes, address of the copy), and the memory that holds them."""
    return copies_of([*changed_by_a_tick(system), *system.memory.values()])


def copies_of(arrays: Sequence[Array]) -> tuple[Indices, list[Array]]:
    """The same of arrays."""
    backups = [array.copy() for array in arrays]
    table = [(a.ctypes.data, a.nbytes, b.ctypes.data, 0) for a, b in zip(arrays, backups, strict=True)]
    return np.array(table, np.int64), backups


@intrinsic
def _number(context: Any, address: Any) -> Any:
    """The number at an address."""

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        return builder.load(builder.inttoptr(values[0], ir.PointerType(NUMBER)))

    return types.float64(types.int64), generate


@intrinsic
def whole_number_at(context: Any, address: Any) -> Any:
    """The whole number at an address."""

    def generate(_: Any, builder: Any, kinds: Any, values: Any) -> Any:
        return builder.load(builder.inttoptr(values[0], ir.PointerType(ir.IntType(64))))

    return types.int64(types.int64), generate


@kernel
def margin(guards: View, n: int) -> Any:
    """How far the coordinate is beyond its value."""
    x = 0.0
    for i in range(MAX_ELEMENTS_PER_PORT):
        if guards.weights[n, i] != 0.0:
            x += guards.weights[n, i] * _number(guards.place[n] + i * guards.step[n])
    return x - guards.value[n]


@loop
def guard_loop(start: int, stop: int, guards: View, elements: View) -> int:
    """The first condition that has come true, or -1; sides are remembered where none has."""
    for n in range(start, stop):
        side, now = guards.side[n], margin(guards, n)
        rising, falling = side < 0.0 <= now, side > 0.0 >= now
        if (rising and guards.direction[n] >= 0) or (falling and guards.direction[n] <= 0):
            return n
    for n in range(start, stop):
        now = margin(guards, n)
        if abs(now) > guards.band[n]:
            guards.side[n] = 1.0 if now > 0.0 else -1.0
    return NO_FAILED_ROW
