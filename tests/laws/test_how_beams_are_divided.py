"""What a beam is divided into: nodes whose sums are integrals, and pieces that bend to arcs, all of fourth order in bending."""

from dataclasses import replace

import numpy as np
import pytest

import references
from campaign import as_far_as
from components import Beam, Fixed, Load, PointOnLine
from components.bodies.beam.shape import pulled_back
from coordinator.analysis import equilibrium, root_locus
from lazily import Lazily
from modular import Assembly

optimize = Lazily("scipy.optimize")


def pulled(beam, q):
    return pulled_back(q, np.zeros_like(q), beam.stiffness_of_pieces, beam.spacing, 0.0)


def bent_to_rest(beam, force, moment):
    """Places of nodes, clamped at the start, under a force across and a moment at the end; what is softer along leads there."""
    start = beam.start_of_nodes

    def missing(x, axial, share):
        there = np.concatenate([start[0], x]).reshape(start.shape)
        found = pulled(replace(beam, axial=axial, shear=axial), there)
        found[-1, 1:] += share * force, share * moment
        return found.ravel()[3:]

    x = start.ravel()[3:]
    for axial, share in [*((1e2, k / 20) for k in range(1, 21)), *((10.0**k, 1.0) for k in range(3, 9))]:
        x = optimize.root(missing, x, args=(axial, share), tol=1e-12).x
    assert np.abs(missing(x, axial, 1.0)).max() < 1e-5
    return np.concatenate([start[0], x]).reshape(start.shape)


