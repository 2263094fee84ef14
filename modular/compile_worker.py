"""Compile worker: a process that compiles loops by name and layout, and leaves them where they are found (modular/compile_pool.py).

A line of JSON comes in for each loop, a line goes out when it is done. It ends with its standard input, and at once when it is
told to; Ctrl-C is for the process that started it.
"""

from __future__ import annotations

import importlib
import json
import signal
import sys
from collections.abc import Sequence
from typing import Any


def work(name: str, stack: Sequence[Any], elements: Sequence[Any]) -> None:
    """Compile a loop for a layout, and keep it; or call a function that compiles what it calls."""
    from modular.views import view_of

    module, _, function = name.partition(":")
    if not elements:
        getattr(importlib.import_module(module), function)()
        return
    views = [
        view_of(tuple((field, rows, item, tuple(shape)) for field, rows, item, shape in fields))
        for fields in (stack, elements)
    ]
    getattr(importlib.import_module(module), function).compile(*views)


def main() -> None:
    """Answer until nobody asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    said = sys.stdout
    sys.stdout = sys.stderr  # whoever prints while it is imported does not disturb
    print("ready", file=said, flush=True)
    for line in sys.stdin:
        try:
            work(*json.loads(line))
            answer = "done"
        except Exception as error:  # whoever needs the loop will meet the same, and tell it
            answer = f"failed: {type(error).__name__}"
        print(answer.replace("\n", " "), file=said, flush=True)
        print("ready", file=said, flush=True)
