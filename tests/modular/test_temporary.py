"""Folders for a while go with their process, however it ends."""

import importlib
import operator
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from modular import temporary

MAKES = "from modular.temporary import folder_for_a_while\nprint(folder_for_a_while('modular-tried-'), flush=True)\n"
WITHOUT_MEMORY = "import coordinator.record.on_disk as samples\nsamples.IN_MEMORY = ()\n"
needs_locks = pytest.mark.skipif(
    not hasattr(temporary, "fcntl"), reason="this system has no locks of files that go with a process"
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Where folders are made, here and in processes that are started."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(temporary, "SETTLED_SECONDS", 0.0)
    return tmp_path


def started(code):
    process = subprocess.Popen(
        [sys.executable, "-c", MAKES + code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    return process, Path(process.stdout.readline().strip())


@needs_locks
def test_what_a_killed_process_left_behind_is_removed_and_that_of_a_living_one_stays(place):
    killed, left = started("input()")
    living, used = started("input()")
    killed.kill()
    killed.communicate()
    own = temporary.folder_for_a_while("modular-tried-")
    other = temporary.folder_for_a_while("modular-tried-")  # also where this process itself looks
    assert not left.exists() and used.exists() and own.exists() and other.exists()
    living.communicate("\n")
    assert not used.exists()
    temporary.remove_all()
    assert not list(place.glob("modular-tried-*"))


@pytest.mark.short(1, each=True)
@needs_locks
@pytest.mark.parametrize(
    ("home", "make", "folder"),
    [
        ("coordinator.record.on_disk", "OnDisk.for_a_while", "folder"),
        ("coordinator.distributed.transports.addresses", "SocketFolder", "_folder"),
    ],
)
def test_samples_and_sockets_of_a_killed_run_are_removed_by_the_next(place, monkeypatch, home, make, folder):
    monkeypatch.setattr("coordinator.record.on_disk.IN_MEMORY", ())
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"{WITHOUT_MEMORY}from {home} import *\nown = {make}()\nprint(own.{folder}, flush=True)\ninput()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    left = Path(process.stdout.readline().strip())
    there = left.parent == place and left.exists()
    process.kill()
    process.communicate()
    own = operator.attrgetter(make)(importlib.import_module(home))()
    assert there and not left.exists() and Path(getattr(own, folder)).exists()


def test_a_worker_whose_parent_is_gone_leaves_nothing(place):
    process, folder = started(
        "from coordinator.distributed.workers.process import _end_with_parent\n_end_with_parent()"
    )
    assert folder.exists()
    process.communicate("")  # its standard input ends
    assert process.returncode == 0 and not folder.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_of_a_fork_leaves_those_of_its_parent_alone(place):
    folder = temporary.folder_for_a_while("modular-tried-")
    child = os.fork()
    if child == 0:
        temporary.remove_all()
        os._exit(0)
    os.waitpid(child, 0)
    assert folder.exists()
    temporary.remove_all()
    assert not folder.exists()
