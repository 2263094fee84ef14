"""Our own model files: what was saved reads back to the byte, sums and repeats are what they say, and errors tell the line."""

import json
import math
import random
import warnings
from dataclasses import dataclass
from pathlib import Path

import fastjsonschema
import numpy as np
import pytest

import scenarios
from budget import within
from campaign import shortened, some
from components import Revolute, Rod, Solid, SpringDamper
from coordinator import Simulation
from damage import damaged
from mjcf_model import MJCF
from modular import Assembly, Cut, Limit, ModelError
from modular.component import Component, class_name
from modular.errors import ImportedWarning
from scenarios import catalogue
from scenarios.models import kinds, read_own, write_model
from scenarios.models.document import read_document
from scenarios.models.expressions import worked_out
from scenarios.models.schema import schema
from scenarios.models.starting import STARTS, starts, write_start
from scenarios.models.writing import model_text
from sdf_model import SDF
from urdf_arm import ARM

PENDULUM = """
title = "pendulum"
gravity = [0.0, -9.81]

[parameters]
half = "length / 2"
length = 0.4
tip = ["length", "-half"]

[bodies.rod]
kind = "Rod"
start = [0, 0]
end = "tip"
mass = 1.0

[joints.pin]
kind = "Revolute"
between = ["ground", "rod.start"]
"""


@pytest.fixture
def written(tmp_path: Path):
    def write(text: str, name: str = "model.toml") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return path

    return write


# --- what was written reads back ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", scenarios.names())
def test_every_ready_system_goes_through_both_files_to_the_byte(name, tmp_path: Path):
    model = scenarios.load(name)
    model.save(tmp_path / "a.json")
    write_model(read_own(tmp_path / "a.json"), tmp_path / "a.toml")
    again = read_own(tmp_path / "a.toml")
    write_model(again, tmp_path / "b.toml")
    write_model(again, tmp_path / "b.json")
    for ending in ("toml", "json"):
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
    assert '"class"' not in (tmp_path / "a.toml").read_text() and "class =" not in (tmp_path / "a.toml").read_text()


@pytest.mark.parametrize("name", shortened(["four-bar", "robot-arm"], scenarios.names()))
def test_what_was_read_back_moves_to_the_same_bits(name, tmp_path: Path):
    model = scenarios.load(name)
    write_model(model, tmp_path / "a.toml")
    bits = []
    for one in (model, read_own(tmp_path / "a.toml")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Simulation(one, float(model.suggested["dt"]), model.suggested.get("coupling")) as simulation:
                run = simulation.run(20 * simulation.dt)
        bits.append([run.position(f"{body}.{one.bodies[body].port_names[0]}").tobytes() for body in one.bodies])
    assert bits[0] == bits[1]


def test_whatever_letters_and_numbers_a_model_holds_read_back(tmp_path: Path):
    model = Assembly(gravity=(0.0, -0.0), title='a "quoted" \\ title\twith é, 漢 and ~')
    model.add('odd"name"=[é]', Rod((0, 0.0), (1e-300, 1e60), mass=7))
    model.add("{i}", Rod((0.0, 1.0), (0.1 + 0.2, 1.0), mass=1 / 3, velocity=(-0.0, 5e-324)))
    model.join("#pin", Revolute(), "ground", "{i}.start", breaks_at=Limit(force=10.0))
    model.at(0.1, Cut("#pin"))
    model.suggested = {"dt": 1e-3, "mine": [1, {"a": True}]}
    text = model_text(model)
    path = tmp_path / "odd.toml"
    path.write_text(text, encoding="utf-8")
    assert json.dumps(read_own(path).to_data()) == json.dumps(model.to_data())
    assert model_text(read_own(path)) == text


def test_a_robot_becomes_a_model_file(written, tmp_path: Path):
    with pytest.warns(ImportedWarning):
        model = catalogue.build(str(written(ARM, "robot.urdf")), {})
    write_model(model, tmp_path / "robot.toml")
    assert read_own(tmp_path / "robot.toml").to_data() == model.to_data()


# --- sums ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, value",
    [
        ("a / 2", 1.5),
        ("2 * a^2 - 1", 17.0),
        ("-a ** 2", -9.0),
        ("sqrt(a + 1) * cos(pi)", -2.0),
        ("30 * deg", math.pi / 6),
        ("120 * mm", 0.12),
        ("atan2(1, -1)", 0.75 * math.pi),
        ("min(a, 2, 5)", 2.0),
        ("1e-3", 1e-3),
        ("  7", 7),
        ("mm", 5.0),
        ("60 * rpm", math.tau),
        ("(1 + 2) * (3 - 4) / 5", -0.6),
        ("none", None),
    ],
)
def test_sums_are_worked_out(text, value):
    found = worked_out(text, {"a": 3.0, "mm": 5.0} if text == "mm" else {"a": 3.0})
    assert found is None if value is None else found == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "text, said",
    [
        ("lenght / 2", "did you mean 'length'?"),
        ("length length", "nor an expression"),
        ("(-8) ** (1/3)", "not a real number"),
        ("1 / 0", "cannot be evaluated"),
        ("10.0 ** 400", "cannot be evaluated"),
        ("9 ** 9 ** 9 ** 9", "cannot be evaluated"),
        ("length.real", "not allowed in an expression"),
        ("__import__('os')", "there is no function"),
        ("[1][0]", "not allowed in an expression"),
        ("(lambda: 1)()", "not allowed in an expression"),
        ("'a' * 3", "not allowed in an expression"),
        ("1 if length else 2", "not allowed in an expression"),
        ("sin(x=1)", "not allowed in an expression"),
        ("sin(1, 2)", "cannot be evaluated"),
        ("1" * 600, "characters"),
        ("-" * 300 + "1", "split it"),
        ("(" * 400, "nor an expression"),
        ("True", "not allowed in an expression"),
        ("none + 1", "not a usable number"),
        ("", "nor an expression"),
        ("1j", "not allowed in an expression"),
    ],
)
def test_what_is_no_sum_is_refused_at_once(text, said):
    with within(0.5, text), pytest.raises(ValueError, match=said.replace("?", r"\?")):
        worked_out(text, {"length": 0.4})


