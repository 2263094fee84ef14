"""A body and a joint written in plain Python, without kernels; the contract is all they need."""

from dataclasses import dataclass

import numpy as np

from components import PointMassRod, Spherical
from modular import Assembly
from modular.body import Body
from modular.elements import RIGID_BODY_MOTIONS
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.side import Mark, Side


class ParticleSide(Side):
    def __init__(self, stack, name, port):
        self._x, v, a = stack.motion[stack.row[name]]
        self.owner, self.name, self.position = name, str(port), self._x.copy()
        self.velocity, self.acceleration = v.copy(), a.copy()

    @property
    def frame(self):
        return np.eye(len(self.position))

    def point(self, x):
        return Mark(np.ones(1), np.array(x)) if np.allclose(x, self._x, atol=1e-9) else None

    def direction(self, u):
        return None

    @property
    def directions(self):
        return np.zeros((0, len(self.position)))


class Particles:
    """Newmark by hand: x' = x + v dt + a dt^2/2 in predict-correct form, with beta = 1/4."""

    def __init__(self, dimension):
        self.names, self.row, self.kilos = [], {}, []
        self.motion = np.zeros((0, 3, dimension))
        self.shown = []
        self.gravity = np.zeros(dimension)

    def add(self, name, body):
        self.row[name] = len(self.names)
        self.names.append(name)
        self.kilos.append(body.kilograms)
        start = np.stack([body.at, body.velocity, np.zeros_like(body.at)])[None]
        self.motion = np.concatenate([self.motion, start])
        self.shown.append([])

    def remove(self, name):
        k = self.row[name]
        self.motion = np.delete(self.motion, k, axis=0)
        del self.names[k], self.kilos[k], self.shown[k]
        self.row = {name: k for k, name in enumerate(self.names)}

    def one(self, name):
        k = self.row[name]
        other = Particles(self.motion.shape[2])
        other.names, other.row, other.kilos, other.shown = [name], {name: 0}, [self.kilos[k]], [self.shown[k]]
        other.motion, other.gravity = self.motion[k : k + 1], self.gravity
        return other

    def side(self, name, port):
        return ParticleSide(self, name, port)

    def attach(self, name, element, mark):
        self.shown[self.row[name]].append(element)

    def detach(self, name, element):
        self.shown[self.row[name]].remove(element)

    def state(self):
        return {"q": self.motion[:, :1], "v": self.motion[:, 1:2], "a": self.motion[:, 2:]}

    def configure(self, newmark, internal, dt):
        self.newmark = newmark

    def _show(self, motion, elements):
        for (x, v, _), rows in zip(motion, self.shown, strict=True):
            elements.position[rows], elements.velocity[rows] = x, v
            elements.current_velocity[rows] = v

    def predict(self, elements, dt):
        x, v, a = self.motion.transpose(1, 0, 2)
        beta, gamma = self.newmark.beta, self.newmark.gamma
        self.guess = np.stack([x + dt * v + (0.5 - beta) * dt**2 * a, v + (1 - gamma) * dt * a, a], axis=1)
        self._show(self.guess, elements)
        for (_, v, a), rows in zip(self.motion, self.shown, strict=True):
            elements.current_velocity[rows] = v + dt * a

    def _accelerations(self, elements):
        return [self.gravity + elements.force[rows].sum(0) / m for rows, m in zip(self.shown, self.kilos, strict=True)]

    def correct(self, elements, dt):
        a = np.array(self._accelerations(elements))
        self.motion[:, 0] = self.guess[:, 0] + self.newmark.beta * dt**2 * a
        self.motion[:, 1] = self.guess[:, 1] + self.newmark.gamma * dt * a
        self.motion[:, 2] = a
        self.show(elements)
        wrong = [name for name, state in zip(self.names, self.motion, strict=True) if not np.isfinite(state).all()]
        return wrong[0] if wrong else None

    def show(self, elements):
        self._show(self.motion, elements)

    def reevaluate(self, elements, names):
        for name, a in zip(self.names, self._accelerations(elements), strict=True):
            if name in names:
                self.motion[self.row[name], 2] = a

    def respond(self, elements, *, constrained=True):
        for rows, m in zip(self.shown, self.kilos, strict=True):
            for row in rows:
                elements.response[row] = 0.0
                elements.response[row, :, : elements.dimension] = np.eye(elements.dimension) / np.sqrt(m)

    def bound_demands(self, elements):
        for rows in self.shown:
            load = elements.demand[rows].sum(axis=0) if rows else np.zeros((RIGID_BODY_MOTIONS, RIGID_BODY_MOTIONS))
            elements.bound[rows] = np.linalg.eigvalsh(load)[-1]

    def push(self, name, impulses, elements):
        k = self.row[name]
        total = sum(impulses[row] for row in self.shown[k] if row in impulses)
        jump = total / self.kilos[k]
        work = float(total @ (self.motion[k, 1] + 0.5 * jump))
        self.motion[k, 1] += jump
        return work

    def shift(self, name, velocity):
        k = self.row[name]
        work = float(self.kilos[k] * velocity @ (self.motion[k, 1] + 0.5 * velocity))
        self.motion[k, 1] += velocity
        return work


