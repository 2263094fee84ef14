"""Puts machine code of kernels into a wheel, where `modular kernels wheel` has compiled some; other wheels are pure Python."""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ShippedKernels(BuildHookInterface):
    """One folder of compiled kernels, and the name of the platform that it serves."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the folder that MODULAR_SHIPPED_KERNELS names."""
        code = os.environ.get("MODULAR_SHIPPED_KERNELS")
        if code is None or version == "editable":
            return
        for file in sorted(Path(code).glob("*/*.kernel")):
            build_data["force_include"][str(file)] = f"modular/kernels/{file.parent.name}/{file.name}"
        build_data["pure_python"], build_data["infer_tag"] = False, True
