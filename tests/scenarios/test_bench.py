"""What `modular bench` promises: ratios that are fair, verdicts that do not flatter, nothing lost, peers on the same physics."""

import importlib.util
import json
from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest

import scenarios
from campaign import first_of
from command_line import CliRunner
from coordinator import Centralized, Glued, MinimalCoordinates, Simulation
from coordinator.distributed.transports.raw_exchange import RawExchange
from modular import Diverged, ModelError
from scenarios.bench import glued, suite, work_precision, workers
from scenarios.bench.by_hand import chain as by_hand
from scenarios.bench.by_hand.rows import BOOK, Q, V
from scenarios.bench.figures import Figure, Point, Target
from scenarios.bench.harness import Subject, ratio, spread, take_turns
from scenarios.bench.models import chain, joint_chain, joint_types, planar_chain
from scenarios.bench.peers.exact import exact_ends
from scenarios.bench.peers.exudyn import Exudyn
from scenarios.bench.peers.mechanism import mechanism
from scenarios.bench.peers.mujoco import MuJoCo
from scenarios.bench.peers.peer import check_agreement, largest_error, ours
from scenarios.bench.peers.pinocchio import Pinocchio
from scenarios.bench.report import from_data, to_data, write_report
from scenarios.bench.suite import FAMILIES, QUICK, Case, MeasuringEffort, Results, Skip, choose, describe, run_suite
from scenarios.bench.table import BEGIN, END, number, put_into
from scenarios.bench.work_precision import apart, at_error, cheapest, common_error
from scenarios.cli import app

BOTH = [Target(2.0), Target(2.0, at_least=True)]
BRIEF = MeasuringEffort(quick=True, rounds=2, seconds=0.01)


class Slowing:
    """A clock of a machine that gets slower and slower: each look at it is a fixed work, which takes ever longer."""

    def __init__(self, growth=1.01):
        self.now, self.each, self.growth = 0.0, 1.0, growth

    def __call__(self):
        return self.now

    def work(self, amount=1.0):
        for _ in range(10):
            self.now += amount * self.each / 10
            self.each *= self.growth ** (amount / 10)


@pytest.fixture
def brief(monkeypatch):
    """Two rounds of everything, for tests that ask what is told of times, and not how long things take."""
    monkeypatch.setattr(suite, "QUICK", BRIEF)
    monkeypatch.setattr(
        work_precision, "take_turns", lambda subjects, rounds, **how: take_turns(subjects, BRIEF.rounds, **how)
    )


@pytest.fixture
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def small():
    """Results with everything in them."""
    wanted = Figure.of("chain", "10 bodies", "µs", spread([1.0, 1.2, 1.5]), Target(1.3), "a note")
    absent = Figure.skipped("threads", "two | more", "there is one core.", Target(1.6, at_least=True))
    point = Point("chain of 10", "modular", 1e-4, 2.5e-5, 0.07, 0.06, 0.09)
    lost = Point("chain of 10", "other", 1e-3, nan, 0.0, 0.0, 0.0, True, "diverged")
    about = {"processor": "P", "cores": 2, "memory": 8.0, "system": "S", "busy": None, "versions": {"modular": "1"}}
    return Results(about, True, "modular bench", [wanted, absent], [point, lost], [0.9, 1.1], 3.5, True)


# --- the harness -----------------------------------------------------------------------------------------------------


def test_the_ratio_of_a_subject_with_itself_is_one_within_its_spread_also_on_a_machine_that_slows_down():
    clock = Slowing()
    subjects = {name: Subject(lambda nothing: clock.work()) for name in ("a", "b")}
    seconds = take_turns(subjects, 20, clock=clock, tidy=list)
    found = ratio(seconds["b"], seconds["a"])
    assert found.low < 1.0 < found.high
    # half the rounds go the other way round: what is left of the 1 % from one to the next is its square
    assert found.median == pytest.approx(1.0, abs=1e-4)
    assert seconds["a"][-1] > 1.3 * seconds["a"][0]  # the machine did slow down


