"""The centralized solvers as the laws try them, and a run in one line."""

from coordinator import (
    GGL,
    HHT,
    AugmentedLagrangian,
    Baumgarte,
    Centralized,
    GlobalPenalty,
    MinimalCoordinates,
    Penalty,
    Simulation,
    Substitution,
)

EXACT = Centralized(MinimalCoordinates(method="DOP853", rtol=1e-13, atol=1e-13))
IMPLICIT = {
    "HHT": HHT(),
    "Newmark": HHT(alpha=0.0),
    "AL": AugmentedLagrangian(),
    "AL, accelerations": AugmentedLagrangian(form=2),
    "GGL": GGL(),
}
ALL = {
    **IMPLICIT,
    "Baumgarte": Baumgarte(),
    "Substitution": Substitution(),
    "penalty": GlobalPenalty(alpha=1e9),
    "RK4": MinimalCoordinates(),
}


def simulate(model, solver, dt, until, **settings):
    coupling = solver if isinstance(solver, Centralized | Penalty) else Centralized(solver)
    with Simulation(model, dt, coupling, **settings) as simulation:
        return simulation.run(until)
