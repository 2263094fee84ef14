"""The command `modular equations`: pages that are read, and what is in their way."""

import importlib.util

import pytest
from typer.testing import CliRunner

from coordinator.equations import need_sympy
from modular import ModelError
from scenarios.cli import app
from scenarios.commands import equations as command


def typed(*words):
    return CliRunner().invoke(app, ["equations", *words], catch_exceptions=True)


def test_a_page_is_written_where_it_is_told_to(tmp_path):
    page = tmp_path / "page.tex"
    assert typed("slider-crank", "--out", str(page)).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith(r"\documentclass")
    assert text.endswith("\\end{document}\n")
    assert "Joint slide: PointOnLine" in text
    assert typed("slider-crank", "--out", str(page)).exit_code != 0  # it is there
    assert typed("slider-crank", "--numbers", "--out", str(page), "--overwrite").exit_code == 0
    assert "Parameters" not in page.read_text(encoding="utf-8")
    shown = typed("slider-crank")
    assert "## Body crank: PointMassRod" in shown.stdout


@pytest.mark.campaign
def test_lagranges_equations_and_efforts_are_added_where_asked(tmp_path):
    page = tmp_path / "page.md"
    words = ("slider-crank", "--lagrange", "--efforts", "elbow", "--out", str(page))
    assert typed(*words).exit_code == 0
    text = page.read_text(encoding="utf-8")
    assert "## Lagrange's equations" in text
    assert r"q &= (\theta^{\mathrm{pivot}},\ \theta^{\mathrm{elbow}})^{T}" in text
    assert "M_{1,2} &=" in text
    assert "## Efforts of elbow" in text
    assert "F_{x} &=" in text
    assert "modular equations" not in typed("slider-crank", "--efforts", "knee").stdout
    refused = typed("slider-crank", "--lagrange", "--out", str(tmp_path / "model.c"))
    assert refused.exit_code != 0
    assert not (tmp_path / "model.c").exists()


def test_source_code_is_written_where_it_is_told_to(tmp_path):
    source = tmp_path / "model.c"
    assert typed("slider-crank", "--out", str(source)).exit_code == 0
    assert "void accelerate(double t" in source.read_text(encoding="utf-8")


def test_pages_of_no_kind_and_without_an_engine_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command.shutil, "which", lambda name: None)
    for name, word in (("page.doc", ".tex"), ("page.pdf", "pdflatex")):
        with pytest.raises(ModelError, match=word):
            command._check(tmp_path / name, overwrite=False)


def test_where_sympy_is_missing_one_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("coordinator.equations.find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"pip install 'modular-multibody\[symbolic\]'"):
        need_sympy("equations")


def test_the_core_does_without_sympy():
    """Nothing but the room of formulas imports it, and that when it is asked."""
    import subprocess
    import sys

    code = "import sys, scenarios.cli, coordinator.equations; assert 'sympy' not in sys.modules"
    assert importlib.util.find_spec("sympy") is not None
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
