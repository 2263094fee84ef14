"""Functions that files and messages name: nothing is imported because they say so.

"module:function" is looked up in our own packages, in those that declare themselves under the entry point `modular.components`, and
in those that somebody has named. A function that a program hands over, or names itself, may be named by files too from then on, and
no other of its module may. What a name comes from can be seen by its type: names that were read are `Read`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Any

from modular.component import Read, known_packages
from modular.errors import ModelError
from modular.own_packages import PACKAGES

VARIABLE = "MODULAR_ALLOW"  # names of packages, with commas between
OWN_PACKAGES = frozenset({*PACKAGES, "scenarios"})
Function = Callable[..., Any]

_named: set[str] = set()
_given: set[str] = set()  # "module:function" each


def allow(*packages: str) -> None:
    """From now on functions of these packages are found by name: what a run folder or a checkpoint names may be executed then."""
    for package in packages:
        if not isinstance(package, str) or not package.isidentifier():
            raise ModelError(
                f"allow: {package!r} is not a package; give the first part of the imported name, such as 'my_laws'."
            )
    _named.update(packages)


def allowed() -> frozenset[str]:
    """Packages in which functions are found by name."""
    given = os.environ.get(VARIABLE, "").replace(" ", "").split(",")
    return frozenset({*_named, *given, *OWN_PACKAGES, *known_packages()} - {""})


def name_of(function: Function | str) -> str:
    """How a function is called in files and messages, "module:function"."""
    return function if isinstance(function, str) else f"{function.__module__}:{function.__qualname__}"


def given(function: Function | str) -> None:
    """A program has handed this function over, or has named it: its name is allowed, where it has one."""
    if isinstance(function, Read):
        return
    if isinstance(function, str):
        _given.add(function)
        return
    module, name = getattr(function, "__module__", None) or "", getattr(function, "__qualname__", "")
    if getattr(sys.modules.get(module), name, None) is function:
        _given.add(f"{module}:{name}")


def function_named(name: str, owner: str) -> Function:
    """The function called "module:function"."""
    module, _, attribute = name.partition(":")
    if name not in _given:
        _check(module.partition(".")[0], name, owner)
    try:
        found = getattr(importlib.import_module(module), attribute)
    except ModuleNotFoundError as error:
        raise ModelError(
            f"{owner}: cannot find {name!r} ({error}). Modules are looked for where Python looks, which is not the current folder: "
            "install it, or name its folder in PYTHONPATH."
        ) from error
    except (ImportError, AttributeError, ValueError) as error:
        raise ModelError(f"{owner}: cannot find {name!r} ({error}); write 'module:function'.") from error
    if not callable(found):
        raise ModelError(f"{owner}: {name!r} is not a function.")
    if name not in _given and isinstance(found, FunctionType | BuiltinFunctionType | type):
        _check((found.__module__ or "").partition(".")[0], f"{found.__module__}:{found.__qualname__}", owner)
    return found  # type: ignore[no-any-return]


def _check(package: str, name: str, owner: str) -> None:
    """Refuse what is in none of the packages that may be asked."""
    if package not in allowed():
        raise ModelError(
            f"{owner}: {name!r} would import and execute {package or name!r}, which is not allowed. If you trust "
            "it, call "
            f"modular.allow({package!r}) in Python, or 'modular --allow {package} …' on the command line, or set "
            f"{VARIABLE}={package}; functions that your own program passes, as in Law(torque), need no permission."
        )


# --- other processes -------------------------------------------------------------------------------------------------


def as_data() -> tuple[list[str], list[str]]:
    """Packages in which workers of this process find functions by name, and folders from which it has those itself."""
    packages = {*allowed(), *(name.partition(":")[0].partition(".")[0] for name in _given)} - {"__main__"}
    return sorted(packages), sorted({folder for name in packages - OWN_PACKAGES if (folder := _folder(name))})


def take(packages: Iterable[str], folders: Iterable[str]) -> None:
    """Find functions as the process does that this one works for; its folders come last, so that they hide nothing."""
    _named.update(packages)
    sys.path += [folder for folder in folders if folder not in sys.path]


def _folder(package: str) -> str:
    """From which folder a package was imported, where it was."""
    module = sys.modules.get(package)
    file = getattr(module, "__file__", None)
    if file is None:
        return ""
    path = Path(file).resolve().parent
    return str(path.parent if hasattr(module, "__path__") else path)
