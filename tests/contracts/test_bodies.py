"""Laws that every body keeps, whatever its type."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import zoo
from components import NewtonEulerBody, Revolute, RigidBody, Spherical
from components.bodies.natural.description import NaturalBody
from coordinator import Glued, Simulation
from modular import Assembly, Component, Newmark
from modular.elements import Elements
from modular.port import PortName

every_body = pytest.mark.parametrize(("body_type", "dimension"), zoo.BODIES, ids=zoo.label)
every_moved_body = pytest.mark.parametrize(("body_type", "dimension"), zoo.MOVED, ids=zoo.label)
every_led_body = pytest.mark.parametrize(("body_type", "dimension"), zoo.LED, ids=zoo.label)


def newton_euler(body, q, v):
    """Kinetic energy from mass centre and angular velocity, without the mass matrix."""
    spans, rates = body.spans, np.concatenate([v[1:2] - v[0:1], v[2:]])
    m = body.mass_properties
    centre = m.mass * np.sum(body.mass_centre(v) ** 2) / 2
    # velocity of a point of the body is linear in its place: v = W r; T = 1/2 tr(W J W^T)
    w = rates.T @ np.linalg.pinv(spans.T)
    return centre + 0.5 * np.trace(w @ m.second_moment @ w.T)


@every_body
def test_kinetic_energy_is_that_of_newton_and_euler(body_type, dimension):
    body, q, v = zoo.start(body_type.example(dimension))
    if isinstance(body, NaturalBody):
        assert body.kinetic_energy(q, v) == pytest.approx(newton_euler(body, q, v), rel=1e-12)
    if isinstance(body, RigidBody | NewtonEulerBody):
        w, velocity = np.atleast_1d(body.angular_velocity), np.array(body.velocity)
        expected = 0.5 * body.mass * velocity @ velocity + 0.5 * w @ np.atleast_2d(body.inertia) @ w
        assert body.kinetic_energy(q, v) == pytest.approx(expected, rel=1e-12)


@every_body
def test_a_body_starts_with_its_internal_constraints_closed(body_type, dimension):
    body, q, v = zoo.start(body_type.example(dimension))
    assert np.abs(body.internal_violation(q)).max(initial=0) < 1e-14
    assert np.abs(body.internal_violation_rate(q, v)).max(initial=0) < 1e-14


@every_body
def test_data_describe_a_body_completely(body_type, dimension):
    body = body_type.example(dimension)
    again = Component.from_data(body.to_data())
    assert type(again) is body_type
    assert again.to_data() == body.to_data()
    for mine, its in zip(zoo.start(again)[1:], zoo.start(body)[1:], strict=True):
        assert np.array_equal(mine, its)
    one, other = zoo.stack_of(again), zoo.stack_of(body)
    assert np.array_equal(one.mass(), other.mass())


@every_moved_body
def test_a_body_that_is_turned_and_moved_as_a_whole_shows_its_ports_so_and_keeps_its_energy(body_type, dimension):
    body, q, v = zoo.start(body_type.example(dimension))
    turn = 0.9 if dimension == 2 else np.array([0.4, -0.8, 1.1])
    if dimension == 2:
        rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    else:
        rotation = Rotation.from_rotvec(turn).as_matrix()
    offset = np.array([0.3, -0.7, 0.2])[:dimension]
    there, pace = body.turned(q, v, rotation)
    there = body.moved(there, offset)
    for port in body.port_names:
        was, now = body.port_motion(port, q, v, 0.0 * v), body.port_motion(port, there, pace, 0.0 * v)
        assert np.abs(now[0] - rotation @ was[0] - offset).max() < 1e-14
        assert np.abs(now[1] - rotation @ was[1]).max() < 1e-14
        if body.freedoms == 3 * (dimension - 1):  # one that does not turn about its line carries no axes
            assert np.abs(body.port_axes(port, there) - body.port_axes(port, q) @ rotation.T).max() < 1e-14
    assert body.kinetic_energy(there, pace) == pytest.approx(body.kinetic_energy(q, v), rel=1e-13)
    assert np.abs(body.internal_violation(there)).max(initial=0.0) < 1e-14


def alone(body, **settings):
    assembly = Assembly(gravity=(0.7, -9.81, 0.3)[: body.dimension])
    assembly.add("body", body)
    return Simulation(assembly, **settings)


@every_moved_body
def test_free_flight_conserves_momentum_and_falls_with_g(body_type, dimension):
    body = body_type.example(dimension)
    with alone(body, dt=1e-3) as simulation:
        run = simulation.run(0.5)
    _, q, v = zoo.start(body)
    start, v = body.mass_centre(q), body.momentum(q, v) / body.total_mass
    t = run.time[:, None]
    parabola = start + v * t + 0.5 * np.array((0.7, -9.81, 0.3)[:dimension]) * t**2
    assert np.abs(run.mass_centre("body") - parabola).max() < 1e-12


@every_moved_body
def test_a_free_body_turns_with_second_order_energy_and_closed_constraints(body_type, dimension):
    drift, violation = [], []
    for dt in (4e-3, 2e-3, 1e-3):
        with alone(body_type.example(dimension), dt=dt) as simulation:
            run = simulation.run(1.0)
        drift.append(np.ptp(run.energy))
        violation.append(np.abs(run.internal_violation("body")).max(initial=0.0))
    assert max(violation) < 1e-4 and (violation[-1] < 0.3 * violation[-2] or max(violation) == 0.0)
    assert drift[-1] < 0.3 * drift[-2] < 0.1 * drift[-3] * 4 or max(drift) < 1e-10  # nothing else turns than an angle


@every_body
def test_compliance_is_that_of_the_constrained_mass_matrix(body_type, dimension):
    """Two roads to C M_c^-1 C^T: modes of a rigid body, and M^-1 - M^-1 H^T S^-1 H M^-1."""
    body = body_type.example(dimension)
    stack = zoo.stack_of(body)
    elements = Elements(dimension, motions=body.motions)
    ports = [stack.side("body", PortName("body", port)) for port in body.port_names]
    marks = [side.point(side.position) for side in ports]
    marks += [ports[0].direction(u) for u in ports[0].directions]
    first = elements.acquire(len(marks))
    for k, mark in enumerate(marks):
        stack.attach("body", first + k, mark)
    stack.respond(elements)
    b = elements.response[first : first + len(marks), :, : body.motions].reshape(-1, body.motions)

    q = stack.state()["q"][0]
    m_inverse = np.linalg.inv(stack.mass()[0])
    h = numerical_jacobian(lambda x: body.internal_violation(x.reshape(q.shape)), q.ravel()).reshape(-1, q.size)
    served, _, slopes = stack.reach()
    c = slopes[np.argsort(served)].reshape(len(marks) * dimension, q.size)
    s = h @ m_inverse @ h.T
    compliance = c @ (m_inverse - m_inverse @ h.T @ np.linalg.solve(s, h @ m_inverse)) @ c.T
    assert np.allclose(b @ b.T, compliance, atol=1e-6 * np.abs(compliance).max())


def numerical_jacobian(function, x, step=1e-6):
    columns = [(function(x + step * unit) - function(x - step * unit)) / (2 * step) for unit in np.eye(len(x))]
    return np.array(columns).T


@every_moved_body
def test_object_stack_and_stack_of_one_give_the_same_bits(body_type, dimension):
    """A stack advanced as a whole, row by row through the objects, and bodies in stacks of their own."""
    example = body_type.example(dimension)
    dt, names = 1e-3, [f"b{k}" for k in range(5)]

    def stacks(group):
        made = []
        for members in group:
            stack = example.new_stack()
            for name in members:
                stack.add(name, example)
                stack.v[stack.row[name]] *= 1.0 + 0.1 * int(name[1:])
            stack.gravity = np.array((0.7, -9.81, 0.3)[:dimension])
            stack.configure(Newmark(), stack.internal, dt)
            made.append(stack)
        return made

    def advance(parts):
        elements = Elements(dimension)
        for _ in range(20):
            for part in parts:
                part.predict(elements, dt)
                part.correct(elements, dt)

    (whole,) = stacks([names])
    advance([whole])
    (rows,) = stacks([names])
    advance([rows.one(name) for name in names])  # objects: views of one stack
    singles = stacks([[name] for name in names])
    advance(singles)
    for name in names:
        single = singles[names.index(name)]
        for key, array in whole.state().items():
            expected = array[whole.row[name]]
            assert np.array_equal(expected, rows.state()[key][rows.row[name]])
            assert np.array_equal(expected, single.state()[key][0])


@every_moved_body
def test_save_and_restore_bring_back_the_same_future(body_type, dimension):
    with alone(body_type.example(dimension), dt=1e-3) as simulation:
        simulation.run(0.05)
        stack = simulation.system.body_home["body"]
        memory = stack.save()
        simulation.run(0.1)
        after = stack.save()
        stack.restore(memory)
        simulation.tick = 50
        for _ in range(50):
            simulation.step()
        for key in ("q", "v", "a"):
            assert np.array_equal(stack.save()[key], after[key])


PLACINGS = {
    "default": {},
    "points off the centre": {"points": ((0.1, 0.2, -0.1), (0.9, -0.7, 0.5))},
    "oblique vectors": {
        "points": ((1.3, 0.2, -0.7), (0.2, -0.9, 0.5)),
        "vectors": ((0.6, 0.8, 0.0), (0.0, 0.6, 0.8)),
    },
}


@pytest.mark.parametrize("dimension", (2, 3))
def test_motion_does_not_depend_on_where_the_natural_coordinates_stand(dimension):
    tracks = []
    for placing in PLACINGS.values():
        given = {
            key: [x[:dimension] for x in value][: dimension - 1 if key == "vectors" else 2]
            for key, value in placing.items()
        }
        body = RigidBody.example(dimension)
        body = RigidBody(
            mass=body.mass, inertia=body.inertia, centre=body.centre, ports=body.ports,
            velocity=body.velocity, angular_velocity=body.angular_velocity, **given,
        )  # fmt: skip
        m = np.kron(body.mass_matrix, np.eye(dimension))
        assert np.linalg.eigvalsh(m).min() > 0
        assert body.kinetic_energy(body.elements, body.initial_velocity) == pytest.approx(
            newton_euler(body, body.elements, body.initial_velocity), rel=1e-12
        )
        with alone(body, dt=2e-4) as simulation:
            tracks.append(simulation.run(0.2).position("body.right"))
    # coordinates are a change of basis: the same motion to rounding
    assert np.abs(tracks[1] - tracks[0]).max() < 1e-12
    assert np.abs(tracks[2] - tracks[0]).max() < 1e-12


# --- bodies that move as they are told -----------------------------------------------------------------------------------


@every_led_body
def test_what_is_led_is_moved_by_nothing_and_brings_no_energy(body_type, dimension):
    body = body_type.example(dimension)
    again = Component.from_data(body.to_data())
    assert again.to_data() == body.to_data()
    assert body.freedoms == 0 and not np.isfinite(body.total_mass)
    dt, names = 1e-3, ["a", "b", "c"]
    whole, singles = body.new_stack(), [body.new_stack() for _ in names]
    for name, single in zip(names, singles, strict=True):
        whole.add(name, body)
        single.add(name, again)
    elements, ports = Elements(dimension), [PortName("a", port) for port in body.port_names]
    first = elements.acquire(len(ports))
    for k, port in enumerate(ports):
        side = whole.side("a", port)
        whole.attach("a", first + k, side.point(side.position))
    for stack in (whole, *singles):
        stack.configure(Newmark(), stack.internal, dt)
    for tick in range(1, 21):
        elements.clock[1] = tick * dt
        for stack in (whole, *singles):
            stack.predict(elements, dt)
            elements.force[:] = 1e6
            stack.correct(elements, dt)
    state = {key: array.copy() for key, array in whole.state().items()}
    for k, single in enumerate(singles):
        for key, array in single.state().items():
            assert np.array_equal(array[0], state[key][k])
    q, v, a = (state[key][0] for key in ("q", "v", "a"))
    for k, port in enumerate(ports):
        x, dx, _ = body.port_motion(port.port, q, v, a)
        assert elements.position[first + k] == pytest.approx(x, abs=1e-14)
        assert elements.velocity[first + k] == pytest.approx(dx, abs=1e-14)
    whole.respond(elements)
    assert not elements.response.any()
    work = whole.push("a", {first: np.ones(dimension)}, elements)
    assert work == pytest.approx(body.port_motion(ports[0].port, q, v, a)[1].sum(), abs=1e-14)
    assert np.array_equal(whole.state()["v"], state["v"])
    assert body.kinetic_energy(q, v) == 0.0
    memory = whole.save()
    whole.state()["q"][:] = 0.0
    whole.restore(memory)
    assert np.array_equal(whole.state()["q"], state["q"])


@every_led_body
@pytest.mark.parametrize("step", [1e-3, -1e-3])
def test_what_is_led_drifts_to_where_the_clock_is(body_type, dimension, step):
    """Also back in time; its velocity in the middle of the step is that of its way."""
    body = body_type.example(dimension)
    stack, elements = body.new_stack(), Elements(dimension)
    stack.add("body", body)
    first = elements.acquire(1)
    side = stack.side("body", PortName("body", body.port_names[0]))
    stack.attach("body", first, side.point(side.position))
    elements.clock[1] = 0.3
    stack.place_on_course("body", elements)
    stack.show(elements)
    before = elements.position[first].copy()
    elements.clock[1] = 0.3 + step
    elements.prepare("drift")
    stack.prepare("drift")
    stack.drift(elements, step)
    assert elements.velocity[first] == pytest.approx((elements.position[first] - before) / step, abs=1e-9)
    stack.accept_step(elements)
    stack.kick(elements, step)
    q, v, a = (stack.state()[key][0] for key in ("q", "v", "a"))
    x, dx, _ = body.port_motion(body.port_names[0], q, v, a)
    assert elements.position[first] == pytest.approx(x, abs=1e-14)
    assert elements.velocity[first] == pytest.approx(dx, abs=1e-14)


@every_body
def test_many_at_once_say_what_each_says_alone(body_type, dimension):
    """Energies, errors of internal constraints and places of ports, over bodies of one stack along a motion."""
    one = body_type.example(dimension)
    bodies = [one, Component.from_data(one.to_data())]
    _, q, v = zoo.start(one)
    rng = np.random.default_rng(3)
    q, v = (rng.normal(scale=0.05, size=(4, 2, *x.shape)) + x for x in (q, v))
    gravity = np.array([0.7, -9.81, 0.3][:dimension])
    kinetic, potential = body_type.energies(bodies, q, v, gravity)
    assert kinetic == pytest.approx(sum(b.kinetic_energy(q[:, k], v[:, k]) for k, b in enumerate(bodies)), rel=1e-12)
    alone = sum(b.potential_energy(q[:, k], gravity) for k, b in enumerate(bodies))
    assert potential == pytest.approx(alone, rel=1e-12, abs=1e-12)
    errors, rates = body_type.internal_errors(bodies, q, v)
    places = np.split(body_type.port_places(bodies, q), 2, axis=1)
    for k, body in enumerate(bodies):
        error, rate = body.internal_violation(q[:, k]), body.internal_violation_rate(q[:, k], v[:, k])
        assert errors[:, k] == pytest.approx(np.linalg.norm(error, axis=1), rel=1e-9, abs=1e-15)
        assert rates[:, k] == pytest.approx(np.linalg.norm(rate, axis=1), rel=1e-9, abs=1e-15)
        for port, place in zip(body.port_names, np.moveaxis(places[k], 1, 0), strict=True):
            assert place == pytest.approx(body.port_motion(port, q[:, k], v[:, k], v[:, k])[0], rel=1e-12, abs=1e-14)


@pytest.mark.short(3)
@every_moved_body
def test_books_of_a_glued_joint_lose_nothing_of_first_order(body_type, dimension):
    """What turns or bends in a flight is no work of the joint; booked with it, subassemblies leaked 1e-3 J at 1 ms."""
    leaks = []
    for dt in (2e-3, 1e-3):
        model = Assembly(gravity=(0.7, -9.81, 0.3)[:dimension])
        model.add("body", body_type.example(dimension))
        port = model.bodies["body"].port_names[0]
        model.join("hook", Spherical() if dimension == 3 else Revolute(), "ground", f"body.{port}")
        with Simulation(model, dt, Glued(), project_velocities=True) as simulation:
            leaks.append(abs(simulation.run(0.2).ledger("hook")["leaked"][-1]))
    assert leaks[0] < 1e-11 or leaks[1] < 0.3 * leaks[0] < 1e-5
