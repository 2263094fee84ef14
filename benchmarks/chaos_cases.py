"""Bad days of real processes: what `chaos.py` does to them, one function per kind; each says whether the bits were right."""

from __future__ import annotations

import json
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import astuple, dataclass, field
from functools import cache
from pathlib import Path

import psutil

import scenarios
from components import Law, Load, Spherical
from coordinator import Checkpoints, LaunchConfig, Simulation, resume
from coordinator.distributed.launchers import Subprocess
from coordinator.distributed.protocol import Deadlines
from coordinator.distributed.transports.addresses import LOOPBACK_ANY
from coordinator.distributed.transports.zeromq import fresh_keys
from modular import Cut, Join, ModelError
from rough_way import RoughWay

DT = 1e-4
UNTIL = 1.5  # [s]
SOON = Deadlines(report=0.2, silence=5.0)  # a worker that loads its code on a busy machine is silent for two


@dataclass
class Case:
    """What came out of one bad day."""

    well: bool
    seconds: list[float] = field(default_factory=list)  # from each blow to the next step
    note: str = ""


def model():
    """A chain that is cut and caught on the way."""
    chain = scenarios.load("chain", bodies=12)
    chain.at(0.3 * UNTIL, Cut("ball5"))
    chain.at(0.6 * UNTIL, Join("again", Spherical(), "rod8.end", "ground"))
    return chain


@cache
def truth(until=UNTIL):
    with Simulation(model(), DT, record_every=50) as simulation:
        return simulation.run(until).digest


class Blows(threading.Thread):
    """Does something to a simulation after some time of stepping, as often as asked."""

    def __init__(self, simulation, rng, count, strike):
        super().__init__(daemon=True)
        self.simulation, self.rng, self.count, self.strike = simulation, rng, count, strike
        self.pool = simulation.distributed_run.pool
        self.pool._message_log = deque(maxlen=100_000)
        self.at, self.over = [], False

    def run(self):
        for _ in range(self.count):
            after = self.simulation.tick + self.rng.randint(1, int(0.6 * UNTIL / DT))
            while self.simulation.tick < after and not self.over:
                time.sleep(0.002)
            time.sleep(self.rng.uniform(0.0, 0.4))
            if self.over:
                return
            self.at.append(time.monotonic() - self.pool._began)
            self.strike(self.simulation, self.rng)

    def recovered(self):
        """Seconds from each blow until a worker reports a step again."""
        found = []
        reports = [line for line in self.pool.message_log if '"message":"progress"' in line]
        gone = [float(line.split()[0]) for line in self.pool.message_log if " is gone: " in line]
        for blow in self.at:
            loss = next((when for when in gone if when >= blow - 0.01), None)
            if loss is None:
                continue  # it came too late to be noticed
            started = [line for line in reports if float(line.split()[0]) > loss and '"step":0,' not in line]
            if started:
                found.append(float(started[0].split()[0]) - blow)
        return found


def pids(simulation):
    return [worker.pid for worker in simulation.workers if worker.pid]


def kill_one(simulation, rng):
    alive = pids(simulation)
    if alive:
        with suppress(ProcessLookupError):
            os.kill(rng.choice(alive), signal.SIGKILL)


def kill_two(simulation, rng):
    """Two at once, or one and a neighbour while the first is being replaced."""
    kill_one(simulation, rng)
    time.sleep(rng.choice((0.0, 0.0, 0.3, 1.0)))
    kill_one(simulation, rng)


def struck(seed, strike, blows, *, workers=3, launch_config=None):
    """A run with blows."""
    rng = random.Random(seed)
    with Simulation(
        model(), DT, record_every=50, workers=workers, launcher=launch_config or LaunchConfig()
    ) as simulation:
        simulation.run(0.01 * UNTIL)
        thread = Blows(simulation, rng, blows, strike)
        thread.start()
        run = simulation.run(UNTIL)
        thread.over = True
        thread.join()
        replaced = sum(worker.replaced for worker in simulation.workers)
    return Case(run.digest == truth(), thread.recovered(), f"{replaced} replaced")


def kill(seed):
    """kill -9 of a random worker at a random step."""
    return struck(seed, kill_one, 1)


def twice(seed):
    """Two workers at once, or one while another is being replaced."""
    return struck(seed, kill_two, 1)


def zombie(seed):
    """A worker is stopped until it counts as dead, and wakes when another has its place."""

    def strike(simulation, rng):
        pid = rng.choice(pids(simulation))
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(7.0)
            os.kill(pid, signal.SIGCONT)

    return struck(seed, strike, 1, launch_config=LaunchConfig(deadlines=SOON))


