"""Running the cases of a study: what is done already is found, the rest runs here or in processes of its own.

Only text crosses to a worker process and back. A worker writes its result itself, so nothing that is done is lost however
the study ends.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from modular.errors import ModelError
from scenarios.study.cases import Case, Result, found, run_case

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

POLL_SECONDS = 0.2  # seconds between two looks of a worker at whether it is still wanted
Done = Callable[[Case, Result], None]


def find_cases(cases: Sequence[Case], folder: Path) -> dict[str, Result]:
    """The results that lie in the folder of a study already, by digest."""
    return {case.digest: result for case in cases if (result := found(case, folder)) is not None}


def run_cases(cases: Sequence[Case], folder: Path, jobs: int, done: Done) -> dict[str, Result]:
    """Run the cases in at most `jobs` processes, long ones first; one job runs here. `done` is called after each."""
    if jobs == 1 or len(cases) <= 1:
        results: dict[str, Result] = {}
        for case in cases:
            results[case.digest] = run_case(case, folder)
            done(case, results[case.digest])
        return results
    return _in_processes(cases, folder, min(jobs, len(cases)), done)


def most_jobs() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# --- processes -------------------------------------------------------------------------------------------------------


def _in_processes(cases: Sequence[Case], folder: Path, jobs: int, done: Done) -> dict[str, Result]:
    results: dict[str, Result] = {}
    context = multiprocessing.get_context("spawn")  # a forked copy of a threaded process may hang
    stop = context.Event()
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(stop,)) as pool:
        try:
            ordered = sorted(cases, key=lambda case: -case.ticks)
            with _deaf():
                waiting = {pool.submit(_work, case.to_text(), str(folder)): case for case in ordered}
            for future in as_completed(waiting):
                case = waiting[future]
                results[case.digest] = json.loads(future.result())
                done(case, results[case.digest])
        except BrokenProcessPool:
            raise ModelError(
                f"a process of the study ended unexpectedly, most often for lack of memory; {len(results)} of "
                f"{len(cases)} cases are kept. Type the same command again with fewer --jobs."
            ) from None
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return results


def _work(text: str, folder: str) -> str:
    """A case as text, its result as text."""
    return json.dumps(run_case(Case.from_text(text), Path(folder)))


@contextmanager
def _deaf() -> Iterator[None]:
    """Ctrl-C goes to all processes of a terminal; those that are started here leave it to their parent."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _begin(stop: Event) -> None:
    """In a new worker: leave Ctrl-C to the parent, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_parent, args=(stop,), daemon=True).start()


def _end_with_the_parent(stop: Event) -> None:
    parent = multiprocessing.parent_process()
    while not stop.wait(POLL_SECONDS):
        if parent is not None and not parent.is_alive():
            break
    os._exit(1)
