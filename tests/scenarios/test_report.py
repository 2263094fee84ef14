"""What pictures, animation and summary owe to the run they show: nothing hidden, nothing invented."""

import re
import subprocess
import sys
from contextlib import nullcontext
from functools import partial
from io import StringIO

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

import scenarios
from campaign import each_once
from components import PointMassRod, Revolute, RigidBody, Rod, Spherical
from components.forces import Load, SpringDamper
from coordinator import Run, Simulation
from modular import Add, Apply, Assembly, Cut, Join, Port, Remove
from scenarios.report import animation, efforts, energy, layout, ledger, pictures, reactions, trajectories, violations
from scenarios.report.balance import balance
from scenarios.report.mechanism import free_ports, joint_points, on_ground, outline, paths, samples
from scenarios.report.page import powers, prefix, quantity, thin, thin_band, worst, write
from scenarios.report.progress import duration, rate_text
from scenarios.report.summary import drift_text, margin_text, overview, print_summary
from scenarios.report.view import choose_view


def record(model, until, dt=1e-3, **settings):
    return Simulation(model, dt, **settings).run(until)


def all_samples(run):
    return np.arange(len(run))


@pytest.fixture(scope="module")
def cut():
    """The pendulum whose elbow is cut at 0.5 s, its pivot at 0.8 s."""
    return record(scenarios.load("cut-double-pendulum"), 1.2)


@pytest.fixture(scope="module")
def eventful():
    """Bodies with three ports and with two, loads, impacts, a joint made twice at different ports, bodies that come and go."""
    model = Assembly(gravity=(0.0, 0.0, -9.81), title="eventful [m]")
    ports = {"a": Port((0.0, 0.0, 0.0)), "b": Port((0.6, 0.0, 0.0)), "c": Port((0.3, 0.1, 0.4))}
    inertia = ((0.02, 0.0, 0.0), (0.0, 0.03, 0.0), (0.0, 0.0, 0.04))
    model.add("plate", RigidBody(mass=2.0, inertia=inertia, centre=(0.3, 0.0, 0.2), ports=ports))
    model.add("rod", Rod((0.6, 0.0, 0.0), (1.0, 0.2, 0.1), 0.5, 0.01))
    model.join("hinge", Revolute(axis=(0.0, 1.0, 0.0)), "ground", "plate.a")
    model.join("ball", Spherical(), "plate.b", "rod.start")
    model.at(0.02, Apply("push", Load(force=(3.0, 1.0, 0.0)), ["rod.end"]))
    model.at(0.04, Join("grab", Spherical(), "ground", "rod.end"))
    model.at(0.05, Cut("ball"))
    model.at(0.06, Cut("grab"), Add("late", Rod((0.0, -0.5, 0.5), (0.4, -0.5, 0.5), 0.3)))
    model.at(0.08, Join("grab", Spherical(), "ground", "rod.start"))
    model.at(0.09, Remove("late"))
    return record(model, 0.1, record_every=5)  # no event falls between two samples


def texts(figure):
    """Everything written in a figure but the numbers of its ticks, in one string; it need not be painted for that."""
    found = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    for axes in figure.axes:
        found += [*axes.texts, axes.title, axes._left_title, axes._right_title]
        found += [axis.label for axis in axes._axis_map.values()]
        found += [] if axes.get_legend() is None else [axes.get_legend().get_title(), *axes.get_legend().get_texts()]
    return "\n".join(text.get_text() for text in found)


def painted(figure):
    """Its pixels; no room is made for what is written, which takes as long as painting."""
    figure.set_layout_engine("none")
    figure.canvas.draw()
    return np.asarray(figure.canvas.buffer_rgba())


def drawn(figure):
    """Curves and areas, one after the other: what they go through, and their colours."""
    lines = [(line.get_xydata().tobytes(), line.get_color()) for axes in figure.axes for line in axes.lines]
    areas = [
        (path.vertices.tobytes(), area.get_facecolor().tobytes())
        for axes in figure.axes
        for area in axes.collections
        for path in area.get_paths()
    ]
    assert lines
    return lines, areas


