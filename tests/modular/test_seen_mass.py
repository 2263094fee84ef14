"""The small linear algebra of the rule, against the library's."""

import numpy as np
import pytest

import zoo
from components.bodies.natural.compliance import largest_eigenvalue
from modular.small_inverses import invert_on_range


@pytest.mark.parametrize("size", range(1, 7))
def test_the_eigenvalue_bound_is_never_below_and_at_most_three_percent_above(size):
    rng = np.random.default_rng(size)
    for _ in range(200):
        a = rng.normal(size=(size, rng.integers(1, size + 1))) * 10.0 ** rng.uniform(-6, 6)
        matrix = a @ a.T
        exact = np.linalg.eigvalsh(matrix)[-1]
        bound = largest_eigenvalue(matrix.copy(), np.empty_like(matrix), np.empty(7))
        assert exact * (1 - 1e-12) <= bound <= exact * 1.03
    assert largest_eigenvalue(np.zeros((size, size)), np.empty((size, size)), np.empty(7)) == 0.0


@pytest.mark.parametrize("rank", [2, 3])
@pytest.mark.parametrize("spread", [1.0, 1e-5])
def test_rotations_are_inverted_on_the_range_that_they_lock(rank, spread):
    for seed in range(50):
        q = zoo.rotation(3, seed)
        w = q @ np.diag([1.0, spread, 0.5 if rank == 3 else 0.0]) @ q.T
        inverse = np.empty((3, 3))
        invert_on_range(w, 0, 3, rank, tuple(np.empty((3, 3, 3))), inverse)
        expected = q @ np.diag([1.0, 1 / spread, 2.0 if rank == 3 else 0.0]) @ q.T
        assert np.allclose(inverse, expected, atol=1e-6 / spread)


@pytest.mark.parametrize("rank", [2, 3])
def test_nothing_is_left_alone(rank):
    inverse = np.empty((3, 3))
    invert_on_range(np.zeros((3, 3)), 0, 3, rank, tuple(np.empty((3, 3, 3))), inverse)
    assert not inverse.any()
