"""What mechanisms can do where they stand: linkages whose freedoms are known, whatever counting says."""

import numpy as np
import pytest

import scenarios
from campaign import shortened
from components import Cylindrical, Distance, Fixed, Prismatic, Revolute, RigidBody, Rod, Spherical, Universal
from coordinator.analysis import mobility
from coordinator.analysis.mobility import _independent, _locked, _standing, own_motions
from coordinator.analysis.tangent import dense
from modular import Assembly, ModelError


def bar(p, q):
    """A body between two points, with its mass centre beside them."""
    p, q = np.array(p, float), np.array(q, float)
    ports = {"a": tuple(p), "b": tuple(q)}
    return RigidBody(mass=1.0, inertia=(0.1, 0.2, 0.15), centre=tuple((p + q) / 2 + (0.01, 0.02, 0.03)), ports=ports)


def ring(points, axes, kind=Revolute):
    """A closed chain of hinges at points about axes; the ground lies between the last and the first."""
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    for i in range(len(points) - 1):
        model.add(f"b{i}", bar(points[i], points[i + 1]))
    sides = ["ground", *(f"b{i}" for i in range(len(points) - 1)), "ground"]
    for i, axis in enumerate(axes):
        first = sides[i] if sides[i] == "ground" else f"{sides[i]}.b"
        second = sides[i + 1] if sides[i + 1] == "ground" else f"{sides[i + 1]}.a"
        ends = (second, first) if second == "ground" else (first, second)
        model.join(f"h{i}", kind(axis=tuple(axis)), *ends)
    return model


def frames(*links):
    """Of a closed chain by lengths, twists and angles (Denavit and Hartenberg) the frame of each joint; it has to close."""
    found = [np.eye(4)]
    for length, twist, angle in links:
        c, s, ct, st = np.cos(angle), np.sin(angle), np.cos(twist), np.sin(twist)
        step = [[c, -s * ct, s * st, length * c], [s, c * ct, -c * st, length * s], [0, st, ct, 0], [0, 0, 0, 1]]
        found.append(found[-1] @ np.array(step))
    assert np.abs(found[-1] - np.eye(4)).max() < 1e-12
    return found[:-1]


def denavit(*links):
    """The chain itself."""
    return hinged(frames(*links))


def hinged(joints):
    """A closed chain of hinges about the z axes of frames."""
    return ring([frame[:3, 3] for frame in joints], [frame[:3, 2] for frame in joints])


def four_bar():
    return ring([(0, 0, 0), (0, 1, 0), (2, 1.5, 0), (2, 0, 0)], [(0, 0, 1)] * 4)


def bennetts_links(one, alpha, beta):
    """Four hinges in space: opposite bars alike, sines of twists as lengths; the second bar as long as the sine of its twist."""
    two = 2.0 * np.arctan2(np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2), np.tan(one / 2))
    short, long = (np.sin(alpha), alpha), (np.sin(beta), beta)
    return (*short, one), (*long, two), (*short, -one), (*long, -two)


def bennett(one=1.1):
    return denavit(*bennetts_links(one, np.radians(40.0), np.radians(75.0)))


def goldberg(one=1.1, other=0.7):
    """Two of Bennett's linkages with a bar and a hinge in common, of which one angle is fixed and the bar is left out: five hinges.

    M. Goldberg, "New five-bar and six-bar linkages in three dimensions", Trans. ASME 65 (1943) 649-661.
    """
    beta = np.radians(75.0)
    first, second = (
        bennetts_links(angle, alpha, beta) for angle, alpha in ((one, np.radians(40.0)), (other, np.radians(25.0)))
    )
    here, there = frames(*first), frames(*second)

    def about_z(links):
        c, s = np.cos(links[1][2]), np.sin(links[1][2])
        return np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])

    # so that they have the second bar in common
    onto = here[1] @ about_z(first) @ np.linalg.inv(there[1] @ about_z(second))
    there = [onto @ frame for frame in there]
    assert np.abs(there[2][:3, 2] - here[2][:3, 2]).max() < 1e-12
    return hinged([here[0], there[0], there[3], here[2], here[3]])


def stretched():
    """Four hinges that slide, parallel and in one plane, the longest bar as long as the others together.

    Slides are three, which go on; turns are two more to first order, and none to second: the numbers of Fayet's linkage.
    """
    points = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.3), (2.2, 0.0, -0.2), (2.9, 0.0, 0.1)]
    return ring(points, [(0.0, 0.0, 1.0)] * 4, kind=Cylindrical)


def bricard(one=1.0):
    """Six hinges in space, each across the next, alike in threes: cos a + cos b + cos a cos b = 0."""
    two = np.arccos(-np.cos(one) / (1.0 + np.cos(one)))
    return denavit(*[(1.0, np.pi / 2, one), (1.0, -np.pi / 2, two)] * 3)


def sarrus():
    """Two chains of three parallel hinges each, across each other: a plate that goes straight."""
    points = [(0, 1, 0), (0, 1.6, 0.5), (0, 1, 1), (1, 0, 1), (1.6, 0, 0.5), (1, 0, 0)]
    return ring(points, [(1, 0, 0)] * 3 + [(0, 1, 0)] * 3)


