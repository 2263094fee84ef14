"""Variants side by side: in the stacks of one simulation, wherever none of them notices the others.

Variants one after the other: each as a simulation of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from coordinator.building import UnlikeModels
from coordinator.couplings import Coupling, Glued, Penalty
from coordinator.couplings.implicit import found_forces, located_friction
from coordinator.couplings.rules import Shannon, Stable
from coordinator.engine.program import STRIKES, compiled, encountering
from coordinator.ensemble.copies import RENAMED, Names, side_by_side
from coordinator.ensemble.parameters import GRAVITY
from coordinator.ensemble.pieces import Piece, VariantNotices
from coordinator.ensemble.telling import SharedNotices
from coordinator.ensemble.variants import Variants
from coordinator.equations.formulas import Formulas
from coordinator.equations.tables import assembled
from coordinator.events.bulk_add import undisturbed
from coordinator.record.run import Run
from coordinator.simulation import Simulation
from coordinator.system import System
from modular.errors import CouplingError, Diverged, ModelError, RunWarning
from modular.force import BeginsAtRest, Decides, TakesEvenStages
from modular.table import Table
from modular.tiles import MARK


class Apart(Exception):
    """Variants that cannot stand side by side: those of each part can, or one of them alone."""

    def __init__(self, groups: Sequence[Sequence[int]]) -> None:
        super().__init__(groups)
        self.groups = [list(group) for group in groups]


class VariantDiverged(Exception):
    """One of several variants diverged: which."""

    def __init__(self, variant: int) -> None:
        super().__init__(variant)
        self.variant = variant


def why_apart(variants: Variants, coupling: Coupling, settings: dict[str, Any]) -> str:
    """Why variants of a model have to run one after the other; nothing where they run side by side."""
    model = variants.model
    if type(coupling) not in (Penalty, Glued, Formulas):
        return f"{type(coupling).__name__} looks at all that is there together"
    if isinstance(coupling, Penalty) and coupling.adaptive is not None:
        return "adaptive steps are chosen for all that is there together"
    if isinstance(coupling, Penalty) and type(coupling.rule) not in (Stable, Shannon):
        return f"{type(coupling.rule).__name__} may look at all joints together"
    if settings.get("project_velocities"):
        return "initial velocities are projected in sweeps over all joints"
    for name, body in model.bodies.items():
        if body.hosted:
            return f"'{name}' lives where only its worker knows it"
    for each in model.schedule:
        if each.condition is not None:
            return "a condition divides the tick in which it comes true"
        for event in each.events:
            if type(event) not in RENAMED:
                return f"{type(event).__name__} is not known to leave others alone"
    if isinstance(coupling, Glued) and (model.schedule or any(edge.breaks_at for edge in model.joint_edges.values())):
        return "under Glued joints are made and cut for all that is there together"
    if isinstance(coupling, Formulas) and (
        model.schedule or any(edge.breaks_at for edge in model.joint_edges.values())
    ):
        return "an event changes the formulas"
    return _why_forces(variants, coupling, settings)


def _why_forces(variants: Variants, coupling: Coupling, settings: dict[str, Any]) -> str:
    """The same, as the first variant stands."""
    if isinstance(coupling, Formulas):  # they find no forces, and refuse by themselves what they cannot write
        return _why_stacks(assembled(variants.model_of(0)), coupling)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RunWarning)
        with Simulation(variants.model_of(0), coupling=coupling, **settings) as simulation:
            system = simulation.system
            if system.implicit_forces:
                return f"'{system.implicit_forces[0]}' is stiffer than the step, and found together with the joints"
            if located_friction(system):
                return f"'{located_friction(system)[0]}' begins to stick and to slide at instants of its own"
            if system.groups:
                return "bodies are merged"
            return _why_stacks(system, coupling)


def _why_stacks(system: System, coupling: Coupling) -> str:
    """The same of what takes part."""
    for stack in system.forces:
        who = stack.names[0]
        if isinstance(stack, BeginsAtRest) or id(stack) in map(id, encountering(system)):
            return f"'{who}' begins with what all contacts find together"
        if isinstance(stack, TakesEvenStages) and isinstance(coupling, Glued) and coupling.order > 2:
            return f"'{who}' has steps of higher order go in even stages while it is near"
        if isinstance(stack, Decides):
            return f"'{who}' decides in Python"
        if not isinstance(stack, Table) or any(compiled((stack, verb)) for verb in STRIKES):
            return f"'{who}' acts on what others do"
    for stacks in (system.bodies, system.joints, system.forces):
        for any_stack in stacks:
            if not isinstance(any_stack, Table):
                return f"'{any_stack.names[0]}' is plain Python"
    return ""


def gravity_of(variants: Variants, k: int, coupling: Coupling) -> bytes:
    """What variants that run side by side have in common; in formulas gravity is a parameter, but for what is nothing of it."""
    if GRAVITY not in variants:
        return b""
    gravity = np.array(variants.member(GRAVITY, GRAVITY, k), float)
    if not isinstance(coupling, Formulas):
        return gravity.tobytes()
    acting = gravity != 0.0
    alike = np.sign(gravity) if np.count_nonzero(acting) == 1 else acting.astype(float)  # as `name_gravity` names it
    return bytes(alike.tobytes())


def run_stacked(
    variants: Variants, which: Sequence[int], coupling: Coupling, until: float, settings: dict[str, Any], heard: Heard
) -> Piece:
    """These variants, to their end; raises `VariantDiverged` where one diverges."""
    with undisturbed():
        copies = side_by_side(variants, which)
        copies.shared = variants.shared.setdefault(gravity_of(variants, which[0], coupling), {})
        names, begun = Names(copies), False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RunWarning)
        try:
            with Simulation(copies, coupling=coupling, **settings) as simulation:
                system = simulation.system
                if found_forces(system) or system.groups:  # the first variant has none
                    raise Apart([[k] for k in which])
                simulation.schedule.dry_run_done = True  # the first variant has compiled what its events need
                begun = simulation.tick < round(until / simulation.dt)
                simulation.past.given.leave_untold()  # a run of one tells of the model
                run, missed = simulation.run(until), coupling.missed(system)
                if found_forces(system) or system.groups:  # an event has brought some
                    raise Apart([[k] for k in which])
        except Diverged as error:
            found = names.variant(error.component)
            raise VariantDiverged(which[0] if found is None else found) from error
        except UnlikeModels as error:  # after an event some may be like others again: then each goes on by itself
            raise Apart([[k] for k in which] if begun else error.groups) from error
        except (ModelError, CouplingError) as error:
            text, found = names.sentence(str(error))
            whose = f"variant {found}" if found is not None else f"variants {which[0]} to {which[-1]}"
            raise type(error)(f"Ensemble: {whose}: {text}") from error
    for warning in caught:
        text, found = names.sentence(str(warning.message))
        heard.append((found, _said(warning, text)))
    return Piece(
        list(run.segments), SharedNotices(run, which, names, missed), MARK, float(run.timings.get("seconds", 0.0)),
        which=names.which,
    )  # fmt: skip


def _said(warning: warnings.WarningMessage, text: str) -> warnings.WarningMessage:
    return warnings.WarningMessage(warning.category(text), warning.category, warning.filename, warning.lineno)


Heard = list[tuple[int | None, warnings.WarningMessage]]  # warnings, and of which variant


def run_apart(
    variants: Variants, k: int, coupling: Coupling, until: float, settings: dict[str, Any], heard: Heard
) -> Piece:
    """One variant, to its end or to where it diverges; what was warned of is heard."""
    told = VariantNotices()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RunWarning)
        try:
            with Simulation(variants.model_of(k), coupling=coupling, **settings) as simulation:
                try:
                    simulation.run(until)
                except Diverged as error:
                    told.reason, told.component, told.tick = str(error), error.component, error.tick
                run = simulation.recorded
        except (ModelError, CouplingError) as error:
            raise type(error)(f"Ensemble: variant {k}: {error}") from error
    heard += [(k, warning) for warning in caught]
    return piece_of(run, k, told)


def piece_of(run: Run, k: int, told: VariantNotices) -> Piece:
    """A run as a piece of an ensemble."""
    told.events, told.margins, told.forms = list(run.events), list(run.margins), dict(run.forms)
    told.estimate = dict(run.estimate)
    told.tick = told.tick or int(run.settings["ticks"])
    return Piece(list(run.segments), {k: told}, seconds=float(run.timings.get("seconds", 0.0)))
