"""What `modular study` promises: right orders, nothing done twice, the same numbers every time, divergence as a result."""

import csv
import io
import itertools
import json
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from command_line import CliRunner
from coordinator import Penalty, Run, Shannon, Stable
from modular import InternalGains, ModelError
from references import planar_double_pendulum
from scenarios.cli import app
from scenarios.settings import read_coupling
from scenarios.study import pool
from scenarios.study.cases import Case
from scenarios.study.fit import fit_order
from scenarios.study.table import Sheet
from scenarios.study.variants import read_sweep, text_of, variants

PENDULUM = ("double-pendulum", "--dt", "4e-4,2e-4,1e-4", "--until", "0.1", "--reference", "penalty")
CHAIN = ("chain", "--set", "bodies=3", "--dt", "4e-4,2e-4", "--until", "0.02", "--reference", "penalty")
MEASURED = {"wall time [s]"}  # differs from one time to the next; everything else repeats, bit for bit
SHANNON = "penalty(rule=shannon(delta=0.2))"
OWN = """
from components import PointMassRod, Revolute
from modular import Assembly

def build():
    swing = Assembly(gravity=(0.0, -9.81))
    swing.add("bar", PointMassRod(start=(0, 0), end=(LENGTH, 0), masses=(1.0, 0.5)))
    swing.join("pivot", Revolute(), "ground", "bar.start")
    return swing
"""

SLEIGH = """
from components import KnifeEdge, RigidBody
from modular import Assembly

def build():
    model = Assembly(gravity=(0.0, 0.0))
    model.add("sleigh", RigidBody(mass=1.3, inertia=0.2, centre=(0.25, 0), ports={"blade": (0, 0)}, velocity=(0.4, 0.375),
                                  angular_velocity=1.5))
    model.join("skate", KnifeEdge(normal=(0, 1)), "sleigh.blade", "ground")
    return model
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _without_pictures(request, monkeypatch):
    """Pictures take longer than most studies here; some tests ask for them."""
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr("scenarios.study.pictures.draw_pictures", lambda study, folder: [])


@pytest.fixture
def drawn():
    """Pictures are drawn."""


def study(*words, jobs=1):
    return CliRunner().invoke(app, ["study", *(str(word) for word in words), "--jobs", str(jobs)])


def data(folder):
    return json.loads((Path(folder) / "study.json").read_text(encoding="utf-8"))


def rows(folder, *, measured=False):
    """The table of a study, without what differs from one time to the next."""
    with (Path(folder) / "study.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    return [{name: cell for name, cell in row.items() if measured or name not in MEASURED} for row in found]


def counting(monkeypatch, stop_after=None):
    """Count the cases that are run, and press Ctrl-C after some."""
    done = []
    run_case = pool.run_case

    def counted(case, folder):
        if len(done) == stop_after:
            raise KeyboardInterrupt
        done.append(case)
        return run_case(case, folder)

    monkeypatch.setattr(pool, "run_case", counted)
    return done


# --- orders ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def of_the_pendulum(tmp_path_factory):
    """A study of it: what it has said, and what it has kept."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("pendulum"))
        patch.setattr("scenarios.study.pictures.draw_pictures", lambda study, folder: [])
        result = study(*PENDULUM, "--reference-dt", "2.5e-5", "--out", "kept")
        assert result.exit_code == 0, result.stderr
        return result.stdout, data("kept")


def test_the_penalty_coupling_converges_at_second_order_on_the_double_pendulum(of_the_pendulum):
    said, kept = of_the_pendulum
    fits = kept["fits"]["penalty"]
    for measure in ("error", "final_error", "gap"):
        assert 1.9 < fits[measure]["order"] < 2.15, measure  # the reference lifts it by a sixteenth of the last error
        assert (fits[measure]["points"], fits[measure]["finest"]) == (3, 1e-4)
    assert "order 2.0" in said


