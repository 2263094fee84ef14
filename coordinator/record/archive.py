"""A run on disk: `run.json` says what it was, `arrays.npz` holds what was recorded. Plain data; nothing is executed.

`run.json` carries a checksum over all that it says, and one over all arrays: a run is read whole and as it was written, or refused
with a sentence. Both files take their places one after the other (modular/files.py). Where that was cut in between, the text that
belongs to the arrays still lies beside, and is taken. Of a run whose samples went to disk while it went on `run.json` names the
pieces with their checksums, and there are no arrays (on_disk.py):
finished segments are in the folder already, and now and then its text follows (`Growing`).
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from coordinator.record.context import RecordContext
from coordinator.record.on_disk import OnDisk, forget_islands, read_pieces, segments_as_data, segments_from_data
from coordinator.record.recorder import Segment
from coordinator.record.series import digest_of
from modular.elements import Array
from modular.errors import ModelError, RunWarning
from modular.files import in_place, part_of, put_in_place, remove
from modular.names import hidden_in

FORMAT = "modular-run-2"
WITHOUT_CHECKSUM = "modular-run-1"  # modular 0.1
ABOUT, ARRAYS = "run.json", "arrays.npz"
CHECKSUM = "checksum"
MAX_INDENTED_LENGTH = 2**20  # letters of a text that is written in lines


def write(folder: str | Path, about: dict[str, Any], segments: Sequence[Segment]) -> Path:
    """Write both files of a run folder; where that fails, what stood there before is still there."""
    folder = Path(folder)
    if any(segment.stored is not None for segment in segments):
        return write_pieces(OnDisk(folder), about, segments)
    layout, arrays = segments_as_data(segments)
    text = text_of({"format": FORMAT, **about, "segments": layout, "arrays": sum_of(arrays)})
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sizes = {folder / ARRAYS: sum(array.nbytes for array in arrays.values()), folder / ABOUT: len(text)}
        with in_place(sizes) as (samples, said):
            np.savez(samples, **arrays)
            said.write(text)
    except OSError as error:
        raise ModelError(
            f"'{error.filename or folder}' cannot be written ({error.strerror}); what was saved there before is kept. Make room, "
            "or save the run into another folder."
        ) from error
    forget_islands(folder)
    return folder


def write_pieces(place: OnDisk, about: dict[str, Any], segments: Sequence[Segment]) -> Path:
    """Write a run whose samples are on disk, as far as it has come: what is not yet in a piece, and the text that names all."""
    folder, pieces = place.folder, place.pieces(segments)
    try:
        put_in_place(folder / ABOUT, text_of({"format": FORMAT, **about, "pieces": pieces}))
        remove(folder / ARRAYS)
    except OSError as error:
        raise ModelError(
            f"'{error.filename or folder}' cannot be written ({error.strerror}); the run is there as it was before. Make room."
        ) from error
    place.tidy(pieces)
    return folder


def read(folder: str | Path) -> tuple[dict[str, Any], list[Segment]]:
    """What `write` wrote, or why that cannot be had."""
    folder = Path(folder)
    with legible(folder):
        texts = [path for path in (folder / ABOUT, part_of(folder / ABOUT)) if path.is_file()]
        if not (folder / ABOUT).is_file() and not (texts and (folder / ARRAYS).is_file()):
            raise ModelError(f"'{folder}' holds no {ABOUT}; give a folder written by Run.save or `modular run --out`.")
        arrays: dict[str, Array] | None = None
        problems = []
        for path in texts:
            try:
                data = _about(path)
                if "pieces" in data:
                    del data["format"]
                    return data, read_pieces(folder, data.pop("pieces"))
                arrays = _arrays(folder / ARRAYS) if arrays is None else arrays
                return _together(folder, data, arrays)
            except Exception as error:  # whatever a damaged file leads to
                problems.append(error)
        raise problems[0]


@contextmanager
def legible(folder: Path) -> Iterator[None]:
    """Say in a sentence what cannot be read as a run."""
    try:
        yield
    except ModelError:
        raise
    except FileNotFoundError as error:
        raise ModelError(f"'{folder}' cannot be read as a run: {Path(error.filename).name} is missing.") from error
    except OSError as error:
        raise ModelError(f"'{error.filename or folder}' cannot be read ({error.strerror or error}).") from error
    except MemoryError as error:
        raise ModelError(
            f"'{folder}' cannot be read as a run: {ARRAYS} is damaged, or larger than the memory that is free."
        ) from error
    except Exception as error:  # whatever a damaged file leads to
        raise ModelError(
            f"'{folder}' cannot be read as a run ({type(error).__name__}: {error}); {ABOUT} or {ARRAYS} is damaged or incomplete."
        ) from error


def _about(path: Path) -> dict[str, Any]:
    """What a run says of itself, as it was written."""
    text = path.read_bytes().decode("utf-8")
    if hidden := hidden_in(text):
        raise ModelError(
            f"'{path.parent}': {path.name} holds the invisible character {hidden}, which could write over your terminal."
        )
    data = json.loads(text)
    if not isinstance(data, dict) or data.get("format") not in (FORMAT, WITHOUT_CHECKSUM):
        stated = data.get("format") if isinstance(data, dict) else None
        raise ModelError(f"'{path.parent}': format {stated!r} is not {FORMAT!r}; was it written by another version?")
    stated = data.pop(CHECKSUM, None)
    if stated != (checksum(data) if data["format"] == FORMAT else None):
        raise ModelError(
            f"'{path.parent}' cannot be read as a run: {path.name} was changed or damaged after it was written, "
            "its checksum does not match. Take a copy of the folder, or run it again."
        )
    return data


def _arrays(path: Path) -> dict[str, Array]:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _together(folder: Path, data: dict[str, Any], arrays: Mapping[str, Array]) -> tuple[dict[str, Any], list[Segment]]:
    """The run, if the arrays are those that it was written with."""
    old = data.pop("format") == WITHOUT_CHECKSUM
    right = old or data.pop("arrays") == sum_of(arrays)
    segments = segments_from_data(data.pop("segments"), arrays) if right else []
    if not right or (old and data.get("digest") not in (None, digest_of(segments))):
        raise ModelError(
            f"'{folder}' cannot be read as a run: {ARRAYS} is damaged, or belongs to another run than {ABOUT}. Take a copy of the "
            "folder, or run it again."
        )
    if old:
        warnings.warn(
            f"'{folder}' was written by modular 0.1, without a checksum: whether {ABOUT} is as it was written cannot be told. Save "
            "it again, as in Run.load(folder).save(folder).",
            RunWarning,
            stacklevel=5,
        )
    return data, segments


def text_of(about: Mapping[str, Any]) -> bytes:
    """With its checksum; in lines, as far as anybody reads that."""
    # each is written once: a model may have many bodies
    parts = (f"{_compact(key)}:{part}" for key, part in _parts_of(about))
    text = ("{" + ",".join(parts) + "}").encode()
    found = sha256(text).hexdigest()
    if len(text) > MAX_INDENTED_LENGTH:
        return b"".join((text[:-1], f',"{CHECKSUM}":"{found}"}}'.encode()))
    return json.dumps({**json.loads(text), CHECKSUM: found}, indent=1, allow_nan=False).encode()


def _parts_of(about: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The texts of all that is said; bodies are mostly those of the model, and are put into words once."""
    model, bodies, text = about.get("model"), about.get("bodies"), ""
    if isinstance(model, Mapping) and bodies and model.get("bodies") == bodies:
        text = _strict(bodies)
    for key, value in about.items():
        if text and key == "bodies":
            yield key, text
        elif text and key == "model":
            inner = (f"{_compact(name)}:{text if name == 'bodies' else _strict(part)}" for name, part in value.items())
            yield key, "{" + ",".join(inner) + "}"
        else:
            yield key, _strict(value)