# --- what people write ---------------------------------------------------------------------------------------------------


def test_parameters_stand_in_any_order_and_are_set_from_outside(written):
    path = written(PENDULUM)
    assert read_own(path).bodies["rod"].end == (0.4, -0.2)
    assert scenarios.load(str(path), length=1).bodies["rod"].end == (1, -0.5)
    assert read_own(path, {"half": 3.0}).bodies["rod"].end == (0.4, -3.0)
    with pytest.raises(ModelError, match="no parameter 'lenght'; did you mean 'length'"):
        read_own(path, {"lenght": 1.0})


def test_the_same_in_json_is_the_same(written):
    data = read_document(written(PENDULUM)).value
    assert read_own(written(json.dumps(data), "model.json")).to_data() == read_own(written(PENDULUM)).to_data()


def test_a_chain_of_repeats_is_the_one_that_python_builds(written):
    text = """
    gravity = [0.0, 0.0, -9.81]
    [parameters]
    n = 5
    [[repeat]]
    for = "i"
    to = "n"
    [repeat.bodies."rod{i}"]
    kind = "rod"
    start = ["(i - 1) / 10", 0.0, 0.0]
    end = ["i / 10", 0.0, 0.0]
    mass = "0.01 * i"
    [[repeat.repeat]]
    for = "k"
    from = "i"
    to = "min(i, n - 1)"
    [repeat.repeat.joints."ball{k}"]
    kind = "Spherical"
    between = ["rod{i}.end", "rod{k + 1}.start"]
    """
    model = read_own(written(text))
    assert list(model.bodies) == [f"rod{i}" for i in range(1, 6)] and model.joints == (
        "ball1",
        "ball2",
        "ball3",
        "ball4",
    )
    for i in range(1, 6):
        assert (
            model.bodies[f"rod{i}"].to_data() == Rod(((i - 1) / 10, 0.0, 0.0), (i / 10, 0.0, 0.0), 0.01 * i).to_data()
        )
        assert i == 5 or str(model.joint_edges[f"ball{i}"].second) == f"rod{i + 1}.start"


