"""The contract of a force: it reads elements like a joint and writes a force on each, but locks nothing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from modular.component import Component
from modular.elements import Array, Elements, Indices
from modular.side import Mark, Side


class Force(Component):
    """Description of a force on one or two ports."""

    @property
    @abstractmethod
    def sides(self) -> int:
        """How many ports it has."""

    @property
    def placed_by(self) -> str:
        """What says where it takes hold of the ground; empty where `at` does."""
        return ""

    @property
    def coordinate(self) -> str | None:
        """Along which alone it acts between its two ports: "angle", "way" or "distance"; None where that is none."""
        return None

    @property
    def line(self) -> Sequence[float] | None:
        """The axis of that angle or way, as it was given."""
        return None

    def on_joint(self, coordinate: str, axis: Sequence[float] | None) -> Force | None:
        """The same along the angle or way of a joint, about or along its axis; None where it does not act so."""
        return None

    @property
    def driven(self) -> int:
        """How many of its ports it acts on, the first ones; the others it only reads."""
        return self.sides

    @property
    def sums(self) -> bool:
        """Whether it goes by what it has summed up over time, which no place or velocity tells."""
        return False

    @property
    def order(self) -> int | None:
        """Of which order in the step it lets a run be, where it begins, ends or bends at instants within ticks; None: of any."""
        return None

    @property
    def order_as_row(self) -> int | None:
        """The same where a coupling finds it together with joints, and locates within ticks where it begins and ends."""
        return self.order

    @property
    def bounces(self) -> bool:
        """Whether what it strikes parts with a share of the velocity with which it came."""
        return False

    @property
    def together(self) -> bool:
        """Whether all of its kind share a stack, however components are grouped, since they are found together."""
        return False

    @property
    def on_ground(self) -> bool:
        """Whether it may be on the ground alone, where there is nothing to be moved."""
        return False

    def meeting(self, other: Force) -> Force | None:
        """The force that acts between what this one and another one are on, once they come near; None where there is none."""
        return None

    @property
    def follows_step(self) -> bool:
        """Whether its stiffness is as large as the step allows, and not a number of its own."""
        return False

    def unseen(self, dt: float, since: float) -> float | None:
        """The first time [s] at which it does something that is over before ticks see what it is; None: never."""
        return None

    @abstractmethod
    def check(self, name: str, dimension: int) -> list[str]:
        """Everything that is wrong with the data, one sentence each."""

    def kind(self) -> Hashable:
        """Forces of equal kind share a stack: those of one class, unless it says otherwise."""
        return f"{type(self).__module__}:{type(self).__qualname__}"

    @abstractmethod
    def new_stack(self, dimension: int) -> Forces:
        """An empty stack for forces of this kind."""

    @abstractmethod
    def marks(self, name: str, sides: Sequence[Side]) -> list[list[Mark]]:
        """The elements it reads, per side."""

    @classmethod
    @abstractmethod
    def example(cls, dimension: int = 3) -> Self:
        """A force of this type for the contract tests."""


class Forces(Protocol):
    """A stack of forces of one kind.

    One that remembers how things stood a tick ago, and so must be asked forwards in time, says `forward_only = True`: couplings
    that try states back and forth refuse it by name. One whose hold may slip (`slips`) can be asked many times in one tick, but
    not while time goes back: it is refused by steps with stages that do. One that begins and ends at instants within ticks
    (`begins_and_ends`), as walls do, takes their order from steps of a higher one than 2; as `TakesEvenStages` with a loop
    "look_ahead" it asks these for even stages while it may act (coordinator/couplings/compositions.py). One with a loop
    "strike_together" has it played after "exert", for all rows by one thread, then "exert_struck" and "end_strikes".
    One with a loop "compute_mobility" is let know how bodies answer forces now. One that reads predicted velocities, and not
    v + dt a, says `reads_end_velocity = False`. One that remembers names in `recorded` the columns without which a sample does
    not tell what it exerts; they become series of the run. One that knows by how much it lets a motion fall behind says so in a
    column `late` or `yielded` ([m] and [rad] per row), or `sunk`: how deep [m], and the largest jump of a velocity times dt
    [m]. They only grow; it names them in `error_columns`, which the verdict reads. One of mere loads says `requests_demand =
    False`, and is not asked.
    """

    names: list[str]
    row: dict[str, int]

    @property
    def count(self) -> int:
        """Number of forces."""

    ledger: Array  # (n, lines) [J], lines as modular.ledger.LEDGER
    power: Array  # what dampers take [W], now and one tick ago
    power_before: Array

    def add(self, name: str, force: Force, first: Sequence[int]) -> None:
        """Take a force in; `first` holds its first element row on each side."""

    def remove(self, name: str) -> None:
        """Let it go."""

    def exert(self, elements: Elements, time: float) -> None:
        """Write the forces on the elements, at the velocities `current_velocity` where they depend on any."""

    def account(self, elements: Elements, dt: float) -> None:
        """Book the work of the tick that has just passed."""

    def request_demand(self, elements: Elements, dt: float) -> None:
        """Tell the bodies what its stiffness and damping ask of the step (`Elements.load`); nothing for a mere load."""

    def requested_demand(self) -> tuple[Array, Array]:
        """dt^2 K and 4 dt C per row as last asked, (n, d, d); zeros for a mere load."""

    def bounds(self, elements: Elements) -> Array:
        """The larger of the two bodies' answers, per row."""

    @property
    def turns(self) -> bool:
        """Whether what it asks of the bodies changes as they turn."""

    @property
    def read_velocity(self) -> list[str]:
        """Names of those that depend on velocities."""

    def keep_ledgers(self, held: Array, power: Array, touched: set[str]) -> None:
        """After a re-evaluation: rows that the event did not touch hold and take what they did before."""

    def open_ledgers(self) -> None:
        """After an event: open the ledgers of new members."""


