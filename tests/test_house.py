"""The rules of the house, read from the sources: who may import whom, and what no file may do."""

import ast
import gc
import importlib
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from pathlib import Path

import pytest

import components
import coordinator
import scenarios.systems
from components import ELSEWHERE
from modular import Assembly, Component, __version__
from modular.body import Body
from modular.force import Force
from modular.joint import Joint
from scenarios import catalogue
from waiting import GUARD

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("modular", "components", "coordinator", "scenarios")
SOURCES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
HOME_OF_ZEROMQ = "coordinator/distributed/transports/"
PICKLERS = {"pickle", "cPickle", "_pickle", "cloudpickle", "dill", "shelve", "marshal", "joblib"}
COMPILERS = ("jit", "njit", "cfunc", "vectorize", "guvectorize")
BLAS = {"dot", "vdot", "inner", "matmul", "einsum", "tensordot", "kron", "linalg"}

LONG, WIDE = 100, 12  # lines of a function, and its parameters: beyond, it is two ideas
MAX_FILE_LINES = 450  # lines of a file
COMMAND = "each parameter is an option of a command, declared with its help"
TWO_IDEAS = {  # and why they stay
    "components/bodies/natural/kernels.py:solve_locally": "Python calls it as well, for one body alone, and hands over arrays",
    "components/bodies/loops/substeps.py:in_steps": "kernels inside it are made from those it is given",
    "coordinator/engine/driver.py:drive": "Python hands over, once for many ticks, what a thread needs",
    "coordinator/distributed/workers/driver.py:drive_shard": "the same for a worker",
    "coordinator/distributed/workers/driver.py:swap": "what a worker's part of a tick hands on",
    "scenarios/commands/run.py:run": COMMAND,
    "scenarios/commands/export_fmu.py:export_fmu": COMMAND,
    "scenarios/commands/modes.py:modes": COMMAND,
    "scenarios/commands/study.py:study": COMMAND,
}

Rule = Callable[[str, str], list[str]]  # (path inside the project, source) -> offences


# --- the rules, each from one source text to its offences ---------------------------------------------------


def relative_imports(path: str, source: str) -> list[str]:
    nodes = [n for n in nodes_of(source, ast.ImportFrom) if n.level]
    return [f"{path}:{n.lineno}: relative import; write the whole path" for n in nodes]


def stray_zeromq(path: str, source: str) -> list[str]:
    if path.startswith(HOME_OF_ZEROMQ):
        return []
    return [
        f"{path}:{line}: ZeroMQ is known to {HOME_OF_ZEROMQ} only"
        for line, name in imported(source)
        if top(name) == "zmq"
    ]


def pickling(path: str, source: str) -> list[str]:
    """Kernels that Python calls have numba's own form, which is a pickle: one file reads it, after its checksum and its owner."""
    known = ["pickle"] if path == "modular/kept_code.py" else []
    found = [(line, name) for line, name in imported(source) if top(name) in PICKLERS and name not in known]
    for word in nodes_of(source, ast.keyword) if says(source, "allow_pickle") else ():
        if word.arg == "allow_pickle" and not is_false(word.value):
            found.append((word.value.lineno, "allow_pickle"))
    for node in nodes_of(source, ast.Attribute) if says(source, "_pickle") else ():
        if node.attr in ("read_pickle", "to_pickle"):
            found.append((node.lineno, node.attr))
    return [f"{path}:{line}: {name}; files and messages carry data only" for line, name in found]


def naming_of_components(path: str, source: str) -> list[str]:
    """Even as text: the coordinator finds components by their contract, never by name."""
    if not path.startswith("coordinator/") or not says(source, "components"):
        return []
    prose = {id(n.value) for n in nodes_of(source, ast.Expr)}
    texts = [(n, n.value) for n in nodes_of(source, ast.Constant) if isinstance(n.value, str) and id(n) not in prose]
    named = [(n.lineno, text) for n, text in texts if re.match(r"components($|[.:])", text)]
    named += [(line, name) for line, name in imported(source) if top(name) == "components"]
    return [f"{path}:{line}: names {name!r}; the coordinator knows no component" for line, name in named]


