"""Bodies that bend a little, by their modes: reduced as they should be, and moved as mechanics says."""

import itertools
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.linalg

import references
from both_ways import goes_on_and_is_kept, on_every_path
from campaign import later, more, named, shortened, whole
from components import Beam, Fixed, Load, ModalBody, Revolute, Rod, Spherical, Table
from coordinator import Centralized, Glued, Penalty, Relaxed, Simulation
from modular import Assembly, CouplingError, ModelError
from solids import bar

BOTH = pytest.mark.parametrize("dimension", [2, 3])
IN_THE_PLANE_FIRST = pytest.mark.parametrize("dimension", [2, *later([3])])
STEEL = {"width": 0.02, "height": 0.01, "young": 210e9, "density": 7800.0}
MODES = {2: 3, 3: 6}  # all in the plane have 9 freedoms and all in space 18: loops are compiled once


def place(dimension, x, y=0.0, z=0.0):
    return (x, y, z)[:dimension]


def bent(beam, **more):
    return ModalBody.of_beam(beam, MODES[beam.dimension], **more)


# --- reduction -----------------------------------------------------------------------------------------------------------


@BOTH
def test_modes_come_down_to_those_of_the_finite_elements(dimension):
    """From above, as Rayleigh has it, and the nearer the more of them are taken."""
    cells, lengths = ((12, 2), (0.6, 0.05)) if dimension == 2 else ((10, 2, 2), (0.6, 0.05, 0.04))
    nodes, mass, stiffness = bar(cells, lengths)
    ends = {name: np.flatnonzero(nodes[:, 0] == x) for name, x in (("start", 0.0), ("end", 0.6))}
    rigid = 3 if dimension == 2 else 6
    squares = scipy.linalg.eigh(stiffness.toarray(), mass.toarray(), eigvals_only=True)[rigid : rigid + 3]
    before = np.inf
    for modes in (0, 4, 16):
        body = ModalBody.reduced(nodes, mass, stiffness, ends, modes)
        over = np.asarray(body.frequencies[:3]) / np.sqrt(squares) - 1.0
        assert np.all(over > -1e-9) and over.max() < before
        before = over.max()
    assert before < 1e-2


@BOTH
def test_what_is_reduced_has_the_mass_and_the_inertia_of_the_whole(dimension):
    cells, lengths = ((8, 2), (0.6, 0.05)) if dimension == 2 else ((6, 2, 2), (0.6, 0.05, 0.04))
    nodes, mass, stiffness = bar(cells, lengths)
    body = ModalBody.reduced(nodes + 1.0, mass, stiffness, {"end": np.flatnonzero(nodes[:, 0] == 0.6)}, 5)
    expected = 2700.0 * np.prod(lengths)
    assert body.mass == pytest.approx(expected, rel=1e-12)
    assert np.asarray(body.centre) == pytest.approx(1.0 + 0.5 * np.asarray(lengths), rel=1e-12)
    second = expected / 12.0 * np.asarray(lengths) ** 2  # of linear elements with their own mass matrix: exact
    found = body.inertia(body.start)[0]
    wanted = [[second.sum()]] if dimension == 2 else np.diag(second.sum() - second)
    assert np.allclose(found, wanted, rtol=1e-12, atol=1e-12 * second.max())
    assert body.check("bar") == []
    first = np.asarray(body.moments)[0, 1:]
    if dimension == 3:
        first = first - first.transpose(0, 2, 1)
        assert np.abs(first).max() < 1e-9 * np.abs(np.asarray(body.moments)[0, 1:]).max()  # none turns the whole


@BOTH
def test_a_load_at_a_port_bends_it_at_rest_as_the_finite_elements_do_without_any_mode(dimension):
    """Craig and Bampton keep what is static: compliance between ports, whatever is left out."""
    beam = Beam.of_rectangle(place(dimension, 0.0), place(dimension, 1.0), **STEEL)
    sag = 1.0 / (3.0 * beam.stiffness[-1]) + 1.0 / beam.stiffness[1]
    for modes in (0, 5):
        body = ModalBody.of_beam(beam, modes)
        shapes = {port: np.asarray(body.shapes[port]) for port in ("start", "end")}
        # a load across the end, and at the start the force and the moment that bear it; and how far the end goes from there
        away = shapes["end"][:, 1] - shapes["start"][:, 1] - 1.0 * shapes["start"][:, -1]
        assert away**2 @ (1.0 / np.asarray(body.frequencies) ** 2) == pytest.approx(sag, rel=1e-7)


# --- vibration ---------------------------------------------------------------------------------------------------------


