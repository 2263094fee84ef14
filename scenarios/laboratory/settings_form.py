"""Settings that can be changed while time goes: the step, the coupling and its stiffness rule, gravity."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from coordinator.couplings import Coupling
from coordinator.couplings.rules import StiffnessRule
from coordinator.laboratory.acts import Doing, Receipt, SetCoupling, SetGravity, SetStep
from coordinator.laboratory.snapshot import Plan
from modular.component import Component
from modular.errors import ModelError
from modular.typed import read_component
from scenarios.laboratory.as_typed import OFFERED, OTHER, as_typed, offered, with_rule_of
from scenarios.laboratory.fields import Field, Fields
from scenarios.laboratory.words import is_number
from scenarios.settings import read_coupling

HINTS = {
    "safety": "Divides the frequency of the springs: 1 is at the limit of stability",
    "delta": "Share of the sampling frequency",
    "damping": "Damping ratio of the springs",
}


class SettingsForm:
    """Fields for them; the gravity field waits until it is known whether the model is planar."""

    def __init__(self, gui: Any, post: Callable[[Doing], Receipt], inputs: Fields) -> None:
        self.gui, self.post, self.inputs = gui, post, inputs
        self.plan: Plan | None = None
        self.step = inputs.number(
            "step [s]",
            1e-4,
            lambda value: post(SetStep(value)),
            hint="Decimal notation, such as 0.0005, without an exponent",
        )
        self.coupling = inputs.choice("coupling", (*OFFERED, OTHER), "penalty", self._choose)
        self.typed = inputs.text(
            "coupling as typed",
            "penalty",
            self._type,
            hint="As on the command line, such as glued(order=4); Enter takes it",
        )
        kinds = rules()
        self.rule = inputs.choice("stiffness rule", tuple(kinds), next(iter(kinds)), self._rule)
        numbers = dict.fromkeys(name for kind in kinds.values() for name in numbers_of(kind()))
        self.numbers = {
            name: inputs.number(f"{name} of the rule", 1.0, self._number(name), hint=HINTS.get(name))
            for name in numbers
        }
        self.gravity: Field | None = None
        self._place = gui.add_folder(None)

    def update(self, plan: Plan) -> None:
        """Values as they are."""
        if plan is self.plan:
            return
        self.plan = plan
        if self.gravity is None:
            with self._place:
                self.gravity = self.inputs.vector(
                    "gravity [m/s²]", plan.gravity, lambda value: self.post(SetGravity(value))
                )
        self.gravity.show(plan.gravity)
        self.step.show(plan.dt)
        self.coupling.show(offered(plan.coupling))
        self.typed.show(as_typed(plan.coupling))
        rule = getattr(plan.coupling, "rule", None)
        _let_be_seen(self.rule, rule is not None)
        if rule is not None:
            self.rule.show(type(rule).__name__.lower())
        values = {} if rule is None else numbers_of(rule)
        for name, field in self.numbers.items():
            _let_be_seen(field, name in values)
            if name in values:
                field.show(values[name])

    def _choose(self, name: str) -> Receipt | None:
        if name == OTHER or self.plan is None:
            return None
        return self.post(SetCoupling(with_rule_of(self.plan.coupling, read_coupling(OFFERED[name], None))))

    def _type(self, text: str) -> Receipt:
        try:
            coupling = read_coupling(text, None)
        except ModelError as error:
            raise ModelError(str(error).removeprefix("--")) from error
        return self.post(SetCoupling(coupling))

    def _rule(self, name: str) -> Receipt:
        rule = read_component(StiffnessRule, name, "rule")
        damping = getattr(getattr(self._coupling, "rule", None), "damping", None)
        if damping is not None and hasattr(rule, "damping"):
            rule = replace(rule, damping=damping)
        return self._with_rule(rule)

    def _number(self, name: str) -> Callable[[float], Receipt]:
        return lambda value: self._with_rule(replace(getattr(self._coupling, "rule"), **{name: value}))  # noqa: B009

    def _with_rule(self, rule: StiffnessRule) -> Receipt:
        return self.post(SetCoupling(replace(self._coupling, rule=rule)))

    @property
    def _coupling(self) -> Coupling:
        if self.plan is None:
            raise ModelError("the coupling is not known yet; try again.")
        return self.plan.coupling


def rules() -> dict[str, type[Any]]:
    """Stiffness rules by their names."""
    found = [
        kind for kind in Component.registered.values() if issubclass(kind, StiffnessRule) and kind is not StiffnessRule
    ]
    return {kind.__name__.lower(): kind for kind in sorted(found, key=lambda kind: kind.__name__, reverse=True)}


def numbers_of(rule: Any) -> dict[str, float]:
    """Its numbers by their names."""
    values = {field.name: getattr(rule, field.name) for field in fields(rule)}
    return {name: float(value) for name, value in values.items() if is_number(value)}


def _let_be_seen(field: Field, seen: bool) -> None:
    if field.handle.visible != seen:
        field.handle.visible = seen