def library_calls_in_kernels(path: str, source: str) -> list[str]:
    offences, lines = [], source.splitlines()
    for function in kernels(source):
        said = "\n".join(lines[function.lineno - 1 : function.end_lineno])
        for node in ast.walk(function) if says(said, "@", *BLAS) else ():
            if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.MatMult):
                offences.append(f"{path}:{node.lineno}: @ in kernel '{function.name}'; BLAS rounds as it likes")
            elif isinstance(node, ast.Attribute) and node.attr in BLAS:
                offences.append(
                    f"{path}:{node.lineno}: {node.attr} in kernel '{function.name}'; BLAS rounds as it likes"
                )
    return offences


def private_compilers(path: str, source: str) -> list[str]:
    """One decorator sets the options of the compiler; reassociated sums would depend on the machine."""
    offences: list[str] = []
    if not says(source, *COMPILERS, "fastmath"):
        return offences
    words = [word.value for word in nodes_of(source, ast.keyword) if word.arg == "fastmath"]
    said = [node for node in nodes_of(source, ast.Constant) if node.value == "fastmath"]
    for value in [*(value for value in words if not is_false(value)), *said]:
        offences.append(f"{path}:{value.lineno}: fastmath; results would depend on the machine")
    names = [(node.lineno, node.name) for node in nodes_of(source, ast.alias)]
    names += [(node.lineno, name_of(node)) for kind in (ast.Attribute, ast.Name) for node in nodes_of(source, kind)]
    for line, name in names:
        if name in COMPILERS and path != "modular/kernel.py":
            offences.append(f"{path}:{line}: {name}; compile with modular.kernel.kernel")
    return offences


def silent_modules(path: str, source: str) -> list[str]:
    return [] if ast.get_docstring(tree_of(source)) else [f"{path}: says nothing about itself; give it a docstring"]


def functions_of_two_ideas(path: str, source: str) -> list[str]:
    """Numba takes more than twice as long for a function that is twice as long, and so do people."""
    found = []
    for function in (*nodes_of(source, ast.FunctionDef), *nodes_of(source, ast.AsyncFunctionDef)):
        lines, wide = function.end_lineno - function.lineno + 1, len(parameters(function))
        if (lines > LONG or wide > WIDE) and f"{path}:{function.name}" not in TWO_IDEAS:
            found.append(
                f"{path}:{function.lineno}: '{function.name}' has {lines} lines and {wide} parameters; divide it "
                f"({LONG} lines, {WIDE} parameters; modular/workspaces.py hands on many blocks as one)"
            )
    return found


def files_of_two_ideas(path: str, source: str) -> list[str]:
    lines = len(source.splitlines())
    return (
        [f"{path}: {lines} lines; give one of its ideas a file of its own ({MAX_FILE_LINES} lines)"]
        if lines > MAX_FILE_LINES
        else []
    )


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """Those that a caller gives."""
    given = function.args
    every = (*given.posonlyargs, *given.args, given.vararg, *given.kwonlyargs, given.kwarg)
    return [each.arg for each in every if each is not None and each.arg not in ("self", "cls")]


# --- reading sources ----------------------------------------------------------------------------------------


@lru_cache(maxsize=1)  # all rules read one source before the next
def tree_of(source: str) -> ast.Module:
    return ast.parse(source)


@lru_cache(maxsize=1)
def nodes_by_kind(source: str) -> dict[type[ast.AST], list[ast.AST]]:
    found: dict[type[ast.AST], list[ast.AST]] = {}
    for node in ast.walk(tree_of(source)):
        found.setdefault(type(node), []).append(node)
    return found


STATEMENTS = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef)
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


@lru_cache(maxsize=1)
def statements_by_kind(source: str) -> dict[type[ast.AST], list[ast.AST]]:
    """Imports and functions, which are in no expression."""
    found: dict[type[ast.AST], list[ast.AST]] = {}
    left: list[ast.AST] = [tree_of(source)]
    while left:
        node = left.pop()
        found.setdefault(type(node), []).append(node)
        for name in BLOCKS:
            block = getattr(node, name, ())
            left += block if isinstance(block, list) else ()
    return found


def nodes_of(source: str, kind: type[ast.AST]) -> list:
    return (statements_by_kind if kind in STATEMENTS else nodes_by_kind)(source).get(kind, [])


def says(source: str, *words: str) -> bool:
    """Whether one of them is there at all: where none is, no name can be one, and nobody needs to look at all names."""
    return any(word in source for word in words)


