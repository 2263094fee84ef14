"""The commands `modular worker` and `modular keys`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from modular.errors import ModelError
from scenarios.terminal import refusals

DEFAULT_WAIT_SECONDS = 3600.0  # seconds that a worker waits for a coordinator: a lid may be closed over it

keys = typer.Typer(
    no_args_is_help=True, rich_markup_mode="rich", help="Keys of coordinators and workers, kept as ssh keeps its keys."
)

Folder = Annotated[
    Path | None,
    typer.Option(
        "--folder", metavar="DIR", help="Folder of the keys; default: the folder of your settings.", show_default=False
    ),
]


def folder_of_keys(folder: Path | None) -> Path:
    """As asked for, or that of the user."""
    from coordinator.distributed.transports import keys

    return folder or keys.folder_of_keys()


@keys.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the pair, such as that of its worker.")],
    folder: Folder = None,
) -> None:
    """Make a pair: NAME.key stays with its owner, NAME.pub goes to the others.

    \b
    Example:
      [bold]modular keys new worker0[/bold]
    """
    from coordinator.distributed.transports.keys import write_keys
    from coordinator.distributed.transports.zeromq import fresh_keys

    with refusals():
        public = write_keys(folder_of_keys(folder), name, fresh_keys())
        typer.echo(f"{public.with_suffix('.key')}  keep it; others must not read it")
        typer.echo(f"{public}  give it to the others")


@keys.command("list")
def list_(folder: Folder = None) -> None:
    """Whose public keys are in a folder.

    \b
    Example:
      [bold]modular keys list --folder authorized[/bold]
    """
    from coordinator.distributed.transports.keys import authorised

    with refusals():
        place = folder_of_keys(folder)
        found = authorised(place)
        for key, name in found.items():
            typer.echo(f"{key.decode()}  {name}")
        if not found:
            typer.echo(f"{place} contains no public key; modular keys new NAME makes a pair.", err=True)


def worker(
    connect: Annotated[str, typer.Option(metavar="ADDRESS", help="Address of the run, such as tcp://127.0.0.1:5555.")],
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of this worker in the run.")],
    bind: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address at which neighbours reach this worker; default: that at which the run reaches it.",
            show_default=False,
        ),
    ] = None,
    announce: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address announced to neighbours instead, where its port is forwarded to that of --bind: from a "
            "container, or through a gateway.",
            show_default=False,
        ),
    ] = None,
    own_keys: Annotated[
        str | None,
        typer.Option(
            "--keys",
            metavar="NAME|DIR",
            help="Key pair of this worker (modular keys new): its name, or the folder that contains it; default: none.",
        ),
    ] = None,
    coordinator: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|KEY", help="The public key of the run, or a file with it (run.pub); needed with --keys."
        ),
    ] = None,
    folder: Folder = None,
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", min=1.0, help="How long to wait for a run that sends nothing.")
    ] = DEFAULT_WAIT_SECONDS,
) -> None:
    """Move a part of a mechanism for a run that was started elsewhere with --launcher hand.

    \b
    Examples:
      [bold]modular run chain --set bodies=200 --workers 2 \\
          --launcher hand --bind tcp://127.0.0.1:5555[/bold]
      [bold]modular worker --connect tcp://127.0.0.1:5555 --name worker0[/bold]
      [bold]modular worker --connect tcp://127.0.0.1:5555 --name worker1[/bold]

    It ends when the run does. One that is killed can be started again: it goes on where the other stood. Ctrl-C (or
    SIGTERM) lets it leave in order, and the others take its bodies over. A worker with another name than those that the run waits
    for may come at any time, and takes its share. Where the run itself dies, workers wait an hour for modular resume to come
    back to the same address.

    On this machine it knows the run of the same user by itself; any other needs --keys.
    """
    from coordinator.distributed.transports.addresses import check_announced, host_of, is_local
    from coordinator.distributed.transports.keys import find_keys, given_key
    from coordinator.distributed.transports.zeromq import keys_of_this_user
    from coordinator.distributed.workers.process import serve

    with refusals():
        if announce is not None:
            check_announced(announce)
            if bind is None or bind.endswith(":*"):
                raise ModelError("--announce: give with --bind the port to which it is forwarded.")
        order = {"name": name, "incarnation": "0", "hub": connect, "where": bind or "", "orphan": str(wait)}
        order["announce"] = announce or ""
        if own_keys is not None:
            if coordinator is None:
                raise ModelError(
                    "modular worker: with --keys give the public key of the run too, as in --coordinator run.pub."
                )
            pair = find_keys(own_keys, name, folder)
            order |= {"public": pair.public.decode(), "secret": pair.secret.decode()}
            order["hub key"] = given_key(coordinator).decode()
        elif host_of(connect) and is_local(connect):  # where all users of this machine can knock
            pair = keys_of_this_user()
            order |= {"public": pair.public.decode(), "secret": pair.secret.decode(), "hub key": pair.public.decode()}
        serve(order, by_hand=True)
