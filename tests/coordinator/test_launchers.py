"""What every launcher does, wherever its processes are: start them, tell them secrets, hear of their end, leave nobody behind."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

import scenarios
from calm import Calm
from campaign import later, more
from coordinator import LaunchConfig, Simulation
from coordinator.distributed.launchers import Dask, Order, Ssh, Subprocess
from coordinator.distributed.transports.zeromq import Mailbox, fresh_keys
from coordinator.distributed.workers.messages import decode_message, encode_message
from modular import ModelError
from own_sshd import THERE, own_sshd
from process_checks import gone, lives, visible
from waiting import wait_for

UNTIL = 0.1
VARIABLES = {name: os.environ[name] for name in ("MODULAR_CACHE_DIR", "PYTHONPATH") if name in os.environ}


def model():
    return scenarios.load("chain", bodies=8)


@pytest.fixture(scope="module")
def alone():
    with Simulation(model(), 1e-4, record_every=50) as simulation:
        return simulation.run(UNTIL)


@pytest.fixture(scope="module")
def ssh_options(tmp_path_factory):
    if not THERE:
        pytest.skip("there is no sshd")
    with own_sshd(tmp_path_factory.mktemp("ssh") / "own") as options:
        yield options


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(params=["processes", "ssh", *later(["dask"])])
def settings(request):
    """The kind of a launcher, and what it is made with, as plain data."""
    if request.param == "ssh":
        return {"kind": "ssh", "options": list(request.getfixturevalue("ssh_options")), "environment": VARIABLES}
    if request.param == "dask":
        return {"kind": "dask", "address": request.getfixturevalue("dask_client").scheduler.address}
    return {"kind": "processes"}


def made(settings):
    """A launcher."""
    if settings["kind"] == "ssh":
        return Ssh(["127.0.0.1"], options=settings["options"], environment=settings["environment"])
    return Dask(settings["address"]) if settings["kind"] == "dask" else Subprocess()


@pytest.fixture
def launcher(settings):
    found = made(settings)
    yield found
    found.close()


class Hub:
    """Somebody whom workers greet."""

    def __init__(self):
        self.mailbox = Mailbox()
        self.pids = {}  # by name and incarnation

    def order(self, name, incarnation):
        return Order(name, incarnation, {"name": name, "incarnation": str(incarnation), "hub": self.mailbox.address})

    def there(self, *keys):
        """Wait until these have said that they are there."""

        def all_are():
            self.mailbox.wait(0.02)
            for _, parts, _ in self.mailbox.mail():
                data = decode_message(parts).data
                self.pids.setdefault((data["name"], data["incarnation"]), set()).add(data["pid"])
            return set(keys) <= set(self.pids)

        wait_for(all_are)
        return [pid for key in keys for pid in self.pids[key]]


@pytest.fixture
def hub():
    found = Hub()
    yield found
    found.mailbox.close()


def test_processes_start_once_end_when_stopped_or_followed_and_none_is_left(launcher, hub):
    for _ in range(2):  # the second time nothing happens
        for name in ("a", "b", "c"):
            launcher.start(hub.order(name, 1))
    a, b, c = hub.there(("a", 1), ("b", 1), ("c", 1))  # one each
    assert launcher.exits() == []
    launcher.stop("a", 1)
    launcher.stop("nobody", 1)
    assert gone([a])
    heard = wait_for(launcher.exits)
    assert [(one.name, one.incarnation, one.hopeless) for one in heard] == [("a", 1, False)]
    launcher.start(hub.order("a", 1))  # it has been
    launcher.start(hub.order("b", 2))  # the first one is not wanted any more
    assert gone([b])
    (second,) = hub.there(("b", 2))
    assert len(hub.pids) == 4
    assert [lives(pid) for pid in (c, second)] == [True, True]
    assert [(one.name, one.incarnation) for one in launcher.exits()] == [("b", 1)]
    with Calm(c, second) as took:
        launcher.close()
        assert gone([c, second])
    assert took.seconds < 2.0


@pytest.mark.campaign
def test_nothing_is_left_open_by_launchers_that_come_and_go(settings, hub):
    def come_and_go():
        launcher = made(settings)
        for name in ("a", "b"):
            launcher.start(hub.order(name, 1))
        launcher.close()
        return psutil.Process().num_fds() if os.name == "posix" else 0

    first = come_and_go()
    for _ in range(4):
        last = come_and_go()
    assert last <= first + 2  # a connection of Dask may take a moment to go


def test_the_last_words_of_a_process_come_with_the_news_of_its_end(launcher):
    launcher.start(Order("a", 1, {"name": "a", "incarnation": "1", "hub": "ipc://\0"}))
    (heard,) = wait_for(launcher.exits)
    assert "ended with code 1" in heard.reason
    assert "is not an address" in heard.reason
    assert launcher.exits() == []


@pytest.mark.short(1)
def test_a_run_has_the_bits_of_one_process_whoever_is_killed_and_tells_nobody_its_secrets(
    launcher, alone, as_users_start_them
):
    told = []
    start = launcher.start
    launcher.start = lambda order: (told.append(order.settings), start(order))
    launch_config = LaunchConfig(launcher, keys=fresh_keys())
    with Simulation(model(), 1e-4, record_every=50, workers=2, launcher=launch_config) as simulation:
        simulation.run(0.01)
        pids = [worker.pid for worker in simulation.workers]
        assert len({os.getpid(), *pids}) == 3
        seen = "\n".join(map(visible, pids))
        assert "coordinator.distributed.workers.process" in seen
        assert len(told) == 2 and not any(one["secret"] in seen for one in told)
        os.kill(pids[1], signal.SIGKILL)
        run = simulation.run(UNTIL)
        workers, deaths = simulation.workers, simulation.distributed_run.pool.deaths
        pids += [worker.pid for worker in workers]
    assert run.digest == alone.digest
    assert [worker.replaced for worker in workers] == [0, 1]
    assert len(deaths) == 1 and deaths[0].startswith("'worker1'")
    assert gone(pids)


PROGRAM = """
import json, sys, time
sys.path.insert(0, sys.argv[2])
import test_launchers as here
if __name__ == "__main__":
    launch_config = here.LaunchConfig(here.made(json.loads(sys.argv[1])))
    simulation = here.Simulation(here.model(), 1e-4, record_every=50, workers=2, launcher=launch_config)
    simulation.run(0.01)
    print(*[worker.pid for worker in simulation.workers], flush=True)
    if sys.argv[3] == "busy":
        simulation.run(1e3)
    time.sleep(3600)
