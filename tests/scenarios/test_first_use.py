"""What one sees on first use: a line with the number of kernels and one at the end; on a terminal the bar that is there says it."""

import re
from io import StringIO

import pytest
from rich.console import Console

from modular import first_use
from scenarios.comparison.progress import watching
from scenarios.report.first_use import BAR, compiling
from scenarios.report.progress import measuring, watched
from scenarios.study.progress import counted


def compile_one(name="slender_rod_loop", ready=3, sight=40):
    for listener in list(first_use._listeners):
        listener(name, ready, sight)


def terminal():
    return Console(file=StringIO(), force_terminal=True, width=120)


@pytest.mark.parametrize("bar", [True, False])
def test_without_a_terminal_there_is_a_line_at_the_beginning_and_one_at_the_end(bar, capsys):
    with compiling(Console(file=StringIO()), bar=bar):
        for ready in range(3, 6):
            compile_one(ready=ready)
        first_use.finish()
        first_use.finish()
        began, ended = capsys.readouterr().err.splitlines()
        assert ": compiling up to 37 kernels" in began and ended == "compiled in 0 s"
    assert capsys.readouterr().err == ""
    with compiling(Console(file=StringIO()), bar=bar):
        compile_one()
    assert len(capsys.readouterr().err.splitlines()) == 2  # it ends at the latest with what had to wait for it
    with compiling(Console(file=StringIO()), bar=bar):
        first_use.finish()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "bar",
    [
        watching, lambda console: counted(console, []), lambda console: watched(console, 1.0),
        lambda console: measuring(console, 1.0, 1e-3),
    ],
    ids=["compare", "study", "run", "verify"],
)  # fmt: skip
def test_on_a_terminal_the_bar_that_is_there_says_what_is_compiled(bar, capsys):
    console = terminal()
    with compiling(console, bar=False), bar(console):
        compile_one()
    assert "compiling slender rod (3 of 40 loops)" in console.file.getvalue()
    assert capsys.readouterr().err == "" and not first_use._listeners


@pytest.mark.parametrize("width", [80, 132])
@pytest.mark.parametrize(("name", "ready", "sight"), [("spare_implicit_rows_loop", 0, 0), ("show_one", 140, 150)])
def test_the_bar_keeps_its_length_and_its_words_their_line(name, ready, sight, width, monkeypatch):
    shown = StringIO()
    monkeypatch.setattr("rich.console.Console", lambda **_: Console(file=shown, force_terminal=True, width=width))
    with compiling(Console(file=StringIO(), force_terminal=True)):
        compile_one(name, ready, sight)
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.getvalue()).split("\r")[1].rstrip("\n")
    assert len(drawn) <= width and len(re.findall("[━╸╺]", drawn)) == BAR
    assert ("140 of 150 loops" in drawn) == bool(sight) and "0 of 0" not in drawn and "…" not in drawn
    assert name.removesuffix("_loop").replace("_", " ")[:4] in drawn
