"""An ensemble: the variants of a model, run in blocks."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.couplings import Coupling, Glued, Penalty
from coordinator.couplings.coupling import coupling_named
from coordinator.ensemble.folder import Folder
from coordinator.ensemble.parameters import GRAVITY
from coordinator.ensemble.pieces import ALL, Keep, Piece, keep_of
from coordinator.ensemble.reading import Reading, ticks_of
from coordinator.ensemble.stacked import Apart, Heard, VariantDiverged, gravity_of, run_apart, run_stacked, why_apart
from coordinator.ensemble.variants import Variants
from coordinator.events.bulk_add import undisturbed
from modular.assembly import Assembly
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.keywords import Spelt
from modular.numbers import number

if TYPE_CHECKING:
    import xarray

BODIES_PER_BLOCK = 8192  # that run side by side: their state stays near the processor, their set-up is shared
BODIES_PER_GLUED_BLOCK = 2048  # the same where steps have stages that come back to what they know of each body
MIN_SIDE_BY_SIDE = 3  # variants for which it is worth while
MAX_SIDE_BY_SIDE = 4096
LEAST_OF_BLOCK, BLOCKS = (
    32,
    16,
)  # variants; blocks at least, on a cluster or into a folder, where there are so many of them
BLOCK_BYTES = 2.0**27  # of samples of a block, about

Progress = Callable[["Ensemble"], None]


@dataclass(frozen=True)
class Retired:
    """A variant that did not come to its end."""

    variant: int
    time: float  # at which it went wrong [s]
    component: str  # the body or joint to look at first
    reason: str


class Ensemble(Reading, Spelt):
    """Many variants of one model at once; the bits of each are those of its single run.

    `vary`: values by the names of what differs, such as {"upper.masses.0": np.linspace(0.5, 2.0, 1000)}: numbers of bodies,
    joints, forces and events, and gravity, one for each variant. `keep`: what stays of the samples: "all" of them, "final" (the
    last one), a number n (every n-th), "places" (of all ports) or "extremes" (the lowest and highest of these).
    `record_to`: a folder that fills as the ensemble runs; another one with the same folder goes on.
    """

    def __init__(
        self,
        model: Assembly,
        dt: float,
        coupling: Coupling | str | None = None,
        *,
        vary: Mapping[str, Any],
        record_every: int = 1,
        keep: str | int = ALL,
        record_to: str | Path | None = None,
        project_velocities: bool = False,
    ) -> None:
        if not isinstance(model, Assembly):
            raise ModelError(
                f"Ensemble: {model!r} is not an Assembly; build one, or load one with scenarios.load('chain')."
            )
        if isinstance(coupling, str):
            coupling = coupling_named(coupling, "Ensemble: coupling =")
        self.variants = Variants(model.given().copy(), vary)
        with undisturbed():
            self.variants.check()
        self.coupling: Coupling = Penalty() if coupling is None else coupling
        self.dt, self.record_every = dt, record_every
        self.keep: Keep = keep_of(keep)
        self.folder = None if record_to is None else Folder(Path(record_to))
        self.pieces: list[Piece] = []
        self.until = 0.0
        self.done = 0  # variants
        self.settings = {"dt": dt, "record_every": record_every, "project_velocities": project_velocities}
        self._apart: str | None = None

    def __len__(self) -> int:
        return len(self.variants)

    @property
    def apart(self) -> str:
        """Why its variants run one after the other; nothing where they run side by side."""
        if self._apart is None:
            self._apart = why_apart(self.variants, self.coupling, self.settings)
        return self._apart

    @property
    def ticks(self) -> Indices:
        """Of the samples, (time,)."""
        return ticks_of(self.pieces)

    @property
    def time(self) -> Array:
        """Of the samples [s], (time,)."""
        return np.asarray(self.ticks * self.dt)

    @property
    def retired(self) -> dict[int, Retired]:
        """Variants that did not come to their end, by their numbers."""
        found = {
            k: Retired(k, told.tick * self.dt, told.component, told.reason)
            for piece in self.pieces
            for k, told in piece.retired.items()
        }
        return dict(sorted(found.items()))

    def run(self, until: float, *, progress: Progress | None = None, cluster: Any = None) -> Ensemble:
        """Run every variant from its start to `until` [s]; `progress` is called after every block.

        `cluster`: blocks go to the workers of a Dask cluster, given as a `distributed.Client`, the address of a scheduler, or the
        file that it wrote; one that dies costs its block, which another runs again.

        Ctrl-C leaves the blocks that are done; another call to the same end goes on with the others.
        """
        until = number(until, "Ensemble.run: until", "s")
        if until != self.until:
            self.pieces, self.until, self.done = [], until, 0
        if self.folder is not None:
            self.folder.begin(self.variants, self.coupling, self.settings, until, self.keep.name)
        heard: Heard = []
        try:
            known = {k for piece in self.pieces for k in piece.told}
            blocks = [left for block in self._blocks(cluster) if (left := [k for k in block if k not in known])]
            for which, pieces in self._done(blocks, until, heard, cluster):
                self.pieces += pieces
                self.done += len(which)
                if progress is not None:
                    progress(self)
        finally:
            _say(heard, len(self))
        return self

    def _done(
        self, blocks: Sequence[list[int]], until: float, heard: Heard, cluster: Any
    ) -> Iterator[tuple[list[int], list[Piece]]]:
        """Blocks with what is kept of them: first those that the folder has, then the others as they are run."""
        missing = []
        for which in blocks:
            stored = None if self.folder is None else self.folder.piece(which)
            if stored is None:
                missing.append(which)
            else:
                yield which, stored
        if cluster is not None:
            from coordinator.ensemble.on_cluster import run_on

            fresh = run_on(cluster, self, missing, until, heard)
        else:
            fresh = ((which, self.block(which, until, heard)) for which in missing)
        for which, pieces in fresh:
            if self.folder is not None:
                self.folder.write(which, pieces)
            yield which, pieces

    def block(self, which: list[int], until: float, heard: Heard) -> list[Piece]:
        """What is kept of some variants, run now."""
        return [self.keep.piece(piece, self.variants) for piece in self._block(which, until, heard)]

    def whole(self, k: int) -> Piece:
        """Where all samples of a variant are; one of which less was kept runs once more, by itself."""
        if not 0 <= k < len(self):
            raise ModelError(f"Ensemble: there is no variant {k}; they are numbered from 0 to {len(self) - 1}.")
        for piece in self.pieces:
            if k in piece.told:
                if self.keep.whole:
                    return piece
                return run_apart(self.variants, k, self.coupling, self.until, self.settings, [])
        raise ModelError(f"Ensemble: variant {k} has not run yet; call run(until=…).")

    def to_xarray(self) -> xarray.Dataset:
        """All variants over time as one Dataset, (variant, time, …); needs the extra `data`."""
        from coordinator.ensemble.reading import to_xarray

        return to_xarray(self)

    # --- blocks ------------------------------------------------------------------------------------------------------

    def _blocks(self, cluster: Any) -> list[list[int]]:
        """Which variants run together."""
        if len(self) < MIN_SIDE_BY_SIDE or self.apart:
            return [[k] for k in range(len(self))]
        alike: dict[bytes, list[int]] = {}
        if GRAVITY in self.variants:
            for k in range(len(self)):
                alike.setdefault(gravity_of(self.variants, k, self.coupling), []).append(k)
        else:
            alike[b""] = list(range(len(self)))
        size = self._size()
        if cluster is not None or self.folder is not None:  # so that workers share them, and what is done is kept
            size = min(size, max(LEAST_OF_BLOCK, -(-len(self) // BLOCKS)))
        return [group[start : start + size] for group in alike.values() for start in range(0, len(group), size)]

    def _size(self) -> int:
        """How many variants run side by side."""
        model = self.variants.model
        members = len(model.bodies) + len(model.joint_edges) + len(model.force_edges)
        samples = self.until / self.dt / self.record_every + 2
        fitting = BLOCK_BYTES / (250.0 * members * samples)  # bytes of a member in a sample, about
        most = BODIES_PER_GLUED_BLOCK if isinstance(self.coupling, Glued) else BODIES_PER_BLOCK
        bodies = max(1, most // max(1, len(model.bodies)))
        return int(min(max(1.0, fitting), bodies, MAX_SIDE_BY_SIDE))

    def _block(self, which: list[int], until: float, heard: Heard) -> list[Piece]:
        """These variants side by side; one that goes wrong runs by itself to where it does, the others in two parts."""
        if len(which) < MIN_SIDE_BY_SIDE or self.apart:
            return [run_apart(self.variants, k, self.coupling, until, self.settings, heard) for k in which]
        try:
            return [run_stacked(self.variants, which, self.coupling, until, self.settings, heard)]
        except Apart as apart:
            return [piece for group in apart.groups for piece in self._block(group, until, heard)]
        except VariantDiverged as wrong:
            rest = [k for k in which if k != wrong.variant]
            alone = run_apart(self.variants, wrong.variant, self.coupling, until, self.settings, heard)
            half = len(rest) // 2
            return [alone, *self._block(rest[:half], until, heard), *self._block(rest[half:], until, heard)]


def _say(heard: Heard, count: int) -> None:
    """What was warned of, once for each kind, with the variant of the first."""
    kinds: dict[type, Heard] = {}
    for variant, warning in heard:
        kinds.setdefault(warning.category, []).append((variant, warning))
    for kind, those in kinds.items():
        variant, first = those[0]
        others = {k for k, _ in those if k is not None} - {variant}
        more = f" So does variant {min(others)}, and {len(others) - 1} more." if len(others) > 1 else ""
        whose = "" if variant is None else f"variant {variant}: "
        warnings.warn(f"Ensemble of {count}: {whose}{first.message}{more}", kind, stacklevel=4)
