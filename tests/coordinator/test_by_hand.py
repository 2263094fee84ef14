"""Workers that somebody starts by hand, with keys: they take part, may be killed and started again; strangers stay outside."""

import contextlib
import functools
import os
import random
import shlex
import socket
import stat
import time

import pytest

import nursery
import scenarios
from campaign import more
from command_line import CliRunner
from coordinator import LaunchConfig, Simulation
from coordinator.distributed.launchers import ByHand, Order
from coordinator.distributed.transports.addresses import LOOPBACK_ANY, is_everywhere
from coordinator.distributed.transports.keys import authorised, find_keys, given_key, public_key, read_keys, write_keys
from coordinator.distributed.transports.zeromq import Mailbox, fresh_keys, keys_of_this_user
from coordinator.distributed.workers import process_pool
from modular import ModelError
from rough_way import Gates, free_port
from scenarios.cli import app
from waiting import GUARD, wait_for
from worker_threads import Losing

UNTIL = 0.1


def model():
    return scenarios.load("chain", bodies=8)


@functools.cache
def alone(until=UNTIL):
    """What the run is without workers: its digest."""
    with Simulation(model(), 1e-4, record_every=50) as simulation:
        return simulation.run(until).digest


@pytest.fixture(autouse=True)
def of_nobody_else(tmp_path, monkeypatch):
    """Keys of this user that no other test knows."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def started(tmp_path, address, name, *more):
    """`modular worker` in a process of its own."""
    with (tmp_path / f"{name}.log").open("ab") as said:
        return nursery.modular("worker", "--connect", address, "--name", name, *more, said=said)


def goes_on_until(simulation, condition):
    """Tick by tick, as a run that is still hears nobody; most of the time is left to others."""

    def came_about():
        simulation.run(simulation.time + 1e-4)
        return condition()

    while not came_about():
        assert simulation.time < 0.9 * UNTIL
        time.sleep(0.2)


def test_workers_with_keys_are_killed_and_started_again(tmp_path):
    own, guests = tmp_path / "own", tmp_path / "guests"
    for name in ("run", "worker0", "worker1", "stranger"):
        public = write_keys(own, name, fresh_keys())
        if name.startswith("worker"):
            guests.mkdir(exist_ok=True)
            (guests / public.name).write_bytes(public.read_bytes())
    wanted = []
    launch_config = LaunchConfig(ByHand(wanted.append), keys=read_keys(own, "run"), authorized_keys=authorised(guests))
    processes = []

    def start(name, key):
        more = ("--keys", str(own / key), "--coordinator", str(own / "run.pub"))
        processes.append(started(tmp_path, address, name, *more))
        return processes[-1]

    with Simulation(model(), 1e-4, record_every=50, workers=2, launcher=launch_config) as simulation:
        address = simulation.distributed_run.pool.mailbox.address
        typed = shlex.split(wanted[0].splitlines()[1])
        assert typed[:6] == ["modular", "worker", "--connect", address, "--name", "worker0"]
        processes.append(started(tmp_path, address, "worker0", *typed[6:], "--folder", str(own)))
        impostor = start("worker1", "worker0")  # a key that is known, of somebody else
        stranger = start("worker1", "stranger")  # a key that is not
        first = start("worker1", "worker1")
        goes_on_until(simulation, lambda: impostor.poll() is not None)
        goes_on_until(simulation, lambda: simulation.distributed_run.pool.mailbox.authorized.refused > 0)
        assert impostor.poll() == 2
        first.kill()
        start("worker1", "worker1")
        run = simulation.run(UNTIL)
        workers = simulation.workers
        assert stranger.poll() is None  # nobody has answered it
    stranger.kill()
    for process in processes:
        process.wait(GUARD)
    assert run.digest == alone()
    assert "is not valid for worker 'worker1'" in (tmp_path / "worker1.log").read_text()
    assert [worker.replaced for worker in workers] == [0, 1]


def test_a_mailbox_that_others_could_reach_needs_keys(tmp_path):
    tmp_path.chmod(0o755)
    for where in ("tcp://0.0.0.0:*", LOOPBACK_ANY, "ipc://@of-linux", f"ipc://{tmp_path}/in-the-open"):
        with pytest.raises(ModelError, match="needs keys"):
            Mailbox(where)
    Mailbox("tcp://0.0.0.0:*", keys=fresh_keys()).close()


def heard_by(mailbox):
    """What comes in and from whom, until something has and then a moment longer."""
    heard = []

    def some():
        mailbox.wait(0.1)
        heard.extend((parts, key_owner) for _, parts, key_owner in mailbox.mail())
        return heard

    wait_for(some)
    time.sleep(0.3)
    mailbox.wait(0.1)
    return heard + [(parts, key_owner) for _, parts, key_owner in mailbox.mail()]


def test_somebody_without_a_key_is_not_heard():
    with_keys = Mailbox(LOOPBACK_ANY, keys=fresh_keys())
    plain, stranger, guest = Mailbox(), Mailbox(keys=fresh_keys()), Mailbox(keys=fresh_keys())
    with_keys.authorized.keys[guest.keys.public] = "guest"
    for mailbox, key in ((plain, b""), (stranger, with_keys.keys.public), (guest, with_keys.keys.public)):
        mailbox.connect("hub", with_keys.address, key=key)
        mailbox.send("hub", b"hello")
    heard = heard_by(with_keys)
    for mailbox in (plain, stranger, guest, with_keys):
        mailbox.close()
    assert heard == [([b"hello"], "guest")]


GREETING = bytes([0xFF, *[0] * 8, 0x7F, 3, 1]) + b"NULL".ljust(20, b"\0") + bytes(32)  # of ZMTP 3.1, without keys
GARBAGE = (b"", b"\x00", b"GET / HTTP/1.1\r\n\r\n", GREETING[:20], GREETING, GREETING + b"\x04\x26" + b"\xff" * 300)


def test_garbage_half_open_connections_and_wrong_keys_of_the_run_reach_nobody():
    rng = random.Random(4)
    with_keys = Mailbox(LOOPBACK_ANY, keys=fresh_keys())
    guest, fooled = Mailbox(keys=fresh_keys()), Mailbox(keys=fresh_keys())
    with_keys.authorized.keys = {guest.keys.public: "guest", fooled.keys.public: "fooled"}
    fooled.connect("hub", with_keys.address, key=fresh_keys().public)  # it takes somebody else for the run
    fooled.send("hub", b"secret")
    host, port = with_keys.address.removeprefix("tcp://").split(":")
    connections = []
    for k in range(300):
        one = socket.create_connection((host, int(port)), timeout=GUARD)
        with contextlib.suppress(OSError):
            one.sendall(GARBAGE[k % len(GARBAGE)] if k % 2 else rng.randbytes(rng.randrange(1, 2000)))
        connections.append(one)
    guest.connect("hub", with_keys.address, key=with_keys.keys.public)
    guest.send("hub", b"hello")
    heard = heard_by(with_keys)
    for one in connections:
        one.close()
    for mailbox in (guest, fooled, with_keys):
        mailbox.close()
    assert heard == [([b"hello"], "guest")]


@pytest.mark.skipif(os.name != "posix", reason="rights of files as on Unix")
def test_secrets_are_for_their_owner_alone(tmp_path):
    public = write_keys(tmp_path / "keys", "me", fresh_keys())
    secret = public.with_suffix(".key")
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert public_key(public) == read_keys(public.parent, "me").public
    with pytest.raises(ModelError, match="is there already"):
        write_keys(public.parent, "me", fresh_keys())
    secret.chmod(0o640)
    with pytest.raises(ModelError, match="chmod 600"):
        read_keys(public.parent, "me")


def test_a_pair_is_found_by_name_by_path_and_in_the_folder_that_holds_it(tmp_path):
    folder = tmp_path / "keys"
    with pytest.raises(ModelError, match=r"there is no .*run\.key; make a pair with 'modular keys new run --folder"):
        find_keys(str(tmp_path), "run")
    write_keys(folder, "mine", fresh_keys())
    mine = read_keys(folder, "mine")
    assert all(find_keys(text, "run") == mine for text in (str(folder), f"{folder}/mine", f"{folder}/mine.key"))
    assert find_keys("mine", "run", folder) == mine
    write_keys(folder, "theirs", fresh_keys())
    with pytest.raises(ModelError, match=r"mine, theirs, and none is called run; choose one, as in .*mine"):
        find_keys(str(folder), "run")
    write_keys(folder, "run", fresh_keys())
    assert find_keys(str(folder), "run") == read_keys(folder, "run")


def test_what_a_waiting_run_prints_can_be_pasted_elsewhere(tmp_path):
    """With an address that others reach; with keys where a worker does not find them by itself, and their place if it is here."""

    def typed(hub, key=None, pairs=None):
        said = []
        told = {"hub": hub} | ({} if key is None else {"hub key": key.decode()})
        ByHand(said.append, pairs).start(Order("worker0", 1, told))
        words = shlex.split(said[0].splitlines()[1])
        assert words[:3] == ["modular", "worker", "--connect"] and words[4:6] == ["--name", "worker0"]
        return words[3], words[6:]

    key = fresh_keys().public
    assert typed("ipc:///tmp/modular-1/run") == ("ipc:///tmp/modular-1/run", [])
    assert typed("tcp://127.0.0.1:5", keys_of_this_user().public) == ("tcp://127.0.0.1:5", [])
    for hub in ("tcp://127.0.0.1:5", "tcp://10.0.0.7:5", "tcp://0.0.0.0:5", "tcp://*:5"):
        where, (option, name, coordinator, given) = typed(hub, key)
        assert not is_everywhere(where) and where.endswith(":5")
        assert (option, name, coordinator, given_key(given)) == ("--keys", "worker0", "--coordinator", key)
    (tmp_path / "worker0.pub").touch()  # of a worker whose secret is elsewhere
    assert typed("tcp://127.0.0.1:5", key, tmp_path)[1][1] == "worker0"
    (tmp_path / "worker0.pub").unlink()
    write_keys(tmp_path, "worker0", fresh_keys())
    named = typed("tcp://127.0.0.1:5", key, tmp_path)[1][1]
    assert find_keys(named, "worker0") == read_keys(tmp_path, "worker0")


@pytest.mark.parametrize("name", ["", "a b", "../up", "x" * 65])
def test_names_of_pairs_stay_in_their_folder(tmp_path, name):
    with pytest.raises(ModelError, match="not a name for a pair"):
        write_keys(tmp_path, name, fresh_keys())


def test_what_is_no_key_is_refused_by_file(tmp_path):
    (tmp_path / "bad.pub").write_text("not a key")
    with pytest.raises(ModelError, match=r"bad\.pub holds no key"):
        authorised(tmp_path)
    with pytest.raises(ModelError, match="no folder"):
        authorised(tmp_path / "nowhere")


def test_whoever_comes_while_it_runs_takes_part(tmp_path):
    launch_config = LaunchConfig(ByHand(lambda text: None), elastic=True)
    with Simulation(model(), 1e-4, record_every=50, workers=1, launcher=launch_config) as simulation:
        address = simulation.distributed_run.pool.mailbox.address
        processes = [started(tmp_path, address, name) for name in ("worker0", "late")]
        simulation.run(UNTIL / 2)
        goes_on_until(simulation, lambda: len(simulation.workers) == 2)
        end = max(UNTIL, simulation.time)
        run = simulation.run(end)
        assert [worker.name for worker in simulation.workers] == ["worker0", "late"]
        assert all(worker.ticks for worker in simulation.workers) or end > UNTIL
    for process in processes:
        assert process.wait(GUARD) == 0
    assert run.digest == alone(end)


@pytest.mark.parametrize("lost", [0, *more([2])])
def test_a_worker_that_is_told_to_end_leaves_its_bodies_to_the_others(lost, tmp_path, monkeypatch):
    """Also where nobody hears of it at first."""
    monkeypatch.setattr(process_pool, "Mailbox", Losing)
    monkeypatch.setattr(Losing, "loses", staticmethod(lambda said_by, word, count: word == "leave" and count <= lost))
    with Simulation(
        model(), 1e-4, record_every=50, workers=2, launcher=LaunchConfig(ByHand(lambda text: None))
    ) as simulation:
        address = simulation.distributed_run.pool.mailbox.address
        processes = [started(tmp_path, address, name) for name in ("worker0", "worker1")]
        simulation.run(UNTIL / 4)
        processes[0].terminate()
        goes_on_until(simulation, lambda: len(simulation.workers) == 1)
        assert processes[0].wait(GUARD) == 0
        assert len(simulation.workers[0].bodies) == 8
        assert simulation.run(UNTIL).digest == alone()
    assert processes[1].wait(GUARD) == 0


RUN = """
import sys
import warnings
import scenarios
from coordinator import Checkpoints, Simulation, LaunchConfig, VerdictWarning, resume
from coordinator.distributed.launchers import ByHand