def test_an_included_file_sees_its_own_parameters_alone(written):
    leg = (
        PENDULUM.replace("rod", "{side}-leg")
        .replace(".pin", '."{side}-pin"')
        .replace("length = 0.4", 'length = 0.4\nside = "left"')
    )
    leg = leg.replace("[bodies.{side}-leg]", '[bodies."{side}-leg"]')
    written(leg, "parts/leg.toml")
    main = """
    gravity = [0.0, -9.81]
    include = ["parts/leg.toml", { file = "parts/leg.toml", parameters = { side = "right", length = "2 * size" } }]
    [parameters]
    size = 0.5
    [joints.tie]
    kind = "Distance"
    between = ["left-leg.end", "right-leg.end"]
    """
    model = read_own(written(main))
    assert model.joints == ("left-pin", "right-pin", "tie")
    assert model.bodies["left-leg"].end == (0.4, -0.2) and model.bodies["right-leg"].end == (1.0, -0.5)


def test_files_outside_the_folder_of_the_model_are_not_included(written, tmp_path: Path):
    (tmp_path / "inner").mkdir()
    written(PENDULUM, "other.toml")
    (tmp_path / "inner" / "link.toml").symlink_to(tmp_path / "other.toml")
    for name in ("../other.toml", str(tmp_path / "other.toml"), "link.toml", "a\\u0000b.toml"):
        with pytest.raises(ModelError, match=r"model.toml:1: include: .* does not lie in the folder"):
            read_own(written(f'include = "{name}"', "inner/model.toml"))
    with pytest.raises(ModelError, match="includes itself"):
        read_own(written('include = "model.toml"'))
    with pytest.raises(ModelError, match=r"model.toml:1: include: .*cannot be read"):
        read_own(written('include = "nowhere.toml"'))


def test_a_body_of_shapes_is_what_solid_makes_of_them(written):
    text = """
    [bodies.arm]
    kind = "NewtonEulerBody"
    ports.eye = { point = [0.1, 0, 0], axes = [[0, 1, 0], [-1, 0, 0], [0, 0, 1]] }
    [[bodies.arm.solid]]
    shape = "cylinder"
    radius = 0.02
    length = 0.5
    density = 7850
    turned = { axis = [0, 2, 0], angle = "90 * deg" }
    at = [0.25, 0, 0]
    [[bodies.arm.solid]]
    shape = "Ball"
    radius = 0.01
    density = 7850
    hole = true
    at = [0.25, 0, 0]
    [[bodies.arm.solid]]
    shape = "given"
    mass = 0.3
    inertia = [0.01, 0.02, 0.015]
    """
    body = read_own(written(text)).bodies["arm"]
    turn = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    solid = Solid.cylinder(0.02, 0.5, density=7850.0).turned(turn).moved((0.25, 0.0, 0.0))
    solid = solid - Solid.ball(0.01, density=7850.0).moved((0.25, 0.0, 0.0)) + Solid.given(0.3, (0.01, 0.02, 0.015))
    assert type(body).__name__ == "NewtonEulerBody" and body.mass == pytest.approx(solid.mass, rel=1e-15)
    assert np.allclose(body.centre, solid.centre, atol=1e-16) and np.allclose(body.inertia, solid.inertia, atol=1e-16)
    assert body.ports["eye"].axes == ((0, 1, 0), (-1, 0, 0), (0, 0, 1))


def test_a_plate_in_the_plane_of_shapes(written):
    box = "{shape = 'box', x = 0.2, y = 0.1, z = 1, mass = 3, turned = 0.4, at = [1, 2]}"
    text = f"gravity = [0.0, -9.81]\n[bodies.plate]\nsolid = {box}"
    body = read_own(written(text)).bodies["plate"]
    assert body.dimension == 2 and body.centre == (1.0, 2.0) and body.inertia == pytest.approx(3 * (0.04 + 0.01) / 12)


