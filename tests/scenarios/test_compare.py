"""What `modular compare` promises: declared orders, a budget that adds up, refusals as rows, a folder that is complete."""

import csv
import functools
import json
import re
from pathlib import Path

import numpy as np
import pytest

import scenarios
from campaign import first_of, more
from command_line import CliRunner
from components import PointMassRod, PointOnLine, Revolute
from coordinator import Penalty, Simulation, Stable
from modular import Add, Assembly, InternalGains, ModelError, Remove
from scenarios import catalogue
from scenarios.cli import app
from scenarios.comparison import reference as reference_module
from scenarios.comparison.budget import PARTS, Budget, budget, follow_violations
from scenarios.comparison.compare import compare
from scenarios.comparison.methods import BY_HAND, METHODS, read_method, read_methods
from scenarios.comparison.plan import MAX_SAMPLES, pace, read_plan
from scenarios.comparison.reference import CONSTRAINED, EXACT, FIXED, reference
from scenarios.comparison.report import FILES, write_report
from scenarios.comparison.running import Failure
from scenarios.comparison.trace import ports_of
from scenarios.gallery.runs import THESIS

SLEIGH = """
from components import KnifeEdge, RigidBody
from modular import Assembly

def build():
    ice = Assembly(gravity=(0.0, 0.0), title="sleigh")
    ports = {"blade": (0.0, 0.0), "nose": (0.6, 0.1)}
    sleigh = RigidBody(
        mass=1.0, inertia=0.2, centre=(0.3, 0.0), ports=ports, velocity=(1.0, 0.3), angular_velocity=1.0
    )
    ice.add("sleigh", sleigh)
    ice.join("skate", KnifeEdge(normal=(0, 1)), "sleigh.blade", "ground")
    return ice
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def command(*words):
    return CliRunner().invoke(app, ["compare", *(str(word) for word in words)])


def table(folder):
    with (Path(folder) / "comparison.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def plan_of(name, **given):
    return read_plan(scenarios.load(name), name, {}, **given)


def largest(series):
    return float(np.nanmax(np.abs(series)))


@functools.cache
def pendulum_truth(until):
    """The reference of the double pendulum at five times."""
    return reference(scenarios.load("double-pendulum"), until, np.linspace(0.0, until, 5))


@functools.cache
def pendulum_budget(dt, until, coupling):
    """The budget of a run of it."""
    truth = pendulum_truth(until)
    return budget(scenarios.load("double-pendulum"), dt, until, coupling, truth.times, truth.positions)


@functools.cache
def pendulum_compared():
    """Methods of all kinds, at two steps each."""
    plan = plan_of("double-pendulum", methods="modular,hht,rk4,dop853", steps="1e-2,5e-3", until=0.1)
    return compare(plan, budgets=False)


@pytest.fixture
def without_pictures(monkeypatch):
    """Pictures take longer than most comparisons here; those of `kept` are drawn."""
    monkeypatch.setattr("scenarios.comparison.pictures.draw_pictures", lambda found, folder: [])


# --- orders ----------------------------------------------------------------------------------------------------------


def test_the_table_gives_every_method_its_declared_order():
    found = pendulum_compared()
    orders = {method.name: found.order(method).order for method in found.plan.methods if not method.adaptive}
    assert 1.9 < orders["modular"] < 2.1
    assert 1.9 < orders["hht"] < 2.1
    assert 3.8 < orders["rk4"] < 4.3
    assert found.reference.text == EXACT
    assert found.reference.sure < 1e-11


def test_an_adaptive_method_runs_once_and_errs_less_than_the_reference_is_sure_to():
    found = pendulum_compared()
    (row,) = (row for row in found.rows if row.method.name == "dop853")
    assert row.step == "adaptive"
    assert row.found["error"] <= found.reference.sure
    assert found.order(row.method) is None


def test_an_error_is_the_distance_from_the_reference_of_the_port_that_errs_most():
    found = pendulum_compared()
    row = found.rows[1]
    assert (row.method.name, row.dt) == ("modular", 5e-3)
    with Simulation(scenarios.load("double-pendulum"), 5e-3) as simulation:
        run = simulation.run(0.1)
    errors = {
        port: np.linalg.norm(run.position(port)[::2] - place, axis=1).max()
        for port, place in found.reference.positions.items()
    }
    assert row.found["ports"] == pytest.approx(errors, rel=1e-12)
    assert row.found["error_port"] == max(errors, key=lambda port: errors[port])
    assert row.found["error"] == pytest.approx(largest(row.error), rel=1e-12)


# --- the reference ---------------------------------------------------------------------------------------------------


def test_the_reference_meets_a_pendulum_in_closed_form():
    """Small swings about the vertical, to the first order in the amplitude: cos(sqrt(g / l) t), relative error a^2 / 16 (w t)."""
    swing = Assembly(gravity=(0.0, -9.81))
    angle = 1e-4
    end = (np.sin(angle), -np.cos(angle))
    swing.add("rod", PointMassRod(start=(0.0, 0.0), end=end, masses=(0.5, 1.0)))
    swing.join("pivot", Revolute(), "ground", "rod.start")
    times = np.linspace(0.0, 1.0, 11)
    truth = reference(swing, 1.0, times)
    expected = angle * np.cos(np.sqrt(9.81) * times)
    assert np.allclose(truth.positions["rod.end"][:, 0], expected, atol=angle**3)


@pytest.mark.campaign
def test_the_reference_passes_a_singular_place_as_the_modular_run_does():
    """The bars of the slider-crank lie on each other when the crank points down: a singular configuration, passed at 4 rad/s."""
    angle, rate = -1.2, -4.0
    out, up = np.array([np.cos(angle), 0.0]), np.array([0.0, np.sin(angle)])
    out_rate, up_rate = np.array([-np.sin(angle), 0.0]) * rate, np.array([0.0, np.cos(angle)]) * rate
    model = Assembly(gravity=(0.0, -9.81), title="slider-crank")
    crank = PointMassRod(
        start=(0.0, 0.0),
        end=tuple(out + up),
        masses=(1.0, 1.0),
        velocity=tuple((out_rate + up_rate) / 2),
        angular_velocity=rate,
    )
    rod = PointMassRod(
        start=tuple(out + up), end=tuple(2 * out), masses=(1.0, 1.0), velocity=tuple((3 * out_rate + up_rate) / 2),
        angular_velocity=-rate,
    )  # fmt: skip
    model.add("crank", crank)
    model.add("rod", rod)
    model.join("pivot", Revolute(), "ground", "crank.start")
    model.join("elbow", Revolute(), "crank.end", "rod.start")
    model.join("slide", PointOnLine(axis=(1.0, 0.0)), "ground", "rod.end")
    truth = reference(model, 0.2, np.linspace(0.0, 0.2, 5))
    assert truth.positions["crank.end"][:, 0].min() < -0.1  # it has passed there
    assert truth.sure < 1e-6
    with Simulation(model, 1e-4) as simulation:
        run = simulation.run(0.2)
    assert largest(run.position("rod.end")[::500] - truth.positions["rod.end"]) < 1e-4  # and the modular run there too


@pytest.mark.campaign
def test_where_independent_coordinates_are_refused_another_reference_takes_over_and_says_so():
    Path("sleigh.py").write_text(SLEIGH)
    model = catalogue.build("sleigh.py", {})
    truth = reference(model, 0.1, np.linspace(0.0, 0.1, 3))
    assert truth.text == CONSTRAINED
    assert "'skate'" in truth.passed_over[0]
    assert truth.sure < 1e-9


@pytest.mark.campaign
def test_a_model_of_many_bodies_is_not_given_to_independent_coordinates(monkeypatch):
    model = scenarios.load("chain", bodies=3)
    times = np.linspace(0.0, 0.02, 3)
    exact = reference(model, 0.02, times)
    monkeypatch.setattr(reference_module, "MAX_BODIES", 2)
    truth = reference(model, 0.02, times)
    assert (exact.text, truth.text) == (EXACT, CONSTRAINED)
    assert "2 bodies" in truth.passed_over[0]
    assert largest(truth.positions["rod2.end"] - exact.positions["rod2.end"]) < truth.sure + exact.sure


def test_where_nothing_adaptive_comes_to_its_end_steps_are_extrapolated(monkeypatch):
    """Two second-order runs give a fourth-order limit; its doubt is larger than its error."""
    model, times = scenarios.load("double-pendulum"), np.linspace(0.0, 0.1, 3)
    exact = reference(model, 0.1, times, steps=[2e-3])

    def stopped(job, text, share):
        raise Failure("diverged", "it stopped.")

    monkeypatch.setattr(reference_module._Job, "adaptive", stopped)
    truth = reference(model, 0.1, times, steps=[2e-3])
    assert truth.text == FIXED
    assert len(truth.passed_over) == 2 and all("it stopped" in reason for reason in truth.passed_over)
    apart = max(largest(truth.positions[port] - exact.positions[port]) for port in exact.positions)
    assert 1e-12 < apart < 0.05 * truth.sure


@pytest.mark.campaign
def test_a_reference_that_was_asked_for_is_taken_with_its_doubt():
    found = compare(plan_of("double-pendulum", methods="rk4", steps="4e-3", until=0.2, reference="hht"), budgets=False)
    assert found.reference.text == METHODS["hht"]
    assert 1e-7 < found.reference.sure < 1e-3  # it errs at second order, and knows it
    assert found.rows[0].found["error"] < 2.0 * found.reference.sure


THROWN = """from components import Revolute, Rod
from modular import Assembly