def requests_demand(forces: Any) -> bool:
    """Whether a stack of forces may ask something of the step; mere loads do not, and so they need no loop for it."""
    return bool(getattr(forces, "requests_demand", True))


@runtime_checkable
class TakesAim(Protocol):
    """Forces that draw to a target, which can be moved while they act: a number of their state, and no change of who is there."""

    def aim(self, name: str, target: Array) -> None:
        """From now on draw there, (d,) [m]."""


BEGUN = 2.0
NOBODY = -1  # on a side that nothing moves


class Overlap(NamedTuple):
    """A contact whose shapes are in each other from the start."""

    name: str
    depth: float  # [m]
    mover: int  # the side that goes out
    way: tuple[float, ...]  # that way
    speed: float  # along it [m/s]


@runtime_checkable
class TakesEvenStages(Protocol):
    """Forces that are met within ticks: a step goes in even stages while their loop "look_ahead" finds a row that is near."""

    def set_stages(self, stage: float, demanded: float) -> None:
        """The share of the step that is a tick meanwhile, and the share of which a limit of the step is told."""


class Beyond(NamedTuple):
    """A force between limits whose coordinate is beyond one of them from the start."""

    name: str
    by: float  # [m], [rad]
    reached: float  # the coordinate, and the limit
    limit: float
    arm: float  # of an angle: what a turn by a radian moves [m]; 1 elsewhere


@runtime_checkable
class BeginsBeyond(Protocol):
    """Forces between limits, which push back beyond them as hard as the step allows."""

    def begun_beyond(self, elements: Elements) -> Iterator[Beyond]:
        """Those that were beyond one when they were first looked at, which only a stiffness of their own can mean; each once."""


@runtime_checkable
class BeginsAtRest(Protocol):
    """Forces that carry what rests on them from their first tick on; they look at nobody but their own two bodies."""

    names: list[str]
    row: dict[str, int]
    rests: Array  # 1 where one carries something, or is to
    contacts_of_body: Array  # how many meet one of its bodies at most
    free: Indices  # 1 where its bodies are rigid, and all else that acts on them asks next to nothing of the step
    begins: Array  # 1 where one is to, and has not begun; BEGUN where it has, and the first tick is still to come
    starts: Array  # with which forces such a one would begin, (n, ...)

    @property
    def follows_step(self) -> npt.NDArray[np.bool_]:
        """Which have no stiffness of their own, (n,)."""

    @property
    def loads(self) -> Array:
        """And which it has on its bodies until the first tick; written to as well."""

    def overlaps(self) -> Iterator[Overlap]:
        """Those that began in each other, which only a stiffness of their own can mean; each is told once."""

    def propose_load(self, elements: Elements) -> None:
        """Write `starts`: a step towards forces under which nothing begins to move against what it rests on."""