def test_the_error_is_that_against_an_independent_solution(of_the_pendulum):
    import scenarios
    from coordinator import Simulation

    with Simulation(scenarios.load("double-pendulum"), dt=4e-4) as simulation:
        run = simulation.run(0.1)
    truth = planar_double_pendulum((np.pi / 2, -np.pi / 2), 4e-4, 250)
    apart = [
        np.linalg.norm(run.position(port) - truth[:, k], axis=1).max()
        for k, port in ((0, "upper.end"), (1, "lower.end"))
    ]
    ports = of_the_pendulum[1]["cases"][0]["ports"]
    # the reference of the study is itself off by (2.5e-5 / 4e-4)^2 = 0.4 % of this error
    assert [ports["upper.end"][0], ports["lower.end"][0]] == pytest.approx(apart, rel=0.01)


def test_an_order_is_recovered_where_the_error_falls_along_a_line_and_nowhere_else():
    steps = [1.0 / 2**k for k in range(8)]
    fit = fit_order(steps, [3.0 * h**2 for h in steps])
    assert (fit.order, fit.factor, fit.points) == (pytest.approx(2.0), pytest.approx(3.0), 8)
    floor = fit_order(steps, [3.0 * h**4 + 1e-6 for h in steps])
    assert floor.order == pytest.approx(4.0, abs=0.1)
    assert floor.finest > steps[-2]  # the floor is left out
    wild = fit_order(steps, [1e9, None, 1e7, *(h**2 for h in steps[3:])])
    assert (wild.order, wild.coarsest) == (pytest.approx(2.0), steps[3])
    # in any order of steps
    assert fit_order(steps[::-1], [3.0 * h**2 for h in steps[::-1]]).order == pytest.approx(2.0)
    assert fit_order(steps, [1.0] * 8) is None
    assert fit_order(steps, [None] * 8) is None
    assert fit_order([1.0], [1.0]) is None


# --- resuming and repeating ------------------------------------------------------------------------------------------


def test_an_interrupted_study_goes_on_where_it_stopped(monkeypatch):
    words = (
        *PENDULUM[:-4],
        "--until",
        "0.02",
        "--reference",
        "penalty",
        "--coupling",
        "penalty",
        "--coupling",
        SHANNON,
    )
    words = (*words, "--out", "kept")
    with monkeypatch.context() as patch:
        first = counting(patch, stop_after=2)
        result = study(*words)
    assert result.exit_code == 130
    assert "2 of 6 cases are done" in result.stderr
    assert "same command again" in result.stderr
    before = {path.name: path.stat().st_mtime_ns for path in Path("kept/cases").iterdir()}
    assert len(before) == 3  # and the reference
    with monkeypatch.context() as patch:
        second = counting(patch)
        result = study(*words)
    assert result.exit_code == 0, result.stderr
    assert "2 of 6 cases found" in result.stdout
    assert len(second) == 4
    assert not set(map(Case.to_text, first)) & set(map(Case.to_text, second))
    after = {path.name: path.stat().st_mtime_ns for path in Path("kept/cases").iterdir()}
    assert {name: after[name] for name in before} == before


@pytest.mark.campaign
def test_the_same_study_gives_the_same_numbers_whether_in_one_process_or_in_two(monkeypatch):
    monkeypatch.setattr(pool, "most_jobs", lambda: 2)
    words = ("double-pendulum", "--dt", "2e-3,1e-3", "--until", "0.05", "--reference", "penalty")
    words = (*words, "--sweep", "rule.damping=0.02,0.1")
    assert study(*words, "--out", "one").exit_code == 0
    result = study(*words, "--out", "two", jobs=2)
    assert result.exit_code == 0, result.stderr
    assert "at the same time" in result.stdout
    assert rows("one") == rows("two")
    assert len(rows("one")) == 4
    assert rows("one")[0] != rows("one")[2]


def test_a_study_typed_twice_runs_nothing_and_writes_the_same_table(monkeypatch):
    study(*CHAIN, "--out", "kept")
    before = Path("kept/study.csv").read_bytes()
    with monkeypatch.context() as patch:
        done = counting(patch)
        assert study(*CHAIN, "--out", "kept").exit_code == 0
    assert (done, Path("kept/study.csv").read_bytes()) == ([], before)


