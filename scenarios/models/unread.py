"""What a file of another program says that no reader reads: told by name, so that nothing is left out without a word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from modular.names import hint
from scenarios.models.import_report import DROPPED, Report
from scenarios.models.markup import Element, shown


@dataclass(frozen=True)
class Known:
    """Of elements with a tag: their attributes and what stands in them, if it is read, told elsewhere, or bears on no motion."""

    attributes: str = ""
    inside: str | None = None  # None: whoever reads them tells of those that are not known
    unread: str = ""  # attributes that the format has, and that bear on the motion

    def left(self, element: Element) -> Iterator[str]:
        """Attributes that are not read, and say something."""
        known, unread = self.attributes.split(), self.unread.split()
        for name, value in element.attributes.items():
            if name not in known and ":" not in name and not _says_nothing(value):
                near = "" if name in unread else hint(name, known)
                yield f'{name}="{shown(value)}" is not read' + (f"; {near}" if near.startswith("did you mean") else "")


TURNS = "quat axisangle euler xyaxes zaxis"
OF_SOLVERS = (
    "timestep integrator cone jacobian solver iterations tolerance ls_iterations ls_tolerance noslip_iterations noslip_tolerance "
    "ccd_iterations ccd_tolerance mpr_iterations mpr_tolerance sdf_iterations sdf_initpoints impratio apirate magnetic "
    "sleep_tolerance actuatorgroupdisable o_margin o_solref o_solimp o_friction collision"
)
FLAGS = (
    "gravity contact warmstart filterparent clampctrl refsafe sensor midphase nativeccd eulerdamp autoreset override energy fwdinv "
    "invdiscrete multiccd island sleep"
)
MJCF = {
    "compiler": Known(
        "angle inertiafromgeom settotalmass autolimits meshdir texturedir assetdir eulerseq coordinate strippath discardvisual "
        "usethread fusestatic convexhull exactmeshinertia saveinertial "
        "boundmass boundinertia balanceinertia inertiagrouprange fitaabb alignfree",
    ),
    "option": Known(f"gravity wind density viscosity {OF_SOLVERS}"),
    "flag": Known(FLAGS, unread="constraint equality frictionloss limit passive spring damper actuation"),
    "body": Known(f"name childclass pos mocap user sleep {TURNS}", unread="gravcomp"),
    "inertial": Known(f"pos mass diaginertia fullinertia {TURNS}"),
    "joint": Known(
        "name class type pos axis range limited ref springref stiffness damping frictionloss armature group user margin "
        "solreflimit solimplimit solreffriction solimpfriction actuatorfrclimited actuatorgravcomp joint1 joint2 polycoef active "
        "solref solimp",
        unread="springdamper actuatorfrcrange",
    ),
    "freejoint": Known("name group align"),
    "geom": Known(
        "name class type size fromto pos mass density contype conaffinity friction mesh shellinertia group condim priority solmix "
        f"solref solimp margin gap rgba material user hfield fitscale fluidshape fluidcoef {TURNS}"
    ),
    "site": Known(f"name class type size fromto pos group rgba material user {TURNS}"),
    "connect": Known("name class active body1 body2 anchor site1 site2 solref solimp user"),
    "weld": Known("name class active body1 body2 anchor relpose site1 site2 solref solimp torquescale user"),
}
URDF = {
    "robot": Known("name version"),
    "link": Known("name type"),
    "inertial": Known("name", "origin mass inertia"),
    "origin": Known("xyz rpy quat_xyzw"),
    "mass": Known("value"),
    "inertia": Known("ixx iyy izz ixy ixz iyz"),
    "joint": Known("name type"),
    "loop_joint": Known("name type", "link1 link2 axis"),
    "constraint": Known("name type", "link1 link2 axis"),
    "parent": Known("link"),
    "child": Known("link"),
    "axis": Known("xyz"),
    "limit": Known("lower upper effort velocity acceleration deceleration jerk"),
    "dynamics": Known("damping friction"),
    "mimic": Known("joint multiplier offset"),
    "link1": Known("link xyz rpy"),
    "link2": Known("link xyz rpy"),
}
AXIS = Known("", "xyz use_parent_model_frame limit dynamics mimic")
SDF = {
    "model": Known("name canonical_link placement_frame"),
    "link": Known("name"),
    "frame": Known("name attached_to"),
    "pose": Known("relative_to frame degrees rotation_format"),
    "inertial": Known("auto", "pose mass inertia density"),
    "inertia": Known("", "ixx iyy izz ixy ixz iyz"),
    "joint": Known(
        "name type",
        "parent child pose axis axis2 physics sensor plugin gearbox_ratio gearbox_reference_body thread_pitch screw_thread_pitch",
    ),
    "axis": AXIS,
    "axis2": AXIS,
    "xyz": Known("expressed_in"),
    "limit": Known("", "lower upper effort velocity stiffness dissipation"),
    "dynamics": Known("", "damping friction spring_stiffness spring_reference"),
    "mimic": Known("joint axis", "multiplier offset reference"),
}
FORMATS = {"mujoco": MJCF, "robot": URDF, "sdf": SDF}
HOLDING = (
    "mujoco",
    "worldbody",
    "default",
    "equality",
    "sdf",
    "world",
)  # what holds such elements, and says nothing itself


def tell_unread(root: Element, report: Report) -> None:
    """Attributes and inner elements that nobody reads, all over a file."""
    known = FORMATS.get(root.tag, {})
    waiting = [root]
    while waiting:
        element = waiting.pop()
        own = known.get(element.tag)
        if own is not None:
            for what in own.left(element):
                report.tell(DROPPED, element, what)
            if own.inside is not None:
                names = own.inside.split()
                for inner in element.inside:
                    if inner.tag not in names and ":" not in inner.tag:
                        report.tell(DROPPED, inner, f"not read in <{element.tag}>; {hint(inner.tag, names)}")
        if root.tag == "sdf" and element.tag == "joint":
            _tell_turns(element, report)
        waiting += [inner for inner in reversed(element.inside) if inner.tag in known or inner.tag in HOLDING]


def _tell_turns(joint: Element, report: Report) -> None:
    """What joints with several coordinates, which know no forces along them, say of each."""
    kind = joint.attributes.get("type", "").strip()
    if kind not in ("ball", "universal"):
        return
    for tag in ("axis", "axis2"):
        for axis in joint.all(tag):
            for inner in axis.inside:
                if inner.tag in ("limit", "dynamics", "mimic") and _says(inner):
                    report.tell(DROPPED, inner, f"of a {kind} joint, which has none here")


def _says(element: Element) -> bool:
    """Whether it has a number that is neither zero nor so large that it means none."""
    try:
        return any(0.0 < abs(float(inner.content)) < 1e15 for inner in element.inside)
    except ValueError:
        return True


def _says_nothing(value: str) -> bool:
    """Zeros, and switches as they stand where nothing is said."""
    try:
        return not any(float(word) for word in value.split())
    except ValueError:
        return value.strip() in ("false", "enable")
