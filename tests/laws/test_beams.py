"""Flexible beams: closed forms of statics, vibration and large bending, order, conservation, the same bits on every path."""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import references
import scenarios
import zoo
from both_ways import goes_on_and_is_kept, on_every_path
from campaign import later, named, shortened, whole
from components import Beam, Fixed, Load, Moment, Revolute, RigidBody, Rod, Spherical, Table
from components.bodies.beam.shape import pulled_back, stored
from components.bodies.posed.quaternions import spinning
from coordinator import Centralized, Glued, Penalty, Relaxed, Simulation
from modular import Assembly, CouplingError, ModelError

BOTH = pytest.mark.parametrize("dimension", [2, *later([3])])
SHARED = {
    2: {},
    3: {"ports": {"middle": 0.5}},
}  # so that all in space answer in as many ways, and loops are compiled for that once
STEEL = {"width": 0.02, "height": 0.01, "young": 210e9, "density": 7800.0}


def place(dimension, *values):
    return tuple((*values, 0.0, 0.0)[:dimension])


def cantilever(beam, load):
    d = beam.dimension
    model = Assembly(gravity=(0.0,) * d)
    model.add("beam", beam)
    model.join("wall", Fixed(), "ground", "beam.start")
    if load is not None:
        model.apply("load", load, "beam.end")
    return model


def at_rest(model, dt, until):
    """Where a damped beam ends up."""
    with Simulation(model, dt, Glued()) as simulation:
        run = simulation.run(until)
    assert np.abs(run.velocity("beam.end")[-1]).max() < 1e-4  # nothing rings
    return run


# --- statics -----------------------------------------------------------------------------------------------------------


@BOTH
def test_the_tip_of_a_cantilever_sags_by_p_l3_over_3_e_i(dimension):
    """And by P l / G A of shear: pieces give way to loads at nodes as the beam does between them (pieces.py)."""
    beam = Beam.of_rectangle(place(dimension, 0.0), place(dimension, 1.0), damping=0.02, **STEEL, **SHARED[dimension])
    run = at_rest(cantilever(beam, Load(place(dimension, 0.0, -10.0))), 5e-3, 1.0)
    sag = -10.0 / (3.0 * beam.stiffness[-1]) - 10.0 / beam.stiffness[1]
    assert run.position("beam.end")[-1, 1] == pytest.approx(sag, rel=1e-4)  # it sags by 1e-2


@pytest.mark.campaign
def test_a_cantilever_twists_by_m_l_over_g_j():
    beam = Beam.of_circle(
        (0.0, 0.0, 0.0), (0.0, 0.0, 0.5), radius=0.01, young=70e9, density=2700.0, damping=0.01, **SHARED[3]
    )
    run = at_rest(cantilever(beam, Moment((0.0, 0.0, 3.0))), 1e-3, 0.5)
    x = run.axes("beam.end")[-1, 0]
    assert np.arctan2(x[1], x[0]) == pytest.approx(3.0 * 0.5 / beam.stiffness[3], rel=1e-4)


@BOTH
@pytest.mark.parametrize("alpha", [2.0, 10.0])
def test_a_cantilever_under_a_great_load_takes_the_shape_of_eulers_elastica(alpha, dimension):
    beam = Beam(
        place(dimension, 0.0),
        place(dimension, 1.0),
        mass=0.2,
        axial=1e5,
        bending=1.0,
        damping=0.1,
        elements=20,
        **SHARED[dimension],
    )
    run = at_rest(cantilever(beam, Load(place(dimension, 0.0, -alpha))), 2e-3, 4.0)
    # of a length of 1, of which 1e-4 is stretched
    assert np.abs(run.position("beam.end")[-1, :2] - references.elastica(alpha)).max() < 2e-4


