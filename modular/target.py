"""Target: the processor that kernels are compiled for, so that the same code serves many machines.

Numba compiles for the very processor that it runs on, and what is kept then serves no other. Here it compiles for a baseline that
nearly all machines of an architecture have (x86-64-v3: AVX2 and FMA, since 2013; any 64-bit ARM). Bits and speed are the same:
four numbers fill a register of AVX2, and nothing is contracted or reordered. A processor that lacks the baseline falls back to
its own features and says so once; MODULAR_CPU=native asks for them.
"""

from __future__ import annotations

import logging
import os
import platform

import llvmlite.binding as llvm
from numba.core import config
from numba.core.registry import cpu_target

# the psABI of x86-64, microarchitecture level 3, in the names of LLVM
X86_64_V3 = (
    "avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3",
)  # fmt: skip
BASELINES = {
    "x86_64": ("x86-64-v3", X86_64_V3),
    "amd64": ("x86-64-v3", X86_64_V3),
    "aarch64": ("generic", ()),
    "arm64": ("generic", ()),
}
PORTABLE, NATIVE = "portable", "native"

_log = logging.getLogger("modular")


def choose_target() -> None:
    """Let numba compile for the baseline; before its first compilation, later it has no effect."""
    wanted = os.environ.get("MODULAR_CPU") or PORTABLE
    if wanted not in (PORTABLE, NATIVE):
        _log.warning("MODULAR_CPU=%s is not known; set portable (the default) or native. Using portable", wanted)
    chosen = config.CPU_NAME is not None or config.CPU_FEATURES is not None  # by NUMBA_CPU_NAME
    # somebody has begun to compile for this processor
    chosen = chosen or "_toplevel_target_context" in vars(cpu_target)
    baseline = BASELINES.get(platform.machine().lower())
    if wanted == NATIVE or chosen or baseline is None:
        return
    name, features = baseline
    if lacking := missing(features):
        _log.warning(
            "this processor lacks %s, which portable code needs: kernels are compiled for this processor only, and "
            "those shipped with modular cannot be used", " ".join(lacking),
        )  # fmt: skip
        return
    config.CPU_NAME, config.CPU_FEATURES = name, ""


def missing(features: tuple[str, ...]) -> list[str]:
    """Features that this processor does not have."""
    if not features:
        return []
    there = llvm.get_host_cpu_features()
    return [feature for feature in features if not there.get(feature, False)]
