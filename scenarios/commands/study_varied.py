"""`modular study NAME --vary …`: variants of a model by its numbers, all at once."""

from __future__ import annotations

import shlex
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modular.errors import ModelError, RunWarning
from scenarios.target import load
from scenarios.terminal import INTERRUPTED, complain, leave_out, refusals, say

if TYPE_CHECKING:
    from rich.console import Console

    from coordinator import Ensemble

Given = tuple[str | None, float | None, list[str] | None, Path | None]


@dataclass(frozen=True)
class Variants:
    """Which numbers of a model differ, and how."""

    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=…",
            help="Numbers of the model instead, by their dotted names: upper.masses.0=0.5,1,2 (several give a grid) or =0.5..2 "
            "(sampled). All variants run at once.",
        ),
    ] = None
    samples: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Variants of ranges; default: 64.", show_default=False)
    ] = None
    sampling: Annotated[str, typer.Option(metavar="WAY", help="latin (hypercube), sobol or random.")] = "latin"
    seed: Annotated[int, typer.Option(metavar="N", help="Of the samples.")] = 0
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Of --vary: a Dask scheduler, or the file it wrote; its workers run blocks of variants.",
            show_default=False,
        ),
    ] = None
    indices: Annotated[
        bool,
        typer.Option(
            "--indices",
            help="Of --vary with ranges: which share of the spread each number brings, alone and with the others (Sobol); "
            "--samples N makes N (p + 2) variants for p numbers.",
        ),
    ] = False
    show: Annotated[
        str | None, typer.Option(metavar="PORT", help="Of --vary: the port that is drawn; default: the last.")
    ] = None

    @property
    def given(self) -> dict[str, object]:
        """What was typed of them beside `--vary` itself."""
        return {
            f"--{field.name}": value
            for field in fields(self)
            if field.name != "vary" and (value := getattr(self, field.name)) != field.default
        }


def study_varied(
    console: Console,
    target: str,
    settings: Sequence[str] | None,
    variants: Variants,
    given: Given,
    others: Mapping[str, Any],
) -> None:
    """Run all variants, or those that a folder does not hold yet, and write what comes out."""
    from scenarios.report.first_use import compiling
    from scenarios.study.varied import ensemble_of, read_varied, refuse_settings, watched_port, write_study

    dt, until, coupling, out = given
    with refusals():
        leave_out(others, "is for studies of steps and couplings; leave it out where numbers differ by --vary.")
        if len(coupling or []) > 1:
            raise ModelError(
                "--vary: one coupling at a time; type the command once for each, with a folder of its own."
            )
        varied = read_varied(
            variants.vary or [], variants.samples, variants.sampling, variants.seed, indices=variants.indices
        )
        refuse_settings(target, [*varied.values, *varied.spreads])
        model, _ = load(target, list(settings or []) or None)
        step = _step(dt) if dt is not None else float(model.suggested.get("dt", 1e-4))
        end = until if until is not None else float(model.suggested.get("until", 1.0))
        port = watched_port(model, variants.show)
        folder = out or Path("studies") / f"{Path(target).stem}-varied"
        done = ensemble_of(model, varied, coupling[0] if coupling else None, step, end, folder)
        words = f"{len(done)} variants" + (f", one after the other: {done.apart}" if done.apart else ", side by side")
        say(console, words)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", RunWarning)
            try:
                with compiling(console, bar=False):
                    done.run(end, progress=lambda ensemble: _tell(console, ensemble), cluster=variants.scheduler)
            except KeyboardInterrupt:
                complain(
                    f"interrupted; {done.done} of {len(done)} variants are kept in {folder}. Type the same command again to go on."
                )
                raise typer.Exit(INTERRUPTED) from None
        files = write_study(done, port, folder, shlex.join(["modular", *sys.argv[1:]]), indices=varied.indices)
        for warning in caught:
            say(console, f"- {warning.message}")
        if done.retired:
            first = next(iter(done.retired.values()))
            say(
                console,
                f"- {len(done.retired)} variants did not reach the end; variant {first.variant}: {first.reason}",
            )
        say(console, f"written to {folder}: {', '.join(file.name for file in files)}")


def _step(text: str) -> float:
    try:
        step = float(text)
    except ValueError:
        step = 0.0
    if not step > 0.0:
        raise ModelError(
            f"--dt {text}: give one step in seconds, such as --dt 1e-3; --vary holds no steps against each other."
        )
    return step


def _tell(console: Console, ensemble: Ensemble) -> None:
    if ensemble.done < len(ensemble) and console.is_terminal:
        say(console, f"{ensemble.done} of {len(ensemble)} variants")
