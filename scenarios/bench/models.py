"""Models that are timed and that are no ready scenarios: the chain in the plane, and chains by joint type."""

from __future__ import annotations

import inspect

import components
import scenarios
from components import Revolute, RigidBody, Rod
from modular.assembly import Assembly
from modular.joint import Joint

LENGTH = MASS = 0.1  # [m], [kg], of a rod of the ready scenario `chain`
RADIUS = 0.005  # [m]


def chain(bodies: int, radius: float = RADIUS) -> Assembly:
    """The ready scenario: rods on ball joints in space, let go from the horizontal."""
    return scenarios.load("chain", bodies=bodies, radius=radius)


def planar_chain(bodies: int) -> Assembly:
    """The same rods on hinges in the plane."""
    model = Assembly(gravity=(0.0, -9.81), title="planar chain")
    for k in range(bodies):
        model.add(f"rod{k}", Rod((k * LENGTH, 0.0), ((k + 1) * LENGTH, 0.0), MASS))
    model.join("hook", Revolute(), "ground", "rod0.start")
    for k in range(1, bodies):
        model.join(f"hinge{k}", Revolute(), f"rod{k - 1}.end", f"rod{k}.start")
    return model


def joint_types() -> list[tuple[type[Joint], int]]:
    """Every joint that `components` exports, with the dimensions in which it exists."""
    exported = [getattr(components, name) for name in components.__all__]
    joints = [kind for kind in exported if inspect.isclass(kind) and issubclass(kind, Joint)]
    return [(kind, dimension) for dimension in (2, 3) for kind in joints if dimension in kind.dimensions]


def joint_chain(kind: type[Joint], dimension: int, bodies: int) -> Assembly:
    """Full bodies in a row, each held to the one before by a joint of one type, the first to the ground."""
    down = (0.0, -9.81) if dimension == 2 else (0.0, 0.0, -9.81)
    model = Assembly(gravity=down, title=f"{kind.__name__} chain")
    inertia = 2e-4 if dimension == 2 else ((1.0e-4, 0.0, 0.0), (0.0, 2.0e-4, 0.0), (0.0, 0.0, 2.5e-4))
    rest = (0.0,) * (dimension - 1)
    for k in range(bodies):
        ports = {"start": (k * LENGTH, *rest), "end": ((k + 1) * LENGTH, *rest)}
        centre = ((k + 0.5) * LENGTH, *rest)
        model.add(f"body{k}", RigidBody(mass=MASS, inertia=inertia, centre=centre, ports=ports))
    spans = kind.apart  # then it holds the far ends of two neighbours
    near, far = ("end", "start") if spans else ("start", "end")
    model.join("joint0", kind.example(dimension), "ground", f"body0.{near}", at=(0.0, *rest) if spans else None)
    for k in range(1, bodies):
        model.join(f"joint{k}", kind.example(dimension), f"body{k - 1}.{far}", f"body{k}.{near}")
    return model
