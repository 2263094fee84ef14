"""Laws that every joint keeps, whatever its type and the bodies at its sides."""

import dataclasses
import functools

import numpy as np
import pytest

import zoo
from campaign import as_far_as, first_of, later
from components import (
    Cylindrical,
    Fixed,
    KnifeEdge,
    Planar,
    Prismatic,
    Revolute,
    Rod,
    Spherical,
)
from coordinator import Penalty, Shannon, Simulation, Stable
from coordinator.couplings.centralized.equations import Equations
from coordinator.couplings.centralized.tangents import curvature
from modular import Assembly, Component, ModelError
from modular.port import PortName

SHANNON = Shannon(delta=0.15, damping=0.1)
every_joint = pytest.mark.parametrize(("joint_type", "dimension"), zoo.JOINTS, ids=zoo.label)
PAIRS = [(first, second) for first in zoo.MAKERS for second in zoo.MAKERS]
ALL = [(cls, d, *pair) for cls, d in zoo.JOINTS for pair in PAIRS]
# A law of equations holds for a form of equations, whatever bodies stand at its sides: one case for every form there is,
# between full bodies, or beside a rod where a joint has other equations there. Beside every body, on either side: a point, an axis,
# a slider.
FORMS = [(cls, d, "full", "full") for cls, d in zoo.JOINTS]
FORMS += [(cls, 3, "full", "slender") for cls in (Cylindrical, Fixed, Planar, Prismatic, Revolute)]
REPRESENTATIVE = [(Spherical, 3), (Revolute, 3), (Prismatic, 2)]
BESIDE = [("slender", "full"), ("masses", "slender"), ("full", "masses")]
SHORT = FORMS + [case for case in ALL if case[:2] in REPRESENTATIVE and case[2:] in BESIDE and case not in FORMS]
every_form = pytest.mark.parametrize(
    ("joint_type", "dimension", "first", "second"),
    [*SHORT, *later([case for case in ALL if case not in SHORT], as_far_as(35, 9))],
    ids=zoo.label,
)
every_rule = pytest.mark.parametrize(
    ("joint_type", "dimension", "rule"),
    [
        *((*joint, Stable()) for joint in zoo.JOINTS),
        *((*joint, SHANNON) for joint in REPRESENTATIVE),
        *later([(*joint, SHANNON) for joint in zoo.JOINTS if joint not in REPRESENTATIVE]),
    ],
    ids=zoo.label,
)


@functools.cache
def side_of(maker, dimension, places, end):
    """What a body shows at one of its ends."""
    return zoo.stack_of(zoo.MAKERS[maker](dimension, *places)).side("body", PortName("body", end))


def form_of(joint, dimension, first, second):
    """The name of its equations between these bodies, or None where it refuses them."""
    a, b, c = zoo.PLACES[dimension]
    ends = ("start", "end") if joint.apart else ("end", "start")
    sides = [side_of(first, dimension, (a, b), ends[0]), side_of(second, dimension, (b, c), ends[1])]
    try:
        return joint.attach("joint", *sides, *(side.position for side in sides)).form.name, dimension
    except ModelError:
        return None


def test_every_form_there_is_has_a_case():
    forms = {form_of(cls.example(dimension), dimension, *pair) for cls, dimension, *pair in ALL}
    assert forms - {None} == {form_of(cls.example(dimension), dimension, *pair) for cls, dimension, *pair in FORMS}


def simulate(joint, dimension, first, second, **settings):
    """A simulation of a pair, or None where the joint refuses these bodies with a sentence that names it."""
    try:
        return Simulation(zoo.pair(joint, dimension, first, second), 1e-3, **settings)
    except ModelError as error:
        assert "joint 'joint'" in str(error) and ("radius" in str(error) or "Spherical" in str(error))
        return None


@every_form
def test_jacobians_are_the_derivatives_of_the_errors(joint_type, dimension, first, second):
    simulation = simulate(joint_type.example(dimension), dimension, first, second)
    if simulation is None:
        assert (first, second) != ("full", "full")
        return
    system = simulation.system
    home = system.joint_home["joint"]
    form, stack = home.stack.form, home.stack
    x = system.elements.position
    rng = np.random.default_rng(5)
    x += 0.2 * rng.normal(size=x.shape)  # anywhere, far from closed
    stack.linearise(system.elements)
    sides = (
        (home.starts[0], form.first, stack.on_first[0].copy()),
        (home.starts[1], form.second, stack.on_second[0].copy()),
    )
    for start, count, jacobian in sides:
        for k in range(count):
            for c in range(dimension):
                here, step = x[start + k, c], 1e-6
                errors = []
                for value in (here + step, here - step):
                    x[start + k, c] = value
                    stack.linearise(system.elements)
                    errors.append(stack.error[0].copy())
                x[start + k, c] = here
                difference = (errors[0] - errors[1]) / (2 * step)
                if form.holonomic:
                    assert np.allclose(jacobian[:, k, c], difference, atol=1e-8)
                else:  # its rows lock velocities, and no error of position; a blade's those of its points alone
                    assert not difference.any()
                    assert k == 0 or joint_type is not KnifeEdge or not jacobian[:, k].any()


