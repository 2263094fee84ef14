"""Models as files: our own, in TOML and JSON, and those that other programs wrote, built of our bodies, joints and forces."""

from scenarios.models.exporting import Exported, export_model
from scenarios.models.import_report import Report
from scenarios.models.own_file import read_own
from scenarios.models.reading import Imported, read_model
from scenarios.models.writing import write_model

__all__ = ["Exported", "Imported", "Report", "export_model", "read_model", "read_own", "write_model"]