def _strict(value: Any) -> str:
    """As strict JSON has it."""
    try:
        return _compact(value)
    except (ValueError, TypeError):
        return _compact(finite(value))


def checksum(data: Mapping[str, Any]) -> str:
    """Over data that JSON knows, their order included."""
    return sha256(_compact(data).encode()).hexdigest()


def _compact(data: Any) -> str:
    return json.dumps(data, allow_nan=False, separators=(",", ":"))


def sum_of(arrays: Mapping[str, Any]) -> str:
    """A checksum over arrays with their names, types and shapes."""
    digest = sha256()
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def finite(value: Any) -> Any:
    """Strict JSON knows no NaN and no infinity; a margin without a value is None there."""
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


MIN_WRITE_SECONDS = 2.0  # seconds between two texts, at least
MAX_WRITING_SHARE = 0.02  # most of the time that they may take


class Growing:
    """The folder of a run that goes on."""

    def __init__(self, place: OnDisk) -> None:
        self.place = place
        self._next = time.monotonic() + MIN_WRITE_SECONDS

    def if_due(self, simulation: RecordContext) -> None:
        """Let the text follow, if it is time."""
        if time.monotonic() >= self._next:
            self.write(simulation)

    def write(self, simulation: RecordContext) -> None:
        """All that was recorded so far."""
        started = time.monotonic()
        run = simulation.past.run(simulation)
        write_pieces(self.place, {**run.about, "digest": None}, run.segments)
        self._next = time.monotonic() + max(MIN_WRITE_SECONDS, (time.monotonic() - started) / MAX_WRITING_SHARE)


def recording(simulation: RecordContext, folder: str | Path | None) -> Growing | None:
    """The folder that is asked for, or the one that an earlier run of this simulation was given; refused where it is taken."""
    recorder = simulation.recorder
    if folder is not None and (recorder.storage is None or recorder.storage.folder != Path(folder)):
        if (Path(folder) / ABOUT).exists():
            raise ModelError(
                f"record_to: '{folder}' holds another run; give a folder of its own, such as record_to='{folder}-2'."
            )
        recorder.put_on(OnDisk(Path(folder)))
    place = recorder.storage
    return Growing(place) if isinstance(place, OnDisk) and place.lasts else None
