"""What MJCF says of an element elsewhere than at it: defaults of its class, units of angles, ways to write a rotation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from modular.elements import Array
from modular.names import missing
from scenarios.models.markup import LARGEST_NUMBER, Element, shown
from scenarios.models.robot import Frame

MAIN = "main"
Defaults = dict[str, dict[str, str]]  # attributes by tag


@dataclass
class Classes:
    """Defaults by class, and what the compiler is told."""

    by_name: dict[str, Defaults] = field(default_factory=lambda: {MAIN: {}})
    degrees: bool = True
    sequence: str = "xyz"
    from_shapes: str = "auto"
    auto_limits: bool = True
    total_mass: float | None = None  # [kg], of all bodies together, where it is given
    folder: Path | None = None  # of the model
    mesh_folder: str = ""  # of its meshes, in there
    meshes: dict[str, Element] = field(default_factory=dict)

    def read_meshes(self, assets: Element) -> None:
        """Meshes by their names, or those of their files; read where one weighs something."""
        for mesh in assets.all("mesh"):
            whole = self.completed(mesh, MAIN)
            name = whole.attributes.get("name", Path(whole.attributes.get("file", "")).stem)
            self.meshes.setdefault(name.strip(), whole)

    def read_compiler(self, element: Element) -> None:
        """Angles and where inertias come from."""
        for key, known in (("angle", ("degree", "radian")), ("inertiafromgeom", ("auto", "true", "false"))):
            if element.attributes.get(key, known[0]) not in known:
                raise element.refuse(f'{key}="{shown(element.attributes[key])}"; give one of {", ".join(known)}.')
        self.degrees = (
            element.attributes.get("angle", "degree") == "degree" if "angle" in element.attributes else self.degrees
        )
        total = element.number("settotalmass", -1.0)
        self.total_mass = total if total > 0.0 else self.total_mass
        self.from_shapes = element.attributes.get("inertiafromgeom", self.from_shapes)
        self.auto_limits = element.attributes.get("autolimits", "true" if self.auto_limits else "false") == "true"
        self.mesh_folder = element.attributes.get("meshdir", element.attributes.get("assetdir", self.mesh_folder))
        self.sequence = element.attributes.get("eulerseq", self.sequence)
        if len(self.sequence) != 3 or not set(self.sequence.lower()) <= set("xyz"):
            raise element.refuse(f'eulerseq="{shown(self.sequence)}"; give three letters of x, y, z.')
        if element.attributes.get("coordinate", "local") != "local":
            raise element.refuse("global coordinates, which MuJoCo gave up; save the model with a newer version.")

    def read_defaults(self, element: Element, above: Defaults, *, top: bool = False) -> None:
        """A class and those in it, which begin with what it says."""
        name = element.attributes.get("class", MAIN if top else "")
        if not name:
            raise element.refuse('it has no class="…"; give one.')
        own = {tag: dict(values) for tag, values in above.items()}
        for inner in element.inside:
            if inner.tag != "default":
                own.setdefault(inner.tag, {}).update({k: v for k, v in inner.attributes.items() if k != "class"})
        self.by_name[name] = own
        if top:  # it counts for all, whatever its name
            self.by_name[MAIN] = own
        for inner in element.all("default"):
            self.read_defaults(inner, own)

    def completed(self, element: Element, child_class: str, kind: str = "") -> Element:
        """The element with what its class says beside its own attributes; `kind`: whose defaults it has, left out its own."""
        name = element.attributes.get("class", child_class)
        if name not in self.by_name:
            raise element.refuse(missing("class", shown(name), self.by_name))
        tag = kind or ("joint" if element.tag == "freejoint" else element.tag)
        attributes = {**self.by_name[name].get(tag, {}), **element.attributes}
        return Element(element.tag, attributes, element.file, element.line, element.inside)

    # --- places and rotations ------------------------------------------------------------------------------------------

    def angle(self, value: float) -> float:
        """In rad."""
        return float(np.radians(value)) if self.degrees else value

    def frame(self, element: Element) -> Frame:
        """Its place and rotation in what it is in."""
        return Frame(element.vector("pos", (0.0, 0.0, 0.0)), self.turn(element))

    def turn(self, element: Element) -> Array:
        """By quat, axisangle, euler, xyaxes or zaxis."""
        given = [key for key in ("quat", "axisangle", "euler", "xyaxes", "zaxis") if key in element.attributes]
        if len(given) > 1:
            raise element.refuse(f"{' and '.join(given)} say its rotation; give one of them.")
        if not given:
            return np.eye(3)
        if given[0] == "quat":
            return of_quaternion(direction(element, "quat", 4))
        if given[0] == "axisangle":
            *_, angle = numbers(element, "axisangle", 4)
            return about(direction(element, "axisangle", 4, 3), self.angle(angle))
        if given[0] == "euler":
            return self._of_euler(numbers(element, "euler", 3))
        if given[0] == "zaxis":
            return upright(direction(element, "zaxis", 3))
        x = direction(element, "xyaxes", 6, 3)
        y = numbers(element, "xyaxes", 6)[3:]
        y = y - (y @ x) * x
        if not np.linalg.norm(y) > 1e-9:
            raise element.refuse("xyaxes: both point the same way; give two that do not.")
        y = y / np.linalg.norm(y)
        return np.array([x, y, np.cross(x, y)]).T

    def _of_euler(self, angles: Array) -> Array:
        """Small letters turn with the body, capitals about axes that stay."""
        found = np.eye(3)
        for letter, value in zip(self.sequence, angles, strict=True):
            one = about(np.eye(3)["xyz".index(letter.lower())], self.angle(float(value)))
            found = found @ one if letter.islower() else one @ found
        return found


def numbers(element: Element, name: str, count: int) -> Array:
    """An attribute of so many finite numbers."""
    found = some_numbers(element, name)
    if len(found) != count:
        raise element.refuse(f'{name}="{shown(element.attributes[name])}"; give {count} finite numbers.')
    return found


def some_numbers(element: Element, name: str, default: Sequence[float] = ()) -> Array:
    """An attribute of any number of finite numbers."""
    text = element.attributes.get(name)
    if text is None:
        return np.array(default, float)
    try:
        found = np.array([float(word) for word in text.split()]) if "_" not in text else np.array([np.nan])
    except ValueError:
        found = np.array([np.nan])
    if not len(found) or not (np.abs(found) <= LARGEST_NUMBER).all():
        raise element.refuse(f'{name}="{shown(text)}"; give finite numbers.')
    return found


def direction(element: Element, name: str, count: int, first: int | None = None) -> Array:
    """The first numbers of an attribute as a unit vector."""
    found = numbers(element, name, count)[: first or count]
    size = float(np.linalg.norm(found))
    if not 1e-9 < size < 1e9:
        raise element.refuse(f'{name}="{shown(element.attributes[name])}" points nowhere; give a direction.')
    return found / size


def about(axis: Array, angle: float) -> Array:
    """A turn about a unit vector: Rodrigues' formula."""
    K = np.cross(np.eye(3), axis)
    return np.asarray(np.eye(3) + np.sin(angle) * -K.T + (1.0 - np.cos(angle)) * K @ K)


def upright(z: Array) -> Array:
    """The smallest turn that leads the z axis there."""
    axis, cosine = np.cross([0.0, 0.0, 1.0], z), float(z[2])
    sine = float(np.linalg.norm(axis))
    if sine < 1e-12:
        return np.eye(3) if cosine > 0.0 else np.diag([1.0, -1.0, -1.0])
    return about(axis / sine, float(np.arctan2(sine, cosine)))


def of_quaternion(q: Array) -> Array:
    """The rotation of a unit quaternion, its real part first."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
