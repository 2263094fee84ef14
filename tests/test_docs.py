"""What the README and the docs show runs as it stands, and what they point to is there."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pytest

from campaign import FEW, later, more
from waiting import GUARD

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
NOT_RUN = "<!-- not run -->"
ALLOWED_NOT_RUN = 3  # in all pages together: fragments that cannot stand alone
# sessions with many commands or processes, and kinds of one's own with kernels of theirs: the campaign has them
LONG = (
    "tutorial.md", "workers.md", "clusters.md", "benchmarks.md", "extending.md", "gallery.md",
    "kinematics.md", "method.md", "models.md", "modes.md", "ensembles.md", "fmi.md", "assembly.md", "equations.md",
    "pendule-double.md", "mobility.md", "compiled.md", "centralized.md", "multicorps2d.md", "statics.md", "results.md",
    "parametrage-cartesien.md", "checkpoints.md", "glued.md",
)  # fmt: skip


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its language, its lines and the line where they start, from 0."""

    language: str
    lines: tuple[str, ...]
    start: int
    run: bool


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page in order."""
    found: list[Block] = []
    fence, indent, language, start, run = "", 0, "", 0, True
    lines = text.splitlines()
    for k, line in enumerate(lines):
        mark = re.match(r"( *)(`{3,}|~{3,})\s*(\w*)", line)
        if mark and not fence:
            before = [above.strip() for above in lines[:k] if above.strip()]
            indent, fence, language, start = len(mark[1]), mark[2], mark[3], k + 1
            run = before[-1:] != [NOT_RUN]
        elif fence and line.strip() == fence:
            found.append(Block(language, tuple(inner[indent:] for inner in lines[start:k]), start, run))
            fence = ""
    assert not fence, f"a block opened at line {start} is never closed"
    return found


def commands(block: Block) -> list[list[str]]:
    """The calls of `modular` in a block of shell lines."""
    lines = "\n".join(block.lines).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines if line.startswith("modular ")]


def links(text: str) -> list[str]:
    """Files that a page points to, without their anchors; code is no link."""
    lines = text.splitlines()
    for block in blocks(text):
        lines[block.start : block.start + len(block.lines)] = [""] * len(block.lines)
    text = re.sub(r"`[^`\n]*`", "", "\n".join(lines))
    targets = re.findall(r"\]\(\s*<?([^)\s>]+)", text)
    targets += re.findall(r"^\s*\[[^\]]+\]:\s*(\S+)", text, re.MULTILINE)
    targets += re.findall(r"<(?:img|a|source)\b[^>]*?(?:src|srcset|href)=[\"']([^\"']+)", text)
    relative = [t for t in targets if not re.match(r"[a-z][a-z0-9+.-]*:|#|//", t, re.IGNORECASE)]
    return [unquote(target.partition("#")[0]) for target in relative]


def headings(text: str) -> set[str]:
    """The anchors of a page, as they are made of its headings."""
    lines = text.splitlines()
    for block in blocks(text):
        lines[block.start : block.start + len(block.lines)] = [""] * len(block.lines)
    found = [
        re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line.lstrip("#").strip()) for line in lines if re.match(r"#+ ", line)
    ]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in found}


def anchors(text: str) -> list[tuple[str, str]]:
    """Headings that a page points to: the page that has them, or nothing for itself, and the anchor."""
    text = re.sub(r"`[^`\n]*`", "", text)
    return re.findall(r"\]\((?!\w+:)([^)\s#]*)#([^)\s]+)\)", text)


Call = Callable[[list[str], Path], None]


def run_page(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, call: Call) -> None:
    """Execute the Python blocks and the `modular` commands of a page in order, in a folder of its own.

    Its Python blocks share one module, backed by a file whose lines are those of the page: tracebacks point
    to the right place, and what needs a source file (kernels, dataclasses) finds one.
    """
    text = page.read_text(encoding="utf-8")
    shown = [block for block in blocks(text) if block.run]
    module = types.ModuleType("page_" + re.sub(r"\W", "_", page.stem))
    file = folder / f"{module.__name__}.py"
    module.__file__ = str(file)
    source = [""] * len(text.splitlines())
    for block in shown:
        if block.language == "python":
            source[block.start : block.start + len(block.lines)] = block.lines
    file.write_text("\n".join(source) + "\n", encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for block in shown:
        if block.language == "python":
            code = "\n" * block.start + "\n".join(block.lines)
            exec(compile(code, str(file), "exec", dont_inherit=True), module.__dict__)
        elif block.language == "bash":
            for command in commands(block):
                call(command, folder)


def call_here(command: list[str], folder: Path) -> None:
    """Run a command in this process, which has imported everything already."""
    from command_line import CliRunner
    from scenarios.cli import app

    result = CliRunner().invoke(app, command[1:])
    assert result.exit_code == 0, f"{shlex.join(command)}\n{result.output}"


def call(command: list[str], folder: Path) -> None:
    """Run the command line that is installed beside this interpreter."""
    script = shutil.which(command[0], path=str(Path(sys.executable).parent))
    assert script is not None, f"'{command[0]}' is not installed beside {sys.executable}; run pip install -e '.[test]'"
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    result = subprocess.run(
        [script, *command[1:]],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=GUARD,
        check=False,
    )
    assert result.returncode == 0, f"{shlex.join(command)}\n{result.stdout}{result.stderr}"


def understood(command: list[str]) -> None:
    """Read a command as the command line does, without doing what it says."""
    from typer.main import get_command

    from scenarios.cli import app

    found, name, words = get_command(app), *command[:1], command[1:]
    while hasattr(found, "commands"):
        name, *words = words
        assert name in found.commands, f"there is no command '{name}'"
        found = found.commands[name]
    found.make_context(name, words)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_what_a_page_shows_is_python_and_what_the_command_line_understands(page: Path):
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.run and block.language == "python":
            compile("\n".join(block.lines), str(page), "exec")
        for command in commands(block) if block.run and block.language == "bash" else ():
            understood(command)


def test_a_command_that_is_not_understood_is_named():
    with pytest.raises(AssertionError, match="no command 'rum'"):
        understood(["modular", "rum", "chain"])
    with pytest.raises(Exception, match="--unti"):
        understood(["modular", "run", "chain", "--unti", "0.1"])


@pytest.mark.parametrize(
    ("page", "call"),
    [
        *((page, call_here) for page in PAGES if page.name not in LONG),
        *later(((page, call_here if FEW == 1 else call) for page in PAGES if page.name in LONG), least=len(LONG)),
        *more((page, call) for page in PAGES if page.name not in LONG),
    ],
    ids=lambda value: value.relative_to(ROOT).as_posix() if isinstance(value, Path) else value.__name__,
)
def test_a_page_runs_as_it_stands(page: Path, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    if page.name == "clusters.md":
        pytest.importorskip("distributed")
        if shutil.which("ssh") is None:
            pytest.skip("there is no ssh")
    import matplotlib.pyplot as plt

    plt.switch_backend("Agg")
    run_page(page, tmp_path, monkeypatch, call)
    plt.close("all")


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_what_a_page_points_to_is_there(page: Path):
    missing = [target for target in links(page.read_text(encoding="utf-8")) if not (page.parent / target).exists()]
    assert missing == []


def test_the_index_points_to_every_page():
    index = ROOT / "docs" / "index.md"
    told = {(index.parent / target).resolve() for target in links(index.read_text(encoding="utf-8"))}
    assert [
        name for page, name in zip(PAGES, NAMES, strict=True) if page not in told | {index, ROOT / "README.md"}
    ] == []


def test_few_blocks_are_not_run():
    skipped = [
        f"{name}:{block.start}"
        for page, name in zip(PAGES, NAMES, strict=True)
        for block in blocks(page.read_text(encoding="utf-8"))
        if not block.run
    ]
    assert len(skipped) <= ALLOWED_NOT_RUN, skipped


def test_the_readme_shows_the_two_commands_and_a_script():
    shown = blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    shell = [block.lines for block in shown if block.language == "bash"]
    assert ("python -m pip install -e '.[test]' && python -m pytest",) in shell
    assert ("python -m pip install . && modular run double-pendulum",) in shell
    assert any(block.language == "python" and block.run for block in shown)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_anchor_leads_to_a_heading(page: Path):
    text = page.read_text(encoding="utf-8")
    for target, anchor in anchors(text):
        there = (page.parent / unquote(target)).read_text(encoding="utf-8") if target else text
        assert anchor in headings(there), f"{target}#{anchor}"


# --- the readers of pages themselves ------------------------------------------------------------------------

SAMPLE = """\
# Title

