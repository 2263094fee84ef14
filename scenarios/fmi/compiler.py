"""A C compiler of this machine, and what it makes: a library for the platform that it runs on."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from modular.errors import ModelError

KNOWN = ("cc", "gcc", "clang")
STRICT = ("-std=c99", "-O2", "-ffp-contract=off")  # no operation is joined with another: the bits of modular
SYSTEMS = {"linux": ("linux", ".so"), "darwin": ("darwin", ".dylib"), "win32": ("win", ".dll")}
TIME_LIMIT = 600.0  # [s]


def find_compiler() -> list[str]:
    """The command of the one that CC names, of the first that is installed, or of the package ziglang."""
    named = os.environ.get("CC", "").strip()
    if named:
        command = shlex.split(named)
        if shutil.which(command[0]) is None:
            raise ModelError(f"CC={named}: there is no such compiler; name another one, or none.")
        return command
    for name in KNOWN:
        if found := shutil.which(name):
            return [found]
    if find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc"]
    raise ModelError(
        f"a native FMU is compiled, and there is no C compiler here: none of {', '.join(KNOWN)}, nor the package ziglang. Install "
        "one (python -m pip install ziglang), name it in CC, or export without --native."
    )


def headers() -> Path:
    """Those of FMI, which FMPy has."""
    found = find_spec("fmpy")
    if found is None or found.origin is None:
        raise ModelError(
            "the package fmpy, which has the headers of FMI, is missing: pip install 'modular-multibody[fmi]'."
        )
    return Path(found.origin).parent / "c-code"


def library_name(identifier: str, version: int) -> str:
    """Where a library of this platform lies in an FMU."""
    system, suffix = SYSTEMS.get(sys.platform, ("linux", ".so"))
    if version == 2:
        return f"binaries/{system}{64 if sys.maxsize > 2**32 else 32}/{identifier}{suffix}"
    machine = platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64", "i386": "x86", "i686": "x86"}.get(machine, machine)
    return f"binaries/{machine}-{'windows' if system == 'win' else system}/{identifier}{suffix}"


def compile_library(source: Path, library: Path) -> None:
    """A shared library of one file in C."""
    command = [
        *find_compiler(), *STRICT, "-fPIC", "-fvisibility=hidden", "-shared", f"-I{headers()}", str(source), "-o", str(library),
        *([] if sys.platform == "win32" else ["-lm"]),
    ]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIME_LIMIT, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ModelError(f"the compiler {command[0]} did not come to an end: {error}.") from error
    if done.returncode or not library.is_file():
        said = (done.stderr or done.stdout).strip()[-600:] or f"it ended with code {done.returncode}"
        raise ModelError(f"the compiler {command[0]} made no library: {said}")
