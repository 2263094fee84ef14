"""Blocks of an ensemble on a Dask cluster: text goes there, text and arrays as bytes come back; Dask places the work, no more.

A Dask worker that dies costs its block, which another one runs again. Bits are those of a single run on the machine that ran them.
"""

from __future__ import annotations

import functools
import io
import json
import threading
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.ensemble.folder import pieces_as_data, pieces_from_data
from coordinator.ensemble.pieces import Piece
from coordinator.record.fingerprint import versions
from modular import errors
from modular.assembly import Assembly
from modular.component import Component, plain
from modular.errors import ModelError

if TYPE_CHECKING:
    from coordinator.ensemble.ensemble import Ensemble
    from coordinator.ensemble.stacked import Heard

one_at_a_time = threading.Lock()  # warnings are caught for a whole process
RETRIES = 3  # of a block whose worker was lost


def run_on(
    cluster: Any, ensemble: Ensemble, blocks: Sequence[list[int]], until: float, heard: Heard
) -> Iterator[tuple[list[int], list[Piece]]]:
    """Blocks as they are done, in whatever order; `cluster`: a `distributed.Client`, the address of a scheduler, or its file."""
    from coordinator.distributed.launchers.dask import Dask

    launcher = Dask(cluster)
    client = launcher.client
    from distributed import as_completed

    known = text_of(ensemble, until)
    waiting = {client.submit(run_block, known, list(block), pure=False, retries=RETRIES): block for block in blocks}
    try:
        for future in as_completed(list(waiting), loop=client.loop):
            text, data = future.result()
            pieces = received(text, data, heard)
            yield waiting.pop(future), pieces
    finally:
        for future in waiting:
            future.cancel()
        launcher.close()


def text_of(ensemble: Ensemble, until: float) -> str:
    """Everything that another machine has to know."""
    return json.dumps(
        {
            "model": ensemble.variants.model.to_data(), "coupling": plain(ensemble.coupling), "settings": ensemble.settings,
            "vary": {name: values.tolist() for name, values in ensemble.variants.values.items()}, "keep": ensemble.keep.as_given,
            "until": until, "versions": versions(),
        }
    )  # fmt: skip


def run_block(text: str, which: list[int]) -> tuple[str, bytes]:
    """On a Dask worker: some variants of an ensemble that a text describes; what is kept of them, and what was warned of."""
    heard: Heard = []
    with one_at_a_time:
        ensemble, until = ensemble_of(text)
        pieces = ensemble.block(which, until, heard)
    abouts, arrays = pieces_as_data(pieces)
    told = [[variant, warning.category.__name__, str(warning.message)] for variant, warning in heard]
    file = io.BytesIO()
    np.savez(file, **arrays)
    return json.dumps({"pieces": abouts, "heard": told}), file.getvalue()


@functools.lru_cache(maxsize=2)
def ensemble_of(text: str) -> tuple[Ensemble, float]:
    """The ensemble that a text describes, and its end: made once for all blocks that come to this worker."""
    from coordinator.ensemble.ensemble import Ensemble

    known = json.loads(text)
    if known["versions"] != versions():
        raise ModelError(
            f"a Dask worker has other versions ({versions()}) than the ensemble that asks it ({known['versions']}), so its "
            "results would have other bits; install the same there."
        )
    settings = known["settings"]
    ensemble = Ensemble(
        Assembly.from_data(known["model"]), settings["dt"], Component.from_data(known["coupling"]), vary=known["vary"],
        record_every=settings["record_every"], keep=known["keep"], project_velocities=settings["project_velocities"],
    )  # fmt: skip
    return ensemble, float(known["until"])


def received(text: str, data: bytes, heard: Heard) -> list[Piece]:
    """The pieces that a block elsewhere has given; what was warned of there is heard here."""
    said = json.loads(text)
    for variant, kind, words in said["heard"]:
        category = getattr(errors, kind)
        heard.append((variant, warnings.WarningMessage(category(words), category, "", 0)))
    with np.load(io.BytesIO(data), allow_pickle=False) as held:
        return pieces_from_data(said["pieces"], {name: held[name] for name in held})
