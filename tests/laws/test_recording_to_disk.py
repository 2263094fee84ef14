"""A run that records to disk as it goes is the same run, needs no memory for what lies behind, and can be read while it grows."""

import random
import shutil
import subprocess
import sys
import tracemalloc
import warnings
from errno import ENOMEM
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

import coordinator.record.archive as archive
import coordinator.record.on_disk as on_disk
import coordinator.record.recorder as recorder_of
import scenarios
from components import Revolute
from coordinator import Checkpoints, Glued, Run, Simulation, resume
from coordinator.continuation.resume import latest
from coordinator.record.checkpoints.folder import heads_in
from modular import MemoryShortage, ModelError
from modular.errors import StorageWarning
from storage import Full, files_in, laid_out, rotten

MEGABYTE = 2**20


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    """So that short runs fill many."""
    monkeypatch.setattr(recorder_of, "SEGMENT_BYTES", 3000)
    monkeypatch.setattr(on_disk, "PIECE_BYTES", 10_000)


def eventful(simulation, **settings):
    """A run in parts, with events by hand between them."""
    simulation.run(0.05, **settings)
    simulation.cut("elbow")
    simulation.run(0.0701)
    simulation.join("hook", Revolute(), "ground", "lower.end")
    return simulation.run(0.1)


def swing(**settings):
    return Simulation(scenarios.load("double-pendulum"), 1e-3, **settings)


@pytest.mark.parametrize("settings", [{}, {"record_every": 3}, {"workers": 2, "launcher": "here"}], ids=str)
def test_it_is_the_same_run_bit_for_bit(settings, tmp_path):
    with swing(**settings) as one, swing(**settings) as two:
        usual, to_disk = eventful(one), eventful(two, record_to=tmp_path / "run")
    read = Run.load(tmp_path / "run")
    assert len(list(on_disk.pieces_in(tmp_path / "run"))) > 2 or settings.get("record_every")
    for run in (to_disk, read):
        assert run.digest == usual.digest
        for name in ("model", "margins", "forms", "settings", "estimate", "obstacles"):
            assert getattr(run, name) == getattr(usual, name), name
        assert list(run.events) == list(usual.events)
        assert np.array_equal(run.energy, usual.energy)
        assert np.array_equal(run.ledger("hook")["leaked"], usual.ledger("hook")["leaked"], equal_nan=True)


def test_it_can_be_read_while_it_grows(monkeypatch, tmp_path):
    """Whenever its text has followed: what is there is the beginning of what will be."""
    monkeypatch.setattr(archive, "MIN_WRITE_SECONDS", 0.0)
    monkeypatch.setattr(archive, "MAX_WRITING_SHARE", 1e9)
    seen = []

    class Eager(archive.Growing):
        def write(self, simulation):
            super().write(simulation)
            seen.append(Run.load(tmp_path))

    monkeypatch.setattr(archive, "Growing", Eager)
    with swing() as simulation:
        monkeypatch.setattr("coordinator.engine.engine.SLICE_SECONDS", 0.0)
        whole = simulation.run(0.2, record_to=tmp_path)
    assert len(seen) > 4 and len(seen[0]) < len(seen[3]) < len(whole)
    for run in seen[::3]:
        assert np.array_equal(run.position("lower.end"), whole.position("lower.end")[: len(run)])
        assert np.array_equal(run.ticks, whole.ticks[: len(run)])


