"""What files of robots say, whatever their format: links with mass, joints in a tree, joints that close loops."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from modular.elements import Array
from modular.joint_values import OneCoordinate
from scenarios.models.markup import Element

MOVING = ("revolute", "continuous", "prismatic", "planar", "floating")
TURNING = ("revolute", "continuous")
LED = (*TURNING, "prismatic")  # joints with one coordinate
USUAL_FRICTION = 1.0  # where a file says none, as MuJoCo and Gazebo take it
LOOPS = ("ball", "spherical", "revolute", "continuous", "prismatic", "fixed")


@dataclass(frozen=True)
class Frame:
    """A place [m] and a rotation, as seen from another frame."""

    place: Array
    turn: Array

    @classmethod
    def none(cls) -> Frame:
        """The same frame."""
        return cls(np.zeros(3), np.eye(3))

    def __matmul__(self, other: Frame) -> Frame:
        return Frame(self.place + self.turn @ other.place, self.turn @ other.turn)


@dataclass
class Touching:
    """A shape on a link: `kind` and its whole sizes [m], as seen from the link."""

    element: Element
    kind: str  # box: three edges; sphere: radius; capsule, cylinder: radius and length along z; plane: none, its normal along z
    frame: Frame
    sizes: tuple[float, ...] = ()
    friction: float = USUAL_FRICTION
    file: str = ""  # of a mesh, as it is written
    scale: tuple[float, ...] = (1.0, 1.0, 1.0)
    colour: tuple[int, int, int] | None = None  # where it is a picture


@dataclass
class Link:
    """A link; mass 0 where it has none. Centre and inertia about it are in the axes of the link."""

    name: str
    element: Element
    mass: float = 0.0
    centre: Array = field(default_factory=lambda: np.zeros(3))
    inertia: Array = field(default_factory=lambda: np.zeros((3, 3)))
    shapes: list[Touching] = field(default_factory=list)  # for contact
    looks: list[Touching] = field(default_factory=list)  # for pictures


@dataclass
class Mimic:
    """Another joint that this one follows: q = multiplier q' + offset."""

    joint: str
    multiplier: float
    offset: float
    element: Element


@dataclass
class RobotJoint:
    """A joint of the tree: the child stands at `frame` of the parent, moved along or about `axis` (in that frame) by q."""

    name: str
    kind: str
    element: Element
    parent: str
    child: str
    frame: Frame
    axis: Array
    low: float | None = None
    high: float | None = None
    ref: float = 0.0  # what its file counts where it is at 0 here
    effort: float | None = None
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None
    cross: Array | None = None  # of a universal joint: the axis that the child carries
    stiffness: float = 0.0  # of a spring along its coordinate, which rests at `rest`
    rest: float = 0.0
    armature: float = 0.0  # inertia of a rotor as its coordinate sees it [kg m^2], [kg]
    # of several coordinates: what has stops, friction or a spring
    parts: list[RobotJoint] = field(default_factory=list)

    def at(self, q: float) -> Frame:
        """The child seen from the parent."""
        if self.kind in TURNING and q != 0.0:
            K = np.cross(np.eye(3), self.axis)  # K x is the cross product of axis and x; Rodrigues' formula
            return self.frame @ Frame(np.zeros(3), np.eye(3) + np.sin(q) * K + (1.0 - np.cos(q)) * (K @ K))
        if self.kind == "prismatic":
            return self.frame @ Frame(q * self.axis, np.eye(3))
        return self.frame


@dataclass
class LoopJoint:
    """A joint that closes a loop, between a frame of one link and a frame of another."""

    name: str
    kind: str
    element: Element
    links: tuple[str, str]
    frames: tuple[Frame, Frame]
    axis: Array  # in the first frame


@dataclass
class Robot:
    """A tree of links, and what closes loops in it."""

    name: str
    element: Element
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, RobotJoint] = field(default_factory=dict)
    loops: dict[str, LoopJoint] = field(default_factory=dict)
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)

    def children(self) -> dict[str, list[RobotJoint]]:
        """Joints by the link that they hang on."""
        found: dict[str, list[RobotJoint]] = {name: [] for name in self.links}
        for joint in self.joints.values():
            found[joint.parent].append(joint)
        return found

    def root(self) -> str:
        """The link that hangs on none; refuses what is no tree."""
        above: dict[str, RobotJoint] = {}
        for joint in self.joints.values():
            if (before := above.get(joint.child)) is not None:
                raise joint.element.refuse(
                    f"link '{joint.child}' hangs on joint '{before.name}' (line {before.element.line}) as well; "
                    "close a loop with <loop_joint>."
                )
            above[joint.child] = joint
        roots = [name for name in self.links if name not in above]
        if len(roots) > 1:
            raise self.links[roots[1]].element.refuse(
                f"no joint holds it, and none holds link '{roots[0]}'; connect them, for example by a fixed joint."
            )
        reached = len(list(self.down(roots[0]))) + 1 if roots else 0
        if reached < len(self.links):
            lost = next(
                joint for joint in self.joints.values() if not roots or not self._reaches(joint, above, roots[0])
            )
            raise lost.element.refuse(
                "it is part of a closed ring of joints that nothing holds; close the ring with <loop_joint>."
            )
        return roots[0]

    def down(self, root: str) -> Iterator[RobotJoint]:
        """Joints from the root on, each after that above it."""
        children, waiting = self.children(), [root]
        while waiting:
            for joint in children[waiting.pop()]:
                yield joint
                waiting.append(joint.child)

    @staticmethod
    def _reaches(joint: RobotJoint, above: dict[str, RobotJoint], root: str) -> bool:
        link, steps = joint.parent, 0
        while link in above and steps <= len(above):
            link, steps = above[link].parent, steps + 1
        return link == root


@dataclass(frozen=True)
class JointValue(OneCoordinate):
    """A joint with one coordinate, an angle [rad] or a way [m], counted as its file does."""

    name: str  # in the model
    kind: str  # "angle" or "way"
    begins: float
    low: float | None
    high: float | None
    effort: float | None  # the most that its motor gives [N m], [N]
