"""The film of a cut that opens the README is taken of the page as it is now: `docs/pictures/live.py`.

MODULAR_PICTURES names a folder in which what is photographed here stays.
"""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[3]


def filming():
    """The script, as a module."""
    spec = importlib.util.spec_from_file_location("filming", ROOT / "docs" / "pictures" / "live.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.campaign
def test_joints_are_cut_by_clicks_in_a_film_and_the_page_says_so(browser, tmp_path):
    live = filming()
    frames = live.film(browser, pictures=10)
    assert len(frames) == round(10 * live.SECONDS) + 1
    tree, stage = (
        np.array([np.asarray(frame.crop((left, 0, right, live.SHOWN[1])), float) for frame in frames])
        for left, right in ((0, 220), (240, 600))
    )
    assert stage.min(axis=(1, 2, 3)).max() < 80.0, "nothing is drawn"
    assert np.abs(np.diff(stage, axis=0)).max(axis=(1, 2, 3)).min() > 50.0, "it stands still"
    fewer = np.flatnonzero(np.abs(np.diff(tree, axis=0)).mean(axis=(1, 2, 3)) > 4.0)
    assert fewer.tolist() == [5, 8], "the tree shows less after both cuts, and only then"
    kept = Path(os.environ.get("MODULAR_PICTURES") or tmp_path)
    kept.mkdir(parents=True, exist_ok=True)
    live.write(frames, kept / live.FILM, per_second=5)
    frames[-1].save(kept / live.PICTURE)
    with Image.open(kept / live.FILM) as written:
        assert (written.n_frames, written.size) == (len(frames), live.SHOWN)
