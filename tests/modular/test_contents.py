"""What a kernel is made of: every edit that could change its machine code changes the digest, and no other edit does."""

import random
import textwrap
from typing import Any

import numpy as np
import pytest
from numba import njit, types
from numba.extending import intrinsic, overload

from campaign import more
from modular.contents import contents, contents_of_types
from modular.reach import Indescribable

SOURCE = """
import enum
import functools
from dataclasses import dataclass

import numpy as np

NUMBER, PAIR, ARRAY = {number}, (1.0, ({inner}, "x")), np.array([1.0, {item}])
TABLE = {{"a": [1, {entry}], "b": {{2.0: {deep}}}}}


class Kind(enum.Enum):
    SMALL = {member}


@dataclass(frozen=True)
class Settings:
    rows: int = {rows}

    def wide(self, by={default}):
        return self.rows * by + {method}


SETTINGS = Settings()


def leaf(x):
    return x + {leaf}


def other(x):
    return x * 2


FIRST, SECOND = {order}


def branch(x, more={keyword}):
    return FIRST(x) - SECOND(x) + PAIR[0] + more


def maker(held, by={made}):
    def inside(x):
        return held["k"] * x + by

    return inside


CLOSED = maker({{"k": {closed}}})
PARTLY = functools.partial(leaf, {partly})


def shape():
    return TABLE["b"][2.0], SETTINGS.wide(), Kind.SMALL, PARTLY()


def whole(x):
    return branch(x) + NUMBER * ARRAY[1] + CLOSED(x) + shape()[0] + {constant}
"""
USUAL: dict[str, Any] = {
    "number": 1.5, "inner": 2, "item": 3.5, "entry": 4, "deep": 5, "member": 6, "rows": 7, "default": 8, "method": 9,
    "leaf": 10, "order": "leaf, other", "keyword": 11, "made": 12, "closed": 13, "partly": 14, "constant": 15,
}  # fmt: skip


def digest(source: str, name: str = "whole") -> bytes:
    module: dict[str, Any] = {"__name__": "some_module"}
    exec(compile(textwrap.dedent(source), "some_file.py", "exec"), module)
    return contents(module[name])


def made_of(**edited: Any) -> bytes:
    return digest(SOURCE.format(**{**USUAL, **edited}))


@pytest.mark.parametrize("seed", [*range(40), *more(range(40, 300))])
def test_every_edit_of_a_value_or_a_callee_changes_the_digest_and_taking_it_back_restores_it(seed: int):
    drawn = random.Random(seed)
    names = drawn.sample(sorted(USUAL), drawn.randint(0, 4))
    edits = {name: "other, leaf" if name == "order" else drawn.randint(16, 90) for name in names}
    edited = made_of(**edits)
    assert (edited == made_of()) == (not edits)
    assert edited == made_of(**edits)


@pytest.mark.parametrize("name", sorted(USUAL))
def test_an_edit_of_one_thing_changes_the_digest(name: str):
    assert made_of(**{name: "other, leaf" if name == "order" else 77}) != made_of()


def test_comments_docstrings_lines_and_what_is_not_reached_cost_nothing():
    plain = "def leaf(x):\n    return x + 1\n\ndef whole(x):\n    return leaf(x)\n"
    told = '''
    # why
    UNUSED = {"a": 1}

    def unused(x):
        return 5

    def leaf(x):
        """What it answers."""

        return x + 1  # why

    def whole(x):
        """What it answers, and more."""
        return leaf(x)
    '''
    assert digest(plain) == digest(told)


def test_a_docstring_that_is_used_counts():
    first, second = (f'def whole():\n    "{word}"\n    return "{word}"\n' for word in ("a", "b"))
    assert digest(first) != digest(second)


def test_values_that_look_alike_are_told_apart():
    values = ("0.0", "-0.0", "0", "False", "None", "'0'", "b'0'", "(0,)", "[0]", "{0}", "{0: 0}", "float('nan')", "0j")
    assert len({digest(f"V = {value}\ndef whole():\n    return V\n") for value in values}) == len(values)


