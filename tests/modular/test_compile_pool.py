"""Compiling on all cores: what a worker process has compiled is found, and nobody waits for one that is gone."""

from pathlib import Path

import pytest

from modular import compile_pool
from modular.compile_pool import CompilePool, Job, jobs_of
from modular.elements import Elements
from modular.kernel import own_store

VERB = "clear_demands"


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A small loop of ours, in a folder of its own where nothing is kept yet."""
    monkeypatch.setenv("MODULAR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(compile_pool, "MIN_LOOPS_PER_PROCESS", 1)
    elements = Elements(2)
    return elements.loops[VERB].job(elements.view, elements.view)


def test_a_loop_that_a_worker_has_compiled_is_kept_where_this_process_looks(job: Job):
    pool = CompilePool(1)
    pool.offer([job])
    (feeder,) = [thread for thread in compile_pool.threading.enumerate() if thread.name == "compile worker"]
    feeder.join(timeout=100)
    pool.claim(job)
    elements = Elements(2)
    loop = elements.loops[VERB]
    compiled = loop.dispatcher.stats.cache_misses
    assert loop.is_kept(elements.view, elements.view) and loop.address(elements, elements)
    assert loop.dispatcher.stats.cache_misses == compiled
    store = own_store()
    assert store is not None and len(list(store.folder.glob("elements.clear_demands_loop.*.kernel"))) == 1
    assert jobs_of([(elements.loops[VERB], elements.view, elements.view)]) == []


def test_nobody_waits_for_a_worker_that_dies(job: Job, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compile_pool, "START", "print('ready', flush=True); input()")
    pool = CompilePool(1)
    pool.offer([job])
    pool.claim(job)  # taken off the list, or given up by the worker: it comes back either way
    pool.close()


def test_who_needs_a_loop_takes_it_off_the_list_and_asks_once_what_else_will_come(
    job: Job, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(compile_pool, "MIN_LOOPS_PER_PROCESS", 100)
    others = [Job(f"modular.elements:loop{k}") for k in range(3)]
    asked = []
    pool = CompilePool(1)
    pool.foreseen = lambda: asked.append(True) or [job, *others]  # type: ignore[func-returns-value]
    pool.claim(job)
    pool.claim(others[1])
    assert len(asked) == 1
    assert pool._waiting == [others[0], others[2]]


def test_a_pool_of_one_process_asks_nobody():
    pool = CompilePool(0)
    pool.foreseen = lambda: pytest.fail("asked")
    pool.claim(Job("modular.elements:loop"))
