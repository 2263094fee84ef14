"""The protocol does no input or output: it imports nothing that could, and nothing of the physics."""

import ast
from pathlib import Path

import pytest

import coordinator.distributed.protocol

SOURCES = sorted(Path(coordinator.distributed.protocol.__file__).parent.glob("*.py"))
ALLOWED = {
    "__future__", "array", "bisect", "collections", "collections.abc", "dataclasses", "enum", "hashlib", "json", "numpy",
    "struct", "typing", "zlib", "modular.errors",
}  # fmt: skip
DOING = {"open", "print", "input", "exec", "eval", "__import__", "compile"}


def outside(source):
    """Imports that are not allowed, and calls that would do something."""
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        yield from (
            name
            for name in names
            if name not in ALLOWED and not f"{name}.".startswith("coordinator.distributed.protocol.")
        )
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in DOING:
            yield node.func.id


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_the_protocol_imports_data_only(path):
    assert list(outside(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("source", ["import time", "import socket", "from threading import Lock", "import coordinator.system",
                                    "open('x')", "from coordinator import Simulation", "import pickle"])  # fmt: skip
def test_an_offender_is_found(source):
    assert list(outside(source))
