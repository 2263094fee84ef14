"""A checkpoint that was changed on purpose, with a checksum that fits: it is refused in our words, or goes on; nothing breaks."""

import itertools
import random
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import scenarios
from campaign import later, some
from coordinator import Checkpoints, Simulation
from coordinator.continuation.resume import Checkpoint
from forged import forged
from mixture import mixture
from modular.errors import CouplingError, Diverged, MemoryShortage, ModelError
from modular.payload import packed, unpacked

MILLION = 1_000_000
OURS = (ModelError, CouplingError, MemoryShortage, Diverged)
MODELS = {"mixture": lambda: mixture(law=False), "double-pendulum-3d": lambda: scenarios.load("double-pendulum-3d")}


def kept(name, folder):
    """A checkpoint of a model on its way."""
    with Simulation(MODELS[name](), 1e-3, record_every=5) as simulation:
        simulation.run(0.1)
        return Checkpoints(folder).write(simulation)


def use(name, folder, first, count):
    """Forge checkpoints, and go on from each as far as it goes; how many were refused, and how many went on."""
    path = kept(name, folder)
    data, arrays = unpacked(path.read_bytes())
    refused = 0
    for seed in range(first, first + count):
        print(seed, flush=True)  # the last words where a process dies of it
        path.write_bytes(packed(*forged(random.Random(seed), data, arrays)))
        try:
            with Checkpoint(path).simulation() as simulation:
                simulation.run(simulation.time + 0.01)
        except OURS:
            refused += 1
    return refused, count - refused


def in_a_process(name, folder, first, count):
    """The same elsewhere, so that a crash is a failure and not the end of all tests."""
    code = "import sys; import test_forged_checkpoints as t; t.main(*sys.argv[1:])"
    here = str(Path(__file__).parent)
    paths = [here, str(Path(here).parent / "support"), *filter(None, sys.path)]
    command = [sys.executable, "-c", f"import sys; sys.path[:0] = {paths!r}; {code}", name, str(folder)]
    done = subprocess.run([*command, str(first), str(count)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout.split()[-1:]}: {done.stderr[-2000:]}"
    return [int(word) for word in done.stdout.split()[-2:]]


def main(name, folder, first, count):
    """What the process does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print(*use(name, Path(folder), int(first), int(count)))


@pytest.mark.campaign
def test_it_is_refused_in_our_words_or_goes_on(tmp_path):
    refused, gone_on = in_a_process("double-pendulum-3d", tmp_path, 0, 60)
    assert refused > 10 and gone_on > 10


@pytest.mark.campaign("more")
@pytest.mark.parametrize(("name", "part"), later(itertools.product(MODELS, range(4))))
def test_many_are_refused_or_go_on(name, part, tmp_path):
    refused, gone_on = in_a_process(name, tmp_path, 100_000 * (part + 1), some(5000))
    assert refused and gone_on


@pytest.mark.campaign
@pytest.mark.parametrize("part", later(range(10)))
def test_a_million_damaged_ones_are_found(part, tmp_path):
    """Flipped, cut or doubled, without a checksum that fits: found, whatever it is."""
    rng = random.Random(part)
    raw = kept("double-pendulum-3d", tmp_path).read_bytes()
    for _ in range(some(MILLION // 10)):
        damaged = bytearray(raw)
        place = rng.randrange(len(raw))
        match rng.randrange(3):
            case 0:
                damaged[place] ^= rng.randrange(1, 256)
            case 1:
                del damaged[place:]
            case 2:
                damaged[place:place] = rng.randbytes(rng.choice([1, 8, 100]))
        with pytest.raises(OURS):
            unpacked(damaged)


def test_a_forgery_changes_something():
    data, arrays = {"a": [1, {"b": 2.0}], "c": "d"}, {"x": np.arange(3.0)}
    for seed in range(50):
        found, columns = forged(random.Random(seed), data, arrays)
        assert found != data or repr(columns) != repr(arrays)