def between_balls():
    """Crank, coupler between two balls, rocker: the coupler spins as it likes."""
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    for name, p, q in (
        ("crank", (0, 0, 0), (0, 0.5, 0)),
        ("coupler", (0, 0.5, 0), (1, 1, 1)),
        ("rocker", (1, 1, 1), (1, 0, 1)),
    ):
        model.add(name, bar(p, q))
    model.join("r1", Revolute(axis=(1, 0, 0)), "ground", "crank.a")
    model.join("s1", Spherical(), "crank.b", "coupler.a")
    model.join("s2", Spherical(), "coupler.b", "rocker.a")
    model.join("r2", Revolute(axis=(0, 0, 1)), "ground", "rocker.b")
    return model


def plate(radius, height, corners):
    """A plate with ports at so many corners."""
    angles = 2.0 * np.pi * np.arange(corners) / corners
    ports = {f"p{k}": (radius * np.cos(a), radius * np.sin(a), height) for k, a in enumerate(angles)}
    return RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.15), centre=(0.0, 0.0, height), ports=ports), ports


def stewart():
    """A plate on six legs, each of two parts that slide on each other, on a ball and a cross."""
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    body, ports = plate(1.0, 1.5, 6)
    model.add("plate", body)
    for k, (port, top) in enumerate(ports.items()):
        foot = 1.6 * np.array([np.cos(np.pi / 3 * k + 0.5 * (-1) ** k), np.sin(np.pi / 3 * k + 0.5 * (-1) ** k), 0.0])
        middle = tuple((foot + top) / 2)
        model.add(f"low{k}", bar(foot, middle))
        model.add(f"high{k}", bar(middle, top))
        model.join(f"u{k}", Universal(), "ground", f"low{k}.a")
        model.join(f"p{k}", Prismatic(axis=tuple(np.array(top) - foot)), f"low{k}.b", f"high{k}.a")
        model.join(f"s{k}", Spherical(), f"high{k}.b", f"plate.{port}")
    return model


def delta():
    """A plate on three pairs of parallel links, each pair on an arm with a hinge."""
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    ports, arms = {}, []
    for k in range(3):
        out, across = (
            np.array([np.cos(a), np.sin(a), 0.0]) for a in (2 * np.pi / 3 * k, 2 * np.pi / 3 * k + np.pi / 2)
        )
        shoulder, elbow, wrist = 1.0 * out, 1.4 * out - (0, 0, 0.3), 0.3 * out - (0, 0, 1.2)
        sides = {"left": 0.1 * across, "right": -0.1 * across}
        arms.append((shoulder, across, {side: tuple(elbow + way) for side, way in sides.items()}))
        ports |= {f"{side}{k}": tuple(wrist + way) for side, way in sides.items()}
    model.add("plate", RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.15), centre=(0.0, 0.0, -1.2), ports=ports))
    for k, (shoulder, across, elbows) in enumerate(arms):
        held = {"root": tuple(shoulder), **elbows}
        centre = tuple(np.mean(list(held.values()), axis=0))
        model.add(f"arm{k}", RigidBody(mass=1.0, inertia=(0.1, 0.1, 0.1), centre=centre, ports=held))
        model.join(f"hinge{k}", Revolute(axis=tuple(across)), "ground", f"arm{k}.root")
        for side in elbows:
            model.join(f"{side}{k}", Distance(), f"arm{k}.{side}", f"plate.{side}{k}")
    return model


def in_line(*spans, between=()):
    """Bars on one line, hinged to each other and to the ground."""
    model = Assembly(gravity=(0.0, 0.0))
    for name, (p, q) in spans:
        model.add(name, Rod((p, 0.0), (q, 0.0), 1.0))
    for k, (first, second) in enumerate(between):
        model.join(f"j{k}", Revolute(), first, second)
    return model


def triangle():
    """Two bars in line between the ground: shaky."""
    ends = [("ground", "l.start"), ("l.end", "r.start"), ("ground", "r.end")]
    return in_line(("l", (0.0, 1.0)), ("r", (1.0, 2.5)), between=ends)


def dead_centre():
    """A parallelogram laid flat."""
    spans = [("p", (0.0, 1.0)), ("q", (1.0, 3.0)), ("s", (3.0, 2.0))]
    ends = [("ground", "p.start"), ("p.end", "q.start"), ("q.end", "s.start"), ("ground", "s.end")]
    return in_line(*spans, between=ends)


def row_of_parallelograms(count):
    """N four-bars in a row, laid flat: N + 1 cranks, N couplers, all of one length."""
    cranks = [(f"c{k}", (float(k), k + 1.0)) for k in range(count + 1)]
    couplers = [(f"k{k}", (k + 1.0, k + 2.0)) for k in range(count)]
    ends = [("ground", f"c{k}.start") for k in range(count + 1)]
    ends += [pair for k in range(count) for pair in ((f"c{k}.end", f"k{k}.start"), (f"k{k}.end", f"c{k + 1}.end"))]
    return in_line(*cranks, *couplers, between=ends)


