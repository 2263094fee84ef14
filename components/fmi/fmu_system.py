"""FMUs that run together: one, or several whose outputs are handed on to each other's inputs.

Members of model exchange are one system of equations (model_exchange.py). Those of co-simulation take their steps with what the
others showed at the beginning of it: such a network is of first order in the step, whatever its members are.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from components.courses import Course
from components.fmi.archive import CO_SIMULATION, EXCHANGE, Archive, Variable, opened
from components.fmi.call_thread import CallThread
from components.fmi.instance import Instance
from components.fmi.model_exchange import ModelExchange
from components.fmi.numbers import BOOLEAN, Numbers, is_discrete
from modular.elements import Array
from modular.errors import ModelError

MAX_PASSES = 50  # of outputs handed on to inputs at one instant
ALIKE = 1e-6  # of a step: how far others may be from it
ALONE = ""  # the name of an FMU that is nobody's member


class Signals:
    """Variables of a machine, each at one of its members."""

    def __init__(self, parts: Sequence[tuple[Instance, Numbers, Array]], count: int) -> None:
        self.parts, self.count = parts, count


class FmuSystem:
    """One FMU (named `ALONE`) or several, which are called "member.variable"."""

    def __init__(
        self, files: Mapping[str, str], connections: Mapping[str, str], kind: str | None, parameters: Mapping[str, Any],
        tolerance: float = 1e-10, time_limit: float | None = None,
    ) -> None:  # fmt: skip
        """`connections`: outputs by the inputs that they feed. `time_limit` [s]: for a beginning or a step; after it they are
        given up."""
        self._aside = None if time_limit is None else CallThread(time_limit)
        self.members: dict[str, Instance] = {}
        self.archives: dict[str, Archive] = {name: opened(path) for name, path in files.items()}
        self._parameters = parameters
        self.time = 0.0
        self._length = 0.0  # of the steps so far [s]
        try:
            for name, archive in self.archives.items():
                chosen = kind or archive.kinds[0]
                called = name or archive.description.modelName
                self.members[name] = self._in_time("instantiated", partial(Instance, archive, chosen, called))
            for target, source in connections.items():
                self._check_wire(target, source)
            self._wires = [
                tuple(self.signals([name], "connections", discrete=True) for name in (source, target))
                for target, source in connections.items()
            ]
        except BaseException:
            self.close()
            raise
        exchanged = [member for member in self.members.values() if member.kind == EXCHANGE]
        self.exchange = ModelExchange(exchanged, self._show_at, tolerance) if exchanged else None
        self._courses: tuple[Signals, Sequence[Course]] | None = None
        # inputs, by whom
        self._claimed = {target: f"the connection from '{source}'" for target, source in connections.items()}
        self._commanded: dict[str, tuple[Signals, float]] = {}  # inputs that somebody decides about, and as what
        self._stepping = [member for member in self.members.values() if member.kind == CO_SIMULATION]
        self._inner = [(member, size) for member in self._stepping if (size := member.inner_step)]

    def _in_time(self, what: str, act: Callable[[], Any]) -> Any:
        """What an act answers, unless it takes longer than it may."""
        if self._aside is None:
            return act()
        try:
            return self._aside.call(act)
        except TimeoutError:
            for member in self.members.values():
                member.lost = True
            files = ", ".join(f"'{archive.path.name}'" for archive in self.archives.values())
            raise ModelError(
                f"FMU {files} has not been {what} within {self._aside.limit:g} s (at {self.time:g} s), and was given "
                "up. If it is only slow, give a longer time_limit."
            ) from None

    # --- variables ---------------------------------------------------------------------------------------------------

    def _find(self, name: str) -> tuple[Instance, str]:
        if ALONE in self.members:
            return self.members[ALONE], name
        member, dot, variable = name.partition(".")
        if not dot or member not in self.members:
            raise ModelError(
                f"FMUs: '{name}' belongs to no member; write 'member.variable', with {', '.join(self.members)}."
            )
        return self.members[member], variable

    def variable(self, name: str, what: str) -> Variable:
        """What is known of a variable."""
        member, variable = self._find(name)
        return member.archive.variable(variable, what)

    def _check_wire(self, target: str, source: str) -> None:
        """What is shown by one goes into an input of another, and is of the same kind."""
        into, out = (self.variable(name, "connections") for name in (target, source))
        if into.causality != "input" or out.causality == "input":
            raise ModelError(
                f"connections: '{target}' ({into.causality}) takes '{source}' ({out.causality}); inputs take outputs, "
                "{'one.input': 'other.output'}."
            )
        if (
            is_discrete(into.kind)
            and (BOOLEAN in (into.kind, out.kind) or not is_discrete(out.kind))
            and into.kind != out.kind
        ):
            raise ModelError(
                f"connections: '{target}' is of type {into.kind}, and '{source}' of type {out.kind}, which does not become one."
            )
        if into.exponents and out.exponents and into.exponents != out.exponents:
            raise ModelError(
                f"connections: '{target}' is in {into.unit}, and '{source}' in {out.unit}, which is of another kind."
            )

    def terminal(self, name: str) -> dict[str, str]:
        """Variables by the names of the members of a terminal; none where nobody describes one of that name."""
        for called, archive in self.archives.items():
            prefix = f"{called}." if called else ""
            members = archive.terminals.get(name.removeprefix(prefix)) if name.startswith(prefix) else None
            if members is not None:
                return {member: prefix + variable for member, variable in members.items()}
        return {}

    def has(self, name: str) -> bool:
        """Whether there is such a variable."""
        member, _, rest = (ALONE, ".", name) if ALONE in self.members else name.partition(".")
        return member in self.members and rest in self.members[member].archive.variables

    def signals(self, names: Sequence[str], what: str, *, discrete: bool = False) -> Signals:
        """Variables that are asked for or told together; `discrete`: whole numbers and booleans too."""
        found: dict[tuple[int, str], tuple[Instance, list[str], list[int]]] = {}
        for k, name in enumerate(names):
            member, variable = self._find(name)
            kind = member.archive.variable(variable, what).kind
            _, variables, places = found.setdefault((id(member), kind), (member, [], []))
            variables.append(variable)
            places.append(k)
        parts = [
            (member, member.variables(variables, what, discrete=discrete), np.array(places))
            for member, variables, places in found.values()
        ]
        return Signals(parts, len(names))

    def tell(self, signals: Signals, values: Array) -> None:
        """Set variables."""
        for member, numbers, places in signals.parts:
            member.tell(numbers, values[places])

    def ask(self, signals: Signals) -> Array:
        """Get variables."""
        if len(signals.parts) == 1:
            return signals.parts[0][0].ask(signals.parts[0][1]).astype(np.float64)
        found = np.empty(signals.count)
        for member, numbers, places in signals.parts:
            found[places] = member.ask(numbers)
        return found

    def follow(self, courses: Mapping[str, Course], what: str) -> None:
        """Inputs that follow courses over time from now on."""
        for name in courses:
            if (cause := self.variable(name, what).causality) != "input":
                raise ModelError(f"{what}: '{name}' is no input of its FMU ({cause}), and follows no course.")
        if courses:
            self._courses = self.signals(list(courses), what), list(courses.values())
            for name in courses:
                self.claim(name, "its course (signals)", what)

    def _follow(self, time: float) -> None:
        if self._courses is not None:
            signals, courses = self._courses
            self.tell(signals, np.array([course.at(time)[0, 0] for course in courses]))

    def claim(self, name: str, by: str, what: str) -> None:
        """An input is told by one alone."""
        if (other := self._claimed.setdefault(name, by)) != by:
            raise ModelError(f"{what}: input '{name}' is set by {other} and by {by}; leave one of them out.")

    def command(self, name: str, value: float, what: str) -> None:
        """An input is so from now on, until it is commanded otherwise."""
        if name not in self._commanded:
            if (cause := self.variable(name, what).causality) != "input":
                raise ModelError(
                    f"{what}: '{name}' is not an input of its FMU (its causality is '{cause}'), so it cannot be commanded."
                )
            self.claim(name, "commands", what)
            self._commanded[name] = self.signals([name], what, discrete=True), value
        self._commanded[name] = self._commanded[name][0], value
        self._obey([name])

    def _obey(self, names: Iterable[str]) -> None:
        """Commands as they stand; to what is integrated a jump is an event."""
        told = [self._commanded[name] for name in names]

        def tell() -> None:
            for signals, value in told:
                self.tell(signals, np.array([value]))

        if told and self.exchange is not None:
            self.exchange.change(tell)
        elif told:
            tell()
        if told:
            self._hand_on()

    @property
    def commands(self) -> dict[str, float]:
        """What inputs were commanded to be."""
        return {name: value for name, (_, value) in self._commanded.items()}

    def _show_at(self, time: float) -> None:
        """What is integrated sees its inputs as they are then."""
        self._follow(time)
        self._hand_on()

    def _hand_on(self) -> None:
        """Outputs become inputs, again where inputs show in outputs at once."""
        if not self._wires:
            return
        last: list[float] | None = None
        for _ in range(MAX_PASSES):
            shown = [float(self.ask(source)[0]) for source, _ in self._wires]
            if shown == last:
                return
            for value, (_, target) in zip(shown, self._wires, strict=True):
                self.tell(target, np.array([value]))
            last = shown
        raise ModelError(
            f"FMUs {', '.join(self.members)}: their outputs depend on each other directly, and do not converge in "
            f"{MAX_PASSES} rounds: an algebraic loop. Break it with a mechanical port, whose joint solves for the "
            "forces."
        )

    # --- moving ------------------------------------------------------------------------------------------------------

    def begin(self, inputs: Sequence[tuple[Signals, Array]] = ()) -> None:
        """Initialise at time 0; again, where it has moved already."""
        self._in_time("initialised", partial(self._begin, inputs))

    def _begin(self, inputs: Sequence[tuple[Signals, Array]]) -> None:
        for name, member in self.members.items():
            prefix = f"{name}." if name else ""
            mine = {
                key.removeprefix(prefix): value for key, value in self._parameters.items() if key.startswith(prefix)
            }
            given = [
                (numbers, values[places])
                for signals, values in inputs
                for owner, numbers, places in signals.parts
                if owner is member
            ]
            member.begin(mine, given)
        self.time = self._length = 0.0
        self._follow(0.0)
        if self.exchange is not None:
            self.exchange.begin()
        self._hand_on()
        self._obey(self._commanded)

    def step(self, h: float) -> None:
        """Advance by h [s]."""
        if self._aside is None:
            self._step(h)
        else:
            self._in_time(f"stepped by {h:g} s", partial(self._step, h))

    def _check_length(self, h: float) -> None:
        """All steps are alike where somebody says so."""
        if self._length == 0.0:
            self._length = h
        elif abs(h - self._length) > ALIKE * self._length:
            member = next(member for member in self._stepping if not member.variable_step)
            raise member.error(
                f"says canHandleVariableCommunicationStepSize = false, and is to take a step of {h:g} s after steps of "
                f"{self._length:g} s; let events fall on ticks, and leave the step as it is"
            )

    def _check_inner(self, h: float) -> None:
        """Steps are whole numbers of those that members take within."""
        for member, size in self._inner:
            if round(h / size) < 1 or abs(round(h / size) * size - h) > ALIKE * size:
                raise member.error(
                    f"takes steps of {size:g} s within (fixedInternalStepSize), and is to take one of {h:g} s; take a dt that is "
                    "a whole number of its steps"
                )

    def _step(self, h: float) -> None:
        if self._stepping and not self.variable_step:
            self._check_length(h)
        if self._inner:
            self._check_inner(h)
        self._follow(self.time + 0.5 * h)  # what is held in a step is held at its middle
        if self._wires:
            self._hand_on()
        if self.exchange is not None:
            self.exchange.step(h)
        for member in self._stepping:
            member.time = self.time
            member.step(h)
        self.time += h
        if self._wires:
            self._hand_on()

    @property
    def variable_step(self) -> bool:
        """Whether steps may differ."""
        return all(member.variable_step for member in self._stepping)

    @property
    def missing_state(self) -> str | None:
        """Who cannot give its state, and so cannot repeat a step; None: all can."""
        for member in self._stepping:
            if not member.saves:
                return f"'{member.archive.path.name}' says canGetAndSetFMUState = false"
        if self.exchange is not None and not self.exchange.saves:
            name = self.exchange.members[0].archive.path.name
            return f"'{name}' has events and says canGetAndSetFMUState = false"
        return None

    def save(self) -> dict[str, Any]:
        """Where all stand; to be forgotten some time."""
        return {
            "time": self.time,
            "steps": [member.save() for member in self._stepping],
            "exchange": None if self.exchange is None else self.exchange.save(),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Go back to it; inputs are told anew by whoever goes on."""
        self.time = saved["time"]
        for member, state in zip(self._stepping, saved["steps"], strict=True):
            member.restore(state)
        if self.exchange is not None:
            self.exchange.restore(saved["exchange"])

    def forget(self, saved: dict[str, Any]) -> None:
        """Let it go."""
        for member, state in zip(self._stepping, saved["steps"], strict=True):
            member.forget(state)
        if self.exchange is not None:
            self.exchange.forget(saved["exchange"])

    @property
    def missing_bytes(self) -> str | None:
        """Who cannot write its state down; None: all can."""
        if (missing := self.missing_state) is not None:
            return missing
        whole = [*self._stepping, *(self.exchange.members if self.exchange and self.exchange.save()["whole"] else [])]
        found = [member for member in whole if not member.serialises]
        return f"'{found[0].archive.path.name}' says canSerializeFMUState = false" if found else None

    def as_data(self) -> dict[str, Any]:
        """Where all stand, as plain data and arrays that another process reads."""
        saved = self.save()
        try:
            told = [
                [time, _text(member.as_bytes((time, state)))]
                for member, (time, state) in zip(self._stepping, saved["steps"], strict=True)
            ]
            exchange = None
            if self.exchange is not None:
                part = saved["exchange"]
                whole = [
                    [time, _text(member.as_bytes((time, state)))]
                    for member, (time, state) in zip(self.exchange.members, part["whole"])
                ]
                exchange = {**part, "whole": whole, "signs": part["signs"].astype(np.uint8)}
            return {"time": self.time, "steps": told, "exchange": exchange, "commands": self.commands}
        finally:
            self.forget(saved)

    def take_data(self, data: Mapping[str, Any]) -> None:
        """Stand so."""
        steps = [
            member.from_bytes(float(time), _bytes(text))
            for member, (time, text) in zip(self._stepping, data["steps"], strict=True)
        ]
        exchange = None
        if self.exchange is not None:
            part = data["exchange"]
            whole = [
                member.from_bytes(float(time), _bytes(text))
                for member, (time, text) in zip(self.exchange.members, part["whole"])
            ]
            exchange = {**part, "whole": whole, "x": np.array(part["x"]), "signs": np.array(part["signs"], bool)}
        saved = {"time": float(data["time"]), "steps": steps, "exchange": exchange}
        self.restore(saved)
        self.forget(saved)
        for name, value in data.get("commands", {}).items():
            self.command(name, float(value), "commands")

    def close(self) -> None:
        """Let all go."""
        for member in self.members.values():
            member.close()
        if self._aside is not None:
            self._aside.end()

    def __del__(self) -> None:
        self.close()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)
