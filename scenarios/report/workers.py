"""A table of the workers of a run, and whether they paid."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from coordinator.distributed.workers.worker_pool import WorkerInfo


def print_workers(console: Console, workers: Sequence[WorkerInfo]) -> None:
    """Who moved how many bodies, how long each worked and waited, and what it said to its neighbours."""
    table = Table(box=None, padding=(0, 2, 0, 0), title="workers", title_justify="left")
    for name in ("worker", "bodies", "process", "works", "talks", "waits", "to neighbours", "replaced"):
        table.add_column(name, justify="left" if name == "worker" else "right")
    for one in workers:
        ticks = max(one.ticks, 1)
        table.add_row(
            one.name,
            f"{len(one.bodies):,}",
            "this one" if one.pid is None else str(one.pid),
            f"{1e6 * one.working / ticks:.0f} µs/tick" if one.ticks else "–",
            f"{1e6 * one.talking / ticks:.0f} µs/tick" if one.ticks else "–",
            f"{1e6 * one.waiting / ticks:.0f} µs/tick" if one.ticks else "–",
            f"{one.bytes_per_tick:.0f} B/tick" if one.ticks else "–",
            f"{one.replaced}×" if one.replaced else "–",
        )
    console.print(table)
    text = advice(workers)
    if text:
        console.print(Text(text))


def advice(workers: Sequence[WorkerInfo]) -> str:
    """What the figures say about the number of workers; nothing where there are none."""
    moved = [one for one in workers if one.ticks]
    if len(moved) < 2:
        return ""
    alone = sum(one.working / one.ticks for one in moved)
    together = max((one.working + one.talking + one.waiting) / one.ticks for one in moved)
    if together >= alone:
        return (
            f"Splitting did not pay: a tick took {1e6 * together:.0f} µs, and there are {1e6 * alone:.0f} µs of work in all; fewer "
            "workers, or none, are faster here."
        )
    share = max(one.working / one.ticks for one in moved) * len(moved) / alone
    if share > 1.3:
        busiest = max(moved, key=lambda one: one.working / one.ticks)
        return (
            f"'{busiest.name}' has {share:.1f} times its share to do, and the others wait for it; give it fewer bodies."
        )
    return ""