def imported(source: str) -> Iterator[tuple[int, str]]:
    """Line and dotted name of everything imported, by statement or by text."""
    for statement in nodes_of(source, ast.Import):
        yield from ((statement.lineno, alias.name) for alias in statement.names)
    for source_of in nodes_of(source, ast.ImportFrom):
        if source_of.module and not source_of.level:
            yield source_of.lineno, source_of.module
    for call in nodes_of(source, ast.Call) if says(source, "import_module", "__import__") else ():
        if name_of(call.func) in ("import_module", "__import__"):
            yield from ((call.lineno, str(a.value)) for a in call.args[:1] if isinstance(a, ast.Constant))


def kernels(source: str) -> list[ast.FunctionDef]:
    return [
        f
        for f in nodes_of(source, ast.FunctionDef)
        if any(name_of(d.func if isinstance(d, ast.Call) else d).endswith(("kernel", "loop")) for d in f.decorator_list)
    ]


def name_of(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def top(name: str) -> str:
    return name.partition(".")[0]


def is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


# --- every rule holds, and would notice ---------------------------------------------------------------------

RULES = [
    (relative_imports, "modular/a.py", ["from . import b", "from ..modular import b"]),
    (
        stray_zeromq,
        "coordinator/worker.py",
        [
            "import zmq",
            "from zmq.asyncio import Context",
            "def f():\n    import zmq as z",
            "__import__('zmq')",
        ],
    ),
    (
        pickling,
        "coordinator/record/run.py",
        [
            "import pickle",
            "from joblib import dump",
            "import shelve",
            "import marshal as m",
            "np.load(f, allow_pickle=True)",
            "np.load(f, allow_pickle=flag)",
            "importlib.import_module('pickle')",
        ],
    ),
    (
        naming_of_components,
        "coordinator/system.py",
        [
            "import components",
            "from components.joints import Fixed",
            "home = 'components:Rod'",
            "load('components.bodies')",
        ],
    ),
    (
        library_calls_in_kernels,
        "components/bodies/a.py",
        [
            "@kernel\ndef f(a, b):\n    return a @ b",
            "@kernel\ndef f(a, b):\n    a @= b",
            "@modular.kernel.kernel\ndef f(a, b):\n    return np.dot(a, b)",
            "@kernel\ndef f(a, b):\n    return a.dot(b)",
            "@kernel\ndef f(a):\n    return np.linalg.solve(a, a)",
        ],
    ),
    (
        private_compilers,
        "components/bodies/a.py",
        [
            "@numba.njit\ndef f():\n    pass",
            "from numba import jit as swift",
            "compile(f, fastmath=True)",
            "options = {'fastmath': True}",
        ],
    ),
    (silent_modules, "modular/a.py", ["", "x = 1", "# only a comment"]),
    (
        functions_of_two_ideas,
        "modular/a.py",
        [
            "def f(x):\n" + LONG * "    x += 1\n",
            f"def f({', '.join(f'x{k}' for k in range(WIDE + 1))}):\n    pass",
            f"class A:\n    async def f(self, *all_, {', '.join(f'x{k}' for k in range(WIDE))}):\n        pass",
        ],
    ),
    (files_of_two_ideas, "modular/a.py", [(MAX_FILE_LINES + 1) * "x = 1\n"]),
]
NAMES = [rule.__name__.replace("_", " ") for rule, _, _ in RULES]


@cache
def read() -> tuple[dict[str, list[str]], list[str], set[str]]:
    """Of all sources, each parsed once: offences by rule, names of kernels, packages that are imported."""
    offences: dict[str, list[str]] = {name: [] for name in NAMES}
    found: list[str] = []
    used: set[str] = set()
    gc.disable()  # trees have no cycles; a look for some among all that tests have left takes longer than reading them
    try:
        for path in SOURCES:
            source = path.read_text(encoding="utf-8")
            for name, (rule, _, _) in zip(NAMES, RULES, strict=True):
                offences[name] += rule(inside(path), source)
            found += [function.name for function in kernels(source)]
            used |= {top(name) for _, name in imported(source)}
    finally:
        gc.enable()
    return offences, found, used


@pytest.mark.parametrize("rule", NAMES)
def test_no_source_breaks_the_rule_on(rule: str):
    assert len(SOURCES) > 40
    assert read()[0][rule] == []


@pytest.mark.parametrize(("rule", "path", "source"), [(r, p, s) for r, p, sources in RULES for s in sources])
def test_an_offender_is_named(rule: Rule, path: str, source: str):
    offences = rule(path, source)
    assert offences
    assert all(offence.startswith(path) for offence in offences)


def test_the_home_of_zeromq_may_import_it():
    assert stray_zeromq(f"{HOME_OF_ZEROMQ}zeromq.py", "import zmq") == []


def test_the_rules_on_kernels_look_at_kernels():
    assert len(read()[1]) > 10
    assert library_calls_in_kernels("components/a.py", "def f(a, b):\n    return np.dot(a, b)") == []


def test_whoever_may_stay_long_or_wide_is_there_and_is():
    for place, why in TWO_IDEAS.items():
        path, name = place.split(":")
        named = [f for f in nodes_of(text(path), ast.FunctionDef) if f.name == name]
        assert why and any(f.end_lineno - f.lineno >= LONG or len(parameters(f)) > WIDE for f in named), (path, name)
    as_it_may_be = f"def f(self, {', '.join(f'x{k}' for k in range(WIDE))}):\n" + (LONG - 1) * "    pass\n"
    assert functions_of_two_ideas("modular/a.py", as_it_may_be) == []


def test_every_dependency_is_used_and_every_use_declared():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    declared = {re.split(r"[<>=~!\[; ]", name, maxsplit=1)[0] for name in project["dependencies"]}
    used = {{"PIL": "pillow", "zmq": "pyzmq", "pxr": "usd-core"}.get(name, name) for name in read()[2]}
    wanted = [
        name
        for brings in ("data", "cluster", "fmi", "live", "symbolic", "usd")
        for name in project["optional-dependencies"][brings]
    ]
    extra = {re.split(r"[<>=~!\[; ]", name, maxsplit=1)[0] for name in wanted}
    assert used - extra - set(PACKAGES) - sys.stdlib_module_names == declared
    assert {"xarray", "pandas", "distributed", "viser", "websockets", "msgspec", "sympy", "usd-core"} <= used & extra


# --- layers -------------------------------------------------------------------------------------------------


def test_imports_follow_the_layers():
    result = lint_imports(ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 broken" in result.stdout


def test_an_import_against_the_layers_is_found(tmp_path: Path):
    """Between packages, and from every floor of the coordinator to each above it, also where only types are meant."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    floors = next(contract["layers"] for contract in contracts if contract.get("containers") == ["coordinator"])
    for package in (*PACKAGES, *(f"coordinator/{floor}" for floor in floors)):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").write_text("")
    wrong = {
        ("modular", "components"), ("modular", "coordinator"), ("components", "coordinator"), ("components", "scenarios"),
        (f"coordinator.{floors[0]}", "components"), (f"coordinator.{floors[-1]}", "scenarios"),
        *((f"coordinator.{low}", f"coordinator.{high}") for k, high in enumerate(floors) for low in floors[k + 1 :]),
    }  # fmt: skip
    for importer, target in wrong:
        file = tmp_path / importer.replace(".", "/") / f"wrong_{target.replace('.', '_')}.py"
        file.write_text(f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import {target}\n")
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    result = lint_imports(tmp_path)
    assert result.returncode == 1, result.stdout + result.stderr
    told = " ".join(result.stdout.split())  # lines are wrapped
    for importer, target in wrong:
        assert f"{importer}.wrong_{target.replace('.', '_')} -> {target} " in told


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """The import linter on the packages in a folder, by the contracts of its pyproject.toml."""
    call = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    return subprocess.run(
        [sys.executable, "-c", call], cwd=folder, capture_output=True, text=True, timeout=GUARD, check=False
    )


# --- folders and versions -----------------------------------------------------------------------------------


def test_no_test_folder_is_a_package_that_would_shadow_ours():
    assert [inside(path) for path in (ROOT / "tests").rglob("__init__.py")] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_is_typed(package: str):
    assert (ROOT / package / "py.typed").is_file()


def test_components_of_the_coordinator_are_found_by_name_where_nothing_is_imported():
    """Its names are imported on first use, and files may ask for any."""
    named = {name: getattr(coordinator, name) for name in coordinator.__all__}
    components = [name for name, what in named.items() if isinstance(what, type) and issubclass(what, Component)]
    assert {"BlackBox", "HHT", "Penalty", "Shannon"} <= set(components)
    code = "import sys; from modular.component import find_class; [find_class(name) for name in sys.argv[1:]]"
    subprocess.run([sys.executable, "-c", code, *(f"coordinator:{name}" for name in components)], check=True)


def test_no_component_is_forgotten_where_the_contract_tests_look():
    """A type with an `example` that its room does not export would be held to no law, and nobody would notice."""
    assert [name for name, kind in components_defined() if name not in components.__all__] == []
    assert {"Beam", "Contact", "Revolute"} <= {name for name, _ in components_defined()}


@cache
def components_defined() -> list[tuple[str, type]]:
    found = []
    for path in sorted((ROOT / "components").rglob("*.py")):
        module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        here = [kind for kind in vars(module).values() if getattr(kind, "__module__", "") == module.__name__]
        found += [(kind.__name__, kind) for kind in here if isinstance(kind, type) and "example" in vars(kind)]
    return [(name, kind) for name, kind in found if issubclass(kind, Body | Joint | Force) and not ELSEWHERE & {name}]


def test_every_folder_of_sources_is_a_package():
    folders = {path.parent for path in SOURCES}
    assert [inside(folder) for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_the_version_is_written_once_and_repeated_only_where_people_look():
    citation = re.search(r"^version: (\S+)$", text("CITATION.cff"), re.MULTILINE)
    released = re.search(r"^date-released: (\S+)$", text("CITATION.cff"), re.MULTILINE)
    change = re.search(r"^## \[(\d\S*)\] - (\S+)$", text("CHANGELOG.md"), re.MULTILINE)
    assert citation is not None and released is not None and change is not None
    assert citation[1] == change[1] == __version__
    assert released[1] == change[2]
    assert "version" in tomllib.loads(text("pyproject.toml"))["project"]["dynamic"]
    written = [inside(path) for path in SOURCES if f'"{__version__}"' in path.read_text(encoding="utf-8")]
    assert written == ["modular/version.py"]


# --- scenarios ----------------------------------------------------------------------------------------------


def test_the_changelog_tells_nothing_twice():
    lines = [line for line in text("CHANGELOG.md").splitlines() if line.startswith("- ")]
    assert [line for line, times in Counter(lines).items() if times > 1] == []


def test_a_scenario_is_a_file_and_a_file_is_a_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "falling_stone.py").write_text(
        '"""A stone that falls."""\n'
        "from components import RigidBody\n"
        "from modular import Assembly\n"
        "def build(mass=2.5):\n"
        "    model = Assembly(gravity=(0.0, -9.81))\n"
        '    model.add("stone", RigidBody(mass=mass, inertia=0.3, centre=(0.2, 1.7), ports={}))\n'
        "    return model\n"
    )
    monkeypatch.setattr(catalogue, "SYSTEMS", tmp_path)
    monkeypatch.setattr(scenarios.systems, "__path__", [str(tmp_path)])
    assert catalogue.names() == ["falling-stone"]
    assert catalogue.describe("falling-stone") == ("A stone that falls.", {"mass": "2.5"})
    model = scenarios.load("falling-stone", mass=4.0)
    assert isinstance(model, Assembly)
    assert model.bodies["stone"].mass == 4.0


@pytest.mark.parametrize("name", catalogue.names())
def test_every_scenario_says_what_it_is_and_builds_as_it_stands(name: str):
    summary, settings = catalogue.describe(name)
    assert summary.endswith(".")
    assert isinstance(scenarios.load(name), Assembly)
    assert all(settings.values())


def inside(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("folder", "most"), [("coordinator", 3), ("components/bodies", 8)])
def test_few_files_lie_outside_of_rooms(folder: str, most: int):
    loose = sorted(path.name for path in (ROOT / folder).glob("*.py") if path.name != "__init__.py")
    assert len(loose) <= most, loose


def test_every_file_of_the_core_has_its_room():
    """A stranger finds in docs/rooms.md what each file of `modular` and `coordinator` answers."""
    told = set(re.findall(r"`(?:\w+/)*(\w+\.py)`", (ROOT / "docs" / "rooms.md").read_text(encoding="utf-8")))
    files = {file.name for package in ("modular", "coordinator") for file in (ROOT / package).rglob("*.py")}
    assert sorted(files - told - {"__init__.py"}) == []