@every_form
def test_second_derivatives_that_are_taken_for_the_same_everywhere_are(joint_type, dimension, first, second):
    """Tangents look once; found anew at another place they are the same, or were not kept."""
    simulation = simulate(joint_type.example(dimension), dimension, first, second)
    if simulation is None:
        return
    equations, rng = Equations(simulation.system), np.random.default_rng(6)
    (q, v), loads = equations.read(), rng.normal(size=equations.rows)
    curvature(equations, q, v, loads)
    q = q + 0.3 * rng.normal(size=q.shape)
    equations.go(q, v)
    kept, again = curvature(equations, q, v, loads), curvature(Equations(simulation.system), q, v, loads)
    np.testing.assert_allclose(kept, again, rtol=1e-4, atol=1e-4 * np.abs(again).max(initial=1.0))


@every_form
def test_a_joint_is_closed_when_made_and_locks_as_many_directions_as_it_says(joint_type, dimension, first, second):
    simulation = simulate(joint_type.example(dimension), dimension, first, second)
    if simulation is None:
        return
    system = simulation.system
    home = system.joint_home["joint"]
    system.show()
    home.stack.measure(system.elements)
    assert np.abs(home.stack.error[0]).max() < 1e-14
    system.respond()
    home.stack.compute_compliance(system.elements)
    assert np.linalg.matrix_rank(home.stack.compliance[0], tol=1e-9) == home.stack.form.locks


@every_joint
def test_the_ground_may_stand_on_either_side(joint_type, dimension):
    a, b, _ = zoo.PLACES[dimension]
    for sides in (("ground", "body.start"), ("body.start", "ground")):
        assembly = Assembly(gravity=(0.3, -9.81, 1.1)[:dimension])
        assembly.add("body", zoo.full(dimension, a, b))
        joint = joint_type.example(dimension)
        place = tuple(np.array(a) + 0.3) if joint.apart else None
        assembly.join("joint", joint, *sides, at=place)
        with Simulation(assembly, 1e-3) as simulation:
            run = simulation.run(0.1)
            assert np.abs(run.violation("joint")).max() < 1e-3
            assert np.isfinite(run.energy).all()


@every_form
def test_free_pairs_conserve_momentum_and_angular_momentum(joint_type, dimension, first, second):
    """Forces on elements are internal: nothing pushes the pair as a whole, nothing turns it."""
    motion = {
        "left": {"velocity": (0.3, -0.2, 0.4)[:dimension]},
        "right": {"velocity": (0.3, -0.2, 0.4)[:dimension]},
    }
    assembly = zoo.pair(joint_type.example(dimension), dimension, first, second, **motion)
    try:
        simulation = Simulation(assembly, 1e-3)
    except ModelError:
        return
    stack = simulation.system.body_home["right"]
    simulation.run(0.01)
    spin = 0.8 if dimension == 2 else np.array([0.5, -0.7, 0.9])
    arm = stack.q[stack.row["right"]][:2] - simulation.port_motion("right.start")[0]
    turn = spin * np.stack([-arm[:, 1], arm[:, 0]], -1) if dimension == 2 else np.cross(spin, arm)
    stack.v[stack.row["right"]][:2] += turn  # set it spinning about the joint, whether the joint likes it or not
    extra = stack.q[stack.row["right"]][2:]
    stack.v[stack.row["right"]][2:] += (
        spin * np.stack([-extra[:, 1], extra[:, 0]], -1) if dimension == 2 else np.cross(spin, extra)
    )
    simulation.run(0.1)
    run = simulation.recorded
    momentum = sum(run.bodies[name].momentum(*run.state(name)[:2]) for name in ("left", "right"))
    angular = sum(angular_momentum(run.bodies[name], *run.state(name)[:2]) for name in ("left", "right"))
    assert np.abs(np.diff(momentum[11:], axis=0)).max() < 1e-12
    # elements are not rigid to the last digit, so torques balance to the square of the gaps
    assert np.abs(angular[12:] - angular[12]).max() < 2e-4 * max(np.abs(angular[12]).max(), 1.0)


