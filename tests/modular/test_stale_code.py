"""No edit leaves old machine code in use: whatever a kernel reaches, by whatever road, has another key, or nothing is kept."""

# ruff: noqa: E501 - each source is one line

import importlib
import sys

import pytest
from numba import typeof, types

from modular.contents import contents, contents_of_types
from modular.reach import Indescribable

HEAD = """
import collections, dataclasses, enum, functools, operator
import types as python_types
import numba, numpy as np
from typing import NamedTuple
from numba import njit, types, vectorize
from numba.extending import intrinsic, overload, overload_attribute, overload_method
from modular.kernel import kernel
"""
ASKS = """
@intrinsic
def width(context, x):
    n = int(rows())
    return types.int64(x), lambda c, b, k, v: c.get_constant(types.int64, n)
@kernel
def k(x):
    return x + width(x)
"""
OTHER = {"other_module": "A = @@\ndef f():\n    return @@\n"}
PAIR, SWAPPED = "x y", "y x"

# what kernels read: source, the same edited, other modules
READ = {
    "a constant": ("@kernel\ndef k(x):\n    return x + @@\n", "1.0", "2.0", {}),
    "fields of a tuple": ("P = collections.namedtuple('P', '@@')(1.0, 9.0)\n@kernel\ndef k(x):\n    return x + P.x\n", PAIR, SWAPPED, {}),
    "fields of a tuple in a tuple": (
        "T = (collections.namedtuple('P', '@@')(1.0, 9.0), 3)\n@kernel\ndef k(x):\n    return x + T[0].x\n", PAIR, SWAPPED, {}),
    "fields of a made tuple": ("P = collections.namedtuple('P', '@@')\n@kernel\ndef k(x):\n    return P(x, 1.0).x\n", PAIR, SWAPPED, {}),
    "fields of an array": (
        "A = np.array([(1.0, 9.0)], dtype=[@@])\n@kernel\ndef k(x):\n    return x + A[0].a\n",
        "('a', 'f8'), ('b', 'f8')", "('b', 'f8'), ('a', 'f8')", {}),
    "a record": (
        "A = np.array([(@@, 1.0)], dtype=[('a', 'f8'), ('b', 'f8')])[0]\n@kernel\ndef k(x):\n    return x + A.a\n",
        "0.12345678901", "0.12345678902", {}),
    "the sign of a nan": ("T = (@@, 1.0)\n@kernel\ndef k(x):\n    return np.copysign(1.0, T[0])\n", "float('nan')", "-float('nan')", {}),
    "vectorize": ("@vectorize(['float64(float64)'])\ndef v(x):\n    return x * @@\n@kernel\ndef k(x):\n    return v(x)\n", "3.0", "5.0", {}),
    "vectorize, types by need": ("@vectorize\ndef v(x):\n    return x * @@\n@kernel\ndef k(x):\n    return v(x)\n", "3.0", "5.0", {}),
    "guvectorize": (
        "@numba.guvectorize(['void(float64[:], float64[:])'], '(n)->(n)')\ndef v(x, y):\n    y[0] = x[0] * @@\n"
        "@kernel\ndef k(x):\n    return v(x, x)\n", "3.0", "5.0", {}),
    "a function of numpy's in a wrapper": (
        "@njit\n@functools.wraps(np.sin)\ndef h(x):\n    return x * @@\n@kernel\ndef k(x):\n    return h(x)\n", "3.0", "5.0", {}),
    "written out": ("@kernel(written_out=@@)\ndef h(n):\n    return n + 1\n@kernel\ndef k(x):\n    return h(x)\n", "True", "False", {}),
    "apart": ("@kernel(apart=@@)\ndef h(n):\n    return n + 1\n@kernel\ndef k(x):\n    return h(x)\n", "True", "False", {}),
    "module handed on": (
        "import other_module\n@kernel\ndef g(m, x):\n    return m.A + x\n@kernel\ndef k(x):\n    return g(other_module, x)\n", "3.0", "5.0", OTHER),
    "module as a default": ("import other_module\n@kernel\ndef k(x, m=other_module):\n    return x + m.A\n", "3.0", "5.0", OTHER),
    "module in a closure": (
        "import other_module\ndef mk(m):\n    def f(x):\n        return x + m.A\n    return f\nk = kernel(mk(other_module))\n", "3.0", "5.0", OTHER),
    "module of a module": ("import outer\n@kernel\ndef k(x):\n    return x + outer.other_module.A\n", "3.0", "5.0",
                           {**OTHER, "outer": "import other_module\n"}),
    "a callee in a file named like one of Python's": (
        "from wave import h\n@kernel\ndef k(x):\n    return h(x)\n", "3.0", "5.0", {"wave": HEAD + "@kernel\ndef h(x):\n    return x + @@\n"}),
    "a constant in a file named like one of Python's": (
        "import wave\n@kernel\ndef k(x):\n    return x + wave.A\n", "3.0", "5.0", {"wave": "A = @@\n"}),
    "a type of somebody who extends numba": (
        "from my_types import mine\n@kernel\ndef k(x):\n    return x + mine(x).n\n", "3", "5",
        {"sizes_of_types": "N = @@\n", "my_types": """
from numba.core import types
from numba.extending import models, register_model, intrinsic, overload_attribute
from sizes_of_types import N
class Mine(types.Type):
    def __init__(self):
        super().__init__('Mine')
register_model(Mine)(models.OpaqueModel)
@intrinsic
def mine(context, x):
    return Mine()(x), lambda c, b, k, v: c.get_dummy_value()
@overload_attribute(Mine, 'n')
def n(o):
    n_ = N
    return lambda o: n_
"""}),
}  # fmt: skip
# what the compiler is taught of types that everybody has
TAUGHT = {
    "a method": ("@overload_method(types.Float, 'twice')\ndef tw(x):\n    return lambda x: x * @@\n@kernel\ndef k(x):\n    return x.twice()\n", "3.0", "5.0"),
    "an attribute": ("@overload_attribute(types.Float, 'tw')\ndef tw(x):\n    return lambda x: x * @@\n@kernel\ndef k(x):\n    return x.tw\n", "3.0", "5.0"),
    "an operator": ("@overload(operator.add)\ndef ad(a, b):\n    return (lambda a, b: a[0] * @@ + b) if isinstance(a, types.BaseTuple) else None\n"
                    "@kernel\ndef k(x):\n    return (x, x) + x\n", "3.0", "5.0"),
    "a function of Python's": ("@overload(len)\ndef ln(a):\n    return (lambda a: @@) if isinstance(a, types.Float) else None\n"
                               "@kernel\ndef k(x):\n    return len(x)\n", "3", "5"),
    "its settings": ("def h(x):\n    return x\n@overload(h, jit_options={'fastmath': @@})\ndef oh(x):\n    return lambda x: x\n"
                     "@kernel\ndef k(x):\n    return h(x)\n", "False", "True"),
}  # fmt: skip
R = "def rows():\n    return "
# what Python reads that the compiler asks: source of `rows`, other modules
PYTHON = {
    "a number": ("N = @@\n" + R + "N\n", {}),
    "a module in a dictionary": ("import other_module\nD = {'a': other_module}\n" + R + "D['a'].A\n", OTHER),
    "an import inside": ("def rows():\n    from other_module import A\n    return A\n", OTHER),
    "an import and a call inside": ("def rows():\n    import other_module\n    return other_module.f()\n", OTHER),
    "getattr of a module": ("import other_module\nNAME = 'A'\n" + R + "getattr(other_module, NAME)\n", OTHER),
    "vars of a module": ("import other_module\n" + R + "vars(other_module)['A']\n", OTHER),
    "globals": ("A = @@\n" + R + "globals()['A']\n", {}),
    "a module as an argument": ("import other_module\ndef h(m):\n    return m.A\n" + R + "h(other_module)\n", OTHER),
    "a class in a file named like one of Python's": ("from wave import T\n" + R + "T.rows\n", {"wave": "class C:\n    rows = @@\nT = C()\nT.a = 1\n"}),
    "a method of a dictionary": ("class D(dict):\n    def rows(self):\n        return @@\nT = D()\n" + R + "T.rows()\n", {}),
    "what a dictionary lacks": ("class D(dict):\n    def __missing__(self, k):\n        return @@\nT = D()\n" + R + "T['q']\n", {}),
    "a default of a dictionary": ("T = collections.defaultdict(lambda: @@)\n" + R + "T['q']\n", {}),
    "an attribute of a list": ("class L(list):\n    pass\nT = L()\nT.rows = @@\n" + R + "T.rows\n", {}),
    "a method of a tuple": ("class P(NamedTuple):\n    x: int\n    def rows(self):\n        return self.x * @@\nT = P(2)\n" + R + "T.rows()\n", {}),
    "a method of a number": ("class W(int):\n    def rows(self):\n        return self * @@\nT = W(2)\n" + R + "T.rows()\n", {}),
    "an attribute of a word": ("class W(str):\n    pass\nT = W('a')\nT.rows = @@\n" + R + "T.rows\n", {}),
    "a method of a member": ("class E(enum.Enum):\n    A = 1\n    def rows(self):\n        return @@\nT = E.A\n" + R + "T.rows()\n", {}),
    "an attribute of a member": ("class E(enum.Enum):\n    A = 1\n    def __init__(self, v):\n        self.rows = @@\nT = E.A\n" + R + "T.rows\n", {}),
    "a property of a numbered member": ("class E(enum.IntEnum):\n    A = 1\n    @property\n    def rows(self):\n        return @@\nT = E.A\n" + R + "T.rows\n", {}),
    "a wrapper that is an object": ("class Memo:\n    def __init__(self, f):\n        functools.update_wrapper(self, f)\n        self.f = f\n"
                                    "    def __call__(self):\n        return self.f()\n@Memo\ndef rows():\n    return @@\n", {}),
    "a wrapped method": ("def tw(f):\n    @functools.wraps(f)\n    def inner(self):\n        return @@ * f(self)\n    return inner\n"
                         "class S:\n    def __init__(self):\n        self.z = 1\n    def rows(self):\n        return 2\ns = S()\n"
                         "T = python_types.MethodType(tw(S.rows), s)\n" + R + "T()\n", {}),
    "a private slot": ("import other_module\nclass S:\n    __slots__ = ('__rows', 'name')\n    def __init__(self, n):\n        self.__rows = n\n"
                       "        self.name = 1\n    def get(self):\n        return self.__rows\nT = S(other_module.A)\n" + R + "T.get()\n", OTHER),
    "a slot": ("import other_module\nclass B:\n    __slots__ = 'rows'\nclass S(B):\n    def __init__(self, n):\n        self.rows = n\n"
               "        self.name = 1\nT = S(other_module.A)\n" + R + "T.rows\n", OTHER),
    "an attribute of a function": ("def h():\n    return h.rows\nh.rows = @@\n" + R + "h()\n", {}),
    "a property of a class": ("class M(type):\n    @property\n    def rows(cls):\n        return @@\nclass C(metaclass=M):\n    pass\n" + R + "C.rows\n", {}),
    "what a field says": ("@dataclasses.dataclass(frozen=True)\nclass C:\n    a: int = dataclasses.field(default=1, metadata={'rows': @@})\n"
                          "T = C()\n" + R + "dataclasses.fields(T)[0].metadata['rows']\n", {}),
    "an array in a name space": ("a = np.zeros(5000)\na[2500] = @@\nT = python_types.SimpleNamespace(a=a)\n" + R + "T.a[2500]\n", {}),
    "a view of a dictionary": ("class C:\n    rows = @@\nT = python_types.MappingProxyType({'a': C})\n" + R + "T['a'].rows\n", {}),
    "dictionaries in a row": ("T = collections.ChainMap({'a': np.full(2000, @@)})\n" + R + "T['a'][1000]\n", {}),
    "a queue": ("class C:\n    rows = @@\nT = collections.deque([C])\n" + R + "T[0].rows\n", {}),
    "a global in a class inside": ("N = @@\ndef rows():\n    class C:\n        a = N\n    return C.a\n", {}),
    "a method of a base": ("class B:\n    def rows(self):\n        return @@\nclass C(B):\n    def __init__(self):\n        self.a = 1\nT = C()\n" + R + "T.rows()\n", {}),
    "one of several functions": ("@functools.singledispatch\ndef h(x):\n    return 1\n@h.register\ndef _(x: int):\n    return @@\n" + R + "h(1)\n", {}),
    "a function over arrays": ("h = np.vectorize(lambda x: x * @@)\n" + R + "h(1)\n", {}),
    "an attribute of an array": ("class A(np.ndarray):\n    pass\nT = np.zeros(2).view(A)\nT.rows = @@\n" + R + "T.rows\n", {}),
    "a cached function": ("@functools.lru_cache\ndef h():\n    return @@\n" + R + "h()\n", {}),
    "a registered subclass": ("import abc\nclass B(abc.ABC):\n    pass\nclass C:\n    a = 1\nif @@ == 5:\n    B.register(C)\nT = C()\nT.x = 1\n" + R + "isinstance(T, B)\n", {}),
    "a class made by type()": ("T = type('T', (), {'rows': @@})\n" + R + "T.rows\n", {}),
}  # fmt: skip
CASES = {
    **{f"kernel: {name}": (source, first, second, others) for name, (source, first, second, others) in READ.items()},
    **{f"taught: {name}": (source, first, second, {}) for name, (source, first, second) in TAUGHT.items()},
    **{f"python: {name}": (source + ASKS, "3", "5", others) for name, (source, others) in PYTHON.items()},
}


