"""A model as data is read whole: a part that nobody knows, or that is not there, is named and nothing is left out in silence."""

import sys

import pytest

from components import Load, Rod
from modular import Assembly, ModelError
from modular.allowed import function_named


def data():
    model = Assembly(gravity=(0.0, -9.81), title="a rod")
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.0), 1.0))
    model.apply("push", Load((1.0, 0.0)), "rod.end")
    return model.to_data()


@pytest.mark.parametrize(
    ("written", "meant"), [("force", "forces"), ("evnts", "events"), ("titel", "title"), ("Bodies", "bodies")]
)
def test_a_part_that_nobody_knows_is_refused_with_what_was_meant(written, meant):
    with pytest.raises(ModelError, match=f"no part '{written}'; did you mean '{meant}'"):
        Assembly.from_data({**data(), written: {}})


@pytest.mark.parametrize("part", ["gravity", "bodies", "joints", "forces", "events"])
def test_a_part_that_is_not_there_is_named(part):
    lacking = data()
    del lacking[part]
    with pytest.raises(ModelError, match=f"has no '{part}'; it needs gravity, "):
        Assembly.from_data(lacking)


def test_what_was_written_is_read_back():
    assert Assembly.from_data(data()).to_data() == data()


def test_gravity_beyond_all_reach_is_refused():
    with pytest.raises(ModelError, match=r"gravity = \(0.0, -1e\+300\) is too large"):
        Assembly(gravity=(0.0, -1e300))


def test_a_module_that_is_not_found_is_told_where_it_is_looked_for(tmp_path, monkeypatch):
    """Not beside where one stands: a file there could take the place of another."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "laws_of_mine.py").write_text("def push(t):\n    return (1.0, 0.0)\n")
    monkeypatch.setattr("sys.path", [place for place in sys.path if place not in ("", str(tmp_path))])
    monkeypatch.setattr("modular.allowed._check", lambda *_: None)
    with pytest.raises(ModelError, match=r"No module named 'laws_of_mine'.* not the current folder: .* PYTHONPATH"):
        function_named("laws_of_mine:push", "law")
