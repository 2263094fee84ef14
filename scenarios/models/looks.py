"""What links of files of other programs look like: shapes and meshes, for the page. What cannot be drawn is told, never refused."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np

from modular.elements import Array
from modular.errors import ModelError
from modular.picture import Picture
from modular.port import GROUND
from scenarios.models.import_report import UNUSED, Report
from scenarios.models.markup import Element, shown
from scenarios.models.meshes import ENDINGS
from scenarios.models.robot import Frame, Robot, Touching

PACKAGE = "package://"
HIGHEST = 8  # folders above the file, in which packages are looked for
DRAWN = (*ENDINGS, ".dae")


def pictures_of(
    robot: Robot,
    frames: Mapping[str, Frame],
    end_of: Callable[[str], tuple[str, str]],
    report: Report,
) -> Iterator[Picture]:
    """Of all links: what they look like, or where none says that, their shapes for contact. `end_of`: body and port of a link."""
    drawn = any(link.looks for link in robot.links.values())
    for name, link in robot.links.items():
        for given in link.looks if drawn else link.shapes:
            body, port = end_of(name)
            frame = frames[name] @ given.frame if body == GROUND else given.frame
            yield from _pictures(given, frame, body, port, report)


def _pictures(given: Touching, frame: Frame, body: str, port: str, report: Report) -> Iterator[Picture]:
    z = frame.turn[:, 2]

    def picture(kind: str, place: Array, *sizes: float, file: Path | None = None) -> Picture:
        axes = tuple(tuple(map(float, row)) for row in frame.turn.T)
        x, y, w = (float(size) for size in sizes)
        return Picture(body, port, kind, tuple(map(float, place)), axes, (x, y, w), file, given.colour)

    if not np.isfinite(given.sizes).all() or not (np.array(given.sizes) > 0.0).all():
        return
    if given.kind == "box":
        yield picture("box", frame.place, *(0.5 * edge for edge in given.sizes))
    elif given.kind == "sphere":
        yield picture("ball", frame.place, *(given.sizes[0],) * 3)
    elif given.kind == "ellipsoid":
        yield picture("ball", frame.place, *given.sizes)
    elif given.kind in ("cylinder", "capsule"):
        radius, length = given.sizes
        yield picture("cylinder", frame.place, radius, radius, length)
        for sign in (-0.5, 0.5) if given.kind == "capsule" else ():
            yield picture("ball", frame.place + sign * length * z, *(radius,) * 3)
    elif given.kind == "mesh" and given.file:
        try:
            yield picture("mesh", frame.place, *given.scale, file=found(given.file, report.folder, given.element))
        except ModelError as error:
            report.tell(UNUSED, given.element, f"a picture that is not drawn: {str(error).partition('>: ')[2]}")


def found(name: str, folder: Path | None, element: Element) -> Path:
    """The file of a mesh, beside the model or below a folder above it: `package://NAME/…` in a folder of that name."""
    if Path(name).suffix.lower() not in DRAWN:
        raise element.refuse(f"'{shown(name)}' is none of {', '.join(DRAWN)}")
    if folder is None:
        raise element.refuse("the model lies in no folder")
    above = [folder, *folder.parents][:HIGHEST]
    above = [one for one in above if one != one.parent]
    if name.startswith(PACKAGE):
        package, _, rest = name.removeprefix(PACKAGE).partition("/")
        homes = [one for one in above if one.name == package] + [one / package for one in above]
    else:
        homes, rest = above[:1], name.removeprefix("file://")
    for home in homes:
        try:
            path = (home / rest).resolve()
            if path.is_file() and any(path.is_relative_to(one) for one in (above if homes == above[:1] else [home])):
                return path
        except (OSError, ValueError, RuntimeError):  # letters that no name has, links in rings
            continue
    raise element.refuse(f"'{shown(name)}' is not found beside the model, nor in a folder above it")


def colour_of(text: str) -> tuple[int, int, int] | None:
    """Of "0.2 0.5 1 1"; none where that is no colour."""
    try:
        red, green, blue = (round(255.0 * min(max(float(word), 0.0), 1.0)) for word in text.split()[:3])
    except (ValueError, OverflowError):
        return None
    return red, green, blue
