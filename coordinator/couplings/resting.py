"""What rests from the start on begins in equilibrium: contacts find the forces that carry it together, before the first tick.

Each contact knows its own two bodies alone. With loads on all of them the bodies accelerate; each then answers by what it would
rather do (`propose_load`), and all that is one step of the proximal gradient method towards the complementarity problem of all
contacts: nothing that touches accelerates into what it touches, nothing pulls, friction bears its share at most. What the last
steps have shown is put together so that least is left, for each group of bodies that touch or are joined (D. G. Anderson,
"Iterative procedures for nonlinear integral equations", Journal of the ACM 12 (1965) 547-560): a stack of n bodies takes some n
steps instead of n^2, and more where friction holds what lies askew. Bodies are asked through the coupling, so whatever else holds
them has its say. The thesis knows no contact.

Bodies that contacts carry where they rest: those that nothing else holds, and islands of those that hang together in joints.

A contact that finds what carries what rests reckons with how bodies answer it in this tick (components/forces/contact_carrying.py).
A free body answers by its inertia. One in glued joints answers with all that hangs on it, and these joints are solved for in the
same tick, so it can be told how (interface/islands.py). Whatever acts by itself, springs, dampers, what bends, answers
later: where it asks little of the step that is a small change of what others do, elsewhere contacts stay springs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress, pairwise
from math import inf, sqrt
from typing import Any, NamedTuple

import numpy as np

from coordinator.couplings.coupling import Coupling
from coordinator.engine.program import Operation, perform
from coordinator.system import System
from modular.elements import STEP, TIME, Array
from modular.force import BEGUN, NOBODY, BeginsAtRest, requests_demand

NUMBERS = "numbers of bodies"  # where a system keeps those that contacts have been told
MOST_SEATS = 64  # bodies of an island that contacts may touch: they answer each other, so cost goes with the square
# margin of a spring or damper (margins.py) from which on it changes little from tick to tick: with z = dt^2 k w one that is found a
# tick late gives x'' = -z (x' - x), which is stable up to z = 1/2, and the limit of a margin of 1 is z = 4
SOFT_MARGIN = 3.0


def held_otherwise(system: System, stacks: list[Any]) -> Iterator[str]:
    """Bodies that do not answer contacts as one rigid piece alone: flexible ones, and those with joints or springs on them.

    A body says by `rigid` that it answers a force at one of its ports at all others so, in one step per tick.
    """
    yield from _not_rigid(system)
    for joint in system.joint_home.values():
        yield from joint.owners
    for _, owners in _asking(system, stacks):
        yield from owners


def islands_of(system: System, coupling: Coupling, dt: float, stacks: list[Any]) -> dict[str, int]:
    """Bodies in joints that contacts may carry, with the number of all that hang together."""
    if not system.joint_home:
        return {}
    import networkx as nx  # a tenth of a second, for those who need it

    met = {owner for stack in stacks for name in stack.names for owner in system.force_home[name].owners}
    graph = nx.Graph()
    for joint in system.joint_home.values():
        nx.add_path(graph, [owner for owner in joint.owners if is_moved(system, owner)])
    unfit = set(_not_rigid(system)) | set(_in_gliding_joints(system)) | set(_held_stiffly(system, coupling, dt, stacks))
    found: dict[str, int] = {}
    for number, bodies in enumerate(nx.connected_components(graph)):
        if 0 < len(met & bodies) <= MOST_SEATS and not unfit & bodies:
            found |= dict.fromkeys(bodies, number)
    return found


def _not_rigid(system: System) -> Iterator[str]:
    yield from (owner for owner, body in system.described.items() if not getattr(body, "rigid", False))


def _in_gliding_joints(system: System) -> Iterator[str]:
    """Joints that lock velocities alone answer otherwise in each half of a step."""
    for joint in system.joint_home.values():
        if not joint.stack.form.holonomic:
            yield from joint.owners


def _asking(system: System, stacks: list[Any]) -> Iterator[tuple[str, Sequence[str]]]:
    """Forces that ask something of the step, with their bodies; but for contacts that are as stiff as the step allows."""
    asks = {id(stack): set(compress(stack.names, (~stack.follows_step).tolist())) for stack in stacks}
    if not any(asks.values()) and not any(requests_demand(stack) for stack in system.forces if id(stack) not in asks):
        return
    for name, home in system.force_home.items():
        own = asks.get(id(home.stack))
        if requests_demand(home.stack) if own is None else name in own:
            yield name, home.owners


def _held_stiffly(system: System, coupling: Coupling, dt: float, stacks: list[Any]) -> Iterator[str]:
    """Bodies on which something acts that changes much from tick to tick."""
    asking = dict(_asking(system, stacks))
    if not asking:
        return
    own = {name for stack in stacks for name in stack.names}
    margins = coupling.margins(system, dt)
    implicit = set(system.implicit_forces)
    for name, owners in asking.items():
        if name in own or name in implicit or margins.get(name, inf) < SOFT_MARGIN:
            yield from owners


def is_moved(system: System, owner: str) -> bool:
    """Whether anything can move it: neither the ground nor what is led."""
    return owner in system.body_home and not system.described[owner].led


MAX_ITERATIONS = 500
CONVERGENCE_TOLERANCE = 1e-9  # of the forces of a contact: what is left is nothing
UNSETTLED_TOLERANCE = 1e-8  # of the largest force: beyond it what rests rings, or creeps, and that is said
ROUNDING_TOLERANCE = 1e-12  # the same, of the largest force
MIXED_ITERATIONS = 60  # so many are put together
VELOCITY_ROUNDING = 64.0 * 2.0**-52  # of the fastest element
DEPENDENT_SHARE = 1e-4  # of a step: what is left of it beside newer ones, where it says nothing new
RESTART_RATIO = 10.0  # times what the iteration before has left: what was learnt holds no more


class Unsettled(NamedTuple):
    """Contacts that belong together, and begin with forces that were not found to the end."""

    contacts: tuple[str, ...]  # first the one that is furthest off
    left: float  # what the last iteration would have changed, as a share of the largest force


def begin_at_rest(system: System, coupling: Coupling, dt: float, *, everything: bool = False) -> Unsettled | None:
    """After everything has been settled: let new contacts that touch carry what rests on them.

    `everything`: all is new, so joints look for their loads anew as well, with those of contacts on the bodies. Returned are
    contacts that have not come to an end, those that are furthest off.
    """
    beginning: list[Any] = [stack for stack in system.forces if isinstance(stack, BeginsAtRest)]
    if not beginning:
        return None
    tell_apart(system, coupling, dt, beginning)
    count_contacts_of_bodies(beginning)
    if not any((stack.begins[: len(stack.names)] > 0.0).any() for stack in beginning):
        return None
    meeting = list(_meeting(system, beginning))
    new = [(stack, row, owners) for stack, row, owners in meeting if stack.begins[row] > 0.0]
    if not new:
        return None
    # sums go by names: in whatever stacks they live, the last bits stay
    new.sort(key=lambda each: each[0].names[each[1]])
    stacks = list({id(stack): stack for stack, _, _ in new}.values())
    touched = list(dict.fromkeys(owner for _, _, owners in new for owner in owners))

    groups = list(_groups(system, meeting, new))
    fastest = float(np.abs(system.elements.velocity[: system.elements.count]).max(initial=0.0))
    mixings = [
        Mixing(np.array([_rounding(stack, row, fastest / dt) for stack, row, _ in members])) for members in groups
    ]
    for _ in range(MAX_ITERATIONS):
        look_ahead(system, dt, stacks)
        for mixing, members in zip(mixings, groups, strict=True):
            if not mixing.done:
                mixing.take(np.array([stack.starts[row] for stack, row, _ in members]))
            for (stack, row, _), load in zip(members, mixing.loads, strict=True):
                stack.loads[row], stack.begins[row] = load, BEGUN
        for joints in system.joints if everything else ():
            joints.fresh[: joints.count] = 1
        coupling.settle(system, dt, touched)
        if all(mixing.done for mixing in mixings):
            break
    mixing, members = max(zip(mixings, groups, strict=True), key=lambda each: each[0].left.max())
    if mixing.left.max() <= UNSETTLED_TOLERANCE:
        return None
    order = np.argsort(-mixing.left, kind="stable")
    return Unsettled(tuple(members[k][0].names[members[k][1]] for k in order), float(mixing.left.max()))


Meeting = tuple[Any, int, list[str]]  # a stack of contacts, a row of it, and its bodies that are moved


def _groups(system: System, meeting: list[Meeting], new: list[Meeting]) -> Iterator[list[Meeting]]:
    """Contacts that have to do with each other, by what they and joints hold together: a group for each."""
    import networkx as nx  # a tenth of a second, for those who need it

    graph = nx.Graph()
    for _, _, owners in meeting:
        nx.add_path(graph, owners)
    for home in system.joint_home.values():
        nx.add_path(graph, [owner for owner in home.owners if is_moved(system, owner)])
    place = {owner: k for k, part in enumerate(nx.connected_components(graph)) for owner in part}
    found: dict[int, list[Meeting]] = {}
    for each in new:
        found.setdefault(place[each[2][0]] if each[2] else -1, []).append(each)
    yield from found.values()


class Mixing:
    """Loads of a group until nobody would rather do anything else: Anderson's mixing of what the last iterations have shown."""

    def __init__(self, rounding: Array) -> None:
        """`rounding`: of the loads of each [N]."""
        self._rounding = rounding
        self.loads: Array = np.zeros((0, 3, 3))
        self.done = False
        self.left: Array = np.zeros(1)  # of each contact, what the iteration would have changed that was best
        self._answers: list[Array] = []
        self._residuals: list[Array] = []
        self._best: tuple[float, Array, Array] = np.inf, self.loads, self.loads
        self._taken = 0

    def take(self, found: Array) -> None:
        """What all would rather do under these loads; from it the next ones."""
        self._taken += 1
        if self._taken == 1:
            self.loads = found
            return
        residual = found - self.loads
        size = float(np.abs(residual).max())
        if size < self._best[0]:
            self._best = size, found, residual
        self.done = _is_nothing(residual, found, self._rounding) or self._taken == MAX_ITERATIONS
        if self.done:
            _, self.loads, residual = self._best
            largest = float(np.abs(self.loads).max())
            left = np.maximum(np.abs(residual).max(axis=(1, 2)) - self._rounding, 0.0)
            self.left = left / (largest if largest > 0.0 else 1.0)
            return
        if self._residuals and size > RESTART_RATIO * np.abs(self._residuals[-1]).max():
            self._answers, self._residuals = [], []
        self._answers = [*self._answers, found][-MIXED_ITERATIONS:]
        self._residuals = [*self._residuals, residual][-MIXED_ITERATIONS:]
        steps = [later - former for former, later in pairwise(self._residuals)]
        self.loads = found.copy()
        for share, (former, later) in zip(_least_squares(steps, residual), pairwise(self._answers), strict=True):
            self.loads -= share * (later - former)


