"""Worker processes on other machines, started with OpenSSH.

The command is that of a process on this machine; what it is told goes over its standard input, through ssh. It ends when that does,
so with ssh, with this process, or with the connection. Nobody is asked for passwords: what `ssh -o BatchMode=yes HOST true`
does without a question is what is needed.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from coordinator.distributed.launchers.children import MODULE, UNFIT, Children, Key, reason_of
from coordinator.distributed.launchers.launcher import Exited, Order
from coordinator.distributed.transports.addresses import (
    LOOPBACK_ANY,
    is_everywhere,
    is_local,
    is_this_machine,
    route_to,
    with_host,
)
from modular.errors import ModelError

HOST = re.compile(r"[A-Za-z0-9_.%@:/\[\]][A-Za-z0-9_.%@:/\[\]-]*")  # nothing that ssh would take for an option
ALWAYS = ("-T", "-x", "-a", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveCountMax=3")
# said by the shell of the other machine, so that failures before and after can be told apart
INSIDE = "modular: inside"
LOST, UNFOUND, NOT_RUN = 255, 127, 126  # codes of ssh and of shells
SSH_TIMEOUT = 10.0  # seconds for `ssh -G`


class Ssh:
    """Starts `python -m coordinator.distributed.workers.process` on other hosts.

    `hosts`: as ssh knows them, dealt to workers in turn, or the host of each worker by its name. `python`: the interpreter over
    there; the same path as here unless given. `options`: more of them for ssh, such as ("-p", "2222"). `environment`: variables for
    the workers; they can be seen by others on those hosts.
    """

    def __init__(
        self,
        hosts: Sequence[str] | Mapping[str, str],
        *,
        python: str = "",
        options: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        if isinstance(hosts, str):
            raise ModelError(
                f"Ssh: hosts = {hosts!r}; give a list, such as ['{hosts}'], or a host for each worker by name."
            )
        self._of = dict(hosts) if isinstance(hosts, Mapping) else {}
        self.hosts = list(dict.fromkeys(self._of.values())) if self._of else list(hosts)
        if not self.hosts:
            raise ModelError("Ssh: no hosts; give one at least, such as ['node1', 'node2'].")
        for host in self.hosts:
            if not HOST.fullmatch(host):
                raise ModelError(
                    f"Ssh: {host!r} is not a host; give names as you would to ssh, such as node1 or me@node1."
                )
        if shutil.which("ssh") is None:
            raise ModelError("Ssh: there is no program 'ssh' on this machine; install the client of OpenSSH.")
        self.python, self.options = python or sys.executable, tuple(options)
        self._environment = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **(environment or {})}
        self._children = Children()
        self._on: dict[Key, str] = {}  # hosts of processes
        self._lost: set[str] = set()  # hosts that could not be reached
        self._names: list[str] = []

    def mailbox(self) -> str:
        """Where the first of the other machines that is known reaches this one."""
        others = [host for host in self.hosts if not is_this_machine(_name(host))]
        for host in others[:-1]:
            with suppress(ModelError):
                return f"tcp://{self._seen_from(host)}:*"
        return f"tcp://{self._seen_from(others[-1])}:*" if others else LOOPBACK_ANY

    def start(self, order: Order) -> None:
        """Start a process on the host whose turn it is; hosts that are out of reach are passed over."""
        key = (order.name, order.incarnation)
        if key in self._on:
            return
        host = self._on[key] = self._host_for(order.name)
        hub = order.settings.get("hub", LOOPBACK_ANY)
        if is_everywhere(hub):
            hub = with_host(hub, self._seen_from(host))
        elif is_local(hub) and not is_this_machine(_name(host)):
            raise ModelError(
                f"a worker on '{host}' cannot reach {hub}, which is reachable from this machine only; bind an "
                "address of this machine that it can reach, as in LaunchConfig(bind='tcp://ADDRESS:*') or --bind "
                "tcp://ADDRESS:*."
            )
        self._children.start(replace(order, settings={**order.settings, "hub": hub}), self.command(host, order.silence))

    def command(self, host: str, silence: float = 60.0) -> list[str]:
        """What is called to start a worker on a host; after so long without an answer from there the connection is lost [s]."""
        variables = [f"{name}={value}" for name, value in self._environment.items()]
        worker = shlex.join(["env", *variables, self.python, "-P", "-m", MODULE])
        there = f"echo {shlex.quote(INSIDE)}; {worker}; exit $?"  # a shell, so that signals become codes of their own
        alive = ("-o", f"ServerAliveInterval={max(1, min(round(silence / 3.0), 86400))}")
        return ["ssh", *ALWAYS, *alive, *self.options, "--", host, f"exec sh -c {shlex.quote(there)}"]

    def exits(self) -> list[Exited]:
        """Processes that have ended since the last call."""
        return [self._exited(key, code, words) for key, code, words in self._children.ended()]

    def stop(self, name: str, incarnation: int) -> None:
        """Let ssh go at once, and with it the standard input of the process."""
        self._children.stop(name, incarnation)

    def close(self) -> None:
        """Let all end by themselves, and end those that do not."""
        self._children.close()

    def _host_for(self, name: str) -> str:
        """A host for a worker: its own, or the next in turn."""
        if self._of:
            if name not in self._of:
                raise ModelError(f"Ssh: no host for worker '{name}'; hosts are given for {', '.join(self._of)}.")
            return self._of[name]
        if name not in self._names:
            self._names.append(name)
        within = [host for host in self.hosts if host not in self._lost] or self.hosts
        return within[self._names.index(name) % len(within)]

    def _exited(self, key: Key, code: int, words: str) -> Exited:
        """What became of a process, and what to do about it."""
        host = self._on[key]
        inside = INSIDE in words
        words = words.replace(INSIDE, "", 1).strip().rstrip(".")
        if code == LOST and not inside:
            self._lost.add(host)
            return Exited(
                *key,
                f"ssh cannot log in to '{host}': {words}. Try 'ssh -o BatchMode=yes {host} true' in a terminal: it "
                "must work without a prompt.",
                hopeless=bool(self._of) or self._lost >= set(self.hosts),
            )
        if code == LOST:
            self._lost.add(host)
            return Exited(*key, f"the connection to '{host}' is lost: {words}")
        if code in (UNFOUND, NOT_RUN):
            return Exited(
                *key,
                f"'{host}' finds no {self.python}: {words}. Give the Python of that machine, as in Ssh(…, python='…') or "
                "--python.",
                hopeless=True,
            )
        if "No module named" in words:
            return Exited(
                *key,
                f"{self.python} on '{host}' lacks a package: {words}. Install the same packages there as here, or "
                "give another Python with Ssh(…, python='…') or --python.",
                hopeless=True,
            )
        reason = f"on '{host}' {reason_of(128 - code if code > 128 else code, words)}"
        return Exited(*key, reason, hopeless=code == UNFIT)

    def _seen_from(self, host: str) -> str:
        """The address by which a host reaches this machine."""
        if is_this_machine(_name(host)):
            return "127.0.0.1"
        try:
            return route_to(self._real_name(host))
        except ModelError as error:
            raise ModelError(
                f"{error} Give the address of this machine that '{host}' reaches, as in LaunchConfig(bind='tcp://ADDRESS:*') or "
                "--bind tcp://ADDRESS:*."
            ) from error

    def _real_name(self, host: str) -> str:
        """The name or address that stands behind a name in the settings of ssh."""
        call = ["ssh", "-G", *self.options, "--", host]
        try:
            said = subprocess.run(
                call, capture_output=True, text=True, timeout=SSH_TIMEOUT, check=True, stdin=subprocess.DEVNULL
            )
        except (OSError, subprocess.SubprocessError):
            return _name(host)
        found = [line.split()[1] for line in said.stdout.splitlines() if line.startswith("hostname ")]
        return found[0] if found else _name(host)


def _name(host: str) -> str:
    """A host without its user."""
    return host.rpartition("@")[2]
