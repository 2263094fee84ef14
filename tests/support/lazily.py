"""Libraries that few tests need are imported by those tests: every process of pytest collects every module."""

import importlib


class Lazily:
    """A module that is imported when something of it is asked for."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        if attribute.startswith("_"):  # whoever collects tests asks everything whether it is one
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)
