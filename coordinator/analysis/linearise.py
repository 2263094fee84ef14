"""Linear equations of a model: about a place where it rests, or about a motion that goes on as it is.

A mechanism near a motion that goes on as it is: linear equations in a frame that goes along.

Along a way q' = X q + x that is a symmetry (symmetries.py) a state that follows it looks the same at all times. Then so do its
linear equations in d = exp(X t) e, for small differences of places and velocities,

    e_q' = e_v - X e_q,    e_v' = a_q e_q + a_v e_v - X e_v,

with how accelerations answer both: M da + G^T dl = -d(M a + G^T l - Q) and G da = -d(G a + G' v) at the a and l of the motion.
On the constraints G_h e_q = 0 and G e_v + d(G v)/dq e_q = 0, so with the places N and the motions N_v that these leave

    e_q = N p,   e_v = -G^+ d(G v)/dq N p + N_v u.

Derivatives are central, of sixth order. The thesis and the course texts are silent on motions that go on; the bicycle is that of
J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, "Linearized dynamics equations for the balance and steer of a bicycle",
Proc. R. Soc. A 463 (2007) 1955-1982.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from coordinator.analysis.equilibrium import at_rest, put_up
from coordinator.analysis.linear import Linear, free_places, linear_at
from coordinator.analysis.ports import states_of
from coordinator.analysis.symmetries import Symmetry, smallest_of, symmetry_of
from coordinator.analysis.tangent import STENCIL, dense
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.freedoms import find_freedoms
from coordinator.couplings.centralized.solver import State
from coordinator.couplings.centralized.tangents import force_tangents
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError
from modular.one_thread import on_one_thread


@on_one_thread
def linearise(model: Assembly, *, seek: bool = False, steady: bool = False) -> Linear:
    """A model where it stands, which has to be a place where it rests; `seek`: where it would come to rest from there.

    `steady`: about the motion with which it sets out, which has to go on as it is; with `seek` the motion is sought that goes on
    with the same pace near where the model is put: what spins is stretched and bent by that.
    """
    if steady:
        return linear_along(model, seek=seek)
    with at_rest(model, seek=seek) as rest:
        return linear_at(rest)


STEP = 1e-2  # of the smallest way between points of a body, or of the largest velocity
# over velocities
SHORT_STENCIL = [(sign * k, sign * weight) for k, weight in ((1, 2 / 3), (2, -1 / 12)) for sign in (1, -1)]
STEADY_TOLERANCE = 1e-7  # of the accelerations that are about
TURNED = 0.7  # [rad], or as many extents: how far along its way a model is looked at once more
MOST_STEPS = 40  # to a motion that goes on
SOUGHT_TOLERANCE = 1e-9  # of the accelerations that are about
SHORTEST = 1e-11  # of the extent: steps that are rounding, of which what is stiff makes accelerations
SOUGHT_RANK = 1e-9  # of the largest stiffness: along what has less, as along the way itself, nothing is moved
FARTHEST = 0.3  # of the extent, in one step
MISSED = 1e-3  # of its speed, by which it is then disturbed


def linear_along(model: Assembly, *, seek: bool = False) -> Linear:
    """Of a model, about the motion with which it sets out; `seek`: about the one that goes on so, from near where it is put."""
    with put_up(model) as equations:
        start, steps = equations.read()[0], 0
        size = smallest_of(model, equations, start)
        state = _settled(equations, size, *equations.read())
        if seek:
            state, steps = _sought(model, equations, size, state)
        motions = find_freedoms(equations).basis
        places = motions if equations.holonomic.all() else free_places(equations)
        way = symmetry_of(model, equations, state)
        _refuse_change(equations, size, state, way, motions)
        matrix = _matrix(equations, size, state, way, places, motions)
        equations.go(state.q, state.v)
        mass, n = dense(motions.T @ (equations.mass @ motions)), places.shape[1]
        here, there = states_of(equations, state.q), states_of(equations, start)
        return Linear(
            mass=mass, damping=-mass @ matrix[n:, n:], stiffness=-mass @ matrix[n:, :n], motions=motions, places=places,
            assembly=model, rest=here, start=there, steps=steps, turning=matrix[:n, :n], rates_of_places=matrix[:n, n:],
        )  # fmt: skip


def _settled(equations: Equations, size: float, q: Array, v: Array) -> State:
    """Accelerations and multipliers, with rows that bend followed to sixth order."""
    bias = _bias(equations, size, q, v)
    a, multipliers = equations.saddle(equations.mass, equations.jacobian()).solve(equations.forces(0.0), -bias)
    return State(q, v, a, multipliers)


def _rounding(equations: Equations, q: Array) -> Array:
    """What places that are known to their last digit leave open of accelerations: each term of K q rounded by itself.

    What is stiff and light makes accelerations of rounding: a blade of 1 mm, in sixteen pieces, 1e-4 m/s^2.
    """
    equations.go(q, np.zeros_like(q))
    stiffness = force_tangents(equations, 0.0)[0]
    terms = abs(stiffness) @ (np.finfo(float).eps * np.abs(q))
    return np.asarray(abs(equations.inverse_mass) @ terms)


def _sought(model: Assembly, equations: Equations, size: float, state: State) -> tuple[State, int]:
    """Where a model goes on along the way on which it sets out, by Newton's method; in so many steps.

    There M X v + G^T l = Q with v = X q + x: what turns holds itself against its own pull outwards. The way keeps its pace.
    """
    if not equations.holonomic.all():
        raise ModelError(
            "modes: seek=True needs joints that lock positions; of a model that rolls give the steady motion "
            "itself, and leave seek out."
        )
    turning = symmetry_of(model, equations, state, following=False)
    q, far, rounding = state.q, np.inf, _rounding(equations, state.q)
    for turn in range(MOST_STEPS):
        state = _settled(equations, size, q, turning.velocity(q))
        basis = find_freedoms(equations).basis
        loads = equations.forces(0.0) - equations.mass @ (turning.turn @ state.v)
        multipliers = np.linalg.lstsq(dense(equations.jacobian()).T, loads, rcond=None)[0]
        left = _left_over(equations, basis, turning, q, multipliers)
        pull = max(
            float(np.abs(state.a).max(initial=0.0)), float(np.abs(equations.inverse_mass @ equations.forces(0.0)).max())
        )
        apart_by = float((np.abs(state.a - turning.turn @ state.v) - rounding).max(initial=0.0))
        if apart_by <= SOUGHT_TOLERANCE * pull or (
            far <= SHORTEST * equations.extent and apart_by <= STEADY_TOLERANCE * pull
        ):
            return state, turn
        slopes = np.array(
            [
                _along(lambda dq, _: _left_over(equations, basis, turning, q + dq, multipliers), way, way, STEP * size)  # noqa: B023
                for way in basis.T
            ]
        ).T
        step = basis @ np.linalg.lstsq(slopes, -left, rcond=SOUGHT_RANK)[0]
        far = float(np.abs(step).max(initial=0.0))
        q = equations.project_position(
            q + step * min(1.0, FARTHEST * equations.extent / max(far, 1e-300)), turning.velocity(q)
        )
    _refuse(
        equations, state.a - turning.turn @ state.v, rounding,
        "was not brought to a motion that goes on: after " + str(MOST_STEPS) + " steps it would still leave it with {:.3g} m/s^2. "
        "Begin nearer to one: `modular run` with some damping shows where it leads",
    )  # fmt: skip
    return state, MOST_STEPS


def _left_over(equations: Equations, basis: Array, way: Symmetry, q: Array, multipliers: Array) -> Array:
    """What is missing from forces for the way, along motions: N^T (M X v + G^T l - Q)."""
    v = way.velocity(q)
    equations.go(q, v)
    held = equations.jacobian().T @ multipliers
    return np.asarray(basis.T @ (equations.mass @ (way.turn @ v) + held - equations.forces(0.0)))


def _refuse_change(equations: Equations, size: float, state: State, way: Symmetry, motions: Array) -> None:
    """What does not go on along its way, or along a way on which it would soon move otherwise."""
    speed = float(np.abs(state.v).max(initial=0.0))
    drive = float(np.abs(equations.inverse_mass @ equations.forces(0.0)).max(initial=0.0))
    pull = max(drive, float(np.abs(state.a).max(initial=0.0)), speed**2 / equations.extent)
    rounding = _rounding(equations, state.q)
    _refuse(
        equations, state.a - way.turn @ state.v, STEADY_TOLERANCE * pull + rounding,
        "does not go on as it sets out: it would leave that motion with {:.3g} m/s^2. Give velocities of a motion that goes on; "
        "`modular run` shows where these lead",
    )  # fmt: skip
    rate = max(float(np.abs(way.turn).max()), float(np.abs(way.shift).max()) / equations.extent)
    if rate == 0.0:
        return
    lean = MISSED * speed * motions @ np.sin(1.0 + np.arange(motions.shape[1]))
    q, turned = way.after(TURNED / rate, state.q)
    before = _settled(equations, size, state.q, state.v + lean).a
    after = _settled(equations, size, q, turned @ (state.v + lean)).a
    _refuse(
        equations, after - turned @ before,
        STEADY_TOLERANCE * max(pull, float(np.abs(before).max())) + np.abs(turned) @ rounding + _rounding(equations, q),
        "would move otherwise once the model has gone on (by {:.3g} m/s^2, were it disturbed): what acts on it, or holds it, does "
        "not look the same along its way, and no linear equations with constant numbers are those of the motion",
    )  # fmt: skip
    equations.go(state.q, state.v)


def _refuse(equations: Equations, left: Array, allowed: Array, words: str) -> None:
    beyond = np.where(np.abs(left) > allowed, np.abs(left), 0.0)
    sizes = {name: float(beyond[own].max(initial=0.0)) for name, own in equations.columns.items()}
    body = max(sizes, key=lambda name: sizes[name], default="")
    if sizes and sizes[body] > 0.0:
        raise ModelError(f"body '{body}' {words.format(sizes[body])}.")


def _matrix(equations: Equations, size: float, state: State, way: Symmetry, places: Array, motions: Array) -> Array:
    """A of (p, u)' = A (p, u)."""
    q, v, n = state.q, state.v, places.shape[1]
    equations.go(q, v)
    jacobian = dense(equations.jacobian())
    saddle = equations.saddle(equations.mass, equations.jacobian())
    back = np.linalg.pinv(jacobian, rcond=1e-10)
    pace = max(float(np.abs(v).max(initial=0.0)), 1.0)

    def rates(dq: Array, dv: Array) -> Array:
        equations.go(q + dq, v + dv)
        return equations.rates()

    def left(dq: Array, dv: Array) -> Array:
        bias = _bias(equations, size, q + dq, v + dv)
        matrix = equations.jacobian()
        forces = equations.mass @ state.a + matrix.T @ state.multipliers - equations.forces(0.0)
        return np.concatenate([forces, matrix @ state.a + bias])

    still = np.zeros_like(q)
    columns = []
    for k in range(n + motions.shape[1]):
        if k < n:
            e_q = places[:, k]
            e_v = -back @ _along(rates, e_q, still, STEP * size)
        else:
            e_q, e_v = still, motions[:, k - n]
        changed = np.zeros(len(q) + len(jacobian))
        if k < n:
            changed += _along(left, e_q, still, STEP * size)
        fast = float(np.abs(e_v).max(initial=0.0))
        if fast > 0.0:
            changed += fast * _along(left, still, e_v / fast, STEP * pace, SHORT_STENCIL)
        answer, _ = saddle.solve(-changed[: len(q)], -changed[len(q) :])
        columns.append(np.concatenate([places.T @ (e_v - way.turn @ e_q), motions.T @ (answer - way.turn @ e_v)]))
    return np.array(columns).T


def _bias(equations: Equations, size: float, q: Array, v: Array) -> Array:
    """dG/dt v; leaves the system there."""
    elements, speed = equations.system.elements, float(np.abs(v).max(initial=0.0))
    total = np.zeros(equations.rows)
    if speed > 0.0 or equations.driven:
        h = STEP * size / speed if speed > 0.0 else STEP
        for place, weight in STENCIL:
            elements.beyond[0] = place * h
            equations.go(q + place * h * v, v)
            total += weight / h * equations.rates()
        elements.beyond[0] = 0.0
    equations.go(q, v)
    return total


def _along(
    function: Callable[[Array, Array], Array],
    dq: Array,
    dv: Array,
    h: float,
    stencil: Sequence[tuple[int, float]] = STENCIL,
) -> Array:
    """How a function of places and velocities changes along both."""
    return np.asarray(sum(weight / h * function(place * h * dq, place * h * dv) for place, weight in stencil))