def change(seed):
    """A joint is made or cut by hand while a worker dies."""
    rng = random.Random(seed)
    digests = []
    ticks = sorted(rng.sample(range(200, int(UNTIL / DT)), 4))
    for workers in (None, 3):
        with Simulation(model(), DT, record_every=50, workers=workers) as simulation:
            for k, tick in enumerate(ticks):
                simulation.run(tick * DT)
                if workers:
                    killer = threading.Timer(rng.uniform(0.0, 0.05), kill_one, (simulation, rng))
                    killer.start()
                if k % 2:
                    simulation.cut("extra")
                else:
                    simulation.join("extra", Spherical(), f"rod{2 + k}.end", "ground")
                if workers:
                    killer.join()
            digests.append(simulation.run(UNTIL).digest)
    return Case(digests[0] == digests[1])


def wire(seed):
    """What goes between processes is torn into bytes, comes late or thinly, is cut off, or swallowed in silence."""
    way = RoughWay()

    def strike(simulation, rng):
        for _ in range(5):
            way.spoil(rng)
            time.sleep(rng.uniform(0.05, 1.5))
            way.mend()
            time.sleep(rng.uniform(0.05, 0.3))

    case = struck(seed, strike, 1, launch_config=LaunchConfig(way))
    moods = sorted({mood for gate in way.gates for mood in gate.seen})
    return Case(case.well and len(moods) > 1, note=f"{case.note}; through gates that were {', '.join(moods)}")


def blinks(seed):
    """The way to the run is cut for a moment, again and again: it is there again before anybody notices, without what was on it."""
    rng, way, over = random.Random(seed), RoughWay(), threading.Event()

    def blink():
        while not over.wait(rng.uniform(0.3, 2.0)):
            way.gates[0].mood = rng.choice(("cut", "cut", "silent"))
            time.sleep(rng.uniform(0.02, 0.15))
            way.mend()

    with Simulation(model(), DT, record_every=50, workers=3, launcher=LaunchConfig(way)) as simulation:
        simulation.distributed_run.pool.every = (
            200  # steps between two checkpoints: there shall be some to be asked for
        )
        simulation.run(0.01 * UNTIL)
        thread = threading.Thread(target=blink)
        thread.start()
        try:
            run = simulation.run(UNTIL)
        finally:
            over.set()
            thread.join()
        replaced = sum(worker.replaced for worker in simulation.workers)
    moods = sorted(way.gates[0].seen - {"open"})
    return Case(
        run.digest == truth() and bool(moods), note=f"{replaced} replaced; the way to the run was {', '.join(moods)}"
    )


def slow(seed):
    """A worker that is ten times slower than the others is not dead."""
    found = Case(True)

    def strike(simulation, rng):
        process = psutil.Process(rng.choice(pids(simulation)))
        for _ in range(100):
            process.suspend()
            time.sleep(0.02)
            process.resume()
            time.sleep(0.002)

    case = struck(seed, strike, 1, launch_config=LaunchConfig(deadlines=SOON))
    found.well, found.note = case.well and case.note == "0 replaced", case.note
    return found


# --- the run itself dies ---------------------------------------------------------------------------------------------

RUN = """
import sys
sys.path.insert(0, sys.argv[1])
import chaos_cases as c
folder, mode = sys.argv[2:]
if mode == "begin":
    simulation = c.Simulation(c.model(), c.DT, record_every=50, workers=2)
    checkpoints = c.Checkpoints(folder, every=0.0)
else:
    from coordinator.continuation.resume import latest
    found = latest(folder)
    simulation, checkpoints = found.simulation(workers=2), found.checkpoints(every=0.0)
print(simulation.run(c.UNTIL, checkpoints=checkpoints).digest)
"""


