"""Our four packages belong together; a foreign folder of the same name in front of one of them is named at once."""

from __future__ import annotations

import functools
from importlib.machinery import PathFinder
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("modular", "components", "coordinator")  # whose sources decide the bits of a run


@functools.cache
def is_own_source(file: str) -> bool:
    """Whether a source file is one of ours."""
    return any(Path(file).resolve().is_relative_to(ROOT / package) for package in PACKAGES)


def check_not_shadowed() -> None:
    """Refuse to go on where `components` or `coordinator` would be somebody else's."""
    for name in ("components", "coordinator", "scenarios"):
        spec = PathFinder.find_spec(name)
        if spec is None:
            continue
        places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or [])
        for place in places:
            folder = Path(place).resolve()
            folder = folder.parent if folder.is_file() else folder
            if folder != ROOT / name:
                shown = folder / f"{name}.py" if folder.name != name else folder
                raise ImportError(
                    f"{shown} shadows the package '{name}' of modular ({ROOT / name}): Python would import that one. "
                    "Rename it, or start Python from another folder."
                )
