"""Checkpoints of earlier versions name the verbs of their tables as those versions did."""

import pytest

import components as zoo
from components.joints.spherical import POINTS
from modular.elements import Elements
from modular.former_names import FORMER_VERBS
from modular.gluing import equip
from modular.joints import Joints
from modular.tables_as_data import described, revived


def empty(kind):
    """A table of some kind, as a simulation makes it."""
    if kind == "joints":
        return Joints(POINTS[3], 3)
    if kind == "elements":
        return Elements(3)
    if kind == "contact":
        return zoo.Contact.example().new_stack(3)
    return getattr(zoo, kind).example().new_stack()


@pytest.mark.parametrize("kind", ["joints", "elements", "contact", "RigidBody", "NewtonEulerBody", "LedBody"])
def test_a_table_with_former_names_of_its_verbs_has_the_loops_of_now(kind):
    table = empty(kind)
    if kind == "joints":
        equip(table)  # a coupling adds loops that a fresh table has not
    former = {new: old for old, news in FORMER_VERBS.items() for new in news}
    data, arrays = described(table)
    loops = data["loops"]
    data["loops"] = {}
    for verb, name in loops.items():
        old = former.get(verb, verb)
        data["loops"][old] = name if old == verb else f"{name.partition(':')[0]}:{old}_loop"
    assert data["loops"] != loops
    assert revived(data, arrays, "file", empty(kind)).loops == table.loops
