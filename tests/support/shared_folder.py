"""A folder that the processes of one test session share, for what takes long to make; it goes when the session is over."""

import os
import shutil
import tempfile
from pathlib import Path

NAME = "MODULAR_TESTS_SHARED"


def pytest_configure(config):
    """Before the other processes are started, which find its name among their variables."""
    if not hasattr(config, "workerinput"):
        os.environ[NAME] = tempfile.mkdtemp(prefix="modular-tests-")


def pytest_unconfigure(config):
    if not hasattr(config, "workerinput"):
        shutil.rmtree(os.environ.pop(NAME), ignore_errors=True)


def made_once(name, make):
    """The file of this name there; whoever misses it makes it, `make(path)`. Two may, at the same time, and one of theirs stays."""
    path = Path(os.environ[NAME]) / name
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            made = Path(folder) / path.name
            make(made)
            made.replace(path)
    return path
