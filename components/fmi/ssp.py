"""SSP: systems of FMUs with scalar connections, as other programs write them (System Structure and Parameterization 1.0)."""

from __future__ import annotations

import atexit
import os
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from components.fmi.archive import _forget
from modular.errors import ModelError

STRUCTURE = "SystemStructure.ssd"
SSD = "{http://ssp-standard.org/SSP1/SystemStructureDescription}"
SSV = "{http://ssp-standard.org/SSP1/SystemStructureParameterValues}"
READ: dict[str, Callable[[str], Any]] = {
    "Real": float,
    "Integer": int,
    "Enumeration": int,
    "Boolean": lambda text: text in ("true", "1"),
    "String": str,
}


def read_ssp(path: str | Path) -> dict[str, Any]:
    """Files, connections and parameters of a system, as an `FmuNetwork` and an `Fmu` take them."""
    place = Path(path)
    if not place.is_file():
        raise ModelError(f"SSP '{path}': there is no such file in {Path.cwd()}.")
    try:
        with zipfile.ZipFile(place) as archive:
            if odd := [name for name in archive.namelist() if name.startswith("/") or ".." in Path(name).parts]:
                raise ModelError(f"SSP '{path}' holds the path '{odd[0]}', which leads out of it.")
            folder = Path(tempfile.mkdtemp(prefix="modular-ssp-"))
            atexit.register(_forget, folder, os.getpid())
            archive.extractall(folder)
        root = ElementTree.parse(folder / STRUCTURE).getroot()
    except (zipfile.BadZipFile, FileNotFoundError, ElementTree.ParseError) as error:
        raise ModelError(
            f"SSP '{path}' is not an SSP: an SSP is a ZIP file that contains a {STRUCTURE} ({error})."
        ) from error
    system = root.find(f"{SSD}System")
    if system is None:
        raise ModelError(f"SSP '{path}': its {STRUCTURE} describes no system.")
    elements = system.find(f"{SSD}Elements")
    found: dict[str, Any] = {"files": {}, "connections": {}, "parameters": {}}
    for element in [] if elements is None else elements:
        name = element.get("name", "")
        if element.tag != f"{SSD}Component":
            raise ModelError(f"SSP '{path}': '{name}' is a system within the system; FMUs of one level are read.")
        source = element.get("source", "")
        if not (folder / source).is_file():
            raise ModelError(f"SSP '{path}': '{name}' is to be in '{source}', which is not there.")
        found["files"][name] = str(folder / source)
        found["parameters"] |= {f"{name}.{key}": value for key, value in _values(element, folder, path).items()}
    found["parameters"] |= _values(system, folder, path)
    connections = system.find(f"{SSD}Connections")
    for wire in [] if connections is None else connections:
        if wire.get("startElement") is None or wire.get("endElement") is None:
            continue  # to the outside of the system, where nobody is
        if len(wire):
            raise ModelError(
                f"SSP '{path}': the connection from '{wire.get('startElement')}.{wire.get('startConnector')}' transforms what goes "
                "through it; plain connections are read."
            )
        target = f"{wire.get('endElement')}.{wire.get('endConnector')}"
        found["connections"][target] = f"{wire.get('startElement')}.{wire.get('startConnector')}"
    return found


def _values(owner: ElementTree.Element, folder: Path, path: str | Path) -> dict[str, Any]:
    """Parameters that are bound to a component or to the system, in place or in a file."""
    found: dict[str, Any] = {}
    for binding in owner.iterfind(f"{SSD}ParameterBindings/{SSD}ParameterBinding"):
        prefix, source = binding.get("prefix", ""), binding.get("source")
        if binding.find(f"{SSD}ParameterMapping") is not None:
            raise ModelError(f"SSP '{path}': parameters are renamed by a mapping, which is not read.")
        if source is not None and not (folder / source).is_file():
            raise ModelError(f"SSP '{path}': parameters are to be in '{source}', which is not there.")
        holder = binding if source is None else ElementTree.parse(folder / source).getroot()
        for parameter in holder.iter(f"{SSV}Parameter"):
            for value in parameter:
                kind = value.tag.removeprefix(SSV)
                if kind in READ:
                    found[prefix + parameter.get("name", "")] = READ[kind](value.get("value", ""))
    return found
