"""What a command is to work on: a ready system, a Python file or a saved model; its step and its end."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modular.errors import ModelError
from scenarios import catalogue
from scenarios.steps import DEFAULT_DURATION, DEFAULT_STEP

if TYPE_CHECKING:
    from modular import Assembly


def load(target: str, typed: Sequence[str] | None) -> tuple[Assembly, dict[str, Any]]:
    """The model with its settings as they were typed, and these settings."""
    from scenarios.settings import fit_settings, read_settings

    given = fit_settings(target, read_settings(typed or []))
    return build(target, given), given


def build(target: str, settings: dict[str, Any]) -> Assembly:
    """The assembly of a scenario or a file; a file that goes wrong is told with the place where it did."""
    from modular.errors import ImportedWarning
    from scenarios.report.said import as_lines

    try:
        with as_lines(ImportedWarning):
            return catalogue.build(target, settings)
    except ModelError as error:
        if place := _place(error, target):
            raise type(error)(f"{error}{place}") from error
        raise
    except Exception as error:
        raise ModelError(
            f"'{target}' could not be built: {type(error).__name__}: {error}{_place(error, target)}"
        ) from error


def times(assembly: Assembly, dt: float | None, until: float | None) -> tuple[float, float]:
    """Step and end of the run [s], from the command line, the model, or the usual ones."""
    dt = assembly.suggested.get("dt", DEFAULT_STEP) if dt is None else dt
    until = _end(assembly) if until is None else until
    if not (isfinite(dt) and dt > 0):
        raise ModelError(f"--dt {dt:g}: a step is a positive number of seconds, such as --dt 1e-4.")
    if not (isfinite(until) and until > 0):
        raise ModelError(f"--until {until:g}: give a positive number of seconds, such as --until 2.")
    if round(until / dt) < 1:
        raise ModelError(
            f"--until {until:g} s is less than half a step of {dt:g} s; give a later time or a smaller --dt."
        )
    return dt, until


def _end(assembly: Assembly) -> float:
    """As the model suggests, but past its last event at a time, so that one sees what it does."""
    end = float(assembly.suggested.get("until", DEFAULT_DURATION))
    last = max((scheduled.time for scheduled in assembly.schedule if scheduled.time is not None), default=0.0)
    return end if last < end else 1.2 * last


def _place(error: BaseException, target: str) -> str:
    """In which line of the user's file something went wrong; of a ready system nothing."""
    from traceback import extract_tb

    if not catalogue.is_file(target):
        return ""
    there = Path(target).resolve()
    lines = [frame for frame in extract_tb(error.__traceback__) if Path(frame.filename).resolve() == there]
    return f" (line {lines[-1].lineno} of {target}: {lines[-1].line})" if lines else ""
