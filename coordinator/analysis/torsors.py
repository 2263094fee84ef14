"""Torsors of a run over its samples: how bodies move, what they carry along, and what acts on them.

For every body the rate of its momentum is the sum of all that acts on it, at any point: {D} = {F}.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from coordinator.analysis.symmetries import generators, turning_of
from coordinator.record.lifetimes import Ever
from coordinator.record.run import Run
from coordinator.record.sensors import exerted
from modular.body import Body
from modular.elements import Array
from modular.errors import ModelError
from modular.force import Force
from modular.names import missing
from modular.port import GROUND
from modular.torsor import Torsor

STENCIL = ((1.0, 0.75), (2.0, -0.15), (3.0, 1.0 / 60.0))  # derivative of sixth order: f(k h) - f(-k h)
PART = 1e-2  # [m], [-]: how far coordinates go in such a step


def torsors(run: Run) -> RunTorsors:
    """Torsors of a run, over time: `torsors(run).twist("rod")`, `.wrench("pin")`, `.momentum("rod")`, `.momentum_rate("rod")`."""
    return RunTorsors(run)


class RunTorsors:
    """Of bodies and ports, joints and forces, by name; NaN while they were not there."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.dimension = len(run.model["gravity"])

    def twist(self, of: str) -> Torsor:
        """How a body moves, at its mass centre; of a port, at the port. What bends has one at each port alone, what is led too."""
        owner, dot, _ = of.partition(".")
        turning = self.run.angular_velocity(of)
        turning = turning[:, None] if self.dimension == 2 else turning
        if dot:
            return Torsor.twist(turning, self.run.velocity(of), self.run.position(of))
        body = self.run.bodies[owner]
        if body.freedoms > (3 if self.dimension == 2 else 6):
            raise ModelError(
                f"body '{of}' ({type(body).__name__}) does not move as one piece; ask for the twist of one of its ports, such as "
                f"'{of}.{body.port_names[0]}'."
            )
        if body.led:  # it has no momentum that would tell
            port = f"{of}.{body.port_names[0]}"
            return Torsor.twist(turning, self.run.velocity(port), self.run.position(port))
        return Torsor.twist(turning, self.run.momentum(of) / body.total_mass, self.run.mass_centre(of))

    def momentum(self, of: str) -> Torsor:
        """Of a body, at its mass centre."""
        self._carried(of)
        q, v, _ = self.run.state(of)
        return self._momentum(of, q, v)

    def momentum_rate(self, of: str) -> Torsor:
        """How the momentum of a body changes, about its mass centre, from its accelerations."""
        self._carried(of)
        q, v, a = self.run.state(of)
        centre = self.run.mass_centre(of)
        pace = np.sqrt((v * v).reshape(len(q), -1).sum(axis=1)) + np.sqrt(
            np.sqrt((a * a).reshape(len(q), -1).sum(axis=1))
        )
        h = (PART / np.maximum(pace, PART)).reshape((-1,) + (1,) * (q.ndim - 1))
        linear, angular = np.zeros((len(q), 3)), np.zeros((len(q), 3))
        for place, weight in STENCIL:
            for sign in (1.0, -1.0):
                t = sign * place * h
                there = self._momentum(of, q + t * (v + 0.5 * t * a), v + t * a).at(centre)
                share = sign * weight / h.reshape(-1, 1)
                linear, angular = linear + share * there.resultant, angular + share * there.moment
        return Torsor.momentum_rate(linear, angular, centre)

    def wrench(self, of: str, *, on_first: bool = False) -> Torsor:
        """What a joint or force exerts on its second side, at the point where it holds it; or on its first side."""
        made, d = self._ever[of], self.dimension
        ports = self._acting(of)
        exerts = exerted(self.run, of) if isinstance(made.component, Force) else self.run.reaction(of)
        moment = exerts[:, d:] if exerts.shape[1] > d else np.zeros((len(exerts), 1))
        if not on_first:
            return Torsor.wrench(exerts[:, :d], moment, self._place(ports[-1], made.at))
        if len(ports) != 2:
            raise ModelError(
                f"force '{of}' acts at {len(ports)} ports; it has no first side with the opposite of its wrench."
            )
        together = isinstance(made.component, Force) or made.component.together
        return -Torsor.wrench(exerts[:, :d], moment, self._place(ports[-1 if together else 0], made.at))

    def weight(self, of: str) -> Torsor:
        """Of a body, at its mass centre."""
        body, centre = self._carried(of), self.run.mass_centre(of)
        return Torsor.wrench(body.total_mass * np.asarray(self.run.model["gravity"]) + 0.0 * centre, 0.0, centre)

    def applied(self, to: str) -> Torsor:
        """All that acts on a body: its weight, joints and forces, at its mass centre."""
        total = self.weight(to)
        for name in (*self.run.joints, *self.run.forces):
            owners = [port.partition(".")[0] for port in self._acting(name)]
            for side, owner in enumerate(owners):
                if owner == to:
                    acts = self.wrench(name, on_first=side < len(owners) - 1)
                    there = np.isfinite(acts.resultant).all(axis=-1)[:, None]
                    force, moment = (np.where(there, part, 0.0) for part in (acts.resultant, acts.moment))
                    total = total + Torsor.wrench(force, moment, np.where(there, acts.point, total.point))
        return total

    # --- parts of it -----------------------------------------------------------------------------------------------------

    @cached_property
    def _ever(self) -> Ever:
        return Ever(self.run)

    def _acting(self, name: str) -> tuple[str, ...]:
        """Ports on which it acts; what it only reads is left out."""
        made = self._ever[name]
        return made.ports[: made.component.driven] if isinstance(made.component, Force) else made.ports

    def _body(self, name: str) -> Body:
        if name not in self.run.bodies:
            raise ModelError(missing("body", name, self.run.bodies, "this run"))
        return self.run.bodies[name]

    def _carried(self, name: str) -> Body:
        """A body that forces move."""
        body = self._body(name)
        if body.led:
            raise ModelError(
                f"body '{name}' ({type(body).__name__}) follows a prescribed motion, whatever acts on it, so it has no "
                "momentum."
            )
        return body

    def _place(self, port: str, at: tuple[float, ...] | None) -> Array:
        if port.partition(".")[0] != GROUND:
            return self.run.position(port)
        place = np.zeros(self.dimension) if at is None else np.asarray(at, float)
        return np.broadcast_to(place, (len(self.run), self.dimension))

    def _momentum(self, name: str, q: Array, v: Array) -> Torsor:
        """At the mass centre. Along a velocity r of coordinates momentum is dT/dv . r, by differences of what is quadratic in v."""
        body = self._body(name)
        shape, about = q.shape[1:], []
        for turn in generators(self.dimension):
            turn = turn if self.dimension == 2 else turn.T  # x' = axis x x
            whole, shift = turning_of(body, shape, turn)
            r = (q.reshape(len(q), -1) @ whole.T + shift).reshape(q.shape)
            about.append(0.5 * (body.kinetic_energy(q, v + r) - body.kinetic_energy(q, v - r)))
        origin = np.zeros((len(q), self.dimension))
        found = Torsor.momentum(body.momentum(q, v), np.stack(about, axis=-1), origin)
        return found.at(body.mass_centre(q))
