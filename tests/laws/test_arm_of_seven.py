"""Inverse dynamics of open chains against the recursive Newton-Euler algorithm, ours written out here and that of Pinocchio.

J. Y. S. Luh, M. W. Walker, R. P. C. Paul, "On-line computational scheme for mechanical manipulators", J. Dyn. Syst. Meas. Control
102 (1980) 69-76. J. Carpentier et al., "The Pinocchio C++ library", IEEE/SICE SII (2019) 614-619.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from components import DrivenDistance, NewtonEulerBody, Prismatic, Ramp, Revolute, RigidBody, Sine
from coordinator import Centralized, Simulation
from coordinator.analysis import inverse_dynamics
from modular import Assembly
from scenarios.bench.peers.peer import bring
from scenarios.bench.suite import Skip

TIMES = np.array([0.0, 0.13, 0.4, 0.77, 1.21])


@dataclass
class Link:
    """In the axes of the ground, where all joints stand at nothing."""

    pivot: np.ndarray
    axis: np.ndarray
    slides: bool
    mass: float
    centre: np.ndarray
    inertia: np.ndarray  # about the centre
    amplitude: float
    hertz: float

    def motion(self):
        """Angle or way, rate, acceleration at all times."""
        w = 2.0 * np.pi * self.hertz
        return (
            self.amplitude * np.sin(w * TIMES),
            self.amplitude * w * np.cos(w * TIMES),
            -self.amplitude * w * w * np.sin(w * TIMES),
        )


def by_lot(seed, sliders=(), size=1.0):
    """Seven links with axes, masses and inertias that have nothing in common; `size` of the arm [m], and its gravity."""
    draw, links, pivot = np.random.default_rng(seed), [], np.zeros(3)
    for k in range(7):
        end, axis = pivot + draw.normal(size=3) * 0.3 * size, draw.normal(size=3)
        points = draw.normal(size=(6, 3)) * 0.1 * size
        points -= points.mean(axis=0)
        mass = draw.uniform(0.5, 4.0)
        inertia = mass / 6.0 * (np.sum(points**2) * np.eye(3) - points.T @ points)
        centre = 0.5 * (pivot + end) + 0.05 * size * draw.normal(size=3)
        far = draw.uniform(0.2, 0.9) * (0.2 * size if k in sliders else 1.0)
        links.append(
            Link(
                pivot,
                axis / np.linalg.norm(axis),
                k in sliders,
                mass,
                centre,
                inertia,
                far,
                draw.uniform(0.2, 0.8) * (4.0 if size < 1.0 else 1.0),
            )
        )
        pivot = end
    return links, size * np.array([1.1, -2.3, -9.2])


def ours(links, gravity, body=RigidBody):
    """Drives' efforts, (times, joints)."""
    model, before = Assembly(gravity=tuple(gravity)), "ground"
    ends = [link.pivot for link in links[1:]] + [links[-1].centre]
    for k, (link, end) in enumerate(zip(links, ends, strict=True)):
        ports = {"start": tuple(link.pivot), "end": tuple(end)}
        inertia = tuple(map(tuple, link.inertia.tolist()))
        model.add(f"link{k}", body(mass=link.mass, inertia=inertia, centre=tuple(link.centre), ports=ports))
        joint = (Prismatic if link.slides else Revolute)(tuple(link.axis))
        model.join(f"joint{k}", joint, before, f"link{k}.start")
        before = f"link{k}.end"
    motions = {f"joint{k}": Sine(link.amplitude, link.hertz) for k, link in enumerate(links)}
    found = inverse_dynamics(model, motions, TIMES)
    return np.stack([found.efforts[f"joint{k}"] for k in range(len(links))], axis=1)


def turned(axis, angle):
    """Rodrigues' formula."""
    cross = np.cross(np.eye(3), axis)  # cross @ x is axis x x
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross


