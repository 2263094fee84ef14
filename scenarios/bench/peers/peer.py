"""A peer: another program that moves a mechanism from its start; and the check that it moves the same one."""

from __future__ import annotations

import contextlib
import importlib
import io
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from coordinator import Simulation
from modular.assembly import Assembly
from modular.elements import Array
from modular.errors import ModelError
from scenarios.bench.peers.exact import exact_ends
from scenarios.bench.peers.mechanism import Mechanism
from scenarios.bench.suite import Skip

MAX_HALVED_ERROR_RATIO = 0.8  # what is left of an error, at most, when the step is halved; half of it at first order
MAX_RELATIVE_ERROR = 0.03  # of the motion: how far a program may be at the step that is timed
RELATIVE_ROUNDING = 1e-9  # of the motion: errors below need not fall any more


class Peer(ABC):
    """A mechanism in another program, with a step of its own [s]."""

    @abstractmethod
    def run(self, ticks: int) -> None:
        """From the start, so many steps."""

    @abstractmethod
    def ends(self) -> Array:
        """Where the ends of all rods are after the run [m], (rods, 2)."""


MakePeer = Callable[[Mechanism, float], Peer]


def bring(module: str, package: str) -> Any:
    """A module that may not be installed; then the case is left out with a sentence."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return importlib.import_module(module)
    except ImportError as error:
        raise Skip(f"{module} is not installed ({error}); pip install {package}") from None


def ours(assembly: Assembly, dt: float, ticks: int) -> Array:
    """The same, by our own program with its defaults."""
    with Simulation(assembly, dt, record_every=max(ticks, 1)) as simulation:
        simulation.run(ticks * dt)
        return ends_of(simulation)


def ends_of(simulation: Simulation) -> Array:
    """Where the ends of all rods are in one of our simulations [m], (rods, 2)."""
    return np.array([simulation.port_motion(f"{name}.end")[0][[0, -1]] for name in simulation.assembly.bodies])


def check_agreement(
    name: str,
    mechanism: Mechanism,
    run: Callable[[float, int], Array],
    dt: float,
    until: float,
    truth: Array | None = None,
) -> float:
    """Error at the end over the largest motion; refuses a program whose motion is not that of the exact solution.

    `run` moves the mechanism with a step, so many ticks. Its error must be a small part of the motion, and fall when the
    step is halved: a program with other masses or lengths converges to something else.
    """
    truth = exact_ends(mechanism, until) if truth is None else truth
    motion = float(np.linalg.norm(truth - mechanism.ends, axis=1).max())
    coarse, fine = (largest_error(run(step, round(until / step)), truth) / motion for step in (dt, dt / 2))
    if not coarse <= MAX_RELATIVE_ERROR:
        raise ModelError(
            f"{name} is not compared: after {until:g} s at Δt = {dt:g} s it is off by {coarse:.3g} of the motion; it does not "
            "move the same mechanism, or its step is too long."
        )
    if not (fine <= MAX_HALVED_ERROR_RATIO * coarse or fine <= RELATIVE_ROUNDING):
        raise ModelError(
            f"{name} is not compared: with half the step its error after {until:g} s goes from {coarse:.3g} to {fine:.3g} of the "
            "motion; it converges to another motion."
        )
    return coarse


def largest_error(ends: Array, truth: Array) -> float:
    """Largest distance of an end from where it should be [m]; no number where it is lost."""
    return float(np.linalg.norm(ends - truth, axis=1).max())