```python
x = 1
```

<!-- not run -->

```python
x = undefined  # [no](link.md)
```

1. In a list:

   ~~~bash
   modular list
   pip install nothing
   modular run chain --set "bodies=3" \\
       --until 0.1   # short
   ~~~

See [here](there.md#part), ![picture](<a%20b.png>), [out](https://example.org/x.md), [up](#title),
`[not](code.md)`, <img src="c.gif" alt="">, [ref].

[ref]: ../d.md
"""


def test_blocks_are_found_with_their_place_and_language():
    first, second, third = blocks(SAMPLE)
    assert first == Block("python", ("x = 1",), 3, True)
    assert (second.run, second.start) == (False, 9)
    assert (third.language, third.run, third.start) == ("bash", True, 15)


def test_only_calls_of_modular_are_run_and_they_read_as_a_shell_would():
    calls = commands(blocks(SAMPLE)[2])
    assert calls == [["modular", "list"], ["modular", "run", "chain", "--set", "bodies=3", "--until", "0.1"]]


def test_links_to_files_are_found_and_others_left_alone():
    assert links(SAMPLE) == ["there.md", "a b.png", "../d.md", "c.gif"]


def test_a_block_that_is_never_closed_is_refused():
    with pytest.raises(AssertionError, match="line 1 is never closed"):
        blocks("```python\nx = 1\n")


def test_a_page_that_does_not_run_fails_at_its_own_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    page = tmp_path / "wrong.md"
    page.write_text("```python\nx = 1\n```\n\nand then\n\n```python\ny = x / 0\n```\n", encoding="utf-8")
    with pytest.raises(ZeroDivisionError) as caught:
        run_page(page, tmp_path, monkeypatch, call)
    assert caught.traceback[-1].lineno == 7
    assert str(caught.traceback[-1].statement).strip() == "y = x / 0"


def test_a_command_that_fails_is_shown_with_what_it_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    page = tmp_path / "wrong.md"
    page.write_text("```bash\nmodular run no-such-scenario\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="modular run no-such-scenario"):
        run_page(page, tmp_path, monkeypatch, call)


def test_blocks_of_a_page_share_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    page = tmp_path / "shared.md"
    page.write_text(
        "```python\nfrom dataclasses import dataclass\n@dataclass\nclass A:\n    x: 'int'\n```\n"
        "```python\nfrom pathlib import Path\nPath('seen').write_text(str(A(3).x))\n```\n",
        encoding="utf-8",
    )
    run_page(page, tmp_path, monkeypatch, call)
    assert (tmp_path / "seen").read_text() == "3"


def test_bounds_of_the_package_are_the_oldest_versions_that_were_tried():
    """numba is bounded above too: by the next version after the newest that was tried."""
    told = re.findall(
        r"^\| ([a-z]+) \| ([0-9.]+) \| ([0-9.]+) \|$",
        (ROOT / "docs" / "installing.md").read_text("utf-8"),
        re.MULTILINE,
    )
    tried = {name: (oldest, newest) for name, oldest, newest in told}
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    assert set(tried) == {re.match("[a-z]+", need)[0] for need in needs}
    for need in needs:
        name, low, high = re.fullmatch(r"([a-z]+)>=([0-9.]+)(?:,<([0-9.]+))?", need).groups()
        oldest, newest = ([int(k) for k in version.split(".")] for version in tried[name])
        bound = [int(k) for k in low.split(".")]
        assert oldest[: len(bound)] == bound and not any(oldest[len(bound) :]), need
        if high is not None:
            assert [newest[0], newest[1] + 1] == [int(k) for k in high.split(".")], need
