"""Settings as typed on the command line: `--set bodies=100`, `--rule "stable(safety=1.3)"`, `--coupling penalty`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from modular.errors import ModelError
from modular.typed import as_type, keywords, makers, parse, read_component, read_value
from scenarios import catalogue

if TYPE_CHECKING:
    from coordinator.couplings import Coupling
    from modular.assembly import Assembly

# --- settings of a scenario ------------------------------------------------------------------------------------------


def read_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Settings from `NAME=VALUE`, such as `bodies=100`, `angle=pi / 3`, `lengths=(1, 0.5)`."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        name = name.strip()
        if not (name and equals):
            raise ModelError(f"--set {pair}: write NAME=VALUE, such as --set bodies=100.")
        if name in settings:
            raise ModelError(f"--set {name} is given twice: {settings[name]} and {text}; keep one of them.")
        settings[name] = read_value(text)
    return settings


def fit_settings(target: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a ready scenario, held against the type of their defaults; unknown ones are left to `catalogue.build`."""
    if target not in catalogue.names():
        return dict(settings)
    _, defaults = catalogue.describe(target)
    fitted = dict(settings)
    for name in settings.keys() & defaults.keys():
        default = read_value(defaults[name])
        if default == defaults[name]:
            continue  # an expression: the scenario checks it
        fitted[name] = as_type(
            type(default), settings[name], f"--set {name}={settings[name]}", f"its default is {defaults[name]}"
        )
    return fitted


# --- couplings and rules ---------------------------------------------------------------------------------------------


def read_coupling(coupling: str | None, rule: str | None) -> Coupling:
    """The coupling of a run; `rule` chooses the stiffness rule of a coupling that has one."""
    import coordinator.equations.formulas  # so that these are known by name
    import coordinator.equations.generated  # noqa: F401
    from coordinator.couplings import Penalty
    from coordinator.couplings.coupling import coupling_named
    from coordinator.couplings.rules import StiffnessRule

    chosen: Any = Penalty() if coupling is None else coupling_named(coupling, "--coupling")
    if rule is None:
        return cast("Coupling", chosen)
    if "rule" not in {field.name for field in dataclasses.fields(chosen)}:
        raise ModelError(
            f"--rule {rule}: the coupling {type(chosen).__name__} has no stiffness rule; leave --rule out."
        )
    if coupling is not None and "rule" in keywords(parse(coupling, "--coupling")):
        raise ModelError(f"the rule is given twice, in --coupling {coupling} and in --rule {rule}; keep one of them.")
    return cast("Coupling", dataclasses.replace(chosen, rule=read_component(StiffnessRule, rule, "--rule")))


IN_PYTHON = re.compile(r" \(in Python (?:[\w.]+\(\)(?:, )?)+\)")  # what the command says already


def as_typed(sentence: str) -> str:
    """What is said for Python, as the command takes it; `dt = 1 s` as `--dt 1`."""
    return re.sub(r"\bdt = (\S+) s\b", r"--dt \1", couplings_as_typed(sentence))


def options_as_typed(sentence: str) -> str:
    """Keywords that are written for Python as a command takes them: `hold=['pin']` as `--hold pin`, `seek=True` as `--seek`."""
    sentence = re.sub(r"\b(hold)=\['([^'\s]+)'\]", r"--\1 \2", sentence)
    sentence = sentence.replace("Simulation(…, project_velocities=True)", "--project-velocities")
    return re.sub(r"\b(steady|seek|anywhere)=True\b", r"--\1", sentence)


def couplings_as_typed(sentence: str) -> str:
    """Couplings that are written for Python as the command takes them: `Glued(4)` as `--coupling "glued(order=4)"`."""
    from coordinator.couplings import Coupling

    known = makers(Coupling)
    sentence = IN_PYTHON.sub("", sentence)

    def coupling(found: re.Match[str]) -> str:
        name, given = found[1].lower(), [word.strip() for word in found[2].split(",") if word.strip()]
        if name not in known:
            return found[0]
        fields = [field.name for field in dataclasses.fields(known[name])]  # type: ignore[arg-type]
        words = [word if "=" in word else f"{field}={word}" for field, word in zip(fields, given, strict=False)]
        return f'--coupling "{name}({", ".join(words)})"' if words else f"--coupling {name}"

    return re.sub(r"\b([A-Z]\w*)\(([^()]*)\)", coupling, sentence)


def coupling_for(assembly: Assembly, coupling: str | None, rule: str | None) -> Coupling:
    """The coupling that was asked for; where neither it nor a rule was, the one that the model suggests."""
    if coupling is None and rule is None:
        coupling = assembly.suggested.get("coupling")
    return read_coupling(coupling, rule)