def test_a_damaged_case_is_run_again(monkeypatch):
    study(*CHAIN, "--out", "kept")
    case = Path("kept/cases") / f"{data('kept')['cases'][1]['case']}.json"
    whole = rows("kept")
    case.write_text(case.read_text(encoding="utf-8")[:40], encoding="utf-8")
    done = counting(monkeypatch)
    assert study(*CHAIN, "--out", "kept").exit_code == 0
    assert [entry.digest for entry in done] == [case.stem]
    assert rows("kept") == whole


def test_a_model_that_has_changed_is_run_again(monkeypatch):
    # what Python keeps of a file is as old as the file, to the second
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    words = ("own.py", "--dt", "2e-3,1e-3", "--until", "0.02", "--reference", "penalty", "--out", "kept")
    Path("own.py").write_text(OWN.replace("LENGTH", "1"), encoding="utf-8")
    assert study(*words).exit_code == 0
    before = rows("kept")
    Path("own.py").write_text(OWN.replace("LENGTH", "2"), encoding="utf-8")
    result = study(*words)
    assert "found" not in result.stdout
    assert [row["error [m]"] for row in rows("kept")] != [row["error [m]"] for row in before]


# --- divergence ------------------------------------------------------------------------------------------------------


def test_a_case_that_diverges_is_a_result_and_the_report_points_to_pictures_that_are_there(drawn):
    result = study(*CHAIN, "--coupling", SHANNON, "--sweep", "rule.delta=0.1,0.31", "--out", "kept")
    assert result.exit_code == 0, result.stderr
    held, lost = rows("kept")[:2], rows("kept")[2:]
    assert [row["outcome"] for row in held + lost] == ["done", "done", "diverged", "diverged"]
    for row in lost:
        assert 0 < float(row["diverged at [s]"]) < 0.02
        assert row["error [m]"] == ""
        assert float(row["stability margin"]) < 1
    for text in (result.stdout, Path("kept/report.md").read_text(encoding="utf-8")):
        assert f"diverged at {float(lost[0]['diverged at [s]']):.4g} s" in text
    assert "Remedy" in Path("kept/report.md").read_text(encoding="utf-8")
    assert {path.name for path in Path("kept").glob("*.png")} == {"convergence.png", "work.png", "sweep.png"}
    for path in Path("kept").glob("*.png"):
        assert f"({path.name})" in text and path.stat().st_size > 10_000


def test_a_study_in_which_everything_diverges_has_a_table_and_no_pictures(drawn):
    result = study(*CHAIN, "--coupling", "penalty(rule=shannon(delta=0.45))", "--out", "kept")
    assert result.exit_code == 0, result.stderr
    assert {row["outcome"] for row in rows("kept")} == {"diverged"}
    assert not list(Path("kept").glob("*.png"))


def test_a_reference_that_diverges_is_refused():
    result = study(*CHAIN[:-1], "penalty(rule=shannon(delta=0.45))")
    assert result.exit_code == 2
    assert "--reference penalty(rule=shannon(delta=0.45))" in result.stderr
    assert "Choose another" in result.stderr


# --- what is asked for -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "coupling",
    [
        Penalty(),
        Penalty(rule=Shannon(delta=0.25, damping=0.1), internal=InternalGains.thesis(), preload=False),
        Penalty(rule=Stable(safety=1.5)),
    ],
)
def test_a_coupling_is_written_as_it_is_typed(coupling):
    assert read_coupling(text_of(coupling), None) == coupling


