"""An exported FMU that runs: a model, its simulation, and the numbers that others tell and ask."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from coordinator import Simulation
from coordinator.continuation.resume import Checkpoint
from coordinator.events.precompile import precompile
from coordinator.record.checkpoints.simulation_as_data import check_keepable, simulation_as_data
from modular.assembly import Assembly
from modular.component import Component
from modular.elements import Array
from modular.errors import ModelError, RunWarning
from modular.ledger import STORED
from modular.payload import packed, unpacked
from scenarios.fmi.led_ports import LedPorts
from scenarios.fmi.variables import BOOLEAN, IN_WORDS, REAL, WHOLE, Layout, Port, ports_of

MODEL, ABOUT = "model.json", "export.json"
NEVER = 1 << 60  # ticks between two samples
TYPES: dict[str, Any] = {REAL: float, WHOLE: int, BOOLEAN: bool}
NO_EVENTS = ("projection", "alarm", "too late")  # of what a simulation lists as events
OFF = 1e-6  # of a tick: how far a communication step may be from a whole number of them
TURN_STEP = 1e-5  # s: over which the turning of axes is differenced


def force_name(port: Port) -> str:
    """Of the force that others exert on a port."""
    return f"{port.name.replace('.', '-')}-force"


def moment_name(port: Port) -> str:
    """Of the moment."""
    return f"{port.name.replace('.', '-')}-moment"


class UnevenStep(ModelError):
    """A step that is no whole number of ticks."""


class State:
    """Where an exported FMU stands: quick to take and give back in its process, and as bytes for others."""

    def __init__(self, owner: Exported | None, quick: dict[str, Any] | None, content: bytes | None) -> None:
        self.owner, self.quick, self._content = owner, quick, content

    def as_bytes(self) -> bytes:
        """All of it, made when it is asked for."""
        if self._content is None:
            assert self.owner is not None
            self._content = self.owner.content_of(self)
        return self._content


class Exported:
    """One instance."""

    def __init__(self, folder: Path) -> None:
        self.about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        self._model = folder / MODEL
        self.dimension, self.dt = int(self.about["dimension"]), float(self.about["dt"])
        self.ports = ports_of(self.about)
        self.leaving: list[str] | None = self.about["leaving"]
        self.layout = Layout.of(self.ports, self.dimension, self.about["parameters"], leaving=self.leaving)
        self.simulation: Simulation | None = None
        self.values = np.array([scalar.start or 0.0 for scalar in self.layout.scalars])
        self.angles = np.zeros(len(self.ports))  # in the plane, over any number of turns
        self._stale = [True] * (len(self.ports) + 1)  # outputs of each port, and energies
        self._group = np.full(len(self.values), -1)
        for k, rows in enumerate([*self.layout.outputs, self.layout.energies]):
            self._group[rows] = k
        self._group[self.layout.happened] = len(self.ports)  # with energies
        self._exerted: Array = np.zeros(0)
        moved = zip(range(len(self.ports)), self.ports, self.layout.inputs, strict=True)
        self._led = LedPorts([(k, port, rows) for k, port, rows in moved if port.moved], self.dimension)

    # --- beginning -----------------------------------------------------------------------------------------------------

    def model(self) -> Assembly:
        """As it was exported, with the parameters that it has been given."""
        scalars = self.layout.scalars[self.layout.parameters]
        given = {
            one.name: TYPES[one.kind](value)
            for one, value in zip(scalars, self.values[self.layout.parameters].tolist(), strict=True)
        }
        if self.about["target"] is None or given == self.about["parameters"]:
            return Assembly.from_data(json.loads(self._model.read_text(encoding="utf-8")))
        from scenarios import catalogue

        return catalogue.build(self.about["target"], {**self.about["settings"], **given})

    def begin(self) -> None:
        """Build the simulation; forces that have been told act from the start."""
        from components import Load, Moment

        model = self.model()
        for port, rows in zip(self.ports, self.layout.inputs, strict=True):
            if not port.held:
                continue
            force, moment, _, _ = self._wrench(port, rows)
            model.apply(force_name(port), Load(force.tolist()), port.name)
            if port.turns:
                given: Any = float(moment[0]) if self.dimension == 2 else moment.tolist()
                model.apply(moment_name(port), Moment(given), port.name)
        elsewhere = bool(
            model.begin
        )  # than described: joints take hold as described, and leaders of bodies as they begin
        if self._led:
            self._led.check(model, self.values)
        if self._led and not elsewhere:
            self._led.add_to(model, self.values)
        coupling = None if self.about["coupling"] is None else Component.from_data(self.about["coupling"])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RunWarning)
            project = bool(self.about["project"])
            simulation = Simulation(model, self.dt, coupling, record_every=NEVER, project_velocities=project, threads=1)
            if self._led and elsewhere:
                self._led.add_to(simulation, self.values)
            self._take(simulation)
        if self._led:
            self._lead_now(simulation)
        self.angles[:] = 0.0
        self._exerted = self._ends(0.0)[0]
        self.values[0] = 0.0
        self._forget()

    def _take(self, simulation: Simulation) -> None:
        """Move this one from now on."""
        self.simulation = simulation
        simulation.bound_for = NEVER
        precompile(simulation)
        system = simulation.system
        self._loads: list[tuple[Port, slice, list[tuple[Any, str]]]] = []
        for port, rows in zip(self.ports, self.layout.inputs, strict=True):
            if port.held:
                names = [force_name(port), *([moment_name(port)] if port.turns else [])]
                self._loads.append((port, rows, [(system.force_home[name].stack, name) for name in names]))
        self._led.take(simulation)

    def _lead_now(self, simulation: Simulation) -> None:
        """Ports that are moved are where they are told to be, with those accelerations, and forces fit."""
        self._led.lead(self.values, simulation.time, simulation.time)
        self._led.place(simulation)
        simulation.coupling.settle(simulation.system, simulation.dt, list(simulation.assembly.bodies))

    def _running(self) -> Simulation:
        if self.simulation is None:
            raise ModelError("this FMU has not been initialised yet.")
        return self.simulation

    # --- numbers -------------------------------------------------------------------------------------------------------

    def _wrench(self, port: Port, rows: slice) -> tuple[Array, Array, Array, Array]:
        """Force, moment and their rates as they were told."""
        d, w = self.dimension, 2 * self.dimension - 3 if port.turns else 0
        told = self.values[rows]
        return told[:d], told[d : d + w], told[d + w : 2 * d + w], told[2 * d + w :]

    def _ends(self, h: float) -> tuple[Array, Array]:
        """All forces and moments now, and h later."""
        start, end = [np.zeros(0)], [np.zeros(0)]
        for port, rows in zip(self.ports, self.layout.inputs, strict=True):
            if port.held:
                force, moment, force_rate, moment_rate = self._wrench(port, rows)
                start += [force, moment]
                end += [force + h * force_rate, moment + h * moment_rate]
        return np.concatenate(start), np.concatenate(end)

    def _check_kind(self, references: Sequence[int], kind: str, verb: str) -> None:
        """Variables are asked for and told as what they are."""
        for reference in references:
            if (scalar := self.layout.scalars[reference]).kind != kind:
                raise ModelError(
                    f"variable '{scalar.name}' is {IN_WORDS[scalar.kind]}; {verb} it as one, and not as {IN_WORDS[kind]}."
                )

    def tell(self, references: Sequence[int], values: Sequence[float], kind: str = REAL) -> None:
        """Set variables of one kind by their references."""
        self._check_kind(references, kind, "set")
        self.values[references] = values
        if self.layout.settle in references and self.values[self.layout.settle] != 0.0:
            self.values[self.layout.settle] = 0.0
            if self.simulation is not None:
                self._settle()

    def ask(self, references: Sequence[int], kind: str = REAL) -> list[Any]:
        """Variables of one kind by their references."""
        self._check_kind(references, kind, "get")
        for k in set(self._group[references].tolist()):
            if k >= 0 and self._stale[k]:
                self._show(k)
        found = self.values[references].tolist()
        return list(found) if kind == REAL else [TYPES[kind](value) for value in found]

    def _forget(self) -> None:
        self._stale = [True] * len(self._stale)

    def _show(self, k: int) -> None:
        """Work out what a port shows, or the energies."""
        self._stale[k] = False
        if self.simulation is None:
            self.begin()  # before it is initialised: as it would begin
        simulation = self._running()
        if k < len(self.ports):
            self.values[self.layout.outputs[k]] = self._motion(simulation, k)
        else:
            self.values[self.layout.energies] = energies(simulation)
            if self.leaving is not None:
                count = sum(entry["kind"] not in NO_EVENTS for entry in simulation.events)
                self.values[self.layout.happened] = [
                    count,
                    *(name in simulation.assembly.joint_edges for name in self.leaving),
                ]

    def _motion(self, simulation: Simulation, k: int) -> Array:
        port = self.ports[k]
        if port.moved:
            return self._led.wrench(k, simulation)
        found = shown_motion(simulation, port)
        if port.turns and self.dimension == 2:  # over any number of turns
            last = self.angles[k]
            self.angles[k] = last + (found[2] - last + np.pi) % (2.0 * np.pi) - np.pi
            found[2] = self.angles[k]
        return found

    # --- moving --------------------------------------------------------------------------------------------------------

    def _exert(self, values: Array) -> None:
        """Let these forces and moments be those of the loads."""
        place = 0
        for _, _, loads in self._loads:
            for stack, name in loads:
                width = stack.value.shape[1]
                stack.value[stack.row[name]] = values[place : place + width]
                place += width

    def _act(self, simulation: Simulation, values: Array) -> None:
        """Let them act at once, where a step begins with the forces that its elements bear."""
        if np.array_equal(values, self._exerted):
            return
        self._exert(values)
        for stack in {id(stack): stack for _, _, loads in self._loads for stack, _ in loads}.values():
            stack.exert(simulation.system.elements, simulation.time)
        self._exerted = values

    def _settle(self) -> None:
        """Forces have jumped: accelerations where everything stands, as after any event."""
        simulation = self._running()
        start, _ = self._ends(0.0)
        self._exert(start)
        if self._led:
            self._led.lead(self.values, simulation.time, simulation.time)
            self._led.place(simulation)
        simulation.coupling.settle(simulation.system, simulation.dt, list(simulation.assembly.bodies))
        self._exerted = start
        self._forget()

    def step(self, time: float, h: float) -> None:
        """Advance by h [s], a whole number of ticks."""
        simulation = self._running()
        ticks = round(h / self.dt)
        if ticks < 1 or abs(ticks * self.dt - h) > OFF * self.dt:
            raise UnevenStep(
                f"a step of {h:g} s is not a whole number of ticks of {self.dt:g} s, with which this FMU was exported; take one "
                "that is, or export it with --dt."
            )
        if abs(time - simulation.time) > OFF * self.dt:
            raise ModelError(f"a step from {time:.9g} s; this FMU stands at {simulation.time:.9g} s.")
        last = simulation.tick + ticks
        each = bool(self._loads)  # forces change from tick to tick
        self._led.lead(self.values, simulation.time, last * self.dt)
        while not each and simulation.tick < last:
            simulation.stride(last)
        for k in range(ticks if each else 0):
            self._act(simulation, self._ends(k * self.dt)[1])
            end = self._ends((k + 1) * self.dt)[1]
            self._exert(end)
            simulation.step()
            self._exerted = end
        self.values[0] = simulation.time
        self._forget()

    # --- its state -----------------------------------------------------------------------------------------------------

    def state(self) -> State:
        """Where it stands."""
        simulation = self._running()
        system = simulation.system
        quick = {
            "simulation": simulation, "version": system.version, "tick": system.tick, "part": system.part,
            "system": system.save(), "standing": simulation.coupling.checkpoint_state(system), "values": self.values.copy(),
            "angles": self.angles.copy(), "exerted": self._exerted,
        }  # fmt: skip
        if self._changes(simulation):  # a later one may have other joints, and cannot go back to these
            return State(self, quick, self._content())
        return State(self, quick, None)

    def _changes(self, simulation: Simulation) -> bool:
        """Whether joints or bodies may come and go on the way, or anything else that is more than numbers."""
        return bool(simulation.schedule.watches or simulation.assembly.schedule or simulation.breakage.watched.names)

    def restore(self, state: State) -> None:
        """Go back to it."""
        quick, simulation = state.quick, self.simulation
        if quick is None or simulation is not quick["simulation"] or simulation.system.version != quick["version"]:
            self._restore_content(state.as_bytes())
            return
        system = simulation.system
        system.restore(quick["system"])
        simulation.coupling.restore_state(system, quick["standing"])
        system.tick, system.part = quick["tick"], quick["part"]
        system.elements.clock[:] = self.dt, simulation.time, self.dt
        self.values[:], self.angles[:], self._exerted = quick["values"], quick["angles"], quick["exerted"]
        self._exert(self._exerted)
        system.show()
        self._forget()

    def _content(self) -> bytes:
        simulation = self._running()
        check_keepable(simulation)
        data, arrays = simulation_as_data(simulation)
        extra = {"fmu.values": self.values, "fmu.angles": self.angles, "fmu.exerted": self._exerted}
        return packed({**data, "samples": [], "until": None}, {**arrays, **extra})

    def content_of(self, state: State) -> bytes:
        """A state that was taken before, as bytes: it goes there, and comes back."""
        now = self.state()
        self.restore(state)
        try:
            return self._content()
        finally:
            self.restore(now)

    def _restore_content(self, content: bytes) -> None:
        _, arrays = unpacked(content, "the state of this FMU")
        found = Checkpoint.in_memory(content).moved_by(None, 1)
        self._take(found)
        self.values[:], self.angles[:] = arrays["fmu.values"], arrays["fmu.angles"]
        self._exerted = np.array(arrays["fmu.exerted"])
        self._forget()


def shown_motion(simulation: Simulation, port: Port) -> Array:
    """Place, angle or quaternion, their rates and the rates of these, in the order of the outputs of a port."""
    body, _, name = port.name.partition(".")
    described, stack = simulation.assembly.bodies[body], simulation.system.body_home[body]
    row, state = stack.row[body], stack.state()
    q, v, a = (np.asarray(state[key][row]) for key in "qva")
    position, velocity, acceleration = described.port_motion(name, q, v, a)
    if not port.turns:
        return np.concatenate([position, velocity, acceleration])
    axes = described.port_axes(name, q).T
    spin = np.atleast_1d(described.angular_velocity_of(name, q, v))
    h = TURN_STEP
    later, before = (
        np.atleast_1d(described.angular_velocity_of(name, q + s * v + 0.5 * s * s * a, v + s * a)) for s in (h, -h)
    )
    bend = (later - before) / (2.0 * h)
    if len(position) == 2:
        turn = np.array([float(np.arctan2(axes[1, 0], axes[0, 0]))])
    else:
        from components.fmi.port import quaternion_of

        turn = quaternion_of(axes)
    return np.concatenate([position, turn, velocity, spin, acceleration, bend])


def energies(simulation: Simulation) -> Array:
    """Kinetic, potential, and stored in joints and springs [J]."""
    system, found = simulation.system, np.zeros(3)
    for name, body in simulation.assembly.bodies.items():
        stack = system.body_home[name]
        state, row = stack.state(), stack.row[name]
        q, v = np.asarray(state["q"][row]), np.asarray(state["v"][row])
        found[0] += float(body.kinetic_energy(q, v))
        found[1] += float(body.potential_energy(q, system.gravity))
    found[2] = sum(float(ledgers.ledger[: len(ledgers.names), STORED].sum()) for ledgers in system.booked)
    return found
