"""Fields that people fill in: what they typed counts once it has come to rest, and what was refused jumps back.

A page tells every key. To change a mass from 1 to 0.5 one types 0 on the way, and nobody wants to be told that a mass must be
positive. So a number counts when no key has come for a while, a text when Enter is pressed, and a choice at once. The functions
that the viewer calls only note that something was typed; everything else happens in `update`, in the thread of the page.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from math import floor, inf, isfinite, log10
from typing import Any

from coordinator.laboratory.acts import Receipt
from modular.errors import CouplingError, ModelError

TYPING_PAUSE_SECONDS = 0.6  # seconds without a key after which a number counts
MAX_TYPED_DIGITS = 6  # that may be typed behind the leading one
SHOWN_DIGITS = 10  # that are shown
REFUSAL_SECONDS = 12.0  # seconds for which a refusal is shown

Tell = Callable[[Any], Receipt | None]  # posts what was typed; None: there was nothing to post


class Field:
    """One value that people can change."""

    def __init__(self, handle: Any, tell: Tell, rest: float) -> None:
        self.handle, self.tell, self.rest = handle, tell, rest
        self.shown = handle.value  # what is
        self.put = handle.value  # what the field held when it was last looked at
        self.edited: float | None = None  # when the last key came
        self.entered = False
        self.sent: Any = None
        self.receipt: Receipt | None = None
        self.gone = False
        self.form: Any = None  # around a text

    def show(self, value: Any) -> None:
        """What is now; what somebody is typing stays until it counts."""
        self.shown = tidy(value)
        if self.edited is None and self.receipt is None:
            self.put_back()

    def put_back(self) -> None:
        """Show what is."""
        if self.gone:
            return
        if isinstance(self.shown, float) and hasattr(self.handle, "precision"):
            finer = digits_of(self.shown)
            if finer > self.handle.precision:
                self.handle.precision = finer
        self.put = self.shown
        self.handle.value = self.shown


class Fields:
    """The fields of a panel, and what else is left for the thread of the page to do."""

    def __init__(self, gui: Any, clock: Callable[[], float] = time.monotonic) -> None:
        self.gui, self.clock = gui, clock
        self.refusal = ""  # why something was refused last
        self.refused_at = -inf
        self.refusals: deque[str] = deque(maxlen=20)  # of what was never posted
        self._typed: deque[tuple[Field, float]] = deque()  # from the thread of the viewer
        self._entered: deque[Field] = deque()
        self._busy: list[Field] = []
        self._left: deque[Callable[[], object]] = deque()

    def later(self, work: Callable[[], object]) -> Callable[[Any], Any]:
        """What a button calls: it leaves some work to `update`."""

        async def leave(_: Any) -> None:
            self._left.append(work)

        return leave

    # --- kinds of fields ---------------------------------------------------------------------------------------------

    def number(self, label: str, value: float, tell: Tell, hint: str | None = None) -> Field:
        """A number."""
        return self._field(add_number(self.gui, label, value, hint), tell, TYPING_PAUSE_SECONDS)

    def vector(self, label: str, value: Sequence[float], tell: Tell) -> Field:
        """Two numbers or three."""
        return self._field(add_vector(self.gui, label, value), tell, TYPING_PAUSE_SECONDS)

    def choice(self, label: str, options: Sequence[str], value: str, tell: Tell) -> Field:
        """One of some."""
        return self._field(self.gui.add_dropdown(label, options, initial_value=value), tell, 0.0)

    def tick(self, label: str, value: bool, tell: Tell, hint: str | None = None) -> Field:
        """Yes or no."""
        return self._field(self.gui.add_checkbox(label, value, hint=hint), tell, 0.0)

    def text(self, label: str, value: str, tell: Tell, hint: str | None = None) -> Field:
        """A text, which counts when Enter is pressed."""
        form = self.gui.add_form(None)
        with form:
            field = self._field(self.gui.add_text(label, value, hint=hint), tell, inf)

        async def enter(_: Any) -> None:
            self._entered.append(field)

        form.on_submit(enter)
        field.form = form
        return field

    def _field(self, handle: Any, tell: Tell, rest: float) -> Field:
        field = Field(handle, tell, rest)

        async def typed(_: Any) -> None:
            self._typed.append((field, self.clock()))

        handle.on_update(typed)
        return field

    # --- what was typed ----------------------------------------------------------------------------------------------

    def update(self) -> None:
        """Tell what has come to rest, and put back what was refused."""
        while self._typed:
            field, when = self._typed.popleft()
            if not field.gone and field.handle.value != field.put:
                field.edited = when
                if field not in self._busy:
                    self._busy.append(field)
        while self._entered:
            field = self._entered.popleft()
            field.entered = True
            if field not in self._busy:
                self._busy.append(field)
        while self._left:
            try:
                self._left.popleft()()
            except (ModelError, CouplingError) as error:
                self.refusals.append(str(error))
                self.refuse(str(error))
        if self._busy:
            self._busy = [field for field in self._busy if self._settle(field)]

    def _settle(self, field: Field) -> bool:
        """Whether it is still to be looked after."""
        if field.gone:
            return False
        if field.receipt is not None:
            if not field.receipt.over:
                return True
            error, field.receipt = field.receipt.error, None
            if error:
                self._refuse(field, error)
            else:
                field.shown = field.sent
                self.refused_at = -inf  # it was put right: nobody needs to read on what was wrong
        if field.edited is None and not field.entered:
            return False
        if not field.entered and field.edited is not None and self.clock() - field.edited < field.rest:
            return True
        field.edited, field.entered = None, False
        value = field.handle.value
        if value == field.shown:
            field.put = value
            return False
        field.put = field.sent = value
        try:
            field.receipt = field.tell(value)
        except (ModelError, CouplingError) as error:
            self.refusals.append(str(error))
            self._refuse(field, str(error))
            return False
        if field.receipt is None:
            field.shown = value
        return field.receipt is not None

    def _refuse(self, field: Field, why: str) -> None:
        self.refuse(why)
        if field.edited is None:  # nothing was typed since
            field.put_back()

    @property
    def refused_lately(self) -> bool:
        """Whether the last refusal is worth showing."""
        return self.clock() - self.refused_at < REFUSAL_SECONDS

    def refuse(self, why: str) -> None:
        """Something was refused."""
        self.refusal, self.refused_at = why, self.clock()


def forget(fields: Sequence[Field]) -> None:
    """They are about to go from the page."""
    for field in fields:
        field.gone = True


def put(handle: Any, content: str) -> None:
    """Show some HTML."""
    if handle.content != content:
        handle.content = content


def tidy(value: Any) -> Any:
    """A value as people would write it: without the rounding of the last digits."""
    if isinstance(value, float) and isfinite(value):
        return float(f"{value:.{SHOWN_DIGITS}g}")
    return tuple(map(tidy, value)) if isinstance(value, tuple) else value


def add_number(gui: Any, label: str, value: float, hint: str | None = None) -> Any:
    """A field for a number, in which fine ones can be typed as well."""
    handle = gui.add_number(label, tidy(float(value)), step=step_of(value), hint=hint)
    handle.precision = digits_of(value)
    return handle


def add_vector(gui: Any, label: str, value: Sequence[float], hint: str | None = None) -> Any:
    """A field for two numbers or three."""
    add = gui.add_vector2 if len(value) == 2 else gui.add_vector3
    size = max((abs(x) for x in value), default=0.0)
    handle = add(label, tuple(tidy(float(x)) for x in value), step=step_of(size), hint=hint)
    handle.precision = digits_of(size)
    return handle


def step_of(value: float) -> float:
    """By how much the arrows change a number: one in its second digit."""
    return float(10.0 ** (_magnitude(value) - 1))


def digits_of(value: float) -> int:
    """Digits behind the point that are shown and may be typed."""
    return max(MAX_TYPED_DIGITS, MAX_TYPED_DIGITS - _magnitude(value))


def _magnitude(value: float) -> int:
    size = abs(value)
    return max(-12, min(12, floor(log10(size)))) if size > 0.0 and isfinite(size) else 0
