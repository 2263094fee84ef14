"""A package that is installed at one worker only: bodies in plain Python, which the tests' own process cannot import."""

import os
import sys
from dataclasses import dataclass

import numpy as np

from components import Rod
from modular.body import Body
from modular.elements import RIGID_BODY_MOTIONS
from modular.side import Mark, Side


class Shaft(Side):
    """The port of a motor."""

    def __init__(self, stack, name, port):
        x, v, a = stack.motion[stack.row[name]]
        self.owner, self.name, self.position = name, str(port), x.copy()
        self.velocity, self.acceleration = v.copy(), a.copy()

    @property
    def frame(self):
        return np.eye(len(self.position))

    def point(self, x):
        return Mark(np.ones(1), np.array(x)) if np.allclose(x, self.position, atol=1e-9) else None

    def direction(self, u):
        return None

    @property
    def directions(self):
        return np.zeros((0, len(self.position)))


class Careless:
    """Points of mass that push upwards while there is fuel; what they burn follows from the forces that they have felt."""

    def __init__(self, dimension):
        self.names, self.row, self.bodies, self.shown = [], {}, [], []
        self.motion = np.zeros((0, 3, dimension))
        self.fuel = np.zeros(0)
        self.felt = np.zeros((0, dimension))
        self.gravity = np.zeros(dimension)
        self.ticks = 0

    def add(self, name, body):
        self.row[name] = len(self.names)
        self.names.append(name)
        self.bodies.append(body)
        self.shown.append([])
        start = np.stack([body.at, body.velocity, np.zeros(len(body.at))])[None]
        self.motion = np.concatenate([self.motion, start])
        self.fuel = np.append(self.fuel, body.fuel)
        self.felt = np.concatenate([self.felt, np.zeros((1, len(body.at)))])

    def remove(self, name):
        k = self.row[name]
        self.motion, self.fuel, self.felt = (
            np.delete(array, k, axis=0) for array in (self.motion, self.fuel, self.felt)
        )
        del self.names[k], self.bodies[k], self.shown[k]
        self.row = {name: k for k, name in enumerate(self.names)}

    def one(self, name):
        return self

    def side(self, name, port):
        return Shaft(self, name, port)

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
            elements.position[rows], elements.velocity[rows], elements.current_velocity[rows] = x, v, v

    def predict(self, elements, dt):
        x, v, a = self.motion.transpose(1, 0, 2)
        beta, gamma = self.newmark.beta, self.newmark.gamma
        self.guess = np.stack([x + dt * v + (0.5 - beta) * dt**2 * a, v + (1 - gamma) * dt * a, a], axis=1)
        self._show(self.guess, elements)
        for (_, v, a), rows in zip(self.motion, self.shown, strict=True):
            elements.current_velocity[rows] = v + dt * a

    def _accelerations(self, elements):
        found = []
        for body, rows, fuel, felt in zip(self.bodies, self.shown, self.fuel, self.felt, strict=True):
            if body.fails_below is not None and fuel < body.fails_below:
                raise ZeroDivisionError("the pump has run dry")
            thrust = np.zeros(len(self.gravity))
            thrust[-1] = body.thrust * fuel / (1.0 + felt @ felt)
            found.append(self.gravity + (elements.force[rows].sum(0) + thrust) / body.mass)
        return np.array(found)

    def correct(self, elements, dt):
        a = self._accelerations(elements)
        self.motion[:, 0] = self.guess[:, 0] + self.newmark.beta * dt**2 * a
        self.motion[:, 1] = self.guess[:, 1] + self.newmark.gamma * dt * a
        self.motion[:, 2] = a
        for k, rows in enumerate(self.shown):
            self.felt[k] = 0.9 * self.felt[k] + 0.1 * elements.force[rows].sum(0)
        self.fuel *= 1.0 - dt
        self.show(elements)
        wrong = [name for name, state in zip(self.names, self.motion, strict=True) if not np.abs(state).max() < 1e9]
        return wrong[0] if wrong else None

    def show(self, elements):
        self._show(self.motion, elements)

    def reevaluate(self, elements, names):
        for name, a in zip(self.names, self._accelerations(elements), strict=True):
            if name in names:
                self.motion[self.row[name], 2] = a

    def respond(self, elements, *, constrained=True):
        for body, rows in zip(self.bodies, self.shown, strict=True):
            for row in rows:
                elements.response[row] = 0.0
                elements.response[row, :, : elements.dimension] = np.eye(elements.dimension) / np.sqrt(body.mass)

    def bound_demands(self, elements):
        for rows in self.shown:
            load = elements.demand[rows].sum(axis=0) if rows else np.zeros((RIGID_BODY_MOTIONS, RIGID_BODY_MOTIONS))
            elements.bound[rows] = np.linalg.eigvalsh(load)[-1]

    def push(self, name, impulses, elements):
        k = self.row[name]
        jump = sum(impulses[row] for row in self.shown[k] if row in impulses) / self.bodies[k].mass
        work = float(self.bodies[k].mass * jump @ (self.motion[k, 1] + 0.5 * jump))
        self.motion[k, 1] += jump
        return work

    def shift(self, name, velocity):
        k = self.row[name]
        work = float(self.bodies[k].mass * velocity @ (self.motion[k, 1] + 0.5 * velocity))
        self.motion[k, 1] += velocity
        return work


