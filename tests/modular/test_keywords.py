"""Keywords that are mistyped are answered with the one that was meant, by every component, by a simulation and by a model."""

import copy
import dataclasses
import inspect
from dataclasses import MISSING

import pytest

import components
import coordinator
import scenarios
from components import Beam, ModalBody, Rod, Spherical
from coordinator import Glued, Simulation
from modular import Assembly, Component, ModelError

KINDS = [
    kind
    for package in (components, coordinator)
    for kind in (getattr(package, name) for name in package.__all__)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind) and issubclass(kind, Component)
]


def needs(kind):
    return [f.name for f in dataclasses.fields(kind) if f.init and f.default is f.default_factory is MISSING]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_component_names_the_setting_that_was_meant(kind):
    settings = [field.name for field in dataclasses.fields(kind) if field.init]
    for setting in settings:
        with pytest.raises(TypeError, match=f"{kind.__name__} has no setting '{setting}_'; did you mean '") as error:
            kind(**{f"{setting}_": 1})
        assert isinstance(error.value, ModelError)
        assert error.value.__context__ is None
    assert list(inspect.signature(kind).parameters) == settings or not settings


@pytest.mark.parametrize("kind", [kind for kind in KINDS if needs(kind)], ids=lambda kind: kind.__name__)
def test_every_component_names_what_it_needs_and_shows_it(kind):
    """The example can be made as it stands, but for what is too long to show."""
    needed = needs(kind)
    listed = "(, | and )".join(f"'{name}'" for name in needed)
    with pytest.raises(TypeError, match=rf"^{kind.__name__} needs {listed}, as in {kind.__name__}\(") as error:
        kind()
    assert isinstance(error.value, ModelError) and len(str(error.value)) < 330
    shown = str(error.value).partition(" as in ")[2][:-1]
    assert all(f"{name}=" in shown for name in needed)
    if "…" not in shown:
        names = {name: getattr(package, name) for package in (components, coordinator) for name in package.__all__}
        assert isinstance(eval(shown, names), kind)
    if len(needed) > 1:
        with pytest.raises(TypeError, match=f"^{kind.__name__} needs '{needed[-1]}', as in"):
            kind(*(None for _ in needed[:-1])) if not keyword_only(kind) else kind(**dict.fromkeys(needed[:-1]))


def keyword_only(kind):
    return any(field.kw_only for field in dataclasses.fields(kind))


def test_who_gives_too_much_is_told_what_there_is():
    for call, said in (
        (lambda: Rod((0, 0), (1, 0), 1.0, start=(0, 0)), "Rod: 'start' is given twice, by its place and by its name"),
        (
            lambda: Rod(*range(9)),
            r"Rod takes 4 values \(start, end, mass, radius\) by place, not 9; give others by name: velocity, ",
        ),
        (lambda: Assembly().add("rod"), r"Assembly\.add needs 'body', as in Assembly\.add\(name='…', body=…\)"),
        (lambda: Assembly().at(), r"Assembly\.at needs 'time', as in Assembly\.at\(time=1\.0\)"),
        (
            lambda: Assembly().join("a", Spherical(), "b.c", "d.e", (0, 0)),
            r"Assembly\.join takes 4 values \(name, joint, first, second\) by place, not 5; give others by name: at, br",
        ),
        (lambda: Simulation(scenarios.load("double-pendulum")), r"Simulation needs 'dt', as in Simulation\(assembly=…"),
        (
            lambda: Simulation(scenarios.load("double-pendulum"), 1e-3).run(),
            r"Simulation\.run needs 'until', as in Simulation\.run\(until=1\.0\)",
        ),
    ):
        with pytest.raises(TypeError, match=said) as error:
            call()
        assert isinstance(error.value, ModelError)


def test_simulations_and_models_name_the_setting_that_was_meant():
    model = scenarios.load("double-pendulum")
    for call, meant in (
        (
            lambda: Simulation(model, 1e-3, couplin="glued"),
            "Simulation has no setting 'couplin'; did you mean 'coupling'?",
        ),
        (lambda: Simulation(model, steps=1e-3), "Simulation has no setting 'steps'; known: assembly, dt, coupling,"),
        (lambda: Assembly(gravty=(0.0, 0.0)), "did you mean 'gravity'?"),
    ):
        with pytest.raises(TypeError) as error:
            call()
        assert meant in str(error.value)
    with Simulation(model, 1e-3) as simulation:
        with pytest.raises(TypeError, match=r"Simulation\.run has no setting 'progres'; did you mean 'progress'?"):
            simulation.run(0.1, progres=print)
        with pytest.raises(TypeError, match=r"Simulation\.join has no setting 'brakes_at'; did you mean 'breaks_at'?"):
            simulation.join("weld", components.Fixed(), "upper.end", "lower.start", brakes_at=1)
        assert simulation.tick == 0


def test_what_is_spelt_right_is_made_copied_and_replaced_as_ever():
    rod = Rod((0.0, 0.0, 0.0), end=(1.0, 0.0, 0.0), mass=1.0)
    assert copy.copy(rod) == copy.deepcopy(rod) == dataclasses.replace(rod) == Component.from_data(rod.to_data()) == rod
    with pytest.raises(
        ModelError, match="its data do not fit its class: Rod has no setting 'mas'; did you mean 'mass'"
    ):
        Component.from_data(rod.to_data() | {"mas": 1.0})
    assert Glued(4) == Glued(order=4)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Assembly().add("a", bdy=None), r"Assembly\.add has no setting 'bdy'; did you mean 'body'\?"),
        (
            lambda: Assembly().join("a", None, "b", "c", break_at=1),
            r"Assembly\.join .*'break_at'; did you mean 'breaks_at'\?",
        ),
        (lambda: Assembly().apply("a", None, att=1), r"Assembly\.apply has no setting 'att'; did you mean 'at'\?"),
        (
            lambda: Beam.of_rectangle((0, 0), (1, 0), widt=1, height=1),
            r"Beam\.of_rectangle .*'widt'; did you mean 'width'\?",
        ),
        (
            lambda: Beam.of_circle((0, 0), (1, 0), radius=1, element=1),
            r"Beam\.of_circle .*'element'; did you mean 'elements'\?",
        ),
        (
            lambda: ModalBody.of_beam(None, modess=2),
            r"ModalBody\.of_beam has no setting 'modess'; did you mean 'modes'\?",
        ),
    ],
)
def test_what_builds_a_model_names_the_setting_that_was_meant(call, said):
    with pytest.raises(TypeError, match=said):
        call()