def test_a_ratio_is_that_of_the_work_and_preparation_is_not_counted():
    clock = Slowing(growth=1.001)
    finished = []
    subjects = {
        "once": Subject(lambda made: clock.work(made), prepare=lambda: 1.0, finish=finished.append),
        "thrice": Subject(lambda made: clock.work(made), prepare=lambda: (clock.work(7.0), 3.0)[1]),
    }
    seconds = take_turns(subjects, 10, warm_up=2, clock=clock, tidy=list)
    assert ratio(seconds["thrice"], seconds["once"]).median == pytest.approx(3.0, rel=0.02)
    assert finished == [1.0] * 12
    assert len(seconds["once"]) == 10


def test_a_spread_is_a_median_between_its_quartiles():
    found = spread([5.0, 1.0, 3.0, 2.0, 4.0])
    assert (found.low, found.median, found.high, found.samples) == (2.0, 3.0, 4.0, 5)
    assert found.scaled(1e3).high == 4e3
    with pytest.raises(ModelError, match="no samples"):
        spread([])
    with pytest.raises(ModelError, match="3 samples above and 2 below"):
        ratio([1, 2, 3], [1, 2])
    with pytest.raises(ModelError, match="rounds = 0"):
        take_turns({}, 0)


# --- verdicts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", BOTH, ids=str)
def test_reached_is_said_only_where_the_median_and_both_quartiles_keep_the_target(target):
    rng = np.random.default_rng(3)
    seen = set()
    for low, value, high in np.sort(rng.uniform(1.0, 3.0, (300, 3))):
        figure = Figure("f", "n", "", value, low, high, 5, target)
        worst = low if target.at_least else high
        best = high if target.at_least else low
        assert (figure.verdict == "reached") == target.kept_by(worst)
        assert (figure.verdict == "missed") == (not target.kept_by(best))
        seen.add(figure.verdict)
    assert seen == {"reached", "on the edge", "missed"}


@pytest.mark.parametrize("target", [*BOTH, None], ids=str)
@pytest.mark.parametrize("wrong", [nan, inf, -inf])
@pytest.mark.parametrize("key", ["value", "low", "high"])
def test_what_is_no_number_is_not_measured_whatever_the_target(target, wrong, key):
    figure = replace(Figure("f", "n", "", 2.0, 2.0, 2.0, 5, target), **{key: wrong})
    assert figure.verdict == "not measured"
    assert Figure.skipped("f", "n", "why", target).verdict == "not measured"


def test_a_verdict_that_was_written_down_is_worked_out_anew():
    data = Figure("f", "n", "", 3.0, 3.0, 3.0, 5, Target(2.0)).to_data()
    assert data["verdict"] == "missed"
    assert Figure.from_data(data | {"verdict": "reached"}).verdict == "missed"
    with pytest.raises(ModelError, match="limit = nan"):
        Target(nan)


# --- what is left behind ---------------------------------------------------------------------------------------------


def test_results_come_back_from_json_as_they_were():
    results = small()
    text = json.dumps(to_data(results), allow_nan=False)
    again = from_data(json.loads(text))
    assert repr(again) == repr(results)  # by text: nan is not equal to itself
    with pytest.raises(ModelError, match="no results of modular bench"):
        from_data({"format": "modular-run-1"})


def test_the_report_holds_table_data_and_picture_and_goes_into_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    files = write_report(small(), tmp_path, page)
    assert [file.name for file in files] == ["bench.json", "bench.md", "work-precision.png", "page.md"]
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    assert "| 10 bodies | 1.20 µs | 1.10 … 1.35 | ≤ 1.3 | on the edge | a note |" in text
    assert "| two \\| more |  |  | ≥ 1.6 | not measured | there is one core. |" in text
    assert "2 targets: 1 on the edge, 1 not measured." in text
    assert "stopped before its end" in text
    assert (tmp_path / "pictures" / "work-precision.png").stat().st_size > 10_000
    page.write_text("no marks", encoding="utf-8")
    with pytest.raises(ModelError, match="no place for the table"):
        put_into(page, "x")


def test_numbers_are_written_with_three_digits():
    shown = [number(x) for x in (0.0, 0.20049, 1.0, 12.34, 123.4, 1234.5, 99_950.0, 1.5e-6, 2.5e9)]
    assert shown == ["0", "0.200", "1.00", "12.3", "123", "1,230", "100,000", "1.50e-06", "2.50e+09"]


