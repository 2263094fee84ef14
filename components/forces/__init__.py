"""Forces, one type per file."""

from components.forces.load import Load

__all__ = ["Load"]