def cantilever(body, load=None):
    model = Assembly(gravity=(0.0,) * body.dimension)
    model.add("beam", body)
    model.join("wall", Fixed(), "ground", "beam.start")
    if load is not None:
        model.apply("load", load, "beam.end")
    return model


@IN_THE_PLANE_FIRST
def test_a_cantilever_sags_and_swings_as_bernoulli_says(dimension):
    """P l^3 / 3 E I on the average, at beta^2 sqrt(E I / m l^3): asked were half a percent and one."""
    beam = Beam.of_rectangle(place(dimension, 0.0), place(dimension, 1.0), **STEEL)
    with Simulation(cantilever(bent(beam), Load(place(dimension, 0.0, -10.0))), 1e-3, Glued()) as simulation:
        run = simulation.run(4.0)
    sag = -10.0 / (3.0 * beam.stiffness[-1]) - 10.0 / beam.stiffness[1]
    beside = run.position("beam.end")[:, 1] / sag - 1.0  # it swings about where it would rest
    down = np.flatnonzero((beside[:-1] < 0.0) & (beside[1:] >= 0.0))
    instants = run.time[down] - beside[down] * 1e-3 / (beside[down + 1] - beside[down])
    expected = 1.8751040687**2 * np.sqrt(beam.stiffness[-1] / beam.mass) / (2.0 * np.pi)
    assert (len(instants) - 1) / (instants[-1] - instants[0]) == pytest.approx(expected, rel=1e-2)
    assert abs(beside[down[0] : down[-1]].mean()) < 5e-3


def test_a_bar_that_spins_grows_as_its_own_weight_pulls():
    """rho w^2 l^3 / 24 E at each end, on the average of what swings about it."""
    beam = Beam.of_rectangle((0.0, 0.0), (1.0, 0.0), elements=16, **(STEEL | {"young": 2e9}))
    spin = 60.0
    model = Assembly(gravity=(0.0, 0.0))
    model.add("bar", bent(beam, angular_velocity=spin))
    with Simulation(model, 2e-5, Glued()) as simulation:
        run = simulation.run(0.2)
    grown = np.linalg.norm(run.position("bar.end") - run.position("bar.start"), axis=1) - 1.0
    rho_e = beam.mass / beam.stiffness[0]
    assert grown.mean() == pytest.approx(rho_e * spin**2 / 12.0, rel=2e-2)
    assert run.energy[-1] == pytest.approx(run.energy[0], rel=1e-9)


# --- order, and what is conserved ----------------------------------------------------------------------------------------


def swinging(dimension=2, beam=bent, stiff=1.0, **more):
    """A springy bar on a hinge with a rod at its end, let go."""
    stiffness = {"axial": 2e3 * stiff, "bending": 6.0 * stiff}
    data = Beam(place(dimension, 0.0), place(dimension, 0.8), mass=0.5, elements=8, **stiffness)
    model = Assembly(gravity=place(dimension, 0.0, -9.81))
    model.add("beam", beam(data, **more))
    model.add("rod", Rod(place(dimension, 0.8), place(dimension, 1.1, 0.1), 0.4, 1e-3 if dimension == 3 else 0.0))
    hinge = Revolute() if dimension == 2 else Revolute(axis=(0.0, 0.0, 1.0))
    model.join("wall", hinge, "ground", "beam.start")
    model.join("tip", hinge, "beam.end", "rod.start")
    return model


def end(coupling, dt, until=0.2, **more):
    with Simulation(swinging(**more), dt, coupling) as simulation:
        return simulation.run(until).position("rod.end")[-1]


@cache
def exact_end(dimension):
    return end(Glued(6), 2.5e-4, dimension=dimension)


@pytest.mark.short(1)
@pytest.mark.parametrize(
    ("coupling", "dt", "order", "dimension"),
    [(Glued(), 1e-3, 2, 2), (Glued(4), 1e-3, 4, 2), (Penalty(), 5e-4, 2, 2),
     *more([(Relaxed(), 1e-3, 2, 2), (Centralized(), 1e-3, 2, 2), (Glued(4), 1e-3, 4, 3)])],
)  # fmt: skip
def test_it_moves_between_joints_at_the_declared_order(coupling, dt, order, dimension):
    exact = exact_end(dimension)
    errors = [np.abs(end(coupling, step, dimension=dimension) - exact).max() for step in (dt, dt / 2)]
    assert errors[1] < 1e-3
    assert abs(references.orders(errors)[0] - order) < 0.5


