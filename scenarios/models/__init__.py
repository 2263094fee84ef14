"""Models that other programs wrote: read into a plain description of a robot, then built of our bodies, joints and forces."""

from scenarios.models.reading import Imported, read_model
from scenarios.models.told import Report

__all__ = ["Imported", "Report", "read_model"]
