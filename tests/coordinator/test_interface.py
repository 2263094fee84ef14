"""The interface between glued components: its order of elimination, its factors, and what joints answer to each other."""

import networkx as nx
import numpy as np
import pytest

import scenarios
from campaign import later, shortened
from coordinator import Glued, Simulation
from coordinator.couplings.compositions import ORDERS, stages
from coordinator.couplings.interface import verbs
from coordinator.couplings.interface.layout import eliminate, neighbours_of
from coordinator.couplings.interface.segments import segments_of
from coordinator.engine.program import perform
from modular.elements import STEP
from random_assemblies import random_assembly


@pytest.mark.parametrize("order", ORDERS)
def test_compositions_are_symmetric_and_cancel_what_they_say(order):
    weights = np.array(stages(order))
    assert np.array_equal(weights, weights[::-1])
    assert weights.sum() == pytest.approx(1.0, abs=1e-15)
    for power in range(3, order, 2):  # conditions that sums of equal powers state alone
        assert abs(np.sum(weights**power)) < 1e-15
    if order < 8:
        assert abs(np.sum(weights ** (order + 1))) > 1e-3


def test_a_chain_fills_nothing_a_tree_little_and_every_joint_goes_once():
    for tree, most in [(nx.path_graph(60), 1.0)] + [(nx.random_labeled_tree(60, seed=seed), 1.3) for seed in range(20)]:
        near = neighbours_of([[str(a), str(b)] for a, b in tree.edges])
        order = eliminate(near)
        assert sorted(joint for joint, _ in order) == list(range(59))
        assert sum(len(later) for _, later in order) <= most * sum(map(len, near)) / 2


def test_elimination_meets_whoever_is_left_of_those_that_it_must():
    graph = nx.gnm_random_graph(25, 60, seed=3)
    order = eliminate(neighbours_of([[str(a), str(b)] for a, b in graph.edges]))
    place = {joint: k for k, (joint, _) in enumerate(order)}
    later = {joint: set(others) for joint, others in order}
    near = neighbours_of([[str(a), str(b)] for a, b in graph.edges])
    for joint, others in enumerate(near):
        assert all(other in later[joint] or joint in later[other] for other in others)
    for joint, others in order:
        assert all(place[other] > place[joint] for other in others)
        for one in others:  # whoever meets the same one meets each other
            assert all(other in later[one] or one in later[other] or other == one for other in others)


def part(interface, which):
    return perform(
        interface.system.elements, segments_of(interface.system.elements, interface.members, interface)[which]
    )


def rows_of(system, column):
    return np.concatenate(
        [getattr(home.stack, column)[home.stack.row[name]].ravel() for name, home in system.joint_home.items()]
    )


def compliance(system):
    """W of all joints from what they show, without blocks or order."""
    columns = {name: 6 * k for k, name in enumerate(system.body_home)}
    found = []
    for name, home in system.joint_home.items():
        g = np.zeros((home.stack.form.rows, 6 * len(columns)))
        for owner, column in zip(home.owners, ("seen_first", "seen_second"), strict=True):
            if owner in columns:
                g[:, columns[owner] : columns[owner] + 6] += getattr(home.stack, column)[home.stack.row[name]]
        found.append(g)
    g = np.concatenate(found)
    return g @ g.T


@pytest.mark.parametrize("seed", shortened([39], [0, 2, 4, 5, 39]))
def test_what_it_finds_answers_all_rows_at_once_also_where_some_depend_on_others(seed):
    with Simulation(random_assembly(seed), 1e-3, Glued()) as simulation:
        system = simulation.system
        interface = simulation.coupling._interface(system)
        interface.perform("update_operator")
        w, rng = compliance(system), np.random.default_rng(seed)
        wanted = w @ rng.normal(size=len(w))  # which can be had
        at = 0
        for name, home in system.joint_home.items():
            stack, row = home.stack, home.stack.row[name]
            stack.rate[row] = wanted[at : at + stack.form.rows]
            stack.effort[row] = 0.0
            at += stack.form.rows
        interface.matrix, interface.factor = interface.matrix_of_all, 1.0
        interface.perform("read_rates")
        part(interface, verbs.SOLVE)
        assert w @ rows_of(system, "effort") == pytest.approx(wanted, abs=1e-8 * np.abs(wanted).max())


@pytest.mark.parametrize("name", ["double-pendulum", "double-pendulum-3d", "slider-crank", "chain", *later([4, 10])])
def test_v_is_the_slope_of_the_errors_ahead_by_the_reactions_now(name):
    """By differences, well into a step in which everything turns."""
    model = scenarios.load(name) if isinstance(name, str) else random_assembly(name)
    with Simulation(model, 1e-3, Glued()) as simulation:
        simulation.run(0.2 if isinstance(name, str) else 0.02)
        system, h = simulation.system, 0.03
        interface, elements = simulation.coupling._interface(system), simulation.system.elements
        elements.tolerance[:] = 1e-15
        elements.clock[STEP] = h
        interface.perform("update_operator")

        def errors():
            part(interface, verbs.APPLY_MULTIPLIERS)
            for _ in range(30):
                part(interface, verbs.DRIFT)
            return rows_of(system, "error").copy()

        def push(step, direction):
            at = 0
            for one, home in system.joint_home.items():
                home.stack.effort[home.stack.row[one]] += step * direction[at : at + home.stack.form.rows]
                at += home.stack.form.rows

        holonomic = np.concatenate(
            [np.full(home.stack.form.rows, home.stack.form.holonomic) for home in system.joint_home.values()]
        )
        direction = np.random.default_rng(1).normal(size=len(rows_of(system, "effort"))) * holonomic
        small = 1e-5 / (h**2 * np.abs(compliance(system) @ direction).max())
        push(small, direction)
        after = errors()
        push(-2.0 * small, direction)
        before = errors()
        push(small, direction)
        errors()
        slope = (after - before) / (2.0 * small)
        elements.ahead[0] = 1.0
        part(interface, verbs.UPDATE_OPERATOR_AHEAD)
        elements.ahead[0] = 0.0
        columns = {one: 6 * k for k, one in enumerate(system.body_home)}
        g = {when: np.zeros((len(direction), 6 * len(columns))) for when in ("seen", "ahead")}
        at = 0
        for one, home in system.joint_home.items():
            rows = slice(at, at + home.stack.form.rows)
            for owner, side in zip(home.owners, ("first", "second"), strict=True):
                if owner in columns:
                    for when, matrix in g.items():
                        part_of_it = getattr(home.stack, f"{when}_{side}")[home.stack.row[one]]
                        matrix[rows, columns[owner] : columns[owner] + 6] += part_of_it
            at += home.stack.form.rows
        expected = -0.5 * h**2 * (g["ahead"] @ (g["seen"].T @ direction)) * holonomic
        assert slope == pytest.approx(expected, abs=2e-6 * np.abs(expected).max())
