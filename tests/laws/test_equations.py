"""What a model writes of itself in symbols is what moves it: the same numbers, whatever components it has."""

import numpy as np
import pytest
import sympy

import scenarios
import zoo
from campaign import shortened
from components import DrivenRotation, Law, Load, Revolute, RigidBody, Rod, Smooth, SpringDamper, Stop
from coordinator import Centralized, Simulation
from coordinator.analysis.tangent import derivative
from coordinator.couplings.centralized.equations import Equations
from coordinator.equations import equations, lagrange, moving
from mechanisms import rods_in_a_row
from modular import Assembly, ModelError
from scenarios import catalogue

STATES = 100
LARGEST = 1e-13  # relative residual against the engine: some hundred roundings
BENT = 1e-12  # of bodies that bend: their strains are differences of what is nearly equal
REFUSED = {  # ready systems with components that have no formula
    "bouncing-ball": "floor", "newtons-cradle": "bump1", "stacked-boxes": "box1-ground", "worn-crank": "elbow",
    "inverted-pendulum": "drive", "funnel": "ground-surface",
}  # fmt: skip
WRITTEN = [name for name in catalogue.names() if name not in REFUSED]
SYSTEMS = shortened(["slider-crank", "spring-pendulum", "kapitza-pendulum", "rolling-disc"], WRITTEN)
FEW = {("Revolute", 3), ("Gear", 2), ("Screw", 3), ("DrivenDistance", 2), ("KnifeEdge", 3)}
JOINTS = shortened([case for case in zoo.JOINTS if (case[0].__name__, case[1]) in FEW], zoo.JOINTS)
WITHOUT_FORMULA = {
    "Clearance", "Contact", "Controller", "Friction", "Hand", "Motor", "Regulator", "Stop", "Surface",
    "TableSpring",
}  # fmt: skip
FORCES = [case for case in zoo.FORCES if case[0].__name__ not in WITHOUT_FORMULA]
IDS = {"ids": zoo.label}


def dense(matrix):
    return np.asarray(matrix.todense() if hasattr(matrix, "todense") else matrix)


def bend_of(engine, q, v, time):
    """dG/dt v and what courses ask for, to sixth order: how G v changes along the motion."""
    speed = max(1.0, float(np.abs(v).max()))

    def rates(h):
        engine.at(time + h)
        engine.go(q + h * v, v)
        return engine.rates()

    found, _ = derivative(rates, 5e-3 / speed)
    engine.at(time)
    engine.go(q, v)
    return found


def residual(model, states=STATES, spread=0.2):
    """The largest difference of symbols and engine, relative to the largest number of each matrix; of gamma by itself."""
    written, worst, bends = equations(model), 0.0, 0.0
    with Simulation(model.copy(), 1e-3, Centralized()) as simulation:
        engine = Equations(simulation.system)
        assert engine.columns == written.columns
        assert engine.rows_of == written.rows_of
        draw, (start, _) = np.random.default_rng(11), engine.read()
        for state in range(states):
            q, v = start + spread * draw.normal(size=engine.size), draw.normal(size=engine.size)
            time = 0.02 + 0.013 * state  # courses are bent where they begin
            engine.at(time)
            engine.go(q, v)
            told = {
                "mass": dense(engine.mass), "constraints": engine.errors(), "jacobian": dense(engine.jacobian()),
                "loads": engine.forces(time),
            }  # fmt: skip
            found = written.at(q, v, time)
            for name, numbers in told.items():
                scale = max(1.0 if name == "constraints" else 1e-300, float(np.abs(numbers).max(initial=0.0)))
                worst = max(worst, float(np.abs(found[name] - numbers).max(initial=0.0)) / scale)
            if state < 3 and engine.rows:
                bend = bend_of(engine, q, v, time)
                scale = max(1.0, float(np.abs(bend).max()))
                bends = max(bends, float(np.abs(found["gamma"] + bend).max()) / scale)
    return worst, bends


@pytest.mark.short(1)
@pytest.mark.parametrize("name", SYSTEMS)
def test_ready_systems_write_what_moves_them(name):
    worst, bends = residual(scenarios.load(name), spread=0.05)
    bent = name == "flexible-slider-crank"
    assert worst < (BENT if bent else LARGEST)
    assert bends < 1e-6  # differences of sixth order know no better where joints read angles


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_has_no_formula_is_refused_by_name(name):
    with pytest.raises(ModelError, match=f"'{REFUSED[name]}'.*no"):
        equations(scenarios.load(name))


