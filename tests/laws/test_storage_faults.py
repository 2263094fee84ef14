"""Whatever a disk has made of what was written: a run and a checkpoint are read whole and right, or refused with a sentence."""

import errno
import random
import shutil
import warnings
from collections import Counter
from dataclasses import dataclass

import pytest

import scenarios
from campaign import as_far_as, later, more
from coordinator import Checkpoints, Run, Simulation, resume
from coordinator.continuation.resume import Checkpoint, latest
from coordinator.record import on_disk, recorder
from coordinator.record.archive import checksum, finite, sum_of
from coordinator.record.checkpoints.folder import heads_in
from coordinator.record.series import digest_of
from modular import Assembly, ModelError
from modular.files import part_of
from storage import Full, Written, after_a_cut, files_in, laid_out, rotten, torn

FAULTS = ("cut", "lying", "rot", "cut and rot", "torn")


def simulated(until=0.012, elbow=True):
    """A small run, with an event or without."""
    simulation = Simulation(scenarios.load("double-pendulum"), 1e-3)
    simulation.run(0.008)
    if elbow:
        simulation.cut("elbow")
    simulation.run(until)
    return simulation


def sign(found):
    """What a checkpoint holds, but for where its samples lie and how far the run was to go."""
    head = {key: value for key, value in found.head.items() if key not in ("samples", "until")}
    return "checkpoint", head["system"]["tick"], digest_of(found.segments), checksum(head), sum_of(found.arrays)


def sign_run(run):
    """What a run holds."""
    about = {name: getattr(run, name) for name in ("dt", "model", "events", "settings", "margins", "timings")}
    return "run", run.digest, checksum(finite(about))


@dataclass
class World:
    """What was on a disk, what was asked of it, and all that was right at any time."""

    before: dict
    requests: list
    right: set

    def outcome(self, folder):
        """Of reading what can be read: the run, and the last checkpoint."""
        counted, reads = (
            Counter(),
            {"run": lambda: sign_run(Run.load(folder)), "checkpoint": lambda: sign(latest(folder))},
        )
        for read in (reads[kind] for kind in sorted({kind for kind, *_ in self.right})):
            try:
                found = read()
            except ModelError as error:
                assert "Traceback" not in str(error) and str(folder) in str(error)
                counted["refused"] += 1
            else:
                counted["recovered" if found in self.right else "wrong"] += 1
        return counted


def seen(folder):
    """All that can be read now."""
    found = {sign(Checkpoint(path)) for path in heads_in(folder / "checkpoints")}
    return found | ({sign_run(Run.load(folder))} if (folder / "run.json").exists() else set())


def written(folder, monkeypatch, *actions):
    """The world of some actions, one after the other."""
    before, right, disk = files_in(folder), seen(folder), Written(folder)
    for action in actions:
        with disk.listening(monkeypatch):
            action()
        right |= seen(folder)
    return World(before, disk.asked, right)


def of_a_save(folder, monkeypatch):
    """A run is saved over another one."""
    simulated().recorded.save(folder)
    return written(folder, monkeypatch, lambda: simulated(0.02, elbow=False).recorded.save(folder))


def of_checkpoints(folder, monkeypatch):
    """A simulation is kept again and again, between changes by hand."""
    simulation, checkpoints = simulated(0.01), Checkpoints(folder / "checkpoints")
    checkpoints.write(simulation)

    def further():
        simulation.run(simulation.time + 0.004)
        checkpoints.write(simulation)

    return written(folder, monkeypatch, further, lambda: simulation.cut("pivot"), further, further)


def of_resuming(folder, monkeypatch):
    """A run folder goes on: checkpoints, the run over the one before, and a checkpoint that leans on it."""
    simulation, checkpoints = simulated(), Checkpoints(folder / "checkpoints")
    checkpoints.write(simulation)
    run = simulation.recorded
    run.save(folder)
    checkpoints.lean_on_run(simulation, 0.03, run)
    again = resume(folder)
    kept = latest(folder).checkpoints()

    def end():
        run = again.recorded
        run.save(folder)
        kept.lean_on_run(again, 0.03, run)

    return written(folder, monkeypatch, lambda: again.run(0.02, checkpoints=kept), lambda: kept.write(again), end)


