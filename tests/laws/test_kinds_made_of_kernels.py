"""A kind of body made from the kernels of another and its own: loops of Newmark's rule and of glued steps are made of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import exp
from typing import Any, ClassVar

import numpy as np
import pytest

from components import NewtonEulerBody
from components.bodies.loops.leapfrog_loops import leapfrog_loops
from components.bodies.loops.newmark_loops import newmark_loops, newmark_step
from components.bodies.posed.gluing import fly, kick
from components.bodies.posed.kernels import SHOWING, accelerate, unsound
from components.bodies.posed.stack import PosedBodies
from coordinator import Glued, Penalty, Simulation
from modular import Assembly
from modular.kernel import kernel

MASS, THICKNESS, GRAVITY = 0.2, 0.8, 9.81


@kernel
def accelerate_in_oil(bodies: Any, elements: Any, n: int, dt: float, q: Any, v: Any, now: Any, a: Any) -> None:
    accelerate(bodies, elements, n, dt, q, v, now, a)
    for c in range(bodies.gravity.shape[0]):
        a[c] -= bodies.thickness[bodies.make[n]] / bodies.kilograms[bodies.make[n]] * now[c]


@kernel
def kick_in_oil(bodies: Any, elements: Any, n: int, share: float, falling: float, v: Any) -> None:
    slowed = 0.5 * falling * share * bodies.thickness[bodies.make[n]] / bodies.kilograms[bodies.make[n]]
    for c in range(bodies.gravity.shape[0]):
        v[c] *= 1.0 - slowed
    kick(bodies, elements, n, share, falling, v)
    for c in range(bodies.gravity.shape[0]):
        v[c] /= 1.0 + slowed


predict_loop, show_end_velocity_loop, correct_loop, correct_and_predict_loop, show_loop, reevaluate_loop = (
    newmark_loops(__name__, SHOWING, *newmark_step(SHOWING, accelerate_in_oil, unsound))
)
drift_loop, kick_loop, apply_impulse_loop = leapfrog_loops(__name__, SHOWING, kick_in_oil, fly, unsound)
IN_OIL = (
    predict_loop, show_end_velocity_loop, correct_loop, correct_and_predict_loop, show_loop, reevaluate_loop, drift_loop, kick_loop,
    apply_impulse_loop,
)  # fmt: skip


class BodiesInOil(PosedBodies):
    """Bodies of one dimension."""

    thickness: Any

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self.common("thickness")
        self.loops |= {each.__name__.removesuffix("_loop"): each for each in IN_OIL}

    def constants_of(self, body: Any) -> Mapping[str, Any]:
        return {**super().constants_of(body), "thickness": body.thickness}


@dataclass(frozen=True)
class BodyInOil(NewtonEulerBody):
    """A body that `thickness` times its velocity slows down."""

    thickness: float = field(kw_only=True)
    damped: ClassVar[bool] = True

    def kind(self) -> Any:
        return (BodiesInOil, self.dimension)

    def new_stack(self) -> BodiesInOil:
        return BodiesInOil(self.dimension)


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=["penalty", "glued"])
def test_a_kind_made_of_kernels_sinks_as_its_oil_says_to_second_order(coupling: Any):
    """v = m g / k (1 - exp(-k t / m)), of two bodies in oils of their own that share a stack."""
    well = Assembly(gravity=(0.0, -GRAVITY))
    for name, thickness in (("thin", THICKNESS), ("thick", 3.0 * THICKNESS)):
        ports = {"top": (0.0, 0.05)}
        well.add(name, BodyInOil(mass=MASS, inertia=1e-3, centre=(0.0, 0.0), ports=ports, thickness=thickness))
    errors = []
    for dt in (2e-3, 1e-3):
        run = Simulation(well, dt=dt, coupling=coupling).run(0.2)
        speeds = np.array([-run.velocity(f"{name}.top")[-1, 1] for name in ("thin", "thick")])
        rates = np.array([1.0, 3.0]) * THICKNESS / MASS
        errors.append(np.abs(speeds - GRAVITY / rates * (1.0 - np.array([exp(-0.2 * rate) for rate in rates]))))
    assert np.all(errors[0] < 4e-4)  # c k^2 dt^2 with k = 12 / s
    assert np.allclose(errors[0] / errors[1], 4.0, rtol=0.05)
