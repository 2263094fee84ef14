"""Parts of the joint graph: everybody once, equal costs, few joints across; and fair shares while it moves."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse.linalg
from scipy.sparse.linalg import eigsh

import coordinator.distributed.workers.distributed_run as distributed_run
import scenarios
from campaign import each_once, named
from coordinator import Simulation
from coordinator.distributed.workers.partition import balanced_parts, partition
from coordinator.distributed.workers.worker_pool import WorkerInfo
from modular import Cut, ModelError
from modular.port import GROUND
from random_assemblies import random_assembly


def across(graph, parts):
    """How many joints have bodies of two parts."""
    part_of = {name: k for k, part in enumerate(parts) for name in part}
    return sum(part_of[a] != part_of[b] for a, b in graph.edges() if GROUND not in (a, b))


def grid(width, height):
    """A net of bodies, named in an order that says nothing."""
    net = nx.relabel_nodes(
        nx.grid_2d_graph(width, height), lambda place: f"b{hash(place) % 10007}-{place[0]}-{place[1]}"
    )
    order = sorted(net, key=lambda name: name[::-1])
    graph = nx.Graph()
    graph.add_node(GROUND)
    graph.add_nodes_from(order)
    graph.add_edges_from(net.edges())
    return graph


@pytest.mark.parametrize(("workers", "seed"), each_once([1, 2, 3, 5, 7], range(8)), ids=named)
def test_everybody_is_in_one_part_and_no_part_is_empty(workers, seed):
    graph = random_assembly(seed, most=12).graph
    bodies = [name for name in graph if name != GROUND]
    if workers > len(bodies):
        with pytest.raises(ModelError, match=f"from 1 to {len(bodies)}"):
            partition(graph, workers)
        return
    parts = partition(graph, workers)
    assert len(parts) == workers and all(parts)
    assert sorted(name for part in parts for name in part) == sorted(bodies)


@pytest.mark.parametrize("workers", [2, 3, 4, 8])
def test_a_chain_is_cut_into_its_links_in_order(workers):
    graph = scenarios.load("chain", bodies=200).graph
    parts = partition(graph, workers)
    assert across(graph, parts) == workers - 1
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


@pytest.mark.parametrize("turn", [0.0, 0.1, 0.3, 1.2])
def test_a_net_is_cut_along_short_lines(turn, monkeypatch):
    """A square net has two equally slow waves, and LAPACK gives whichever mixtures of them it likes."""

    def turned(*of, **how):
        values, waves = eigsh(*of, **how)
        if values[2] - values[1] < 1e-9:
            c, s = np.cos(turn), np.sin(turn)
            waves[:, 1:] = waves[:, 1:] @ [[c, -s], [s, c]]
        return values, waves

    monkeypatch.setattr(scipy.sparse.linalg, "eigsh", turned)
    graph = grid(30, 30)
    parts = partition(graph, 4)
    assert max(map(len, parts)) <= 1.05 * 225
    assert across(graph, parts) <= 61  # two straight cuts are 60


def test_costs_decide_how_many_bodies_a_part_has():
    graph = scenarios.load("chain", bodies=90).graph
    cost = {f"rod{k}": 8.0 if k < 30 else 1.0 for k in range(90)}
    parts = partition(graph, 2, cost)
    spent = [sum(cost[name] for name in part) for part in parts]
    assert abs(spent[0] - spent[1]) <= 8.0
    assert across(graph, parts) == 1


def test_the_same_graph_gives_the_same_parts_whatever_its_names_hash_to():
    graph = scenarios.load("chain", bodies=40).graph
    shuffled = nx.Graph()
    shuffled.add_nodes_from(graph)
    edges = list(graph.edges())
    shuffled.add_edges_from(edges[k] for k in np.random.default_rng(3).permutation(len(edges)))
    assert [len(part) for part in partition(shuffled, 3)] == [len(part) for part in partition(graph, 3)]


def members(*working):
    return [
        WorkerInfo(f"worker{k}", tuple(f"rod{10 * k + i}" for i in range(10)), ticks=1000, working=seconds)
        for k, seconds in enumerate(working)
    ]


def test_shares_that_are_fair_stay():
    graph = scenarios.load("chain", bodies=20).graph
    assert balanced_parts(graph, members(1.0, 1.1)) is None
    assert balanced_parts(graph, [*members(1.0), WorkerInfo("worker1", ("rod10",), ticks=3, working=9.0)]) is None


def test_who_has_too_much_to_do_gives_bodies_away():
    graph = scenarios.load("chain", bodies=20).graph
    parts = balanced_parts(graph, members(3.0, 1.0))
    sizes = sorted(map(len, parts))
    assert sizes == [7, 13]
    assert across(graph, parts) == 1


def test_bodies_that_change_hands_move_as_before(monkeypatch):
    def model():
        chain = scenarios.load("chain", bodies=9)
        for k in range(1, 6):
            chain.at(0.01 * k, Cut(f"ball{k}"))
        return chain

    with Simulation(model(), 1e-3) as simulation:
        alone = simulation.run(0.08)
    turn = []

    def deal(graph, members):
        turn.append(len(turn))
        names = [name for name in graph if name != GROUND]
        return [names[k::3] if len(turn) % 2 else names[3 * k : 3 * k + 3] for k in range(3)]

    monkeypatch.setattr(distributed_run, "balanced_parts", deal)
    with Simulation(model(), 1e-3, workers=3, launcher="here") as simulation:
        run = simulation.run(0.08)
    assert len(turn) >= 5
    assert run.digest == alone.digest