@pytest.mark.parametrize("stiffness", [None, 300.0])
def test_a_stop_that_is_open_is_left_out_and_told_and_one_that_is_touched_is_refused(stiffness):
    """Between its stops a pendulum has the equations that it has without any; nobody lets code pass through one."""

    def pendulum(low=None):
        model = Assembly(gravity=(0.0, -9.81))
        model.add("rod", Rod(start=(0.0, 0.0), end=(0.6, -0.8), mass=1.3, radius=0.02))
        model.join("pin", Revolute(), "ground", "rod.start")
        if low is not None:
            model.apply("stop", Stop(low=low, high=0.7, stiffness=stiffness), joint="pin")
        return model

    model = pendulum(-0.2)
    plain, written = equations(pendulum()), equations(model)
    assert written.open.keys() == {"stop"}
    assert "low=-0.2" in written.open["stop"]
    assert "stop: as long as it does not act" in written.markdown()
    assert written.loads == plain.loads
    assert written.jacobian == plain.jacobian
    assert not plain.open
    assert "stop" in model.force_edges  # the model stays as it was
    assert lagrange(model).lines() == lagrange(pendulum()).lines()
    with pytest.raises(ModelError, match=r"'stop'.*pass through"):
        moving(model)
    with pytest.raises(ModelError, match="'stop'"):
        equations(pendulum(0.3))  # which begins beyond it


@pytest.mark.short(1)
@pytest.mark.parametrize(("cls", "dimension"), JOINTS, **IDS)
def test_joints_write_the_rows_by_which_they_hold(cls, dimension):
    worst, bends = residual(zoo.pair(cls.example(dimension), dimension, gravity=(0.3, -9.81, 0.5)[:dimension]))
    assert worst < LARGEST
    assert bends < 1e-6


@pytest.mark.short(1)
@pytest.mark.parametrize(("cls", "dimension"), shortened(FORCES[:4], FORCES), **IDS)
def test_forces_write_what_they_exert(cls, dimension):
    force, model = cls.example(dimension), zoo.pair(Revolute(), dimension)
    model.apply("force", force, *["left.start", "right.end"][: force.sides])
    assert residual(model)[0] < LARGEST


@pytest.mark.parametrize(("cls", "dimension"), shortened(zoo.BODIES[:1], zoo.BODIES + zoo.LED), **IDS)
def test_bodies_of_every_kind_write_theirs(cls, dimension):
    model = Assembly(gravity=(0.4, -9.81, 0.7)[:dimension])
    model.add("body", cls.example(dimension))
    if (cls.__name__, dimension) == ("Beam", 3):
        with pytest.raises(ModelError, match="'body' has no single formula"):
            equations(model)
        return
    assert residual(model, 10)[0] < BENT


def test_in_every_basis_a_body_has_the_same_equations_of_its_own():
    for basis in ("natural", "canonical", "points", "masses"):
        model = Assembly(gravity=(0.0, 0.0, -9.81))
        tensor = ((0.3, 0.02, 0.01), (0.02, 0.4, -0.03), (0.01, -0.03, 0.5))
        model.add("body", RigidBody(mass=1.2, inertia=tensor, centre=(0.1, 0.2, 0.3), basis=basis))
        assert residual(model, 5)[0] < LARGEST


# --- parameters ----------------------------------------------------------------------------------------------------------


def hung(mass=1.0, inertia=0.4, stiffness=30.0, damping=0.6, gravity=9.81):
    model = Assembly(gravity=(0.0, -gravity), title="hung")
    model.add(
        "body", RigidBody(mass=mass, inertia=inertia, centre=(0.3, -0.4), ports={"pin": (0, 0), "tip": (0.7, 0.1)})
    )
    model.join("pin", Revolute(), "ground", "body.pin")
    spring = SpringDamper(stiffness=stiffness, damping=damping)
    model.apply("spring", spring, "ground", "body.tip", at=(1.0, 1.0))
    return model