# --- the suite -------------------------------------------------------------------------------------------------------


def test_only_takes_known_names_and_names_the_nearest():
    assert choose(None) == list(FAMILIES)
    assert choose(" pendulum, chain ") == ["chain", "pendulum"]
    with pytest.raises(ModelError, match=r"no benchmark 'pendulm'; did you mean 'pendulum'\?"):
        choose("chain,pendulm")
    with pytest.raises(ModelError, match="no benchmark 'zzz'; there are: chain,"):
        choose("zzz")
    with pytest.raises(ModelError, match="give names such as"):
        choose(" , ")


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_says_what_it_measures_and_has_cases(name):
    assert describe(name).endswith(".")
    assert name == suite.family(name).NAME
    for effort in (QUICK, suite.FULL):
        cases = suite.family(name).cases(effort)
        assert cases and all(case.weight > 0 for case in cases)


class Three:
    """Three cases: the first is measured, the second does what it is told, the third is measured."""

    def __init__(self, second):
        self.second = second

    def cases(self, effort):
        def fine(effort):
            yield Figure.of("chain", "fine", "s", spread([1.0]))

        def wrong(effort):
            yield Figure.of("chain", "first half", "s", spread([1.0]))
            raise self.second

        return [Case("a", fine), Case("b", wrong, target=Target(1.0)), Case("c", fine)]


def three(monkeypatch, error):
    monkeypatch.setattr(suite, "family", lambda name: Three(error))
    return run_suite(["chain"], QUICK, Results({}, True))


def test_a_case_that_cannot_be_measured_is_a_row_that_says_so_and_the_others_go_on(monkeypatch):
    results = three(monkeypatch, Skip("it is not here."))
    assert [figure.name for figure in results.figures] == ["fine", "first half", "b", "fine"]
    assert (results.figures[2].why, results.figures[2].verdict) == ("it is not here.", "not measured")
    assert results.figures[2].target == Target(1.0)
    assert not results.interrupted


def test_ctrl_c_keeps_what_was_measured(monkeypatch):
    results = three(monkeypatch, KeyboardInterrupt())
    assert [figure.name for figure in results.figures] == ["fine", "first half"]
    assert results.interrupted and results.seconds > 0


# --- the command -----------------------------------------------------------------------------------------------------


@pytest.mark.campaign
@pytest.mark.usefixtures("_elsewhere", "brief")
def test_a_tiny_family_runs_from_the_command_line(tmp_path, monkeypatch):
    from scenarios.bench import pendulum

    monkeypatch.setattr(pendulum, "UNTIL", 0.05)
    words = ["bench", "--quick", "--only", "pendulum,floor", "--out", "kept"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.stderr
    data = json.loads((tmp_path / "kept" / "bench.json").read_text(encoding="utf-8"))
    assert data["command"] == "modular bench --quick --only pendulum,floor --out kept"
    assert data["machine"]["cores"] >= 1 and data["machine"]["processor"]
    assert len(data["yardsticks"]) == 3
    step, whole = data["figures"][:2]
    assert 0.0 < step["low"] <= step["value"] <= step["high"]
    assert whole["value"] * 1e3 == pytest.approx(step["value"] * 490)  # [us] of all the steps timed
    assert "double pendulum: a step" in result.stdout
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 2 and "holds results already" in again.stderr


@pytest.mark.usefixtures("_elsewhere")
def test_what_is_typed_wrongly_is_refused_before_anything_is_measured(tmp_path):
    wrong = CliRunner().invoke(app, ["bench", "--only", "chian"])
    assert wrong.exit_code == 2 and "did you mean 'chain'?" in wrong.stderr
    page = CliRunner().invoke(app, ["bench", "--only", "floor", "--page", "nowhere.md"])
    assert page.exit_code == 2 and "--page nowhere.md" in page.stderr
    assert list(tmp_path.iterdir()) == []
    listed = CliRunner().invoke(app, ["bench", "--list"])
    assert listed.exit_code == 0 and all(name in listed.stdout for name in FAMILIES)


def test_workers_say_a_header_and_one_element_and_plain_pyzmq_swaps_as_many_bytes():
    (figure,) = workers.message(QUICK)
    assert (figure.value, figure.verdict) == (88.0, "reached")
    for curve in (False, True):
        with RawExchange(88, curve=curve) as raw:
            assert raw.swap(20) > 0.0


# --- the models and the physics --------------------------------------------------------------------------------------


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("kind", "dimension"), first_of(2, joint_types()), ids=lambda value: getattr(value, "__name__", str(value))
)
def test_every_joint_can_be_timed(kind, dimension):
    with Simulation(joint_chain(kind, dimension, 3), 1e-4) as simulation:
        simulation.run(1e-3)
        assert len(simulation.assembly.joints) == 3


