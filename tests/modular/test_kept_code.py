"""Kept machine code: never older than its sources, found by what it is made of, whole or made again; who hears of compiling."""

import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import nursery
from campaign import later
from modular import claims
from modular.kernel import own_store
from modular.kernel_store import SUFFIX
from waiting import GUARD

JOINT = """
from dataclasses import dataclass

from direction import along
from modular.joint import Attachment, Joint, JointForm, point_marks
from modular.joints import load_joints, scratch_of, store_joints
from modular.kernel import kernel
from modular.lanes import LANES
from modular.loop import NO_FAILED_ROW, loop


@kernel
def slope(a, b, error, on_first, on_second):
    x, y = along()
    y = {sign} * y
    error[0] = x * (b[0, 0] - a[0, 0]) + y * (b[0, 1] - a[0, 1])
    on_first[0, 0, 0], on_first[0, 0, 1] = -x, -y
    on_second[0, 0, 0], on_second[0, 0, 1] = x, y


@loop
def slope_loop(start, stop, joints, elements):
    scratch = scratch_of(joints)
    for n in range(start, stop, LANES):
        a, b, marker, error, on_first, on_second = load_joints(joints, elements, n, stop, scratch)
        slope(a, b, error, on_first, on_second)
        store_joints(joints, n, stop, error, on_first, on_second)
    return NO_FAILED_ROW


SLOPE = JointForm("slope", slope_loop, first=1, second=1, rows=1, translations=1, locks=1, rotations=0)


@dataclass(frozen=True)
class Slope(Joint):
    def attach(self, name, first, second, a, b):
        mark_a, mark_b = point_marks(name, first, second, a, b)
        return Attachment(SLOPE, [mark_a], [mark_b])

    @classmethod
    def example(cls, dimension=2):
        return cls()
"""
DIRECTION = """
from modular.kernel import kernel
{more}

@kernel
def along():
    return {x}, {y}
"""
SLIDE = """
import sys
sys.path[:0] = ["joints", "far"]
from components import RigidBody
from coordinator import Simulation
from modular import Assembly
from slope import Slope

model = Assembly(gravity=(0.0, -9.81))
model.add("block", RigidBody(mass=1, inertia=0.1, centre=(0, 0), ports={"middle": (0, 0)}))
model.join("slope", Slope(), "ground", "block.middle")
run = Simulation(model, 1e-3).run(0.05)
x, y = run.position("block.middle")[-1]
print(round(x / y, 3))
"""


NUMBERS = itertools.count()  # of files


@dataclass(frozen=True)
class Said:
    """What a script has said."""

    stdout: str
    stderr: str


def begun(folder: Path, script: str, cache: Path, **more: str) -> Callable[[], Said]:
    """A script in a process that has compiled nothing and begins with everything imported; what waits for its end."""
    environment = {**os.environ, "MODULAR_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1", **more}
    files = [folder / f"{script}.{next(NUMBERS)}" for _ in range(2)]
    with files[0].open("w") as out, files[1].open("w") as errors:
        process = nursery.script(folder / script, out=out, errors=errors, environment=environment)

    def end() -> Said:
        code = process.wait(GUARD)
        said = Said(*(file.read_text() for file in files))
        assert code == 0, said.stderr
        return said

    return end


def python(folder: Path, script: str, cache: Path, **more: str) -> Said:
    """The same from its beginning to its end."""
    return begun(folder, script, cache, **more)()


def interpreter(folder: Path, script: str, cache: Path) -> Said:
    """A script in a fresh interpreter, where libraries lie at other addresses than in those that `python` begins."""
    environment = {**os.environ, "MODULAR_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-W", "error", script], cwd=folder, env=environment, capture_output=True, text=True,
        timeout=GUARD, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return Said(done.stdout, done.stderr)


def linked(source: str, target: str) -> None:
    """A file at another place too; a copy where the two are on different disks. Nothing is written into kept files."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache of its own, with what is kept of our own kernels already."""
    ours = own_store()
    if ours is not None:
        theirs = tmp_path / "cache" / ours.folder.parent.name / ours.folder.name
        shutil.copytree(
            ours.folder, theirs, copy_function=linked, ignore=shutil.ignore_patterns("*.claim", "*.part", "*.tmp")
        )
        (tmp_path / "cache" / ours.folder.parent.name).chmod(0o700)
    return tmp_path / "cache"


