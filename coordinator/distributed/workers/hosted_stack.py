"""Black boxes where they live: the stack that their own package made, with a table of elements of its own.

Those who hold a black box from elsewhere say what is to be done with the rows of its elements, and are told what has become of
them; so nobody has to renumber anything inside of somebody else's Python. A *record* tells how a hosted stack came about, as plain
data and arrays: with one it is made again, in another process too.

Channels to black boxes: how a simulation asks for what is done where their package is installed.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from coordinator.record.obstacles import source_of
from modular.body import Body
from modular.component import Component, find_class
from modular.elements import TIME, Array, Elements, Indices
from modular.errors import ModelError
from modular.internal_gains import InternalGains
from modular.newmark import Newmark
from modular.port import PortName
from modular.side import Mark, Side
from modular.table import Table

Record = Mapping[str, Any]
MOVING = (
    "position",
    "velocity",
    "velocity_before",
    "current_velocity",
    "force",
)  # columns that a body reads or writes in a tick
ANSWERS = ("response", "demand", "bound")  # those in which it is asked how it answers forces
MOVED, WORK = "moving", "work"  # all of the first together; what forces do
ASKED = frozenset({"respond", "respond_predicted", "respond_freely", "bound_demands", "respond_ahead"})
GLUED = (
    "drift", "accept_step", "kick", "save_start", "restore_start", "invalidate", "respond_ahead", "apply_impulse",
    "show_end_velocity",
)  # fmt: skip  # what is asked between glued joints (modular.body.DriftsAndKicks)
SHOWING = ("show", "show_end_velocity")  # what tells nothing but where bodies stand: it reads no column of the elements
FORESHOWN = frozenset({"kick", "reevaluate", *SHOWING})  # after which they are asked for, between glued joints
PLAYED = frozenset({"predict", "correct", "show", "reevaluate", "push", *ASKED, *GLUED})  # what is done with elements
OFFERS = (
    "configure",
    "predict",
    "correct",
    "show",
    "reevaluate",
    "respond",
    "respond_predicted",
    "bound_demands",
    "push",
    "shift",
    "save",
    "restore",
    "command",
    *GLUED,
)
DESCRIBED = frozenset(
    {
        "port_motion", "kinetic_energy", "potential_energy", "leaked", "output", "momentum", "mass_centre", "internal_violation",
        "internal_violation_rate",
    }
)  # fmt: skip  # what a description says of coordinates
GONE = "it does not run here"  # said of one that was made in a process that is no more
SHARED = ("tolerance", "ahead", "beyond")  # what all elements share beside the clock, where joints are glued
LOOPS = {"predict": ("predict", "show_end_velocity")}  # of compiled stacks, for what they do; others have the same name
IDLE = "idle: "  # offered before a verb that a stack has and does nothing in: nobody need ask for it
FORWARD_ONLY = "forward only"  # offered where no step goes back in time
BY_ROWS = "by rows"  # offered where all that an event asks for is compiled
LINES = 3  # of a traceback that are passed on, from its end


class Refusal(ModelError):
    """What somebody else's component has raised."""


def run_of(rows: Indices) -> Any:
    """Rows as a slice where they follow on each other, which is found and laid down in a fraction of the time."""
    if len(rows) and np.array_equal(rows, np.arange(rows[0], rows[0] + len(rows))):
        return slice(int(rows[0]), int(rows[0]) + len(rows))
    return rows


def taken_columns(elements: Elements, rows: Any, verb: str) -> dict[str, Array]:
    """Columns of the elements that go to a black box for a part of a tick, and come back; those of one shape as one array."""
    found = {MOVED: np.array([getattr(elements, name)[rows] for name in MOVING])}
    more = ANSWERS if verb in ASKED else ()
    return found | {name: getattr(elements, name)[rows].copy() for name in ((*more, WORK) if verb in GLUED else more)}


def put_columns(elements: Elements, rows: Any, columns: Mapping[str, Any]) -> None:
    """The other way round."""
    for name, values in columns.items():
        if name == MOVED:
            for one, column in zip(MOVING, values, strict=True):
                getattr(elements, one)[rows] = column
        elif name in (*ANSWERS, WORK):
            getattr(elements, name)[rows] = values


