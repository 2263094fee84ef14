"""Model files to start from, each with a comment on every line that wants one."""

from __future__ import annotations

from pathlib import Path

from modular.errors import ModelError
from modular.names import missing

STARTS = Path(__file__).parent / "starts"


def starts() -> dict[str, str]:
    """Their names, and what each is about: its first line."""
    return {path.stem: _text(path).partition("\n")[0].removeprefix("# ") for path in sorted(STARTS.glob("*.toml"))}


def write_start(name: str, path: Path) -> None:
    """Write one to a file that is not there yet."""
    if name not in starts():
        raise ModelError(missing("starting file", name, starts()))
    if path.suffix != ".toml":
        raise ModelError(f"'{path}': a starting file is TOML; give a name that ends in .toml.")
    text = _text(STARTS / f"{name}.toml").replace("FILE", path.name)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise ModelError(f"'{path}' is there already; give another name, or take it away.") from None
    except OSError as error:
        raise ModelError(f"'{path}' cannot be written ({error.strerror}).") from error


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
