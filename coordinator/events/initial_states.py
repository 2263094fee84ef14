"""Bodies that begin elsewhere than they are described: joints hold them as described, and must be closed where they begin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from coordinator.building.attaching import JOINING_GAP_TOLERANCE
from coordinator.system import System
from modular.assembly import Beginning
from modular.errors import ModelError
from modular.names import missing


def begin(system: System, states: Mapping[str, Beginning]) -> None:
    """Let bodies stand and move as they are to begin; their joints have taken hold."""
    for name, state in states.items():
        place(system, name, state)
    system.rough = False
    system.show()
    _begin_drives(system)
    size = max(1.0, float(np.abs(system.elements.position[: system.elements.count]).max(initial=0.0)))
    for name, gap in open_joints(system).items():
        if gap > JOINING_GAP_TOLERANCE * size:
            raise ModelError(
                f"joint '{name}' is open by {gap:.3g} where its bodies begin; assemble the model as it is now "
                "(coordinator.analysis.assemble), or let it begin as it is described: model.begin.clear()."
            )


def _begin_drives(system: System) -> None:
    """What follows courses begins where bodies begin: these are followed from there (modular/courses.py)."""
    for joints in system.joints:
        drives = joints.form.drives
        if drives:
            joints.linearise(system.elements)
            joints.marker[: joints.count, 1 : 1 + drives] -= joints.error[: joints.count, -drives:]


def place(system: System, name: str, state: Beginning) -> None:
    """Let a body stand and move so."""
    if name not in system.body_home:
        raise ModelError(missing("body", name, system.described, "begin"))
    body, home = system.described[name], system.body_home[name]
    if body.led or body.hosted:
        raise ModelError(f"begin: body '{name}' ({type(body).__name__}) follows a prescribed motion; leave it out.")
    now, row = cast(Any, home).state(), home.row[name]
    for key, value in zip(("q", "v"), state, strict=True):
        if value.shape != now[key][row].shape or not np.all(np.isfinite(value)):
            raise ModelError(
                f"begin: body '{name}' has coordinates of shape {now[key][row].shape}, and begins with {key} of shape "
                f"{value.shape}; give finite numbers as its kind has them."
            )
        now[key][row] = value
    now["a"][row] = 0.0
    size = max(1.0, float(np.abs(state.q).max(initial=0.0)))
    bent = float(np.abs(body.internal_violation(state.q)).max(initial=0.0))
    if bent > JOINING_GAP_TOLERANCE * size**2:
        raise ModelError(
            f"begin: body '{name}' ({type(body).__name__}) would begin in another shape than it is described (its internal "
            f"constraints are off by {bent:.3g}); give coordinates of this body, or leave it out: model.begin.pop('{name}')."
        )


def open_joints(system: System) -> dict[str, float]:
    """By how much every joint that has gaps is open, as bodies are shown: the largest of its rows [m], [rad]."""
    gaps: dict[str, float] = {}
    for joints in system.joints:
        joints.linearise(system.elements)
        if joints.form.holonomic:
            largest = np.abs(joints.error[: joints.count]).max(axis=1, initial=0.0)
            gaps.update(zip(joints.names, largest.tolist(), strict=True))
    return gaps