@pytest.mark.parametrize("further", [False, *later([True])])
def test_an_edited_joint_of_the_user_slides_where_its_new_equations_say(further: bool, tmp_path: Path, cache: Path):
    """A block held across (x, y) falls along (y, -x): the ratio of its ways is -y/x."""
    for folder in ("joints", "far"):
        (tmp_path / folder).mkdir()
    (tmp_path / "slide.py").write_text(SLIDE)

    def slides(sign: int, x: object, y: object, more: str = "") -> float:
        (tmp_path / "joints" / "slope.py").write_text(JOINT.format(sign=sign))
        (tmp_path / "far" / "direction.py").write_text(DIRECTION.format(x=x, y=y, more=more))
        for file in ("joints/slope.py", "far/direction.py"):
            os.utime(tmp_path / file, ns=(0, 0))  # nobody can tell by the clock
        return float(python(tmp_path, "slide.py", cache).stdout)

    assert slides(1, 0.6, 0.8) == pytest.approx(-1.333)
    assert slides(-1, 0.6, 0.8) == pytest.approx(1.333)  # its row kernel is edited
    assert slides(-1, 0.8, 0.6) == pytest.approx(0.75)  # the helper in another folder is edited
    if not further:
        return
    (tmp_path / "numbers").mkdir()
    for value, ratio in ((0.6, 0.75), (1.6, 2.0)):  # a number that the helper reads from a third folder is edited
        (tmp_path / "numbers" / "steepness.py").write_text(f"Y = {value}\n")
        more = "import sys\nsys.path[:0] = ['numbers']\nfrom steepness import Y"
        assert slides(-1, 0.8, "Y", more) == pytest.approx(ratio)
    assert slides(1, 0.6, 0.8) == pytest.approx(-1.333)  # and back


MANY = """
import sys
import numpy as np
from modular.kernel import kernel

@kernel
def total(x):
    s = 0.0
    for i in range(x.size):
        s += x.flat[i] * (1 + x.ndim)
    return s

order = range(1, 4) if sys.argv[0] == "up.py" else range(3, 0, -1)
print(*[total(np.ones((2,) * d)) == 2**d * (1 + d) for d in order], sum(total.stats.cache_hits.values()))
"""


def test_two_processes_that_begin_at_once_keep_the_code_of_every_layout_under_its_own_name(tmp_path: Path):
    for name in ("up.py", "down.py"):
        (tmp_path / name).write_text(MANY)
    both = [begun(tmp_path, name, tmp_path / "cache") for name in ("up.py", "down.py")]
    done = [end() for end in both]
    assert [d.stdout.split()[:3] for d in done] == [["True"] * 3] * 2
    assert python(tmp_path, "up.py", tmp_path / "cache").stdout.split() == ["True"] * 3 + ["3"]
    assert python(tmp_path, "down.py", tmp_path / "cache").stdout.split() == ["True"] * 3 + ["3"]
    assert not list((tmp_path / "cache").rglob("*.tmp.*"))


def test_what_one_process_is_compiling_no_other_does(tmp_path: Path):
    (tmp_path / "many.py").write_text(MANY)
    done = [end() for end in [begun(tmp_path, "many.py", tmp_path / "cache") for _ in range(3)]]
    assert sum(int(d.stdout.split()[3]) for d in done) == 2 * 3  # each was compiled by one, and found by two
    assert not list((tmp_path / "cache").rglob(f"*{claims.SUFFIX}"))


ALIKE = """
import scenarios
from coordinator import Simulation
print(Simulation(scenarios.load("double-pendulum"), 1e-4).run(0.05).digest)
"""


@pytest.mark.campaign("more")
def test_two_first_runs_at_once_end_with_the_same_bits(tmp_path: Path):
    (tmp_path / "alike.py").write_text(ALIKE)
    both = [begun(tmp_path, "alike.py", tmp_path / "cache") for _ in range(2)]
    done = [end() for end in both]
    third = interpreter(tmp_path, "alike.py", tmp_path / "cache")
    assert done[0].stdout == done[1].stdout == third.stdout
    assert third.stderr == ""
    assert all(d.stderr.count("compiling") == 1 for d in done)


SMALL = """
from modular import first_use
from modular.kernel import kernel

@kernel
def double(x):
    return 2 * x

@kernel
def _quadruple(x):
    return double(double(x))

with first_use.listening(lambda name, ready, sight: print(name, ready, sight)):
    first_use.expect([_quadruple])
    print(_quadruple(2.0))
print(first_use.expected())
"""


