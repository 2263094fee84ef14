"""What a body does otherwise than its coupling says: each body owns its integrator.

Séguy 2003, III.1 and Figure V-11: a component holds what it needs to exist by itself, its scheme and its step among it. Whatever is
left out is the coupling's, so `Integrator(gamma=0.55)` keeps everything else.

`steps` in a tick: what acts from outside then acts as one impulse at either end of the tick, and between two of them the body flies
on its own, by Newmark's rule with that many steps (components/bodies/loops/substeps.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from math import isfinite, isinf
from typing import Any

from modular.component import Component
from modular.errors import ModelError
from modular.internal_gains import InternalGains
from modular.newmark import Newmark

SCHEME = frozenset({"beta", "gamma"})  # means something for every body that moves by Newmark's rule
GAINS = frozenset({"frequency_per_step", "damping", "frequency"})  # for those with constraints inside
SOLVER = frozenset({"artificial_mass", "iterations"})  # for those that solve for them
STEPS = frozenset({"steps"})
MAX_STEPS_PER_TICK = 1000


@dataclass(frozen=True)
class Integrator(Component):
    """Newmark's weights, gains of internal constraints and steps in a tick of one body; None: as the coupling has it.

    `frequency` fixes omega [rad/s], `frequency_per_step` ties it to the step of the body; `artificial_mass` may be infinite
    (`inf`), where the coupling's is not.
    """

    beta: float | None = None
    gamma: float | None = None
    frequency_per_step: float | None = None
    damping: float | None = None
    frequency: float | None = None
    artificial_mass: float | None = None
    iterations: int | None = None
    steps: int = 1

    @property
    def given(self) -> frozenset[str]:
        """Names of the settings that are not left to the coupling."""
        return frozenset(field.name for field in fields(self) if getattr(self, field.name) != field.default)

    def over(self, newmark: Newmark, internal: InternalGains, dt: float) -> tuple[Newmark, InternalGains, float]:
        """Settings of the body, and its step [s], where these are the coupling's."""
        scheme = self._among("beta", "gamma")
        gains = self._among("frequency_per_step", "damping", "frequency", "artificial_mass", "iterations")
        if self.frequency_per_step is not None:
            gains["frequency"] = self.frequency
        if self.artificial_mass is not None and isinf(self.artificial_mass):
            gains["artificial_mass"] = None
        return replace(newmark, **scheme), replace(internal, **gains), dt / self.steps

    def _among(self, *names: str) -> dict[str, Any]:
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def problems(self, owner: str, means: Iterable[str], kind: str) -> list[str]:
        """What is wrong with it on a body for which these settings mean something; `kind` is its class."""
        means = frozenset(means)
        numbers = {field.name: getattr(self, field.name) for field in fields(self)}
        for name, value in numbers.items():
            whole = name in ("iterations", "steps")
            if value is None and name != "steps":
                continue
            sound = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
            if not sound or not (whole or isfinite(value) or (name == "artificial_mass" and value > 0)):
                return [f"{owner}: integrator: {name} = {value!r}; give a {'whole ' * whole}number, or leave it out."]
        if not 1 <= self.steps <= MAX_STEPS_PER_TICK:
            return [f"{owner}: integrator: steps = {self.steps}; give a whole number from 1 to {MAX_STEPS_PER_TICK}."]
        if self.frequency is not None and not self.frequency > 0:
            return [
                f"{owner}: integrator: frequency = {self.frequency} rad/s; give a positive one, or leave it out, which ties it to "
                "the step."
            ]
        if self.frequency is not None and self.frequency_per_step is not None:
            return [
                f"{owner}: integrator: frequency = {self.frequency} rad/s and frequency_per_step = {self.frequency_per_step} "
                "are given; give one of them."
            ]
        if idle := sorted(self.given - means):
            listed = ", ".join(f"{name} = {numbers[name]}" for name in idle)
            known = ", ".join(sorted(means)) or "nothing"
            return [
                f"{owner}: integrator: {listed} does not apply to a {kind}; leave it out (settings that apply: "
                f"{known})."
            ]
        try:
            self.over(Newmark(), InternalGains(), 1.0)
        except ModelError as error:
            return [f"{owner}: integrator: {error}"]
        return []

    def settings(
        self, owner: str, newmark: Newmark, internal: InternalGains, dt: float, *, elastic: bool = False
    ) -> tuple[Newmark, InternalGains, float]:
        """As `over`, refused where they do not go together, with the step, or with a body that is `elastic` inside."""
        try:
            scheme, gains, step = self.over(newmark, internal, dt)
        except ModelError as error:
            raise ModelError(f"{owner}: integrator: {error}") from error
        if self.frequency is not None and isfinite(step) and gains.limit <= self.frequency * step:
            raise ModelError(
                f"{owner}: integrator: frequency = {self.frequency:g} rad/s is {self.frequency * step:.3g} in a step of "
                f"{step:g} s; with damping {gains.damping} it must stay below {gains.limit:.3f}. Take dt = "
                f"{0.8 * gains.limit / self.frequency * self.steps:.2g} s, or leave frequency out, which ties it to the step."
            )
        if elastic and 2.0 * scheme.beta < scheme.gamma:
            raise ModelError(
                f"{owner}: integrator: with beta = {scheme.beta} and gamma = {scheme.gamma} the elastic parts "
                "inside the body limit the step; beta must be at least gamma / 2: take beta = "
                f"{0.25 * (scheme.gamma + 0.5) ** 2:.4g}."
            )
        return scheme, gains, step