def _least_squares(columns: list[Array], wanted: Array) -> list[float]:
    """How much of each column, so that least of what is wanted is left; by Gram and Schmidt, the newest column first.

    Columns that depend on newer ones are left out. No library of the machine decides on the last bits.
    """
    basis: list[Array] = []
    upper: list[list[float]] = []
    kept: list[int] = []
    for k in reversed(range(len(columns))):
        rest, along = columns[k].copy(), list[float]()
        for unit in basis:
            along.append(float(np.add.reduce(unit * rest, axis=None)))
            rest -= along[-1] * unit
        size = sqrt(float(np.add.reduce(rest * rest, axis=None)))
        if size > DEPENDENT_SHARE * sqrt(float(np.add.reduce(columns[k] * columns[k], axis=None))):
            basis.append(rest / size)
            upper.append([*along, size])
            kept.append(k)
    shares, left = [0.0] * len(columns), [float(np.add.reduce(unit * wanted, axis=None)) for unit in basis]
    for i in reversed(range(len(basis))):
        shares[kept[i]] = left[i] / upper[i][i]
        for j in range(i):
            left[j] -= upper[i][j] * shares[kept[i]]
    return shares


def _rounding(stack: Any, row: int, jerked: float) -> float:
    """How far rounding of velocities, which a tick takes for accelerations, changes the load of a contact [N]."""
    answer = sum(float(np.trace(stack.mobility[row, side, 0])) for side in range(2)) / 3.0
    return VELOCITY_ROUNDING * jerked / answer if answer > 0.0 else 0.0