def test_who_listens_hears_of_what_is_compiled_and_of_nothing_that_is_found(tmp_path: Path):
    (tmp_path / "small.py").write_text(SMALL)
    cache = tmp_path / "cache"
    assert python(tmp_path, "small.py", cache).stdout.splitlines() == ["quadruple 0 1", "double 0 1", "8.0", "(1, 1)"]
    assert python(tmp_path, "small.py", cache).stdout.splitlines() == ["8.0", "(1, 1)"]


OWN = """
import numpy as np
from modular.kernel import kernel

@kernel
def product(a, b):
    return np.dot(a, b)

@kernel
def hashed(word):
    return hash(word)

@kernel
def lot(seed):
    np.random.seed(seed)
    return np.random.random()

@kernel
def refused(x):
    if x < 0.0:
        raise ValueError("negative")
    return np.arange(3.0) * x

try:
    refused(-1.0)
except ValueError as error:
    print(error)
print(refused(2.0).sum(), 0.0 < lot(3) < 1.0, hashed("one") == hash("one"), product(np.ones(3), np.ones(3)))
print(*[sum(k.stats.cache_hits.values()) for k in (refused, lot, hashed, product)])
"""


@pytest.mark.campaign
def test_kept_code_finds_what_it_calls_of_numba_itself(in_both: dict[str, list[list[str]]]):
    """Errors, arrays of its own, random numbers, hashes and products: nothing of numba was gathered before."""
    first, second = in_both["own.py"]
    assert first[:-1] == second[:-1] == ["negative", "6.0 True True 3.0"]
    assert (first[-1], second[-1]) == ("0 0 0 0", "1 1 1 1")


CALLED = """
from modular.kernel import kernel

@kernel
def told(x):
    if x < 0.0:
        raise ValueError("less than nothing", x)
    return x

def caller(more):
    @kernel
    def outer(x):
        return told(x) + more
    return outer

for more in ({more}):
    outer = caller(more)
    print(outer(2.0))
    try:
        outer(-more)
    except ValueError as error:
        print(*error.args)
    print(sum(outer.stats.cache_hits.values()), sum(told.bare.stats.cache_hits.values()))
"""


def test_a_kernel_that_is_built_into_another_does_what_it_does_alone_also_when_it_was_kept(
    in_both: dict[str, list[list[str]]],
):
    """What is found whole does not ask for its parts; another that calls the same kernel finds it."""
    for lines, found in zip(in_both["called.py"], (["0 0"], ["1 0", "0 1"]), strict=True):
        assert lines[2::3] == found
        assert lines[:2] == ["2.5", "less than nothing -0.5"]
    assert lines[3:5] == ["3.5", "less than nothing -1.5"]


def test_half_a_file_is_made_again(tmp_path: Path):
    (tmp_path / "small.py").write_text(SMALL)
    cache = tmp_path / "cache"
    python(tmp_path, "small.py", cache)
    for file in cache.rglob(f"*{SUFFIX}"):
        file.write_bytes(file.read_bytes()[:100])
    assert len(python(tmp_path, "small.py", cache).stdout.splitlines()) == 4
    assert len(python(tmp_path, "small.py", cache).stdout.splitlines()) == 2


def test_where_nothing_can_be_written_one_line_says_why_and_it_runs(tmp_path: Path):
    (tmp_path / "small.py").write_text(SMALL)
    (tmp_path / "a-file").write_text("no folder")
    done = python(tmp_path, "small.py", tmp_path / "a-file" / "cache")
    assert done.stdout.splitlines()[2] == "8.0"
    (line,) = done.stderr.splitlines()
    assert "a-file" in line and "MODULAR_CACHE_DIR" in line


def test_nor_does_a_home_that_nobody_may_write_to_stop_it(tmp_path: Path):
    (tmp_path / "small.py").write_text(SMALL)
    home = tmp_path / "home"
    home.write_text("no folder")
    done = python(
        tmp_path, "small.py", Path(), MODULAR_CACHE_DIR="", HOME=str(home), XDG_CACHE_HOME=str(home / "cache")
    )
    assert done.stdout.splitlines()[2] == "8.0"
    assert len(done.stderr.splitlines()) == 1


