"""The commands `modular new` and `modular schema`: model files to write by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from modular.errors import ModelError
from scenarios.terminal import console_for, refusals, say


def new(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Which one, such as four-bar.", show_default=False)
    ] = None,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="Where it is written; default: NAME.toml.", show_default=False)
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Tell which there are.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The same as FILE.", show_default=False)
    ] = None,
) -> None:
    """Write a model file to start from: a mechanism that runs, with comments, for an editor.

    \b
    Examples:
      [bold]modular new --list[/bold]
      [bold]modular new four-bar[/bold]
      [bold]modular run four-bar.toml[/bold]
      [bold]modular new chain my-chain.toml[/bold]

    A model file is TOML: bodies, joints, forces, events and settings by name, with sums of parameters where numbers are due.
    Nothing in it is executed. modular schema writes what editors need to complete it and to underline what is wrong.

    A file that is there already stays as it is.

    Exit code: 0 done, 2 refused.
    """
    console = console_for()
    with refusals():
        from scenarios.models.starting import starts, write_start

        if listed or name is None:
            if not listed:
                raise ModelError(f"say which: {', '.join(starts())}; modular new --list tells what they are about.")
            width = max(map(len, starts()))
            for each, about in starts().items():
                say(console, f"{each:{width}}  {about}")
            return
        if file is not None and out is not None:
            raise ModelError(f"--out {out}: it is to be written to '{file}' already; leave one of them out.")
        name = name.removesuffix(".toml")  # the file is what some name
        path = file or out or Path(f"{name}.toml")
        write_start(name, path)
        say(console, f"written: {path}; run it with: modular run {path}")


def schema(
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write it there; left out, it is printed.", show_default=False
        ),
    ] = None,
) -> None:
    """Write the JSON Schema of model files, for completion and red lines in editors.

    \b
    Examples:
      [bold]modular schema --out model.schema.json[/bold]

    Editors with Taplo (Even Better TOML) take it from the first line of a model file: #:schema ./model.schema.json. For JSON most
    have a setting that names it.

    It holds every kind of body, joint, force and event that is installed, yours too.

    Exit code: 0 done, 2 refused.
    """
    console = console_for()
    with refusals():
        import json

        from modular.files import put_in_place
        from scenarios.models.schema import schema as schema_of_models

        text = json.dumps(schema_of_models(), indent=1) + "\n"
        if out is None:
            typer.echo(text, nl=False)
            return
        if not out.resolve().parent.is_dir():
            raise ModelError(f"--out {out}: the folder '{out.parent}' is not there; make it first.")
        put_in_place(out, text.encode())
        say(console, f"written: {out}")
