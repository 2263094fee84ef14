"""Which processes may take part in a run: whoever greets with the key of a worker whose place is free, and with our versions."""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Mapping
from typing import Any, Protocol

from coordinator.distributed.launchers import ByHand, Launcher
from coordinator.distributed.transports.addresses import is_local
from coordinator.distributed.transports.keys import Keys
from coordinator.distributed.transports.zeromq import ANYONE, Mailbox, fresh_keys, keys_of_this_user
from coordinator.distributed.workers.messages import MAX_BRIEF_LENGTH, encode_message
from coordinator.distributed.workers.worker_handle import ProcessMonitor, WorkerHandle
from coordinator.record.fingerprint import bits
from modular.names import unfit

_log = logging.getLogger("modular")
PROBE_INTERVAL = 0.2  # seconds between two looks after a worker whose place somebody else wants
MAX_RIVALS = 1000  # of them, and of those who come by themselves, that are remembered
# seconds that somebody waits who wants a place that another has; without a connection it is his then
RIVAL_WAIT_SECONDS = 3.0


class Admitting(Protocol):
    """A pool that processes want to join."""

    mailbox: Mailbox
    handles: dict[str, WorkerHandle]
    _pairs: dict[str, Keys]
    _public: dict[str, str]
    _names: list[str]
    _elastic: bool
    _waiting: dict[str, float]
    _rivals: dict[bytes, float]
    _unfit: set[str]

    def _opens(self, name: str, key_owner: str) -> bool:
        """Whether a key opens the place of a worker."""

    def _send_away(self, identity: bytes, why: str, *, unfit: bool = False) -> None:
        """Reject a process."""

    def _why_not(self, handle: WorkerHandle | None, identity: bytes, data: dict[str, Any], key_owner: str) -> str:
        """Why a process has no place here."""

    def _is_taken(self, handle: WorkerHandle, rival: bytes, now: float, *, by_hand: bool) -> str:
        """Why a second process cannot have a place."""

    def _begin(self, handle: WorkerHandle) -> None:
        """Let a worker take part in the run."""

    def _probe(self, handle: WorkerHandle, now: float) -> None:
        """Look whether a worker is there."""

    def _worker_died(self, handle: WorkerHandle, launched: int, reason: str, now: float) -> None:
        """A worker is gone."""


class Admission:
    """Who may take part."""

    def _give_pair(self: Admitting, name: str) -> None:
        """A pair of keys of its own."""
        pair = self._pairs[name] = fresh_keys()
        self.mailbox.authorized.keys[pair.public], self._public[name] = name, pair.public.decode()

    def _greet(self: Admitting, identity: bytes, data: dict[str, Any], key_owner: str, now: float) -> None:
        handle = self.handles.get(data["name"])
        if handle is None and self._elastic and self._opens(data["name"], key_owner) and not unfit(data["name"]):
            if data["name"] in self._waiting or len(self._waiting) < MAX_RIVALS:
                self._waiting[data["name"]] = now
            return
        why = self._why_not(handle, identity, data, key_owner)
        if not why and handle is not None and handle.identity not in (b"", identity):
            why = self._is_taken(handle, identity, now, by_hand=not data["incarnation"])
            if not why:
                return
        if why or handle is None:
            self._send_away(identity, why)
            return
        if identity == handle.identity:
            handle.gone_at = math.inf
            return
        if data["fingerprint"] != bits():
            why = f"worker '{handle.name}' has {_unlike(data['fingerprint'], bits())}. Install the same versions."
            if handle.name not in self._unfit:
                self._unfit.add(handle.name)
                _log.warning("%s It was rejected.", why)
            self._send_away(identity, why, unfit=True)
            return
        handle.identity, handle.pid, handle.missed_at, handle.gone_at = identity, data["pid"], math.inf, math.inf
        handle.monitor = ProcessMonitor.of(data["pid"]) if is_local(self.mailbox.address) else None
        if handle.wanted:
            self._begin(handle)

    def _opens(self: Admitting, name: str, key_owner: str) -> bool:
        """Whether a key opens the place of a worker; without keys all who get in are of this user."""
        return self.mailbox.keys is None or key_owner in (name, ANYONE)

    def _send_away(self: Admitting, identity: bytes, why: str, *, unfit: bool = False) -> None:
        self.mailbox.answer(identity, *encode_message("quit", {"why": why, "unfit": unfit}))

    def _why_not(
        self: Admitting, handle: WorkerHandle | None, identity: bytes, data: dict[str, Any], key_owner: str
    ) -> str:
        """Why a process has no place here; nothing where it has one."""
        if handle is None:
            return f"no worker is called {data.get('name')!r}; expected are {', '.join(self._names)}."
        if not self._opens(handle.name, key_owner):
            return f"the key of '{key_owner}' is not valid for worker '{handle.name}'."
        if data.get("incarnation") not in (0, handle.launched) or not handle.alive:
            return f"'{handle.name}' has been replaced."
        return ""

    def _is_taken(self: Admitting, handle: WorkerHandle, rival: bytes, now: float, *, by_hand: bool) -> str:
        """Why a second process cannot have a place; nothing while it may turn out that the first is gone: it will greet again.

        Whoever has killed a worker and starts another does not wait until its silence has told us. However many want a place,
        whoever has it is asked now and then, and keeps it.
        """
        first = self._rivals.setdefault(rival, now)
        if len(self._rivals) > MAX_RIVALS:
            del self._rivals[next(iter(self._rivals))]
        if now - handle.probed_at > PROBE_INTERVAL:
            self._probe(handle, now)
        if handle.gone_at == math.inf:
            return f"'{handle.name}' is already connected." if now - first > RIVAL_WAIT_SECONDS or not by_hand else ""
        dead = handle.monitor is not None and not handle.monitor.running
        if dead or (handle.monitor is None and now - handle.gone_at > RIVAL_WAIT_SECONDS):
            self._worker_died(
                handle, handle.launched, "its process has ended" if dead else "its connection was lost", now
            )
        return ""


def keys_for(launcher: Launcher, bind: str) -> tuple[Keys | None, Mapping[bytes, str] | None]:
    """The pair of a run where others can knock, and who may come in: whom the launcher tells, or whoever is of this user.

    On other machines nobody knows what a user has here: then the mailbox says that keys are missing.
    """
    if not isinstance(launcher, ByHand):
        return fresh_keys(), None
    own = keys_of_this_user() if is_local(bind) else None
    return own, None if own is None else {own.public: ANYONE}


def _unlike(theirs: str, ours: str) -> str:
    """Where versions differ, as far as they can be read."""
    try:
        there, here = json.loads(theirs), json.loads(ours)
        differ = [f"{key} {there.get(key)!r}, here {here[key]!r}" for key in here if there.get(key) != here[key]]
    except (ValueError, AttributeError, RecursionError):
        differ = []
    return "; ".join(differ)[: 4 * MAX_BRIEF_LENGTH] or f"{theirs[:MAX_BRIEF_LENGTH]!r}, here {ours}"