def test_a_moment_of_2_pi_e_i_over_l_rolls_a_beam_up_to_a_circle():
    beam = Beam((0.0, 0.0), (1.0, 0.0), mass=0.2, axial=1e5, bending=1.0, damping=0.1, elements=20)
    run = at_rest(cantilever(beam, Moment(2.0 * np.pi)), 2e-3, 3.0)
    assert np.abs(run.position("beam.end")[-1]).max() < 1e-5
    half = run.state("beam")[0][-1, 10, :2]
    assert half == pytest.approx((0.0, 1.0 / np.pi), abs=1e-5)


# --- vibration ---------------------------------------------------------------------------------------------------------


def shape(beta, x):
    ratio = (np.cosh(beta) + np.cos(beta)) / (np.sinh(beta) + np.sin(beta))
    return np.cosh(beta * x) - np.cos(beta * x) - ratio * (np.sinh(beta * x) - np.sin(beta * x))


def frequency(time, signal):
    """From the first zero to the last, [Hz]."""
    change = np.flatnonzero(signal[:-1] * signal[1:] < 0)
    zeros = time[change] - signal[change] * (time[change + 1] - time[change]) / (signal[change + 1] - signal[change])
    return 0.5 * (len(zeros) - 1) / (zeros[-1] - zeros[0])


@BOTH
def test_the_first_three_frequencies_of_a_cantilever_are_those_of_bernoulli(dimension):
    """beta^2 sqrt(E I / m l^3), each seen in the part of the motion along its own shape; asked for is one percent."""
    beam = Beam.of_rectangle(place(dimension, 0.0), place(dimension, 1.0), **STEEL, **SHARED[dimension])
    blow = Table((0.0, 2e-3, 2.1e-3), (place(dimension, 0.0, 5.0), place(dimension, 0.0, 5.0), place(dimension, 0.0)))
    with Simulation(cantilever(beam, Load(blow)), 2e-4, Glued()) as simulation:
        run = simulation.run(1.0)
    nodes, weights = np.linspace(0.0, 1.0, beam.elements + 1), beam.node_masses
    moved = run.state("beam")[0][20:, :, 1]
    for beta in (1.8751040687, 4.6940911330, 7.8547574382):
        expected = beta**2 * np.sqrt(beam.stiffness[-1] / beam.mass) / (2.0 * np.pi)
        assert frequency(run.time[20:], moved @ (weights * shape(beta, nodes))) == pytest.approx(expected, rel=1e-2)


# --- order, and what is conserved ----------------------------------------------------------------------------------------


def swinging(dimension=2, **more):
    """A soft beam on a hinge with a rod at its end, let go."""
    data = {"mass": 0.5, "axial": 2e3, "bending": 0.6, "elements": 4} | SHARED[dimension] | more
    model = Assembly(gravity=place(dimension, 0.0, -9.81))
    model.add("beam", Beam(place(dimension, 0.0), place(dimension, 0.8), **data))
    model.add("rod", Rod(place(dimension, 0.8), place(dimension, 1.1, 0.1), 0.4, 1e-3 if dimension == 3 else 0.0))
    hinge = Revolute() if dimension == 2 else Revolute(axis=(0.0, 0.0, 1.0))
    model.join("wall", hinge, "ground", "beam.start")
    model.join("tip", hinge, "beam.end", "rod.start")
    return model


def end(coupling, dt, until=0.2, **more):
    with Simulation(swinging(**more), dt, coupling) as simulation:
        return simulation.run(until).position("rod.end")[-1]


@cache
def exact_end():
    return end(Glued(6), 2.5e-4)


@pytest.mark.parametrize(
    ("coupling", "dt", "order"),
    [
        (Glued(), 5e-4, 2),
        (Glued(4), 1e-3, 4),
        (Relaxed(), 5e-4, 2),
        *whole([(Centralized(), 2e-4, 2)]),
    ],
)
def test_a_beam_between_joints_moves_at_the_declared_order(coupling, dt, order):
    exact = exact_end()
    errors = [np.abs(end(coupling, step) - exact).max() for step in (dt, dt / 2)]
    assert errors[1] < 1e-2
    assert abs(references.orders(errors)[0] - order) < 0.4


