"""Our four packages belong together; a foreign folder of the same name in front of one of them is named at once."""

from __future__ import annotations

from importlib.machinery import PathFinder
from pathlib import Path


def check_house() -> None:
    """Refuse to go on where `components` or `coordinator` would be somebody else's."""
    home = Path(__file__).resolve().parent.parent
    for name in ("components", "coordinator", "scenarios"):
        spec = PathFinder.find_spec(name)
        if spec is None:
            continue
        places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or [])
        for place in places:
            folder = Path(place).resolve()
            folder = folder.parent if folder.is_file() else folder
            if folder != home / name:
                shown = folder / f"{name}.py" if folder.name != name else folder
                raise ImportError(
                    f"{shown} shadows the package '{name}' of modular ({home / name}): Python would import that one. "
                    "Rename it, or start Python from another folder."
                )
