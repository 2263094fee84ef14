"""The digest of a run: SHA-256 over every series of every component, name by name, however samples were laid out."""

import hashlib

import numpy as np
import pytest

import scenarios
from coordinator import Simulation
from coordinator.record import series
from coordinator.record.series import canonical, digest_of, series_of


def one_by_one(segments):
    """What is hashed, written down as it is described: name, series, ticks, shapes where they change, bits."""
    found, digest = series_of(segments), hashlib.sha256()
    for name, key in sorted(found):
        pieces = found[name, key]
        words, shape = name.encode() + f" {key}\n".encode(), ()
        words += b"".join(np.ascontiguousarray(ticks, "<i8").tobytes() for ticks, _ in pieces)
        for _, values in pieces:
            words += repr(values.shape[1:]).encode() if values.shape[1:] != shape else b""
            words, shape = words + canonical(values).tobytes(), values.shape[1:]
        digest.update(words)
    return digest.hexdigest()


def told(name, until, cut=True, **settings):
    simulation = Simulation(scenarios.load(name, **settings), 1e-3)
    simulation.run(0.5 * until)
    if cut:
        simulation.cut(list(simulation.assembly.joints)[-1])
    simulation.run(until)
    return simulation.recorded


@pytest.mark.parametrize(("at_once", "put_down"), [(1000, 2**20), (3, 2**20), (1000, 0), (3, 0)])
@pytest.mark.parametrize(
    ("name", "settings"),
    [("chain", {"bodies": 12}), ("chain", {"bodies": 12, "cut": False}), ("cut-double-pendulum", {"elbow": 0.01})],
)
def test_names_hashed_together_are_hashed_as_one_by_one(name, settings, at_once, put_down, monkeypatch):
    """Names of one and of two digits, joints that go or stay, samples in several segments, names in many handfuls."""
    monkeypatch.setattr(series, "MAX_NAMES", at_once)
    monkeypatch.setattr(series, "MAX_PUT_DOWN", put_down)
    run = told(name, 0.03, **settings)
    assert len(run.segments) > 1 or not settings.get("cut", True)
    assert run.digest == one_by_one(run.segments) == digest_of(run.segments)
