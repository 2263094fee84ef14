"""Nursery: worker processes that begin with everything imported, forked from one process that waits for them to be wanted.

Python takes most of a second to import what a worker needs. What starts workers in tests (`launchers.children`) gets
them from here. In every other way they are processes of their own, with their own standard input, environment, session and end;
a test that is about how they are started asks for the fixture `as_users_start_them`.

Tests that start the command `modular` or a script of their own get them from here too, with `modular` and `script`.
"""

import contextlib
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
import warnings
from pathlib import Path

POSSIBLE = sys.platform == "linux"
SUPPORT = str(Path(__file__).parent)
WORKER = "coordinator.distributed.workers.process"
READ_EARLY = (
    "NUMBA_",
    "MODULAR_CPU",
    "OPENBLAS_",
    "MKL_",
    "OMP_",
    "PYTHONWARNINGS",
    "PYTHONHASHSEED",
)  # by what is imported
CODE = struct.Struct("i")
IMPORTS = (
    WORKER,
    "coordinator.distributed.workers.remote_channel",
    "coordinator.simulation",
    "coordinator.engine.driver",
    "components",
    "scenarios",
)


class Born:
    """A process of the nursery, in the words of `subprocess.Popen`."""

    def __init__(self, nursery, stdout, stderr, **told):
        self.args, self.returncode = (told["name"], *told["arguments"]), None
        hears, says = os.pipe()
        ended, ends = os.pipe()
        try:
            self.pid = nursery.bear(json.dumps(told), [hears, stdout.fileno(), stderr.fileno(), ends])
        finally:
            os.close(hears)
            os.close(ends)
        self._ended = os.fdopen(ended, "rb", buffering=0)
        os.set_blocking(ended, False)
        self.stdin = os.fdopen(says, "wb")

    def poll(self):
        if self.returncode is None and (told := self._ended.read(CODE.size)):
            self.returncode = CODE.unpack(told)[0]
            self._ended.close()
        return self.returncode

    def wait(self, timeout=None):
        until = time.monotonic() + (float("inf") if timeout is None else timeout)
        while self.poll() is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired(self.args, timeout)
            time.sleep(0.001)
        return self.returncode

    def kill(self):
        self.send_signal(signal.SIGKILL)

    def terminate(self):
        self.send_signal(signal.SIGTERM)

    def send_signal(self, number):
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it has ended, and its end was not heard of yet
                os.kill(self.pid, number)


class Nursery:
    """The process that waits, as seen by whoever wants workers."""

    def __init__(self):
        self._line, theirs = socket.socketpair()
        begin = (
            f"import sys; sys.path.insert(0, {SUPPORT!r}); import nursery; sys.path.pop(0); "
            f"nursery.wait_to_be_wanted({theirs.fileno()})"
        )
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", begin], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL
            )
        self._lock = threading.Lock()

    def bear(self, told, descriptors):
        """A new process; its number."""
        words = told.encode()
        with self._lock:
            socket.send_fds(self._line, [CODE.pack(len(words))], descriptors)
            self._line.sendall(words)
            return CODE.unpack(received(self._line, CODE.size))[0]

    def close(self):
        """It ends when nobody can want anything any more."""
        self._line.close()
        self._process.wait()


def received(line, size):
    """So many bytes; fewer where the line is closed."""
    found = b""
    while len(found) < size and (more := line.recv(size - len(found))):
        found += more
    return found


# --- in the nursery --------------------------------------------------------------------------------------------------


