"""What a worker tells of itself is heard, whatever its clocks say."""

import pytest

from coordinator.distributed.workers.messages import decode_message, encode_message
from coordinator.distributed.workers.process import Process


@pytest.mark.parametrize("wrong", ["_working", "_talking", "_waiting"])
def test_a_time_a_little_below_nothing_costs_nobody_a_state(wrong):
    """Seconds are differences of clocks. A message with a negative one is not heard, and a run waited for it for ever."""
    process = object.__new__(Process)
    vars(process).update({"_ticks": 30, "_sent": 60, "_working": 0.1, "_talking": 0.2, "_waiting": 0.3, wrong: -3e-4})
    told = process.facts()
    assert min(told.values()) == 0.0 and sorted(told.values())[-2:] == [2.0, 30]
    heard = decode_message(list(encode_message("state", {"run": 1, **told}, b"state")))
    assert heard is not None and heard.data["ticks"] == 30
