"""Random mechanisms: trees and loops, planar and spatial, light beside heavy, every joint."""

from functools import cache

import numpy as np

import zoo
from components import (
    AirDrag,
    Beam,
    Coupler,
    Distance,
    DrivenDistance,
    DrivenPlace,
    DrivenRotation,
    DrivenTranslation,
    EllipsoidOnPlane,
    Friction,
    Load,
    ModalBody,
    Motor,
    NewtonEulerBody,
    PointMassRod,
    Revolute,
    RigidBody,
    Rod,
    Rolling,
    Spherical,
    SpringDamper,
    Stop,
    TorsionSpring,
)
from coordinator.events.bulk_add import add_bodies
from coordinator.system import System
from modular import Assembly, ModelError

LED = {DrivenDistance, DrivenPlace, DrivenRotation, DrivenTranslation, EllipsoidOnPlane, Rolling}


def random_assembly(seed, *, most=12, ratio=1000.0, led=False, kinds=False, forces=False):
    """A mechanism hung from the ground; loops are closed where ports happen to be made to coincide.

    `led`: joints that follow something over time and those that roll are among them, and other mechanisms come of every seed.
    `kinds`: so it is with bodies of every kind, among them light ones on long arms.
    `forces`: the same mechanism, with forces by lot: springs, dampers, stops, friction, drag, motors and loads.
    """
    assembly = drawn(seed, most, ratio, led, kinds).copy()
    return with_forces(assembly, seed) if forces else assembly


@cache
def drawn(seed, most, ratio, led, kinds):
    """The same for all who ask, who must not change it."""
    rng = np.random.default_rng(seed)
    dimension = int(rng.integers(2, 4))
    assembly = Assembly(gravity=(0.4, -9.81, 0.7)[:dimension], title=f"random-{seed}")
    count = int(rng.integers(2, most + 1))
    points = [rng.normal(size=dimension) * 0.3]
    ends = {}  # free ends: port -> place
    joint_types = [
        cls for cls, d in zoo.JOINTS if d == dimension and (led or cls not in LED) and (kinds or cls is not Coupler)
    ]
    for k in range(count):
        parent = None if k == 0 or rng.random() < 0.1 else rng.choice(list(ends))
        start = points[0] if parent is None else ends[parent]
        end = start + rng.normal(size=dimension) * rng.uniform(0.05, 0.6)
        mass = float(ratio ** rng.uniform(-0.5, 0.5))
        name = f"body{k}"
        assembly.add(name, (body_of_any_kind if kinds else random_body)(rng, dimension, start, end, mass))
        first = "ground" if parent is None else parent
        join(assembly, rng, joint_types, f"joint{k}", first, f"{name}.start")
        ends[f"{name}.end"] = end
    for k in range(int(rng.integers(0, 3))):  # close loops by a rod between two free ends, some of them twice
        two = rng.choice(len(ends), 2, replace=False) if len(ends) > 1 else (0, 0)
        a, b = (list(ends)[i] for i in two)
        if a == b or np.linalg.norm(ends[a] - ends[b]) < 0.02:
            continue
        name = f"link{k}"
        assembly.add(name, Rod(tuple(ends[a]), tuple(ends[b]), float(ratio ** rng.uniform(-0.5, 0.5)), 0.0))
        join(assembly, rng, [Spherical], f"close{k}a", a, f"{name}.start")
        join(assembly, rng, [Spherical], f"close{k}b", f"{name}.end", b)
        if rng.random() < 0.3:
            join(assembly, rng, [Spherical], f"close{k}c", f"{name}.end", b)
    return assembly


def random_body(rng, dimension, start, end, mass):
    length = float(np.linalg.norm(end - start))
    if rng.random() < 0.5:
        radius = 0.0 if rng.random() < 0.5 else length * rng.uniform(0.02, 0.3)  # thinner: docs/decisions/0008, limits
        return Rod(tuple(start), tuple(end), mass, radius if dimension == 3 else 0.0)
    centre = start + rng.uniform(0.2, 0.8) * (end - start)
    ports = {"start": tuple(start), "end": tuple(end)}
    if dimension == 2:
        inertia = mass * length**2 * rng.uniform(0.02, 0.5)
    else:
        q = zoo.rotation(3, int(rng.integers(1000)))
        moments = mass * length**2 * rng.uniform(0.01, 0.3, 3)
        inertia = q @ (np.trace(np.diag(moments)) * np.eye(3) - np.diag(moments)) @ q.T
        inertia = tuple(map(tuple, 0.5 * (inertia + inertia.T)))
    return RigidBody(mass=mass, inertia=inertia, centre=tuple(centre), ports=ports)


