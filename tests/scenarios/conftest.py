"""What tests of commands ask for."""

import pytest

from typed_commands import PICTURES


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """What is written there goes with the test."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def plain_pictures(monkeypatch):
    """Sheets with nothing on them in place of pictures, for tests that ask where pictures go and not what they show."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    def sheet(run):
        figure = Figure(figsize=(1.0, 1.0))
        FigureCanvasAgg(figure)
        return figure

    monkeypatch.setattr("scenarios.report.pictures.PICTURES", dict.fromkeys(PICTURES, sheet))
