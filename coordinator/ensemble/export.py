"""An ensemble for other tools: an xarray Dataset over variants and time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from coordinator.ensemble.keeping import ports_of
from coordinator.record.export import AXES, needed
from modular.errors import ModelError

if TYPE_CHECKING:
    import xarray

    from coordinator.ensemble.ensemble import Ensemble


def to_xarray(ensemble: Ensemble) -> xarray.Dataset:
    """Places and velocities of all ports, reactions of all joints, (variant, time, …); what was varied stands beside the variants.

    Where only the places or their extremes were kept there is no more; NaN where a variant was retired before.
    """
    library = needed("xarray", "to_xarray")
    if not ensemble.pieces:
        raise ModelError("Ensemble: nothing has run yet; call run(until=…) first.")
    ports, model = ports_of(ensemble.variants), ensemble.variants.model
    axes = list(AXES[: model.dimension])
    data: dict[str, Any] = {}
    over = ("variant", "time", "port", "axis")
    if ensemble.keep.name == "extremes":
        values = np.stack([ensemble.extremes(port) for port in ports], axis=2)
        data["extremes"] = (("variant", "end", "port", "axis"), values, {"units": "m"})
    else:
        values = np.stack([ensemble.position(port) for port in ports], axis=2)
        data["position"] = (over, values, {"units": "m", "long_name": "position of a port"})
    if ensemble.keep.name not in ("extremes", "places"):
        values = np.stack([ensemble.velocity(port) for port in ports], axis=2)
        data["velocity"] = (over, values, {"units": "m/s", "long_name": "velocity of a port"})
        if model.joints:
            forces = [ensemble.reaction(joint)[..., : model.dimension] for joint in model.joints]
            words = "force of a joint on its second side"
            data["force"] = (
                ("variant", "time", "joint", "axis"), np.stack(forces, axis=2), {"units": "N", "long_name": words},
            )  # fmt: skip
    coordinates: dict[str, Any] = {
        "variant": np.arange(len(ensemble)), "time": ("time", ensemble.time, {"units": "s"}), "port": ports, "axis": axes,
        "joint": list(model.joints), "end": ["lowest", "highest"],
    }  # fmt: skip
    used = {name for dims, *_ in data.values() for name in dims}
    coordinates = {name: values for name, values in coordinates.items() if name in used}
    for name, values in ensemble.variants.values.items():
        more = tuple(f"{name}[{k}]" for k in range(values.ndim - 1))
        coordinates[name] = (("variant", *more), values)
    retired = np.zeros(len(ensemble), bool)
    retired[list(ensemble.retired)] = True
    coordinates["retired"] = ("variant", retired)
    return library.Dataset(data, coordinates, {"title": model.title, "dt": ensemble.dt})
