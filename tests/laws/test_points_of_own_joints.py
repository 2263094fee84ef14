"""Rows that a joint of one's own calls coincident points are read without asking it: they must be what it is read as."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

from components import Revolute, RigidBody
from coordinator import Glued, Penalty, Simulation
from modular import Assembly, ModelError
from modular.joint import Attachment, Joint, JointForm, point_marks


def rows_of(sign):
    """Points that coincide, and x_a . y_b = 0, as a plain function over all joints; `sign`: which way round the points are."""

    def linearise(count, first, second, marker, position, error, on_first, on_second):
        for n in range(count):
            a, b = position[first[n] : first[n] + 2], position[second[n] : second[n] + 2]
            on_first[n], on_second[n] = 0.0, 0.0
            for c in range(2):
                error[n, c] = sign * (b[0, c] - a[0, c])
                on_first[n, c, 0, c], on_second[n, c, 0, c] = -sign, sign
            error[n, 2] = a[1, 0] * b[1, 1] - a[1, 1] * b[1, 0]
            on_first[n, 2, 1] = b[1, 1], -b[1, 0]
            on_second[n, 2, 1] = -a[1, 1], a[1, 0]

    return linearise


FORMS = {
    sign: JointForm(
        f"welded{sign:+}", rows_of(sign), first=2, second=2, rows=3, translations=2, locks=3, rotations=1, coincident=2
    )
    for sign in (1, -1)
}


@dataclass(frozen=True)
class Welded(Joint):
    """Two bodies as one."""

    sign: int = 1
    dimensions: ClassVar[tuple[int, ...]] = (2,)

    def attach(self, name, first, second, a, b):
        mark_a, mark_b = point_marks(name, first, second, a, b)
        return Attachment(
            FORMS[self.sign], [mark_a, first.direction((1.0, 0.0))], [mark_b, second.direction((1.0, 0.0))]
        )


def pair(joined=None):
    model = Assembly(gravity=(0.0, -9.81))
    for name, x in (("left", 0.0), ("right", 1.0)):
        model.add(
            name, RigidBody(mass=2.0, inertia=0.3, centre=(x, 0.0), ports={"a": (x - 0.5, 0.0), "b": (x + 0.5, 0.0)})
        )
    model.join("pivot", Revolute(), "ground", "left.a")
    if joined is not None:
        model.join("weld", joined, "left.b", "right.a")
    return model


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=repr)
def test_points_the_other_way_round_are_refused_at_the_start_and_on_the_way(coupling):
    with pytest.raises(
        ModelError, match=r"joint 'weld': JointForm\('welded-1'\) says coincident=2.*leave `coincident` out"
    ):
        Simulation(pair(Welded(-1)), 1e-3, coupling)
    wrong = pytest.raises(ModelError, match=r"joint 'weld'.*b\[0\] - a\[0\] with Jacobians -1 and 1")
    with Simulation(pair(), 1e-3, coupling) as simulation, wrong:
        simulation.join("weld", Welded(-1), "left.b", "right.a")


@pytest.mark.parametrize("coupling", [Penalty(), Glued()], ids=repr)
def test_as_they_are_read_they_hold(coupling):
    with Simulation(pair(Welded()), 1e-3, coupling) as simulation:
        assert abs(simulation.run(until=0.2).violation("weld")).max() < 1e-3