@pytest.mark.short(1)
@pytest.mark.parametrize("case", [2.0, 10.0, "circle"])
def test_eulers_elastica_and_a_circle_are_met_at_fourth_order(case):
    errors = []
    for elements in as_far_as((4, 8, 16), (4, 8)):
        beam = Beam((0.0, 0.0), (1.0, 0.0), mass=1.0, axial=1e8, shear=1e8, bending=1.0, elements=elements)
        if case == "circle":
            found = bent_to_rest(beam, 0.0, 2.0 * np.pi)[elements // 2, :2]
            errors.append(np.abs(found - (0.0, 1.0 / np.pi)).max())
        else:
            errors.append(np.abs(bent_to_rest(beam, -case, 0.0)[-1, :2] - references.elastica(case)).max())
    assert errors[0] < 2e-3 and (np.array(references.orders(errors)) > 3.7).all()


@pytest.mark.parametrize("elements", [2, 3, 4, 5, 9])
def test_nodes_have_mass_moment_and_inertia_of_the_beam_and_add_up_as_integrals_do(elements):
    beam = Beam.of_rectangle((0.2, 0.1), (1.0, 0.7), width=0.1, height=0.05, young=1e9, density=10.0, elements=elements)
    along, masses = np.linspace(0.0, 1.0, elements + 1), beam.node_masses
    section = masses * beam.stiffness[-1] / beam.axial
    turned = beam.node_inertia[:, 0] - section
    assert masses.min() > 0.0 and turned.min() > -1e-18
    assert masses.sum() == pytest.approx(beam.mass, rel=1e-14)
    for motion, turning in [
        (np.ones_like(along), np.zeros_like(along)),  # moved, turned about its start and about its middle, as a whole
        (along, np.ones_like(along)),
        (along - 0.5, np.ones_like(along)),
    ]:
        twice = masses @ motion**2 + turned @ turning**2
        assert twice == pytest.approx(beam.mass * np.polyfit(along, motion, 1) @ np.array([
            [1.0 / 3.0, 0.5], [0.5, 1.0]]) @ np.polyfit(along, motion, 1), rel=1e-13)  # fmt: skip


SWINGS = {  # which coordinates of the start and of the end are held, and the roots of the first two swings of a length of 1
    "cantilever": ((0, 1, 2), (), (1.8751040687, 4.6940911330)),
    "free": ((), (), (4.7300407449, 7.8532046241)),
    "clamped": ((0, 1, 2), (1, 2), (4.7300407449, 7.8532046241)),
    "hinged": ((0, 1), (1,), (np.pi, 2.0 * np.pi)),
}


def swings(beam, at_start, at_end):
    """Squares of its swings across, those of the whole among them, where its section has no inertia of its own."""
    q = beam.start_of_nodes
    size = q.size
    slopes = np.array([
        (pulled(beam, q - step) - pulled(beam, q + step)).ravel() / 2e-5
        for step in 1e-5 * np.eye(size).reshape(size, *q.shape)
    ])  # fmt: skip
    free = [k for k in range(size) if k % 3 and k not in at_start and k - size + 3 not in at_end]
    inertia = beam.node_inertia - beam.node_masses[:, None] * beam.stiffness[-1] / beam.axial
    roots = np.sqrt(np.maximum(np.c_[beam.masses[:, :2], inertia], 0.0).ravel()[free])
    shifted = 0.5 * (slopes + slopes.T)[np.ix_(free, free)] + np.diag(roots**2)
    found = np.linalg.eigvalsh(roots[:, None] * np.linalg.solve(shifted, np.diag(roots)))
    return 1.0 / found[::-1][:4] - 1.0


@pytest.mark.parametrize("held", SWINGS)
def test_swings_of_a_beam_are_met_at_fourth_order_however_its_ends_are_held(held):
    at_start, at_end, roots = SWINGS[held]
    errors = []
    for elements in (8, 16, 32):
        beam = Beam((0.0, 0.0), (1.0, 0.0), mass=1.0, axial=1e6, shear=1e9, bending=1.0, elements=elements)
        found = swings(beam, at_start, at_end)[2 if held == "free" else 0 :][:2]
        errors.append(np.abs(found / np.array(roots) ** 4 - 1.0).max())
    assert (np.array(errors) < 4.5e-2 / 16.0 ** np.arange(3)).all()  # a sixteenth with each half


@pytest.mark.campaign
def test_a_column_buckles_at_eulers_load_at_fourth_order():
    """pi^2 EI / 4 L^2 of a clamped one, pressed at its end: with 16 pieces to 1e-6. No load is looked at twice."""
    right, off = np.pi**2 / 4.0, []
    for elements in (2, 4):
        loads = []

        def column(load, elements=elements, loads=loads):
            loads.append(load)
            model = Assembly(gravity=(0.0, 0.0))
            beam = Beam((0.0, 0.0), (1.0, 0.0), mass=1.0, axial=1e7, shear=1e7, bending=1.0, elements=elements)
            model.add("column", beam)
            model.join("foot", Fixed(), "ground", "column.start")
            model.apply("load", Load((-load, 0.0)), "column.end")
            return model

        (found,) = root_locus(column, "load", [0.99 * right, 1.01 * right], seek=True).changes
        off.append(found.value / right - 1.0)
        assert len(loads) == len(set(loads))
    assert 0.0 < off[1] < 3e-4 and off[0] / off[1] > 14.0


def test_a_propped_beam_shares_its_load_as_bending_and_shear_say():
    """A clamp and a prop under a load in the middle, from the compliances of both: exactly, however few its pieces are."""
    load, sheared = 1e-4, 1.0 / 30.0  # EI / GA L^2
    model = Assembly(gravity=(0.0, 0.0))
    beam = {"mass": 1.0, "axial": 1e3, "bending": 1.0, "shear": 1.0 / sheared, "ports": {"middle": 0.5}}
    model.add("beam", Beam((0.0, 0.0), (1.0, 0.0), elements=4, **beam))
    model.join("wall", Fixed(), "ground", "beam.start")
    model.join("prop", PointOnLine(axis=(1, 0)), "ground", "beam.end", at=(1.0, 0.0))
    model.apply("load", Load((0.0, -load)), "beam.middle")
    found = equilibrium(model).reactions["prop"][1]
    assert found == pytest.approx(load * (5.0 / 48.0 + 0.5 * sheared) / (1.0 / 3.0 + sheared), abs=1e-10 * load)