class HostedStack:
    """Bodies of one kind in the stack of their own class."""

    def __init__(self, record: Record) -> None:
        like = body_from(record["like"])
        self.kind = like.stack_kind
        stack: Any = like.empty_stack()
        self.integrator = like.integrator
        self.stack = stack
        self.stack.gravity = np.array(record["gravity"])
        self.elements = Elements(like.dimension, motions=like.motions)
        self.elements.prepare("respond")
        self._writes: dict[
            str, tuple[list[str], bool]
        ] = {}  # of each way of showing: what, and whether whatever the step is
        self._runs: dict[bytes, Any] = {}  # rows that were asked for, by their numbers
        for name, data in record["bodies"]:
            self.add(name, data)
        if record["configured"] is not None:
            self.configure(**record["configured"])
        if record["memory"] is not None:
            self.stack.restore(record["memory"])
        for name, slot, weights, value in record["held"]:
            self.attach(name, slot, weights, value)

    # --- coming and going --------------------------------------------------------------------------------------------

    def add(self, name: str, data: Mapping[str, Any]) -> list[str]:
        """Take a body in; the names of all, in the order of the rows."""
        body = body_from(data)
        if body.stack_kind != self.kind:
            raise ModelError(f"'{name}' is of another kind than the others of its stack.")
        self.stack.add(name, body)
        return list(self.stack.names)

    def remove(self, name: str) -> list[str]:
        """Let a body go; the names of the others."""
        self.stack.remove(name)
        return list(self.stack.names)

    def side(self, name: str, port: str) -> dict[str, Any]:
        """A port as it stands."""
        side = self._side(name, port)
        return {
            "position": side.position, "velocity": side.velocity, "acceleration": side.acceleration,
            "frame": side.frame, "directions": side.directions,
        }  # fmt: skip

    def mark(self, name: str, port: str, what: str, value: Any) -> list[Any] | None:
        """How a "point" or a "direction" is found again, or None."""
        side = self._side(name, port)
        mark = side.point(value) if what == "point" else side.direction(value)
        return None if mark is None else [mark.weights, mark.value]

    def _side(self, name: str, port: str) -> Side:
        side: Side = self.stack.side(name, PortName(name, port))
        return side

    def attach(self, name: str, slot: int, weights: Any, value: Any) -> None:
        """Show an element from now on, in a row of our own table."""
        if slot >= self.elements.capacity:
            self.elements.grow(max(2 * self.elements.capacity, slot + 1))
        self.elements.clear(slot, slot + 1)
        self.stack.attach(name, slot, Mark(np.array(weights), np.array(value)))
        self._writes = {}

    def detach(self, name: str, slot: int) -> None:
        """Stop doing so."""
        self.stack.detach(name, slot)
        self._writes = {}

    # --- moving ------------------------------------------------------------------------------------------------------

    def configure(self, newmark: Mapping[str, Any], internal: Mapping[str, Any], dt: float) -> None:
        """Take the settings of the scheme."""
        settings: tuple[Newmark, InternalGains, float] = Component.from_data(newmark), Component.from_data(internal), dt
        if self.integrator is not None:
            settings = self.integrator.settings(f"body '{self.stack.names[0]}'", *settings)
        self.stack.configure(*settings)

    def play(
        self,
        verb: str,
        slots: Indices,
        columns: Mapping[str, Any],
        clock: Any,
        arguments: Mapping[str, Any],
        stretches: Any = None,
        fixed: Mapping[str, Any] | None = None,
        foreshow: bool = False,
    ) -> Any:
        """Do something with elements as they are shown; what the stack says, and what has become of them.

        `stretches` of rows: where the stack is compiled and can be asked for some of its rows. `fixed`: what all elements share.
        `foreshow`: what bodies would show next is told along, so that nobody need ask.
        """
        if verb not in PLAYED:
            raise ModelError(f"{verb!r} is not an operation of bodies on elements.")
        elements, stack = self.elements, self.stack
        if (
            "demand" in columns and columns["demand"].shape[-1] > elements.motions
        ):  # others bend in more ways than we do
            elements.resize_response(columns["demand"].shape[-1])
            elements.prepare("respond")
        rows = self._rows(slots)
        put_columns(elements, rows, columns)
        elements.clock[:] = clock
        for name, values in (fixed or {}).items():
            if name in SHARED:
                getattr(elements, name)[:] = values
        answer = None
        if verb in GLUED and isinstance(stack, Table):
            stack.prepare("drift")  # what is saved where a step begins lies in columns that are folded until then
        if stretches is not None:
            for start, stop in stretches:
                for loop in LOOPS.get(verb, (verb,)):
                    stack.play(loop, elements, int(start), int(stop))
        elif verb == "respond_freely":
            answer = stack.respond(elements, constrained=False)
        elif verb == "reevaluate":
            answer = stack.reevaluate(elements, arguments["names"])
        elif verb == "push":
            answer = stack.push(
                arguments["name"], {int(slot): np.array(p) for slot, p in arguments["impulses"]}, elements
            )
        else:
            answer = getattr(stack, verb)(elements, **arguments)
        found = {"answer": answer, "columns": taken_columns(elements, rows, verb)}
        return {**found, "foreshown": self._foreshown(rows)} if foreshow else found

    def _rows(self, slots: Indices) -> Any:
        key = slots.tobytes()
        if key not in self._runs:
            self._runs = {key: run_of(slots)}  # those that are asked for change where elements come and go
        return self._runs[key]

    def _foreshown(self, slots: Any) -> dict[str, dict[str, Any]]:
        """What each way of showing writes, and whether whatever the step is; nothing of a way that reads what it should not."""
        elements, found = self.elements, {}
        kept = {name: getattr(elements, name)[slots].copy() for name in MOVING}
        for verb in SHOWING:
            if verb not in self._writes:
                self._writes[verb] = self._tried(verb, slots)
            columns, timeless = self._writes[verb]
            if columns:
                getattr(self.stack, verb)(elements)
                found[verb] = {
                    "timeless": timeless, "columns": {name: getattr(elements, name)[slots].copy() for name in columns}
                }  # fmt: skip
        for name, values in kept.items():
            getattr(elements, name)[slots] = values
        return found

    def _tried(self, verb: str, slots: Any) -> tuple[list[str], bool]:
        """Columns that a way of showing writes, and whether whatever the step is: found by what it makes of nothing."""
        elements = self.elements
        written = self._written(verb, slots)
        shared = [elements.clock, *(getattr(elements, name) for name in SHARED)]
        now = [array.copy() for array in shared]
        for array in shared:
            array[:] = np.nan
        elements.clock[TIME] = now[0][TIME]
        without = self._written(verb, slots)
        for array, values in zip(shared, now, strict=True):
            array[:] = values
        return written, written == without

    def _written(self, verb: str, slots: Any) -> list[str]:
        """Columns that it fills; none where some of its numbers came of nothing."""
        elements, show = self.elements, getattr(self.stack, verb, None)
        if not callable(show):
            return []
        for name in MOVING:
            getattr(elements, name)[slots] = np.nan
        try:
            show(elements)
        except Exception:  # whoever asks in earnest is told what is wrong
            return []
        gaps = {name: np.isnan(getattr(elements, name)[slots]) for name in MOVING}
        if not all(gap.all() or not gap.any() for gap in gaps.values()):
            return []
        return [name for name, gap in gaps.items() if not gap.any()]

    def shift(self, name: str, velocity: Any) -> float:
        """Add a velocity to all points of a body; the change of kinetic energy [J]."""
        return float(self.stack.shift(name, np.array(velocity)))

    def command(self, name: str, variable: str, value: float) -> None:
        """An input of a body is so from now on."""
        self.stack.command(name, variable, value)

    # --- looking, remembering ----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Copies of the coordinates and their rates."""
        return {key: np.array(array, float) for key, array in self.stack.state().items()}

    def save(self) -> Any:
        """All that it remembers."""
        return self.stack.save()

    def restore(self, memory: Any) -> None:
        """Go back to it."""
        self.stack.restore(memory)