def printed(run):
    console = Console(file=StringIO(), width=120)
    print_summary(console, run)
    return console.file.getvalue()


# --- every picture of every kind of run ------------------------------------------------------------------------------


def bare():
    """A body that nothing holds, without weight."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add("bar", PointMassRod(start=(0, 0), end=(1, 0), masses=(1.0, 0.5)))
    return model


@pytest.mark.parametrize(
    ("model", "until"),
    [
        pytest.param(lambda: scenarios.load("double-pendulum"), 0.05, id="plane", marks=pytest.mark.campaign),
        pytest.param(lambda: scenarios.load("double-pendulum-3d"), 0.05, id="space", marks=pytest.mark.campaign),
        pytest.param(lambda: scenarios.load("double-pendulum"), 0.0, id="one sample", marks=pytest.mark.campaign),
        pytest.param(lambda: scenarios.load("chain", bodies=30), 0.01, id="many bodies", marks=pytest.mark.campaign),
        pytest.param(bare, 0.01, id="no joints, no motion"),
    ],
)
def test_every_kind_of_run_can_be_drawn_and_told(model, until, tmp_path):
    run = record(model(), until)
    files = pictures.draw_pictures(run, tmp_path)
    files.append(animation.animate(run, tmp_path))
    for file in files:
        with Image.open(file) as image:
            image.load()
            assert min(image.size) > 200
    assert "energy drift" in printed(run)


def test_an_eventful_run_can_be_drawn_and_told(eventful, tmp_path):
    pictures.draw_pictures(eventful, tmp_path)
    animation.animate(eventful, tmp_path)
    story = printed(eventful)
    for words in (
        "apply push",
        "join grab",
        "impact took",
        "cut ball",
        "let go",
        "add late",
        "remove late",
        "eventful [m]",
    ):
        assert words in story, words


@pytest.mark.campaign
def test_drawing_leaves_the_plotting_state_of_the_user_alone():
    code = (
        "import sys, scenarios\n"
        "from coordinator import Simulation\n"
        "from scenarios.report import animation, pictures, summary\n"
        "run = Simulation(scenarios.load('simple-pendulum'), 1e-3).run(2e-3)\n"
        "figures = [draw(run) for draw in pictures.PICTURES.values()]\n"
        "animation.Scene(run, animation.film(run)).images()\n"
        "assert 'matplotlib.figure' in sys.modules\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.campaign
def test_pictures_name_model_step_and_events_and_those_of_a_saved_run_look_the_same(cut, tmp_path):
    cut.save(tmp_path)
    kept = Run.load(tmp_path)
    for draw in pictures.PICTURES.values():
        fresh, loaded = draw(cut), draw(kept)
        if fresh is None:  # no force acts along an axis here
            assert loaded is None
            continue
        written = texts(fresh)
        assert written == texts(loaded) and drawn(fresh) == drawn(loaded)
        assert np.array_equal(painted(fresh), painted(loaded))
        for words in ("cut-double-pendulum", "Δt = 1 ms", "cut elbow", "cut pivot", "time [s]"):
            assert words in written, (draw.__module__, words)


def test_what_acts_along_an_axis_is_in_the_summary_and_in_a_picture_of_its_own():
    model = Assembly(gravity=(0.0, -9.81))
    model.add("weight", RigidBody(mass=2.0, inertia=0.1, centre=(0.0, -1.0), ports={"top": (0.0, -0.8)}))
    model.apply("spring", SpringDamper(stiffness=50.0), "ground", "weight.top", at=(0.0, 0.0))
    run = record(model, 0.3)
    console = Console(width=100, file=StringIO())
    print_summary(console, run)
    told = console.file.getvalue()
    assert re.search(r"spring +SpringDamper +0.8\d+ m +1.\d+ m +-[\d.]+ N", told), told
    assert "energy ledger of joints and forces" in told  # though there is no joint
    written = texts(efforts.draw(run))
    for words in ("spring", "distance [", "force [N]", "time [s]"):
        assert words in written
    assert efforts.draw(record(scenarios.load("simple-pendulum"), 0.01)) is None


@pytest.mark.campaign
def test_pictures_of_many_bodies_say_how_much_is_left_out():
    run = record(scenarios.load("chain", bodies=20), 0.1, dt=2e-4)
    assert "6 of 20 moving points" in texts(trajectories.draw(run))
    assert "worst 6 of 20" in texts(violations.draw(run))
    assert "6 of 20, largest peaks" in texts(reactions.draw(run))
    assert "15 of 20 not shown" in texts(ledger.draw(run))
    assert "8 of 20 left out" in printed(run)


def test_a_curve_ends_where_its_joint_was_cut(cut):
    axes = reactions.draw(cut).axes[0]
    ends = {}
    for line in axes.lines:
        if line.get_label() in cut.joints:
            time, force = line.get_data()
            ends[line.get_label()] = time[np.isfinite(force)].max()
    assert ends == {"elbow": pytest.approx(0.5, abs=2e-3), "pivot": pytest.approx(0.8, abs=2e-3)}
    assert axes.get_xlim()[1] > 1.2


# --- series ----------------------------------------------------------------------------------------------------------


def test_a_thinned_series_keeps_peaks_gaps_and_order():
    rng = np.random.default_rng(7)
    time = np.linspace(0.0, 3.0, 100_003)
    series = np.sin(7.0 * time) + 0.01 * rng.standard_normal(len(time))
    series[[12_345, 67_891]] = 9.0, -8.0
    series[40_000:50_000] = np.nan
    few, values = thin(time, series)
    assert len(few) <= 2500
    assert (np.nanmax(values), np.nanmin(values)) == (9.0, -8.0)
    assert np.all(np.diff(few) >= 0)
    assert np.isnan(values[(few > time[40_200]) & (few < time[49_800])]).all()
    assert set(values[np.isfinite(values)]) <= set(series[np.isfinite(series)])


def test_a_thinned_band_contains_the_curves_it_stands_for():
    time = np.linspace(0.0, 1.0, 5_001)
    low, high = -np.cos(90.0 * time), np.sin(70.0 * time) + 2.0
    few, below, above = thin_band(time, low, high, most=100)
    stretch = np.searchsorted(few, time, side="right") - 1
    assert np.all(below[stretch] <= low)
    assert np.all(above[stretch] >= high)


def test_the_worst_are_chosen_and_keep_the_order_of_the_model():
    assert worst({"a": 1.0, "b": 5.0, "c": 0.1, "d": 3.0}, 2) == ["b", "d"]
    assert worst({"a": 1.0}, 3) == ["a"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(1e-4, "100 µs"), (1e-3, "1 ms"), (0.0, "0 s"), (999.96, "1 ks"), (2.5, "2.5 s"), (-3e-6, "-3 µs")],
)
def test_quantities_wear_the_prefix_that_fits(value, text):
    assert quantity(value, "s") == text


@pytest.mark.parametrize("largest", [1e-30, 3e-16, 1e-6, 0.9999, 1.0, 999.0, 1e3, 5e20])
def test_a_prefix_is_a_factor_of_its_unit(largest):
    factor, unit = prefix(largest, "J")
    assert unit.endswith("J")
    assert 1.0 <= largest * factor < 1000.0 or not 1e-15 <= largest < 1e15


# --- energy ----------------------------------------------------------------------------------------------------------


def test_the_work_of_forces_is_no_drift():
    model = scenarios.load("double-pendulum")
    model.apply("push", Load(force=(4.0, 1.0)), "lower.end")
    run = record(model, 1.0)
    ledger = balance(run)
    assert np.ptp(ledger.total) > 1.0
    assert np.abs(ledger.drift).max() < 1e-3 * ledger.scale
    assert "the work of forces taken out" in drift_text(balance(run))


def test_losses_in_impacts_are_no_drift():
    simulation = Simulation(scenarios.load("double-pendulum"), 1e-3)
    simulation.run(0.6)
    simulation.cut("elbow")
    simulation.run(0.7)
    simulation.join("hook", Revolute(), "ground", "lower.end")
    run = simulation.run(1.0)
    ledger = balance(run)
    assert run.events[-1]["impact"] > 0.1
    assert np.abs(ledger.drift).max() < 2e-3 * ledger.scale
    assert "losses in impacts taken out" in drift_text(balance(run))


def test_drift_is_not_judged_where_it_means_nothing(eventful):
    assert drift_text(balance(eventful)).startswith("not judged: bodies were added or removed")
    assert drift_text(balance(record(bare(), 0.01))) == "not judged: nothing moves"
    assert "came or went" in texts(energy.draw(eventful))


def test_the_overview_holds_the_figures_of_the_run(cut):
    lines = overview(cut)
    assert lines["time"] == "0 to 1.2 s, Δt = 1 ms, 1,200 ticks, 1,201 samples"
    assert lines["coupling"] == "Penalty(rule=Stable)"
    assert lines["energy at the start"].startswith("-9.81 J")


# --- margins, durations ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("margin", "text"),
    [
        (1.25, "1.25"), (1.3, "1.3"), (1.2999999999999998, "1.3"), (0.99999, "0.999"), (1.0, "1.0"), (0.05238, "0.0523"),
        (12.79, "12.7"), (431.0, "431"),
    ],
)  # fmt: skip
def test_a_margin_is_never_rounded_up_across_the_limit(margin, text):
    assert margin_text(margin) == text


def test_the_smallest_margin_of_a_joint_is_told():
    run = record(scenarios.load("chain", bodies=2), 0.01)
    run.margins = [*run.margins, {"tick": 5, "margins": {"hook": 0.5}}]
    row = next(line for line in printed(run).splitlines() if "hook" in line and "Spherical" in line)
    assert row.split()[-1] == "0.5"


def test_rates_are_written_without_powers_of_ten():
    told = {0.49: "0.49", 5.43: "5.4", 9.96: "10", 97.6: "98", 99.7: "100", 128.0: "130", 12_345.0: "12,000"}
    assert {value: rate_text(value) for value in told} == told


def test_durations_are_told_as_people_say_them():
    assert [duration(s) for s in (0.2, 59.0, 300.0, 36_000.0)] == ["0 s", "59 s", "5 min", "10.0 h"]


# --- mechanism -------------------------------------------------------------------------------------------------------


def test_joints_are_where_their_ports_are_while_they_exist(cut):
    points = joint_points(cut, all_samples(cut))
    there = cut.time < 0.5 - 1e-9
    assert np.array_equal(points["elbow"][there], cut.position("lower.start")[there])
    assert np.isnan(points["elbow"][~there]).all()
    assert on_ground(cut) == {"pivot"}


def test_a_joint_made_again_elsewhere_is_shown_at_its_new_port(eventful):
    points = joint_points(eventful, all_samples(eventful))["grab"]
    first = (eventful.time > 0.0395) & (eventful.time < 0.0595)
    second = eventful.time > 0.0795
    assert np.array_equal(points[first], eventful.position("rod.end")[first])
    assert np.array_equal(points[second], eventful.position("rod.start")[second])
    assert np.isnan(points[~(first | second)]).all()


def test_ends_are_free_while_no_joint_holds_them(cut):
    free = free_ports(cut, all_samples(cut))
    assert set(free) == {"upper.start", "upper.end", "lower.start", "lower.end"}
    assert free["lower.end"].all()
    assert np.array_equal(free["upper.end"], cut.time > 0.5 - 1e-9)
    assert np.array_equal(free["upper.start"], cut.time > 0.8 - 1e-9)


def test_points_that_stay_together_are_drawn_once_and_apart_twice(cut):
    whole, number = paths(record(scenarios.load("double-pendulum"), 0.5), 6)
    assert (set(whole), number) == ({"upper.end", "lower.end"}, 2)
    apart, number = paths(cut, 6)
    assert (set(apart), number) == ({"upper.start", "upper.end", "lower.start", "lower.end"}, 4)


def test_a_body_is_drawn_through_its_ports(eventful):
    at = samples(eventful, 5)
    rod = outline(eventful, "rod", at)
    assert np.array_equal(rod[:, 0], eventful.position("rod.start")[at])
    assert np.array_equal(rod[:, 1], eventful.position("rod.end")[at])
    plate = outline(eventful, "plate", at)
    for port in ("a", "b", "c"):
        place = eventful.position(f"plate.{port}")[at]
        assert any(np.array_equal(plate[:, k], place) for k in range(plate.shape[1]))


def test_gaps_and_errors_of_direction_are_told_apart(eventful):
    assert eventful.translations("hinge") == 3 < eventful.violation("hinge").shape[1]
    assert eventful.translations("ball") == 3 == eventful.violation("ball").shape[1]


def test_a_motion_in_a_plane_is_looked_at_from_the_side():
    flat = record(scenarios.load("chain", bodies=3), 0.1)
    view = choose_view(flat, [outline(flat, body, samples(flat, 5)) for body in flat.bodies])
    assert (view.axes, view.up) == ((0, 2), "z")
    spatial = record(scenarios.load("double-pendulum-3d"), 0.1)
    view = choose_view(spatial, [outline(spatial, body, samples(spatial, 5)) for body in spatial.bodies])
    assert (view.axes, view.up) == ((0, 1, 2), "y")


# --- animation -------------------------------------------------------------------------------------------------------


class Clock:
    """As much of a run as the timing of a film asks for."""

    def __init__(self, length, count):
        self.time = np.linspace(0.0, length, count)

    def __len__(self):
        return len(self.time)


@pytest.mark.parametrize("length", [1.0, 1.2, 3.0, 5.0, 10.0, 15.0])
def test_a_film_runs_in_real_time_where_its_frames_allow_it(length):
    film = animation.film(Clock(length, 50_001))
    assert film.speed == pytest.approx(1.0, rel=0.05)  # frames last whole hundredths of a second
    assert len(film.at) <= 150
    assert film.frame <= 0.11


@pytest.mark.parametrize(("length", "speed"), [(0.2, 0.1), (0.5, 0.2), (0.02, 0.01), (30.0, 2.0), (1000.0, 100.0)])
def test_other_films_are_slowed_down_or_speeded_up_by_a_round_factor(length, speed):
    film = animation.film(Clock(length, 50_001))
    assert film.speed == pytest.approx(speed, rel=0.05)
    assert len(film.at) <= 150


@pytest.mark.campaign
def test_an_animation_shows_every_frame_and_the_last_pose(cut, tmp_path):
    film = animation.film(cut)
    assert (film.at[0], film.at[-1]) == (0, len(cut) - 1)
    with Image.open(animation.animate(cut, tmp_path)) as image:
        assert image.n_frames == len(film.at)
        durations = []
        for frame in range(image.n_frames):
            image.seek(frame)
            durations.append(image.info["duration"])
    assert set(durations[:-1]) == {round(1000 * film.frame)}


def test_what_falls_far_leaves_the_picture_where_something_stays():
    """Of a pendulum whose elbow is cut the upper rod swings on: the lower one is 40 m below in the end."""
    model = scenarios.load("double-pendulum")
    model.at(0.3, Cut("elbow"))
    run = record(model, 3.0)
    shapes = [np.stack([run.position(f"{name}.{end}") for end in ("start", "end")], axis=1) for name in run.bodies]
    _, _, view = animation.stage(run, shapes)
    assert (view.high - view.low).max() < 6.0 < np.ptp(run.position("lower.end"), axis=0).max()
    flown = record(scenarios.load("free-fall"), 1.0)  # where all fly all is shown
    shapes = [
        np.stack([flown.position(f"{name}.{port}") for port in body.port_names], axis=1)
        for name, body in flown.bodies.items()
    ]
    _, _, view = animation.stage(flown, shapes)
    assert (view.high - view.low).max() > 0.9 * max(np.ptp(shape, axis=(0, 1)).max() for shape in shapes)


# --- where axes lie -------------------------------------------------------------------------------------------------------


@pytest.mark.short(2)
@pytest.mark.parametrize("draw", [trajectories.draw, energy.draw, violations.draw, ledger.draw, reactions.draw])
def test_with_labels_measured_once_axes_lie_where_two_passes_put_them(cut, draw):
    """Within a fiftieth of the page; what is written stays on it, and panels leave each other room."""
    once, twice = draw(cut), draw(cut)
    twice.set_layout_engine("constrained")
    for figure in (once, twice):
        figure.get_layout_engine().execute(figure)
    for one, other in zip(once.axes, twice.axes, strict=True):
        gap = one.get_position(original=True).get_points() - other.get_position(original=True).get_points()
        assert np.abs(gap).max() < 0.02
    renderer = once.canvas.get_renderer()
    boxes = [axes.get_tightbbox(renderer).transformed(once.transFigure.inverted()) for axes in once.axes]
    assert all(box.x0 > -0.01 and box.y0 > -0.01 and box.x1 < 1.01 and box.y1 < 1.01 for box in boxes)


@pytest.mark.short(1, each=True)
@pytest.mark.parametrize(("of", "draw"), each_once(["cut", "eventful"], [trajectories.draw, violations.draw]))
def test_a_picture_whose_labels_are_measured_once_is_that_of_matplotlib(of, draw, request, tmp_path, monkeypatch):
    """To the last bit; and no axis works out its ticks more often than it is moved."""
    once, often = draw(request.getfixturevalue(of)), draw(request.getfixturevalue(of))
    asked = dict.fromkeys([axis for axes in once.axes if axes.name != "3d" for axis in (axes.xaxis, axes.yaxis)], 0)

    def counted(axis, find):
        asked[axis] += 1
        return find()

    for axis in asked:
        axis._update_ticks = partial(counted, axis, axis._update_ticks)
    write(once, tmp_path / "once.png")
    assert 1 <= max(asked.values()) <= 3  # of twelve
    monkeypatch.setattr(layout, "measured_once", lambda figure: nullcontext())
    write(often, tmp_path / "often.png")
    one, other = (np.asarray(Image.open(tmp_path / f"{name}.png"), int) for name in ("once", "often"))
    assert one.shape == other.shape and one.shape[2] == 3 and np.array_equal(one, other)


def test_powers_of_ten_are_written_as_matplotlib_typesets_them():
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    back = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
    for low, high in ((1e-12, 1e-3), (3e-4, 6e-3), (2.0, 5.0)):
        axes.set_yscale("log")
        axes.set_ylim(low, high)
        for typeset, at in (
            (axes.yaxis.get_major_formatter(), axes.yaxis.get_majorticklocs()),
            (axes.yaxis.get_minor_formatter(), axes.yaxis.get_minorticklocs()),
        ):
            formulas = typeset.format_ticks(at)
            letters = powers(typeset)
            letters.set_axis(axes.yaxis)
            written = letters.format_ticks(at)
            plain = [
                re.sub(r"[${}^ ]", "", text.replace(r"\mathdefault", "").replace(r"\times", "×")) for text in formulas
            ]
            assert not any(set("${}^") & set(text) for text in written)
            assert [text.translate(back) for text in written] == [text.translate(back) for text in plain]
            assert any(written) or typeset is axes.yaxis.get_minor_formatter() or low > 1.0


def test_the_ledger_counts_joints_and_forces_by_name_and_draws_none_that_took_nothing():
    model = Assembly(gravity=(0.0, -9.81), title="pull")
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.0), 2.0))
    model.join("pin", Revolute(), "ground", "rod.start")
    model.apply("spring", SpringDamper(stiffness=20.0, length=0.5), "ground", "rod.end", at=(0.0, -1.0))
    model.apply("nothing", Load((0.0, 0.0)), "rod.end")
    figure = ledger.draw(Simulation(model, dt=1e-3).run(0.1))
    assert [panel.get_title(loc="left") for panel in figure.axes] == ["3 joints and forces together", "pin", "spring"]
    assert "energy ledger of joints and forces" in figure._suptitle.get_text()
