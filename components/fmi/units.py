"""Units of variables: what files define of them, and names that everybody uses and some files do not define."""

from __future__ import annotations

import math
from typing import Any

Unit = tuple[float, float, tuple[int, ...]]  # factor and offset to SI units; exponents of kg, m, s, A, K, mol, cd, rad

DEGREE, TURN = math.pi / 180.0, 2.0 * math.pi
BASES: dict[str, tuple[float, tuple[int, int, int, int]]] = {  # factor to SI units; exponents of kg, m, s, rad
    "m": (1.0, (0, 1, 0, 0)), "mm": (1e-3, (0, 1, 0, 0)), "cm": (1e-2, (0, 1, 0, 0)), "km": (1e3, (0, 1, 0, 0)),
    "s": (1.0, (0, 0, 1, 0)), "ms": (1e-3, (0, 0, 1, 0)), "min": (60.0, (0, 0, 1, 0)), "kg": (1.0, (1, 0, 0, 0)),
    "rad": (1.0, (0, 0, 0, 1)), "deg": (DEGREE, (0, 0, 0, 1)), "rev": (TURN, (0, 0, 0, 1)), "rpm": (TURN / 60.0, (0, 0, -1, 1)),
    "N": (1.0, (1, 1, -2, 0)), "kN": (1e3, (1, 1, -2, 0)), "J": (1.0, (1, 2, -2, 0)), "kJ": (1e3, (1, 2, -2, 0)),
    "W": (1.0, (1, 2, -3, 0)), "kW": (1e3, (1, 2, -3, 0)), "1": (1.0, (0, 0, 0, 0)),
}  # fmt: skip  # neither Hz, which may count turns, nor g, which may be grams


def units_of(description: Any) -> dict[str, Unit]:
    """Those that a file defines, and those that variables have and every engineer reads alike ("N.m", "deg/s", "mm/s2")."""
    found: dict[str, Unit] = {}
    for unit in description.unitDefinitions:
        base = unit.baseUnit
        if base is not None:
            exponents = (base.kg, base.m, base.s, base.A, base.K, base.mol, base.cd, base.rad)
            found[unit.name] = float(base.factor), float(base.offset), exponents
    for variable in description.modelVariables:
        declared = variable.declaredType
        name = variable.unit or (declared.unit if declared is not None else None)
        if name and name not in found and (known := _read(name)) is not None:
            found[name] = known
    return found


def _read(name: str) -> Unit | None:
    """Products of known units, one bar, whole powers behind a name."""
    factor, exponents, sign = 1.0, [0, 0, 0, 0], 1
    for k, side in enumerate(name.replace("*", ".").replace("^", "").replace("²", "2").split("/")):
        sign = 1 if k == 0 else -1
        for part in side.strip("()").split("."):
            letters = part.rstrip("0123456789-") or part
            power = part[len(letters) :] or "1"
            if k > 1 or letters not in BASES or not power.lstrip("-").isdigit():
                return None
            size, own = BASES[letters]
            factor *= size ** (sign * int(power))
            exponents = [total + sign * int(power) * one for total, one in zip(exponents, own, strict=True)]
    kg, m, s, rad = exponents
    return factor, 0.0, (kg, m, s, 0, 0, 0, 0, rad)


COUNTS = frozenset({"hz", "khz", "rpm", "r/min", "rev/min", "1/min", "rev/s", "min-1"})


def counts_turns(name: str | None, exponents: tuple[int, ...] | None) -> bool:
    """Whether a unit of how fast something turns leaves open if it counts turns or radians, as hertz that is defined as 1/s."""
    return exponents is not None and str(name).lower() in COUNTS and not exponents[-1]
