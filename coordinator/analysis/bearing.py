"""Whether joints bear what an analysis finds that they carry: one that would break on the way has another answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import ceil, exp

import numpy as np

from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError
from modular.limit import Limit

PARTS_OF_WINDOW = 50  # in which a force goes straight between the times at which it is known


def refuse_broken(model: Assembly, reactions: Mapping[str, Array], who: str) -> None:
    """What rests on a joint that breaks under it does not rest there; `reactions`: force first."""
    for name, limit in _limited(model, reactions):
        force, most = float(np.linalg.norm(reactions[name][: model.dimension])), limit.most / limit.window
        if force > most:
            _refuse(who, name, f"carries {force:.4g} N at rest, and breaks beyond {most:.4g} N")


def refuse_breaking(model: Assembly, times: Array, reactions: Mapping[str, Array], who: str) -> None:
    """The same of a motion: forces are filtered as runs do it (modular/limit.py), from an unloaded joint on."""
    for name, limit in _limited(model, reactions):
        found, signal = _signal(limit, times, reactions[name][:, : model.dimension])
        beyond = np.flatnonzero(signal > limit.most)
        if len(beyond):
            time = float(found[beyond[0]])
            first = f", or ask for times before {time:.4g} s" if time > times[0] else ""
            _refuse(who, name, f"breaks at {time:.4g} s, beyond {_told(limit)}", first)


def _limited(model: Assembly, reactions: Mapping[str, Array]) -> Iterator[tuple[str, Limit]]:
    for name, edge in model.joint_edges.items():
        if edge.breaks_at is not None and name in reactions:
            yield name, edge.breaks_at


def _signal(limit: Limit, times: Array, force: Array) -> tuple[Array, Array]:
    """Times, and |S| there [N s]."""
    from scipy.signal import lfilter  # a third of a second, for those who need it

    span = float(times[-1] - times[0])
    count = ceil(PARTS_OF_WINDOW * span / limit.window)
    found = np.linspace(times[0], times[-1], count + 1)
    if count == 0:
        return found, np.zeros(1)
    step = span / count
    fade = exp(-step / limit.window)
    known = np.column_stack([np.interp(found, times, axis) for axis in force.T])
    once = lfilter([0.5 * step, 0.5 * step * fade], [1.0, -fade], known - known[0], axis=0)
    once += limit.window * known[0] * (1.0 - np.exp(-(found - times[0]) / limit.window))[:, None]
    twice = lfilter([0.5 * (1.0 - fade)] * 2, [1.0, -fade], once, axis=0)
    return found, np.linalg.norm(twice, axis=1)


def _told(limit: Limit) -> str:
    """As it was given."""
    given = [(limit.force, "N"), (limit.impulse, "N s")]
    return " or ".join(f"{value:g} {unit}" for value, unit in given if value is not None) + f" over {limit.window:g} s"


def _refuse(who: str, name: str, how: str, otherwise: str = "") -> None:
    raise ModelError(
        f"{who}: joint '{name}' {how}; what comes after that only runs tell. Raise its breaks_at{otherwise}, or give a copy of "
        "the model in which it has none."
    )
