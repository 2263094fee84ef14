"""A file of another program, by its ending, read and built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modular.assembly import Assembly
from modular.errors import ModelError
from scenarios.catalogue import IMPORTED, OWN
from scenarios.models import mjcf, sdf, urdf, usd
from scenarios.models.building import built
from scenarios.models.import_report import APPROXIMATED, DROPPED, Report
from scenarios.models.markup import parsed_file
from scenarios.models.robot import JointValue, Robot
from scenarios.models.unread import tell_unread
from scenarios.models.usd_opening import ENDINGS

READERS = {"robot": urdf, "mujoco": mjcf, "sdf": sdf}  # by the first element, whatever the ending


@dataclass(frozen=True)
class Imported:
    """What was read, and what became of each element."""

    assembly: Assembly
    report: Report
    joints: Mapping[str, JointValue]  # those with one coordinate, by their names in the file
    robot: Robot

    @property
    def values(self) -> dict[str, float]:
        """Of these joints, at the start [rad, m]."""
        return {name: joint.begins for name, joint in self.joints.items()}


def read_model(
    path: str | Path,
    *,
    base: str = "fixed",
    repair: bool = False,
    stops: bool = True,
    contacts: bool = False,
    rotors: bool = True,
    strict: bool = False,
    values: Mapping[str, Any] | None = None,
) -> Imported:
    """A model out of a URDF, MJCF, SDFormat or USD file.

    `base`, of URDF: "fixed" holds the topmost link on the ground, "free" lets it move. `repair` takes the nearest possible
    inertia where no body has what the file says. `stops` False leaves limits of joints out, as solvers of the whole system need
    walls with a stiffness. `contacts` lets shapes for contact touch. `rotors` False leaves the inertia of rotors out (armature).
    `strict` refuses what would drop an element that bears on the motion. `values`: where joints begin [rad, m], by name; left out
    0, or the stop nearest to it.
    """
    path = Path(path)
    for label, given in (
        ("repair", repair),
        ("stops", stops),
        ("contacts", contacts),
        ("rotors", rotors),
        ("strict", strict),
    ):
        if not isinstance(given, bool):
            raise ModelError(f"{label} = {given!r}; give true or false.")
    if path.suffix not in IMPORTED:
        raise ModelError(
            f"'{path}': files of other programs are read by their ending, {', '.join(IMPORTED)}; our own, {' and '.join(OWN)}, by "
            "scenarios.load."
        )
    report = Report(path.name, path.resolve().parent)
    root = usd.element_of(path, report) if path.suffix in ENDINGS else parsed_file(path)
    robot = READERS.get(root.tag, urdf).robot_of(root, report)
    if path.suffix not in ENDINGS:  # of which the stage tells
        tell_unread(root, report)
    if base == "free" and READERS.get(root.tag, urdf) is not urdf:
        raise ModelError(
            f"{path.name}: base = free is for URDF, whose files do not say it; bodies of this one are free where no joint holds "
            "them."
        )
    if not stops:
        _without_stops(robot, report)
    if not rotors:
        _without_rotors(robot, report)
    assembly, joints = built(robot, report, base=base, repair=repair, contacts=contacts, values=values)
    assembly.title = assembly.title or path.stem
    if strict:
        report.refuse_drops()
    return Imported(assembly, report, joints, robot)


def _without_rotors(robot: Robot, report: Report) -> None:
    for joint in robot.joints.values():
        if joint.armature > 0.0:
            report.tell(DROPPED, joint.element, f"armature = {joint.armature:g}, as asked")
            joint.armature = 0.0


def _without_stops(robot: Robot, report: Report) -> None:
    for joint in robot.joints.values():
        if joint.low is not None:
            joint.low = joint.high = None
            report.tell(APPROXIMATED, joint.element, "without its stops, as asked")
