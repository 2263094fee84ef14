"""Names: of letters that can be seen, and not too many."""

import json
import unicodedata

import pytest

from components import Load, Revolute, RigidBody, Rod
from coordinator import Run, Simulation
from modular import Assembly, ModelError
from modular.names import MAX_NAME_LENGTH, hidden_in, unfit

BIDIRECTIONAL = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
GOOD = ["a", "bielle-1", "Körper", "стержень", "连杆", "قضيب", "α", "x" * MAX_NAME_LENGTH]
BAD = [
    "a\0b",
    "\x1b[2Jrod",
    "rod\u0085",
    "\ufeffrod",
    "rod\u2028",
    "\ud800",
    "x" * (MAX_NAME_LENGTH + 1),
    *(f"ro{c}d" for c in BIDIRECTIONAL),
]


def test_all_letters_that_cannot_be_seen_are_refused_and_no_others():
    for k in range(0x3000):
        letter = chr(k)
        assert bool(unfit(f"a{letter}")) == (unicodedata.category(letter) in ("Cc", "Cf", "Zl", "Zp")), hex(k)


@pytest.mark.parametrize("name", BAD, ids=range(len(BAD)))
def test_no_part_of_a_model_has_such_a_name(name):
    model = Assembly()
    model.add("rod", Rod((0, 0, 0), (1, 0, 0), mass=1.0))
    box = RigidBody(mass=1.0, inertia=(1, 1, 1), centre=(0, 0, 0), ports={name: (0, 0, 0)})
    for attempt in (
        lambda: model.add(name, Rod((0, 0, 0), (1, 0, 0), mass=1.0)),
        lambda: model.add("box", box),
        lambda: model.join(name, Revolute(axis=(0, 1, 0)), "ground", "rod.start"),
        lambda: model.apply(name, Load((0, 0, 1)), "rod.end"),
        lambda: Simulation(model, 1e-3, workers={name: ["rod"]}, launcher="here"),
    ):
        with pytest.raises(ModelError, match=r"invisible character U|characters; at most 200 are allowed") as error:
            attempt()
        assert str(error.value).isprintable() and len(str(error.value)) < 1000
    assert list(model.bodies) == ["rod"] and not model.joint_edges and not model.force_edges


@pytest.mark.parametrize("name", GOOD)
def test_names_of_all_scripts_are_names(name):
    model = Assembly()
    model.add(name, Rod((0, 0, 0), (1, 0, 0), mass=1.0))
    assert name in Assembly.from_data(model.to_data()).bodies


@pytest.mark.parametrize("hidden", [word for word in BAD if 0 < len(word) <= MAX_NAME_LENGTH and word != "\ud800"])
def test_no_file_brings_letters_that_cannot_be_seen_to_a_terminal(hidden, tmp_path):
    """As the title of a model, in its file, and in what a run says of itself, however JSON writes them."""
    with pytest.raises(ModelError, match=r"title .* invisible character U\+"):
        Assembly(title=hidden)
    model = Assembly(gravity=(0.0, -9.81), title="an honest title")
    model.add("rod", Rod((0.0, 0.0), (1.0, 0.0), 1.0))
    model.save(tmp_path / "model.json")
    with Simulation(model, 1e-3) as simulation:
        simulation.run(2e-3).save(tmp_path / "run")
    files = {
        "model.json": lambda: Assembly.load(tmp_path / "model.json"),
        "run/run.json": lambda: Run.load(tmp_path / "run"),
    }
    for name, load in files.items():
        file = tmp_path / name
        whole = file.read_text(encoding="utf-8")
        for written in (json.dumps(hidden)[1:-1], hidden):
            file.write_text(whole.replace("an honest title", written, 1), encoding="utf-8")
            with pytest.raises(ModelError) as refused:
                load()
            assert str(refused.value).isprintable()
        file.write_text(whole, encoding="utf-8")
        load()


def test_two_halves_of_a_letter_are_one():
    assert hidden_in(json.dumps("😀 Körper")) == "" == hidden_in("😀 Körper\n")
