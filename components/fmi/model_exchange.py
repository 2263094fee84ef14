"""Model exchange: FMUs that only say how their states change, integrated together by our own method.

Dormand and Prince 8(5,3) (Hairer, Norsett, Wanner, *Solving Ordinary Differential Equations I*, II.10), in as many equal parts
of a step as its embedded estimate asks for. All members of a network are one system of equations: what one shows, the others see
at every stage.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from components.fmi.archive import EXCHANGE
from components.fmi.instance import Instance
from modular.elements import Array

MAX_PARTS = 4096  # of a step
MAX_EVENTS = 100  # in a step
BISECTIONS = 50
FINEST_LOOK = 256  # parts of a step, in which events that come and go are looked for
FEWER = 1e-5  # of the tolerance: an error so small that half as many parts do


class ModelExchange:
    """Members of a network that are integrated together."""

    def __init__(self, members: list[Instance], wire: Callable[[float], None], tolerance: float) -> None:
        """`wire`: at a time, hands outputs on to inputs, as they stand."""
        from scipy.integrate import DOP853  # half a second, for those who need it

        self._tableau = DOP853.A, DOP853.B, DOP853.C, DOP853.E3, DOP853.E5
        self.members, self._wire, self._tolerance = members, wire, tolerance
        assert all(member.kind == EXCHANGE for member in members)
        self.time, self.parts, self.evaluations = 0.0, 1, 0
        self.x: Array = np.zeros(0)
        self._least: Array = np.zeros(0)  # so much of a state counts as nothing
        self._next_event = np.inf
        self._remembers = False  # whether there is more to it than its numbers
        self._flipped = False  # whether an indicator was on its other side at a stage of the last try

    # --- the members' calls --------------------------------------------------------------------------------------------

    def _f(self, member: Instance, two: str, three: str, *arguments: Any) -> None:
        member._call(three if member.three else two, *arguments)

    def _room(self, count: int) -> tuple[Any, Array]:
        values = (ctypes.c_double * count)()
        return values, np.ctypeslib.as_array(values)

    def begin(self) -> None:
        """After all members have been initialised: discrete states, then continuous time."""
        sizes = []
        for member in self.members:
            here = member.archive.description
            states = here.numberOfContinuousStates or len(here.derivatives)
            events = here.numberOfEventIndicators or len(here.eventIndicators)
            if member.three:
                states, events = member.fmu.getNumberOfContinuousStates(), member.fmu.getNumberOfEventIndicators()
            sizes.append((states, events))
        self._states = [self._room(states) for states, _ in sizes]
        self._slopes = [self._room(states) for states, _ in sizes]
        self._indicators = [self._room(events) for _, events in sizes]
        ends = np.cumsum([0, *(states for states, _ in sizes)])
        self._slices = [slice(int(start), int(stop)) for start, stop in pairwise(ends)]
        self.x = np.zeros(ends[-1])
        self.time, self.parts = 0.0, 1
        self._settle(first=True)
        self._least = 1e-2 * self._nominals()
        self._signs = self._look()

    def _nominals(self) -> Array:
        """How large states are meant to be; one where an FMU says nothing that makes sense."""
        found = np.ones(len(self.x))
        for member, (values, array), rows in zip(self.members, self._slopes, self._slices, strict=True):
            if len(array):
                array[:] = 1.0
                ask = member._f.get(f"fmi{3 if member.three else 2}GetNominalsOfContinuousStates")
                if ask is not None:
                    ask(member.component, values, len(array))
                found[rows] = array
        return np.where(np.isfinite(found) & (found > 0.0), found, 1.0)

    def change(self, act: Callable[[], None]) -> None:
        """An event in which inputs jump."""
        self._settle(act=act)
        self.show(self.time, self.x)
        self._signs = self._look()

    def _settle(self, *, first: bool = False, act: Callable[[], None] | None = None) -> None:
        """Event mode of all members, until nobody has anything to change; then continuous time again."""
        times = []
        for member in self.members:
            if not first:
                member._call("fmi3EnterEventMode" if member.three else "fmi2EnterEventMode")
        if act is not None:
            act()
        for member in self.members:
            times.append(float(member._guard("update its discrete states", partial(self._discrete, member))))
            member._call("fmi3EnterContinuousTimeMode" if member.three else "fmi2EnterContinuousTimeMode")
        self._next_event = min(times, default=np.inf)
        self._remembers = self._remembers or self._next_event < np.inf
        for member, (values, array), rows in zip(self.members, self._states, self._slices, strict=True):
            if len(array):
                self._f(member, "fmi2GetContinuousStates", "fmi3GetContinuousStates", values, len(array))
            self.x[rows] = array

    def _discrete(self, member: Instance) -> float:
        for _ in range(MAX_EVENTS):
            update = member.fmu.updateDiscreteStates if member.three else member.fmu.newDiscreteStates
            more, end, _nominals, _values, defined, time = update()
            if end:
                raise member.error("asks to end the simulation")
            if not more:
                return float(time) if defined else np.inf
        raise member.error(f"changes its discrete states without end ({MAX_EVENTS} times at one instant)")

    def show(self, time: float, x: Array) -> None:
        """Let all members stand at a state, and see each other there."""
        self.evaluations += 1
        for member, (values, array), rows in zip(self.members, self._states, self._slices, strict=True):
            self._f(member, "fmi2SetTime", "fmi3SetTime", time)
            member.time = time
            if len(array):
                array[:] = x[rows]
                self._f(member, "fmi2SetContinuousStates", "fmi3SetContinuousStates", values, len(array))
        self._wire(time)

    def slope(self, time: float, x: Array) -> Array:
        """How the states change."""
        self.show(time, x)
        found = np.empty(len(x))
        for member, (values, array), rows in zip(self.members, self._slopes, self._slices, strict=True):
            if len(array):
                self._f(member, "fmi2GetDerivatives", "fmi3GetContinuousStateDerivatives", values, len(array))
            found[rows] = array
        return found

    def _look(self) -> Array:
        """Signs of all event indicators where the members stand."""
        for member, (values, array) in zip(self.members, self._indicators, strict=True):
            if len(array):
                self._f(member, "fmi2GetEventIndicators", "fmi3GetEventIndicators", values, len(array))
        return np.concatenate([array > 0.0 for _, array in self._indicators] or [np.zeros(0, bool)])

    # --- a step --------------------------------------------------------------------------------------------------------

    def _try(self, time: float, x: Array, h: float) -> tuple[Array, float]:
        """One step of the method: where it leads, and its error as a share of what may be."""
        A, B, C, E3, E5 = self._tableau
        stages = len(B)
        K = np.empty((stages + 1, len(x)))
        self._flipped = False
        for s in range(stages):
            K[s] = self.slope(time + C[s] * h, x + h * (A[s, :s] @ K[:s]))
            if len(self._signs) and not self._flipped:
                self._flipped = not np.array_equal(self._look(), self._signs)
        new = x + h * (B @ K[:stages])
        K[stages] = self.slope(time + h, new)
        if not np.isfinite(new).all() or not len(x):
            return new, 0.0 if not len(x) else np.inf
        scale = self._tolerance * (self._least + np.maximum(np.abs(x), np.abs(new)))
        fifth, third = np.sum((K.T @ E5 / scale) ** 2), np.sum((K.T @ E3 / scale) ** 2)
        if fifth == 0.0 and third == 0.0:
            return new, 0.0
        return new, abs(h) * fifth / np.sqrt((fifth + 0.01 * third) * len(x))

    def step(self, h: float) -> None:
        """Advance by h [s]."""
        target, events = self.time + h, 0
        while target - self.time > 1e-12 * abs(h):
            stop = min(target, self._next_event)
            if stop > self.time and self._smoothly(stop) and self._next_event > self.time:
                continue
            events += 1
            if events > MAX_EVENTS:
                raise self.members[0].error(
                    f"has more than {MAX_EVENTS} events in a step of {h:g} s; take a shorter one"
                )
            self._settle()
            self.show(self.time, self.x)
            self._signs = self._look()
        self.time = target
        self.show(self.time, self.x)

    def _smoothly(self, stop: float) -> bool:
        """Go on to a time without an event; stand at the event, if there is one on the way (and say so)."""
        span, start, x = stop - self.time, self.time, self.x
        while True:
            part, k, asked = span / self.parts, 0, False
            worst, hidden = 0.0, False
            now = x
            while k < self.parts:
                new, error = self._try(start + k * part, now, part)
                worst = max(worst, error)
                if error > 1.0:
                    break
                if len(self._signs) and not np.array_equal(self._look(), self._signs):
                    self.time, self.x = self._locate(start + k * part, now, part)
                    return False
                hidden = self._flipped and self.parts < FINEST_LOOK  # perhaps there, and gone again
                if hidden:
                    break
                now, k = new, k + 1
                asked = self._completed() or asked
                self._remembers = self._remembers or asked
                if asked:
                    break
            if worst > 1.0 or hidden:
                self.parts *= 2
                if self.parts > MAX_PARTS:
                    raise self.members[0].error(
                        f"changes too fast for our integrator: {MAX_PARTS} parts of a step of {span:g} s are not enough. Take a "
                        "shorter step, or co-simulation, whose integrator is the FMU's own"
                    )
                continue
            if worst < FEWER and self.parts > 1:
                self.parts //= 2
            self.time, self.x = (stop if k * part == span or not asked else start + k * part), now
            return not asked

    def _completed(self) -> bool:
        """Whether somebody asks for an event after a part of a step."""
        asked = False
        for member in self.members:
            needed = not member.part.completedIntegratorStepNotNeeded
            if member.three and not getattr(member.part, "needsCompletedIntegratorStep", False):
                needed = False
            if needed:
                event, end = member._guard("complete a step", member.fmu.completedIntegratorStep)[:2]
                if end:
                    raise member.error("asks to end the simulation")
                asked = asked or bool(event)
        return asked

    def _locate(self, time: float, x: Array, h: float) -> tuple[float, Array]:
        """The first instant behind a change of sign, by bisection."""
        low, high = 0.0, 1.0
        found = x
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            new, _ = self._try(time, x, middle * h)
            if np.array_equal(self._look(), self._signs):
                low = middle
            else:
                high, found = middle, new
        found, _ = self._try(time, x, high * h)
        return time + high * h, found

    # --- its state -----------------------------------------------------------------------------------------------------

    @property
    def saves(self) -> bool:
        """Whether its state is all in its numbers, or can be taken from the FMU."""
        plain = not self._remembers and not any(len(array) for _, array in self._indicators)
        return plain or all(member.saves for member in self.members)

    def save(self) -> dict[str, Any]:
        """Continuous states, and those of the FMUs where they have more."""
        if not self.saves:
            raise self.members[0].error("has events that nobody can see coming, and says canGetAndSetFMUState = false")
        whole = all(member.saves for member in self.members)
        return {
            "time": self.time,
            "x": self.x.copy(),
            "parts": self.parts,
            "next": self._next_event,
            "signs": self._signs.copy(),
            "whole": [member.save() for member in self.members] if whole else [],
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go back to it."""
        for member, state in zip(self.members, saved["whole"]):
            member.restore(state)
        self.time, self.x, self.parts = saved["time"], saved["x"].copy(), saved["parts"]
        self._next_event, self._signs = saved["next"], saved["signs"].copy()
        self.show(self.time, self.x)

    def forget(self, saved: dict[str, Any]) -> None:
        """Let a state go."""
        for member, state in zip(self.members, saved["whole"]):
            member.forget(state)
