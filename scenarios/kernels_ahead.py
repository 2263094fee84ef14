"""Kernels ahead: machine code of all ready systems, compiled before anybody runs them; for releases, containers and clusters.

Every system is run under every coupling as a user would, by the command itself in processes of their own, so what is kept is
what a run needs, its summary included.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from modular.errors import ModelError
from modular.own_packages import ROOT


def compile_all(
    names: Iterable[str], couplings: Sequence[str], root: Path | None, tell: Callable[[str], None] = lambda name: None
) -> list[str]:
    """Run each system under each coupling, on all cores; what went wrong, a line each. `root`: the folder that keeps it."""
    cases = [(name, coupling) for name in names for coupling in couplings]
    environment = {**os.environ, "MODULAR_COMPILERS": "1", **({"MODULAR_CACHE_DIR": str(root)} if root else {})}
    wrong: list[str] = []

    def run(case: tuple[str, str]) -> None:
        name, coupling = case
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-P", "-c", START, str(ROOT), "run", name, "--coupling", coupling, "--no-plot"]
            done = subprocess.run(
                [*command, "--checkpoint-every", "0", "--out", str(Path(folder) / "run")], cwd=folder, env=environment,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            )  # fmt: skip
        if done.returncode not in (0, 1):  # a run that diverges has been compiled too
            wrong.append(f"{name} under {coupling}: {done.stderr.strip().splitlines()[-1:]}")
        tell(f"{name}, {coupling}")

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(run, cases))
    return wrong


START = "import sys; sys.path.insert(0, sys.argv.pop(1)); from scenarios.cli import main; main()"


def build_wheel(out: Path, code: Path) -> Path:
    """A wheel of this clone with the machine code in a folder; it serves this version of Python and this platform."""
    if not (ROOT / "pyproject.toml").is_file():
        raise ModelError(f"a wheel is built from a clone of the repository; {ROOT} is an installed package.")
    before = set(out.glob("*.whl"))
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(out), str(ROOT)],
        env={**os.environ, "MODULAR_SHIPPED_KERNELS": str(code)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise ModelError(f"pip wheel failed: {done.stderr.strip()}")
    made = sorted(set(out.glob("*.whl")) - before, key=lambda path: path.stat().st_mtime)
    return made[-1] if made else max(out.glob("*.whl"), key=lambda path: path.stat().st_mtime)
