"""Reading an ensemble: every quantity of all variants as one array, (variant, time, …), and the run of one.

An ensemble for other tools: an xarray Dataset over variants and time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from coordinator.couplings import Coupling
from coordinator.couplings.compositions import order_of
from coordinator.ensemble.pieces import Piece, VariantNotices, places_in, port_of, ports_of, rates_in
from coordinator.ensemble.variants import Variants
from coordinator.record.evidence import Evidence, Recorded
from coordinator.record.export import AXES, needed
from coordinator.record.fingerprint import machine, versions
from coordinator.record.past import Given, largest_beta
from coordinator.record.recorder import Segment, Taken
from coordinator.record.run import Run
from coordinator.record.verdict import Estimate
from modular.component import plain
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.ledger import LEDGER
from modular.names import missing

if TYPE_CHECKING:
    import xarray

    from coordinator.ensemble.ensemble import Ensemble


class Readable(Protocol):
    """What has pieces of variants."""

    variants: Variants
    coupling: Coupling
    pieces: list[Piece]
    dt: float
    record_every: int

    @property
    def ticks(self) -> Indices:
        """Of the samples."""

    def whole(self, k: int) -> Piece:
        """Where all samples of a variant are."""


class Reading:
    """Quantities of all variants; NaN where a variant was retired before, or has not run yet."""

    def position(self: Readable, port: str) -> Array:
        """Position of a port [m], (variant, time, axis)."""
        port_of(self.variants, port)
        return gathered(self, lambda piece: places_in(piece, self.variants, port))

    def velocity(self: Readable, port: str) -> Array:
        """Velocity of a port [m/s], (variant, time, axis)."""
        port_of(self.variants, port)
        return gathered(self, lambda piece: rates_in(piece, self.variants, port))

    def extremes(self: Readable, port: str) -> Array:
        """The lowest and the highest coordinates that a port comes to [m], (variant, 2, axis); of the retired, until then."""
        port_of(self.variants, port)
        found = np.full((len(self.variants), 2, self.variants.model.dimension), np.nan)
        for piece in self.pieces:
            known = piece.extremes.get(port)
            if known is None and (places := places_in(piece, self.variants, port)) is not None:
                known = np.stack([places.min(axis=0), places.max(axis=0)], axis=1)
            if known is not None:
                found[np.array(piece.variants)] = known
        return found

    def quantiles(self: Any, port: str, shares: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95)) -> Array:
        """Coordinates that so large a share of the variants does not exceed [m], (shares, time, axis)."""
        places = self.position(port)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # where all are retired
            return np.asarray(np.nanquantile(places, list(shares), axis=0))

    def reaction(self: Readable, joint: str) -> Array:
        """What a joint exerts on its second side: force [N] and, where it locks rotations, moment [N m], (variant, time, …)."""
        return gathered(self, lambda piece: piece.series("joints", joint, "reaction"), joint)

    def violation(self: Readable, joint: str) -> Array:
        """Error of the equations of a joint [m], then [-], (variant, time, rows)."""
        return gathered(self, lambda piece: piece.series("joints", joint, "violation"), joint)

    def ledger(self: Readable, name: str) -> dict[str, Array]:
        """energy ledger of a joint or force [J], (variant, time) each."""

        def ledger(piece: Piece) -> Array | None:
            found = piece.series("joints", name, "ledger")
            return piece.series("forces", name, "ledger") if found is None else found

        table = gathered(self, ledger, name)
        return {line: table[..., k] for k, line in enumerate(LEDGER)}

    def over(self: Any, function: Callable[[Run], Any]) -> Array:
        """What a function answers of every run, such as `lambda run: run.angle("elbow")`, (variant, …)."""
        answers = [np.asarray(function(self.run_of(k, judged=False)), float) for k in range(len(self.variants))]
        longest = max(answers, key=np.size)
        found: Array = np.full((len(answers), *longest.shape), np.nan)
        for k, answer in enumerate(answers):
            room = found[k]
            room[tuple(map(slice, answer.shape))] = answer
        return found

    def run_of(self: Readable, k: int, *, judged: bool = True) -> Run:
        """The run of one variant, as if it had run alone; `judged`: with an estimate of how far it is off, which takes a while."""
        model = self.variants.model_of(k)
        piece = self.whole(k)
        return run_of(piece, k, model, self.coupling, self.dt, self.record_every, judged=judged)


def gathered(ensemble: Readable, read: Callable[[Piece], Array | None], name: str = "") -> Array:
    """What is read of all pieces, (samples, variants, …) each, as (variant, time, …)."""
    ticks = ensemble.ticks
    found: Array | None = None
    for piece in ensemble.pieces:
        values = read(piece)
        if values is None:
            continue
        if found is None:
            found = np.full((len(ensemble.variants), len(ticks), *values.shape[2:]), np.nan)
        variants = np.array(piece.variants)
        own = piece.ticks if len(values) == len(piece.ticks) else piece.place_ticks
        if np.array_equal(own, ticks):
            found[variants] = np.swapaxes(values, 0, 1)
            continue
        here, where = np.isin(ticks, own), np.isin(own, ticks)
        found[np.ix_(variants, np.flatnonzero(here))] = np.swapaxes(values[where], 0, 1)
    if found is None:
        model = ensemble.variants.model
        if name and name not in model.joint_edges and name not in model.force_edges:
            raise ModelError(f"Ensemble: {missing('joint', name, [*model.joint_edges, *model.force_edges])}")
        raise ModelError("Ensemble: nothing of that was recorded; run it first: swing.run(until=5.0).")
    return found


# --- the run of one --------------------------------------------------------------------------------------------------


def run_of(
    piece: Piece, k: int, model: Any, coupling: Coupling, dt: float, record_every: int, *, judged: bool = True
) -> Run:
    """A variant of a piece as a run."""
    told, segments, given = piece.told[k], piece.of(k), Given(model, coupling)
    events, data = list(told.events), told.estimate
    if data is None and not judged:
        data, events = {}, [event for event in events if event["kind"] != "verdict"]
    if data is None:
        estimate = _estimate(_without_end(segments, told.tick, record_every), told, model, coupling, dt)
        data = {} if estimate is None else estimate.to_data()
        events = [event for event in events if event["kind"] != "verdict"]  # one was of all that ran side by side
        events += [estimate.event(dt)] if estimate is not None and estimate.too_much else []
    found = Run(
        dt=dt,
        model=given.model,
        segments=segments,
        bodies=dict(model.bodies),
        events=events,
        settings={
            "coupling": plain(coupling), "record_every": record_every, "project_velocities": False, "leak_limit": None,
            "grouped": True, "until": told.tick * dt, "ticks": told.tick,
        },
        margins=list(told.margins),
        forms=dict(told.forms),
        versions={**versions(), **given.sources},
        machine=machine(),
        estimate=dict(data),
        obstacles=given.obstacles(coupling, []),
        timings={"seconds": piece.seconds / len(piece.told), "ticks": float(told.tick)},
    )  # fmt: skip
    found.described = model  # as its data say: whoever asks for angles looks there
    return found


def _without_end(segments: list[Segment], tick: int, record_every: int) -> list[Segment]:
    """What a single run is judged by as well: its end, where that is no tick to record, is told and not judged."""
    last = segments[-1] if segments else None
    if last is None or tick % record_every == 0 or not last.used or int(last.ticks[last.used - 1]) != tick:
        return segments
    return [*segments[:-1], last.trimmed(last.used - 1)]


def _estimate(
    segments: list[Segment], told: VariantNotices, model: Any, coupling: Coupling, dt: float
) -> Estimate | None:
    """About how far it is off, by what was recorded."""
    taken = Taken.of([segment for segment in segments if segment.used])
    if not taken.segments:
        return None
    beta = largest_beta(coupling, model.bodies)
    recorded = Recorded(taken, told.forms, model.bodies, dt, np.asarray(model.gravity), beta, coupling.at_once)
    rises = order_of(coupling, model, model) == coupling.declared_order
    return Evidence().estimate(recorded, coupling.declared_order, least=not rises, missed=told.missed)


def ticks_of(pieces: list[Piece]) -> Indices:
    """All ticks at which there is a sample of a variant that came to its end."""
    ended = [piece for piece in pieces if len(piece.retired) < len(piece.told)]
    found = [piece.place_ticks if piece.places else piece.ticks for piece in ended or pieces]
    return np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)


def to_xarray(ensemble: Ensemble) -> xarray.Dataset:
    """Places and velocities of all ports, reactions of all joints, (variant, time, …); what was varied stands beside the variants.

    Where only the places or their extremes were kept there is no more; NaN where a variant was retired before.
    """
    library = needed("xarray", "to_xarray")
    if not ensemble.pieces:
        raise ModelError("Ensemble: nothing has run yet; call run(until=…) first.")
    ports, model = ports_of(ensemble.variants), ensemble.variants.model
    axes = list(AXES[: model.dimension])
    data: dict[str, Any] = {}
    over = ("variant", "time", "port", "axis")
    if ensemble.keep.name == "extremes":
        values = np.stack([ensemble.extremes(port) for port in ports], axis=2)
        data["extremes"] = (("variant", "end", "port", "axis"), values, {"units": "m"})
    else:
        values = np.stack([ensemble.position(port) for port in ports], axis=2)
        data["position"] = (over, values, {"units": "m", "long_name": "position of a port"})
    if ensemble.keep.name not in ("extremes", "places"):
        values = np.stack([ensemble.velocity(port) for port in ports], axis=2)
        data["velocity"] = (over, values, {"units": "m/s", "long_name": "velocity of a port"})
        if model.joints:
            forces = [ensemble.reaction(joint)[..., : model.dimension] for joint in model.joints]
            words = "force of a joint on its second side"
            data["force"] = (
                ("variant", "time", "joint", "axis"), np.stack(forces, axis=2), {"units": "N", "long_name": words},
            )  # fmt: skip
    coordinates: dict[str, Any] = {
        "variant": np.arange(len(ensemble)), "time": ("time", ensemble.time, {"units": "s"}), "port": ports, "axis": axes,
        "joint": list(model.joints), "end": ["lowest", "highest"],
    }  # fmt: skip
    used = {name for dims, *_ in data.values() for name in dims}
    coordinates = {name: values for name, values in coordinates.items() if name in used}
    for name, values in ensemble.variants.values.items():
        more = tuple(f"{name}[{k}]" for k in range(values.ndim - 1))
        coordinates[name] = (("variant", *more), values)
    retired = np.zeros(len(ensemble), bool)
    retired[list(ensemble.retired)] = True
    coordinates["retired"] = ("variant", retired)
    return library.Dataset(data, coordinates, {"title": model.title, "dt": ensemble.dt})