REMOTE_METHODS: dict[str, Callable[..., Any]] = {
    "add": HostedStack.add, "remove": HostedStack.remove, "side": HostedStack.side, "mark": HostedStack.mark,
    "attach": HostedStack.attach, "detach": HostedStack.detach, "configure": HostedStack.configure, "play": HostedStack.play,
    "command": HostedStack.command,
    "shift": HostedStack.shift, "state": HostedStack.state, "save": HostedStack.save, "restore": HostedStack.restore,
}  # fmt: skip  # all that can be asked of one


class StackHost:
    """All black boxes of one process, by their keys."""

    def __init__(self) -> None:
        self.known: dict[str, HostedStack] = {}

    def dispatch(self, method: str, said: Mapping[str, Any]) -> Any:
        """Do one of the few things that can be asked; what components raise becomes a Refusal."""
        arguments = dict(said)
        try:
            if method in REMOTE_METHODS:
                return REMOTE_METHODS[method](self._hosted(arguments.pop("key")), **arguments)
            if method == "make":
                self.known[arguments["key"]] = HostedStack(arguments["record"])
            elif method == "forget":
                self.known.pop(arguments["key"], None)
            elif method == "facts":
                return facts_of(arguments["name"], arguments["description"])
            elif method == "describe" and arguments["question"] in DESCRIBED:
                return getattr(body_from(arguments["description"]), arguments["question"])(**arguments["about"])
            else:
                raise ModelError(f"{method!r} is not a question that black boxes answer.")
        except ModelError as error:
            raise Refusal(str(error)) from error
        except Exception as error:  # of somebody's component: whoever asked has to know
            raise Refusal(last_words(error)) from error
        return None

    def revived(self, key: str, record: Record) -> HostedStack:
        """The one that lives here, standing as the record says, or another like it."""
        if key not in self.known:
            self.known[key] = HostedStack(record)
        else:  # it may have gone on with those who have taken this process for dead
            self.known[key].restore(record["memory"])
        return self.known[key]

    def _hosted(self, key: str) -> HostedStack:
        if key not in self.known:
            raise ModelError(GONE)
        return self.known[key]


