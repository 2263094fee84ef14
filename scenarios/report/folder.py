"""The folder of a run: found free, made and tried before the run starts, so that nothing is lost at its end."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import Self

from coordinator.record.checkpoints.folder import INSIDE, heads_in
from coordinator.record.run import Run
from modular.errors import ModelError

RUN_FILES = ("run.json", "arrays.npz")
PICTURE_FILES = (
    "trajectories.png",
    "energy.png",
    "violations.png",
    "ledger.png",
    "reactions.png",
    "efforts.png",
    "curves.png",
    "curves.csv",
    "animation.gif",
    "motion.html",
)
AT_REQUEST = {
    "animation.gif": "--animate",
    "motion.html": "modular show --html",
    "curves.png": "modular show --curves",
    "curves.csv": "modular show --curves",
    "run.nc": "modular export",
    "run.csv": "modular export",
}
DIARY = "diary.jsonl"  # of a session of modular live
RUNS, MAX_LISTED_RUNS = Path("runs"), 8  # where runs are kept where nobody says where, and how many of them are named
EXPORT_FILES = {"netcdf": "run.nc", "csv": "run.csv"}  # what modular export writes into a run folder


class RunFolder:
    """A folder taken for a run; if nothing is saved in it, whatever was made of it goes again.

    `numbered`: where the folder exists, take the next free one of -2, -3, … instead.
    """

    def __init__(self, path: Path, *, overwrite: bool = False, numbered: bool = False) -> None:
        self.path = path
        self.overwrite = overwrite
        self.numbered = numbered
        self._made: list[Path] = []

    def __enter__(self) -> Self:
        try:
            for folder in reversed(self.path.parents):
                if not folder.exists():
                    folder.mkdir(exist_ok=True)
                    self._made.append(folder)
            self._take()
            self.claim((*RUN_FILES, *PICTURE_FILES), "a run", "it")
            if not self.overwrite and heads_in(self.path / INSIDE):
                raise ModelError(
                    f"--out {self.path}: this folder holds a run that was not finished; go on with it by modular resume "
                    f"{self.path}, or replace it with --overwrite."
                )
            check_writable(self.path)
        except OSError as error:
            self._give_back()
            raise ModelError(
                f"--out {self.path}: cannot make this folder ({error.strerror}); choose another with --out."
            ) from None
        except ModelError:
            self._give_back()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._give_back()

    def claim(self, names: Sequence[str], what: str, it: str) -> None:
        """Refuse to write over files of an earlier work unless that was asked for."""
        taken = [name for name in names if (self.path / name).exists()]
        if taken and not self.overwrite:
            raise ModelError(
                f"--out {self.path}: this folder holds {what} already ({', '.join(taken[:3])}{' …' * (len(taken) > 3)}); choose "
                f"another folder, or replace {it} with --overwrite."
            )

    def drop_pictures(self) -> list[str]:
        """Remove the pictures and exports of an earlier run; those that nobody draws unasked."""
        gone = [name for name in (*PICTURE_FILES, *EXPORT_FILES.values()) if (self.path / name).exists()]
        for name in gone:
            (self.path / name).unlink(missing_ok=True)
        return [name for name in gone if name in AT_REQUEST]

    def _take(self) -> None:
        """Make the folder; making it takes it, so two runs started together get two folders."""
        first, number = self.path, 1
        while True:
            try:
                self.path.mkdir()
                self._made.append(self.path)
                return
            except FileExistsError:
                if not self.numbered:
                    if self.path.is_dir():
                        return
                    raise ModelError(f"--out {self.path}: this is a file; give a folder.") from None
            number += 1
            self.path = first.with_name(f"{first.name}-{number}")

    def _give_back(self) -> None:
        for folder in reversed(self._made):
            if any(folder.iterdir()):
                return
            folder.rmdir()
        self._made = []


def check_writable(path: Path) -> None:
    """Refuse a folder that cannot be written."""
    probe = path / ".modular-write-test"
    try:
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise ModelError(
            f"{path}: this folder cannot be written ({error.strerror}); choose another with --out."
        ) from None


def load_run(path: Path) -> Run:
    """A saved run."""
    if path.is_file():
        around = f", such as {path.parent}" if (path.parent / RUN_FILES[0]).exists() else ""
        model = (
            f"; a model is run by modular run {path}" if path.suffix in (".toml", ".json", ".py") and not around else ""
        )
        raise ModelError(f"'{path}' is a file, and runs are folders; give one{around}{model}.")
    if not path.is_dir():
        raise ModelError(not_there(path, "give a folder written by `modular run` or Run.save", (RUN_FILES[0], DIARY)))
    if not (path / RUN_FILES[0]).exists() and (inside := _folders_in(path, (RUN_FILES[0], DIARY))):
        raise ModelError(f"'{path}' is not a run, but contains some: {_listed(inside)}.")
    return Run.load(path)


def not_there(path: Path, remedy: str, marks: Sequence[str]) -> str:
    """What is said of a folder that is not there: the one that may have been meant, beside it or in the usual place.

    `marks`: files or folders of which such a folder holds one.
    """
    known = list(dict.fromkeys([*_folders_in(path.parent, marks), *_folders_in(RUNS, marks)]))
    near = get_close_matches(path.name, [other.name for other in known], 1)
    found = [other for other in known if other.name in near]
    hint = f"did you mean '{found[0]}'?" if found else f"there are: {_listed(known)}." if known else f"{remedy}."
    return f"'{path}': there is no such folder; {hint}"


def _folders_in(place: Path, marks: Sequence[str]) -> list[Path]:
    """Folders in another one that hold one of these, the latest first."""
    found = {path.parent for mark in marks for path in place.glob(f"*/{mark}")}
    return sorted(found, key=lambda folder: -folder.stat().st_mtime)


def _listed(folders: Sequence[Path]) -> str:
    return ", ".join(map(str, folders[:MAX_LISTED_RUNS])) + " …" * (len(folders) > MAX_LISTED_RUNS)