def run_dies(seed):
    """kill -9 of the run at any moment, while checkpoints are written all the time, until it gets through."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        deaths = 0
        while True:
            kept = list(Path(folder).glob("*.checkpoint"))
            command = [sys.executable, "-c", RUN, str(Path(__file__).parent), folder, "go on" if kept else "begin"]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            try:
                said = process.communicate(timeout=rng.uniform(1.5, 5.0) if deaths < 4 else 120)[0]
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                deaths += 1
                continue
            return Case(said.strip() == truth(), note=f"{deaths} deaths")


# --- ends ------------------------------------------------------------------------------------------------------------


def fails(t, x, v):
    """A law that has no answer after a while."""
    if t > 0.2:
        raise RuntimeError("no answer")
    return 0.0, 0.0, 0.0


def ends(seed):
    """SIGTERM, SIGINT, kill -9 or an exception at a random moment: every process is gone in two seconds."""
    rng = random.Random(seed)
    how = ("SIGTERM", "SIGINT", "SIGKILL", "exception")[seed % 4]
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); sys.argv[0] = 'modular'; "
        "from scenarios.cli import main; main()"
    )
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", "chain", "--set", "bodies=40", "--until", "1000", "--workers", "3", "--no-plot"]
        words += ["--checkpoint-every", "0.2", "--record-every", "100"]
        if how == "exception":
            file = Path(folder) / "own.py"
            file.write_text(
                "import sys\n"
                f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
                "from chaos_cases import *\n\n\ndef build():\n    found = scenarios.load('chain', bodies=40)\n"
                "    found.apply('push', Load(Law(fails)), 'rod9.end')\n    return found\n"
            )
            words[1:4] = [str(file)]
        path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        process = subprocess.Popen(
            [sys.executable, "-c", code, *words, "--out", str(Path(folder) / "run")], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip
        family = []
        end = time.monotonic() + 60
        while time.monotonic() < end and process.poll() is None:
            with suppress(psutil.NoSuchProcess):
                family = psutil.Process(process.pid).children(recursive=True)
            if list(Path(folder).glob("run/checkpoints/*.checkpoint")) or (how == "exception" and len(family) == 3):
                break  # it moves
            time.sleep(0.02)
        time.sleep(rng.uniform(0.0, 3.0))
        if how != "exception":
            process.send_signal(getattr(signal, how))
            began = time.monotonic()
        else:
            process.wait(120)
            began = time.monotonic()
        process.wait(60)
        _, alive = psutil.wait_procs(family, timeout=10)
        took = time.monotonic() - began
        saved = how == "SIGKILL" or (Path(folder) / "run" / "run.json").is_file()
        return Case(not alive and len(family) == 3 and saved, [took], how)


# --- strangers -------------------------------------------------------------------------------------------------------


def strangers(seed):
    """Garbage, half-open connections and clients without keys at the mailbox of a run: nothing of it is read, the run goes on."""
    rng = random.Random(seed)
    launch_config = LaunchConfig(Subprocess(), LOOPBACK_ANY, fresh_keys())
    with Simulation(
        scenarios.load("chain", bodies=400), DT, record_every=500, workers=2, launcher=launch_config
    ) as simulation:
        simulation.run(0.2)
        host, port = simulation.distributed_run.pool.mailbox.address.removeprefix("tcp://").split(":")
        paces = {False: [], True: []}
        sockets, over, attack = [], threading.Event(), threading.Event()

        def bother():
            while not over.is_set():
                attack.wait(0.1)
                if not attack.is_set():
                    continue
                with suppress(OSError):
                    one = socket.create_connection((host, int(port)), timeout=0.2)
                    one.sendall(rng.randbytes(rng.choice((1, 10, 64, 500))))
                    sockets.append(one)
                if len(sockets) > 100:
                    sockets.pop(0).close()
                time.sleep(0.02)

        thread = threading.Thread(target=bother, daemon=True)
        thread.start()
        for k in range(6):
            attack.set() if k % 2 else attack.clear()
            started, tick = time.perf_counter(), simulation.tick
            simulation.run(simulation.time + 0.2)
            paces[bool(k % 2)].append((simulation.tick - tick) / (time.perf_counter() - started))
        over.set()
        thread.join()
        for one in sockets:
            one.close()
        digest, until = simulation.recorded.digest, simulation.time
    with Simulation(scenarios.load("chain", bodies=400), DT, record_every=500) as simulation:
        well = simulation.run(until).digest == digest
    ratio = sorted(paces[True])[1] / sorted(paces[False])[1]
    return Case(well, [ratio], "rate under attack over rate without")


GUISES = ("of the same user", "with a key of its own or none", "with the key of one worker")


class Overheard(threading.Thread):
    """An impostor in a process of its own, and the thread that tells it what workers say to the run."""

    def __init__(self, simulation, seed, guise):
        super().__init__(daemon=True)
        self.pool = pool = simulation.distributed_run.pool
        hub, keys = pool.mailbox, ["", ""]
        if guise == GUISES[2]:
            keys = [key.decode() for key in astuple(pool._pairs["worker1"])]
        told = {
            "seed": seed, "hub": hub.address, "hub key": "" if hub.keys is None else hub.keys.public.decode(),
            "keys": keys if keys[0] else [], "names": list(pool.handles), "worker keys": list(pool._public.values()),
            "workers": addresses_of(pids(simulation)),
        }  # fmt: skip
        self.said, self.lines = {}, queue.Queue(maxsize=30)
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("impostor.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.process.stdin.write(json.dumps(told) + "\n")
        self.usual = hub.mail
        hub.mail = self.mail
        self.start()

    def mail(self):
        """As the mailbox of the run, and somebody listens."""
        for sender, parts, key_owner in self.usual():
            if len(parts) == 4 and not self.lines.full():
                self.lines.put({"parts": [part.hex() for part in parts]})
            yield sender, parts, key_owner

    def run(self):
        with suppress(OSError):
            while (line := self.lines.get()) is not None:
                self.process.stdin.write(json.dumps(line) + "\n")
                self.process.stdin.flush()

    def close(self):
        """What it has said, by kind."""
        self.lines.put(None)
        self.join()
        self.said = json.loads(self.process.communicate()[0])


def addresses_of(processes):
    """Where workers of this machine hear their neighbours: sockets in a folder."""
    found = [one.laddr for pid in processes for one in psutil.Process(pid).net_connections("unix")]
    return [f"ipc://{path}" for path in sorted(set(found)) if path]


def impostors(seed):
    """A process greets, falsifies and repeats what workers say, also one that was killed since: no bit is another, or an error."""
    rng, guise = random.Random(seed), GUISES[seed % 3]
    soon = Deadlines(report=0.2, silence=5.0, start=8.0, stuck=40.0)
    launch_config = (
        LaunchConfig(deadlines=soon)
        if guise == GUISES[0]
        else LaunchConfig(Subprocess(), LOOPBACK_ANY, fresh_keys(), deadlines=soon)
    )
    with Simulation(model(), DT, record_every=50, workers=3, launcher=launch_config) as simulation:
        simulation.distributed_run.pool.every = 200
        simulation.run(0.01 * UNTIL)
        stranger = Overheard(simulation, seed, guise)
        try:
            digest, why = "", ""
            for k in range(1, 11):
                digest = simulation.run(0.1 * k * UNTIL).digest
                if k == 5:
                    kill_one(simulation, rng)
        except ModelError as error:
            why = str(error)
        finally:
            stranger.close()
    told = ", ".join(f"{count} {kind}" for kind, count in sorted(stranger.said.items()))
    if why:
        return Case(bool(why), note=f"refused, {guise}: {why}")
    return Case(digest == truth() and sum(stranger.said.values()) > 0, note=f"right, {guise}: {told}")


# --- for long --------------------------------------------------------------------------------------------------------


def leaks(seed):
    """A million ticks, 200 changes of topology and 50 deaths: memory, descriptors and threads of the run stay what they were."""
    rng = random.Random(seed)
    me, sizes = psutil.Process(), []
    chain = scenarios.load("chain", bodies=8)
    with Simulation(chain, DT, record_every=1 << 40, workers=2) as simulation:
        for k in range(200):
            edge = simulation.assembly.joint_edges["ball4"]
            simulation.cut("ball4")  # and the same again: what an event makes and what it leaves
            simulation.join("ball4", edge.joint, str(edge.first), str(edge.second))
            if k % 4 == 0:
                kill_one(simulation, rng)
            simulation.run(simulation.time + 5000 * DT)
            sizes.append((me.memory_info().rss, me.num_fds(), me.num_threads()))
        replaced = sum(worker.replaced for worker in simulation.workers)
    early, late = (max(column) for column in zip(*sizes[60:100])), (max(column) for column in zip(*sizes[160:]))
    (rss, fds, threads), (rss_late, fds_late, threads_late) = early, late
    note = (
        f"{replaced} replaced; {rss / 1e6:.1f} and {rss_late / 1e6:.1f} MB, {fds} and {fds_late} descriptors, {threads} and "
        f"{threads_late} threads"
    )
    print(f"leaks, seed {seed}: {note}", flush=True)
    return Case(rss_late < 1.01 * rss and fds_late <= fds and threads_late <= threads, [rss_late / rss], note)


FAMILIES = {
    "kill": kill, "twice": twice, "zombie": zombie, "slow": slow, "change": change, "wire": wire, "blinks": blinks,
    "run-dies": run_dies, "ends": ends, "strangers": strangers, "impostors": impostors, "leaks": leaks,
}  # fmt: skip
__all__ = ["FAMILIES", "Case", "Checkpoints", "Law", "Load", "fails", "resume", "scenarios"]