def body_from(data: Mapping[str, Any]) -> Body:
    """The body that is described."""
    body = Component.from_data(data)
    if not isinstance(body, Body):
        raise ModelError(f"{data['class']!r} is not a body.")
    return body


def facts_of(name: str, description: Mapping[str, Any]) -> dict[str, Any]:
    """What never changes of a body; or why nobody knows its class here."""
    try:
        find_class(description["class"])
    except ModelError as error:
        return {"missing": str(error)}
    body = body_from(description)
    stack, kind = body.empty_stack(), body.stack_kind
    offers = [offer for offer in OFFERS if callable(getattr(stack, offer, None))]
    if (
        isinstance(stack, Table)
        and {*ASKED, "predict", "show_end_velocity", "show", "reevaluate"} <= stack.loops.keys()
    ):
        offers.append(BY_ROWS)
    offers += [f"{IDLE}{verb}" for verb in getattr(stack, "idle_verbs", ()) if verb in GLUED]
    if getattr(stack, "forward_only", False):
        offers.append(FORWARD_ONLY)
    return {
        "missing": None,
        "problems": body.problems(name),
        "dimension": body.dimension,
        "ports": list(body.port_names),
        "total_mass": float(body.total_mass),
        "freedoms": int(body.freedoms),
        "motions": int(body.motions),
        "straight": body.straight,
        "rigid": bool(getattr(body, "rigid", False)),
        "steps": body.steps,
        "sources": source_of(body),
        "kind": f"{type(kind).__name__} {kind!r}",
        "offers": offers,
    }


def last_words(error: Exception) -> str:
    """The end of a traceback, which says where and what."""
    lines = "".join(traceback.format_exception(error)).strip().splitlines()
    return "\n".join(lines[-LINES:])
