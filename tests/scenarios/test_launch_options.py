"""Where `modular run` finds its workers: what it refuses, and that the bits do not depend on it."""

import inspect
from dataclasses import dataclass

import pytest
from rich.console import Console

from command_line import CliRunner
from coordinator import Run
from coordinator.distributed.launchers import ByHand, Dask, Ssh, Subprocess
from modular import ModelError
from scenarios.cli import app
from scenarios.commands.launch_options import launch_config_for
from scenarios.grouped import grouped


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(*words):
    call = ["run", "chain", "--set", "bodies=4", "--until", "0.01", "--no-plot", *words]
    return CliRunner().invoke(app, call)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--launcher here", "--launcher: give the number of workers, as in --workers 2"),
        ("--hosts a,b", "--hosts: give the number of workers"),
        ("--bind tcp://127.0.0.1:*", "--bind: give the number of workers"),
        ("--workers 2 --launcher slurm", "--launcher slurm: give processes, ssh, dask, hand or here"),
        ("--workers 2 --hosts a,b", "--hosts is for --launcher ssh; the launcher is processes"),
        ("--workers 2 --launcher dask --python python3", "--python is for --launcher ssh; the launcher is dask"),
        (
            "--workers 2 --launcher ssh --hosts a --scheduler f",
            "--scheduler is for --launcher dask; the launcher is ssh",
        ),
        ("--workers 2 --launcher ssh --hosts a --authorized f", "--authorized is for --launcher hand"),
        (
            "--workers 2 --launcher here --bind tcp://127.0.0.1:*",
            "with --launcher here all workers are in this process",
        ),
        ("--workers 2 --launcher hand --authorized .", "--authorized: give the pair of this run as well"),
        ("--workers 2 --launcher hand --bind tcp://0.0.0.0:*", "needs keys"),
        ("--workers 2 --bind nonsense", "--bind nonsense: give an address, such as"),
        ("--workers 5", "from 1 to 4, the number of bodies"),
    ],
)
def test_options_that_make_no_sense_together_are_refused_with_the_remedy(words, said):
    result = run(*words.split())
    assert result.exit_code == 2
    assert said in result.stderr.replace("\n", " ")


def launch_config(launcher, workers=2, **options):
    return launch_config_for(Console(), workers, launcher, **options)


def test_every_launcher_has_a_name(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert isinstance(launch_config(None).launcher, Subprocess)
    assert isinstance(launch_config("processes").launcher, Subprocess)
    assert isinstance(launch_config("subprocess", bind="tcp://127.0.0.1:5555").launcher, Subprocess)
    assert isinstance(launch_config("hand").launcher, ByHand)
    assert launch_config("here") == "here"
    assert launch_config_for(Console(), None, None) == "processes"
    found = launch_config("ssh", hosts="node1, me@node2", python="/opt/python").launcher
    assert isinstance(found, Ssh) and found.python == "/opt/python"
    assert [found.command(host)[-2] for host in found.hosts] == ["node1", "me@node2"]
    for hosts in ("", "a,,b", "-oProxyCommand=x"):
        with pytest.raises(ModelError, match="is not a host"):
            launch_config("ssh", hosts=hosts)
    with pytest.raises(ModelError, match="--hosts node1,node2"):
        launch_config("ssh")


@pytest.mark.campaign
def test_a_cluster_of_dask_on_this_machine_gives_the_bits_of_processes(monkeypatch):
    pytest.importorskip("distributed")
    for name, launcher in (("one", "subprocess"), ("two", "dask"), ("three", "here")):
        result = run("--workers", "2", "--launcher", launcher, "--out", name)
        assert result.exit_code == 0, result.stderr
        assert "worker1" in result.stdout
    assert Run.load("one").digest == Run.load("two").digest == Run.load("three").digest
    closed = []
    close = Dask.close
    monkeypatch.setattr(Dask, "close", lambda self: (closed.append(self), close(self)))
    result = run("--workers", "5", "--launcher", "dask")
    assert result.exit_code == 2
    assert closed  # the cluster goes, too, where nothing came of the run


def test_an_address_that_others_reach_gets_keys_by_itself():
    result = run("--workers", "2", "--bind", "tcp://0.0.0.0:*", "--out", "open")
    assert result.exit_code == 0, result.stderr
    assert run("--workers", "2", "--out", "closed").exit_code == 0
    assert Run.load("open").digest == Run.load("closed").digest


@dataclass(frozen=True)
class Pair:
    left: int = 1
    right: str = "b"


def test_options_that_belong_together_are_options_of_the_command():
    seen = []

    @grouped
    def command(first: int, pair: Pair = Pair(), last: bool = False) -> None:
        seen.append((first, pair, last))

    shown = inspect.signature(command).parameters
    assert [(name, option.default) for name, option in shown.items()] == [
        ("first", inspect.Parameter.empty), ("left", 1), ("right", "b"), ("last", False),
    ]  # fmt: skip
    command(first=3, left=4, right="c", last=True)
    assert seen == [(3, Pair(4, "c"), True)]