def _is_nothing(residual: Array, found: Array, rounding: Array) -> bool:
    """Of each contact by its own measure."""
    sizes = np.abs(found).max(axis=(1, 2))
    least = CONVERGENCE_TOLERANCE * sizes + ROUNDING_TOLERANCE * sizes.max() + rounding
    return bool((np.abs(residual).max(axis=(1, 2)) <= least).all())


def look_ahead(system: System, dt: float, stacks: list[Any]) -> None:
    """Let contacts look at the bodies as the first tick will show them, and bodies stand again where they stand."""
    clock = system.elements.clock
    step, now = float(clock[STEP]), float(clock[TIME])
    clock[STEP], clock[TIME] = dt, now + dt
    ahead: list[Operation] = [(bodies, "predict") for bodies in system.bodies]
    perform(system.elements, [*ahead, *((stack, "propose_load") for stack in stacks)])
    clock[STEP], clock[TIME] = step, now
    perform(system.elements, [(bodies, "show") for bodies in system.bodies])


def count_contacts_of_bodies(stacks: list[Any]) -> None:
    """Tell contacts how many carry one of their bodies; whoever carries nothing yet may come to, with all that these can meet.

    What hangs together in joints that answer at once is as one body here.
    """
    carries = [stack.rests[: len(stack.names)] > 0.0 for stack in stacks]
    bodies = [stack.island[: len(stack.names)] for stack in stacks]
    most = max((int(each.max(initial=NOBODY)) for each in bodies), default=NOBODY) + 2  # the last one stands for nobody
    met, carried = np.zeros((2, most), np.int64)
    for each, rests in zip(bodies, carries, strict=True):
        met += np.bincount(each.ravel() % most, minlength=most)
        carried += np.bincount(each[rests].ravel() % most, minlength=most)
    met[-1] = carried[-1] = 0
    for stack, each, rests in zip(stacks, bodies, carries, strict=True):
        count = np.where(rests[:, None], carried[each], met[each])
        stack.contacts_of_body[: len(stack.names)] = np.maximum(count.max(axis=1, initial=1), 1)


