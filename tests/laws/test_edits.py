"""An edit of a running model costs the same in a model of any size: arrays are edited, not rebuilt."""

import sys

import numpy as np

import scenarios
from components import Spherical
from coordinator import Simulation
from coordinator.engine.region import Region
from modular.table import Table

# functions that an edit calls, each for some tenths of a microsecond: what its cost is made of
MOST_OF_A_CUT, MOST_OF_A_JOIN = 420, 930


def chain(bodies):
    """In the middle of it two rods that have been parted and joined before, so that all is written down that events play."""
    simulation = Simulation(scenarios.load("chain", bodies=bodies), 1e-4, record_every=10**9)
    simulation.run(2e-3)
    for _ in range(2):
        cut(simulation)
        simulation.step()
        join(simulation)
        simulation.step()
    return simulation


def middle(simulation):
    """The two rods, and the joint between them, if there is one."""
    half = len(simulation.assembly.bodies) // 2
    rods = (f"rod{half - 1}", f"rod{half}")
    return rods, [name for name, edge in simulation.assembly.joint_edges.items() if edge.second.body == rods[1]]


def cut(simulation):
    simulation.cut(middle(simulation)[1][0])


def join(simulation):
    first, second = middle(simulation)[0]
    simulation.join(f"again{len(simulation.events)}", Spherical(), f"{first}.end", f"{second}.start")


def rows_written(simulation, change):
    """How many rows of all tables are others after a change, or new."""

    def tables():
        system = simulation.system
        return [table.copy_rows() for table in (*system.bodies, *system.joints, system.elements)]

    before, written = tables(), 0
    change(simulation)
    for old, new in zip(before, tables(), strict=True):
        counts = [len(table["first" if "first" in table else "q" if "q" in table else "force"]) for table in (old, new)]
        differs = np.arange(max(counts)) >= min(counts)
        for name in old.keys() & new.keys():
            a, b = (table[name][: min(counts)].reshape(min(counts), -1) for table in (old, new))
            differs[: min(counts)] |= (a != b).any(axis=1)
        written += int(differs.sum())
    return written


def steps_taken(simulation, change):
    """How many functions are called during a change, of Python and of libraries."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        change(simulation)
    finally:
        sys.setprofile(None)
    return count


def test_an_edit_looks_at_as_many_rows_in_a_long_chain_as_in_a_short_one_and_writes_to_no_others():
    spans = []
    for bodies in (40, 400):
        with chain(bodies) as simulation:
            for change in (cut, join):
                written = rows_written(simulation, change)
                region = Region.of(simulation.system, middle(simulation)[0])
                spans.append([[len(rows) for rows in region.rows_in_rings(stack)] for stack in region.stacks])
                # a row that left, and the last one that took its place
                assert 0 < written <= sum(map(sum, spans[-1])) + 2
                simulation.step()
    assert spans[:2] == spans[2:]


def test_an_edit_takes_few_steps_and_no_more_in_a_long_chain_than_in_a_short_one():
    steps = {}
    for bodies in (40, 400):
        with chain(bodies) as simulation:
            steps[bodies] = []
            for change in (cut, join):
                steps[bodies].append(steps_taken(simulation, change) - steps_taken(simulation, middle))
                simulation.step()
    assert all(long <= 1.1 * short for long, short in zip(steps[400], steps[40], strict=True))
    assert steps[40][0] <= MOST_OF_A_CUT and steps[40][1] <= MOST_OF_A_JOIN, steps[40]


def test_rows_are_cleared_and_moved_whatever_columns_a_table_has():
    table = Table(6)
    table.column("numbers", 2)
    table.column("nothing", 0)
    table.column("listed", 1, 2, listed=True)
    table.column("places", dtype=np.int64)
    table.column("folded", 3)
    table.alike("alike", np.array([1.0, 2.0]))
    table.fixed("shared", 2)
    table.widen("listed", 3)
    table.fold("folded")
    table.shared[:] = 5.0
    wanted = {}
    for name in ("numbers", "listed", "places"):
        column = getattr(table, name)
        column[...] = 1 + np.arange(column.size).reshape(column.shape)
        wanted[name] = column.copy()
        wanted[name][1], wanted[name][3:5] = column[5], 0
    table.move(5, 1)
    table.clear(3, 5)
    for name, column in wanted.items():
        assert np.array_equal(getattr(table, name), column), name
    assert table.shared.tolist() == [5.0, 5.0] and table.alike.tolist() == [[1.0, 2.0]] * 6