class Gliders(Particles):
    """The same, that may be glued."""

    def drift(self, elements, step):
        x, v, _ = self.motion.transpose(1, 0, 2)
        half = v + 0.5 * step * np.array(self._accelerations(elements))
        self.ahead = np.stack([x + step * half, half, half], axis=1)
        self._show(self.ahead, elements)

    def accept_step(self, elements):
        self.motion[:, :2] = self.ahead[:, :2]

    def kick(self, elements, step):
        self.motion[:, 1] = self.ahead[:, 1] + 0.5 * step * np.array(self._accelerations(elements))
        self.show(elements)

    def respond_ahead(self, elements):
        self.respond(elements)

    def apply_impulse(self, elements):
        for k, rows in enumerate(self.shown):
            self.motion[k, 1] += elements.force[rows].sum(0) / self.kilos[k]
        self.show(elements)

    def show_end_velocity(self, elements):
        for (_, v, a), rows in zip(self.motion, self.shown, strict=True):
            elements.current_velocity[rows] = v + elements.clock[0] * a

    def invalidate(self, elements):
        """There is nothing."""

    def save_start(self, elements):
        self.origin = self.motion.copy()

    def restore_start(self, elements):
        self.motion[:] = self.origin


@dataclass(frozen=True)
class Particle(Body):
    kilograms: float
    at: tuple
    velocity: tuple

    dimension = property(lambda self: len(self.at))
    port_names = ("here",)
    total_mass = property(lambda self: self.kilograms)
    freedoms = property(lambda self: len(self.at))

    def check(self, name):
        return []

    def kind(self):
        return ("particle", len(self.at))

    def new_stack(self):
        return Particles(len(self.at))

    def port_motion(self, port, q, v, a):
        return q[..., 0, :], v[..., 0, :], a[..., 0, :]

    def kinetic_energy(self, q, v):
        return 0.5 * self.kilograms * np.sum(v[..., 0, :] ** 2, axis=-1)

    def potential_energy(self, q, gravity):
        return -self.kilograms * q[..., 0, :] @ gravity

    def momentum(self, q, v):
        return self.kilograms * v[..., 0, :]

    def mass_centre(self, q):
        return q[..., 0, :]

    def internal_violation(self, q):
        return np.zeros((*q.shape[:-2], 0))

    def internal_violation_rate(self, q, v):
        return np.zeros((*q.shape[:-2], 0))

    @classmethod
    def example(cls, dimension=3):
        return cls(1.3, (0.2, -0.1, 0.4)[:dimension], (0.1, 0.5, -0.3)[:dimension])


@dataclass(frozen=True)
class Glider(Particle):
    def kind(self):
        return ("glider", len(self.at))

    def new_stack(self):
        return Gliders(len(self.at))


def wire_loop(count, first, second, marker, x, error, on_first, on_second):
    """A wire of constant length: half the difference of the squares, plain NumPy."""
    for n in range(count):
        arm = x[second[n]] - x[first[n]]
        error[n, 0] = 0.5 * (arm @ arm - marker[n, 0] ** 2) / marker[n, 0]
        on_first[n, 0, 0], on_second[n, 0, 0] = -arm / marker[n, 0], arm / marker[n, 0]


WIRE = JointForm("wire", wire_loop, first=1, second=1, rows=1, translations=1, locks=1, rotations=0, marker=1)


@dataclass(frozen=True)
class Wire(Joint):
    length: float

    def gap(self, first, second, a, b):
        return abs(np.linalg.norm(b - a) - self.length)

    def attach(self, name, first, second, a, b):
        mark_a, mark_b = point_marks(name, first, second, a, b)
        return Attachment(WIRE, [mark_a], [mark_b], (self.length,))

    @classmethod
    def example(cls, dimension=3):
        return cls(1.0)


def pendulum(body, joint):
    assembly = Assembly(gravity=(0.0, 0.0, -9.81))
    assembly.add("bob", body)
    assembly.add("frame", PointMassRod((0, 0, 0), (0.3, 0, 0), (500.0, 500.0)))
    assembly.join("left", Spherical(), "ground", "frame.start")
    assembly.join("right", Spherical(), "ground", "frame.end")
    assembly.join("wire", joint, "frame.end", next(f"bob.{port}" for port in body.port_names))
    return assembly
