"""What commands say, where they say it, and the codes that they end with."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import typer

from modular.errors import CouplingError, ModelError

if TYPE_CHECKING:
    from rich.console import Console

DIVERGED, REFUSED, INTERRUPTED = 1, 2, 130  # exit codes
WIDE = 120  # columns of a file or a batch log


def console_for(*, stderr: bool = False) -> Console:
    """Where to print: colours and a bar on a terminal, plain lines elsewhere.

    As wide as COLUMNS says, or the terminal that somebody sits at, also where what is told goes into a pipe. Where nobody says how
    wide, wide enough that names are not folded.
    """
    from rich.console import Console

    known = "COLUMNS" in os.environ or any(map(os.isatty, range(3)))
    return Console(stderr=stderr, highlight=False, width=None if known else WIDE)


def say(console: Console, text: str, style: str | None = None) -> None:
    """A sentence as it stands, in one line however long it is."""
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def complain(message: str) -> None:
    """What went wrong, where errors go."""
    from rich.text import Text

    console_for(stderr=True).print(Text(message, style="red"), soft_wrap=True)


def stop(message: str, code: int) -> NoReturn:
    """End the command, and say why; of a model file with the line."""
    places = sys.modules.get("scenarios.models.places")  # there where one was read
    complain(places.with_place(message) if places is not None else message)
    raise typer.Exit(code)


@contextmanager
def refusals() -> Iterator[None]:
    """Say what is wrong as one message, without a traceback."""
    try:
        yield
    except CouplingError as error:
        from scenarios.settings import couplings_as_typed

        stop(couplings_as_typed(str(error)), REFUSED)
    except (ModelError, MemoryError) as error:
        from scenarios.settings import options_as_typed

        stop(options_as_typed(str(error)) or "not enough memory; record less often with --record-every.", REFUSED)
    except OSError as error:
        stop(f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}", REFUSED)
    except KeyboardInterrupt:
        stop("interrupted.", INTERRUPTED)


def leave_out(options: Mapping[str, object], why: str) -> None:
    """Refuse options that mean nothing beside others, where they were given; `why`: what follows their name."""
    for option, value in options.items():
        if value:
            raise ModelError(f"{option} {why}")