def test_sweeps_give_every_combination_and_leave_couplings_alone_that_lack_the_setting():
    sweeps = [read_sweep("rule.delta=0.1,0.2"), read_sweep("rule.damping=0,0.3")]
    found = variants(["penalty(preload=False)", "penalty(rule=shannon)"], sweeps)
    assert [variant.coupling for variant in found] == [
        "penalty(rule=stable(damping=0.0), preload=False)",
        "penalty(rule=stable(damping=0.3), preload=False)",
        "penalty(rule=shannon(delta=0.1, damping=0.0))",
        "penalty(rule=shannon(delta=0.1, damping=0.3))",
        "penalty(rule=shannon(delta=0.2, damping=0.0))",
        "penalty(rule=shannon(delta=0.2, damping=0.3))",
    ]
    assert found[3].values == {"rule.delta": "0.1", "rule.damping": "0.3"}
    rules = variants(["penalty"], [read_sweep("rule=stable,shannon(delta=0.2, damping=0.1)")])
    assert len(rules) == 2  # a comma inside brackets belongs to the value
    assert read_coupling(rules[1].coupling, None) == Penalty(rule=Shannon(delta=0.2, damping=0.1))
    assert [
        read_coupling(v.coupling, None).preload for v in variants(["penalty"], [read_sweep("preload=true,false")])
    ] == [
        True,
        False,
    ]


def test_a_setting_further_inside_may_be_called_by_its_last_word_where_there_is_but_one():
    for couplings in (["penalty"], ["glued", "penalty(rule=shannon)", "penalty"]):
        assert variants(couplings, [read_sweep("safety=1.1,2")]) == variants(
            couplings, [read_sweep("rule.safety=1.1,2")]
        )
    both = [read_sweep("rule=stable,shannon"), read_sweep("delta=0.1,0.2")]
    assert [v.values for v in variants(["penalty"], both)][1:] == [
        {"rule": "shannon", "rule.delta": "0.1"},
        {"rule": "shannon", "rule.delta": "0.2"},
    ]


@pytest.mark.campaign
def test_what_is_swept_stands_in_one_table_and_other_couplings_in_their_own():
    words = ("--coupling", "glued", "--coupling", "penalty", "--sweep", "rule=shannon,stable")
    result = study(*PENDULUM, "--until", "0.04", *words, "--out", "kept")
    assert result.exit_code == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines() if line.strip()]
    heads = [k for k, line in enumerate(lines) if "Δt" in line and "evaluations" in line]
    assert lines[heads[0] - 1] == ["penalty", "swept:", "rule"] and lines[heads[1] - 1][0] == "glued"
    assert lines[heads[0]][0] == "rule" and lines[heads[0]][-1] == "order"
    swept = lines[heads[0] + 1 : heads[1] - 1]
    assert [line[0] for line in swept] == ["shannon"] * 3 + ["stable"] * 3
    fits = [data("kept")["fits"][name]["error"] for name in ("penalty(rule=shannon)", "penalty(rule=stable)")]
    assert [line[-1] for line in swept[2::3]] == ["–" if fit is None else f"{fit['order']:.2f}" for fit in fits]


def test_cases_that_are_far_off_are_rows_and_no_warnings_of_python():
    with pytest.warns() as said:
        warnings.warn("so that there is one", stacklevel=1)
        warnings.simplefilter("always")
        result = study(
            "double-pendulum", "--dt", "2e-2,1e-2", "--until", "1", "--reference", "penalty", "--out", "kept"
        )
    assert result.exit_code == 0, result.output
    assert all(float(row["error [m]"]) > 1e-3 for row in rows("kept"))
    assert [str(one.message) for one in said] == ["so that there is one"]


