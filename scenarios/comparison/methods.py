"""The methods that can be compared, by short names; any coupling as it is typed on the command line is one too."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modular.errors import ModelError
from scenarios.settings import read_coupling
from scenarios.study.variants import split_outside

if TYPE_CHECKING:
    from coordinator.couplings import Coupling

# short name -> coupling as it is typed
METHODS = {
    "modular": "penalty",
    "thesis": "penalty(rule=shannon(delta=0.3, damping=0.05), internal=thesis, preload=False)",
    "glued": "glued",
    "glued4": "glued(order=4)",
    "hht": "centralized(solver=hht(alpha=0.1))",
    "newmark": "centralized(solver=hht(alpha=0.0))",
    "augmented-lagrangian": "centralized(solver=augmentedlagrangian)",
    "ggl": "centralized(solver=ggl)",
    "baumgarte": "centralized(solver=baumgarte)",
    "substitution": "centralized(solver=substitution)",
    "global-penalty": "centralized(solver=globalpenalty)",
    "generated": "centralized(solver=generated)",
    "rk4": "centralized(solver=minimalcoordinates(method=RK4))",
    "dop853": "centralized(solver=minimalcoordinates(method=DOP853, rtol=1e-12, atol=1e-12))",
}
BY_HAND = {"hand-newton-euler": "newton-euler", "hand-lagrange": "lagrange"}  # of the scenario two-rods
HAND_MADE = "two-rods"
DEFAULT = "modular,hht,rk4"


@dataclass(frozen=True)
class Method:
    """A method under the name that it was asked for; `text` is its coupling, None where it is solved by hand."""

    name: str
    text: str | None

    @property
    def coupling(self) -> Coupling:
        """The coupling of a method that has one."""
        if self.text is None:
            raise ModelError(f"method '{self.name}' is a solver by hand; it has no coupling.")
        return read_coupling(self.text, None)

    @property
    def adaptive(self) -> bool:
        """Whether it chooses its own steps, so that one run says all."""
        return self.text is not None and is_adaptive(self.coupling)

    @property
    def modular(self) -> bool:
        """Whether its joints are springs: its error has a budget."""
        from coordinator.couplings import Penalty

        return self.text is not None and isinstance(self.coupling, Penalty)


def is_adaptive(coupling: Coupling) -> bool:
    """Whether a coupling chooses steps of its own between two ticks."""
    from coordinator.couplings.centralized.explicit import ADAPTIVE

    return getattr(getattr(coupling, "solver", None), "method", None) in ADAPTIVE


def read_methods(text: str, scenario: str) -> tuple[Method, ...]:
    """The methods that `--methods` names, each once."""
    asked = list(dict.fromkeys(split_outside(text)))
    if not asked:
        raise ModelError(f"--methods {text!r}: give at least one, such as --methods {DEFAULT}.")
    return tuple(read_method(name, scenario) for name in asked)


def read_method(name: str, scenario: str, option: str = "--methods") -> Method:
    """A short name, or any coupling as `modular run --coupling` takes it."""
    short = name.lower()
    if short in METHODS:
        return Method(short, METHODS[short])
    if short in BY_HAND:
        if scenario != HAND_MADE:
            raise ModelError(
                f"{option} {name}: the solvers by hand know one system only; compare the scenario {HAND_MADE}."
            )
        return Method(short, None)
    try:
        read_coupling(name, None)
    except ModelError as error:
        if name.replace("-", "").replace("_", "").isalnum():  # meant as a short name
            known = [*METHODS, *BY_HAND]
            near = difflib.get_close_matches(short, known, 1)
            meant = f"did you mean '{near[0]}'? There are" if near else "there are"
            raise ModelError(
                f"{option} {name}: there is no such method; {meant}: {', '.join(known)}; or any coupling, such as "
                '"penalty(rule=stable(safety=1.5))".'
            ) from None
        raise ModelError(str(error).replace("--coupling", option, 1)) from None
    return Method(name, name)
