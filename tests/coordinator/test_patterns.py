"""Sparse matrices whose places are known are what scipy would have made of them."""

import numpy as np
import pytest
from scipy import sparse

from coordinator.couplings.centralized.saddle import Pattern, bordered, with_numbers


@pytest.fixture(params=range(5))
def rng(request):
    return np.random.default_rng(request.param)


def any_matrix(rng, rows, columns):
    return sparse.random_array((rows, columns), density=0.3, rng=rng, format="csr")


def test_numbers_are_summed_where_they_meet(rng):
    shape = tuple(rng.integers(1, 8, 2))
    i, j, x = rng.integers(0, shape[0], 40), rng.integers(0, shape[1], 40), rng.normal(size=40)
    pattern, wanted = Pattern(i, j, shape), np.zeros(shape)
    np.add.at(wanted, (i, j), x)
    assert pattern.filled(x).toarray() == pytest.approx(wanted)
    assert pattern.filled(2.0 * x).toarray() == pytest.approx(2.0 * wanted)
    assert pattern.filled(x).has_canonical_format


def test_without_numbers_it_is_empty():
    none = np.empty(0, np.int64)
    assert Pattern(none, none, (3, 2)).filled(np.empty(0)).nnz == 0


def test_a_matrix_with_other_numbers_leaves_the_first_alone(rng):
    one = any_matrix(rng, 5, 4)
    other = with_numbers(one, 3.0 * one.data)
    assert other.toarray() == pytest.approx(3.0 * one.toarray())
    assert abs(one).sum() < abs(other).sum()


@pytest.mark.parametrize("rows", [0, 1, 4])
def test_a_border_stands_below_and_beside(rng, rows):
    matrix, border = any_matrix(rng, 6, 6), any_matrix(rng, rows, 6)
    found = bordered(matrix, border, -0.5)
    corner = -0.5 * np.eye(rows)
    assert np.array_equal(
        found.toarray(), np.block([[matrix.toarray(), border.toarray().T], [border.toarray(), corner]])
    )
    assert found.has_sorted_indices
