"""Several steps in a tick of bodies by place and turning (substeps.py)."""

from components.bodies.loops.substeps import in_steps
from components.bodies.posed import kernels
from components.bodies.posed.gluing import respond_loop

predict_in_steps, correct_in_steps, correct_and_predict_in_steps, show_end_velocity_in_steps, respond_in_steps = in_steps(
    __name__, predict=kernels.predict_loop, correct=kernels.correct_loop, show_end_velocity=kernels.show_end_velocity_loop,
    show=kernels.show_loop, reevaluate=kernels.reevaluate_loop, respond=respond_loop,
)  # fmt: skip
