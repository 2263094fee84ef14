"""Several models in one system, side by side: what they have to have in common (coordinator/ensemble)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from modular.assembly import Parted
from modular.errors import ModelError


class UnlikeModels(ModelError):
    """Models that cannot stand side by side: which of them are alike."""

    def __init__(self, groups: list[list[int]]) -> None:
        super().__init__("models that are not alike stand side by side")
        self.groups = groups


def check_alike(parted: Parted, bodies: Iterable[str], joints: Iterable[Any], forces: Iterable[Any]) -> None:
    """Stiffness is chosen anew at every tick in all of them, or in none; `joints`, `forces`: their stacks."""
    turning: set[str] = set()
    for stack in joints:
        uneven = [stack.names[row] for row in np.flatnonzero(stack.uneven[: stack.count])]
        turning.update(stack.names if stack.form.turns else uneven)
    turning.update(*(stack.names for stack in forces if stack.turns))
    models = {parted(name)[1] for name in bodies}
    asked = {parted(name)[1] for name in turning}
    if asked != models:
        raise UnlikeModels([sorted(asked), sorted(models - asked)])
