"""Model files on the command line: begun, run, changed, turned into one another, and refused in words."""

import json
from pathlib import Path

import pytest

import scenarios
from coordinator import Run
from typed_commands import modular, run
from urdf_arm import ARM

pytestmark = pytest.mark.usefixtures("elsewhere")


def test_a_four_bar_begins_runs_and_takes_parameters():
    assert modular("new", "four-bar.toml").exit_code == 0  # people name the file that they want
    text = Path("four-bar.toml").read_text(encoding="utf-8")
    assert "modular run four-bar.toml" in text and "FILE" not in text
    again = modular("new", "four-bar")
    assert again.exit_code == 2 and "is there already" in again.stderr
    assert Path("four-bar.toml").read_text(encoding="utf-8") == text
    assert run("four-bar.toml", "--out", "one").exit_code == 0
    assert run("four-bar.toml", "--set", "crank=50 * mm", "--set", "density=1", "--out", "other").exit_code == 0
    lengths = [Run.load(folder).assembly().bodies["crank"] for folder in ("one", "other")]
    assert [body.total_mass for body in lengths] == pytest.approx([0.2, 0.05])
    refused = run("four-bar.toml", "--set", "crnk=0.12")
    assert refused.exit_code == 2 and "did you mean 'crank'" in refused.stderr


def test_the_files_to_begin_with_are_listed_and_names_that_are_none_refused():
    listed = modular("new", "--list")
    assert listed.exit_code == 0 and "four-bar" in listed.stdout and "chain" in listed.stdout
    for words, said in (
        (("new",), "four-bar"),
        (("new", "fourbar"), "did you mean 'four-bar'"),
        (("new", "arm", "arm.py"), ".toml"),
        (("new", "arm", "no/arm.toml"), "cannot be written"),
    ):
        result = modular(*words)
        assert result.exit_code == 2 and said in result.stderr, words


@pytest.mark.parametrize("verb", ["check", "draw", "mobility", "assemble"])
def test_every_verb_takes_a_model_file(verb):
    modular("new", "pendulum", "model.toml")
    assert modular(verb, "model.toml", "--set", "length=0.3").exit_code == 0


def test_a_robot_becomes_a_model_file_and_that_another():
    Path("arm.urdf").write_text(ARM, encoding="utf-8")
    for words in (("arm.urdf", "-o", "arm.toml"), ("arm.toml", "-o", "arm.json"), ("arm.json", "-o", "again.toml")):
        assert modular("import", *words).exit_code == 0, words
    assert Path("arm.toml").read_text(encoding="utf-8") == Path("again.toml").read_text(encoding="utf-8")
    assert scenarios.load("arm.json").to_data() == scenarios.load("arm.toml").to_data()
    for words, said in (
        (("arm.toml", "--strict"), "leave it out"),
        (("arm.toml", "-o", "arm.toml"), "the file that is read"),
        (("arm.toml", "-o", "arm.txt"), ".toml or .json"),
    ):
        result = modular("import", *words)
        assert result.exit_code == 2 and said in result.stderr, words


def test_what_is_wrong_in_a_file_is_one_sentence_with_its_line():
    Path("model.toml").write_text('[bodies.rod]\nkind = "Rood"\n', encoding="utf-8")
    result = run("model.toml")
    assert (
        result.exit_code == 2
        and "model.toml:2: bodies.rod.kind" in result.stderr
        and "did you mean 'Rod'" in result.stderr
    )
    assert "Traceback" not in result.stderr
    assert run("modle.toml").stderr.strip().endswith("did you mean 'model.toml'?")


def test_what_goes_wrong_later_is_told_with_the_line_too():
    """A joint that is open is found when the model is put together, not when it is read."""
    modular("new", "four-bar")
    text = Path("four-bar.toml").read_text(encoding="utf-8")
    open_one = text[: text.index("\n[assemble]")]
    Path("open.toml").write_text(open_one, encoding="utf-8")
    line = open_one.split("\n").index("[joints.top]") + 1
    result = run("open.toml")
    assert result.exit_code == 2 and result.stderr.startswith(f"open.toml:{line}: joint 'top'")
    other = run("four-bar", "--set", "rough=true")  # a model that is no file
    assert other.exit_code == 2 and "open.toml" not in other.stderr and "joint 'top'" in other.stderr


def test_the_schema_is_json_and_holds_what_there_is():
    printed = modular("schema")
    assert printed.exit_code == 0 and modular("schema", "--out", "model.schema.json").exit_code == 0
    assert json.loads(printed.stdout) == json.loads(Path("model.schema.json").read_text(encoding="utf-8"))
    assert '"Revolute"' in printed.stdout and '"SpringDamper"' in printed.stdout
    assert modular("schema", "--out", "no/model.schema.json").exit_code == 2


def test_a_model_is_not_saved_as_json_under_the_name_of_toml():
    with pytest.raises(ValueError, match=r"ends in .json"):
        scenarios.load("four-bar").save("four-bar.toml")


def test_a_model_is_exported_for_other_programs_and_what_they_do_not_get_is_told():
    written = modular("export", "four-bar", "--set", "crank=0.12", "--out", "four-bar.xml")
    assert written.exit_code == 0 and Path("four-bar.xml").read_text(encoding="utf-8").startswith("<mujoco")
    told = modular("export", "double-pendulum", "--out", "pendulum.urdf")
    assert told.exit_code == 0 and "dropped: gravity" in told.stdout and Path("pendulum.urdf").is_file()
    for words, said in (
        (("export", "four-bar", "--out", "four-bar.xml"), "is there already"),
        (("export", "double-pendulum", "--out", "b.urdf", "--strict"), "--strict"),
        (("export", "slider-crank", "--out", "b.xml"), "joint 'slide'"),
        (("export", "no-such", "--out", "b.xml"), "there is no scenario"),
        (("export", "four-bar", "--out", "no/b.xml"), "there is no folder"),
    ):
        result = modular(*words)
        assert result.exit_code == 2 and said in result.stderr, words
