"""The contract of a body.

A `Body` is its description: physical data, initial state, ports; immutable, plain data. `Bodies` is the stack of
all bodies of one kind in a simulation: it owns their state and integrates it. A body object in a running simulation
is a view of its row (`Bodies.one`), so object and stack run the same machine code.

A stack offers *capabilities*, one small protocol each. A coupling requires those it needs and
names the stacks that lack them; no stack has to offer all.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, cast, runtime_checkable

import numpy as np

from modular.component import Component
from modular.elements import RIGID_BODY_MOTIONS, Array, Elements, Indices
from modular.errors import ModelError
from modular.integrator import SCHEME, Integrator
from modular.internal_gains import InternalGains
from modular.newmark import Newmark
from modular.port import PortName
from modular.side import Mark, Side

if TYPE_CHECKING:
    from modular.joint import Joint


class StackMembers(list["Body"]):
    """Bodies of one stack, in order; what is derived from all of them at once may stay with them."""

    def __init__(self, bodies: Iterable[Body] = ()) -> None:
        super().__init__(bodies)
        self.derived: Any = None


class Body(Component):
    """Description of a body. State arrays carry time or rows in front (`...`)."""

    __slots__ = ()

    hosted: ClassVar[bool] = False  # whether it lives where only a worker knows it, and has to be asked there
    led: ClassVar[bool] = False  # whether it follows a prescribed motion, whatever acts on it
    dimensions: ClassVar[tuple[int, ...]] = (2, 3)  # where bodies of this type exist

    @property
    def damped(self) -> bool:
        """Whether it takes energy within itself, as what bends may: else all that it loses there is an error."""
        return False

    @property
    @abstractmethod
    def dimension(self) -> int:
        """2 in the plane, 3 in space."""

    @property
    @abstractmethod
    def port_names(self) -> tuple[str, ...]:
        """Names of the ports, in order."""

    @property
    @abstractmethod
    def total_mass(self) -> float:
        """[kg]."""

    @property
    def spread(self) -> float:
        """How far its mass lies about its centre, in the root mean square [m]; 0 for a point, and where nobody asks."""
        return 0.0

    @property
    @abstractmethod
    def freedoms(self) -> int:
        """How many independent motions it has when free: 6 in space, 3 in the plane, fewer for rods and points."""

    @property
    def motions(self) -> int:
        """In how many ways its elements answer forces, whatever takes hold of it: columns of its response, a multiple of six."""
        return RIGID_BODY_MOTIONS

    @property
    def integrator(self) -> Integrator | None:
        """Settings of its own, over those of the coupling; None: none."""
        return None

    @property
    def straight(self) -> bool:
        """Whether its elements are linear in its coordinates."""
        return False

    @property
    def steps(self) -> int:
        """How many it takes in a tick, by its own settings."""
        return 1 if self.integrator is None else self.integrator.steps

    @property
    def integrates(self) -> frozenset[str]:
        """Which settings of an `Integrator` mean something for it."""
        return SCHEME

    def problems(self, name: str) -> list[str]:
        """Everything that is wrong with its data and its integrator, one sentence each."""
        problems: list[str] = self.check(name)
        own: object = self.integrator
        if problems or own is None:
            return problems
        if not isinstance(own, Integrator):
            return [f"body '{name}': integrator = {own!r}; give one such as Integrator(gamma=0.55), or leave it out."]
        return own.problems(f"body '{name}'", self.integrates, type(self).__name__)

    @abstractmethod
    def check(self, name: str) -> list[str]:
        """Everything that is wrong with the data, one sentence each."""

    @abstractmethod
    def kind(self) -> Hashable:
        """Bodies of equal kind can share a stack."""

    @abstractmethod
    def new_stack(self) -> Bodies:
        """An empty stack for bodies of this kind."""

    @property
    def stack_kind(self) -> Hashable:
        """What bodies that share a stack have in common: their kind, and their integrator."""
        return self.kind() if self.integrator is None else (self.kind(), self.integrator)

    def empty_stack(self) -> Bodies:
        """An empty stack for bodies of this kind with this integrator."""
        stack = self.new_stack()
        if self.integrator is not None and self.integrator.steps > 1:
            cast(StepsWithin, stack).take_steps(self.integrator.steps)
        return stack

    @abstractmethod
    def port_motion(self, port: str, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of a port, shape (..., dimension)."""

    @abstractmethod
    def kinetic_energy(self, q: Array, v: Array) -> Array:
        """[J], shape (...)."""

    @abstractmethod
    def potential_energy(self, q: Array, gravity: Array) -> Array:
        """In uniform gravity [J], zero at the origin of the world, shape (...)."""

    @abstractmethod
    def momentum(self, q: Array, v: Array) -> Array:
        """Linear momentum [kg m/s], shape (..., dimension)."""

    @abstractmethod
    def mass_centre(self, q: Array) -> Array:
        """Position of the mass centre [m], shape (..., dimension)."""

    @abstractmethod
    def internal_violation(self, q: Array) -> Array:
        """Error of each internal constraint, shape (..., m)."""

    @abstractmethod
    def internal_violation_rate(self, q: Array, v: Array) -> Array:
        """Its time derivative, shape (..., m)."""

    def constrained(self, q: Array) -> bool:
        """Whether it has internal constraints at all; q: a sample or more."""
        return bool(self.internal_violation(q).size)

    @classmethod
    def energies(cls, bodies: Sequence[Self], q: Array, v: Array, gravity: Array) -> tuple[Array, Array]:
        """Kinetic and potential energy of bodies of one stack together [J], (n,); q, v: (n, bodies, elements, d)."""
        kinetic, potential = np.zeros(len(q)), np.zeros(len(q))
        for k, body in enumerate(bodies):
            kinetic += body.kinetic_energy(q[:, k], v[:, k])
            potential += body.potential_energy(q[:, k], gravity)
        return kinetic, potential

    @classmethod
    def port_places(cls, bodies: Sequence[Self], q: Array) -> Array:
        """Where the ports of bodies of one stack are, one body after the other, (n, ports, d); q: (n, bodies, elements, d)."""
        still = np.zeros_like(q)
        places = [
            body.port_motion(port, q[:, k], still[:, k], still[:, k])[0]
            for k, body in enumerate(bodies)
            for port in body.port_names
        ]
        return np.stack(places, axis=1) if places else np.zeros((len(q), 0, q.shape[-1]))

    @classmethod
    def internal_errors(cls, bodies: Sequence[Self], q: Array, v: Array) -> tuple[Array, Array]:
        """How large the errors of the internal constraints of bodies of one stack are, and their rates, (n, bodies)."""
        errors = [np.linalg.norm(body.internal_violation(q[:, k]), axis=1) for k, body in enumerate(bodies)]
        rates = [
            np.linalg.norm(body.internal_violation_rate(q[:, k], v[:, k]), axis=1) for k, body in enumerate(bodies)
        ]
        return np.stack(errors, axis=1), np.stack(rates, axis=1)

    @classmethod
    @abstractmethod
    def example(cls, dimension: int = 3) -> Self:
        """A body of this type without zeros or symmetry, for the contract tests."""

    @property
    def skeleton(self) -> Sequence[tuple[str, str]]:
        """Pairs of places between which it is drawn, as `port_motion` knows them; none: from its mass centre to its ports."""
        return ()

    def port_axes(self, port: str, q: Array) -> Array:
        """Axes of a port in the world as rows, shape (..., dimension, dimension)."""
        raise ModelError(
            f"{type(self).__name__} does not define how the axes of port '{port}' turn; implement `port_axes(port, "
            "q)` in its class."
        )

    def angular_velocity_of(self, port: str, q: Array, v: Array) -> Array:
        """How fast the axes of a port turn, in the world [rad/s], shape (...) in the plane, else (..., 3).

        Usually from two poses a little before and after, which is right to nine digits; a type that knows it says so.
        """
        size, pace = np.abs(q).max(initial=0.0), np.abs(v).max(initial=0.0)
        short = 1e-5 * max(float(size), 1.0) / float(pace) if pace > 0.0 else 1.0
        before, now, after = (self.port_axes(port, q + shift * v) for shift in (-short, 0.0, short))
        rates = np.swapaxes(now, -1, -2) @ (after - before) / (2.0 * short)  # of rows that turn: minus the spin tensor
        if rates.shape[-1] == 2:
            return np.asarray(0.5 * (rates[..., 0, 1] - rates[..., 1, 0]))
        turns = [0.5 * (rates[..., i, j] - rates[..., j, i]) for i, j in ((1, 2), (2, 0), (0, 1))]
        return np.stack(turns, axis=-1)

    def off_axis(self, q: Array, v: Array) -> Array | None:
        """How fast it turns beside that about one axis [rad/s], (...), of a kind whose step follows a free turn about such an axis
        exactly; None of all others."""
        return None

    # --- changed while it moves --------------------------------------------------------------------------------------

    def adjustable(self) -> dict[str, float]:
        """Numbers of this body that people may change while it moves, by name: those of its data, unless a type has others."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: float(value)
            for name, value in values.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
        }

    def adjusted(self, numbers: Mapping[str, float]) -> Self:
        """This body with other numbers."""
        return replace(self, **numbers)

    def carried(self, before: Body, q: Array, v: Array) -> tuple[Array, Array]:
        """Coordinates and velocities with which it stands where `before`, another description of it, stands with `q` and `v`."""
        if self.kind() == before.kind():
            return q, v
        raise ModelError(
            f"{type(self).__name__} has other coordinates than the former {type(before).__name__}; remove that "
            "body and add this one."
        )

    def marked(self, before: Body, mark: Mark) -> Mark:
        """How it finds a point or direction again that was marked on `before`, another description of it; ports stay ports."""
        return mark

    def marked_motion(self, mark: Mark, q: Array, v: Array) -> tuple[Array, Array]:
        """Where a marked point stands and how fast it is; elements are linear in the coordinates of most bodies."""
        return mark.weights @ q, mark.weights @ v

    def moved(self, q: Array, offset: Array) -> Array:
        """Coordinates after all its points were moved by an offset [m]."""
        raise ModelError(
            f"{type(self).__name__} does not define how it is moved as a whole; implement `moved(q, offset)` in "
            "its class."
        )

    def hidden_spins(self) -> list[tuple[Array, Array]]:
        """Velocities X q + x of its coordinates, each as X and x, that turn it about itself and do not show from outside.

        Those that its masses alone tell (coordinator/analysis/symmetries.py) are left out.
        """
        return []

    def leading(self, times: Array, ways: Array, rates: Array) -> Joint:
        """A drive that leads a port of it along ways from where it stands [m], with their rates, (times, d) each, from 0 on."""
        raise ModelError(
            f"{type(self).__name__} does not define what leads its ports; implement `leading` in its class."
        )

    def turned(self, q: Array, v: Array, rotation: Array) -> tuple[Array, Array]:
        """Coordinates and velocities after it was turned with its motion about the origin of the world, by a rotation (d, d)."""
        raise ModelError(
            f"{type(self).__name__} does not define how it is turned as a whole; implement `turned(q, v, rotation)` in "
            "its class."
        )


@runtime_checkable
class Bodies(Protocol):
    """What every stack of bodies offers: it holds bodies, shows where they are and gives them out as sides."""

    names: list[str]
    row: dict[str, int]
    gravity: Array

    def add(self, name: str, body: Body) -> None:
        """Take a body in, in its initial state."""

    def remove(self, name: str) -> None:
        """Let a body go; the others do not notice."""

    def one(self, name: str) -> Bodies:
        """The same stack narrowed to one row: a view, not a copy."""

    def side(self, name: str, port: PortName) -> Side:
        """A port as a joint sees it now."""

    def attach(self, name: str, element: int, mark: Mark) -> None:
        """From now on show the marked point or direction in row `element` and take the force on it."""

    def detach(self, name: str, element: int) -> None:
        """Stop doing so."""

    def state(self) -> Mapping[str, Array]:
        """Views of q, v, a, one row per body."""


@runtime_checkable
class PredictsAndCorrects(Protocol):
    """Advances by one step around one exchange (Séguy 2003, Figure IV-2)."""

    def configure(self, newmark: Newmark, internal: InternalGains, dt: float) -> None:
        """Take the settings of the scheme."""

    def predict(self, elements: Elements, dt: float) -> None:
        """Predict the state `dt` seconds on and show the predicted elements.

        A tick in which an event is located is gone through in parts; gains stay those of the whole tick (`configure`).
        """

    def correct(self, elements: Elements, dt: float) -> str | None:
        """Solve the local equations under the forces on the elements, correct the state and show it.

        Returns the name of the first body that has gone wrong, if any.
        """

    def show(self, elements: Elements) -> None:
        """Show the present (corrected) elements."""

    def reevaluate(self, elements: Elements, names: Sequence[str]) -> None:
        """Accelerations at the unchanged position and velocity, of those of the named bodies that live here."""


@runtime_checkable
class StepsWithin(Protocol):
    """Takes several steps in a tick, by itself: forces act as impulses at either end (modular/integrator.py)."""

    def take_steps(self, steps: int) -> None:
        """So many, from the first tick on; asked of an empty stack."""


@runtime_checkable
class GivesCompliance(Protocol):
    """Answers forces on its elements, as a body whose internal constraints hold."""

    def respond(self, elements: Elements, *, constrained: bool = True) -> None:
        """Write B per element: accelerations per force are B B^T between the elements of one body."""

    def bound_demands(self, elements: Elements) -> None:
        """Sum the loads that joints ask for and write an upper bound of the largest eigenvalue to each element."""

    def push(self, name: str, impulses: Mapping[int, Array], elements: Elements) -> float:
        """Change the velocity of one body by impulses on elements; the change of kinetic energy [J]."""

    def shift(self, name: str, velocity: Array) -> float:
        """Add a velocity to all points of one body, its turning kept; the change of kinetic energy [J]."""


@runtime_checkable
class DriftsAndKicks(Protocol):
    """Steps on its own between joints that are glued: `drift` may be asked again and again, with other forces each time."""

    def drift(self, elements: Elements, step: float) -> str | None:
        """From where it stands: half a kick by the forces on the elements, then the way that it leads; show the elements there.

        `step` may be negative, unless the stack says `forward_only = True`: then joints are glued at order 2 alone.

        Returns the name of the first body whose internal constraints are not closed there, within
        `Elements.tolerance`, if any.
        """

    def accept_step(self, elements: Elements) -> None:
        """Accept the last drift: stand where it has led."""

    def kick(self, elements: Elements, step: float) -> str | None:
        """The other half of the kick, from the velocity of the last drift, with one that obeys the internal constraints; show it.

        Returns the name of the first body that has gone wrong, if any.
        """

    def save_start(self, elements: Elements) -> None:
        """Save where it stands: a step may be tried more than once."""

    def restore_start(self, elements: Elements) -> None:
        """Stand there again."""

    def invalidate(self, elements: Elements) -> None:
        """It was moved: what the next step would begin with is invalid."""

    def respond_ahead(self, elements: Elements) -> None:
        """Write B' per element: B' B^T is how elements at the end of the last drift answer forces at its beginning."""

    def apply_impulse(self, elements: Elements) -> None:
        """Change velocities by impulses on the elements, internal constraints obeyed, and show them."""

    def show_end_velocity(self, elements: Elements) -> None:
        """Show as `Elements.current_velocity` the rates v + a dt to which the accelerations lead; dt is that of the clock."""


@runtime_checkable
class GivesEquations(Protocol):
    """Writes its equations down for solvers that see everything at once: M a + H^T mu = Q with phi(q) = 0.

    All at the coordinates q and velocities v = dq/dt that `state()` shows and lets be written; k of them per body. A stack whose
    mass matrices or Jacobians change with q says `varying = True`. One whose constraints follow something over time has a method
    `read_off(elements)`: from then on they are those of the clock, with rates as they are `Elements.beyond` later.
    They are played over symbols too, and so should do nothing with numbers but reckon (modular/naming.py).
    """

    def mass(self) -> Array:
        """Mass matrices, (n, k, k)."""

    def drive(self) -> Array:
        """Forces on the coordinates that do not come through elements: weight, gyroscopic terms, (n, k)."""

    def closure(self) -> tuple[Array, Array, Array]:
        """Internal constraints: errors (n, m), their rates (n, m) and Jacobians H (n, m, k)."""

    def reach(self) -> tuple[Indices, Indices, Array]:
        """Elements it serves (s,), their bodies' rows (s,) and their Jacobians with respect to its coordinates (s, d, k)."""


@runtime_checkable
class SavesAndRestores(Protocol):
    """Remembers everything that decides its future."""

    def save(self) -> dict[str, Any]:
        """A copy of all memory, as plain arrays."""

    def restore(self, memory: Mapping[str, Any]) -> None:
        """Go back to it."""
