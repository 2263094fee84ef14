"""Worker processes wherever a Dask cluster has room: Slurm, PBS, Kubernetes, the cloud, or this machine.

Dask only places processes. A task starts the same command as everywhere on the machine of a Dask worker, waits for its end and says
how it ended; messages of the simulation never pass through Dask, nor do models. With `allowed-failures` above zero Dask
runs a task again when it loses its worker: the process then comes with an incarnation that has been seen, and is sent away.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from coordinator.distributed.launchers.children import EXIT_GRACE_SECONDS, UNFIT, Key, reason_of
from coordinator.distributed.launchers.dask_task import still_running, work
from coordinator.distributed.launchers.launcher import Exited, Order
from coordinator.distributed.transports.addresses import (
    IPC_ANY,
    LOOPBACK_ANY,
    is_everywhere,
    is_local,
    route_to,
    with_host,
)
from modular.errors import ModelError

_log = logging.getLogger("modular")
SCHEDULER_TIMEOUT = 10.0  # seconds for a scheduler to answer
UNPLACED_NOTICE_SECONDS = 10.0  # seconds after which somebody may want to know that processes wait for room


class Dask:
    """Starts workers through a cluster of Dask.

    `cluster`: a `distributed.Client`, the address of a scheduler, or the file that it wrote (`--scheduler-file`). `resources`: what
    each worker takes of the resources that Dask workers were started with, such as {"modular": 1}; without, a thread of a
    Dask worker. `insecure`: send the keys of workers even where others can listen, because nobody else is in that network.
    """

    def __init__(self, cluster: Any, *, resources: Mapping[str, float] | None = None, insecure: bool = False) -> None:
        self._own: list[Any] = []  # what is closed at the end
        self._own_cluster = False  # made by this process, and so of the same user
        self.client = cluster if hasattr(cluster, "submit") else self._connected(cluster)
        self.resources, self.insecure = dict(resources or {}), insecure
        self._run = uuid.uuid4().hex[:12]
        self._tasks: dict[Key, Any] = {}
        self._since: dict[Key, float] = {}
        self._started: set[Key] = set()
        self._cancelled: list[str] = []
        self._reported = False

    @classmethod
    def on_this_machine(cls, workers: int) -> Self:
        """A cluster of its own with room for so many workers; it goes when this launcher does."""
        distributed = _distributed()
        cluster = distributed.LocalCluster(
            n_workers=1, threads_per_worker=workers, processes=False, dashboard_address="127.0.0.1:0"
        )
        try:
            made = cls(distributed.Client(cluster, set_as_default=False))
        except BaseException:
            cluster.close()
            raise
        made._own, made._own_cluster = [made.client, cluster], True
        return made

    def mailbox(self) -> str:
        """On this machine where the cluster is; else where its scheduler reaches this machine."""
        scheduler = self._scheduler()
        if all(map(_is_here, [scheduler, *self._places()])):
            return IPC_ANY if self._own_cluster else LOOPBACK_ANY
        return f"tcp://{route_to(_host(scheduler))}:*"

    def start(self, order: Order) -> None:
        """Ask for a process; the scheduler finds room for it, or lets it wait."""
        key = (order.name, order.incarnation)
        if key in self._started:
            return
        scheduler, settings = self._scheduler(), dict(order.settings)
        if settings.get("secret") and not (_is_here(scheduler) or scheduler.startswith("tls://") or self.insecure):
            raise ModelError(
                f"the Dask scheduler at {scheduler} does not use TLS, so others could read the secret keys of "
                "workers; start the cluster with security=True, or pass Dask(…, insecure=True) in a network that "
                "nobody else uses."
            )
        hub = settings.get("hub", LOOPBACK_ANY)
        if is_everywhere(hub):
            settings["hub"] = with_host(hub, route_to(_host(scheduler)))
        elif is_local(hub) and (far := [place for place in self._places() if not _is_here(place)]):
            raise ModelError(
                f"a worker beside {far[0]} cannot reach {hub}, which is reachable from this machine only; bind an "
                "address of this machine that it can reach, as in LaunchConfig(bind='tcp://ADDRESS:*') or --bind "
                "tcp://ADDRESS:*."
            )
        self._started.add(key)
        for older in list(self._tasks):
            if older[0] == order.name:
                self.stop(*older)
        name = self._name(key)
        self._since[key] = time.monotonic()
        self._tasks[key] = self.client.submit(
            work, settings, name, key=name, pure=False, retries=0, resources=self.resources or None
        )

    def exits(self) -> list[Exited]:
        """Processes that have ended since the last call."""
        if self.client.status not in ("running", "connecting"):
            gone, self._tasks = list(self._tasks), {}
            return [Exited(*key, "the Dask cluster is gone", hopeless=True) for key in gone]
        self._tell_of_waiting()
        done = [key for key, future in self._tasks.items() if future.done()]
        return [self._exited(key, self._tasks.pop(key)) for key in done]

    def stop(self, name: str, incarnation: int) -> None:
        """Let the task go, and with it the process."""
        future = self._tasks.get((name, incarnation))
        if future is not None and not future.done():
            self._cancelled.append(future.key)
            future.cancel(force=True)

    def close(self) -> None:
        """End all, and see that they are gone as long as the cluster answers; a cluster of its own goes as well."""
        for key in list(self._tasks):
            self.stop(*key)
        self._tasks = {}
        until = time.monotonic() + EXIT_GRACE_SECONDS
        while self._cancelled and time.monotonic() < until and self._some_running():
            time.sleep(0.01)
        for one in self._own:
            one.close()
        self._own = []

    # --- the cluster -----------------------------------------------------------------------------------------------------

    def _connected(self, cluster: Any) -> Any:
        """A client of the scheduler at an address, or of one that has written a file."""
        distributed = _distributed()
        if not isinstance(cluster, str | Path) or not str(cluster):
            raise ModelError(
                f"Dask: {cluster!r} is not a cluster; give a distributed.Client, or the address of a scheduler."
            )
        where = {"scheduler_file": str(cluster)} if Path(cluster).is_file() else {"address": str(cluster)}
        try:
            client = distributed.Client(**where, timeout=SCHEDULER_TIMEOUT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise ModelError(
                f"no Dask scheduler answers at {cluster} ({error}); give an address such as tcp://HOST:8786, or the file that "
                "'dask scheduler --scheduler-file FILE' has written."
            ) from error
        self._own = [client]
        return client

    def _scheduler(self) -> str:
        """Its address."""
        if self.client.status not in ("running", "connecting"):
            raise ModelError("the Dask cluster has stopped; start another one, and restart the run.")
        return str(self.client.scheduler.address)

    def _places(self) -> list[str]:
        """The addresses of all Dask workers."""
        return list(self.client.nthreads())

    def _name(self, key: Key) -> str:
        return f"modular-{self._run}-{key[0]}-{key[1]}"

    def _exited(self, key: Key, future: Any) -> Exited:
        """What became of a process."""
        if future.status == "finished":
            code, words = future.result(timeout=SCHEDULER_TIMEOUT)
            return Exited(*key, reason_of(code, words), code == UNFIT)
        if future.status == "error":
            error = future.exception(timeout=SCHEDULER_TIMEOUT)
            lacks = "No module named" in f"{error} {error.__cause__}"
            remedy = " Install the same packages for the scheduler and the workers of Dask as here." if lacks else ""
            return Exited(*key, f"Dask could not run it: {_sentence_of(error)}.{remedy}", hopeless=lacks)
        return Exited(*key, "stopped" if future.key in self._cancelled else f"its Dask task is {future.status}")

    def _some_running(self) -> bool:
        """Whether processes that were let go are still there."""
        try:
            found = self.client.run(still_running, self._cancelled, on_error="ignore")
        except Exception:  # a cluster that does not answer any more, in one of many ways
            return False
        return any(found.values())

    def _tell_of_waiting(self) -> None:
        """Say once that processes find no room."""
        oldest = min((self._since[key] for key in self._tasks), default=time.monotonic())
        if self._reported or time.monotonic() - oldest < UNPLACED_NOTICE_SECONDS:
            return
        self._reported = True
        placed = {name for names in self.client.processing().values() for name in names}
        waiting = [key[0] for key in self._tasks if self._name(key) not in placed]
        threads = sum(self.client.nthreads().values())
        if waiting or threads < len(self._tasks):
            _log.warning(
                "workers are waiting for the Dask cluster: %d are needed, and it has %d threads; add Dask workers, "
                "or take fewer --workers",
                len(self._tasks),
                threads,
            )


def _distributed() -> Any:
    """The package, which only those need who ask for it."""
    try:
        import distributed
    except ImportError as error:
        raise ModelError(
            f"Dask is not installed ({error}); install it with: python -m pip install 'modular-multibody[cluster]'"
        ) from error
    return distributed


def _sentence_of(error: BaseException) -> str:
    """An error with its cause, as far as there is one."""
    errors = [error] if error.__cause__ is None else [error, error.__cause__]
    return "; ".join(f"{type(one).__name__}: {one}" for one in errors)


def _is_here(address: str) -> bool:
    """Whether an address of Dask is one that only processes of this machine reach."""
    kind, _, rest = address.partition("://")
    return kind == "inproc" or is_local(f"tcp://{rest}")


def _host(address: str) -> str:
    """The host in an address of Dask."""
    return address.partition("://")[2].rpartition(":")[0].strip("[]")
