"""The command `modular`, called in this process: its parser is put together once, where typer does so for every call."""

from functools import cache

import typer.testing

typer.testing._get_command = cache(typer.testing._get_command)

CliRunner = typer.testing.CliRunner
