"""Cuts and joins as typed on the command line: `--cut elbow@1.3`, `--join "revolute upper.end lower.start@2"`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

from modular.errors import ModelError
from modular.events import Cut, Join
from modular.joint import Joint
from modular.typed import read_component, read_value

if TYPE_CHECKING:
    from modular.assembly import Assembly

NAMED = re.compile(r"([^=()\s]+)=(.*)", re.DOTALL)


def schedule(assembly: Assembly, cuts: Sequence[str], joins: Sequence[str]) -> None:
    """Let joints of a model be cut and made at times."""
    for text in cuts:
        name, time = _at(text, "--cut", "elbow@1.3")
        assembly.at(time, Cut(name))
    for text in joins:
        words, time = _at(text, "--join", '"revolute upper.end lower.start@2"')
        assembly.at(time, _join(words, text, assembly))


def _join(words: str, text: str, assembly: Assembly) -> Join:
    parts = words.rsplit(None, 2)
    if len(parts) != 3:
        raise ModelError(
            f"--join {text}: write KIND PORT PORT@TIME, or NAME=KIND PORT PORT@TIME, such as "
            '--join "weld=fixed upper.end lower.start@2".'
        )
    kind, first, second = parts
    named = NAMED.fullmatch(kind)
    joint = read_component(Joint, named[2] if named else kind, "--join")
    name = named[1] if named else _free(type(joint).__name__.lower(), assembly)
    return Join(name, joint, first, second)


def _free(name: str, assembly: Assembly) -> str:
    """A name that no joint of the model has or gets."""
    made = {event.name for scheduled in assembly.schedule for event in scheduled.events if isinstance(event, Join)}
    taken = {*assembly.joints, *assembly.forces, *made}
    return next(word for k in range(1, len(taken) + 2) if (word := name if k == 1 else f"{name}-{k}") not in taken)


def _at(text: str, option: str, example: str) -> tuple[str, float]:
    what, sign, when = text.rpartition("@")
    time = read_value(when)
    good = isinstance(time, int | float) and not isinstance(time, bool) and isfinite(time) and time >= 0
    if not (sign and what.strip() and good):
        raise ModelError(f"{option} {text}: say when, in seconds from 0 on, after an @, such as {option} {example}.")
    return what.strip(), float(time)