"""


@pytest.mark.short(1)
@pytest.mark.parametrize("busy", ["idle", *more(["busy"])])
def test_processes_end_when_the_program_that_started_them_is_killed(settings, busy):
    here = Path(__file__).parent
    paths = os.pathsep.join([str(here.parent / "support"), os.environ.get("PYTHONPATH", "")])
    call = [sys.executable, "-c", PROGRAM, json.dumps(settings), str(here), busy]
    with subprocess.Popen(call, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths}) as process:
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert len(pids) == 2 and all(map(lives, pids))
        time.sleep(0.2)
        process.kill()
    assert gone(pids)


def test_a_second_process_with_an_incarnation_that_is_there_is_sent_away():
    with Simulation(model(), 1e-4, workers=2) as simulation:
        simulation.run(0.01)
        pool, again = simulation.distributed_run.pool, Mailbox()
        again.connect("hub", pool.mailbox.address, identity="worker1/1/again")
        facts = {"name": "worker1", "incarnation": 1, "pid": 1, "fingerprint": ""}
        again.send("hub", *encode_message("hello", facts))
        said = []

        def answered():
            simulation.run(simulation.time + 1e-3)
            again.wait(0.05)
            said.extend(map(decode_message, again.heard("hub")))
            return said

        wait_for(answered)
        assert (said[0].kind, said[0].data) == ("quit", {"why": "'worker1' is already connected.", "unfit": False})
        assert [worker.replaced for worker in simulation.workers] == [0, 0]
        again.close()


# --- ssh -------------------------------------------------------------------------------------------------------------------


def tried(**more):
    """A run over ssh."""
    launcher = Ssh(**{"hosts": ["127.0.0.1"], **more})
    with Simulation(model(), 1e-4, record_every=50, workers=2, launcher=LaunchConfig(launcher)) as simulation:
        return simulation.run(UNTIL), simulation.distributed_run.pool.deaths


@pytest.mark.campaign
def test_a_host_without_that_python_or_without_the_package_is_named_with_the_remedy(ssh_options, tmp_path):
    with pytest.raises(ModelError, match=r"'127.0.0.1' finds no /no/python: .*--python"):
        tried(options=ssh_options, python="/no/python")
    bare = [sys.executable, "-c", "import venv; venv.create(__import__('sys').argv[1])", str(tmp_path / "bare")]
    subprocess.run(bare, check=True)
    with pytest.raises(ModelError, match=r"bare/bin/python on '127.0.0.1' lacks a package: .*coordinator"):
        tried(options=ssh_options, python=str(tmp_path / "bare" / "bin" / "python"))


@pytest.mark.campaign
def test_hosts_that_cannot_be_reached_are_passed_over_and_an_error_if_all_are(ssh_options, alone):
    run, deaths = tried(hosts=["127.0.0.2", "127.0.0.1"], options=ssh_options, environment=VARIABLES)
    assert run.digest == alone.digest
    assert len(deaths) == 1 and "ssh cannot log in to '127.0.0.2'" in deaths[0]
    with pytest.raises(
        ModelError, match=r"(?s)ssh cannot log in to '127.0.0.1': .*ssh -o BatchMode=yes 127.0.0.1 true"
    ):
        tried(options=("-o", "IdentitiesOnly=yes", "-F", "none", *ssh_options[2:4], "-i", "/no/key"))


@pytest.mark.skipif(shutil.which("ssh") is None, reason="there is no ssh")
def test_what_ssh_cannot_do_is_refused_before_anything_starts(monkeypatch):
    for hosts, words in (
        ("node1", "give a list"),
        ([], "no hosts"),
        (["-oProxyCommand=x"], "is not a host"),
        ([""], "is not a host"),
    ):
        with pytest.raises(ModelError, match=words):
            Ssh(hosts)
    told = {"name": "a", "incarnation": "1", "hub": "tcp://127.0.0.1:5555"}
    with pytest.raises(ModelError, match=r"'node1' cannot reach tcp://127.0.0.1:5555.*bind="):
        Ssh(["node1"]).start(Order("a", 1, told))
    with pytest.raises(ModelError, match="no host for worker 'a'"):
        Ssh({"b": "node1"}).start(Order("a", 1, told))
    with pytest.raises(ModelError, match=r"no route to 'nowhere.invalid'.*--bind"):
        Ssh(["nowhere.invalid"]).mailbox()
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ModelError, match="no program 'ssh'"):
        Ssh(["node1"])


# --- dask ------------------------------------------------------------------------------------------------------------------


@pytest.mark.campaign
def test_a_dask_worker_that_is_killed_takes_its_processes_along_and_the_run_goes_on(dask_client, alone):
    with Simulation(model(), 1e-4, record_every=50, workers=2, launcher=LaunchConfig(Dask(dask_client))) as simulation:
        simulation.run(0.01)
        pid = simulation.workers[0].pid
        psutil.Process(pid).parent().kill()
        assert gone([pid])
        assert simulation.run(UNTIL).digest == alone.digest
        assert sum(worker.replaced for worker in simulation.workers) >= 1
        pids = [worker.pid for worker in simulation.workers]
    assert gone(pids)
    assert dask_client.status == "running"  # it is not ours to close


def test_a_cluster_of_its_own_goes_with_the_launcher(alone):
    pytest.importorskip("distributed")
    threads = threading.active_count()
    launch_config = LaunchConfig(Dask.on_this_machine(2))
    with Simulation(model(), 1e-4, record_every=50, workers=2, launcher=launch_config) as simulation:
        assert simulation.run(UNTIL).digest == alone.digest
    assert launch_config.launcher.client.status == "closed"
    assert threading.active_count() <= threads + 5


class Elsewhere:
    """A cluster of Dask on other machines, as far as a launcher looks at it."""

    status = "running"
    future = None

    def __init__(self, address):
        self.scheduler = self
        self.address = address
        self.submitted = []

    def nthreads(self):
        return {self.address.replace("8786", "40000"): 4}

    def submit(self, function, told, name, **more):
        self.submitted.append((told, more))
        return self.future


class Failed:
    """A task of Dask that has come to nothing."""

    key, status = "a", "error"

    def __init__(self, error):
        self.error = error

    def done(self):
        return True

    def exception(self, timeout):
        return self.error


def test_secrets_do_not_go_through_a_cluster_where_others_can_listen():
    pytest.importorskip("distributed")
    told = {"name": "a", "incarnation": "1", "hub": "tcp://10.0.0.1:5555", "secret": "x" * 40}
    with pytest.raises(ModelError, match=r"tcp://10.0.0.5:8786 does not use TLS.*security=True"):
        Dask(Elsewhere("tcp://10.0.0.5:8786")).start(Order("a", 1, told))
    for cluster, words in (
        (Elsewhere("tls://10.0.0.5:8786"), {}),
        (Elsewhere("tcp://10.0.0.5:8786"), {"insecure": True}),
    ):
        Dask(cluster, resources={"modular": 1}, **words).start(Order("a", 1, told))
        ((sent, asked),) = cluster.submitted
        assert sent == told
        assert asked["resources"] == {"modular": 1}
    with pytest.raises(ModelError, match=r"beside tls://10.0.0.5:40000 cannot reach tcp://127.0.0.1:5555"):
        Dask(Elsewhere("tls://10.0.0.5:8786")).start(Order("a", 1, {**told, "hub": "tcp://127.0.0.1:5555"}))


def test_tasks_that_fail_are_told_with_their_cause_and_the_remedy():
    pytest.importorskip("distributed")
    cluster = Elsewhere("tls://10.0.0.5:8786")
    error = RuntimeError("cannot read the task")
    error.__cause__ = ModuleNotFoundError("No module named 'coordinator'")
    for told, words, hopeless in (
        (error, "No module named 'coordinator'. Install the same packages", True),
        (OSError("x"), "OSError: x.", False),
    ):
        cluster.future, launcher = Failed(told), Dask(cluster)
        launcher.start(Order("a", 1, {"hub": "tcp://10.0.0.1:5555"}))
        (heard,) = launcher.exits()
        assert words in heard.reason
        assert heard.hopeless == hopeless
    launcher.start(Order("b", 1, {"hub": "tcp://10.0.0.1:5555"}))
    cluster.status = "closed"
    assert [(one.name, one.hopeless) for one in launcher.exits()] == [("b", True)]
    with pytest.raises(ModelError, match="the Dask cluster has stopped"):
        launcher.start(Order("c", 1, {"hub": "tcp://10.0.0.1:5555"}))


def test_what_is_no_cluster_is_refused_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ModelError, match=r"pip install 'modular-multibody\[cluster\]'"):
        Dask("tcp://127.0.0.1:1")
    monkeypatch.undo()
    pytest.importorskip("distributed")
    monkeypatch.setattr("coordinator.distributed.launchers.dask.SCHEDULER_TIMEOUT", 0.5)
    for wrong in (7, "", "tcp://127.0.0.1:1", "nonsense://x"):
        with pytest.raises(ModelError, match=r"not a cluster|no Dask scheduler answers"):
            Dask(wrong)


@pytest.mark.campaign
def test_nobody_loads_dask_who_does_not_ask_for_it():
    code = "import sys, scenarios.cli, coordinator.distributed.launchers; assert not {'dask', 'distributed'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