def test_the_exact_motion_is_that_of_independent_coordinates():
    for model, until in ((scenarios.load("double-pendulum"), 0.4), (planar_chain(3), 0.2)):
        with Simulation(model, 0.1, Centralized(MinimalCoordinates("DOP853"))) as simulation:
            simulation.run(until)
            ends = [simulation.port_motion(f"{name}.end")[0] for name in model.bodies]
        assert largest_error(exact_ends(mechanism(model), until), np.array(ends)) < 1e-9


def test_a_program_that_moves_something_else_is_refused_and_we_are_not():
    model = planar_chain(3)
    shared = mechanism(model)
    assert check_agreement("we", shared, lambda dt, ticks: ours(model, dt, ticks), 4e-4, 0.2) < 0.01
    heavier = replace(shared, gravity=shared.gravity * 1.01)
    truth = exact_ends(shared, 0.2)
    with pytest.raises(ModelError, match="converges to another motion"):
        check_agreement("it", heavier, lambda dt, ticks: ours(model, dt, ticks), 4e-4, 0.2)
    with pytest.raises(ModelError, match="does not move the same mechanism"):
        check_agreement("it", shared, lambda dt, ticks: truth * nan, 4e-4, 0.2)


def test_a_mechanism_is_read_from_the_assembly():
    upper, lower = mechanism(scenarios.load("double-pendulum")).links
    assert (upper.mass, upper.centre, upper.inertia) == pytest.approx((1.5, 1 / 3, 1 / 3))
    assert (lower.angle, lower.centre) == pytest.approx((-np.pi / 2, 2 / 3))
    rod = mechanism(chain(2)).links[1]
    assert rod.inertia == pytest.approx(0.1 * 0.1**2 / 12 + 0.1 * 0.005**2 / 4)  # a solid cylinder, across
    assert rod.axial == pytest.approx(0.1 * 0.005**2 / 2)  # and along
    assert rod.compliance == pytest.approx(6 / 0.1, rel=0.01)  # a slender rod pulled apart across: 6 / m
    with pytest.raises(ModelError, match="only rods"):
        mechanism(joint_chain(joint_types()[0][0], 2, 1))


@pytest.mark.campaign
@pytest.mark.parametrize("bodies", [3, 130])  # less than a block; two blocks and a piece
def test_the_loop_written_by_hand_moves_the_chain_as_we_do(bodies):
    loop = by_hand.chain(bodies, 1e-4)
    loop(400)
    loop(600)
    with Simulation(chain(bodies), 1e-4) as simulation:
        simulation.run(0.1)
        states = [simulation.body(name).state() for name in simulation.assembly.bodies]
        ledgers = [list(simulation.ledger(name).values()) for name in simulation.assembly.joints]
    # the same arithmetic; what sums in another order can do in 1 000 steps is far below what the chain moves
    assert loop.read(Q, 12) == pytest.approx(np.array([state["q"].ravel() for state in states]), abs=1e-9)
    assert loop.read(V, 12) == pytest.approx(np.array([state["v"].ravel() for state in states]), abs=1e-8)
    assert loop.read(BOOK, 8) == pytest.approx(np.array(ledgers), abs=1e-9)