def body_of_any_kind(rng, dimension, start, end, mass):
    """Stiff or soft, its mass centre anywhere along its ports, its inertia as small as you like."""
    kind, length = int(rng.integers(8)), float(np.linalg.norm(end - start))
    if kind < 2:
        return random_body(rng, dimension, start, end, mass)
    centre, small = start + rng.uniform(-0.5, 1.5) * (end - start), 10.0 ** rng.uniform(-5, -1)
    inertia = mass * length**2 * small
    if dimension == 3:
        turn, moments = zoo.rotation(3, int(rng.integers(1000))), inertia * rng.uniform(0.4, 1.0, 3)
        tensor = turn @ (np.trace(np.diag(moments)) * np.eye(3) - np.diag(moments)) @ turn.T
        inertia = tuple(map(tuple, 0.5 * (tensor + tensor.T)))
    ports = {"start": tuple(start), "end": tuple(end)}
    rigid = {"mass": mass, "inertia": inertia, "centre": tuple(centre), "ports": ports}
    if kind == 2:
        return RigidBody(**rigid)
    if kind == 3:
        return NewtonEulerBody(**rigid)
    if kind == 4:
        return PointMassRod(*ports.values(), (0.4 * mass, 0.6 * mass))
    if kind == 5:
        return RigidBody(**rigid, basis="points")
    thick, young = length * rng.uniform(0.05, 0.15), 10.0 ** rng.uniform(7, 10)
    about = {"density": mass / (length * thick**2), "young": young, "elements": 4}
    if dimension == 2:
        beam = Beam.of_rectangle(*ports.values(), width=thick, height=thick, **about)
    else:
        beam = Beam.of_circle(*ports.values(), radius=thick / 2, poisson=0.3, **about)
    return beam if kind == 6 else ModalBody.of_beam(beam, modes=2)


def with_forces(assembly, seed):
    """One to four, about as strong as the weights that they meet; those about hinges where there are any."""
    rng = np.random.default_rng([seed, 1])
    hinges = [edge for edge in assembly.joint_edges.values() if isinstance(edge.joint, Revolute)]
    for k in range(int(rng.integers(1, 5))):
        bodies = rng.choice(list(assembly.bodies), 2, replace=False)
        two = [f"{name}.{rng.choice(['start', 'end'])}" for name in bodies]
        weight = 9.81 * assembly.bodies[bodies[1]].total_mass
        if hinges and rng.random() < 0.6:
            force, *where = about_a_hinge(rng, assembly.dimension, hinges[int(rng.integers(len(hinges)))], weight)
        else:
            force, *where = between_places(rng, assembly.dimension, two, weight)
        trial = assembly.copy()
        try:
            for made in (trial, assembly):
                made.apply(f"force{k}", force, *where)
                if made is trial:
                    stand(trial)
        except ModelError:  # a body that has no axes
            continue
    return assembly


def about_a_hinge(rng, dimension, edge, weight):
    """A torque about its axis, and its ports."""
    torque = 0.2 * weight * rng.uniform(0.2, 1.0)
    axis = None if dimension == 2 else edge.joint.axis
    wall = {"restitution": rng.choice([None, 0.3, 0.7])} if rng.random() < 0.5 else {"stiffness": 300.0 * torque}
    force = [
        TorsionSpring(3.0 * torque, 0.1 * torque, rng.normal(), axis=axis),
        Friction(torque, axis=axis),
        Friction(0.0, 0.1 * torque, axis=axis),
        Motor(torque, no_load=10.0, axis=axis),
        Stop(-rng.uniform(0.1, 0.6), rng.uniform(0.1, 0.6), axis=axis, **wall),
    ][int(rng.integers(5))]
    return force, str(edge.first), str(edge.second)


def between_places(rng, dimension, two, weight):
    """A force between two ports or on one, and those."""
    kind, reach = int(rng.integers(5)), rng.uniform(0.1, 0.8)
    if kind == 0:
        return AirDrag(0.1 * weight, 0.1 * weight), two[1]
    if kind == 1:
        return Load(tuple(weight * rng.normal(size=dimension))), two[1]
    if kind == 2:
        return Stop(high=reach, stiffness=200.0 * weight, damping=weight, measure="distance"), *two
    return SpringDamper(weight * 10.0 ** rng.uniform(0.5, 2.5), 0.3 * weight * rng.uniform(), length=reach), *two


def alone(assembly, sides):
    """An assembly of the bodies at these two ports, with nothing else."""
    made = Assembly(gravity=assembly.gravity)
    for name in dict.fromkeys(port.partition(".")[0] for port in sides):
        if name != "ground":
            made.add(name, assembly.bodies[name])
    return made


def join(assembly, rng, joint_types, name, first, second):
    """A random joint that these two bodies can carry."""
    for cls in rng.permutation(np.array(joint_types, object)):
        sides, place = (first, second), None
        if cls is Distance:  # a link needs a length: from the far end of the parent, or from a place beside it
            sides = (first.replace(".end", ".start"), second)
            place = rng.normal(size=assembly.dimension) if first == "ground" else None
        joints = {name: cls.example(assembly.dimension)}
        if cls is DrivenRotation and assembly.dimension == 3:  # an angle is one while there is a hinge about its axis
            joints[f"{name}-hinge"] = Revolute(axis=joints[name].axis)
        trial = alone(assembly, sides)  # what a joint can do depends on the two bodies at its sides
        try:
            for made in (trial, assembly):
                for each, joint in joints.items():
                    made.join(each, joint, *sides, at=place)
                if made is trial:
                    stand(trial)
        except ModelError:
            continue
        return


def stand(assembly):
    """Bodies, joints and forces as a simulation begins with them, refused as it would; nothing is compiled for it."""
    system = System(assembly.gravity, assembly.bodies)
    add_bodies(system, assembly.bodies)
    for name, edge in assembly.joint_edges.items():
        system.add_joint(name, edge)
    for name, edge in assembly.force_edges.items():
        system.add_force(name, edge)