INNER = """
from modular.kernel import kernel

@kernel
def inner(x):
    return {factor} * x

@kernel
def beside(x):
    return x - 1.0
"""
OUTER = """
{more}
from inner import beside, inner
from modular import first_use
from modular.kernel import kernel

@kernel
def outer(x):
    return inner(x) + 1.0

@kernel
def apart(x):
    return beside(x)

compiled = []
with first_use.listening(lambda name, ready, sight: compiled.append(name)):
    print(outer(7.0) + apart(1.0), *sorted(compiled))
"""


def test_an_edited_callee_compiles_its_dependents_and_no_other_and_going_back_finds_the_old_code(tmp_path: Path):
    cache = tmp_path / "cache"

    def outer(factor: float, more: str = "") -> list[str]:
        (tmp_path / "inner.py").write_text(INNER.format(factor=factor))
        (tmp_path / "outer.py").write_text(OUTER.format(more=more))
        for name in ("inner.py", "outer.py"):
            os.utime(tmp_path / name, ns=(0, 0))  # nobody can tell by the clock
        return python(tmp_path, "outer.py", cache).stdout.split()

    assert outer(3.0) == ["22.0", "apart", "beside", "inner", "outer"]
    assert outer(3.0) == ["22.0"]
    assert outer(3.0, "# a comment\nUNUSED = 1") == ["22.0"]
    assert outer(5.0) == ["36.0", "inner", "outer"]
    assert outer(3.0) == ["22.0"]


MADE = """
from modular import first_use
from modular.kernel import kernel

def family(row, factor):
    @kernel
    def loop(n):
        total = 0.0
        for k in range(n):
            total += factor * row(k)
        return total
    return loop

@kernel
def square(k):
    return k * k

@kernel
def cube(k):
    return k * k * k

loops = [family(square, 1.0), family(square, 1.0), family(square, 2.0), family(cube, 1.0)]
compiled = []
with first_use.listening(lambda name, ready, sight: compiled.append(name)):
    print(*[loop(4) for loop in loops], len(compiled))
"""


def test_kernels_that_functions_make_are_kept_by_what_they_were_made_of(tmp_path: Path):
    (tmp_path / "made.py").write_text(MADE)
    first, second = (python(tmp_path, "made.py", tmp_path / "cache").stdout.split() for _ in range(2))
    assert first == ["14.0", "14.0", "28.0", "36.0", "5"]  # three loops and two rows; the second loop is the first
    assert second == ["14.0", "14.0", "28.0", "36.0", "0"]


def test_the_cache_stands_where_the_user_wants_it(tmp_path: Path):
    (tmp_path / "small.py").write_text(SMALL)
    python(tmp_path, "small.py", tmp_path / "here")
    assert len(list((tmp_path / "here").rglob(f"small.double.*{SUFFIX}"))) == 1
    assert not list(tmp_path.glob("__pycache__/*.nb*"))


RECURSIVE = """
from modular.kernel import kernel

@kernel
def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)

@kernel
def twice(n):
    return 2 * factorial(n)

print(twice(5), factorial(5), *[sum(k.stats.cache_hits.values()) for k in (twice, factorial)])
"""


ONE_AFTER_THE_OTHER = """
import runpy
for place, script in enumerate({scripts}):
    print("---" * (place > 0))
    runpy.run_path(script, run_name="__main__")
"""


@pytest.fixture(scope="module")
def in_both(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[list[str]]]:
    """By script what it says where its code is compiled, and then in a fresh interpreter, which takes one after the other."""
    folder, scripts = (
        tmp_path_factory.mktemp("scripts"),
        {"own.py": OWN, "called.py": CALLED, "recursive.py": RECURSIVE},
    )
    said = {}
    for name, text in scripts.items():
        (folder / name).write_text(text.replace("({more})", "(0.5,)"))
        said[name] = [python(folder, name, folder / "cache").stdout.splitlines()]
        (folder / name).write_text(text.replace("({more})", "(0.5, 1.5)"))
    (folder / "all.py").write_text(ONE_AFTER_THE_OTHER.format(scripts=list(scripts)))
    for name, words in zip(scripts, interpreter(folder, "all.py", folder / "cache").stdout.split("---"), strict=True):
        said[name].append(words.strip().splitlines())
    return said


def test_a_kernel_may_call_itself(in_both: dict[str, list[list[str]]]):
    assert in_both["recursive.py"] == [["240 120 0 0"], ["240 120 1 1"]]
