"""Several steps in a tick of subassemblies (substeps.py)."""

from __future__ import annotations

from components.bodies.subassembly import kernels, kinematics
from components.bodies.subassembly.gluing import respond_loop
from components.bodies.substeps import in_steps
from modular.elements import Array
from modular.kernel import kernel
from modular.views import View


@kernel
def copy_coordinates(bodies: View, source: Array, target: Array) -> None:
    """As many as there are."""
    for i in range(int(bodies.sizes[kinematics.COORDINATES])):
        target[i] = source[i]


@kernel
def push_coordinates(bodies: View, v: Array, span: float, whole: Array, alone: Array) -> None:
    """What the difference of two accelerations does in a span of time."""
    for i in range(int(bodies.sizes[kinematics.COORDINATES])):
        v[i] += span * (whole[i] - alone[i])


predict_in_steps, correct_in_steps, correct_and_predict_in_steps, show_end_velocity_in_steps, respond_in_steps = in_steps(
    __name__, (copy_coordinates, push_coordinates), predict=kernels.predict_loop, correct=kernels.correct_loop,
    show_end_velocity=kernels.show_end_velocity_loop, show=kernels.show_loop, reevaluate=kernels.reevaluate_loop,
    respond=respond_loop,
)  # fmt: skip
