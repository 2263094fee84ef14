"""What runs inside a Dask worker: it starts a worker process of ours beside it, waits for its end, and says how it ended.

The task is bound to the process in both directions. The process ends when the Dask worker does, with its standard input. It
is killed when the task is not wanted any more: it was cancelled, or whoever asked for it is gone.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from coordinator.distributed.launchers.children import Child, worker_command, worker_environment

POLL_INTERVAL = 0.05  # seconds between two looks
running: dict[str, Child] = {}  # in this Dask worker, so that others can ask whether all have ended


def work(settings: Mapping[str, str], key: str) -> tuple[int, str]:
    """Run a worker process to its end; its code and last words."""
    from distributed import get_worker

    worker = get_worker()
    child = running[key] = Child(worker_command(), settings, worker_environment())
    try:
        while not child.ended:
            if not wanted(worker, key):
                child.kill()
                break
            time.sleep(POLL_INTERVAL)
        return child.reaped()
    finally:
        del running[key]


def wanted(worker: Any, key: str) -> bool:
    """Whether the scheduler still waits for a task of this Dask worker."""
    task = worker.state.tasks.get(key)
    return task is not None and task.state in ("executing", "long-running") and "clos" not in worker.status.name


def still_running(keys: list[str]) -> list[str]:
    """Which of these run in this Dask worker."""
    return [key for key in keys if key in running]