def test_springs_of_penalty_joints_come_nearer_with_the_square_of_the_step():
    """What hangs on its end is as light as a slice of it, so that springs there are soft: an eighth of a step for a third."""
    exact = end(Glued(6), 2.5e-4)
    errors = [np.abs(end(Penalty(), dt) - exact).max() for dt in (1e-4, 2.5e-5)]
    assert errors[1] < 1e-3
    assert references.orders(errors)[0] > 1.7 * 2


def flying(dimension):
    """A soft beam in free flight that spins about no axis of its own, bent by a load that ends."""
    motion = {"angular_velocity": 2.0 if dimension == 2 else (1.0, 2.0, 0.5), "velocity": place(dimension, 0.3, -0.2)}
    model = Assembly(gravity=(0.0,) * dimension)
    data = {"mass": 0.5, "axial": 2e3, "bending": 0.6 if dimension == 2 else (0.6, 0.9), "elements": 4} | SHARED[
        dimension
    ]
    model.add("beam", Beam(place(dimension, 0.0, 0.1), place(dimension, 0.8, 0.4), **data, **motion))
    pull = Table((0.0, 0.04, 0.05), (place(dimension, 1.0, 2.0), place(dimension, 1.0, 2.0), place(dimension, 0.0)))
    model.apply("pull", Load(pull), "beam.end")
    return model


def angular_momentum(body, q, v):
    d, motion = body.dimension, body.motion(q, v)
    spin = body.masses[:, d:] * motion[..., d:]
    if d == 2:
        orbit = body.node_masses * (q[..., 0] * v[..., 1] - q[..., 1] * v[..., 0])
        return np.sum(orbit + spin[..., 0], axis=-1)[:, None]
    orbit = body.node_masses[:, None] * np.cross(q[..., :3], v[..., :3])
    return np.sum(orbit + np.einsum("...cj,...j->...c", body.rotation(q), spin), axis=-2)


@BOTH
def test_a_beam_in_free_flight_keeps_its_momenta_and_nearly_its_energy(dimension):
    """Between glued joints: momenta to rounding; energy comes and goes with the square of the step, and does not drift."""
    drift = []
    for dt in (2e-3, 1e-3):
        with Simulation(flying(dimension), dt, Glued()) as simulation:
            run = simulation.run(2.0)
        late = run.time > 0.06
        q, v, _ = (x[late] for x in run.state("beam"))
        body = run.bodies["beam"]
        for kept in (body.momentum(q, v), angular_momentum(body, q, v)):
            assert np.abs(kept - kept[0]).max() < 1e-11 * np.abs(kept).max()
        drift.append(np.ptp(run.energy[late]) / run.energy[-1])
    assert drift[1] < 2e-3 and drift[1] < 0.35 * drift[0]


def test_what_kelvin_and_voigt_take_is_never_given_back():
    with Simulation(swinging(damping=5e-3), 1e-3, Glued()) as simulation:
        energy = simulation.run(1.0).energy
    assert energy[-1] < energy[0] - 0.05
    assert np.diff(energy).max() < 1e-4 * np.ptp(energy)


# --- two roads -----------------------------------------------------------------------------------------------------------


@BOTH
def test_what_pulls_back_is_minus_the_slope_of_what_is_stored(dimension):
    body, q, _ = zoo.start(Beam.example(dimension))
    rng = np.random.default_rng(3)
    q = q + 0.05 * rng.normal(size=q.shape)
    if dimension == 3:
        q[:, 3:] /= np.linalg.norm(q[:, 3:], axis=1)[:, None]
    found = pulled_back(q, np.zeros(body.masses.shape), body.stiffness, body.spacing, 0.0)
    for node in range(len(q)):
        for way in range(found.shape[1]):
            energies = []
            for step in (1e-6, -1e-6):
                there = q.copy()
                if way < dimension or dimension == 2:
                    there[node, way] += step
                else:
                    there[node, 3:] += 0.5 * step * spinning(q[node, 3:])[way - 3]
                    there[node, 3:] /= np.linalg.norm(there[node, 3:])
                energies.append(stored(there, body.stiffness, body.spacing))
            assert found[node, way] == pytest.approx(
                -(energies[0] - energies[1]) / 2e-6, abs=1e-9 * np.abs(found).max()
            )