def key(folder, source, word, others, monkeypatch, started=float("inf")):
    """What a kernel `k` of such a module is kept by; None where it is not kept at all."""
    folder.mkdir()
    files = {"edited_module": HEAD + source, **others}
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text.replace("@@", word))
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setattr(sys, "dont_write_bytecode", True)
        for name in files:
            patch.delitem(sys.modules, name, raising=False)
        importlib.invalidate_caches()
        patch.setattr("modular.registrations._foreign", [])
        patch.setattr("modular.reach.STARTED", started)
        try:
            return contents(importlib.import_module("edited_module").k)
        except Indescribable:
            return None
        finally:
            for name in files:
                sys.modules.pop(name, None)


@pytest.mark.parametrize("case", CASES)
def test_an_edit_by_any_road_asks_for_another_key(case, tmp_path, monkeypatch):
    source, first, second, others = CASES[case]
    keys = [
        key(tmp_path / name, source, word, others, monkeypatch)
        for name, word in (("before", first), ("again", first), ("after", second))
    ]
    assert keys[0] == keys[1], "the same source is not found again"
    assert keys[0] is None or keys[0] != keys[2]


def test_a_module_that_was_written_since_is_not_trusted(tmp_path, monkeypatch):
    """What is in its file need not be what was read: then nothing is kept."""
    source, word, _, others = CASES["kernel: module handed on"]
    assert key(tmp_path / "before", source, word, others, monkeypatch) is not None
    assert key(tmp_path / "since", source, word, others, monkeypatch, started=0.0) is None


def test_a_module_that_is_passed_counts(tmp_path, monkeypatch):
    found = []
    for word in ("3.0", "5.0"):
        folder = tmp_path / word[0]
        folder.mkdir()
        (folder / "passed_module.py").write_text(f"A = {word}\n")
        with monkeypatch.context() as patch:
            patch.syspath_prepend(str(folder))
            patch.setattr("modular.reach.STARTED", float("inf"))
            patch.setattr(sys, "dont_write_bytecode", True)
            patch.delitem(sys.modules, "passed_module", raising=False)
            importlib.invalidate_caches()
            found.append(contents_of_types((types.Module(importlib.import_module("passed_module")),)))
            del sys.modules["passed_module"]
    assert found[0] != found[1]


def test_fields_of_tuples_that_are_passed_count():
    import collections

    first, second = (collections.namedtuple("P", fields)(1.0, 2.0) for fields in ("x y", "y x"))
    assert contents_of_types((typeof(first),)) != contents_of_types((typeof(second),))
