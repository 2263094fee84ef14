"""Stages of USD, opened by `usd-core`, which the extra `usd` brings, by themselves alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from modular.elements import Array
from modular.errors import ModelError
from scenarios.models.markup import shown

ENDINGS = (".usda", ".usd", ".usdc")
LARGEST = 50_000_000  # bytes


def library() -> Any:
    """`pxr`, which the extra `usd` brings."""
    try:
        from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics
    except ImportError as error:
        raise ModelError(
            f"files of USD are opened by usd-core ({error}); get it with: python -m pip install 'modular-multibody[usd]'"
        ) from error
    from types import SimpleNamespace

    return SimpleNamespace(Gf=Gf, Sdf=Sdf, Tf=Tf, Usd=Usd, UsdGeom=UsdGeom, UsdPhysics=UsdPhysics)


def opened(path: Path) -> tuple[Any, Any]:
    """The library, and the stage of a file; refuses what refers to other files."""
    pxr = library()
    try:
        if path.stat().st_size > LARGEST:
            raise ModelError(
                f"{path.name}: {path.stat().st_size} bytes; {LARGEST} are the most that are read as a model."
            )
    except OSError as error:
        raise ModelError(f"'{path}' cannot be read ({error.strerror}).") from error
    try:
        layer = pxr.Sdf.Layer.OpenAsAnonymous(str(path))
        others = [name for name in layer.GetCompositionAssetDependencies() if name]
        stage = None if others else pxr.Usd.Stage.Open(layer, pxr.Usd.Stage.LoadNone)
    except (pxr.Tf.ErrorException, RuntimeError, AttributeError) as error:
        raise ModelError(
            f"{path.name}: usd-core cannot open it ({shown(str(error).strip())}); write it again."
        ) from error
    if stage is None:
        raise ModelError(
            f"{path.name}: it refers to '{shown(others[0])}', which is not read; flatten the stage first (usdcat --flatten)."
        )
    return pxr, stage


def turn_of(quaternion: Any) -> Array:
    """The rotation of a quaternion; none where it is none, as zeros stand for."""
    if quaternion is None:
        return np.eye(3)
    s, (x, y, z) = float(quaternion.GetReal()), (float(value) for value in quaternion.GetImaginary())
    size = s * s + x * x + y * y + z * z
    if not np.isfinite(size) or size < 1e-12:
        return np.eye(3)
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.asarray(np.eye(3) + (2.0 / size) * (s * K + K @ K))