def test_the_loop_written_by_hand_stops_where_a_rod_has_lost_its_shape():
    loop = by_hand.chain(3, 1e-4)
    loop(5)
    lengths = loop.read(Q, 12)
    lengths[1, 3] += 0.09  # the far end of a rod of 0.1 m
    loop.write(Q, lengths)
    with pytest.raises(Diverged, match="ticks on"):
        loop(5)


PEERS = {"exudyn": Exudyn, "mujoco": MuJoCo, "pinocchio": Pinocchio}


@pytest.mark.parametrize("name", PEERS)
def test_a_peer_moves_the_same_chain_or_says_how_to_install_it(name):
    shared = mechanism(chain(3))
    if importlib.util.find_spec(name) is None:
        with pytest.raises(Skip, match=rf"{name} is not installed.*pip install"):
            PEERS[name](shared, 1e-3)
        return

    def theirs(dt, ticks):
        peer = PEERS[name](shared, dt)
        peer.run(ticks)
        return peer.ends()

    assert check_agreement(name, shared, theirs, 1e-4, 0.2) < 0.01


# --- work against precision ------------------------------------------------------------------------------------------


def line(method, errors, seconds):
    return [Point("p", method, 1e-3, e, s, 0.9 * s, 1.1 * s, samples=5) for e, s in zip(errors, seconds, strict=True)]


def test_time_at_an_error_lies_on_the_line_through_the_points():
    mine, theirs = line("modular", [1e-2, 1e-4], [1.0, 10.0]), line("other", [1e-3, 1e-5], [4.0, 40.0])
    error = common_error(mine, theirs)
    assert error == pytest.approx(10**-3.5)
    assert at_error(mine, error).median == pytest.approx(10**0.75)
    assert at_error(theirs, error).high == pytest.approx(1.1 * 4.0 * 10**0.25)


def test_methods_that_reach_no_error_together_are_told_by_their_nearest_runs():
    mine, theirs = line("modular", [1e-2, 1e-4], [1.0, 10.0]), line("other", [1e-5, 1e-7], [4.0, 40.0])
    assert common_error(mine, theirs) is None
    assert "more exact at its coarsest step (1.0e-05 m in 4e+03 ms)" in apart(mine, theirs)
    assert "less exact at its finest step (1.0e-04 m in 1e+04 ms)" in apart(theirs, mine)


def test_the_cheapest_of_several_methods_reaches_the_error_or_is_more_exact():
    low, high = line("low", [1e-2, 1e-4], [1.0, 10.0]), line("high", [1e-5, 1e-9], [3.0, 4.0])
    assert cheapest([*low, *high], 1e-2) == ("low", at_error(low, 1e-2))
    assert cheapest([*low, *high], 10**-3.5)[0] == "high"  # its longest step takes less, and errs less
    assert cheapest([*low, *high], 10**-3.5)[1].median == pytest.approx(3.0)
    assert cheapest([*low, *high], 1e-7)[1].median == pytest.approx(12**0.5)


@pytest.mark.campaign
def test_a_race_tells_the_cheapest_run_that_errs_no_more_and_what_cannot_be_reached(brief):
    steps = (1e-2, 5e-5)  # far apart: a machine that is busy elsewhere does not turn them round
    asked = {1e-2: Target(1e6), 1e-30: Target(1.0)}
    race = glued.Race("three", lambda: planar_chain(3), 0.1, [(Glued(order=4), steps)], steps, asked, per_body=True)
    figures = list(glued.run_race(race, BRIEF))
    mine = [figure for figure in figures if glued.PEER not in figure.name]
    assert [(figure.name, figure.verdict) for figure in mine] == [
        ("three: to 1e-02 m", "reached"),
        ("three: to 1e-30 m", "not measured"),
    ]
    assert mine[0].note.startswith("Glued(order=4, tolerance=1e-14, implicit_forces=True), Δt = 10 ms, ")
    assert "none of our runs" in mine[1].why
    (other,) = [figure for figure in figures if glued.PEER in figure.name]
    assert other.target == glued.GAIN and (other.measured or "not installed" in other.why)


def test_what_glued_joints_keep_is_what_is_promised():
    gap, drift = glued.what_is_kept(QUICK)
    assert (gap.verdict, drift.verdict) == ("reached", "reached")
    assert gap.value > 0.0 and drift.value > 0.0
