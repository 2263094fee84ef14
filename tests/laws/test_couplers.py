"""Hinges that turn in a fixed ratio: against Lagrange's equations in independent coordinates, over many turns, on every path."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from campaign import later, named
from components import Coupler, Moment, Revolute, RigidBody
from coordinator import Glued, Penalty, Relaxed, Simulation
from modular import Assembly, ModelError

GRAVITY = np.array([0.4, -0.7, -9.81])
RATIO = -1.5
INERTIAS = [np.diag(x) for x in ((0.05, 0.07, 0.04), (0.012, 0.02, 0.015), (0.011, 0.009, 0.016))]
MASSES = (1.4, 0.6, 0.45)
PLACES = np.array([(0.0, 0.0, 0.0), (0.3, 0.1, -0.05), (0.12, -0.35, 0.08)])  # of the hinges
CENTRES = np.array([(0.15, -0.1, 0.05), (0.5, 0.22, -0.16), (0.3, -0.5, 0.02)])
# of a carrier and two bodies that it carries; skew, parallel, and a row of three
AXES = {
    "skew": [(0.2, 0.9, -0.1), (0.1, 1.0, 0.3), (0.9, -0.2, 0.4)],
    "parallel": [(0.2, 0.9, -0.1), (0.3, 0.2, 0.9), (0.3, 0.2, 0.9)],
}
PACE = np.array([0.4, 1.1])  # of the carrier, and of the first that it carries


def unit(x):
    return np.asarray(x, float) / np.linalg.norm(x)


def placed(axes, row, z):
    """Rotations and centres at turns of the carrier and of the first body; `row`: the third hangs on the first."""
    turns = [Rotation.from_rotvec(q * unit(axis)) for q, axis in zip((z[0], z[1], RATIO * z[1]), axes, strict=True)]
    of, at = [turns[0]], [PLACES[0]]
    for k, carrier in ((1, 0), (2, 1 if row else 0)):
        at.append(at[carrier] + of[carrier].apply(PLACES[k] - PLACES[carrier]))
        of.append(of[carrier] * turns[k])
    return of, [p + R.apply(c - p0) for p, R, c, p0 in zip(at, of, CENTRES, PLACES, strict=True)]


def rates(axes, row, z):
    """How angular velocities and those of centres follow the rates of the two turns, (3, 2) each."""
    of, centres = placed(axes, row, z)
    spins, paces = [], []
    for k, carrier in enumerate((None, 0, 1 if row else 0)):
        own = np.outer(unit(axes[k]), ((1.0, 0.0), (0.0, 1.0), (0.0, RATIO))[k])
        before = np.zeros((3, 2)) if carrier is None else spins[carrier]
        axis = own if carrier is None else of[carrier].apply(own.T).T
        root = PLACES[0] if carrier is None else centres[carrier] + of[carrier].apply(PLACES[k] - CENTRES[carrier])
        moved = np.zeros((3, 2)) if carrier is None else paces[carrier] + np.cross(before.T, root - centres[carrier]).T
        spins.append(before + axis)
        paces.append(moved + np.cross(spins[k].T, centres[k] - root).T)
    return spins, paces


def motion(axes, row, until, times):
    """The two turns by Lagrange's equations, their derivatives taken by differences."""

    def slopes(z):
        """How centres and turns follow the coordinates, scaled so that T = |J z'|^2 / 2."""
        rows = []
        for m, inertia, turn, spins, paces in zip(
            MASSES, INERTIAS, placed(axes, row, z)[0], *rates(axes, row, z), strict=True
        ):
            rows += [*(np.sqrt(m) * paces), *(np.sqrt(np.diag(inertia))[:, None] * turn.inv().apply(spins.T).T)]
        return np.array(rows)

    def mass(z):
        J = slopes(z)
        return J.T @ J

    def pull(z):
        return sum(m * GRAVITY @ c for m, c in zip(MASSES, placed(axes, row, z)[1], strict=True))

    def rate(_, y):
        z, v = y[:2], y[2:]
        step = 1e-4
        bends = [(mass(z + step * e) - mass(z - step * e)) / (2 * step) for e in np.eye(2)]
        force = [(pull(z + step * e) - pull(z - step * e)) / (2 * step) for e in np.eye(2)]
        turning = (
            np.array([0.5 * v @ bend @ v for bend in bends])
            - sum(w * bend for w, bend in zip(v, bends, strict=True)) @ v
        )
        return np.concatenate([v, np.linalg.solve(mass(z), np.array(force) + turning)])

    found = solve_ivp(rate, (0.0, until), [0.0, 0.0, *PACE], method="DOP853", rtol=1e-9, atol=1e-10, t_eval=times)
    return found.y[:2].T