@BOTH
def test_the_compiled_step_accelerates_as_the_equations_say(dimension):
    """Accelerations of a bent and damped beam: kernels, and M a = Q with the matrices that solvers of the whole take."""
    body = replace(Beam.example(dimension), damping=0.01)
    model = Assembly(gravity=(0.7, -9.81, 0.3)[:dimension])
    model.add("body", body)
    with Simulation(model, 1e-3) as simulation:
        simulation.run(0.05)
        stack = simulation.system.body_home["body"]
        rng = np.random.default_rng(5)
        stack.q[0, :, :dimension] += 0.02 * rng.normal(size=(len(stack.q[0]), dimension))
        stack.q[0, :, dimension:] += 0.1 * rng.normal(size=stack.q[0, :, dimension:].shape)  # arcs, and moments on them
        if dimension == 3:
            stack.q[0, :, 3:] /= np.linalg.norm(stack.q[0, :, 3:], axis=1)[:, None]
        stack.reevaluate(simulation.system.elements, ["body"])
        _, _, jacobian = stack.closure()
        a = stack.a[0].ravel()
        left = stack.mass()[0] @ a - stack.drive()[0]
        rows = jacobian[0]
        free = left - rows.T @ np.linalg.lstsq(rows.T, left, rcond=None)[0] if len(rows) else left
        assert np.abs(free).max() < 1e-9 * np.abs(stack.drive()).max()


@pytest.mark.campaign
def test_in_a_plane_of_space_a_beam_moves_as_in_the_plane():
    ends = []
    for dimension in (2, 3):
        with Simulation(swinging(dimension), 1e-3, Glued(4)) as simulation:
            ends.append(simulation.run(0.3).position("beam.end")[-1, :2])
    # nothing is the same in both but the physics: angles here, quaternions and a rod with an axis there
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


@pytest.mark.parametrize("stiff", [1.0, 100.0])
def test_the_stiffer_a_beam_the_nearer_it_moves_to_a_rigid_body(stiff):
    data = {"mass": 0.5, "axial": 2e4 * stiff, "bending": 60.0 * stiff, "elements": 4}
    soft = swinging(**data)
    body = soft.bodies["beam"]
    arms = np.linalg.norm(body.start_of_nodes[:, :2] - (0.4, 0.0), axis=1)
    inertia = float(np.sum(body.node_masses * arms**2) + body.node_inertia.sum())
    rigid = swinging()
    again = Assembly(gravity=rigid.gravity)
    again.add("beam", RigidBody(mass=0.5, inertia=inertia, centre=(0.4, 0.0), ports={"start": (0, 0), "end": (0.8, 0)}))
    again.add("rod", rigid.bodies["rod"])
    again.join("wall", Revolute(), "ground", "beam.start")
    again.join("tip", Revolute(), "beam.end", "rod.start")
    tracks = []
    for model in (soft, again):
        with Simulation(model, 1e-3, Glued()) as simulation:
            tracks.append(simulation.run(0.5).position("rod.end"))
    assert np.abs(tracks[0] - tracks[1]).max() < 0.02 / stiff


# --- every path ----------------------------------------------------------------------------------------------------------


def frame(dimension):
    """A beam held in its middle too, which bodies with six motions could not answer for; another beam on it."""
    model = swinging(dimension, ports={"middle": 0.5})
    model.add(
        "strut", Beam(place(dimension, 0.4), place(dimension, 0.4, -0.5), mass=0.2, axial=2e3, bending=0.6, elements=2)
    )
    model.join("strut", Fixed(), "beam.middle", "strut.start")
    model.join("foot", Spherical(), "strut.end", "ground")
    return model