def tell_apart(system: System, coupling: Coupling, dt: float, stacks: list[Any]) -> None:
    """Tell contacts which bodies they have in common, in which order they are asked, and which bodies only they hold.

    Those that hang in joints too are told together as islands, where the coupling tells how they answer through these.
    """
    numbers = {owner: k for k, owner in enumerate(system.body_home) if is_moved(system, owner)}
    free = numbers.keys() - set(held_otherwise(system, stacks)) if stacks else set()
    islands = islands_of(system, coupling, dt, stacks) if stacks and coupling.tells_through_joints else {}
    island_of = np.full(len(numbers) + 1, -1)  # of bodies by their numbers; the last one stands for nobody
    island_of[[numbers[owner] for owner in islands]] = list(islands.values())
    let_go = np.array([owner in free or owner in islands for owner in numbers] + [True])
    changed = False
    _number(system, stacks, numbers)
    for stack in stacks:
        count = len(stack.names)
        body = stack.body[:count]
        island = np.where(island_of[body] < 0, body, len(numbers) + island_of[body])
        sat, sit = (
            stack.island[:count] != stack.body[:count],
            island != body,
        )  # in joints: nobody else has a place there
        changed = changed or ((sat.any() or sit.any()) and not np.array_equal(stack.island[:count], island))
        stack.island[:count] = island
        stack.free[:count] = let_go[body].all(axis=1)
    if changed and coupling.tells_through_joints:
        system.cache.pop("interface", None)


def _number(system: System, stacks: list[Any], numbers: dict[str, int]) -> None:
    """Tell contacts the numbers of their bodies, and their own in the order in which they were made.

    As long as bodies have the numbers that they had, those that have been told know theirs, and new ones come after them.
    """
    known = system.cache.get(NUMBERS)
    told = isinstance(known, tuple) and known[0] == numbers and known[1] == [id(stack) for stack in stacks]
    system.cache[NUMBERS] = numbers, [id(stack) for stack in stacks]
    new: dict[str, Any] = {}
    for stack in stacks:
        untold = (stack.body[: len(stack.names)] == NOBODY).all(axis=1) if told else np.ones(len(stack.names), bool)
        new |= dict.fromkeys((stack.names[row] for row in np.flatnonzero(untold).tolist()), stack)
    most = max((int(stack.number[: len(stack.names)].max(initial=NOBODY)) for stack in stacks if told), default=NOBODY)
    order = [name for name in system.force_home if name in new] if len(new) > 1 else list(new)
    for number, name in enumerate(order, most + 1):
        stack, owners = new[name], system.force_home[name].owners
        stack.number[stack.row[name]] = number
        stack.body[stack.row[name]] = [numbers.get(owner, NOBODY) for owner in owners]


def _meeting(system: System, stacks: list[Any]) -> Iterator[Meeting]:
    """Contacts, and their bodies; what is led, nobody carries."""
    for stack in stacks:
        for name in stack.names:
            owners = system.force_home[name].owners
            yield stack, stack.row[name], [owner for owner in owners if is_moved(system, owner)]