def test_another_number_for_a_parameter_is_another_model():
    """By name, and each in the coordinates of the first: another mass places the points of the body elsewhere."""
    changed = {"mass": 2.5, "inertia": 0.9, "stiffness": 11.0, "damping": 0.0625, "gravity": 3.7}
    names = {"mass": "body.mass", "inertia": "body.inertia", "stiffness": "spring.stiffness",
             "damping": "spring.damping", "gravity": "gravity"}  # fmt: skip
    written, other = equations(hung()), equations(hung(**changed))
    draw = np.random.default_rng(2)
    q, v = draw.normal(size=(2, 6))
    one = written.at(q, v, parameters={names[key]: value for key, value in changed.items()})
    # the elements of the second body, put together from those of the first
    first, second = hung().bodies["body"], hung(**changed).bodies["body"]
    points = second.derived.fall[0] == 1.0
    weights = np.array([first.weights(x, point=bool(p)) for x, p in zip(second.elements, points, strict=True)])
    into = np.kron(weights, np.eye(2))
    two = other.at(into @ q, into @ v)
    assert np.allclose(into.T @ two["mass"] @ into, one["mass"], rtol=0.0, atol=1e-13)
    assert np.allclose(into.T @ two["loads"], one["loads"], rtol=0.0, atol=1e-12)


def test_a_rod_of_another_length_is_another_rod():
    def rod(length):
        model = Assembly(gravity=(0.0, -9.81))
        model.add("rod", Rod((0.0, 0.0), (length, 0.0), 0.8))
        return equations(model)

    q, v = np.random.default_rng(3).normal(size=(2, 4))
    changed, made = rod(1.0).at(q, v, parameters={"rod.length": 1.7}), rod(1.7).at(q, v)
    assert all(np.allclose(changed[name], made[name], rtol=0.0, atol=1e-14) for name in made)


def test_numbers_stand_in_place_of_names_where_asked():
    found = equations(hung(), numbers=True)
    assert not found.parameters
    q, v = np.random.default_rng(4).normal(size=(2, 6))
    named = equations(hung())
    assert all(np.allclose(found.at(q, v)[key], named.at(q, v)[key], rtol=0.0, atol=1e-13) for key in named.at(q, v))
    with pytest.raises(ModelError, match="parameter"):
        named.at(q, v, parameters={"body.masses": 1.0})
    with pytest.raises(ModelError, match="6 of each"):
        named.at(q[:3], v)


# --- what it costs, and how it reads ---------------------------------------------------------------------------------------


def test_a_chain_takes_operations_in_proportion_to_its_rods():
    short, long = equations(rods_in_a_row(5)).operations(), equations(rods_in_a_row(15)).operations()
    assert long <= 30 * 15
    assert (long - short) / 10 <= 30


def test_the_equations_of_a_pendulum_read_as_one_would_write_them():
    model = Assembly(gravity=(0.0, -9.81), title="pendulum_1")
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.0), 0.6))
    model.join("pin", Revolute(), "ground", "rod.start")
    found = equations(model)
    mass, length, gravity = (found.parameter(name) for name in ("rod.mass", "rod.length", "gravity"))
    a_x, a_y, b_x, b_y = found.coordinates
    ones = sympy.Matrix([[2, 0, 1, 0], [0, 2, 0, 1], [1, 0, 2, 0], [0, 1, 0, 2]])
    assert mass / 6 * ones == found.M  # (A1.12) of a uniform rod
    assert list(found.Q) == [0, -mass * gravity / 2, 0, -mass * gravity / 2]
    assert list(found.joint("pin")) == [a_x, a_y]
    assert sympy.expand(found.body("rod")[0] - ((b_x - a_x) ** 2 + (b_y - a_y) ** 2 - length**2) / 2) == 0
    page = found.latex()
    assert r"\frac{m^{\mathrm{rod}}}{3}" in page
    assert r"pendulum\_1" in page
    assert page.count(r"\begin{align*}") == page.count(r"\end{align*}") == 2
    assert page.count("{") == page.count("}")
    assert "$$" in found.markdown()


@pytest.mark.campaign
def test_a_course_of_many_pieces_is_followed_by_name():
    model = hung()
    turn = Smooth((0.0, 1.0, 2.5), (0.0, 0.7, -0.3))
    model.join("drive", DrivenRotation(turn), "ground", "body.pin")
    found = equations(model)
    assert {one.name for one in found.led.named} == {"drive.f", "drive.f'", "drive.f''"}
    assert residual(model, 5)[0] < LARGEST


def test_a_law_in_python_is_named():
    model = hung()
    model.apply("push", Load(Law(lambda t, x, v: (t, 0.0))), "body.tip")
    with pytest.raises(ModelError, match=r"'push' is a law in Python"):
        equations(model)
