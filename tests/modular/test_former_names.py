"""A kind that has a method of a contract under its former name is refused: nobody would call it, in silence."""

from dataclasses import dataclass

import pytest

from components import Rod
from modular import ModelError
from modular.force import Force
from modular.forces import ForceStack
from modular.former_names import FORMER
from modular.stack import Stack


def test_a_force_that_tells_what_it_asks_by_the_former_name_is_refused():
    with pytest.raises(ModelError, match=r"Old: 'request_load' is called 'request_demand' now"):

        class Old(Force):
            def request_load(self, elements, dt):
                """Never called."""


def test_a_loop_by_a_former_name_is_refused_before_anything_moves():
    stack = Stack()
    stack.loops = {"request_load": None}
    with pytest.raises(ModelError, match="'request_load' is called 'request_demand' now"):
        stack.view  # noqa: B018


@pytest.mark.parametrize("name", FORMER)
def test_nobody_here_has_a_former_name(name):
    with pytest.raises(ModelError, match=f"is called '{FORMER[name]}' now"):
        type("Old", (ForceStack,), {name: lambda self: None})


def test_a_field_of_a_description_may_be_called_what_it_likes():
    @dataclass(frozen=True)
    class Bought(Rod):
        company: str = "nobody"

    assert Bought((0.0, 0.0), (1.0, 0.0), mass=1.0).company == "nobody"
