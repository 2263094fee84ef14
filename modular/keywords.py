"""Calls as people get them wrong: who misspells a setting, leaves one out or gives too many is told which, and shown how."""

from __future__ import annotations

import copyreg
import functools
import inspect
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import Any, NamedTuple, ParamSpec, Self, TypeVar

from modular.errors import KeywordError
from modular.names import hint

Called = Callable[..., Any]
P = ParamSpec("P")
R = TypeVar("R")

# what stands in an example, by the name of a setting or by how what it takes begins
BY_NAME = {
    "port": "'rod.end'", "first": "'rod.end'", "second": "'ground'", "ports": "('rod.end',)", "joint": "'hinge'",
    "body": "'rod'", "bodies": "('rod', 'arm')", "coordinate": "'y'", "function": "'package:function'",
    "times": "(0.0, 1.0)", "values": "(0.0, 2.0)",
}  # fmt: skip
BY_KIND = {"float": "1.0", "Numbers": "1.0", "int": "1", "str": "'…'", "Sequence[float]": "(0.3, 0.2, 0.1)"}
MAX_EXAMPLE_LENGTH = 200  # letters; longer values are left out


class Form(NamedTuple):
    """How something is called, without the object or class that stands in front."""

    by_place: tuple[str, ...]  # what may be given by its place, in order
    needed: tuple[str, ...]  # of these, those that have no default: the first
    needed_by_name: tuple[str, ...]  # what has no default and is given by its name alone
    any_number: bool  # whether more may follow by their places
    annotations: dict[str, str]


@functools.cache
def _form(function: Called) -> Form:
    parameters = list(inspect.signature(function).parameters.values())[1:]
    bare = [p.name for p in parameters if p.default is p.empty]
    places = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY)]
    return Form(
        tuple(places),
        tuple(name for name in places if name in bare),
        tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name in bare),
        any(p.kind is p.VAR_POSITIONAL for p in parameters),
        {p.name: str(p.annotation) for p in parameters},
    )


@functools.cache
def _keywords(function: Called, hands_on_to: Called | None = None) -> dict[str, None] | None:
    """The keywords that a function takes, in order; None where it takes any. `hands_on_to`: who gets what it does not name."""
    parameters = inspect.signature(function).parameters.values()
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    named = dict.fromkeys(parameter.name for parameter in parameters if parameter.kind in by_name)
    if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return named
    more = _keywords(hands_on_to) if hands_on_to is not None else None
    return None if more is None else named | more


def check_keywords(function: Called, given: Iterable[str], what: str, hands_on_to: Called | None = None) -> None:
    """Refuse keywords that a function does not have; `what` it is called."""
    known = _keywords(function, hands_on_to)
    if known is None or known.keys() >= set(given):
        return
    unknown = next(keyword for keyword in given if keyword not in known)
    there = [name for name in known if name not in ("self", "cls")]
    raise KeywordError(f"{what} has no setting '{unknown}'; {hint(unknown, there)}")


def check_call(function: Called, count: int, given: Collection[str], what: str, kind: type | None = None) -> None:
    """Refuse a call of a method that leaves out what it needs, or gives a setting twice or too many.

    `count`: of what is given by its place. `kind`: whose constructor it is, where it is one.
    """
    form = _form(function)
    missing = [name for name in form.needed[count:] if name not in given] if len(form.needed) > count else []
    if form.needed_by_name:
        missing += [name for name in form.needed_by_name if name not in given]
    if missing:
        listed = " and ".join(
            [", ".join(f"'{name}'" for name in missing[:-1]), f"'{missing[-1]}'"][len(missing) == 1 :]
        )
        raise KeywordError(f"{what} needs {listed}, as in {what}({_example(form, kind)}).")
    if count > len(form.by_place) and not form.any_number:
        rest = [name for name in _keywords(function) or () if name not in (*form.by_place, "self", "cls")]
        by_name = f"; give others by name: {', '.join(rest)}" if rest else ""
        most = len(form.by_place)
        takes = f"takes {most} value{'s' * (most > 1)} ({', '.join(form.by_place)})" if most else "takes no value"
        raise KeywordError(f"{what} {takes} by place, not {count}{by_name}.")
    for name in form.by_place[:count] if given else ():
        if name in given:
            raise KeywordError(f"{what}: '{name}' is given twice, by its place and by its name; keep one of them.")


def _example(form: Form, kind: type | None) -> str:
    """What has to be given, as it may be."""
    names = (*form.needed, *form.needed_by_name)
    made = None
    with suppress(Exception):  # somebody's class may have none
        made = getattr(kind, "example", lambda: None)()
    values = {name: repr(getattr(made, name)) if hasattr(made, name) else _stand_in(form, name) for name in names}
    while sum(map(len, values.values())) > MAX_EXAMPLE_LENGTH:
        values[max(values, key=lambda name: len(values[name]))] = "…"
    return ", ".join(f"{name}={value}" for name, value in values.items())


def _stand_in(form: Form, name: str) -> str:
    """What may be given for a setting, as far as its name or its kind says that."""
    kind = form.annotations[name]
    text = name in BY_NAME and ("str" in kind or "Sequence" in kind or "Callable" in kind)
    return BY_NAME[name] if text else next((value for start, value in BY_KIND.items() if kind.startswith(start)), "…")


def spelt(function: Callable[P, R]) -> Callable[P, R]:
    """A method that says what is wrong with a call of it; of a class, it hands on what it does not name."""

    @functools.wraps(function)
    def called(*arguments: P.args, **given: P.kwargs) -> R:
        if given:
            kind = arguments[0] if arguments and isinstance(arguments[0], type) else None
            check_keywords(function, given, function.__qualname__, kind.__init__ if kind is not None else None)  # type: ignore[misc]
        check_call(function, len(arguments) - 1, given, function.__qualname__)
        return function(*arguments, **given)

    return called


class _Signature:
    """What the constructor of a class takes, for those who ask: `help`, editors, documentation."""

    def __get__(self, instance: object, kind: type) -> inspect.Signature:
        return _signature(kind)


@functools.cache
def _signature(kind: type) -> inspect.Signature:
    signature = inspect.signature(kind.__init__)  # type: ignore[misc]
    return signature.replace(parameters=list(signature.parameters.values())[1:])


class Spelt:
    """Something whose constructor says what is wrong with a call of it."""

    __slots__ = ()
    __signature__ = _Signature()

    def __new__(cls, *arguments: Any, **given: Any) -> Self:
        """An empty one; whoever makes it has to call the constructor as it is."""
        if given:
            check_keywords(cls.__init__, given, cls.__name__)
        check_call(cls.__init__, len(arguments), given, cls.__name__, cls)
        return object.__new__(cls)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Copies are filled, not constructed."""
        told: Any = super().__reduce_ex__(protocol)
        made_by_new = told[0] is copyreg.__newobj__  # type: ignore[attr-defined]
        return (object.__new__, *told[1:]) if made_by_new else told