def flying(dimension, scale=1.0):
    """A springy bar in free flight that spins about no axis of its own, bent by a load that ends."""
    beam = Beam(
        place(dimension, 0.0, 0.1), place(dimension, 0.8, 0.4), mass=0.5, axial=2e3, elements=4,
        bending=6.0 if dimension == 2 else (6.0, 9.0), velocity=place(dimension, 0.3, -0.2),
        angular_velocity=2.0 if dimension == 2 else (1.0, 2.0, 0.5),
    )  # fmt: skip
    model = Assembly(gravity=(0.0,) * dimension)
    model.add("beam", bent(beam))
    pull = Table((0.0, 0.04, 0.05), [place(dimension, f, 2.0 * f) for f in (scale, scale, 0.0)])
    model.apply("pull", Load(pull), "beam.end")
    return model


def angular_momentum(body, q, v):
    d = body.dimension
    j, n = body.inertia(q)
    own = np.einsum("...ij,...j->...i", j, body.spin(q, v))
    own = own + np.einsum("...ij,...j->...i", n, v[..., len(body.start) - body.modes :])
    if d == 2:
        return body.mass * (q[..., 0] * v[..., 1] - q[..., 1] * v[..., 0])[:, None] + own
    return body.mass * np.cross(q[..., :3], v[..., :3]) + np.einsum("...cj,...j->...c", body.rotation(q), own)


