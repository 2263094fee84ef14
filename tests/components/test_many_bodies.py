"""What follows from the data of bodies: the same for one and for many, and what mechanics says."""

import dataclasses
import tracemalloc

import numpy as np
import pytest

import scenarios
from components import PointMassRod, RigidBody, Rod
from components.bodies.identity_cache import MAX_CACHED_GROUPS, GroupCache
from components.bodies.natural import records
from components.bodies.natural.many import RecordRows, found_groups, kept_record_rows, record_rows_of, rows_of
from components.bodies.short_sums import combined, cross, dot, inverted, length, outer, product, trace
from modular import ModelError
from modular.body import StackMembers

SHAPES = [(1, 3), (1, 2), (2, 2), (2, 3), (3, 2), (4, 3)]
PER_BODY = [
    f.name for f in dataclasses.fields(rows_of([Rod.example()])) if f.name not in ("port_weights", "port_starts")
]


def some_bodies(shape, count):
    """Bodies of all types that have this shape, in mixed order, some with initial velocities or elements by hand."""
    rng = np.random.default_rng(sum(shape))
    return [some_body(shape, rng) for _ in range(count)]


def some_body(shape, rng):
    e, d = shape
    start, end, velocity = rng.normal(size=(3, d))
    spin = float(rng.normal()) if d == 2 else rng.normal(size=3)
    motion = {"velocity": velocity, "angular_velocity": spin} if rng.random() < 0.5 else {}
    mass, kind = rng.uniform(0.1, 5.0), rng.integers(3)
    if e == 2 and kind == 0:
        return PointMassRod(start, end, rng.uniform(0.1, 2.0, 2), **motion)
    if shape == (2, 2) or (e == 2 and kind == 1) or (e == 4 and kind < 2):
        # in the plane it counts for nothing
        radius = {(2, 2): 0.03, (2, 3): 0.0, (4, 3): rng.uniform(0.01, 0.1)}[shape]
        return Rod(start, end, mass, radius, **motion)
    if e < 3:
        axis = (e - 1) * np.eye(d)[0]
        inertia = 0.0 if d == 2 else (0.0, 0.3 * (e - 1), 0.3 * (e - 1))
        ports = {f"p{k}": start + k * axis for k in range(rng.integers(3))}
        return RigidBody(mass=mass, inertia=inertia, centre=start, ports=ports, **motion)
    ports = {f"p{k}": x for k, x in enumerate(rng.normal(size=(rng.integers(4), d)))}
    inertia = 0.4 if d == 2 else np.diag([0.3, 0.25, 0.2]) + 0.02 * (1 - np.eye(3))
    points = (start, end) if rng.random() < 0.5 else None
    return RigidBody(mass=mass, inertia=inertia, centre=start, ports=ports, points=points, **motion)