@pytest.mark.campaign
def test_ten_times_the_memory_is_recorded_and_read(monkeypatch, tmp_path):
    """By what is allocated: numbers that wait for a piece, and those that somebody asks for."""
    monkeypatch.setattr(recorder_of, "SEGMENT_BYTES", MEGABYTE // 4)
    monkeypatch.setattr(on_disk, "PIECE_BYTES", MEGABYTE // 2)
    with Simulation(scenarios.load("chain", bodies=30), 1e-3) as simulation:
        simulation.run(0.01, record_to=tmp_path / "run")
        tracemalloc.start()
        simulation.run(1.5)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        run = Run.load(tmp_path / "run")
        way = run.position("rod29.end")
        read = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    size = sum(path.stat().st_size for path in on_disk.pieces_in(tmp_path / "run"))
    assert len(run) == 1501 and np.isfinite(way).all()
    assert size > 10 * MEGABYTE and peak < size / 4 and read < size / 4, (size, peak, read)


LIMITED = """
import resource, sys, warnings
import scenarios
from coordinator import Run, Simulation

warnings.simplefilter("ignore")
with Simulation(scenarios.load("chain", bodies=200), 2.5e-4) as simulation:
    simulation.run(0.01, record_to=sys.argv[1])
    with open("/proc/self/status") as status:
        held = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmData"))
    allowed = held + 96 * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (allowed, allowed))
    simulation.run(3.0)
run = Run.load(sys.argv[1])
print(len(run), float(run.position("rod199.end")[-1].sum()))
"""


@pytest.mark.campaign("more")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds what a process allocates without what it maps")
def test_ten_times_the_memory_that_the_system_allows_is_recorded_and_read(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, timeout=550, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.split()[0] == "12001"
    assert sum(path.stat().st_size for path in on_disk.pieces_in(tmp_path)) > 10 * 96 * MEGABYTE


def test_where_memory_is_short_samples_go_to_disk_by_themselves(monkeypatch, tmp_path):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=50_000))
    with swing() as simulation:
        with pytest.warns(StorageWarning, match=r"samples go to disk.*record_to=DIR"):
            run = simulation.run(0.2)
        place = simulation.recorder.storage.folder
        assert list(on_disk.pieces_in(place))
    monkeypatch.undo()
    assert run.digest == swing().run(0.2).digest
    run.save(tmp_path)
    again = Run.load(tmp_path)
    assert again == run
    del simulation
    assert again.digest == run.digest


def test_a_lack_of_memory_on_the_way_goes_to_disk_or_keeps_what_there_was(monkeypatch):
    usual, short = recorder_of.Recorder._open, []

    def scarce(self, system):
        if self.segments and (self.storage is None or len(short) > 1):
            short.append(None)
            raise MemoryError
        return usual(self, system)

    monkeypatch.setattr(recorder_of.Recorder, "_open", scarce)
    with swing() as simulation:
        simulation.run(0.05)
        with pytest.warns(StorageWarning, match="no memory is left for samples"):
            simulation.run(0.1)
        short.append(None)
        with pytest.raises(MemoryError):
            simulation.run(0.3)
        monkeypatch.undo()
        kept = simulation.recorded
        assert len(kept) == simulation.tick + 1 > 100
        assert kept.digest == swing().run(simulation.time).digest
        assert simulation.run(0.3).digest == swing().run(0.3).digest


def test_where_what_is_mapped_counts_as_memory_and_there_is_none_the_run_is_kept(monkeypatch, tmp_path):
    """As with ulimit -v: a sentence, everything so far, and the rest where there is room again."""
    usual, asked = np.memmap, []

    def bounded(*arguments, **more):
        asked.append(None)
        if len(asked) > 3:
            raise OSError(ENOMEM, "Cannot allocate memory")
        return usual(*arguments, **more)

    with swing() as simulation:
        with monkeypatch.context() as scarce:
            scarce.setattr(np, "memmap", bounded)
            with pytest.raises(MemoryShortage, match=r"no more address space.*raise the limit"):
                simulation.run(0.3, record_to=tmp_path)
        assert 100 < len(simulation.recorded) == simulation.tick + 1
        assert simulation.run(0.3).digest == swing().run(0.3).digest
    assert Run.load(tmp_path).digest == swing().run(0.3).digest


def test_what_neither_memory_nor_disk_can_hold_is_refused_before_it_begins(monkeypatch, tmp_path):
    free = SimpleNamespace(available=50_000, free=60_000)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
    with swing() as simulation:
        simulation.run(0.01, record_to=tmp_path)
        monkeypatch.setattr(shutil, "disk_usage", lambda place: free)
        with pytest.raises(MemoryShortage, match=rf"free in '{tmp_path}'; record less often"):
            simulation.run(10.0)
        assert simulation.tick == 10


def test_a_disk_that_fills_on_the_way_loses_nothing_that_was_recorded(monkeypatch, tmp_path):
    whole = swing().run(0.1).digest
    with swing() as simulation:
        with Full(12).listening(monkeypatch), pytest.raises(ModelError, match=r"cannot be written .*No space left"):
            simulation.run(0.1, record_to=tmp_path)
        assert Run.load(tmp_path).ticks[-1] <= simulation.tick if (tmp_path / "run.json").exists() else True
        assert len(simulation.recorded) == simulation.tick + 1
        assert not list(tmp_path.rglob(".*.part"))
        assert simulation.run(0.1).digest == whole
    assert Run.load(tmp_path).digest == whole


def test_a_folder_that_holds_a_run_is_refused(tmp_path):
    swing().run(0.01).save(tmp_path)
    with pytest.raises(ModelError, match="holds another run"), swing() as simulation:
        simulation.run(0.1, record_to=tmp_path)


def test_a_damaged_recording_is_read_as_it_was_or_refused(tmp_path):
    with swing() as simulation:
        digest = eventful(simulation, record_to=tmp_path / "right").digest
    files, refused = files_in(tmp_path / "right"), 0
    for k in range(60):
        place = laid_out(rotten(files, random.Random(k)), tmp_path / str(k))
        try:
            assert Run.load(place).digest == digest
        except ModelError as error:
            assert str(place) in str(error)
            refused += 1
    assert refused > 40


def test_glued_joints_are_recorded_in_the_same_way(tmp_path):
    runs = []
    for settings in ({}, {"record_to": tmp_path}):
        with Simulation(scenarios.load("double-pendulum"), 1e-3, Glued()) as simulation:
            runs.append(simulation.run(0.1, **settings))
    assert runs[0].digest == runs[1].digest


def test_a_run_folder_takes_the_place_of_a_recording_and_the_other_way_round(tmp_path):
    with swing() as simulation:
        recorded = simulation.run(0.05, record_to=tmp_path / "other")
    usual = swing().run(0.02)
    for run in (usual, recorded, usual, recorded):
        run.save(tmp_path / "run")
        assert Run.load(tmp_path / "run").digest == run.digest
    usual.save(tmp_path / "run")
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["arrays.npz", "run.json"]


@pytest.mark.parametrize("where", ["record_to", "by itself"])
def test_a_checkpoint_leans_on_the_recording_and_its_run_goes_on_there(where, monkeypatch, tmp_path):
    """Nothing is written twice, and what was recorded is not read into memory to go on."""
    place = tmp_path / ("run" if where == "record_to" else "run/checkpoints")
    settings = {"record_to": place} if where == "record_to" else {}
    short = SimpleNamespace(available=10_000)
    with monkeypatch.context() as patched, warnings.catch_warnings():
        warnings.simplefilter("ignore", StorageWarning)
        if where == "by itself":
            patched.setattr(psutil, "virtual_memory", lambda: short)
        with swing() as simulation:
            checkpoints = Checkpoints(tmp_path / "run/checkpoints")
            simulation.run(0.05, checkpoints=checkpoints, **settings)
            simulation.run(0.08, checkpoints=checkpoints)
    assert not [path for path in (tmp_path / "run/checkpoints").iterdir() if path.suffix == ".samples"]
    shutil.move(tmp_path / "run", tmp_path / "moved")
    again = resume(tmp_path / "moved")
    stored = [segment for segment in again.recorder.segments if segment.stored is not None]
    assert stored and not any(series["q"].flags.owndata for one in stored for _, series in one.bodies)
    kept = latest(tmp_path / "moved").checkpoints()
    run = again.run(0.12, checkpoints=kept)
    again.run(0.13, checkpoints=kept)
    assert run.digest == swing().run(0.12).digest
    assert resume(tmp_path / "moved").recorded.digest == swing().run(0.13).digest
    heads_in(tmp_path / "moved/checkpoints")[0].unlink()
    assert resume(tmp_path / "moved").recorded.digest == run.digest  # the one before is whole, too