LINKAGES = {  # model: freedoms, redundancies, idle, to second order
    "four-bar": (four_bar, 1, 3, 0, 1), "Bennett": (bennett, 1, 3, 0, 1), "Bricard": (bricard, 1, 1, 0, 1),
    "Sarrus": (sarrus, 1, 1, 0, 1), "between balls": (between_balls, 2, 0, 1, 2), "Stewart": (stewart, 6, 0, 0, 6),
    "Delta": (delta, 3, 0, 0, 3), "triangle": (triangle, 1, 1, 0, 0), "dead centre": (dead_centre, 2, 1, 0, 1),
    "Goldberg": (goldberg, 1, 2, 0, 1), "stretched": (stretched, 5, 3, 0, 3),
    "three in a row": (lambda: row_of_parallelograms(3), 4, 3, 0, 1),
}  # fmt: skip


@pytest.mark.short(5)
@pytest.mark.parametrize("name", LINKAGES)
def test_linkages_have_the_freedoms_and_redundant_locks_that_they_are_known_for(name):
    make, freedoms, redundancies, idle, finite = LINKAGES[name]
    found = mobility(make())
    assert (found.freedoms, found.redundancies, found.idle, found.finite) == (freedoms, redundancies, idle, finite)
    assert found.free - found.locks + found.redundancies == found.freedoms
    assert sum(group.states for group in found.sharing) == redundancies


def test_where_branches_part_they_are_counted_and_shaky_is_something_else():
    dead, flat = mobility(dead_centre()), mobility(triangle())
    assert dead.branches == 2 and not dead.shaky and "branches" in dead.summary()[-1]
    assert flat.shaky and "shaky" in flat.summary()[-1]


@pytest.mark.short(5)
@pytest.mark.parametrize("name", LINKAGES)
def test_locks_that_are_named_redundant_can_be_left_out_and_no_more(name):
    """Without them the rows of joints are independent, and hold as much."""
    model = LINKAGES[name][0]()
    found = mobility(model)
    with _standing(model) as equations:
        jacobian = dense(equations.jacobian())
        locked, owners = _locked(own_motions(equations, jacobian), _independent(equations, jacobian))
    numbers = {owner: k for k, owner in enumerate(owners)}
    left = np.delete(locked, [numbers[named] for named in found.redundant], axis=0)
    values = np.linalg.svd(left, compute_uv=False)
    assert len(left) == found.locks - found.redundancies == np.linalg.matrix_rank(locked, tol=1e-8)
    assert values.min() > 1e-4
    assert {joint for joint, _ in found.redundant} <= {joint for group in found.sharing for joint in group.joints}


@pytest.mark.parametrize("one", [0.4, 1.5, 2.3])
def test_goldbergs_linkage_moves_wherever_its_bennetts_stand(one):
    found = mobility(goldberg(one, 1.2 * one))
    assert (found.freedoms, found.redundancies, found.finite) == (1, 2, 1)
    assert [group.joints for group in found.sharing] == [["h0", "h1", "h2", "h3", "h4"]]


@pytest.mark.parametrize("angle", [0.3, 0.9, 1.7, 2.5])
def test_overconstrained_linkages_move_wherever_they_stand(angle):
    assert mobility(bennett(angle)).finite == 1
    if abs(np.cos(angle) / (1.0 + np.cos(angle))) < 1.0:
        assert mobility(bricard(angle)).finite == 1


def test_a_motion_is_one_that_no_joint_stops_and_who_goes_along_is_named():
    found = mobility(between_balls())
    idle, turning = found.motions
    assert (
        idle.idle
        and idle.body == "coupler"
        and np.allclose(np.abs(idle.direction), np.array([2, 1, 2]) / 3.0, atol=1e-9)
    )
    assert {turning.body, *turning.along} == {"crank", "coupler", "rocker"}


def test_who_shares_a_load_is_who_loses_it_where_one_is_left_out():
    """Each redundant lock that is named can be taken away, and the freedoms stay: here a hinge less a ball."""
    found = mobility(four_bar())
    assert [group.joints for group in found.sharing] == [["h0", "h1", "h2", "h3"]]
    assert {joint for joint, _ in found.redundant} == {"h3"} and len(found.redundant) == 3
    model = four_bar()
    model.cut("h3")
    model.join("ball", Spherical(), "ground", "b2.b")
    eased = mobility(model)
    assert (eased.freedoms, eased.redundancies) == (1, 1)


def test_what_does_not_move_has_no_motions_and_says_so():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("beam", Rod((0.0, 0.0), (1.0, 0.0), 1.0))
    model.join("wall", Fixed(), "ground", "beam.start")
    found = mobility(model)
    assert found.freedoms == 0 and found.motions == [] and "0 freedoms left" in found.summary()[0]
    with pytest.raises(ModelError, match="no bodies"):
        mobility(Assembly(gravity=(0.0, 0.0)))


@pytest.mark.parametrize("name", shortened(["bricard", "robot-arm", "rolling-disc"], scenarios.names()))
def test_ready_systems_have_a_mobility(name):
    found = mobility(scenarios.load(name))
    assert found.freedoms == len(found.motions) and found.free - found.locks + found.redundancies == found.freedoms
