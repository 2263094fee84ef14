"""Finding scenarios and model files and building them with settings; reads names and docstrings without importing them."""

from __future__ import annotations

import ast
import difflib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modular.assembly import Assembly

SYSTEMS = Path(__file__).parent / "systems"
OWN = (".toml", ".json")  # endings of our own files
IMPORTED = (".urdf", ".xml", ".sdf", ".usda", ".usd", ".usdc")  # endings of files that other programs write
READING = ("base", "repair", "stops", "contacts", "rotors", "strict")  # settings of reading them
GROUPS = ("The thesis", "Exercises", "Mechanisms", "Spinning and rolling", "Contact", "Driven and controlled")


def names() -> list[str]:
    """Names of the ready scenarios."""
    return sorted(path.stem.replace("_", "-") for path in SYSTEMS.glob("*.py") if not path.stem.startswith("_"))


def is_ready(name: str) -> bool:
    """Whether a ready scenario has this name."""
    own = name and "_" not in name and name[0] != "-" and Path(name).name == name
    return bool(own) and (SYSTEMS / f"{name.replace('-', '_')}.py").is_file()


def groups() -> dict[str, list[str]]:
    """The ready scenarios by what they are about: each says it as GROUP."""
    found: dict[str, list[str]] = {group: [] for group in GROUPS}
    for name in names():
        found[_group(name)].append(name)
    return found


def _group(name: str) -> str:
    for node in _parsed(name).body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["GROUP"]:
            group: str = ast.literal_eval(node.value)
            return group
    return GROUPS[-1]


def _parsed(name: str) -> ast.Module:
    return ast.parse((SYSTEMS / f"{name.replace('-', '_')}.py").read_text(encoding="utf-8"))


def describe(name: str) -> tuple[str, dict[str, str]]:
    """First line of a scenario's docstring and its settings with their defaults, as text."""
    tree = _parsed(name)
    summary = (ast.get_docstring(tree) or "").partition("\n")[0]
    settings: dict[str, str] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "build":
            arguments = [*node.args.args, *node.args.kwonlyargs]
            defaults = [*node.args.defaults, *node.args.kw_defaults]
            settings = {
                argument.arg: ast.unparse(default)
                for argument, default in zip(arguments, defaults, strict=True)
                if default
            }
    return summary, settings


def build(name: str, settings: Mapping[str, Any]) -> Assembly:
    """The assembly of a scenario, a Python file that defines `build(**settings)`, a model file, or a file of another program."""
    from modular.assembly import Assembly
    from modular.errors import ModelError

    if name.endswith(OWN):
        return _own(name, settings)
    if (places := sys.modules.get("scenarios.models.places")) is not None:
        places.forget()
    if name.endswith(IMPORTED):
        return _imported(name, settings)
    function = _function(name)
    known = inspect.signature(function).parameters
    if not any(p.kind is p.VAR_KEYWORD for p in known.values()):
        for setting in settings:
            if setting not in known:
                near = difflib.get_close_matches(setting, known, 1)
                hint = f"did you mean '{near[0]}'?" if near else f"it has: {', '.join(known) or 'none'}."
                raise ModelError(f"scenario '{name}' has no setting '{setting}'; {hint}")
    assembly = function(**settings)
    if not isinstance(assembly, Assembly):
        raise ModelError(f"'{name}': build() returned {type(assembly).__name__}; it must return an Assembly.")
    assembly.title = assembly.title or Path(name).stem
    return assembly


def is_file(target: str) -> bool:
    """Whether a target is meant as a file."""
    return target.endswith((".py", *OWN, *IMPORTED))


def _imported(name: str, settings: Mapping[str, Any]) -> Assembly:
    """A model that another program wrote; settings are those of reading it, and values of joints at the start."""
    import warnings

    from modular.errors import ImportedWarning
    from scenarios.models import read_model

    path = _there(name)
    values = {key: value for key, value in settings.items() if key not in READING}
    found = read_model(path, values=values, **{key: settings[key] for key in READING if key in settings})
    if told := found.report.warning():
        warnings.warn(told, ImportedWarning, stacklevel=2)
    return found.assembly


def _own(name: str, settings: Mapping[str, Any]) -> Assembly:
    """A model as people write it, or as it was saved; settings are those of its parameters."""
    from scenarios.models.own_file import read_own

    path = _there(name)
    assembly = read_own(path, settings)
    assembly.title = assembly.title or path.stem
    return assembly


def _there(name: str) -> Path:
    """A file that exists, or what may have been meant."""
    from modular.errors import ModelError

    path = Path(name)
    if not path.is_file():
        beside = [str(other) for other in path.parent.glob(f"*{path.suffix}")] if path.parent.is_dir() else []
        near = difflib.get_close_matches(str(path), beside, 1)
        raise ModelError(f"'{name}': there is no such file" + (f"; did you mean '{near[0]}'?" if near else "."))
    return path


def _model_files(folder: Path) -> list[str]:
    """Files in a folder from which models are built."""
    if not folder.is_dir():
        return []
    return sorted(str(file) for file in folder.iterdir() if is_file(file.name) and file.is_file())


class AsItIs(SourceFileLoader):
    """Reads a model file as it is now: what Python keeps of it, it knows by the second and the length alone."""

    def get_code(self, fullname: str) -> CodeType:
        """Compiled from the text."""
        return self.source_to_code(self.get_data(self.path), self.path)


def _import(path: Path) -> ModuleType:
    """A model file under a name of its own, so that `random.py` stays random; files beside it can be imported by it."""
    name = f"modular_model_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path, loader=AsItIs(name, str(path)))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    sys.path.append(str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _function(name: str) -> Callable[..., Any]:
    from modular.errors import ModelError

    if name.endswith(".py"):
        module = _import(_there(name))
    elif is_ready(name):
        module = importlib.import_module(f"scenarios.systems.{name.replace('-', '_')}")
    elif Path(name).is_dir():
        other = "give a ready system, a Python file or a model file (.toml, .json)"
        verbs = f"modular show {name} draws the run in it, modular rerun repeats it, modular resume goes on"
        raise ModelError(
            f"'{name}' is a folder, not a model; {verbs if (Path(name) / 'run.json').is_file() else other}."
        )
    else:
        beside = _model_files(Path(name).parent)
        if Path(name).suffix and (close := difflib.get_close_matches(name, beside, 1)):
            raise ModelError(f"'{name}': there is no such file; did you mean '{close[0]}'?")
        near = [file for file in beside if Path(file).with_suffix("") == Path(name)]
        near = near or difflib.get_close_matches(name, names(), 1) or difflib.get_close_matches(name, beside, 1)
        hint = (
            f"did you mean '{near[0]}'?"
            if near
            else f"known: {', '.join(names())}; or give a Python file, or a model file (.toml, .json, .urdf, .xml, .sdf, .usda)."
        )
        raise ModelError(f"there is no scenario '{name}'; {hint}")
    function: Callable[..., Any] | None = getattr(module, "build", None)
    if not callable(function):
        raise ModelError(f"'{name}' defines no function build(**settings) that returns an Assembly.")
    return function