class Motors(Careless):
    """The same, and they say what they remember."""

    def save(self):
        return {"motion": self.motion.copy(), "tank": {"fuel": self.fuel.copy(), "felt": self.felt.copy()}}

    def restore(self, memory):
        self.motion[:] = memory["motion"]
        self.fuel[:], self.felt[:] = memory["tank"]["fuel"], memory["tank"]["felt"]


@dataclass(frozen=True)
class Motor(Body):
    """A point of mass with a thrust."""

    at: tuple
    mass: float = 1.0
    velocity: tuple = (0.0, 0.0, 0.0)
    fuel: float = 1.0
    thrust: float = 8.0
    fails_below: float | None = None

    stack = Motors
    dimension = property(lambda self: len(self.at))
    port_names = ("shaft",)
    total_mass = property(lambda self: self.mass)
    freedoms = property(lambda self: len(self.at))

    def check(self, name):
        return [] if self.mass > 0 else [f"motor '{name}': mass = {self.mass}; give a positive one."]

    def kind(self):
        return (self.stack.__name__, len(self.at))

    def new_stack(self):
        return self.stack(len(self.at))

    def port_motion(self, port, q, v, a):
        return q[..., 0, :], v[..., 0, :], a[..., 0, :]

    def kinetic_energy(self, q, v):
        return 0.5 * self.mass * np.sum(v[..., 0, :] ** 2, axis=-1)

    def potential_energy(self, q, gravity):
        return -self.mass * q[..., 0, :] @ gravity

    def momentum(self, q, v):
        return self.mass * v[..., 0, :]

    def mass_centre(self, q):
        return q[..., 0, :]

    def internal_violation(self, q):
        return np.zeros((*q.shape[:-2], 0))

    def internal_violation_rate(self, q, v):
        return np.zeros((*q.shape[:-2], 0))

    @classmethod
    def example(cls, dimension=3):
        return cls((0.2, -0.1, 0.4)[:dimension], 1.3, (0.1, 0.5, -0.3)[:dimension])


@dataclass(frozen=True)
class Forgetful(Motor):
    """A motor that does not say what it remembers."""

    stack = Careless


class Deaths(Motors):
    """They end the process that asks for a port."""

    def side(self, name, port):
        print("farewell", file=sys.stderr, flush=True)
        os._exit(3)


@dataclass(frozen=True)
class Deadly(Motor):
    """A motor that nobody survives."""

    stack = Deaths


@dataclass(frozen=True)
class Beam(Rod):
    """A body of ours under another name: compiled, and elsewhere."""
