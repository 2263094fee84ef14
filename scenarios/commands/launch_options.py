"""Where a run looks for its workers: the options of `modular run` about them, and what they mean together."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modular.errors import ModelError
from scenarios.terminal import say

if TYPE_CHECKING:
    from rich.console import Console

    from coordinator.distributed.launchers import Launcher

PANEL = "Workers"
RUN = "run"  # what the pair of a run is called where a folder holds several
LAUNCHERS = ("processes", "ssh", "dask", "hand", "here")
SYNONYMS = {"subprocess": "processes"}
ONLY = {"hosts": ("ssh",), "python": ("ssh",), "scheduler": ("dask",), "authorized": ("hand",)}  # of these launchers

Workers = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Number of worker processes, each with a part of the bodies; default: none. Results are bitwise "
        "identical.",
        rich_help_panel=PANEL,
    ),
]
LauncherName = Annotated[
    str | None,
    typer.Option(
        "--launcher",
        metavar="NAME",
        help="How workers start: processes on this machine (default), ssh, dask, hand (see modular worker), or "
        "here, one after the other in this process.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
Hosts = Annotated[
    str | None,
    typer.Option(metavar="A,B,…", help="With ssh: the hosts, assigned to workers in turn.", rich_help_panel=PANEL),
]
PythonThere = Annotated[
    str | None,
    typer.Option(
        "--python",
        metavar="PATH",
        help="With ssh: the Python of the hosts; default: the path of this one.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS|FILE",
        help="With dask: the scheduler of a cluster, or the file it wrote; default: a cluster on this machine.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
Bind = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Address at which workers reach this run, such as tcp://10.0.0.7:*; default: chosen automatically.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
OwnKeys = Annotated[
    str | None,
    typer.Option(
        "--keys",
        metavar="NAME|DIR",
        help="Key pair of this run (modular keys new): its name, or the folder that contains it; default: a new "
        "one where needed.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]
Authorized = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="With hand: public keys of the workers that may take part, one NAME.pub each.",
        rich_help_panel=PANEL,
    ),
]
Silence = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS",
        help="Time without a message after which a worker counts as dead and is replaced; default: 600. If its "
        "process ends, it is replaced at once.",
        show_default=False,
        rich_help_panel=PANEL,
    ),
]


@dataclass(frozen=True)
class Launch:
    """Who moves the bodies, and where."""

    workers: Workers = None
    launcher: LauncherName = None
    hosts: Hosts = None
    python: PythonThere = None
    scheduler: Scheduler = None
    bind: Bind = None

    def config(self, console: Console) -> Any:
        """Where a run looks for its workers, or why the options make no sense together."""
        options = {field.name: getattr(self, field.name) for field in fields(self)}
        return launch_config_for(console, options.pop("workers"), options.pop("launcher"), **options)


@dataclass(frozen=True)
class LaunchByKeys(Launch):
    """The same with keys, where others may take part."""

    keys: OwnKeys = None
    authorized: Authorized = None
    silence: Silence = None


def launch_config_for(console: Console, workers: int | None, launcher: str | None, **options: Any) -> Any:
    """Where a run looks for its workers, or why the options make no sense together."""
    name = SYNONYMS.get(launcher or "", launcher or "processes")
    given = {option: value for option, value in options.items() if value is not None}
    if name not in LAUNCHERS:
        raise ModelError(f"--launcher {launcher}: give {', '.join(LAUNCHERS[:-1])} or {LAUNCHERS[-1]}.")
    if workers is None:
        if launcher is not None or given:
            first = "launcher" if launcher is not None else next(iter(given))
            raise ModelError(f"--{first}: give the number of workers, as in --workers 2.")
        return name
    for option in given:
        if name not in ONLY.get(option, LAUNCHERS):
            raise ModelError(f"--{option} is for --launcher {ONLY[option][0]}; the launcher is {name}.")
        if name == "here":
            raise ModelError(f"--{option}: with --launcher here all workers are in this process; leave it out.")
    if name == "here":
        return name
    return _launch_config(console, name, workers, given)


def close_launcher(launch_config: Any) -> None:
    """End what a `LaunchConfig` has brought to life for a run that could not begin."""
    if not isinstance(launch_config, str):
        launch_config.launcher.close()


def _launch_config(console: Console, name: str, workers: int, given: dict[str, Any]) -> Any:
    from coordinator import LaunchConfig
    from coordinator.distributed.protocol import Deadlines
    from coordinator.distributed.transports.addresses import host_of
    from coordinator.distributed.transports.keys import authorised, find_keys

    bind = given.get("bind", "")
    if bind and not (host_of(bind) or bind.startswith("ipc://")):
        raise ModelError(
            f"--bind {bind}: give an address, such as tcp://10.0.0.7:* for any port, or tcp://0.0.0.0:5555."
        )
    pair = find_keys(given["keys"], RUN) if "keys" in given else None
    if name == "hand" and pair is not None and "authorized" not in given:
        raise ModelError("--keys: say who may take part with --authorized DIR, a folder with the workers' .pub files.")
    if name == "hand" and pair is None and "authorized" in given:
        raise ModelError("--authorized: give the pair of this run as well, as in --keys run (modular keys new run).")
    authorized_keys = authorised(given["authorized"]) if "authorized" in given else None
    if authorized_keys == {}:
        raise ModelError(
            f"--authorized {given['authorized']}: it contains no key; copy the workers' .pub files into it."
        )
    silence = given.get("silence")
    deadlines = None if silence is None else Deadlines(silence=silence, stuck=max(Deadlines.stuck, 6.0 * silence))
    return LaunchConfig(
        _launcher(console, name, workers, given), bind, pair, authorized_keys, deadlines, elastic=name == "hand"
    )


def _launcher(console: Console, name: str, workers: int, given: dict[str, Any]) -> Launcher:
    from coordinator.distributed.launchers import ByHand, Dask, Ssh, Subprocess

    if name == "hand":
        return ByHand(lambda text: say(console, text), given.get("authorized"))
    if name == "ssh":
        if "hosts" not in given:
            raise ModelError("--launcher ssh: say on which hosts, as in --hosts node1,node2.")
        return Ssh([host.strip() for host in given["hosts"].split(",")], python=given.get("python", ""))
    if name == "dask":
        return Dask(given["scheduler"]) if "scheduler" in given else Dask.on_this_machine(workers)
    return Subprocess()
