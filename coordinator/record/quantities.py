"""What a run tells, by name: "rod.angle", "rod.end.y", "pivot.force", "spring.stored".

A name is that of a body, a port, a joint or a force, a dot, and what is asked of it; of a vector one of its components (x, y, z),
or its size where none is named; with " in body.port" along the axes of that port: "pivot.force.x in rod.end". Whole runs are
asked for "energy", "kinetic", "potential", "momentum", "angular_momentum" and "time".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from coordinator.record.lifetimes import Ever
from coordinator.record.run import Run
from coordinator.record.sensors import exerted, in_axes_of
from modular.elements import Array
from modular.errors import ModelError
from modular.joint import Joint
from modular.ledger import LEDGER
from modular.names import hint, missing

COMPONENTS = ("x", "y", "z")
SEEN_IN = " in "
Source = tuple[str, Callable[[Run, str], Array]]  # unit, and where the numbers come from

PORT: dict[str, Source] = {
    "position": ("m", lambda run, port: run.position(port)),
    "velocity": ("m/s", lambda run, port: run.velocity(port)),
    "acceleration": ("m/s²", lambda run, port: run.acceleration(port)),
}
BODY: dict[str, Source] = {
    "centre": ("m", lambda run, body: run.mass_centre(body)),
    "angular_velocity": ("rad/s", lambda run, body: run.angular_velocity(body)),
    "momentum": ("kg m/s", lambda run, body: run.momentum(body)),
    "angular_momentum": ("kg m²/s", lambda run, body: run.angular_momentum(body)),
    "energy": ("J", lambda run, body: run.energy_of(body)),
    "kinetic": ("J", lambda run, body: run.kinetic_energy(body)),
    "potential": ("J", lambda run, body: run.potential_energy(body)),
}
ACTS: dict[str, Source] = {
    "angle": ("rad", lambda run, name: run.angle(name)),
    "way": ("m", lambda run, name: run.way(name)),
    "effort": ("N", lambda run, name: run.effort(name)),
    "power": ("W", lambda run, name: _power(run, name)),
    "work": ("J", lambda run, name: run.work(name)),
}
JOINT: dict[str, Source] = {
    "force": ("N", lambda run, joint: run.reaction(joint)[:, : len(run.model["gravity"])]),
    "moment": ("N m", lambda run, joint: run.reaction(joint)[:, len(run.model["gravity"]) :]),
    "gap": ("m", lambda run, joint: run.violation(joint)[:, : run.translations(joint)]),
}
FORCE: dict[str, Source] = {"force": ("N", exerted)}
WHOLE: dict[str, Source] = {
    "energy": ("J", lambda run, _: run.energy),
    "kinetic": ("J", lambda run, _: run.kinetic_energy()),
    "potential": ("J", lambda run, _: run.potential_energy()),
    "momentum": ("kg m/s", lambda run, _: run.momentum()),
    "angular_momentum": ("kg m²/s", lambda run, _: run.angular_momentum()),
    "time": ("s", lambda run, _: run.time),
}


def _booked(line: str, run: Run, name: str) -> Array:
    return run.ledger(name)[line]


LINES: dict[str, Source] = {line: ("J", partial(_booked, line)) for line in LEDGER}


@dataclass(frozen=True)
class Quantity:
    """One number at every sample, with its name and unit."""

    name: str
    unit: str
    values: Array


def quantity(run: Run, name: str) -> Quantity:
    """By its name; what there is is told where it is not."""
    asked, seen, port = (part.strip() for part in name.partition(SEEN_IN))
    words = asked.split(".")
    component = words.pop() if len(words) > 1 and words[-1] in COMPONENTS else ""
    unit, values = _found(run, asked, words)
    if seen:
        values = _seen_in(run, name, port, values)
    if values.ndim == 1:
        if component:
            raise ModelError(f"'{name}': it is one number, and has no {component}.")
        return Quantity(name.strip(), unit, values)
    width = values.shape[1]
    if component and COMPONENTS.index(component) >= width:
        raise ModelError(f"'{name}': it has {width} component{'s' * (width > 1)}, and no {component}.")
    one = values[:, COMPONENTS.index(component)] if component else values[:, 0] if width == 1 else _size(values)
    return Quantity(name.strip(), unit, np.asarray(one))


def _seen_in(run: Run, name: str, port: str, values: Array) -> Array:
    """Along the axes of a port."""
    if values.ndim != 2 or values.shape[1] != len(run.model["gravity"]):
        raise ModelError(f"'{name.strip()}': it is not a vector, so it has no components in the axes of '{port}'.")
    return in_axes_of(run, port, values)


def _found(run: Run, name: str, words: list[str]) -> tuple[str, Array]:
    owner, what = words[0], ".".join(words[1:])
    if not what:
        source = WHOLE.get(owner)
        if source is None:
            raise ModelError(f"'{name}': {_known(run, owner)}")
        return source[0], source[1](run, "")
    offered: dict[str, Source] = {}
    of = owner
    if owner in run.bodies:
        ports = run.bodies[owner].port_names
        if words[1] in ports:
            of, offered, what = f"{owner}.{words[1]}", PORT, ".".join(words[2:]) or "position"
        else:
            offered = BODY | dict.fromkeys(ports, PORT["position"])
    elif owner in run.joints:
        offered = JOINT | ACTS | LINES
    elif owner in run.forces:
        offered = FORCE | ACTS | LINES
    else:
        raise ModelError(f"'{name}': {_known(run, owner)}")
    if what not in offered:
        raise ModelError(
            f"'{name}': '{of}' has {', '.join(offered)}; {hint(f'{of}.{what}', [f'{of}.{one}' for one in offered])}"
        )
    unit, source_of = offered[what]
    values = np.asarray(source_of(run, of))
    return ("N m" if what == "effort" and _turns(run, of) else unit), values


def _turns(run: Run, name: str) -> bool:
    """Whether it acts about an axis."""
    component = Ever(run)[name].component
    kinds = component.coordinates if isinstance(component, Joint) else (component.coordinate,)
    return bool(kinds[:1] == ("angle",))


def _known(run: Run, owner: str) -> str:
    there = [*run.bodies, *run.joints, *run.forces]
    return f"{missing('body, joint or force', owner, there)} Of the whole run ask {', '.join(WHOLE)}."


def _power(run: Run, name: str) -> Array:
    """What it does on the bodies in a second, by differences of its work."""
    return np.asarray(np.gradient(run.work(name), run.time)) if len(run) > 1 else np.zeros(len(run))


def _size(vectors: Array) -> Array:
    return np.asarray(np.sqrt(np.square(vectors).sum(axis=1)))
