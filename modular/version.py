"""The one place where the version of this distribution is written."""

__version__ = "0.1.0"
