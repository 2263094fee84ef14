"""Studies of the numbers of a model, `--vary`: one ensemble, its folder, its table and its report."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from modular.errors import ModelError
from scenarios import catalogue

if TYPE_CHECKING:
    from coordinator import Ensemble
    from modular.assembly import Assembly
    from modular.elements import Array

DEFAULT_SAMPLES = 64
RECORDED = 200  # samples of a variant, about
SAMPLING = ("latin", "sobol", "random")
AXES = "xyz"


@dataclass(frozen=True)
class Varied:
    """What is varied, as typed."""

    values: dict[str, list[float]]  # of a grid
    spreads: dict[str, tuple[float, float]]
    samples: int = DEFAULT_SAMPLES
    sampling: str = "latin"
    seed: int = 0
    indices: bool = False  # samples that tell which share of the spread each number brings

    def columns(self) -> dict[str, Array]:
        """A value of each for every variant."""
        from coordinator.ensemble import samples

        if self.values:
            return samples.grid(self.values)
        if self.indices:
            from coordinator.ensemble.indices import saltelli

            return saltelli(self.spreads, self.samples, seed=self.seed)
        ways = {"latin": samples.latin_hypercube, "sobol": samples.sobol, "random": samples.drawn}
        return ways[self.sampling](self.spreads, self.samples, seed=self.seed)


def read_varied(
    texts: Sequence[str], samples: int | None, sampling: str, seed: int, *, indices: bool = False
) -> Varied:
    """`--vary upper.masses.0=0.5,1,2` or `--vary upper.masses.0=0.5..2`: all of one kind."""
    values: dict[str, list[float]] = {}
    spreads: dict[str, tuple[float, float]] = {}
    for text in texts:
        name, equals, right = (part.strip() for part in text.partition("="))
        try:
            ends = [float(part) for part in right.split("..")] if ".." in right else []
            listed = [] if ends else [float(part) for part in right.split(",")]
        except ValueError:
            ends, listed, equals = [], [], ""
        if not (name and equals and (listed or len(ends) == 2)) or name in values or name in spreads:
            raise ModelError(
                f"--vary {text}: write NAME=VALUE,VALUE,… or NAME=LOW..HIGH, each name once, such as "
                "--vary upper.masses.0=0.5..2."
            )
        if ends:
            spreads[name] = ends[0], ends[1]
        else:
            values[name] = listed
    if values and spreads:
        raise ModelError(
            "--vary: give values for every name, which make a grid, or a range for every name, which is sampled."
        )
    if values and samples is not None:
        raise ModelError(
            f"--samples {samples} is for ranges, such as --vary {next(iter(values))}=0.5..2; a grid has its own."
        )
    if sampling not in SAMPLING:
        raise ModelError(f"--sampling {sampling}: give one of {', '.join(SAMPLING)}.")
    if indices and values:
        raise ModelError("--indices is for ranges, such as --vary upper.masses.0=0.5..2; a grid has no spread.")
    if indices and sampling != "latin":
        raise ModelError(f"--indices has samples of its own; leave --sampling {sampling} out.")
    return Varied(values, spreads, DEFAULT_SAMPLES if samples is None else samples, sampling, seed, indices)


def refuse_settings(target: str, names: Sequence[str]) -> None:
    """Tell who would vary a setting of a ready system, by which its model is built, that numbers of models are what is varied."""
    settings = catalogue.describe(target)[1] if target in catalogue.names() else {}
    for name in names:
        if name in settings:
            raise ModelError(
                f"--vary {name}: '{name}' is a setting by which '{target}' is built; give it with --set, in a study for each "
                f"value. --vary takes numbers of its bodies, joints and forces, such as upper.masses.0."
            )


def ensemble_of(
    model: Assembly, varied: Varied, coupling: str | None, dt: float, until: float, folder: Path
) -> Ensemble:
    """The ensemble of a study; its blocks are kept in the folder."""
    from coordinator import Ensemble
    from scenarios.settings import read_coupling

    every = max(1, int(until / dt / RECORDED))
    chosen = read_coupling(coupling, None)
    return Ensemble(
        model, dt, chosen, vary=varied.columns(), record_every=every, keep="places", record_to=folder / "variants"
    )


def watched_port(model: Assembly, port: str | None) -> str:
    """The port that is drawn: the last one of the last body, unless one is asked for."""
    ports = [f"{name}.{each}" for name, body in model.bodies.items() for each in body.port_names]
    if port is not None:
        model.port(port, "--show")
        return port
    if not ports:
        raise ModelError("--vary: no body of this model has a port to look at.")
    return ports[-1]


def write_study(done: Ensemble, port: str, folder: Path, command: str, *, indices: bool = False) -> list[Path]:
    """Table, pictures and report of an ensemble that has run."""
    from scenarios.study.fans import draw_fans

    pictures = draw_fans(done, port, folder)
    told: list[str] = []
    if indices:
        from scenarios.study.shares import draw_shares, shares_of, tell_shares

        shares = shares_of(done, port)
        pictures.append(draw_shares(shares, port, done.until, folder))
        told = tell_shares(shares, port)
    files = [_write_csv(done, port, folder / "variants.csv"), folder / "report.md", *pictures]
    files[1].write_text(_report(done, port, pictures, command, told), encoding="utf-8")
    return files


def varied_numbers(done: Ensemble) -> dict[str, Array]:
    """What was varied, one number for each variant and name."""
    found: dict[str, Any] = {}
    for name, values in done.variants.values.items():
        for k, column in enumerate(values.reshape(len(done), -1).T):
            found[name if values.ndim == 1 else f"{name}.{k}"] = column
    return found


def ends_of(done: Ensemble, port: str) -> Array:
    """Where a port is at the end [m], (variant, axis)."""
    places: Array = done.position(port)[:, -1]
    return places


def _write_csv(done: Ensemble, port: str, path: Path) -> Path:
    numbers, ends = varied_numbers(done), ends_of(done, port)
    retired = done.retired
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(
            ["variant", *numbers, *(f"{port} {AXES[k]} [m]" for k in range(ends.shape[1])), "retired at [s]", "by"]
        )
        for k in range(len(done)):
            gone = retired.get(k)
            end = ["" if np.isnan(value) else repr(float(value)) for value in ends[k]]
            told = ["", ""] if gone is None else [repr(gone.time), gone.component]
            rows.writerow([k, *(repr(float(column[k])) for column in numbers.values()), *end, *told])
    return path


def _report(done: Ensemble, port: str, pictures: Sequence[Path], command: str, more: Sequence[str]) -> str:
    ends = ends_of(done, port)
    shares = (0.05, 0.5, 0.95)
    way = f"one after the other: {done.apart}" if done.apart else "side by side, each with the bits of its single run"
    lines = [
        f"# Study of {done.variants.model.title or 'a model'}",
        "",
        f"{len(done)} variants until {done.until:g} s, {way}.",
        "",
    ]
    lines += ["```bash", command, "```", "", f"Where `{port}` is at the end:", ""]
    lines += ["| axis | " + " | ".join(f"{share:.0%}" for share in shares) + " |", "| --- | ---: | ---: | ---: |"]
    for k in range(ends.shape[1]):
        found = np.nanquantile(ends[:, k], shares) if np.isfinite(ends[:, k]).any() else [np.nan] * 3
        lines.append(f"| {AXES[k]} | " + " | ".join(f"{value:.6g} m" for value in found) + " |")
    if done.retired:
        lines += ["", f"{len(done.retired)} variants did not reach the end:", ""]
        lines += [f"- variant {k}, at {gone.time:.6g} s: {gone.reason}" for k, gone in list(done.retired.items())[:20]]
    lines += [*more, "", *(f"![]({path.name})" for path in pictures), ""]
    return "\n".join(lines)