def gripper(axes, row):
    """A carrier on the ground with two bodies, the second on the carrier or on the first."""
    model = Assembly(gravity=GRAVITY)
    spins, paces = rates(axes, row, np.zeros(2))
    for k, name in enumerate(("palm", "finger", "thumb")):
        ports = {"root": tuple(PLACES[k]), "one": tuple(PLACES[1]), "two": tuple(PLACES[2])}
        model.add(
            name,
            RigidBody(
                mass=MASSES[k], inertia=INERTIAS[k].tolist(), centre=tuple(CENTRES[k]), ports=ports,
                velocity=tuple(paces[k] @ PACE), angular_velocity=tuple(spins[k] @ PACE),
            ),
        )  # fmt: skip
    model.join("wrist", Revolute(axis=axes[0]), "ground", "palm.root", at=tuple(PLACES[0]))
    model.join("knuckle", Revolute(axis=axes[1]), "palm.one", "finger.root")
    model.join("saddle", Revolute(axis=axes[2]), "finger.two" if row else "palm.two", "thumb.root")
    first, axis = ("palm.one", -np.array(axes[1])) if row else ("finger.root", axes[1])
    model.join("tendon", Coupler(RATIO, axis=tuple(axis), second_axis=axes[2]), first, "thumb.root")
    return model


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize(("kind", "row"), [("skew", False), ("parallel", False), ("parallel", True), ("skew", True)])
@pytest.mark.parametrize(("coupling", "dt", "most"), [(Glued(4), 1e-3, 2e-7), (Penalty(), 1e-4, 1e-4)], ids=named)
def test_what_is_coupled_moves_by_lagranges_equations(kind, row, coupling, dt, most):
    """The body between is no port of the joint: it is told by the hinges, whether it carries both or hangs on one."""
    with Simulation(gripper(AXES[kind], row), dt, coupling, record_every=round(0.02 / dt)) as simulation:
        run = simulation.run(0.3)
    exact = motion(AXES[kind], row, 0.3, run.time)
    assert np.ptp(exact, axis=0).min() > 0.05
    np.testing.assert_allclose(run.angle("wrist"), exact[:, 0], atol=most)
    np.testing.assert_allclose(run.angle("knuckle"), exact[:, 1], atol=most)
    np.testing.assert_allclose(run.angle("saddle"), RATIO * exact[:, 1], atol=2 * most)
    assert np.abs(run.violation("tendon")).max() < (1e-13 if isinstance(coupling, Glued) else 1e-4)


def wheels(ratio, carried=True):
    """Two wheels on a carrier in the plane that stands on the ground, or on the ground itself; a torque on the first."""
    model = Assembly(gravity=(0.0, 0.0))
    places = {"one": (0.2, 0.1), "two": (0.7, -0.2)}
    on = dict.fromkeys(places, "ground")
    if carried:
        model.add("arm", RigidBody(mass=1.0, inertia=0.3, centre=(0.3, 0.0), ports={"hub": (0.0, 0.0), **places}))
        model.join("middle", Revolute(), "ground", "arm.hub")
        on = {name: f"arm.{name}" for name in places}
    for (name, place), inertia in zip(places.items(), (0.02, 0.05), strict=True):
        ports = {"hub": place, "rim": (place[0] + 0.1, place[1])}
        model.add(name, RigidBody(mass=0.5, inertia=inertia, centre=place, ports=ports))
        model.join(f"{name}-pin", Revolute(), on[name], f"{name}.hub")
    model.join("belt", Coupler(ratio), "one.hub", "two.hub")
    model.apply("motor", Moment(0.4), "one.hub")
    return model


@pytest.mark.parametrize("carried", [False, True])
def test_any_number_of_turns_is_followed(carried):
    """On the ground (J_1 + r^2 J_2) alpha = M; an arm between takes what torques of both wheels leave, and all is one motion."""
    with Simulation(wheels(1.5, carried), 1e-3, Glued(4)) as simulation:
        run = simulation.run(3.0)
    one, two = run.angle("one-pin"), run.angle("two-pin")
    assert one[-1] > 2 * 2 * np.pi
    np.testing.assert_allclose(two, 1.5 * one, atol=1e-10)
    if not carried:
        np.testing.assert_allclose(one[-1], 0.5 * 0.4 / (0.02 + 1.5**2 * 0.05) * 9.0, rtol=1e-8)


@pytest.mark.parametrize("coupling", [Glued(), *later([Penalty(), Relaxed()])], ids=named)
def test_single_steps_stacks_of_their_own_and_workers_have_the_same_bits(coupling):
    def played(step=False, **settings):
        with Simulation(wheels(-2.0), 1e-3, coupling, **settings) as simulation:
            while step and simulation.tick < 30:
                simulation.step()
            simulation.run(0.03)
            simulation.cut("belt")
            return simulation.run(0.05).digest

    assert len({played(), played(step=True), played(grouped=False), played(workers=2, launcher="here")}) == 1


def test_what_cannot_be_coupled_is_refused_by_name():
    with pytest.raises(ModelError, match=r"joint 'tendon'.*lie on one line"):
        model = gripper(AXES["skew"], False)
        model.cut("tendon")
        line = tuple(PLACES[2] - PLACES[1])
        model.join("tendon", Coupler(1.0, axis=line, second_axis=line), "finger.root", "thumb.root")
        Simulation(model, 1e-3)
    for ratio, said in ((0.0, "couples nothing"), (float("nan"), "not a finite number|finite number")):
        with pytest.raises(ModelError, match=rf"joint 'belt'.*({said})"):
            Simulation(wheels(ratio), 1e-3)