def of_a_recording(folder, monkeypatch):
    """A run records to disk, piece by piece, and its text follows."""
    monkeypatch.setattr(recorder, "SEGMENT_BYTES", 3000)
    monkeypatch.setattr(on_disk, "PIECE_BYTES", 6000)
    simulation = Simulation(scenarios.load("double-pendulum"), 1e-3)
    simulation.run(0.01, record_to=folder)
    return written(folder, monkeypatch, *(lambda until=until: simulation.run(until) for until in (0.03, 0.04, 0.06)))


WORLDS = {"save": of_a_save, "checkpoints": of_checkpoints, "resume": of_resuming, "recording": of_a_recording}


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        return {name: make(tmp_path_factory.mktemp(name), patched) for name, make in WORLDS.items()}


def after(world, fault, rng):
    """Files as a fault leaves them."""
    last = len(world.requests)
    if "cut" in fault or fault == "lying":
        last = rng.randrange(last + 1)
    files = after_a_cut(world.before, world.requests, last, rng, lying=fault == "lying")
    if "rot" in fault and any(files.values()):
        files = rotten(files, rng, [world.before])
    if fault == "torn":
        name = rng.choice(sorted(files))
        files[name] = torn(files[name], rng)
    return files


def survey(world, faults, schedules, folder):
    """How many times what came of it, by fault."""
    counted = {fault: Counter() for fault in faults}
    for k in range(schedules):
        rng, fault = random.Random(k), faults[k % len(faults)]
        place = laid_out(after(world, fault, rng), folder / str(k))
        place.mkdir(exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            counted[fault] += world.outcome(place)
        shutil.rmtree(place)
    return counted


@pytest.mark.parametrize("schedules", [30, *more([as_far_as(2000, 400)])])
@pytest.mark.parametrize("name", WORLDS)
def test_nothing_wrong_is_read_after_any_fault(worlds, name, schedules, tmp_path):
    counted = survey(worlds[name], FAULTS, schedules, tmp_path)
    print(name, {fault: dict(found) for fault, found in counted.items()})
    assert sum(found["wrong"] for found in counted.values()) == 0
    assert counted["cut"]["recovered"] and not counted["cut"]["refused"] and counted["lying"]["recovered"]
    assert sum(counted[fault]["refused"] for fault in ("rot", "torn", "lying"))


@pytest.mark.parametrize("name", ["save", "resume", "recording"])
def test_a_loss_of_power_loses_nothing_that_was_on_disk(worlds, name, tmp_path):
    """At every prefix of what was asked of the disk: one of the runs, and a checkpoint where there was one."""
    world, rng, due = worlds[name], random.Random(1), 2 if name == "resume" else 1
    for cut in range(len(world.requests) + 1):
        place = laid_out(after_a_cut(world.before, world.requests, cut, rng), tmp_path / str(cut))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = world.outcome(place)
        assert found["recovered"] == due and not found["wrong"], world.requests[cut - 1][:2]


def test_a_loss_of_power_loses_no_checkpoint_that_was_on_disk(worlds, tmp_path):
    world, rng = worlds["checkpoints"], random.Random(2)
    for cut in range(len(world.requests) + 1):
        place = laid_out(after_a_cut(world.before, world.requests, cut, rng), tmp_path / str(cut))
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # none is even named as damaged
            assert sign(latest(place)) in world.right


@pytest.mark.parametrize("code", [errno.ENOSPC, *later([errno.EIO])])
def test_a_full_disk_loses_no_run_leaves_nothing_behind_and_names_the_path(code, monkeypatch, tmp_path):
    first, second = simulated().recorded, simulated(0.02, elbow=False).recorded
    refused = 0
    for k in range(1, 100):
        folder = tmp_path / str(k)
        first.save(folder)
        with Full(k, code).listening(monkeypatch) as disk:
            try:
                second.save(folder)
            except ModelError as error:
                assert str(folder) in str(error)
                refused += 1
        if not disk.refused:
            break
        assert sign_run(Run.load(folder)) in {sign_run(first), sign_run(second)}
        assert not part_of(folder / "arrays.npz").exists()
        assert not part_of(folder / "run.json").exists() or {"move", "make_folder_durable"} & set(disk.refused)
        first.save(folder)
        assert sorted(path.name for path in folder.iterdir()) == ["arrays.npz", "run.json"]
        assert sign_run(Run.load(folder)) == sign_run(first)
    assert refused > 8 and not disk.refused


def test_what_does_not_fit_is_refused_before_a_byte_is_written(monkeypatch, tmp_path):
    run = simulated().recorded
    run.save(tmp_path)
    before = files_in(tmp_path)
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=2**20 + 1000))
    monkeypatch.setattr("modular.files.open_anew", None)
    with pytest.raises(ModelError, match=rf"{tmp_path}.*No space left on device: .* MB are needed, .* MB are free"):
        run.save(tmp_path)
    assert files_in(tmp_path) == before


