"""Vibrations as a table."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.text import Text

from coordinator.analysis import Modes
from scenarios.report.summary import count as count_of
from scenarios.report.summary import plain_table

PORTS = 3  # that are named, those that move most
ROUNDING = 1e-10  # of an eigenvalue: a real part that is no more


def print_modes(console: Console, title: str, found: Modes, count: int) -> None:
    """Where the model rests, and its modes by rising frequency."""
    port, way = found.linear.way
    moved = f"; '{port}' has moved by {way:.3g} m to get there" if way > 1e-9 else ""
    about = "the place where it rests" if found.linear.turning is None else "the motion with which it sets out"
    which = count_of(len(found.eigenvalues), "mode" if found.complete else "slowest mode")
    console.print(f"{title}: {which} about {about}{moved}", highlight=False, markup=False)
    if not len(found.eigenvalues):
        return
    table = plain_table("")
    for heading in ("frequency", "period", "damping", "eigenvalue"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("moves most", overflow="fold")
    for k in range(min(count, len(found.eigenvalues))):
        frequency, value = float(found.frequencies[k]), complex(found.eigenvalues[k])
        period = f"{1.0 / frequency:.5g} s" if frequency > 0.0 else "–"
        moves = ", ".join(f"{name} {size:.2g}" for name, size in found.movers(k, PORTS) if size > 0.005) or "no port"
        cells = (f"{frequency:.6g} Hz", period, _damping(float(found.damping[k]), value), _number(value), moves)
        table.add_row(*(Text(cell) for cell in cells))
    console.print(table)
    if count < len(found.eigenvalues):
        console.print(f"{len(found.eigenvalues) - count} more: --count {len(found.eigenvalues)}", highlight=False)
    if not found.stable:
        stays = "stay there" if found.linear.turning is None else "go on so"
        console.print(
            f"It does not {stays}: what grows by itself has an eigenvalue to the right of zero.", highlight=False
        )


def _damping(share: float, value: complex) -> str:
    if np.isnan(share):
        return "drifts"
    if value.real > 0.0 and not value.imag:
        return "grows"
    return f"{100.0 * share:.3g} %" if abs(share) > ROUNDING else "0 %"


def _number(value: complex) -> str:
    if not value.imag:
        return f"{value.real:.6g} 1/s"
    swings = f"± {value.imag:.6g}i 1/s"
    return f"{value.real:.6g} {swings}" if abs(value.real) > ROUNDING * abs(value) else swings