def luh_walker_paul(links, gravity):
    """Outwards velocities and accelerations, inwards forces and moments, all in the axes of the ground."""
    motions = [link.motion() for link in links]
    efforts = np.zeros((len(TIMES), len(links)))
    for i in range(len(TIMES)):
        R, w, alpha = np.eye(3), np.zeros(3), np.zeros(3)
        p, a = links[0].pivot, -gravity  # of the point of the link before that lies at the pivot
        axes, pivots, centres, forces, moments = [], [], [], [], []
        for k, link in enumerate(links):
            q, rate, change = (series[i] for series in motions[k])
            z = R @ link.axis
            if link.slides:
                a = (
                    a
                    + np.cross(alpha, q * z)
                    + np.cross(w, np.cross(w, q * z))
                    + 2.0 * rate * np.cross(w, z)
                    + change * z
                )
                p = p + q * z
            else:
                R, alpha = R @ turned(link.axis, q), alpha + change * z + np.cross(w, rate * z)
                w = w + rate * z
            c, inertia = R @ (link.centre - link.pivot), R @ link.inertia @ R.T
            axes.append(z)
            pivots.append(p)
            centres.append(p + c)
            forces.append(link.mass * (a + np.cross(alpha, c) + np.cross(w, np.cross(w, c))))
            moments.append(inertia @ alpha + np.cross(w, inertia @ w))
            if k + 1 < len(links):
                r = R @ (links[k + 1].pivot - link.pivot)
                p, a = p + r, a + np.cross(alpha, r) + np.cross(w, np.cross(w, r))
        force, moment = np.zeros(3), np.zeros(3)
        for k in reversed(range(len(links))):
            if k + 1 < len(links):
                moment = moment + np.cross(pivots[k + 1] - pivots[k], force)
            force = force + forces[k]
            moment = moment + moments[k] + np.cross(centres[k] - pivots[k], forces[k])
            efforts[i, k] = axes[k] @ (force if links[k].slides else moment)
    return efforts


def pinocchio(links, gravity):
    """The same chain, by its `rnea`."""
    pin = bring("pinocchio", "pin")
    model, joint, before = pin.Model(), 0, np.zeros(3)
    model.gravity.linear = gravity
    for k, link in enumerate(links):
        kind = pin.JointModelPrismaticUnaligned if link.slides else pin.JointModelRevoluteUnaligned
        joint = model.addJoint(joint, kind(link.axis), pin.SE3(np.eye(3), link.pivot - before), f"joint{k}")
        matter = pin.Inertia(link.mass, link.centre - link.pivot, link.inertia)
        model.appendBodyToJoint(joint, matter, pin.SE3.Identity())
        before = link.pivot
    data, motions = model.createData(), np.array([link.motion() for link in links])
    return np.array([pin.rnea(model, data, *motions[:, :, i].T) for i in range(len(TIMES))])


@pytest.mark.short(1)
@pytest.mark.parametrize(
    "sliders, size, body",
    [((), 1.0, RigidBody), ((2, 5), 0.01, partial(RigidBody, basis="points")), ((4,), 1.0, NewtonEulerBody)],
)
def test_an_arm_of_seven_joints_asks_for_what_newton_and_euler_say(sliders, size, body):
    """A hundredth of a metre, told by places of points: small ways turn it far from one time to the next."""
    links, gravity = by_lot(2, sliders, size)
    right = luh_walker_paul(links, gravity)
    np.testing.assert_allclose(ours(links, gravity, body), right, rtol=0.0, atol=2e-12 * np.abs(right).max())


def test_pinocchio_finds_the_same():
    links, gravity = by_lot(3, (4,))
    try:
        theirs = pinocchio(links, gravity)
    except Skip as missing:
        pytest.skip(str(missing))
    np.testing.assert_allclose(ours(links, gravity), theirs, rtol=0.0, atol=1e-12 * np.abs(theirs).max())


def test_a_short_jack_that_turns_fast_pulls_as_it_should():
    """m (r w^2 - r''): its length is no quadratic function of places, and it turns by radians while it goes through a metre."""
    r, w, growth = 0.01, 130.0, 0.4
    model = Assembly(gravity=(0.0, 0.0))
    place, velocity = (r * 0.6, r * 0.8), (0.6 * growth - 0.8 * r * w, 0.8 * growth + 0.6 * r * w)
    model.add("ball", RigidBody(mass=1.5, inertia=0.1, centre=place, ports={"centre": place}, velocity=velocity))
    model.join("jack", DrivenDistance(Ramp(growth)), "ground", "ball.centre", at=(0.0, 0.0))
    with Simulation(model, 1e-3, Centralized()) as simulation:
        equations = simulation.system.cache["equations"]
        a, multipliers = equations.accelerate(0.0, *equations.read())
    assert abs(multipliers[-1]) == pytest.approx(1.5 * r * w**2, rel=1e-12)
    assert a[:2] @ (0.6, 0.8) == pytest.approx(-r * w**2, rel=1e-12)