warnings.simplefilter("ignore", VerdictWarning)  # how far it comes before it is killed is nobody's business
address, folder, until, begin = sys.argv[1:]
launch_config = LaunchConfig(ByHand(lambda text: None), address)
if begin == "begin":
    simulation = Simulation(scenarios.load("chain", bodies=8), 1e-4, record_every=50, workers=2, launcher=launch_config)
    simulation.run(float(until), checkpoints=Checkpoints(folder, every=0.02))
else:
    simulation = resume(folder, workers=2, launcher=launch_config)
    print(simulation.tick, simulation.run(float(until)).digest)
simulation.close()
"""


def test_workers_wait_for_a_run_that_was_killed_and_comes_back(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    folder = tmp_path / "checkpoints"
    said, run = tmp_path / "said", tmp_path / "run.py"
    run.write_text(RUN)

    def runs(*arguments):
        with said.open("w") as out:
            return nursery.script(run, address, str(folder), *arguments, out=out, errors=out, environment=os.environ)

    processes = [started(tmp_path, address, name) for name in ("worker0", "worker1")]
    first = runs("1000", "begin")
    wait_for(lambda: len(list(folder.glob("*.checkpoint"))) >= 2 or first.poll() is not None)
    assert first.poll() is None
    first.kill()
    first.wait()
    until = (max(int(path.stem) for path in folder.glob("*.checkpoint")) + 500) * 1e-4
    assert runs(str(until), "resume").wait(GUARD) == 0, said.read_text()
    for process in processes:
        assert process.wait(GUARD) == 0
    assert said.read_text().split()[1] == alone(until)


def test_workers_behind_forwarded_ports_are_found_where_they_say(tmp_path):
    gates, processes = Gates(), []
    with Simulation(
        model(), 1e-4, record_every=50, workers=2, launcher=LaunchConfig(ByHand(str), LOOPBACK_ANY)
    ) as simulation:
        for name in ("worker0", "worker1"):
            inside = free_port()
            where = ("--bind", f"tcp://127.0.0.1:{inside}", "--announce", f"tcp://127.0.0.1:{gates.to(inside).port}")
            processes.append(started(tmp_path, simulation.distributed_run.pool.mailbox.address, name, *where))
        assert simulation.run(UNTIL).digest == alone()
    for process in processes:
        assert process.wait(GUARD) == 0
    gates.close()
    assert min(gate.passed for gate in gates) > 88 * round(UNTIL / 1e-4)  # every frame of the neighbour came through


@pytest.mark.parametrize(
    ("where", "said"),
    [
        (("--announce", "gate"), "give the address at which others reach"),
        (("--bind", "tcp://127.0.0.1:5", "--announce", "tcp://gate:*"), "with its port"),
        (("--bind", "tcp://127.0.0.1:5", "--announce", "tcp://0.0.0.0:6000"), "at which others reach"),
        (("--announce", "tcp://gate:6000"), "--announce: give with --bind the port to which it is forwarded"),
    ],
)
def test_an_address_to_be_announced_is_one_that_leads_here(where, said):
    result = CliRunner().invoke(app, ["worker", "--connect", "tcp://127.0.0.1:5555", "--name", "worker0", *where])
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())
