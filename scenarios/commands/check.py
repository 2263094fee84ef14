"""The command `modular check`: a model looked over before it moves."""

from __future__ import annotations

from dataclasses import replace

from scenarios.options import CouplingName, RuleName, Scenario, Settings, Step
from scenarios.target import load, times
from scenarios.terminal import console_for, refusals


def check(
    target: Scenario,
    dt: Step = None,
    settings: Settings = None,
    coupling: CouplingName = None,
    rule: RuleName = None,
) -> None:
    """Look a model over without running it: masses, degrees of freedom, seen masses, margins, and what would help.

    \b
    Examples:
      [bold]modular check slider-crank[/bold]
      [bold]modular check chain --set bodies=3 --rule "shannon(delta=0.3)"[/bold]

    The margin of a joint is the factor by which the step could grow at the same stiffness before the bound of stability
    is reached; below 1 a run may diverge.
    """
    console = console_for()
    with refusals():
        from coordinator import Simulation, examine
        from modular.component import plain
        from scenarios.report.examination import print_examination
        from scenarios.report.first_use import compiling
        from scenarios.report.summary import settings_text
        from scenarios.settings import as_typed, coupling_for

        with compiling(console, "looking…"):
            assembly, _ = load(target, settings)
            step, _ = times(assembly, dt, None)
            with Simulation(
                assembly, step, coupling_for(assembly, coupling, rule), project_velocities=True
            ) as simulation:
                found, joints_hold = examine(simulation), settings_text(plain(simulation.coupling))
        advice = [as_typed(line) for line in found.advice]
        print_examination(console, assembly.title or target, step, joints_hold, replace(found, advice=advice))
