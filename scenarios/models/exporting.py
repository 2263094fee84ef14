"""A model written for other programs, as the name of the file ends, with a sentence for whatever they do not get."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from components import Friction
from modular.assembly import Assembly
from modular.errors import ModelError
from modular.files import put_in_place
from scenarios.models.mjcf_writing import mjcf
from scenarios.models.rigid import mechanism
from scenarios.models.sdf_writing import sdf
from scenarios.models.urdf_writing import urdf
from scenarios.models.usd_writing import usd

FORMATS = {".xml": ("MJCF", mjcf), ".urdf": ("URDF", urdf), ".sdf": ("SDFormat", sdf), ".usda": ("USD", usd)}


@dataclass(frozen=True)
class Exported:
    """What was written, and what of the model is in it otherwise, or not at all."""

    text: str
    approximated: list[str]
    dropped: list[str]

    def lines(self) -> list[str]:
        """A sentence each."""
        return [f"approximated: {what}" for what in self.approximated] + [f"dropped: {what}" for what in self.dropped]


def _static_friction(model: Assembly) -> list[str]:
    """No format has it: joints rub as they slide."""
    forces = ((name, edge.force) for name, edge in model.force_edges.items())
    return [
        f"force '{name}': what it holds beyond what it slides with (static = {force.static:g})"
        for name, force in forces
        if isinstance(force, Friction) and force.static is not None and force.static > force.dry
    ]


def export_model(model: Assembly, path: str | Path, *, strict: bool = False) -> Exported:
    """Write a model as MJCF (.xml), URDF (.urdf), SDFormat (.sdf) or USD (.usda); `strict` refuses what would drop something."""
    path = Path(path)
    if path.suffix not in FORMATS:
        raise ModelError(f"'{path}': models are written for other programs as {', '.join(FORMATS)}; give such a name.")
    found = mechanism(model)
    found.dropped += _static_friction(model)
    text = FORMATS[path.suffix][1](found)
    if strict and found.dropped:
        more = f" and {len(found.dropped) - 10} more" if len(found.dropped) > 10 else ""
        raise ModelError(
            f"--strict, and {FORMATS[path.suffix][0]} has no form for {'; '.join(found.dropped[:10])}{more}; leave --strict out."
        )
    put_in_place(path, text.encode())
    return Exported(text, found.approximated, found.dropped)