@runtime_checkable
class HeldTogether(Protocol):
    """Forces that carry what rests, also bodies that hang in joints, where somebody tells them how these answer each other.

    Bodies that hang together are an island, and sit in it in the order of their numbers. Of each pair there is a block of
    `through`: which share of the motions of the second is left for the first by all that holds them, q_i = T_ij q_j; row for row
    of seats.
    """

    names: list[str]
    first: Indices
    second: Indices
    body: Indices  # see Strikes, also for the next one
    nearing: Array
    island: Indices  # on either side: the number of its body, or of all that hang together with it; NOBODY where nothing moves it
    seat: Indices  # on either side: where its body sits in its island
    seats: Indices  # and how many sit there; 0 where it answers for itself
    first_seat: Indices  # the first of these among those of all islands
    first_block: Indices  # and the first of its blocks among those of `through`
    close: Array  # 0 where nothing will be carried soon
    told: Indices  # of seats: 1 where it is known in this tick how who sits there answers
    through: Array  # (blocks, 6, 6)

    def lay_seats(self, elements: Sequence[int], blocks: int) -> None:
        """Seats, of which nobody has told anything yet, with an element of each body that sits there, and so many blocks."""


class Encounters(Protocol):
    """Forces that are something to whoever comes near: what acts between two of them is a force of its own (`Force.meeting`).

    Their loop "stray" says which is the first that has gone so far that somebody new may be near.
    """

    count: int
    names: list[str]
    strayed: Indices  # 1 where one has

    def look(self, elements: Elements, dt: float) -> None:
        """Note where all are, and how far each may go from there."""

    def near(self, times: float = 1.0, among: Indices | None = None) -> Indices:
        """Pairs of rows that may meet before one has strayed; or those that come so many times as near, with 0 those that may
        touch now. `among`: of these pairs alone, in whichever order."""


@runtime_checkable
class Strikes(Protocol):
    """Forces with blows, which all that touches the bodies they strike feels; bodies that come near answer through their joints."""

    names: list[str]
    first: Indices  # first element row on either side
    second: Indices
    first_side: Array  # as long as there are elements on it
    second_side: Array
    body: Indices  # on either side: the number of its body, or NOBODY
    number: Indices  # the order in which they are asked
    nearing: Array  # 0 where no blow is near


@runtime_checkable
class AppliesRecorded(Protocol):
    """Forces that are told by more than how their bodies stand: they record what they did."""

    def apply_recorded(self, elements: Elements) -> None:
        """Write on the elements what was done at a sample."""


class Observation(Protocol):
    """What there is to see of a mechanism between two ticks: everything as the last tick has left it, in the world."""

    @property
    def gravity(self) -> Array:
        """[m/s^2]."""

    def motion(self, port: str) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration of a port; "ground" is at the origin."""

    def axes(self, port: str) -> Array:
        """Axes of a port as rows."""

    def output(self, body: str, name: str) -> float:
        """A variable that a body shows beside its motion."""

    def spin(self, port: str) -> Array:
        """Angular velocity of a port [rad/s], three numbers, or one in the plane."""

    def force(self, name: str) -> tuple[Array, Array]:
        """Force of a joint or force on its last side [N], and the way there from its first [m]."""


@runtime_checkable
class Decides(Protocol):
    """Forces that decide between two ticks, by what there is to see, what they do until they are asked again.

    When they are to be asked, and when they were, belongs to their rows, as all that they keep: then what was saved goes on so.
    """

    names: list[str]

    def due(self, tick: int, dt: float) -> list[str]:
        """Those that are to be asked before this tick and have not been."""

    def next_due(self, tick: int, dt: float) -> int:
        """The first tick after this one before which somebody is to be asked."""

    def decide(self, name: str, tick: int, time: float, observation: Observation) -> None:
        """Look, and decide."""


@runtime_checkable
class Commands(Protocol):
    """Those among them whose decisions go into an input of the body on which they are put."""

    def commanded(self, name: str) -> tuple[str, float]:
        """Which input, and what it is to be from now on; the stack of the body takes it: command(body, variable, value)."""