def angular_momentum(body, q, v):
    """About the origin: sum of M_ij q_i x v_j."""
    cross = np.cross if q.shape[-1] == 3 else (lambda a, b: a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
    return sum(body.mass_matrix[i, j] * cross(q[:, i], v[:, j]) for i in range(q.shape[1]) for j in range(q.shape[1]))


@every_joint
def test_data_describe_a_joint_completely(joint_type, dimension):
    joint = joint_type.example(dimension)
    assert Component.from_data(joint.to_data()) == joint


@every_rule
def test_both_rules_hold_a_swinging_pair_together(joint_type, dimension, rule):
    assembly = zoo.pair(joint_type.example(dimension), dimension, gravity=(0.3, -9.81, 1.1)[:dimension])
    assembly.join("pin", Spherical(), "ground", "left.start")
    gaps = []
    for dt in (2e-3, 1e-3):
        with Simulation(assembly, dt, Penalty(rule=rule)) as simulation:
            run = simulation.run(0.25)
        holonomic = simulation.system.joint_home["joint"].stack.form.holonomic
        gaps.append(np.abs(run.violation("joint") if holonomic else run.violation_rate("joint")).max())
    assert gaps[1] < (0.35 if holonomic else 0.6) * gaps[0]  # compliance falls with dt^2, a slip with dt


@every_joint
@pytest.mark.parametrize("seed", first_of(1, range(3)))
def test_the_motion_it_leaves_free_stays_free_and_the_motion_it_locks_stays_locked(joint_type, dimension, seed):
    """A pair in a random pose with a random motion that the joint allows: no drag, no opening, to second order."""
    rng = np.random.default_rng(seed)
    turn, shift = zoo.rotation(dimension, seed + 7), rng.normal(size=dimension)
    joint = joint_type.example(dimension)
    assembly = Assembly(gravity=(0.0,) * dimension)
    for name, start, end in zip(("left", "right"), zoo.PLACES[dimension], zoo.PLACES[dimension][1:], strict=False):
        ends = {"start": tuple(turn @ start + shift), "end": tuple(turn @ end + shift)}
        moments = rng.uniform(0.05, 0.1, dimension) if dimension == 3 else 0.1
        spin = rng.normal(size=3) if dimension == 3 else float(rng.normal())
        assembly.add(
            name,
            zoo.RigidBody(
                mass=float(rng.uniform(0.5, 2)),
                inertia=tuple(moments) if dimension == 3 else moments,
                centre=tuple(0.5 * (turn @ np.add(start, end)) + shift + 0.03),
                ports=ends,
                velocity=tuple(rng.normal(size=dimension)),
                angular_velocity=tuple(spin) if dimension == 3 else spin,
            ),
        )
    ports = ("left.start", "right.end") if joint.apart else ("left.end", "right.start")
    assembly.join("joint", joint, *ports)
    drags, gaps = [], []
    for dt in (5e-4, 2.5e-4):
        with Simulation(assembly, dt, project_velocities=True) as simulation:
            run = simulation.run(0.15)
        form = simulation.system.joint_home["joint"].stack.form
        drags.append(np.abs(run.energy - run.energy[0]).max() / run.energy[0])
        gaps.append(np.abs(run.violation("joint") if form.holonomic else run.violation_rate("joint")).max())
    # relative to free motion nothing is lost but what the springs take to load, C dt^2 (a knife edge: C dt)
    assert drags[1] < 1e-3 and drags[1] < (0.45 if form.holonomic else 0.7) * drags[0] + 1e-7
    assert gaps[1] < (0.45 if form.holonomic else 0.7) * gaps[0] + 1e-12


@every_rule
@pytest.mark.parametrize("k", range(3))
def test_axes_along_the_world_are_as_good_as_any(joint_type, dimension, rule, k):
    """Cross products then have a row that sees nothing; no rule may divide by it."""
    axis, cross = (tuple(np.eye(dimension)[n % dimension]) for n in (k, k + 1))
    given = {"axis": axis, "normal": axis, "cross": cross, "line": cross, "pin": cross}
    joint = joint_type.example(dimension)
    lines = [name for name in given if getattr(joint, name, None) is not None]
    if k >= (dimension if lines else 1):  # there is no such axis, or it would be the same joint again
        return
    joint = dataclasses.replace(joint, **{name: given[name] for name in lines})
    with Simulation(
        zoo.pair(joint, dimension, gravity=(0.3, -9.81, 1.1)[:dimension]), 1e-3, Penalty(rule=rule)
    ) as simulation:
        assert np.isfinite(list(simulation.margins.values())).all()
        assert np.isfinite(simulation.run(0.03).energy).all()


@pytest.mark.parametrize(
    "joint_type", [cls for cls in dict(zoo.JOINTS) if cls.dimensions == (3,)], ids=lambda cls: cls.__name__
)
def test_a_joint_that_means_nothing_in_the_plane_names_another_for_it(joint_type):
    """And that one can be taken there."""
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0, 0), (1.0, 0), 1.0))
    with pytest.raises(ModelError, match=r"not in 2; take \w+") as refused:
        model.join("joint", joint_type.example(3), "ground", "rod.start")
    named = [cls for cls in dict(zoo.JOINTS) if f"{cls.__name__}(" in str(refused.value).partition("take")[2]]
    assert all(2 in cls.dimensions for cls in named)
    assert named or joint_type is Planar
