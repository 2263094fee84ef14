"""How a run with workers ends before its time: soon, with what was recorded, and with no process left, whenever that happens."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import nursery
from budget import slowness
from calm import Calm
from campaign import more, some
from command_line import CliRunner
from coordinator import Run
from process_checks import gone
from scenarios.cli import app
from waiting import GUARD, wait_for

SOON = 2.0  # seconds until nobody is left, not counting those in which the machine ran others
TICKS = 100  # from one sample to the next
OFTEN = 0.05  # seconds between two looks at all processes of the machine, which take more time than what they wait for
LATEST = 1.5  # seconds after the first worker process has begun: most of the time the mechanism moves by then
COMMAND = "import sys; from scenarios.cli import main; main()"
STARTED = []
LAW = """
def push(t, x, v):
    if t > {at!r}:
        raise RuntimeError("this law knows no more")
    return (0.0, 0.1 * t, 0.0)
"""
MODEL = """
import scenarios
from components import Law, Load
from own_law import push

def build():
    model = scenarios.load("chain", bodies=8)
    model.apply("push", Load(Law(push)), "rod7.end")
    return model
"""
SCRIPT = """
from coordinator import Simulation, LaunchConfig
from coordinator.distributed.transports.zeromq import fresh_keys
from own_model import build
simulation = Simulation(build(), 1e-4, record_every=50, workers=2, launcher=LaunchConfig(keys=fresh_keys()))
simulation.run(0.001)
print(*[worker.pid for worker in simulation.workers], flush=True)
simulation.run(100.0)
"""


@pytest.fixture(scope="module", autouse=True)
def compiled(tmp_path_factory):
    """What the runs need is compiled before: compiling cannot be interrupted."""
    call = ["run", "chain", "--set", "bodies=12", "--until", "0.02", "--no-plot", "--workers", "2", "--out"]
    done = CliRunner().invoke(app, [*call, str(tmp_path_factory.mktemp("first") / "kept")])
    assert done.exit_code == 0, done.output


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    yield
    while STARTED:  # nobody is left behind by a test that fails
        child = STARTED.pop()
        child.kill()
        child.wait()


def own_model(at):
    """A model with a law that raises at some time; workers find the law."""
    Path("own_law.py").write_text(LAW.format(at=at), encoding="utf-8")
    Path("own_model.py").write_text(MODEL, encoding="utf-8")


class Command:
    """`modular run` with two workers, and the processes it has started; `born`: where its own start and end are not asked for."""

    def __init__(self, *more, target=("chain", "--set", "bodies=12"), born=False):
        call = ["run", *target, "--until", "1000", "--record-every", str(TICKS)]
        call += ["--workers", "2", "--out", "kept", "--overwrite", *more]
        with Path("said").open("wb") as said, Path("complained").open("wb") as complained:
            if born:
                self.child = nursery.modular(*call, said=said)
            else:
                self.child = subprocess.Popen([sys.executable, "-c", COMMAND, *call], stdout=said, stderr=complained)
        STARTED.append(self.child)
        self.processes = psutil.Process(self.child.pid)
        wait_for(lambda: self.child.poll() is not None or self.workers(), OFTEN)

    def moves(self):
        """Wait until the mechanism does, and a checkpoint lies behind the second sample."""

        def moved():
            kept = [int(one.stem) for one in Path("kept").rglob("*.checkpoint")]
            return self.child.poll() is not None or max(kept, default=0) >= TICKS

        wait_for(moved, OFTEN)

    def words(self):
        """What was said, and what was complained of."""
        return (Path(name).read_text(encoding="utf-8") for name in ("said", "complained"))

    def workers(self):
        """Process numbers of workers."""
        found = []
        for process in self.processes.children(recursive=True):
            try:
                if "coordinator.distributed.workers.process" in process.cmdline():
                    found.append(process.pid)
            except psutil.NoSuchProcess:
                continue
        return found

    def told(self, number):
        """Send a signal; how long it takes until everybody is gone, and what was said."""
        pids = [self.child.pid, *self.workers()]
        with Calm(*pids) as took:
            self.child.send_signal(number)
            self.child.wait(GUARD)
            assert gone(pids)
        return took.seconds, *self.words()


def ended_by(number, instant=None, prepare=lambda pids: None):
    """A run is told to end after so many seconds, or when it moves; what is checked of every such end."""
    if instant is None:
        command = Command("--checkpoint-every", "0.1")
        command.moves()
        about = "while it moved"
    else:
        command = Command()
        time.sleep(instant)
        about = f"after {instant:.2f} s"
    prepare(command.workers())
    seconds, said, complaint = command.told(number)
    about = f"{about} it took {seconds:.2f} s\n{said}\n{complaint}"
    assert command.child.returncode == 130, about
    assert seconds < SOON * slowness(), about
    assert "Traceback" not in complaint, about
    found = re.search(r"interrupted at ([0-9.e-]+) of 1000 s", complaint)
    if found is None:  # it had not begun
        assert "interrupted." in complaint, about
        return 0.0
    assert "is kept in kept" in complaint, about
    assert not list(Path("kept").glob("*.png"))
    reached = Run.load("kept").time[-1]
    assert float(found[1]) - 0.011 < reached <= float(found[1]) + 1e-9, about  # as it is printed
    return reached


SIGNALS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])


def instants(count, *about):
    """Random moments in the life of a run [s]; the same at every call."""
    return [random.Random(f"{about} {k}").uniform(0.0, LATEST) for k in range(count)]


@pytest.mark.campaign
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="Ctrl-C"),
        pytest.param(signal.SIGTERM, id="SIGTERM", marks=pytest.mark.campaign("more")),
    ],
)
def test_a_signal_ends_all_within_two_seconds_and_what_was_recorded_is_kept(number):
    assert ended_by(number) > 0.0


@pytest.mark.campaign
@pytest.mark.parametrize("instant", instants(1, signal.SIGTERM))
def test_a_signal_that_comes_early_does_so_too(instant):
    ended_by(signal.SIGTERM, instant)


@pytest.mark.campaign("more")
@SIGNALS
@pytest.mark.parametrize("instant", instants(some(60)))
def test_a_signal_at_any_instant(number, instant, tmp_path):
    ended_by(number, instant)


@pytest.mark.campaign
def test_a_signal_ends_all_also_where_a_worker_hangs():
    assert ended_by(signal.SIGTERM, prepare=lambda pids: psutil.Process(pids[0]).suspend()) > 0.0


@pytest.mark.parametrize("instant", [LATEST, *more(instants(1, "killed"))])
def test_a_run_that_is_killed_takes_its_workers_along(instant):
    command = Command(born=True)
    time.sleep(instant)
    pids = command.workers()
    assert len(pids) >= 1
    with Calm(*pids) as took:
        command.child.kill()
        command.child.wait()
        assert gone(pids)
    assert took.seconds < SOON * slowness()


@pytest.mark.campaign("more")
@pytest.mark.parametrize("instant", instants(some(60), "killed"))
def test_a_run_that_is_killed_at_any_instant(instant):
    test_a_run_that_is_killed_takes_its_workers_along(instant)


@pytest.mark.parametrize("at", [0.02, *more([0.0])])
def test_an_exception_in_a_component_ends_all_and_keeps_what_was_recorded(at):
    own_model(at)
    command = Command("--no-plot", target=("own_model.py",), born=True)
    pids = command.workers()
    command.child.wait(GUARD)
    with Calm(*pids) as took:
        assert gone(pids)
    assert took.seconds < SOON * slowness()
    assert "this law knows no more" in "".join(command.words())
    assert command.child.returncode == 2
    assert not at or Run.load("kept").time[-1] == pytest.approx(at, abs=0.011)


def test_a_program_that_dies_of_an_exception_takes_its_workers_along():
    """Without `with`, and with the threads that keys need."""
    own_model(0.02)
    call = [sys.executable, "-c", SCRIPT]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        pids = [int(pid) for pid in child.stdout.readline().split()]
        assert len(pids) == 2
        for line in child.stderr:
            if "this law knows no more" in line:
                break
        with Calm(child.pid, *pids) as took:
            child.wait(GUARD)
            assert gone(pids)
        assert took.seconds < SOON * slowness()
        assert child.returncode == 1, child.stderr.read()
