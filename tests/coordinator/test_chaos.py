"""Bad days of real processes: one of each kind, of some where the campaign is short; `benchmarks/chaos.py` has as many as asked."""

import pytest

from campaign import some, spread
from chaos_cases import FAMILIES

SHORT = sorted(set(FAMILIES) - {"leaks", "strangers"})  # one takes minutes, the other is a speed


@pytest.mark.campaign
@pytest.mark.parametrize("kind", spread(SHORT, least=2))
@pytest.mark.parametrize("seed", range(some(10)))
def test_a_bad_day_changes_no_bit(kind, seed):
    case = FAMILIES[kind](seed)
    assert case.well, case.note
