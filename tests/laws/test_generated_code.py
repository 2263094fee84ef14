"""Source code of what moves a model: C and what numba compiles give the same bits, and the engine's numbers."""

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import scenarios
from campaign import shortened
from components import DrivenRotation, Revolute, Rod, Smooth, SpringDamper
from coordinator import Centralized, Simulation
from coordinator.couplings.centralized.equations import Equations
from coordinator.equations import moving
from modular import Assembly

COMPILER = shutil.which("cc") or shutil.which("gcc")
NUMBERS = ctypes.POINTER(ctypes.c_double)
STEPS = 200
SYSTEMS = shortened(
    ["slider-crank"], ["slider-crank", "four-bar", "double-pendulum-3d", "rolling-disc", "spring-pendulum"]
)


def built(source, folder):
    """accelerate(t, q, v, p, f, a, lambda) of a source file."""
    (folder / "model.c").write_text(source, encoding="utf-8")
    options = ["-std=c99", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-pedantic", "-shared", "-fPIC"]
    subprocess.run([COMPILER, *options, "-o", "model.so", "model.c", "-lm"], cwd=folder, check=True)
    function = ctypes.CDLL(str(folder / "model.so")).accelerate
    function.argtypes, function.restype = [ctypes.c_double, *[NUMBERS] * 6], None
    return function


def stepped(rates, q, v, h):
    """By the symplectic method of Euler, from one state."""
    found = []
    for k in range(STEPS):
        a, multipliers = rates(k * h, q, v)
        v = v + h * a
        q = q + h * v
        found.append(np.concatenate([q, v, multipliers]))
    return np.array(found)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
@pytest.mark.parametrize("name", SYSTEMS)
def test_c_and_compiled_python_step_to_the_same_bits(name, tmp_path):
    found = moving(scenarios.load(name))
    function, w = built(found.c_source(), tmp_path), found.written
    p = found.parameters()

    def in_c(time, q, v):
        a, multipliers = np.zeros(len(q)), np.zeros(max(1, len(w.constraints)))
        arrays = (q, v, p, found.courses(time), a, multipliers)
        function(time, *(np.ascontiguousarray(x).ctypes.data_as(NUMBERS) for x in arrays))
        return a, multipliers[: len(w.constraints)]

    def here(time, q, v):
        return found.at(q, v, time)

    runs = [stepped(rates, *w.start, 1e-4) for rates in (in_c, here)]
    assert runs[0].tobytes() == runs[1].tobytes()
    assert np.isfinite(runs[0]).all()
    assert np.abs(runs[0][-1] - runs[0][0]).max() > 1e-6  # it moves


def test_the_compiled_function_gives_what_the_engine_gives():
    model = Assembly(gravity=(0.0, -9.81), title="led */ by a table")
    model.add("crank", Rod((0.0, 0.0), (0.3, 0.0), 1.0))
    model.add("rod", Rod((0.3, 0.0), (1.1, 0.1), 0.5))
    model.join("pin", Revolute(), "ground", "crank.start")
    model.join("elbow", Revolute(), "crank.end", "rod.start")
    model.join("drive", DrivenRotation(Smooth((0.0, 1.0, 2.5), (0.0, 0.7, -0.3))), "ground", "crank.start")
    model.apply("spring", SpringDamper(40.0, 0.2, length=0.5), "ground", "rod.end", at=(0.0, 1.0))
    found = moving(model)
    with Simulation(model.copy(), 1e-3, Centralized(), project_velocities=True) as simulation:
        engine = Equations(simulation.system)
        q, v = engine.read()
        a, multipliers = engine.accelerate(0.3, q, v)
        one, other = found.at(q, v, 0.3)
    assert np.allclose(one, a, rtol=0.0, atol=1e-7 * np.abs(a).max())
    assert np.allclose(other, multipliers, rtol=0.0, atol=1e-6 * np.abs(multipliers).max())
    source = found.c_source()
    assert source.count("*/") == 1  # the title does not end the comment
    assert "2 drive.f''" in source
    heavier = found.at(q, v, 0.3, {"rod.mass": 1.5})[0]
    assert np.abs(heavier - one).max() > 1e-3