@pytest.mark.parametrize(("dimension", "until"), [(2, 2.5), *later([(3, 2.5)]), *whole([(2, 50.0), (3, 50.0)])])
def test_in_free_flight_it_keeps_its_momenta_and_its_energy_does_not_drift(dimension, until):
    """Five thousand steps and 1e5, composed to order 4: momenta to rounding, energy within 1e-9 of itself for ever."""
    with Simulation(flying(dimension), 5e-4, Glued(4), record_every=20) as simulation:
        simulation.run(0.06)
        run = simulation.run(until)
    late = run.time > 0.06
    q, v, _ = (x[late] for x in run.state("beam"))
    body = run.bodies["beam"]
    assert np.ptp(q[:, -body.modes :], axis=0).max() > 1e-3  # it does swing
    for kept in (body.momentum(q, v), angular_momentum(body, q, v)):
        assert np.abs(kept - kept[0]).max() < 1e-10 * np.abs(kept).max()
    energy = run.energy[late]
    first, last = energy[: len(energy) // 10].mean(), energy[-len(energy) // 10 :].mean()
    assert abs(last - first) < 1e-9 * first
    assert np.ptp(energy) < 1e-7 * first


def test_damping_takes_and_never_gives():
    with Simulation(swinging(damping=0.1), 1e-3, Glued()) as simulation:
        energy = simulation.run(1.0).energy
    assert energy[-1] < energy[0] - 1e-3
    assert np.diff(energy).max() < 1e-4 * np.ptp(energy)


# --- two roads -----------------------------------------------------------------------------------------------------------


@BOTH
def test_the_compiled_step_accelerates_as_the_equations_say(dimension):
    body = replace(ModalBody.example(dimension), damping=0.05)
    model = Assembly(gravity=(0.7, -9.81, 0.3)[:dimension])
    model.add("body", body)
    with Simulation(model, 1e-3) as simulation:
        simulation.run(0.05)
        stack = simulation.system.body_home["body"]
        stack.reevaluate(simulation.system.elements, ["body"])
        _, _, jacobian = stack.closure()
        left = stack.mass()[0] @ stack.a[0] - stack.drive()[0]
        rows = jacobian[0]
        free = left - rows.T @ np.linalg.lstsq(rows.T, left, rcond=None)[0] if len(rows) else left
        assert np.abs(free).max() < 1e-6 * np.abs(stack.drive()).max()  # the quaternion's length is 1 to 1e-8


@IN_THE_PLANE_FIRST
def test_what_bends_little_moves_as_the_beam_that_it_was(dimension):
    """The rest grows with the square of how far it bends: modes are straight lines, and slices of beams go along arcs."""
    apart = []
    for stiff in (1.0, 4.0):
        tracks = []
        for kind in (bent, lambda beam: beam):
            with Simulation(swinging(dimension, kind, stiff), 1e-3, Glued(4)) as simulation:
                tracks.append(simulation.run(0.2).position("rod.end"))
        apart.append(np.abs(tracks[0] - tracks[1]).max())
    assert apart[0] < 2e-4 and apart[1] < 0.1 * apart[0]


def test_in_a_plane_of_space_it_moves_as_in_the_plane():
    ends = [end(Glued(4), 1e-3, 0.3, dimension=dimension) for dimension in (2, 3)]
    assert np.abs(ends[0] - ends[1][:2]).max() < 1e-6


# --- every path ----------------------------------------------------------------------------------------------------------


def frame(dimension):
    """Two of them, one upon the other."""
    model = swinging(dimension)
    strut = Beam(place(dimension, 0.8), place(dimension, 0.8, -0.5), mass=0.2, axial=2e3, bending=6.0, elements=8)
    model.add("strut", bent(strut))
    model.join("strut", Fixed(), "beam.end", "strut.start")
    model.join("foot", Spherical(), "strut.end", "ground")
    return model


@pytest.mark.parametrize(
    ("dimension", "coupling"),
    shortened([(3, Glued(4))], itertools.product([2, 3], [Penalty(), Glued(4), Relaxed()])),
    ids=named,
)
def test_single_steps_stacks_of_their_own_and_workers_have_the_same_bits(coupling, dimension):
    digests = on_every_path(lambda: frame(dimension), 1e-4, coupling, 0.008, lambda simulation: simulation.cut("foot"))
    assert len(digests) == 1


@pytest.mark.campaign
@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_it_goes_on_from_a_checkpoint_and_is_kept_in_a_run_folder(coupling, tmp_path):
    goes_on_and_is_kept(lambda: frame(2), 1e-4, coupling, 0.02, tmp_path)


def test_something_can_be_joined_to_what_is_bent_by_now():
    """The joint finds the places and the axes as they are, and keeps them."""
    model = swinging(3)
    with Simulation(model, 1e-3, Glued()) as simulation:
        simulation.run(0.1)
        assert np.abs(simulation.body("beam").state()["q"][0][7:]).max() > 1e-4
        simulation.join("weld", Fixed(), "beam.end", "rod.start")
        run = simulation.run(0.3)
    assert np.nanmax(run.violation("weld")) < 1e-11


# --- refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"mass": -1.0}, "mass = -1.0 kg; give a positive number"),
        ({"frequencies": (9.0, 0.0)}, "a mode of frequency 0 is a rigid motion"),
        ({"frequencies": (9.0,)}, r"moments has the shape \(3, 3, 3, 3\); give \(2, 2, 3, 3\)"),
        ({"damping": -0.1}, "give a damping ratio"),
        ({"damping": (0.1, 0.2, 0.3)}, "or one for each mode"),
        ({"lines": (("left", "tip"),)}, "lines lead to 'tip', which is not a port"),
        ({"shapes": {"left": ((0.0,) * 6,) * 2}}, "shapes of port 'right'"),
    ],
)
def test_impossible_bodies_are_refused_by_name(data, sentence):
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    with pytest.raises(ModelError, match=sentence) as refused:
        model.add("wing", replace(ModalBody.example(3), **data))
    assert "wing" in str(refused.value)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"ports": {"end": 0}}, "can still move without resistance"),
        ({"ports": {}}, "give at least one"),
        ({"ports": {"end": [0, 999]}}, "holds 999; give numbers of nodes, 0 to 26"),
        ({"ports": {"one": [0, 1, 3], "two": [3, 4, 8]}}, "node 3 belongs to port 'one' and to port 'two'"),
        ({"ports": {"end": [0, 1, 2]}}, "lie on a line"),
        ({"held": True}, "resists rigid motions"),
        ({"loose": True}, "can still move without resistance"),
        ({"crooked": True}, "the stiffness matrix is not symmetric"),
        ({"modes": -1}, "modes = -1"),
        ({"nodes": 5}, "for 5 nodes give 15 rows"),
        ({"light": True}, "mass matrix is not positive"),
    ],
)
def test_finite_elements_that_cannot_be_reduced_are_refused_with_a_remedy(change, sentence):
    nodes, mass, stiffness = bar((2, 2, 2), (0.3, 0.2, 0.1))
    mass, stiffness = mass.toarray(), stiffness.toarray()
    far = 3 * 26
    if change.get("held"):
        stiffness[far, far] *= 2.0
    if change.get("loose"):
        stiffness[far:] = stiffness[:, far:] = 0.0
    if change.get("crooked"):
        stiffness[0, 5] *= 2.0
    if change.get("light"):
        mass[far:] = mass[:, far:] = 0.0
    ports = change.get("ports", {"end": [0, 1, 3]})
    with pytest.raises(ModelError, match=sentence):
        ModalBody.reduced(nodes[: change.get("nodes", 27)], mass, stiffness, ports, change.get("modes", 2))


def test_negative_steps_are_not_taken_by_what_is_damped():
    with (
        pytest.raises(CouplingError, match="beam cannot; take order=2"),
        Simulation(swinging(damping=0.1), 1e-3, Glued(4)),
    ):
        pass
