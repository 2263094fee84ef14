"""Every body and joint type that the package exports, with examples that have neither zeros nor symmetry."""

import inspect

import numpy as np

import components
from campaign import shortened
from components import PointMassRod, RigidBody, Rod
from modular import Assembly
from modular.body import Body
from modular.force import Force
from modular.joint import Joint


def exported(kind):
    found = [getattr(components, name) for name in components.__all__]
    return [cls for cls in found if inspect.isclass(cls) and issubclass(cls, kind)]


BODIES = [(cls, d) for cls in exported(Body) for d in cls.dimensions if not cls.led]  # what forces move
# what the whole engine moves; flexible and assembled bodies in one dimension, for a start
OTHER = {("Beam", 3), ("ModalBody", 2), ("Subassembly", 3)}
MOVED = shortened([case for case in BODIES if (case[0].__name__, case[1]) not in OTHER], BODIES)
LED = [(cls, d) for cls in exported(Body) for d in cls.dimensions if cls.led]
JOINTS = [(cls, d) for cls in exported(Joint) for d in cls.dimensions]
FORCES = [(cls, d) for cls in exported(Force) for d in (2, 3)]
ACTING = [case for case in FORCES if case[0].__name__ != "Surface"]  # what acts is between two of those
# each in one dimension for a start, in turn
EXERTED = shortened([case for k, case in enumerate(ACTING) if k % 2 == k // 2 % 2], ACTING)


def stack_of(body):
    """A stack with this body alone, called "body"."""
    stack = body.new_stack()
    stack.add("body", body)
    return stack


def start(body):
    """A body, its coordinates and their rates at the start."""
    state = stack_of(body).state()
    return body, state["q"][0], state["v"][0]


def label(value):
    return getattr(value, "__name__", str(value))


def rotation(dimension, seed=3):
    """A proper rotation without zeros."""
    rng = np.random.default_rng(seed)
    q, r = np.linalg.qr(rng.normal(size=(dimension, dimension)))
    q = q * np.sign(np.diag(r))
    if np.linalg.det(q) < 0:
        q[:, 0] = -q[:, 0]
    return q


def slender(dimension, start, end, **more):
    return Rod(tuple(start), tuple(end), 0.8, 0.0, **more)


def full(dimension, start, end, **more):
    """A full body with ports at both places."""
    start, end = np.asarray(start, float), np.asarray(end, float)
    centre = 0.45 * start + 0.55 * end + 0.02
    inertia = 0.13 if dimension == 2 else ((0.11, 0.01, -0.02), (0.01, 0.14, 0.015), (-0.02, 0.015, 0.09))
    ports = {"start": tuple(start), "end": tuple(end)}
    return RigidBody(mass=1.1, inertia=inertia, centre=tuple(centre), ports=ports, **more)


def masses(dimension, start, end, **more):
    return PointMassRod(tuple(start), tuple(end), (0.6, 0.9), **more)


MAKERS = {"full": full, "slender": slender, "masses": masses}
PLACES = {2: ((0.1, 0.3), (0.8, -0.2), (1.3, 0.5)), 3: ((0.1, 0.3, -0.2), (0.8, -0.2, 0.4), (1.3, 0.5, 0.1))}


def pair(joint, dimension, first="full", second="full", *, gravity=None, swap=False, **motion):
    """Two bodies, joined in the middle where they meet, or end to end where the joint spans; by default in free flight."""
    a, b, c = PLACES[dimension]
    assembly = Assembly(gravity=(0.0,) * dimension if gravity is None else gravity)
    assembly.add("left", MAKERS[first](dimension, a, b, **motion.get("left", {})))
    assembly.add("right", MAKERS[second](dimension, b, c, **motion.get("right", {})))
    sides = ("left.start", "right.end") if joint.apart else ("left.end", "right.start")
    assembly.join("joint", joint, *(reversed(sides) if swap else sides))
    return assembly