# --- what is wrong is told with its line ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "old, new, said",
    [
        ('"Rod"', '"Rood"', r"model.toml:11: bodies.rod.kind: there is no body 'Rood'; did you mean 'Rod'\?"),
        (
            'kind = "Rod"',
            'type = "Rod"',
            r'model.toml:11: bodies.rod.type: .*write kind = "Rod" instead of type = "Rod"',
        ),
        (
            '"Revolute"',
            '"hinge"',
            r"model.toml:17: joints.pin.kind: there is no joint 'hinge'; did you mean 'Revolute'\?",
        ),
        ("mass = 1.0", "maas = 1.0", r"model.toml:14: bodies.rod.maas: a Rod has no 'maas'; did you mean 'mass'\?"),
        ("mass = 1.0", "mass = -1.0", r"model.toml:14: bodies.rod.mass: .*-1.0"),
        ("mass = 1.0", "", r"model.toml:10: bodies.rod: a Rod needs mass"),
        ("mass = 1.0", "mass = '2 * m'", r"model.toml:14: bodies.rod.mass: there is no parameter 'm'"),
        (
            "mass = 1.0",
            "mass = 90 gram",
            r"model.toml:14: not valid TOML: .*90 gram; what has a unit stands in quotes, such as",
        ),
        (
            "[joints.pin]",
            "[forces.s]\nkind = 'Spring'\n[joints.pin]",
            r"did you mean 'SpringDamper', 'TableSpring' or 'Tors",
        ),
        ("between", "on", r"model.toml:18: joints.pin.on: a Revolute has no 'on'; did you mean 'between'\?"),
        ("mass = 1.0", "mass = [1.0]", r"model.toml:14: bodies.rod.mass: .*give a number"),
        ("mass = 1.0", "mass = true", r"model.toml:14: bodies.rod.mass: True; give a number"),
        ("mass = 1.0", "mass = 2024-01-01", r"model.toml:14: bodies.rod.mass"),
        (
            "start = [0, 0]",
            "start = [\n  0,\n  'x',\n]",
            r"model.toml:14: bodies.rod.start\[1\]: there is no parameter 'x'",
        ),
        ("rod.start", "rod.strat", r"model.toml:18: joints.pin.between: .*no port 'strat'; did you mean 'start'\?"),
        ("between", "betwen", r"model.toml:18: joints.pin.betwen: .*did you mean 'between'\?"),
        ('"length / 2"', '"tip"', r"model.toml:6: parameters"),
        ("length = 0.4", 'length = "half"', r"model.toml:\d: parameters.(half|length): it depends on itself"),
        ("length = 0.4", 'length = "0.4 * lenght"', r"model.toml:13: bodies.rod.end: .*tip|parameter 'lenght'"),
        ("[joints.pin]", "[joint.pin]", r"model.toml:16: joint: there is no part .* 'joint'; did you mean 'joints'\?"),
        ("title", "tittle", r"model.toml:2: tittle: there is no part of a model 'tittle'; did you mean 'title'\?"),
        ("gravity = [0.0, -9.81]", "gravity = 9.81", r"model.toml:3: gravity: .*numbers in"),
        ("gravity = [0.0, -9.81]", "gravity = 0.0, -9.81]", r"model.toml:3: not valid TOML: .*column 14: gravity"),
        ('title = "pendulum"', 'units = "mm"', r"model.toml:2: units: .*120 \* mm"),
        ("[joints.pin]", "[settings]\ndt = 0\n[joints.pin]", r"model.toml:17: settings.dt: 0; give a number above 0"),
        (
            "[joints.pin]",
            "[bodies.b]\nkind = 'Rigid'\nsolid = {shape = 'ball', radius = 1, mass = 1}\n[joints.pin]",
            r"model.toml:17: bodies.b.kind: there is no body 'Rigid'; did you mean 'RigidBody'\?",
        ),
        (
            "[joints.pin]",
            "[settings]\ncoupling = 'glud'\n[joints.pin]",
            r"model.toml:17: settings.coupling: there is no coupling 'glud'; did you mean 'glued'\?",
        ),
        (
            "[joints.pin]",
            "[settings]\nstep = 1\n[joints.pin]",
            r"model.toml:17: settings.step: there is no setting 'step'",
        ),
        (
            "[joints.pin]",
            "[[events]]\nat = 1\ndo = {kind = 'Cutt', joint = 'pin'}\n[joints.pin]",
            r"model.toml:18: events\[0\].do.kind: .*'Cut'",
        ),
        (
            "[joints.pin]",
            "[[repeat]]\nfor = 'i'\nto = 1e9\nbodies = {}\n[joints.pin]",
            r"model.toml:16: repeat\[0\]: more than",
        ),
        (
            "[joints.pin]",
            "[bodies.b]\nsolid = {shape = 'bal'}\n[joints.pin]",
            r"model.toml:17: bodies.b.solid.shape: .*did you mean 'ball'\?",
        ),
        (
            "[joints.pin]",
            "[bodies.b]\nsolid = {shape = 'ball', radius = 1, mass = -1}\n[joints.pin]",
            r"model.toml:17: bodies.b.solid.mass: .*-1",
        ),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_what_was_meant(written, old, new, said):
    assert old in PENDULUM
    with pytest.raises(ModelError, match=said):
        read_own(written(PENDULUM.replace(old, new, 1)))


def test_a_name_that_is_there_twice_is_refused(written):
    with pytest.raises(ModelError, match=r"model.json: 'rod' is there twice"):
        read_own(written('{"bodies": {"rod": {}, "rod": {}}}', "model.json"))
    twice = PENDULUM + '[[repeat]]\nfor = "i"\nto = 2\n[repeat.bodies.rod]\nkind = "Rod"\n'
    with pytest.raises(ModelError, match=r"repeat\[0\].bodies.rod: there is a body 'rod' already \(.*model.toml:10\)"):
        read_own(written(twice))


def test_lines_of_keys_are_those_of_the_text(written):
    """However it is laid out."""
    text = '''a.b = 1
    c = { d = [ # {
        "]", 'x', """
    }""", [1, 2],
      ], e = "\\"" }
    [t."u.v"]
    w = 1979-05-27 07:32:00

    [[l]]
    [l.m]
    n = 1
    [[l]]
    o = 2 # n
    '''
    node = read_document(written(text))
    lines = node.source.lines
    assert (
        lines["a",] == lines["a", "b"] == 1
        and lines["c", "d"] == 2
        and lines["c", "d", 2] == 3
        and lines["c", "d", 3] == 4
    )
    assert (
        lines["c", "e"] == 5
        and lines["t", "u.v", "w"] == 7
        and lines["l", 0, "m", "n"] == 11
        and lines["l", 1, "o"] == 13
    )
    assert read_document(written('{"a": [\n1, {"b":\n2}]}', "a.json")).source.lines["a", 1, "b"] == 2


def test_functions_of_a_file_are_not_imported(written):
    text = (
        PENDULUM
        + "[forces.law]\nkind = 'Controller'\non = ['ground', 'rod.end']\n"
        + "function = 'antigravity:geohash'\ninputs = {}\nevery = 1\n"
    )
    text = text.replace("rod.end", "rod.start")
    with pytest.raises(ModelError, match="not allowed"), Simulation(read_own(written(text)), 1e-3) as simulation:
        simulation.run(1e-3)
    import sys

    assert "antigravity" not in sys.modules


# --- editors, and files to begin with -----------------------------------------------------------------------------------------


@pytest.mark.campaign
def test_the_schema_takes_what_is_right_and_underlines_what_is_wrong(tmp_path: Path):
    valid = fastjsonschema.compile(schema())
    for path in STARTS.glob("*.toml"):
        valid(read_document(path).value)
    for name in scenarios.names():
        write_model(scenarios.load(name), tmp_path / "a.toml")
        valid(read_document(tmp_path / "a.toml").value)
        valid(scenarios.load(name).to_data())
    text = PENDULUM.replace("\n[", "\n [")
    for old, new in (
        ('"Rod"', '"Rood"'),
        ("mass = 1.0", "maas = 1.0"),
        ("mass = 1.0", "mass = [1]"),
        ("mass = 1.0", ""),
        ("[parameters]", "[params]"),
        ("between", "on"),
    ):
        (tmp_path / "a.toml").write_text(text.replace(old, new))
        with pytest.raises(fastjsonschema.JsonSchemaException):
            valid(read_document(tmp_path / "a.toml").value)


@pytest.mark.parametrize("name", starts())
def test_a_file_to_begin_with_moves_as_it_stands(name, tmp_path: Path):
    write_start(name, tmp_path / "mine.toml")
    with pytest.raises(ModelError, match="is there already"):
        write_start(name, tmp_path / "mine.toml")
    model = catalogue.build(str(tmp_path / "mine.toml"), {})
    if name != "four-bar":  # one of them in full: kernels of all take half a minute
        return
    with Simulation(model, model.suggested["dt"], model.suggested["coupling"]) as simulation:
        run = simulation.run(1.5)
    assert run.angle("pivot")[-1] > 2 * math.pi  # the motor turns the crank all the way round
    assert np.ptp(run.position("rocker.end")[:, 0]) > 0.1


def test_kinds_of_ones_own_are_written_read_and_completed_as_ours(written, monkeypatch):
    """Nobody lists them: a dataclass in a package that declares itself is enough."""
    kinds.kinds_of(Component)  # all that are installed are there

    @dataclass(frozen=True)
    class Leash(SpringDamper):
        slack: float = 0.0
        label: str = ""

    name = class_name(Leash)
    try:
        package = name.partition(":")[0]
        monkeypatch.setattr(kinds, "known_packages", lambda: frozenset({"components", "modular", package}))
        leash = "[forces.leash]\nkind = 'leash'\non = ['ground', 'rod.end']\nstiffness = 3\n"
        leash += "slack = 'length / 4'\nlabel = 'length'\n"
        model = read_own(written(PENDULUM + leash))
        force = model.force_edges["leash"].force
        assert (type(force), force.slack, force.label) == (Leash, 0.1, "length")
        assert 'kind = "Leash"' in model_text(model)
        assert read_own(written(model_text(model))).to_data() == model.to_data()
        assert '"Leash"' in json.dumps(schema())
        with pytest.raises(ModelError, match="a Leash has no 'slak'; did you mean 'slack'"):
            read_own(written(PENDULUM + leash.replace("slack", "slak")))
    finally:
        del Component.registered[name]


# --- files as strangers and bad disks leave them ------------------------------------------------------------------------------


def texts(ending: str) -> list[str]:
    """Good ones."""
    others = {"urdf": ARM, "xml": MJCF, "sdf": SDF}
    if ending in others:
        return [others[ending]]
    models = [
        scenarios.load(name)
        for name in ("robot-arm", "switching-pendulum", "flexible-slider-crank", "worn-crank", "four-bar")
    ]
    if ending == "json":
        return [json.dumps(model.to_data(), indent=2) for model in models]
    return [*map(model_text, models), *(path.read_text(encoding="utf-8") for path in sorted(STARTS.glob("*.toml")))]


def check_damaged(ending: str, seeds: range, write) -> None:
    """A model, or one sentence that names the file, within a second."""
    good = texts(ending)
    for text in good:
        catalogue.build(str(write(text, f"model.{ending}")), {})
    for seed in seeds:
        chance = random.Random(seed)
        path = write(damaged(chance.choice(good), chance), f"model.{ending}")
        searched = "[assemble]" in path.read_text(encoding="utf-8", errors="replace")  # where nothing closes, a while
        with within(10.0 if searched else 1.0, seed):
            try:
                catalogue.build(str(path), {})
            except ModelError as error:
                assert path.name in str(error), (seed, str(error))
            except BaseException as error:
                raise AssertionError(f"seed {seed}: {error!r}") from error


@pytest.mark.short(2)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ending", ["toml", "json", "urdf", "xml", "sdf"])
def test_damaged_files_are_refused_in_a_sentence(ending, written):
    check_damaged(ending, range(150), written)


@pytest.mark.campaign
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ending", ["toml", "json", "urdf", "xml", "sdf"])
def test_many_damaged_files_are_refused_in_a_sentence(ending, written):
    check_damaged(ending, range(10_000, 10_000 + some(100_000)), written)


@pytest.mark.parametrize(
    "text, name",
    [
        ("a" + ".a" * 200_000 + " = 1", "m.toml"),
        ("a = " + "[" * 100_000, "m.toml"),
        ("[" * 100_000, "m.json"),
        ('{"a":' * 50_000, "m.json"),
        ("a = 1" + "0" * 100_000, "m.toml"),
        ("1" * 100_000, "m.json"),
        ('{"bodies": ' + "9" * 100_000 + "}", "m.json"),
        ("".join(f"[a{k}]\n" for k in range(5_000)), "m.toml"),
        ("[parameters]\na0 = 1\n" + "".join(f'a{k} = "a{k - 1}"\n' for k in range(1, 5_000)), "m.toml"),
        ("[bodies." + "a." * 11 + "b]\n" * 2, "m.toml"),
        ("<!DOCTYPE r [<!ENTITY a 'a'><!ENTITY b '&a;&a;'>]><robot>&b;</robot>", "m.urdf"),
        (
            '[[repeat]]\nfor="i"\nto=1000\n[[repeat.repeat]]\nfor="j"\nto=1000\n[[repeat.repeat.repeat]]\nfor="k"\nto=1000\n',
            "m.toml",
        ),
    ],
)
def test_bombs_are_refused_within_a_second(text, name, written):
    path = written(text, name)
    with within(1.0, name), pytest.raises(ModelError, match=r"m\.(toml|json|urdf)"):
        catalogue.build(str(path), {})