@pytest.mark.parametrize(
    ("dimension", "coupling"),
    shortened([(2, Glued(4))], itertools.product([2, 3], [Penalty(), Glued(4), Relaxed()])),
    ids=named,
)
def test_single_steps_stacks_of_their_own_and_workers_have_the_same_bits(coupling, dimension):
    digests = on_every_path(lambda: frame(dimension), 1e-4, coupling, 0.008, lambda simulation: simulation.cut("foot"))
    assert len(digests) == 1


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_it_goes_on_from_a_checkpoint_and_is_kept_in_a_run_folder(coupling, tmp_path):
    goes_on_and_is_kept(lambda: frame(2), 1e-4, coupling, 0.02, tmp_path)


@pytest.mark.campaign
def test_a_beam_that_comes_while_things_move_is_answered_for():
    """Tables are made for bodies with fewer motions until then."""
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    model.add("rod", Rod((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 0.4))
    model.join("pivot", Spherical(), "ground", "rod.start")
    with Simulation(model, 1e-3, Glued()) as simulation:
        simulation.run(0.02)
        assert simulation.system.elements.motions == 6
        data = {"mass": 0.4, "axial": 2e3, "bending": 0.6, "elements": 2, "ports": {"middle": 0.5}}
        simulation.add("more", Beam((2.0, 0.0, 0.0), (3.0, 0.0, 0.0), **data))
        for port in ("start", "middle", "end"):
            simulation.join(f"on-{port}", Spherical(), f"more.{port}", "ground")
        run = simulation.run(0.1)
        assert simulation.system.elements.motions == 18
    for joint in ("pivot", "on-start", "on-middle", "on-end"):
        assert np.nanmax(run.violation(joint)) < 1e-12


# --- refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"bending": -1.0}, "bending = -1.0; give EI"),
        ({"axial": 0.0}, "axial = 0.0; give a positive number"),
        ({"elements": 0}, "elements = 0; give a whole number"),
        ({"damping": -1e-3}, "cannot be negative"),
        ({"ports": {"here": 0.4}}, "between the nodes at 0.333333 and 0.666667"),
        ({"ports": {"end": 0.5}}, "is one of its ends"),
        ({"across": (0.8, -0.9, 0.6)}, "do not point along the beam"),
        ({"end": (0.1, 0.2, -0.1)}, "needs a length"),
    ],
)
def test_impossible_beams_are_refused_by_name(data, sentence):
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    with pytest.raises(ModelError, match=sentence) as refused:
        model.add("wing", replace(Beam.example(3), **data))
    assert "wing" in str(refused.value)


def test_negative_steps_are_not_taken_by_what_is_damped():
    with (
        pytest.raises(CouplingError, match="beam cannot; take order=2"),
        Simulation(swinging(damping=1e-3), 1e-3, Glued(4)),
    ):
        pass


# --- a mechanism ---------------------------------------------------------------------------------------------------------


@pytest.mark.campaign
def test_a_thick_rod_of_a_slider_crank_moves_as_a_rigid_one_and_a_thin_one_bends():
    """How far its middle leaves the line of its ends: a beam of bending EI, loaded by its own inertia, bends with 1 / d^2."""
    most = {}
    for thick in (6e-3, 12e-3, 24e-3):
        with Simulation(scenarios.load("flexible-slider-crank", speed=40.0, thick=thick), 1e-4, Glued()) as simulation:
            run = simulation.run(0.1)
        start, end, middle = (run.position(f"rod.{port}") for port in ("start", "end", "middle"))
        along = (end - start) / np.linalg.norm(end - start, axis=1)[:, None]
        off = middle - start
        most[thick] = np.abs(off[:, 0] * along[:, 1] - off[:, 1] * along[:, 0]).max()
        angle = np.arctan2(*run.position("crank.end").T[::-1])
        slider = 0.15 * np.cos(angle) + np.sqrt(0.3**2 - (0.15 * np.sin(angle)) ** 2)
        assert np.abs(run.position("rod.end")[:, 0] - slider).max() < (2e-4 if thick < 0.01 else 2e-5)
    assert 2.0 < most[6e-3] / most[12e-3] < 8.0 and 2.0 < most[12e-3] / most[24e-3] < 8.0
