"""Reactions at rest, and efforts of drives, as tables."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.text import Text

from coordinator.analysis import Efforts, Statics
from modular.elements import Array
from scenarios.report.page import quantity
from scenarios.report.summary import plain_table

NOTHING = 1e-9  # of the largest reaction: what is no more is rounding


def print_statics(console: Console, title: str, found: Statics) -> None:
    """What every joint carries, and who shares it."""
    console.print(f"{title}: what joints carry where it rests", highlight=False, markup=False)
    if not found.reactions:
        console.print("no joints", highlight=False)
        return
    table = plain_table("", "joint")
    for heading in ("force", "moment", "on its second side"):
        table.add_column(heading, justify="right", overflow="fold")
    least = NOTHING * max(float(np.abs(wrench).max(initial=0.0)) for wrench in found.reactions.values())
    for joint in found.reactions:
        force, moment = found.force(joint), found.moment(joint)
        size = quantity(_size(force, least), "N")
        turn = quantity(_size(moment, least), "N m") if len(moment) else ""
        table.add_row(
            Text(joint + ("" if found.unique(joint) else " *")), Text(size), Text(turn), Text(_numbers(force, least))
        )
    console.print(table)
    for group in found.sharing:
        ways = "one way" if group.states == 1 else f"{group.states} ways"
        console.print(
            f"* {', '.join(group.joints)} may share what they carry otherwise, in {ways}; the smallest are shown",
            highlight=False, markup=False, soft_wrap=True,
        )  # fmt: skip


def print_efforts(console: Console, title: str, found: Efforts) -> None:
    """The largest and the mean of every drive."""
    console.print(
        f"{title}: what its drives exert, {found.times[0]:g} to {found.times[-1]:g} s", highlight=False, markup=False
    )
    table = plain_table("", "drive")
    for heading in ("least effort", "largest", "root mean square", "largest power", "work"):
        table.add_column(heading, justify="right", no_wrap=True)
    for drive, effort in found.efforts.items():
        power = found.power(drive)
        span = float(found.times[-1] - found.times[0])
        work = float(found.work(drive)[-1])
        work = work if abs(work) > NOTHING * span * float(np.abs(power).max()) else 0.0
        numbers = (effort.min(), effort.max(), np.sqrt(np.mean(effort**2)), np.abs(power).max(), work)
        units = ("N", "N", "N", "W", "J")
        if drive in found.turning:
            units = ("N m", "N m", "N m", "W", "J")
        table.add_row(Text(drive), *(Text(quantity(float(x), unit)) for x, unit in zip(numbers, units, strict=True)))
    console.print(table)


def _size(vector: Array, least: float) -> float:
    size = float(np.linalg.norm(vector))
    return size if size > least else 0.0


def _numbers(vector: Array, least: float) -> str:
    return "(" + ", ".join(f"{x if abs(x) > least else 0.0:.4g}" for x in vector.tolist()) + ")"