def build():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("rod", Rod((0, 0), (1, 0), 1.0, velocity=(5, 5)))
    model.join("pin", Revolute(), "ground", "rod.start")
    return model
"""


def test_what_every_reference_refuses_is_said_once():
    Path("thrown.py").write_text(THROWN)
    result = command("thrown.py", "--until", "0.05")
    assert result.exit_code == 2
    assert result.stderr.count("initial velocities violate") == 1 and "--reference" not in result.stderr


def test_a_reference_that_refuses_the_model_refuses_the_comparison():
    Path("sleigh.py").write_text(SLEIGH)
    result = command("sleigh.py", "--methods", "hht", "--dt", "1e-2", "--until", "0.05", "--reference", "dop853")
    assert result.exit_code == 2
    assert "skate" in result.stderr and "--reference dop853" in result.stderr
    assert not Path("comparisons").exists()


# --- the budget ------------------------------------------------------------------------------------------------------


def test_a_budget_at_times_between_ticks_is_refused():
    model, times = scenarios.load("double-pendulum"), np.linspace(0.0, 0.05, 5)
    with pytest.raises(ModelError, match=r"5 times until 0.05 s lie 0.0125 s apart, and samples of the run 0.0\d+ s"):
        budget(model, 1e-3, 0.05, Penalty(), times, {})


@pytest.mark.parametrize(("dt", "until"), [(1e-3, 0.06), *more([(1e-3, 0.1), (1e-3, 0.3), (1e-4, 0.3)])])
def test_the_parts_of_the_error_add_up_to_ten_percent_on_the_double_pendulum(dt, until):
    split = pendulum_budget(dt, until, Penalty())
    sizes = split.largest
    assert split.share < 0.1
    assert split.holds and split.holds_until == until
    assert sizes["total"] > 1e3 * pendulum_truth(until).sure
    assert sizes["compliance"] > 10.0 * sizes["integration"] > 0.0
    assert sizes["drift"] < 1e-3 * sizes["compliance"]  # bodies keep their shape


@pytest.mark.campaign
def test_the_budget_names_the_fixed_gains_of_the_thesis():
    """Fixed internal gains cost an order: bodies that drift, not joints that open, spoil these runs."""
    theirs = pendulum_budget(1e-3, 0.1, THESIS)
    ours = pendulum_budget(1e-3, 0.1, Penalty(rule=THESIS.rule, internal=InternalGains(), preload=False))
    assert theirs.largest["drift"] > 3.0 * theirs.largest["compliance"]
    assert ours.largest["drift"] < 0.5 * ours.largest["compliance"]
    assert theirs.largest["compliance"] == pytest.approx(ours.largest["compliance"], rel=0.1)
    assert theirs.holds and ours.holds


def test_stiffer_joints_take_from_the_compliance_and_leave_the_bodies_as_they_are():
    stiff, soft = (pendulum_budget(1e-3, 0.06, Penalty(rule=Stable(safety=safety))).largest for safety in (1.25, 2.5))
    assert soft["compliance"] == pytest.approx(4.0 * stiff["compliance"], rel=0.1)  # the frequency is divided by safety
    assert soft["drift"] == pytest.approx(stiff["drift"], rel=0.1)


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("name", "dt", "until"),
    first_of(1, [("double-pendulum-3d", 1e-3, 0.04), ("slider-crank", 1e-3, 0.15), ("chain", 2e-3, 0.06)]),
)
def test_the_parts_add_up_in_space_in_loops_and_in_chains(name, dt, until):
    model = scenarios.load(name, **({"bodies": 3} if name == "chain" else {}))
    times = np.linspace(0.0, until, 3)
    truth = reference(model, until, times)
    assert budget(model, dt, until, Penalty(), times, truth.positions).share < 0.1


@pytest.mark.campaign
def test_a_motion_that_follows_all_violations_differs_by_the_time_integration_only():
    model = scenarios.load("double-pendulum")
    times = np.linspace(0.0, 0.1, 3)
    errors = []
    for dt in (2e-3, 1e-3):
        with Simulation(model, dt) as simulation:
            run = simulation.run(0.1)
        motion = follow_violations(model, run, times, joints=True, bodies=True)
        every = round(times[1] / dt)
        recorded = ports_of(run)
        errors.append(max(largest(recorded[port][::every] - motion[port]) for port in motion))
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)  # second order


def test_joints_that_follow_a_run_are_as_open_as_its_joints():
    model = scenarios.load("double-pendulum")
    times = np.linspace(0.0, 0.1, 3)
    with Simulation(model, 1e-3) as simulation:
        run = simulation.run(0.1)
    motion = follow_violations(model, run, times, joints=True, bodies=False)
    gap = motion["lower.start"] - motion["upper.end"]
    assert np.allclose(gap, run.violation("elbow")[::50], atol=1e-4 * largest(gap))
    length = np.linalg.norm(motion["upper.end"] - motion["upper.start"], axis=1)
    assert np.allclose(length, 1.0, atol=1e-11)  # and its bodies are rigid


@pytest.mark.campaign
def test_a_budget_follows_the_cuts_of_the_model():
    model = scenarios.load("cut-double-pendulum", elbow=0.02, pivot=0.04)
    times = np.linspace(0.0, 0.06, 4)
    truth = reference(model, 0.06, times, steps=[1e-3])
    split = budget(model, 1e-3, 0.06, Penalty(), times, truth.positions)
    assert split.holds
    assert np.isfinite(split.total).all()


def test_a_budget_says_how_long_its_parts_add_up():
    times = np.linspace(0.0, 1.0, 11)
    error, remainder = 1e-3 * times, 1e-3 * times**4
    split = Budget(times, error, error, error, error, remainder)
    assert split.share == pytest.approx(1.0)
    assert not split.holds
    assert split.holds_until == pytest.approx(0.4)  # 0.5^3 is the first cube above a tenth
    assert split.sound.share < 0.1 and split.sound.largest["total"] == pytest.approx(4e-4)
    calm = Budget(times, error, error, error, error, 0.01 * error)
    assert calm.holds and calm.holds_until == 1.0 and calm.sound is calm


def test_conditions_leave_the_error_whole_and_the_report_says_why(monkeypatch):
    monkeypatch.setattr("scenarios.comparison.pictures.write", lambda figure, path: path)  # which there are, unpainted
    found = compare(plan_of("switching-pendulum", methods="modular", steps="5e-3", until=0.02))
    (row,) = found.rows
    assert row.budget is None
    assert "conditions" in row.no_budget
    files = write_report(found, Path())
    assert Path("comparison.png") in files and Path("budget.png") not in files
    assert "conditions" in Path("report.md").read_text(encoding="utf-8")


# --- events ----------------------------------------------------------------------------------------------------------


@pytest.mark.campaign
def test_references_run_the_same_schedule():
    found = compare(
        read_plan(
            scenarios.load("cut-double-pendulum", elbow=0.05, pivot=0.1), "cut-double-pendulum", {},
            methods="modular,hht,rk4", steps="1e-2,5e-3", until=0.2,
        ),
        budgets=False,
    )  # fmt: skip
    assert [event["name"] for event in found.reference.run.events] == ["elbow", "pivot"]
    for name, least in (("modular", 1.9), ("hht", 1.9), ("rk4", 3.5)):
        assert found.order(read_method(name, "")).order > least, name


@pytest.mark.campaign
def test_ports_hold_no_place_while_their_body_is_not_there():
    late = Assembly(gravity=(0.0, -9.81), title="late")
    rod = PointMassRod(start=(0.0, 0.0), end=(1.0, 0.0), masses=(0.5, 1.0))
    late.add("rod", rod)
    late.join("pivot", Revolute(), "ground", "rod.start")
    late.at(0.02, Add("other", PointMassRod(start=(3.0, 0.0), end=(4.0, 0.0), masses=(1.0, 2.0))))
    found = compare(read_plan(late, "late", {}, methods="modular,rk4", steps="1e-2", until=0.04))
    for row in found.rows:
        place = row.trace.positions["other.end"]
        assert np.isnan(place[:2]).all() and np.isfinite(place[2:]).all()
        assert np.isfinite(row.error).all()
    assert np.isnan(found.reference.positions["other.end"][:2]).all()
    assert all(split.holds for _, split in found.budgets)


@pytest.mark.campaign
def test_a_followed_motion_has_no_place_for_a_body_that_is_gone():
    pair = Assembly(gravity=(0.0, -9.81), title="pair")
    for name, x in (("near", 0.0), ("far", 3.0)):
        pair.add(name, PointMassRod(start=(x, 0.0), end=(x + 1.0, 0.0), masses=(0.5, 1.0)))
        pair.join(f"pivot-{name}", Revolute(), "ground", f"{name}.start")
    pair.at(0.05, Remove("far"))
    with Simulation(pair, 1e-3) as simulation:
        run = simulation.run(0.1)
    motion = follow_violations(pair, run, np.linspace(0.0, 0.1, 5), joints=True, bodies=True)
    for port, place in motion.items():
        assert (np.isnan(place) == np.isnan(run.position(port)[::25])).all(), port
    assert np.isnan(motion["far.end"][2:]).all()


def test_an_exact_solution_is_sampled_as_coarsely_as_the_events_allow():
    def paced(model, **given):
        plan = read_plan(model, "model", {}, methods="rk4", steps="1e-3,1e-4", **given)
        return plan.interval, pace(plan.assembly, plan.interval, plan.steps)

    assert paced(scenarios.load("double-pendulum"), until=5.0) == pytest.approx((1e-2, 1e-2))
    assert paced(scenarios.load("cut-double-pendulum", elbow=0.505), until=5.0) == pytest.approx((1e-2, 1e-3))
    assert paced(scenarios.load("cut-double-pendulum", elbow=0.5055), until=5.0) == pytest.approx((1e-2, 1e-4))
    assert paced(scenarios.load("switching-pendulum"), until=5.0) == pytest.approx((1e-2, 1e-3))


def test_there_are_never_more_common_times_than_a_picture_can_show():
    for until in (1e-2, 0.5, 0.5011, 7.0):
        plan = plan_of("double-pendulum", steps="1e-3,5e-4", until=until)
        assert 1 <= plan.samples <= MAX_SAMPLES
        assert plan.until <= until * (1 + 1e-9) and plan.until > until - plan.interval * (1 + 1e-9)


# --- rows that go wrong ----------------------------------------------------------------------------------------------


def test_a_method_that_refuses_the_model_is_a_row_that_says_why(without_pictures):
    Path("sleigh.py").write_text(SLEIGH)
    result = command("sleigh.py", "--methods", "rk4,hht", "--dt", "1e-2", "--until", "0.1", "--out", "kept")
    assert result.exit_code == 0, result.stderr
    refused, done = table("kept")
    assert (refused["outcome"], done["outcome"]) == ("refused", "done")
    assert "non-holonomic" in refused["message"] and refused["error [m]"] == ""
    assert "'skate'" in result.stdout
    assert "'skate'" in Path("kept/report.md").read_text(encoding="utf-8")


@pytest.mark.campaign
def test_a_method_that_diverges_is_a_row_that_says_so(without_pictures):
    result = command(
        "chain", "--set", "bodies=2", "--methods", "thesis,modular", "--dt", "5e-3", "--until", "0.05", "--no-budget",
        "--out", "kept"
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    thesis, modular = table("kept")
    assert (thesis["outcome"], modular["outcome"]) == ("diverged", "done")
    assert "stability limit" in thesis["message"]


def test_what_was_done_before_an_interrupt_is_reported(monkeypatch, without_pictures):
    from scenarios.comparison import compare as module

    carry_through = module.carry_through

    def pressed(assembly, dt, coupling, *rest):
        if dt < 1e-2:
            raise KeyboardInterrupt
        return carry_through(assembly, dt, coupling, *rest)

    monkeypatch.setattr(module, "carry_through", pressed)
    result = command(
        "double-pendulum", "--methods", "modular", "--dt", "1e-2,5e-3", "--until", "0.05", "--no-budget", "--out", "kept"
    )  # fmt: skip
    assert result.exit_code == 130
    assert [row["outcome"] for row in table("kept")] == ["done", "interrupted"]


# --- names -----------------------------------------------------------------------------------------------------------


def test_every_short_name_is_a_method():
    for name in METHODS:
        assert read_method(name, "double-pendulum").coupling is not None
    assert read_method("thesis", "double-pendulum").coupling == THESIS
    assert [name for name in METHODS if read_method(name, "").modular] == ["modular", "thesis"]
    assert read_method("dop853", "").adaptive and not read_method("rk4", "").adaptive


def test_a_coupling_is_a_method_too():
    plain, typed = read_methods("modular, penalty(rule=stable(safety=1.5, damping=0.1))", "double-pendulum")
    assert plain.coupling == Penalty()
    assert typed.coupling == Penalty(rule=Stable(safety=1.5, damping=0.1))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--methods", "hth"], "did you mean 'hht'"),
        (["--methods", ","], "give at least one"),
        (["--methods", "penalty(rule=nothing)"], "nothing"),
        (["--methods", "hand-lagrange"], "two-rods"),
        (["--dt", "1e-3,3e-4"], "0.0003 s does not divide"),
        (["--dt", "0"], "positive"),
        (["--until", "-1"], "positive"),
        (["--until", "1e-9"], "less than the coarsest step"),
        (["--reference", "truth"], "--reference truth"),
        (["--out", "."], "folder of its own"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_words(words, said):
    result = command("double-pendulum", *words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not any(Path().iterdir())


def test_an_unknown_method_is_refused_with_the_list_of_names():
    with pytest.raises(ModelError) as caught:
        read_methods("modular,euler", "double-pendulum")
    for name in (*METHODS, *BY_HAND):
        assert name in str(caught.value)


# --- solved by hand --------------------------------------------------------------------------------------------------


@pytest.mark.campaign
def test_the_solvers_by_hand_are_first_order_on_their_own_scenario():
    plan = plan_of("two-rods", methods="hand-newton-euler,hand-lagrange,modular", steps="4e-3,2e-3", until=0.04)
    found = compare(plan, budgets=False)
    for name in BY_HAND:
        assert found.order(read_method(name, "two-rods")).order == pytest.approx(1.0, abs=0.1)
    errors = [row.found["error"] for row in found.rows]
    assert errors[1] == pytest.approx(errors[3], rel=1e-6)  # the same step of the same equations
    assert errors[5] < 0.1 * errors[1]


# --- the folder ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A report, made once."""
    folder = tmp_path_factory.mktemp("report") / "pendulum"
    result = command(
        "double-pendulum", "--methods", "modular,hht", "--dt", "4e-3,2e-3", "--until", "0.04", "--out", folder
    )
    assert result.exit_code == 0, result.stderr
    return folder, result


