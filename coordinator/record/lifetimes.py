"""Joints and forces that a run ever had, as its model or the events of that describe them, and while they were there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from coordinator.record.run import Run
from modular.elements import Indices
from modular.errors import ModelError
from modular.events import Apply, Join
from modular.names import missing
from modular.port import GROUND

Flags = npt.NDArray[np.bool_]
BEGINS, ENDS = ("join", "apply"), ("cut", "break", "remove")  # kinds of events in the log
NO_END = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Made:
    """A joint or force as it was described."""

    component: Any
    ports: tuple[str, ...]
    at: tuple[float, ...] | None  # where its point on the ground is, where that was said [m]

    @property
    def owners(self) -> list[str]:
        """The bodies that it is on."""
        return [owner for owner in (port.partition(".")[0] for port in self.ports) if owner != GROUND]


@dataclass(frozen=True)
class Lifetime:
    """A stretch through which one of them was there."""

    tick: int  # at which it was made
    there: Flags  # samples, (n,)

    def begins_with(self, ticks: Indices) -> bool:
        """Whether a sample shows how the bodies stood when it was made."""
        return bool(self.there.any()) and int(ticks[int(np.argmax(self.there))]) == self.tick


class Ever:
    """All of a run, by name."""

    def __init__(self, run: Run) -> None:
        self.run = run
        model = run.assembly()
        self._made: dict[str, list[Made]] = {}
        for name, edge in model.joint_edges.items():
            self._take(name, edge.joint, (str(edge.first), str(edge.second)), edge.at)
        for name, force in model.force_edges.items():
            self._take(name, force.force, tuple(map(str, force.ports)), force.at)
        self._first = frozenset(self._made)
        for event in (event for scheduled in model.schedule for event in scheduled.events):
            if isinstance(event, Join):
                self._take(event.name, event.joint, (event.first, event.second), event.at)
            elif isinstance(event, Apply):
                self._take(event.name, event.force, tuple(event.ports), event.at)
        self._recorded = self._present()

    def __getitem__(self, name: str) -> Made:
        """One of them, refused where its name has stood for several."""
        if name not in self._made and name in self.run.bodies:
            asked = (
                f"run.angular_velocity('{name}') tells how fast it turns, run.position('{name}.…') where its ports are"
            )
            raise ModelError(f"'{name}' is a body; give a joint or a force. {asked}.")
        if name not in self._made:
            raise ModelError(missing("joint or force", name, list(self._made), "this run's model"))
        if len(made := self._made[name]) > 1:
            kinds = ", ".join(f"{type(one.component).__name__} on {', '.join(one.ports)}" for one in made)
            raise ModelError(
                f"'{name}' was made more than once, of different kinds ({kinds}); give each a name of its own."
            )
        return made[0]

    @property
    def names(self) -> list[str]:
        """Of those that are told apart and were there at some sample."""
        return [name for name, made in self._made.items() if len(made) == 1 and name in self._recorded]

    def there(self, name: str) -> Flags:
        """While it was there, (n,)."""
        return self._recorded.get(name, np.zeros(len(self.run), bool))

    def lifetimes(self, name: str) -> list[Lifetime]:
        """The same, parted where it was made anew."""
        begins = [0] * (name in self._first)
        begins += [e["tick"] for e in self.run.events if e["name"] == name and e["kind"] in BEGINS]
        now, there = self.run.ticks, self.there(name)
        found = [
            Lifetime(begin, there & (now >= begin) & (now < end))
            for begin, end in zip(begins, [*begins[1:], NO_END], strict=True)
        ]
        return [lifetime for lifetime in found if lifetime.there.any()]

    def _present(self) -> dict[str, Flags]:
        found: dict[str, Flags] = {}
        start = 0
        for segment in self.run.segments:
            for names, _ in (*segment.joints, *segment.forces):
                for name in names:
                    found.setdefault(name, np.zeros(len(self.run), bool))[start : start + segment.used] = True
            start += segment.used
        return found

    def _take(self, name: str, component: Any, ports: tuple[str, ...], at: Any) -> None:
        made = Made(component, ports, None if at is None else tuple(map(float, at)))
        if made not in (known := self._made.setdefault(name, [])):
            known.append(made)
