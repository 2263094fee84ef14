"""What the figures were measured on: processor, cores, memory, system, versions. No names of hosts or people."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

LIBRARIES = ("numpy", "numba", "llvmlite", "scipy", "exudyn", "mujoco", "pin")


def machine() -> dict[str, Any]:
    """The machine as data."""
    import psutil

    from modular.version import __version__

    versions = {"modular": __version__, "python": platform.python_version()}
    for name in LIBRARIES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        "memory": round(psutil.virtual_memory().total / 2**30, 1),  # [GiB]
        "system": f"{platform.system()} {platform.machine()}",
        "busy": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,  # others, when it began
        "versions": versions,
    }


def processor() -> str:
    """Name of the processor, as well as the system tells."""
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return (found[1] if found else platform.processor() or platform.machine()).strip()


def sentence(about: dict[str, Any]) -> str:
    """The machine in one line."""
    busy = "" if about["busy"] is None else f", load {about['busy']:g} when it began"
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    cores = f"{about['cores']} core{'s' * (about['cores'] != 1)}"
    return f"{about['processor']}, {cores}, {about['memory']:g} GiB, {about['system']}{busy}; {versions}"