def test_two_names_for_two_functions_are_no_three_for_two():
    """Each function is met in the same order; what differs is which name stands for which."""
    functions = "def f(x):\n    return x\n\ndef g(x):\n    return -x\n\n"
    said = [
        f"{functions}A, B, C = {names}\ndef whole(x):\n    return A(x) + B(x) + C(x)\n"
        for names in ("f, g, g", "f, f, g")
    ]
    assert digest(said[0]) != digest(said[1])


def test_functions_that_call_themselves_and_each_other_are_described_the_same_way_whoever_asks_first():
    source = """
    def even(n):
        return n == {zero} or odd(n - 1)

    def odd(n):
        return n != 0 and even(n - 1)

    def alone(n):
        return 1 if n < {one} else n * alone(n - 1)
    """
    for name in ("even", "odd", "alone"):
        usual = digest(source.format(zero=0, one=1), name)
        assert usual == digest(source.format(zero=0, one=1), name)
        assert usual != digest(source.format(zero=7, one=7), name)


def test_kernels_made_by_functions_are_known_by_what_they_were_made_of():
    def family(factor: float) -> Any:
        @njit
        def row(x: float) -> float:
            return factor * x

        @njit
        def loop(x: float) -> float:
            return row(x) + 1.0

        return loop

    assert contents(family(2.0).py_func) == contents(family(2.0).py_func)
    assert contents(family(2.0).py_func) != contents(family(3.0).py_func)


def test_what_numba_was_told_of_a_callee_counts():
    def made(**options: bool) -> bytes:
        @njit(**options)
        def row(x: float) -> float:
            return x * x + x

        def loop(x: float) -> float:
            return float(row(x))

        return contents(loop)

    assert len({made(), made(fastmath=True), made(boundscheck=True)}) == 3


def test_python_that_the_compiler_asks_counts_with_all_that_it_reads():
    def made(size: int) -> bytes:
        sizes = {"rows": size}

        @intrinsic
        def width(context: Any, x: Any) -> Any:
            return types.int64(x), lambda c, builder, kinds, values: c.get_constant(types.int64, sizes["rows"])

        def loop(x: float) -> int:
            return int(width(x))

        return contents(loop)

    assert made(3) == made(3) != made(4)


def test_what_the_compiler_was_told_to_make_of_a_function_counts(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        "modular.registrations._foreign", []
    )  # it is forgotten: all code would have another key from here on

    def stand_in(x: float) -> float:
        return x

    def loop(x: float) -> float:
        return stand_in(x)

    before = contents(loop)

    @overload(stand_in)
    def _stand_in(x: Any) -> Any:
        return lambda x: 2.0 * x

    assert contents(loop) != before


def test_types_of_arguments_count_with_the_functions_among_them():
    def one(factor: float) -> Any:
        @njit
        def passed(x: float) -> float:
            return factor * x

        return passed

    passed = [one(factor) for factor in (1.0, 1.0, 2.0)]
    first, same, other = map(types.Dispatcher, passed)
    assert contents_of_types((first,)) == contents_of_types((same,)) != contents_of_types((other,))
    assert contents_of_types((types.float64,)) != contents_of_types((types.int64,))


def test_what_cannot_be_described_is_refused_by_name():
    unseen = memoryview(b"abc")

    def whole() -> int:
        return len(unseen)

    with pytest.raises(Indescribable, match=r"memoryview.*'unseen' in .*whole"):
        contents(whole)


def test_arrays_are_known_by_their_numbers_shape_and_order():
    square = np.arange(4.0).reshape(2, 2)
    arrays = [square, square.T, square.ravel(), square.astype(np.float32), np.asfortranarray(square), square + 1.0]
    found = set()
    for array in arrays:
        table = array

        def whole() -> Any:
            return table  # noqa: B023

        found.add(contents(whole, remember=False))
    assert len(found) == len(arrays)