# --- damaged run folders -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cases", [100, *more([1000])])
def test_a_damaged_run_folder_is_read_as_it_was_or_refused(cases, tmp_path):
    """A bit, a sector, an end, or a file of another run: silently wrong is none."""
    right, stranger = simulated().recorded, simulated(0.012, elbow=False).recorded
    right.save(tmp_path / "right")
    stranger.save(tmp_path / "stranger")
    files, strangers = files_in(tmp_path / "right"), [files_in(tmp_path / "stranger")]
    counted, good = Counter(), sign_run(right)
    for k in range(cases):
        place = laid_out(rotten(files, random.Random(k), strangers), tmp_path / str(k))
        try:
            counted["right" if sign_run(Run.load(place)) == good else "wrong"] += 1
        except ModelError as error:
            assert str(place) in str(error)
            counted["refused"] += 1
        shutil.rmtree(place)
    print(dict(counted))
    assert counted["wrong"] == 0 and counted["refused"] > 0.5 * cases


def test_a_changed_digit_and_arrays_of_another_run_are_refused(tmp_path):
    simulated().recorded.save(tmp_path / "one")
    simulated(elbow=False).recorded.save(tmp_path / "other")
    text = (tmp_path / "one" / "run.json").read_text(encoding="utf-8")
    (tmp_path / "one" / "run.json").write_text(text.replace("-9.81", "-9.82"), encoding="utf-8")
    with pytest.raises(ModelError, match=r"one' cannot be read as a run: run\.json was changed or damaged"):
        Run.load(tmp_path / "one")
    (tmp_path / "one" / "run.json").write_text(text, encoding="utf-8")
    shutil.copy(tmp_path / "other" / "arrays.npz", tmp_path / "one" / "arrays.npz")
    with pytest.raises(ModelError, match=r"arrays\.npz is damaged, or belongs to another run than run\.json"):
        Run.load(tmp_path / "one")


def test_samples_of_another_checkpoint_are_refused(tmp_path):
    for name, elbow in (("one", True), ("other", False)):
        Checkpoints(tmp_path / name).write(simulated(elbow=elbow))
    shutil.copy(tmp_path / "other" / "000000000012.samples", tmp_path / "one" / "000000000012.samples")
    with pytest.raises(ModelError, match=r"samples' contains other samples than those"):
        latest(tmp_path / "one")


def test_a_damaged_model_file_is_refused_with_a_sentence(tmp_path):
    """A file that people edit has no checksum; what it says is a model, or is refused."""
    model, path = scenarios.load("double-pendulum"), tmp_path / "model.json"
    model.save(path)
    assert Assembly.load(path).to_data() == model.to_data()
    good, rng, refused = path.read_bytes(), random.Random(0), 0
    for _ in range(60):
        path.write_bytes(rotten({"model.json": good}, rng)["model.json"])
        try:
            Assembly.load(path)
        except ModelError as error:
            assert str(path) in str(error)
            refused += 1
    assert refused > 20
    with pytest.raises(ModelError, match=r"missing\.json' cannot be read"):
        Assembly.load(tmp_path / "missing.json")