def port_rows(rows, k):
    return rows.port_weights[rows.port_starts[k] : rows.port_starts[k + 1]]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_body_alone_has_the_same_bits_as_among_many(shape):
    bodies = some_bodies(shape, 257)
    for body in bodies:
        assert body.check("body") == [] and body.shape == shape
    for count in (257, 64, 3, 2):
        rows = rows_of(bodies[-count:])
        assert rows.elements.shape == (count, *shape)
        for k in range(0, count, max(1, count // 40)):
            body = bodies[len(bodies) - count + k]
            alone = rows_of([body])
            for name in PER_BODY:
                assert getattr(rows, name)[k].tobytes() == getattr(alone, name)[0].tobytes(), name
            assert port_rows(rows, k).tobytes() == alone.port_weights.tobytes()
            assert body.mass_matrix.tobytes() == rows.mass_matrix[k].tobytes()
            assert list(body.port_weights) == list(body.port_names)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_what_a_record_is_read_with_has_the_bits_of_what_moves(shape):
    bodies = some_bodies(shape, 20)
    whole, read = rows_of(bodies), record_rows_of(bodies)
    for field in dataclasses.fields(RecordRows):
        assert getattr(read, field.name).tobytes() == getattr(whole, field.name).tobytes(), field.name


@pytest.mark.parametrize("shape", [(1, 3), (2, 2), (2, 3), (4, 3)], ids=str)
@pytest.mark.parametrize("alike", [True, False])
def test_ports_of_many_are_where_each_body_says(shape, alike):
    """Also where some bodies have more ports than others."""
    bodies = [body for body in some_bodies(shape, 60) if not alike or len(body.port_names) == 2]
    q = np.random.default_rng(2).normal(size=(5, len(bodies), *shape))
    places = type(bodies[0]).port_places(bodies, q)
    said = [body.port_motion(port, *[q[:, k]] * 3)[0] for k, body in enumerate(bodies) for port in body.port_names]
    assert len(bodies) > 3 and places.shape == (5, len(said), shape[1])
    np.testing.assert_allclose(places, np.stack(said, axis=1), rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_rows_of_bodies_are_what_mechanics_says(shape):
    e, d = shape
    bodies = some_bodies(shape, 40)
    rows = rows_of(bodies)
    for k, body in enumerate(bodies):
        elements = rows.elements[k]
        size = max(1.0, np.abs(elements).max())
        assert rows.centre_weights[k] @ elements == pytest.approx(rows.centre[k], abs=1e-13 * size)
        points = np.array([place.point for place in body.places.values()]).reshape(-1, d)
        assert np.allclose(port_rows(rows, k) @ elements, points, rtol=0, atol=1e-12 * size)
        mass, inverse = rows.mass_matrix[k], rows.inverse_mass[k]
        assert np.allclose(inverse @ mass, np.eye(e), rtol=0, atol=1e-13 * np.linalg.cond(mass))
        fall = rows.fall[k]
        assert fall @ mass @ fall == pytest.approx(body.total_mass, rel=1e-12)  # all points move alike: a particle
        assert rows.slip[k] == pytest.approx(body.total_mass**-0.5, rel=1e-15)

        jacobian = closure_jacobian(np.concatenate([elements[1:2] - elements[:1], elements[2:]]))
        local = jacobian @ np.kron(inverse, np.eye(d)) @ jacobian.T
        assert np.allclose(rows.local[k], local, rtol=1e-11, atol=1e-13 * np.abs(local).max(initial=0.0))

        moment = rows.second_moment[k]
        directions = rows.axes[k] @ elements
        if e == 4:  # all three axes turn it
            inertia = np.trace(moment) * np.eye(3) - moment
            assert np.allclose(directions.T @ directions @ inertia, np.eye(3), atol=1e-12 * np.linalg.cond(inertia))
            assert rows.spin[k] == 0.0
        elif e > 1:
            assert rows.spin[k] == pytest.approx(np.trace(moment) ** -0.5, rel=1e-14)
            assert not rows.axes[k].any()
        else:
            assert rows.spin[k] == 0.0 and not rows.axes[k].any()


def closure_jacobian(w):
    """H of the internal constraints w_a . w_b (halved where a = b), row by row."""
    vectors, d = w.shape
    rows = []
    for a in range(vectors):
        for b in range(a, vectors):
            by_vector = np.zeros((vectors, d))
            by_vector[a] += w[b] * (1.0 if a != b else 0.5)
            by_vector[b] += w[a] * (1.0 if a != b else 0.5)
            by_element = np.zeros((vectors + 1, d))
            by_element[1:] = by_vector
            by_element[0] = -by_vector[0]
            rows.append(by_element.ravel())
    return np.array(rows).reshape(-1, (vectors + 1) * d)


def test_groups_of_bodies_are_found_once_and_by_who_they_are():
    """The very bodies, in their order: equal ones are others; the groups that were asked for first are forgotten."""
    bodies, asked = [PointMassRod((0.0, 0.0), (1.0, 0.0), (1.0, 1.0)) for _ in range(3)], []
    cache = GroupCache()

    def find(those):
        asked.append(those)
        return len(asked)

    assert [cache.find(bodies[:2], find) for _ in range(3)] == [1, 1, 1]
    assert [cache.find(group, find) for group in (bodies[1::-1], bodies[1:], bodies[:2])] == [2, 3, 1]
    for k in range(MAX_CACHED_GROUPS):
        cache.keep([bodies[2]] * (k + 3), k)
    assert cache.find(bodies[:2], find) == 4


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_what_was_found_as_bodies_were_put_together_has_the_bits_of_what_a_record_finds(shape):
    bodies = some_bodies(shape, 5)
    stack = bodies[0].new_stack()
    stack.add_many([f"b{k}" for k in range(5)], bodies)
    found_groups.find(bodies, lambda those: pytest.fail("it was not kept"))
    kept, fresh = kept_record_rows(StackMembers(bodies)), record_rows_of([dataclasses.replace(body) for body in bodies])
    for field in dataclasses.fields(RecordRows):
        assert np.array_equal(getattr(kept, field.name), getattr(fresh, field.name)), field.name


def test_bodies_of_different_shapes_are_refused_together():
    slender, full = Rod((0, 0, 0), (1, 0, 0), 1.0), Rod((0, 0, 0), (1, 0, 0), 1.0, 0.1)
    box = RigidBody.example(3)
    for bodies in ([slender, full], [slender, box], []):
        with pytest.raises(ModelError, match="give"):
            rows_of(bodies)


def test_written_out_sums_are_those_of_the_library():
    rng = np.random.default_rng(3)
    a, b, c = rng.normal(size=(5, 3, 4)), rng.normal(size=(5, 4, 2)), rng.normal(size=(5, 4))
    x, y, square = rng.normal(size=(5, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 3, 3))
    for ours, theirs in (
        (product(a, b), a @ b),
        (combined(c, b), np.einsum("nk,nkj->nj", c, b)),
        (dot(x, y), np.einsum("nk,nk->n", x, y)),
        (length(x), np.linalg.norm(x, axis=1)),
        (outer(x, y), np.einsum("ni,nj->nij", x, y)),
        (cross(x, y), np.cross(x, y)),
        (trace(square), np.trace(square, axis1=1, axis2=2)),
        (inverted(square) @ square, np.broadcast_to(np.eye(3), square.shape)),
    ):
        assert np.allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    numbers = np.array([3.0, -7.1e-9, 4.4e12, 1e-300])[:, None, None]
    assert np.array_equal(inverted(numbers), np.linalg.inv(numbers))
    with pytest.raises(np.linalg.LinAlgError):
        inverted(np.array([[[2.0]], [[0.0]]]))


@pytest.mark.campaign
def test_descriptions_stay_small_whatever_has_been_asked_of_them():
    """Numbers, names and edges: 0.45 kB per body of a chain; arrays that follow from them are not kept."""
    count = 250
    scenarios.load("chain", bodies=3)
    tracemalloc.start()
    try:
        chain = scenarios.load("chain", bodies=count)
        built = tracemalloc.get_traced_memory()[0] / count
        for body in chain.bodies.values():
            assert body.mass_matrix.shape == (4, 4)
        asked = tracemalloc.get_traced_memory()[0] / count
    finally:
        tracemalloc.stop()
    assert built < 550.0
    assert asked < built + 2e6 / count  # the rows of the bodies last asked for, whatever their number


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("samples", "count"), [(5, 9), (9, 5)])
def test_a_long_record_is_read_to_the_bits_of_a_short_one(shape, samples, count, monkeypatch):
    """Sums run along bodies, or along samples where there are more of them; and who was not there is nobody's error."""
    bodies, rng = some_bodies(shape, count), np.random.default_rng(7)
    q, v = rng.normal(size=(2, samples, count, *shape))
    q[2, 1], v[2, 1] = np.nan, np.nan
    gravity, kind = rng.normal(size=shape[1]), type(bodies[0])

    def read():
        return [*kind.energies(bodies, q, v, gravity), *kind.internal_errors(bodies, q, v), kind.port_places(bodies, q)]

    short = read()
    monkeypatch.setattr(records, "LONG", 1)
    for one, other in zip(short, read(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert np.isfinite(short[2][3:]).all()