def wait_to_be_wanted(line_number):
    """Import everything, and fork whenever a worker is wanted."""
    for name in IMPORTS:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    line, usual = socket.socket(fileno=line_number), list(sys.path)
    heard, hears = socket.socketpair()
    for end in (heard, hears):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(hears.fileno())
    living = {}  # by number: where to say how it has ended
    while True:
        ready, _, _ = select.select([line, heard], [], [])
        if heard in ready:
            heard.recv(4096)
            while living and (ended := os.waitpid(-1, os.WNOHANG))[0]:
                where = living.pop(ended[0])
                os.write(where, CODE.pack(os.waitstatus_to_exitcode(ended[1])))
                os.close(where)
        if line in ready:
            size, descriptors, *_ = socket.recv_fds(line, CODE.size, 4)
            if not size:
                return
            told = json.loads(received(line, CODE.unpack(size)[0]))
            if not told["name"].endswith(".py"):
                importlib.import_module(told["name"])  # once for all that ask for it
            if (number := os.fork()) == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for other in (line, heard, hears):
                    other.close()
                for where in living.values():
                    os.close(where)
                live(told, descriptors, usual)
            living[number] = descriptors.pop()
            for descriptor in descriptors:
                os.close(descriptor)
            line.sendall(CODE.pack(number))


def live(told, descriptors, usual):
    """What `python -m module` or `python -W error script.py` does, in a session of its own; it never returns."""
    code = 1
    try:
        os.setsid()
        for place, descriptor in enumerate(descriptors[:3]):
            os.dup2(descriptor, place)
        for descriptor in descriptors:
            os.close(descriptor)
        os.environ.clear()
        os.environ.update(told["environment"])
        os.chdir(told["folder"])
        paths = filter(None, told["environment"].get("PYTHONPATH", "").split(os.pathsep))
        here = [] if told["name"] == WORKER else [told["folder"]]  # workers import nothing from where they are started
        sys.path[:] = dict.fromkeys([*here, *paths, *usual])
        sys.argv = [told["name"], *told["arguments"]]
        if told["name"].endswith(".py"):
            warnings.simplefilter("error")
            sys.dont_write_bytecode = bool(told["environment"].get("PYTHONDONTWRITEBYTECODE"))
            runpy.run_path(told["name"], run_name="__main__")
        else:
            importlib.import_module(told["name"]).main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            threading._shutdown()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


# --- beside the tests ------------------------------------------------------------------------------------------------


@functools.cache
def ours():
    """The nursery of this process, from when somebody first wants one."""
    return Nursery()


def close():
    """It ends, where there is one."""
    if ours.cache_info().currsize:
        ours().close()
        ours.cache_clear()


def alike(environment):
    """Whether what is read while importing is as in this process, so that the nursery has it too."""
    early = [name for name in (*environment, *os.environ) if name.startswith(READ_EARLY)]
    return all(environment.get(name) == os.environ.get(name) for name in early)


class FromTheNursery:
    """`subprocess`, as `coordinator.distributed.launchers.children` sees it: workers of this machine come from the nursery."""

    PIPE, TimeoutExpired = subprocess.PIPE, subprocess.TimeoutExpired

    @staticmethod
    def Popen(command, **how):  # noqa: N802 - its name
        if not alike(how["env"]) or command != [sys.executable, "-P", "-m", WORKER]:
            return subprocess.Popen(command, **how)
        assert how["stdin"] == subprocess.PIPE
        return Born(
            ours(), how["stdout"], how["stderr"],
            name=command[3], arguments=[], environment=dict(how["env"]), folder=str(Path.cwd()),
        )  # fmt: skip


def modular(*arguments, said):
    """The command `modular` in a process of its own; a file takes what it says."""
    if not POSSIBLE:
        command = "from scenarios.cli import main; main()"
        return subprocess.Popen([sys.executable, "-c", command, *arguments], stdout=said, stderr=said)
    return started("scenarios.cli", arguments, said, said, os.environ, Path.cwd())


def script(path, *arguments, out, errors, environment):
    """A script in a process of its own, in the folder in which it lies; every warning is an error, files take what it says."""
    if not POSSIBLE:
        return subprocess.Popen(
            [sys.executable, "-W", "error", path.name, *arguments], cwd=path.parent, stdout=out, stderr=errors, env=environment
        )  # fmt: skip
    assert alike(environment)
    return started(path.name, arguments, out, errors, environment, path.parent)


def started(name, arguments, out, errors, environment, folder):
    """A process with nothing on its standard input."""
    born = Born(
        ours(), out, errors, name=name, arguments=list(arguments), environment=dict(environment), folder=str(folder)
    )
    born.stdin.close()
    return born