def test_the_same_coupling_is_run_once():
    assert len(variants(["penalty", "Penalty()", "penalty(rule=stable(safety=1.25))"], [])) == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--sweep", "rule.delta=0.1"], ["rule.delta", "Stable has no setting 'delta'", "safety, damping"]),
        (["--sweep", "stiffness=1"], ["Penalty has no setting 'stiffness'", "rule, newmark, internal, preload"]),
        (["--sweep", "dt=1e-3,5e-4"], ["Penalty has no setting 'dt'", "steps are given as --dt"]),
        (["--sweep", "rule.dampng=1"], ["Stable has no setting 'dampng' (did you mean 'damping'?)"]),
        (["--sweep", "saftey=1"], ["did you mean 'rule.safety'?"]),
        (["--sweep", "damping=0,0.1"], ["--sweep damping: which one? There are internal.damping and rule.damping"]),
        (["--sweep", "safety=1.5", "--sweep", "rule.safety=2"], ["given twice"]),
        (["--sweep", "rule.safety=1.5", "--sweep", "safety=2"], ["--sweep rule.safety is given twice"]),
        (["--sweep", "rule.safety.more=1"], ["'safety' of Stable is 1.25", "sweep 'safety' itself"]),
        (["--sweep", "rule.safety=0.5"], ["safety = 0.5", "1.25 is usual"]),
        (["--sweep", "rule.safety=stiff"], ["--sweep rule.safety=stiff", "give a number"]),
        (["--sweep", "rule.safety"], ["write NAME=VALUE"]),
        (["--sweep", "rule.safety="], ["write NAME=VALUE"]),
        (["--sweep", "rule.safety=1.5", "--sweep", "rule.safety=2"], ["given twice"]),
        (["--dt", "4e-4,3e-4"], ["0.0003 s does not divide", "0.0004,0.0002,0.0001"]),
        (["--dt", "fine"], ["positive numbers"]),
        (["--dt", "0,1e-4"], ["positive numbers"]),
        (["--until", "1e-5"], ["less than the coarsest step"]),
        (["--until", "nan"], ["positive number of seconds"]),
        (["--coupling", "glue"], ["there is no coupling 'glue'"]),
        (["--reference", "truth"], ["--reference truth", "there is no coupling 'truth'"]),
        (["--reference-dt", "3e-4"], ["must divide the coarsest step"]),
        (["--set", "start=upside"], ["upside"]),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy_before_anything_is_written(words, told):
    result = study("double-pendulum", *words)
    assert result.exit_code == 2, result.stdout
    for part in told:
        assert part in result.stderr
    assert not list(Path().iterdir())


def test_an_event_that_falls_between_ticks_is_told():
    words = ("--dt", "4e-3,2e-3", "--until", "0.01", "--reference", "penalty", "--set", "elbow=0.006")
    result = study("cut-double-pendulum", *words)
    assert result.exit_code == 0, result.stderr
    assert "event at 0.006 s falls between two ticks of Δt = 4 ms:" in result.stdout
    assert "end at 0.008 s" in result.stdout  # the last multiple of 4 ms


def test_the_report_repeats_the_command():
    study(*CHAIN, "--out", "kept")
    text = Path("kept/report.md").read_text(encoding="utf-8")
    assert (
        "modular study chain --dt 4e-4,2e-4 --until 0.02 --reference penalty --set bodies=3 --jobs 1 --out kept" in text
    )


def test_another_study_in_the_same_folder_is_told_and_keeps_the_cases():
    study(*CHAIN, "--out", "kept")
    cases = set(Path("kept/cases").iterdir())
    result = study(*CHAIN, "--coupling", SHANNON, "--out", "kept")
    assert "another study" in result.stdout
    assert cases < set(Path("kept/cases").iterdir())


def test_a_read_sweep_is_refused_in_words():
    with pytest.raises(ModelError, match=r"--sweep a b=1"):
        read_sweep("a b=1")


# --- the usual reference ---------------------------------------------------------------------------------------------


@pytest.mark.campaign
def test_the_usual_reference_is_exact_to_eleven_digits():
    result = study("double-pendulum", "--dt", "1e-3", "--until", "0.02", "--out", "kept")
    assert result.exit_code == 0, result.stderr
    grid = data("kept")["grid"]
    assert grid["reference"]["coupling"].startswith("minimalcoordinates(method=DOP853")
    assert "error of its own" not in result.stdout
    (folder,) = Path("kept/reference").iterdir()
    kept = Run.load(folder)
    truth = planar_double_pendulum((np.pi / 2, -np.pi / 2), 1e-3, 20)
    assert np.abs(kept.position("lower.end") - truth[:, 1]).max() < 1e-11