def test_the_report_folder_is_complete(kept):
    folder, result = kept
    assert {path.name for path in folder.iterdir()} == set(FILES)
    report = (folder / "report.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", report):
        assert (folder / target).is_file(), target
    for said in (
        "modular",
        "hht",
        "| order |",
        "compliance of the joints",
        "MinimalCoordinates".lower(),
        "DOP853",
        "sure to",
    ):
        assert said in report, said
    assert "modular compare double-pendulum --methods modular,hht --dt 4e-3,2e-3 --until 0.04" in report
    assert "compliance of the joints" in result.stdout
    assert (folder / "comparison.png").read_bytes().startswith(b"\x89PNG")


def test_the_tables_read_back_with_the_numbers_of_the_json(kept):
    folder, _ = kept
    data = json.loads((folder / "comparison.json").read_text(encoding="utf-8"))
    rows = table(folder)
    assert [row["method"] for row in rows] == ["modular", "modular", "hht", "hht"]
    with (folder / "errors.csv").open(encoding="utf-8", newline="") as file:
        series = list(csv.DictReader(file))
    assert [float(line["time [s]"]) for line in series] == pytest.approx(data["times"])
    for row, whole in zip(rows, data["rows"], strict=True):
        assert float(row["error [m]"]) == whole["error"]
        assert float(row["order"]) == data["orders"][row["method"]]["order"]
        errors = [float(line[f"{row['method']} {float(row['dt [s]']):g} [m]"]) for line in series]
        assert max(errors) == whole["error"]
        assert errors == whole["series"]["error"]
    for whole in data["rows"][:2]:
        split = whole["budget"]
        assert set(split["series"]) == {"total", *PARTS, "remainder"}
        assert split["share"] < 0.1
        parts = [float(line[f"modular {whole['dt']:g} compliance [m]"]) for line in series]
        assert max(parts) == split["largest"]["compliance"]


@pytest.mark.campaign
def test_a_report_is_not_overwritten_unless_that_is_asked_for(without_pictures):
    words = ("double-pendulum", "--methods", "modular", "--dt", "1e-2", "--until", "0.01", "--no-budget")
    assert command(*words, "--out", "mine").exit_code == 0
    before = Path("mine/comparison.csv").read_bytes()
    again = command(*words, "--out", "mine")
    assert again.exit_code == 2
    assert "--overwrite" in again.stderr
    assert Path("mine/comparison.csv").read_bytes() == before
    assert command(*words, "--out", "mine", "--overwrite").exit_code == 0
    assert command(*words).exit_code == 0
    assert command(*words).exit_code == 0
    assert {path.name for path in Path("comparisons").iterdir()} == {"double-pendulum", "double-pendulum-2"}


def test_a_run_of_another_kind_in_the_folder_is_not_touched():
    Path("mine").mkdir()
    Path("mine/run.json").write_text("{}")
    result = command("double-pendulum", "--methods", "modular", "--dt", "4e-3", "--until", "0.02", "--out", "mine")
    assert result.exit_code == 2
    assert [path.name for path in Path("mine").iterdir()] == ["run.json"]
