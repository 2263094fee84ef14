"""A stack of black boxes as the simulation holds it: whatever is asked of it is asked where they live.

What the worker would need to make them again is remembered here: how they came about, the memory that they were last asked for, and
what they were told since. So a worker that dies between two distributions is replaced, and nobody can tell.

A port of a black box, as a joint sees it when it takes its marks.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from coordinator.distributed.workers.black_box_shard import BlackBoxShard
from coordinator.distributed.workers.channel import MAX_ATTEMPTS, Channel, ProcessLost
from coordinator.distributed.workers.hosted_stack import (
    BY_ROWS,
    FORESHOWN,
    FORWARD_ONLY,
    GLUED,
    IDLE,
    PLAYED,
    SHARED,
    Refusal,
    put_columns,
    run_of,
    taken_columns,
)
from modular.body import Body
from modular.component import plain
from modular.elements import TIME, Array, Elements, Indices
from modular.errors import ModelError
from modular.internal_gains import InternalGains
from modular.newmark import Newmark
from modular.port import PortName
from modular.side import Mark, Side


class BlackBoxSide(Side):
    """A port of a black box as it stood when it was asked for."""

    def __init__(self, stack: BlackBoxes, name: str, port: PortName) -> None:
        self._stack, self._port = stack, port.port
        self.owner, self.name = name, str(port)
        found = stack.call("side", name=name, port=port.port)
        self.position, self.velocity, self.acceleration = (
            np.array(found[key], float) for key in ("position", "velocity", "acceleration")
        )
        self._frame, self._directions = np.array(found["frame"], float), np.array(found["directions"], float)

    @property
    def frame(self) -> Array:
        """Axes of the port as rows."""
        return self._frame

    @property
    def directions(self) -> Array:
        """Those that it can follow."""
        return self._directions

    def point(self, x: Array) -> Mark | None:
        """The material point that stands at `x`."""
        return self._mark("point", x)

    def direction(self, u: Array) -> Mark | None:
        """The body-fixed direction along `u`."""
        return self._mark("direction", u)

    def _mark(self, what: str, value: Array) -> Mark | None:
        found = self._stack.call("mark", name=self.owner, port=self._port, what=what, value=np.array(value, float))
        return None if found is None else Mark(np.array(found[0], float), np.array(found[1], float))


CHANGING = frozenset({"add", "remove", "attach", "detach", "configure", "play", "shift", "command"})
MAX_JOURNAL_LENGTH = 500  # things that were told since they were last asked for their memory


class BlackBoxes:
    """Bodies of one kind that live at one worker; it offers what their own stack offers."""

    def __init__(self, channel: Channel, what: str, like: Mapping[str, Any], offers: Sequence[str]) -> None:
        """`like`: the description of one of them; `offers`: methods of their stack, beyond what every stack has."""
        self.names: list[str] = []
        self.row: dict[str, int] = {}
        self.gravity: Array = np.zeros(0)
        self.channel, self.what = channel, what
        self.key = secrets.token_hex(8)
        self._like = like
        self._bodies: dict[str, Mapping[str, Any]] = {}  # descriptions
        self._held: dict[int, tuple[str, int, Mark]] = {}  # by element: body, slot and mark, in their order
        self._free: list[int] = []  # slots; 0 is nobody's
        self._configured: dict[str, Any] | None = None
        self._process: Hashable = None  # in which they live
        self._base: dict[str, Any] | None = None  # how to make them again, but for what is in the journal
        self._journal: list[tuple[str, dict[str, Any]]] = []
        self._state: dict[str, Array] | None = None
        self._foreshown: dict[str, dict[str, Any]] = {}  # what they would show as they stand now, by the way of showing
        self._at: list[Array] = []  # clock and tolerances of that
        self._slots: tuple[Any, Indices] | None = None
        methods: dict[str, Callable[..., Any]] = {
            "configure": self._configure, "predict": self._predict, "correct": self._correct, "show": self._show,
            "reevaluate": self._reevaluate, "respond": self._respond, "respond_predicted": self._respond_predicted,
            "respond_freely": self._respond_freely,
            "bound_demands": self._bound_demands, "push": self._push, "shift": self._shift, "save": self._save,
            "restore": self._restore, "command": self._command,
        }  # fmt: skip
        methods |= {verb: partial(self._glue, verb) for verb in GLUED} | {
            verb: partial(self._step, verb) for verb in ("drift", "kick")
        }
        methods |= {verb: _nothing for verb in GLUED if f"{IDLE}{verb}" in offers}
        offered = {*offers, "respond_freely"} if "respond" in offers else {*offers}
        self.__dict__.update({name: method for name, method in methods.items() if name in offered})
        self.by_rows = BY_ROWS in offered  # whether it can be asked for some of its rows, as a table can
        self.saves = {"save", "restore"} <= offered
        self.forward_only = FORWARD_ONLY in offered  # whether no step goes back in time
        self._between = True  # two steps of glued joints, or never in one
        self._glued = False  # whether joints are glued: then showing is asked for again and again

    @property
    def worker(self) -> str:
        """Where they live."""
        return self.channel.worker

    # --- asking ------------------------------------------------------------------------------------------------------

    def call(self, method: str, **said: Any) -> Any:
        """Ask where they live; in another process too, where they have been made again."""
        last = ""
        for _ in range(MAX_ATTEMPTS):
            try:
                if self._process is None:
                    self._settle_in()
                answer = self._tell(method, said)
                break
            except ProcessLost as error:
                self._process, self._foreshown, last = None, {}, str(error)
        else:
            raise ModelError(
                f"worker '{self.worker}' has died {MAX_ATTEMPTS} times over {self._spoken(method, said)} of {self._whose(said)}; "
                f"the last time {last}."
            )
        if method in CHANGING:
            self._state, self._foreshown = None, {}
            if self.saves and not self.channel.persistent:
                self._journal.append((method, said))
        return answer

    def _tell(self, method: str, said: Mapping[str, Any]) -> Any:
        try:
            return self.channel.call(self._process, method, {"key": self.key, **said})
        except Refusal as error:
            raise ModelError(
                f"{self._whose(said)} at worker '{self.worker}', {self._spoken(method, said)}:\n{error}"
            ) from error

    def _spoken(self, method: str, said: Mapping[str, Any]) -> str:
        return str(said.get("verb", method))

    def _whose(self, said: Mapping[str, Any]) -> str:
        name = said.get("name") or said.get("arguments", {}).get("name") or (self.names[0] if self.names else "a body")
        return f"'{name}' ({self.what})"

    def _settle_in(self) -> None:
        """Be made in the process that is there now, as they were when they were last heard of."""
        if self._base is None:
            self._base = self.record()
        elif not self.saves and not self.channel.persistent:
            raise ModelError(
                f"worker '{self.worker}' has died, and '{self.names[0]}' ({self.what}) cannot be replaced: it does "
                "not save its state. Give its stack the methods save and restore (modular.body.SavesAndRestores)."
            )
        self._process = self.channel.process()
        self._tell("make", {"record": self._base})
        for method, said in self._journal:
            self._tell(method, said)

    def record(self, memory: Any = None) -> dict[str, Any]:
        """How they came about."""
        return {
            "like": self._like,
            "gravity": self.gravity,
            "bodies": [[name, self._bodies[name]] for name in self.names],
            "configured": self._configured,
            "held": [[name, slot, mark.weights, mark.value] for name, slot, mark in self._held.values()],
            "memory": memory,
        }

    def _remember(self, memory: Any) -> None:
        """From here on they can be made again."""
        self._base, self._journal = self.record(memory), []

    def move(self, channel: Channel) -> None:
        """Live elsewhere from now on."""
        if not self.saves:
            raise ModelError(
                f"'{self.names[0]}' ({self.what}) stays in this process: it does not save its state. Give its "
                "stack the methods save and restore (modular.body.SavesAndRestores), or begin with workers."
            )
        self._save()
        self.call("forget")
        self.channel, self._process = channel, None

    # --- coming and going --------------------------------------------------------------------------------------------

    def add(self, name: str, body: Body) -> None:
        """Take a body in, in its initial state."""
        description = body.description  # type: ignore[attr-defined]  # of a BlackBox
        names = self.call("add", name=name, data=description)
        self._bodies[name] = description
        self._take_names(names)

    def remove(self, name: str) -> None:
        """Let a body go."""
        names = self.call("remove", name=name)
        del self._bodies[name]
        self._take_names(names)
        if not names:
            self.call("forget")
            self._process = self._base = None
            self._journal = []

    def _take_names(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.row = {name: row for row, name in enumerate(names)}

    def one(self, name: str) -> BlackBoxes:
        """The same stack narrowed to one row, to look at."""
        view = object.__new__(BlackBoxes)
        view.__dict__.update(self.__dict__)
        view.names, view.row = [name], {name: 0}
        view.__dict__["state"] = lambda: {key: rows[[self.row[name]]] for key, rows in self.state().items()}
        return view

    def side(self, name: str, port: PortName) -> Side:
        """A port as a joint sees it now."""
        return BlackBoxSide(self, name, port)

    def attach(self, name: str, element: int, mark: Mark) -> None:
        """From now on show the marked point or direction in row `element` and take the force on it."""
        slot = self._free[-1] if self._free else 1 + len(self._held)
        self.call("attach", name=name, slot=slot, weights=mark.weights, value=mark.value)
        del self._free[-1:]
        self._held[element], self._slots = (name, slot, mark), None

    def detach(self, name: str, element: int) -> None:
        """Stop doing so."""
        slot = self._held[element][1]
        self.call("detach", name=name, slot=slot)
        del self._held[element]
        self._free.append(slot)
        self._slots = None

    def state(self) -> Mapping[str, Array]:
        """Coordinates and their rates, one row per body."""
        if self._state is None:
            self._state = self.call("state")
        return self._state

    # --- what is offered where their own stack offers it -------------------------------------------------------------

    def _configure(self, newmark: Newmark, internal: InternalGains, dt: float) -> None:
        settings = {"newmark": plain(newmark), "internal": plain(internal), "dt": dt}
        self.call("configure", **settings)
        self._configured = settings

    def play_rows(self, verb: str, elements: Elements, rows: Any) -> None:
        """A part of an event, for stretches of rows."""
        self._play(verb, elements, np.array(rows, np.int64))

    def _play(self, verb: str, elements: Elements, stretches: Any = None, **arguments: Any) -> Any:
        """Show the elements as they are, and take over what becomes of them."""
        assert verb in PLAYED
        if self._slots is None:
            held = self._held
            slots_of_all = np.array([slot for _, slot, _ in held.values()], np.int64)
            self._slots = run_of(np.array(list(held), np.int64)), slots_of_all
        rows, slots = self._slots
        at = [elements.clock.copy(), *(getattr(elements, name).copy() for name in SHARED)]
        known = None if stretches is not None else self._foreshown.get(verb)
        if known is not None and (
            (known["timeless"] and at[0][TIME] == self._at[0][TIME]) or all(map(np.array_equal, at, self._at))
        ):
            for name, values in known["columns"].items():
                getattr(elements, name)[rows] = values
            return None
        columns = taken_columns(elements, rows, verb)
        said = {
            "verb": verb,
            "slots": slots,
            "columns": columns,
            "clock": at[0],
            "arguments": arguments,
        }
        if verb in GLUED:
            said["fixed"] = dict(zip(SHARED, at[1:], strict=True))
        if self._glued and verb in FORESHOWN and stretches is None:
            said["foreshow"] = True
        found = self.call("play", **said, **({} if stretches is None else {"stretches": stretches}))
        put_columns(elements, rows, found["columns"])
        self._foreshown, self._at = found.get("foreshown", {}), at
        return found["answer"]

    def _predict(self, elements: Elements, dt: float) -> None:
        self._glued = False
        if len(self._journal) > MAX_JOURNAL_LENGTH:
            self._save()
        self._play("predict", elements, dt=dt)

    def _glue(self, verb: str, elements: Elements) -> None:
        """What is asked between glued joints without a step."""
        self._play(verb, elements)

    def _step(self, verb: str, elements: Elements, step: float) -> str | None:
        """The two halves of a step between glued joints, each as often as joints ask for it."""
        if verb == "drift" and self._between and len(self._journal) > MAX_JOURNAL_LENGTH:
            self._save()
        self._between = verb == "kick"
        self._glued = True
        wrong: str | None = self._play(verb, elements, step=step)
        return wrong

    def _correct(self, elements: Elements, dt: float) -> str | None:
        wrong: str | None = self._play("correct", elements, dt=dt)
        return wrong

    def _show(self, elements: Elements) -> None:
        self._play("show", elements)

    def _reevaluate(self, elements: Elements, names: Sequence[str]) -> None:
        mine = [name for name in names if name in self.row]
        if mine:
            self._play("reevaluate", elements, names=mine)

    def _respond(self, elements: Elements, *, constrained: bool = True) -> None:
        self._play("respond", elements, constrained=constrained)

    def _respond_predicted(self, elements: Elements) -> None:
        self._play("respond_predicted", elements)

    def _respond_freely(self, elements: Elements) -> None:
        self._play("respond_freely", elements)

    def _bound_demands(self, elements: Elements) -> None:
        self._play("bound_demands", elements)

    def _push(self, name: str, impulses: Mapping[int, Array], elements: Elements) -> float:
        slots = [[self._held[element][1], impulse] for element, impulse in impulses.items()]
        return float(self._play("push", elements, name=name, impulses=slots))

    def _shift(self, name: str, velocity: Array) -> float:
        return float(self.call("shift", name=name, velocity=velocity))

    def _command(self, name: str, variable: str, value: float) -> None:
        self.call("command", name=name, variable=variable, value=value)

    def _save(self) -> Any:
        memory = self.call("save")
        self._remember(memory)
        return memory

    def _restore(self, memory: Any) -> None:
        self.call("restore", memory=memory)
        self._state, self._foreshown = None, {}
        self._remember(memory)

    # --- distributed -------------------------------------------------------------------------------------------------

    def chosen(self, rows: Any) -> BlackBoxShard:
        """What a worker holds of them while the mechanism is distributed: all of them."""
        assert list(rows) == list(range(len(self.names)))
        memory = self._save()
        self.state()  # a new segment asks for its shapes meanwhile; no box may be made anew beside the one that moves
        held = np.array(list(self._held), np.int64)
        return BlackBoxShard(self.key, self.record(memory), list(self.names), held, self.channel.hosted(self.key))

    def put_back(self, rows: Any, part: BlackBoxShard, theirs: Any = slice(None)) -> None:
        """They stand as the worker left them, in the process that is there now."""
        self._process, self._state, self._foreshown = self.channel.process(), None, {}
        self._remember(part.save())


def _nothing(elements: Elements) -> None:
    """What their stack does for this verb."""