def test_where_the_usual_reference_cannot_do_a_model_a_finer_penalty_run_takes_its_place():
    Path("sleigh.py").write_text(SLEIGH, encoding="utf-8")
    result = study("sleigh.py", "--dt", "2e-3,1e-3", "--until", "0.02", "--out", "kept")
    assert result.exit_code == 0, result.stderr
    assert "non-holonomic" in result.stdout
    assert "a finer penalty run takes its place" in result.stdout
    assert data("kept")["grid"]["reference"] == {"coupling": "penalty", "dt": 2.5e-4}
    assert {row["outcome"] for row in rows("kept")} == {"done"}


def test_a_coarser_reference_is_compared_where_it_has_a_tick():
    words = ("double-pendulum", "--dt", "4e-4", "--until", "0.1", "--reference", "penalty", "--out", "kept")
    result = study(*words, "--reference-dt", "8e-4")
    assert result.exit_code == 0
    assert "error of its own" in result.stdout
    coarse = float(rows("kept")[0]["error [m]"])
    assert study(*words, "--reference-dt", "1e-4").exit_code == 0
    fine = float(rows("kept")[0]["error [m]"])
    assert coarse / fine == pytest.approx((4 - 1) / (1 - 1 / 16), rel=0.05)  # second order: (8^2 - 4^2) / (4^2 - 1^2)
    refused = study(*words, "--reference-dt", "1.2e-3")  # 250 steps are no multiple of three
    assert refused.exit_code == 2
    assert "divides the whole time" in refused.stderr


@pytest.mark.campaign
def test_in_a_fresh_process_the_reference_is_the_exact_one():
    """Nothing else in it has loaded the solvers of the whole."""
    code = (
        "from scenarios.study.grid import read_grid; import scenarios; model = scenarios.load('double-pendulum'); "
        "print(read_grid(model, 'double-pendulum', {}, steps='1e-3', until=0.1, couplings=[], sweeps=[], reference=None, "
        "reference_dt=None).reference.exact)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True"]


@pytest.mark.parametrize("width", [60, 80, 130])
def test_a_narrow_terminal_shows_fewer_columns_whole_and_says_which_it_does_not(width):
    names = ["Δt", "error", "at the end", "joint gap", "energy drift", "margin", "evaluations", "time", "order"]
    sheet = Sheet(["rule.safety"], names)
    for safety in ("1.2", "1.5"):
        sheet.add(
            [safety, "500 µs", "12.3 µm", "12.3 µm", "7.59 µm", "35.8 µJ", "1.25", "1,200", "19.9 ms", "2.00"], ""
        )
    console = Console(width=width, file=io.StringIO())
    console.print(sheet)
    text = console.file.getvalue()
    assert "…" not in text
    assert all(word in text for word in ("rule.safety", "1.2 ", "1.5 ", "Δt", "error", "order"))
    assert ("evaluations" in text.splitlines()[0]) is (width > 110)
    assert ("not shown here" in text) is (width < 110)
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize(
    "limits", [(637e-6, 674e-6), (950e-6, 1.8e-3), (1e-3, 1.9e-3), (2e-4, 9e-3), (2.1e-4, 2e-2), (1e-6, 1e-1)]
)
def test_marks_of_a_logarithmic_axis_do_not_run_into_each_other(limits):
    """Computing times of nearly the same length had eight marks side by side."""
    from matplotlib.figure import Figure

    from scenarios.study.sheet import decades

    panel = Figure(figsize=(5.0, 3.0)).add_subplot()
    panel.set_xscale("log")
    panel.set_xlim(*limits)
    decades(panel.xaxis, panel.get_xlim(), "s")
    panel.figure.draw_without_rendering()
    within = [label for label in panel.get_xticklabels() if limits[0] <= label.get_position()[0] <= limits[1]]
    boxes = sorted((label.get_window_extent() for label in within), key=lambda box: box.x0)
    assert len(boxes) >= 2
    assert all(one.x1 + 12.0 < other.x0 for one, other in itertools.pairwise(boxes))
