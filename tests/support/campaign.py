"""What runs in the long form only, `python -m pytest -m campaign`, and how long that form is.

Every law holds in the short form too, with its first cases; long tails of seeds, whole products of parameters and long runs
are the campaign's. MODULAR_CAMPAIGN_CASES=10 makes a thirtieth of it: few seeds, of every product a few that are evenly
spread over it, and of long runs their beginnings; what has no beginning that says anything waits for a whole campaign. With
MODULAR_CAMPAIGN_CASES=1, as CI has it, what is in the short form of a law is not followed by more of the same kind.
A test that is the campaign's as a whole says what it is: `campaign("more")` of what a shorter one asks already, `campaign("whole")`
of what has no beginning that says anything. A test with many cases says how many of them its short form has: `short(2)`, evenly
spread over all; the others are the campaign's, and more of what has been asked. Where each asks something else, the shortest
campaign has them too: `short(2, each=True)`.
"""

import itertools
import os

import pytest

WHOLE = 300
CASES = int(os.environ.get("MODULAR_CAMPAIGN_CASES", str(WHOLE)))
FEW = min(4, CASES)  # of every product, at least
asked_for = True  # False where this session leaves the campaign out, so that its cases need not be collected either


@pytest.hookimpl(tryfirst=True)  # before pytest chooses by markers
def pytest_collection_modifyitems(config, items):
    """What the short form of a test has not is the campaign's; what a campaign as short as this one has not is left out."""
    keep_short(items)
    absent = {"more"} if CASES == 1 else set()
    absent |= {"whole"} if CASES < WHOLE else set()
    left_out = [item for item in items if any(absent.intersection(mark.args) for mark in item.iter_markers("campaign"))]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def keep_short(items):
    """Of the cases of a test that says so, `short(2)`, mark those as the campaign's that are not among so many."""
    cases = {}
    for item in items:
        if item.get_closest_marker("short") and not item.get_closest_marker("campaign"):
            cases.setdefault(item.nodeid.split("[")[0], []).append(item)
    for of_one in cases.values():
        short = of_one[0].get_closest_marker("short")
        kept = evenly(of_one, short.args[0])
        others = pytest.mark.campaign if short.kwargs.get("each") else pytest.mark.campaign("more")
        for item in of_one:
            if item not in kept:
                item.add_marker(others)


def evenly(items, count):
    """So many of a list, evenly spread, the first of them always."""
    count = min(count, len(items))
    return [items[round(k * (len(items) - 1) / max(1, count - 1))] for k in range(count)]


def some(count):
    """So many of `count` cases of the campaign, one at least."""
    return 1 if not asked_for else max(1, round(count * min(1.0, CASES / WHOLE)))


def as_far_as(whole, short):
    """How far something goes: in a whole campaign, and where it is short."""
    return whole if CASES >= WHOLE else short


def whole(items):
    """Cases for `pytest.mark.parametrize` that only a whole campaign has."""
    return later(items, least=len(items)) if CASES >= WHOLE else []


def spread(items, least=8):
    """So many of a list, evenly spread, `least` of them at least."""
    items = list(items)
    return evenly(items, max(least, some(len(items))))


def later(items, least=FEW):
    """Cases for `pytest.mark.parametrize` that are the campaign's, several values as a tuple; `spread` where it is short."""
    if not asked_for:
        return []
    cases = [item if isinstance(item, tuple) else (item,) for item in spread(items, least)]
    return [pytest.param(*case, marks=pytest.mark.campaign) for case in cases]


def more(items, least=FEW):
    """`later` of what goes on where the short form of a law has stopped."""
    return later(items, least) if CASES > 1 else []


def first_of(count, items, least=FEW):
    """All of a list: so many of them always, those that follow in the campaign."""
    items = list(items)
    return [*items[:count], *more(items[count:], least)]


def shortened(chosen, items, least=FEW):
    """All of a list: those that are chosen always, the others in the campaign."""
    items, chosen = list(items), list(chosen)
    assert all(item in items for item in chosen), "what is chosen has to be there"
    return [*chosen, *more([item for item in items if item not in chosen], least)]


def each_once(*values, least=FEW):
    """Cases of several parameters: every value of each of them once, and in the campaign the rest of their product.

    A tuple among the values stands for several parameters that go together.
    """
    values = [list(some_of) for some_of in values]
    count = max(map(len, values))
    diagonal = [tuple(k % len(some_of) for some_of in values) for k in range(count)]
    rest = [place for place in itertools.product(*(range(len(some_of)) for some_of in values)) if place not in diagonal]

    def case(place):
        found = (some_of[k] for some_of, k in zip(values, place, strict=True))
        return tuple(itertools.chain.from_iterable(one if isinstance(one, tuple) else (one,) for one in found))

    return [*map(case, diagonal), *more(map(case, rest), least)]


def named(value):
    """How a parameter is called in the name of a test: couplings and classes by their own."""
    if isinstance(value, str | int | float):
        return None
    name = getattr(value, "__name__", None) or repr(value)
    return name if len(name) < 50 else type(value).__name__
