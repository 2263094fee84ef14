"""What decides the bits of a run beside its model: versions, sources, machine."""

from __future__ import annotations

import functools
import hashlib
import json
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numba.core import codegen, config

from modular.own_packages import PACKAGES, ROOT
from modular.target import BASELINES
from modular.version import __version__

LIBRARIES = ("numpy", "numba", "llvmlite", "scipy")
# features that change how sums are rounded
ROUNDING_FEATURES = ("fma", "avx", "sse4", "neon", "sve", "asimd", "vsx", "rvv")


def versions() -> dict[str, str]:
    """Versions of what computes, and a digest of our own sources."""
    return dict(_versions())


def machine() -> dict[str, str]:
    """Operating system, processor with the features that decide bits, libraries of mathematics."""
    return dict(_machine())


def bits() -> str:
    """All of that but the name of the operating system, as text: processes with the same give the same bits."""
    return json.dumps({**versions(), **{k: v for k, v in machine().items() if k != "system"}}, sort_keys=True)


def digest_of_files(files: list[Path], root: Path) -> str:
    """A short digest of sources, the same whatever the line ends."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.relative_to(root).as_posix().encode())
        digest.update(file.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()[:24]


@functools.cache
def _versions() -> dict[str, str]:
    found = {"modular": __version__, "python": f"{platform.python_version()} ({platform.python_implementation()})"}
    for library in LIBRARIES:
        try:
            found[library] = version(library)
        except PackageNotFoundError:
            found[library] = "unknown"
    packages = (*PACKAGES, "scenarios")
    sources = [file for package in packages for file in sorted((ROOT / package).rglob("*.py"))]
    return {**found, "sources": digest_of_files(sources, ROOT)}


@functools.cache
def _machine() -> dict[str, str]:
    return {
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "processor": _processor(),
        "kernels compiled for": f"{config.CPU_NAME or codegen.ll.get_host_cpu_name()} ({_features()})",
        "linear algebra": _blas(),
        "C library": " ".join(platform.libc_ver()).strip() or "that of the system",
    }


def _features() -> str:
    """Features of the processor that the compiler may use and that change how sums are rounded."""
    if config.CPU_NAME in dict(BASELINES.values()):
        words = [f"+{feature}" for feature in dict(BASELINES.values())[config.CPU_NAME]]
    else:
        words = str(config.CPU_FEATURES or codegen.get_host_cpu_features()).split(",")
    return " ".join(
        sorted(word[1:] for word in words if word.startswith("+") and word[1:].startswith(ROUNDING_FEATURES))
    )


def _processor() -> str:
    """The name of the processor as its maker writes it, where the system tells."""
    try:
        if platform.system() == "Linux":
            lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
            named = [line.partition(":")[2].strip() for line in lines if line.lower().startswith("model name")]
            return named[0] if named else platform.machine()
        if platform.system() == "Darwin":
            command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
            return subprocess.run(command, capture_output=True, text=True, check=True, timeout=5).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        pass
    return platform.processor() or platform.machine()


def _blas() -> str:
    """The library of linear algebra that numpy was built with."""
    built: Any = np.show_config(mode="dicts")
    blas = built.get("Build Dependencies", {}).get("blas", {})
    return f"{blas.get('name', 'unknown')} {blas.get('version', '')}".strip()
