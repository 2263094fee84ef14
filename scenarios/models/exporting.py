"""A model written for other programs, as the name of the file ends, with a sentence for whatever they do not get."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from components import Friction, Stop
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


def _beside(model: Assembly) -> list[str]:
    """What no format has of joints and forces that have a form."""
    found = [
        f"joint '{name}': where it breaks" for name, edge in model.joint_edges.items() if edge.breaks_at is not None
    ]
    for name, edge in model.force_edges.items():
        force = edge.force
        if isinstance(force, Friction) and force.static is not None and force.static > force.dry:
            found.append(f"force '{name}': what it holds beyond what it slides with (static = {force.static:g})")
        if isinstance(force, Stop) and (force.stiffness is not None or force.damping or force.restitution):
            found.append(f"force '{name}': how its walls give and throw back (stiffness, damping, restitution)")
    return found


def export_model(model: Assembly, path: str | Path, *, strict: bool = False) -> Exported:
    """Write a model as MJCF (.xml), URDF (.urdf), SDFormat (.sdf) or USD (.usda); `strict` refuses what would drop something."""
    path = Path(path)
    if path.suffix not in FORMATS:
        raise ModelError(f"'{path}': models are written for other programs as {', '.join(FORMATS)}; give such a name.")
    found = mechanism(model)
    found.dropped += _beside(model)
    text = FORMATS[path.suffix][1](found)
    if strict and found.dropped:
        more = f" and {len(found.dropped) - 10} more" if len(found.dropped) > 10 else ""
        raise ModelError(
            f"--strict, and {FORMATS[path.suffix][0]} has no form for {'; '.join(found.dropped[:10])}{more}; leave --strict out."
        )
    put_in_place(path, text.encode())
    return Exported(text, found.approximated, found.dropped)
