"""USD with physics (openusd.org, UsdPhysics): bodies, their masses and joints, told as SDFormat, whose joints make any graph.

The library `usd-core` opens the file, by itself alone: what refers to other files is refused. Lengths and masses are in the units
of the stage, angles in degrees. Bodies stand where the stage puts them; there joints need not be at zero.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from components import Solid
from modular.elements import Array
from modular.errors import ModelError
from scenarios.models.import_report import APPROXIMATED, DROPPED, READ, UNUSED, Report
from scenarios.models.markup import Element, shown
from scenarios.models.mjcf_writing import row_text, text_of
from scenarios.models.robot import Frame
from scenarios.models.urdf_writing import roll_pitch_yaw
from scenarios.models.usd_opening import opened, turn_of
from scenarios.models.usd_shapes import geometry_of, solid_of, usual_density
from scenarios.models.usd_solvers import armature_of, tell_unread

KINDS = {
    "PhysicsRevoluteJoint": "revolute",
    "PhysicsPrismaticJoint": "prismatic",
    "PhysicsSphericalJoint": "ball",
    "PhysicsFixedJoint": "fixed",
    "PhysicsJoint": "",
}
AXES = {"X": 0, "Y": 1, "Z": 2}
WAYS, TURNS = ("transX", "transY", "transZ"), ("rotX", "rotY", "rotZ")
OPEN = 1e-5  # [m], [rad], of which joints may stand open where numbers of the file are rounded to seven digits
MOST_PRIMS = 100_000
EARTH = 9.81  # [m/s^2]
FAR = 1e15


def element_of(path: Path, report: Report) -> Element:
    """The stage as an element of SDFormat; tells what of it that leaves out."""
    pxr, stage = opened(path)
    try:
        return _Reader(pxr, stage, path.name, report).root
    except ModelError:
        raise
    except (TypeError, ValueError, pxr.Tf.ErrorException) as error:
        words = str(error).strip().partition("\n")[0]
        raise ModelError(
            f"{path.name}: the stage has a value of another kind than its schema ({shown(words)})."
        ) from error


class _Reader:
    def __init__(self, pxr: Any, stage: Any, file: str, report: Report) -> None:
        self.pxr, self.file, self.report = pxr, file, report
        self.metres = float(pxr.UsdGeom.GetStageMetersPerUnit(stage))
        self.kilograms = float(pxr.UsdPhysics.GetStageKilogramsPerUnit(stage))
        if not (1e-6 < self.metres < 1e6 and 1e-9 < self.kilograms < 1e9):
            raise ModelError(
                f"{file}: metersPerUnit = {self.metres:g}, kilogramsPerUnit = {self.kilograms:g}; no such units."
            )
        prims = list(stage.Traverse())
        if len(prims) > MOST_PRIMS:
            raise ModelError(f"{file}: {len(prims)} prims; {MOST_PRIMS} are the most that are read as a model.")
        self.names: dict[str, str] = {}
        self.cache = pxr.UsdGeom.XformCache()
        self.bodies: dict[str, Any] = {str(prim.GetPath()): prim for prim in prims if self._is_body(prim)}
        if not self.bodies:
            raise ModelError(f"{file}: no prim of it has PhysicsRigidBodyAPI; a model has bodies.")
        self.places: list[tuple[Any, Any]] = []  # marks on bodies
        self.pairs: set[frozenset[str]] = set()
        self.root = Element("sdf", {"version": "1.10"}, file, 0)
        world = self._put(self.root, "world", name="world")
        self._text(world, "gravity", row_text(self._gravity(stage, prims)))
        name = stage.GetDefaultPrim().GetName() if stage.GetDefaultPrim() else path_stem(file)
        self.model = self._put(world, "model", name=name)
        shapes: dict[str, list[Any]] = {path: [] for path in self.bodies}
        for prim in prims:
            self._sort(prim, shapes)
        for path, prim in self.bodies.items():
            self._read(prim, self._link, shapes[path])
        for prim, owner in self.places:
            self._read(prim, self._mark, owner)
        for prim in prims:
            if prim.GetTypeName() in KINDS or prim.IsA(pxr.UsdPhysics.Joint):
                self._read(prim, self._joint)

    # --- elements ------------------------------------------------------------------------------------------------------

    def _read(self, prim: Any, read: Callable[..., None], *more: Any) -> None:
        """What a prim says; values of other kinds than the schema has are refused with its name."""
        try:
            read(prim, *more)
        except ModelError:
            raise
        except (
            TypeError,
            ValueError,
            ArithmeticError,
            AttributeError,
            RuntimeError,
            self.pxr.Tf.ErrorException,
        ) as error:
            words = str(error).strip().partition("\n")[0]
            raise self._of(prim).refuse(
                f"it, or a shape of it, has a value of another kind than its schema ({shown(words)})."
            ) from error

    def _put(self, above: Element, tag: str, **attributes: str) -> Element:
        made = Element(tag, attributes, self.file, 0)
        above.inside.append(made)
        return made

    def _text(self, above: Element, tag: str, content: str, **attributes: str) -> Element:
        made = self._put(above, tag, **attributes)
        made.content = content
        return made

    def _pose(self, above: Element, frame: Frame, **attributes: str) -> None:
        self._text(above, "pose", f"{row_text(frame.place)} {row_text(roll_pitch_yaw(frame.turn))}", **attributes)

    def _of(self, prim: Any) -> Element:
        """A prim as messages name it."""
        return Element(prim.GetTypeName() or "prim", {"name": str(prim.GetPath())}, self.file, 0)

    def _name(self, prim: Any) -> str:
        """Its own name, or its path where another one has that."""
        path = str(prim.GetPath())
        if path not in self.names:
            own = prim.GetName()
            taken = {*self.names.values(), "world", "ground"}
            self.names[path] = own if own not in taken else path.strip("/").replace("/", "_")
        return self.names[path]

    def _value(self, attribute: Any, usual: Any, prim: Any) -> Any:
        """Of an attribute, numbers finite and of a size that a model can have."""
        found = attribute.Get() if attribute else None
        found = usual if found is None else found
        if isinstance(found, float | int) and not isinstance(found, bool) and np.isnan(found):
            raise self._of(prim).refuse(f"{attribute.GetName()} is not a number; give one.")
        return found

    # --- bodies --------------------------------------------------------------------------------------------------------

    def _is_body(self, prim: Any) -> bool:
        api = self.pxr.UsdPhysics.RigidBodyAPI(prim)
        return bool(prim.HasAPI(self.pxr.UsdPhysics.RigidBodyAPI)) and self._value(
            api.GetRigidBodyEnabledAttr(), True, prim
        )

    def _owner(self, prim: Any) -> Any:
        """The nearest body above it or it."""
        while prim and not prim.IsPseudoRoot():
            if str(prim.GetPath()) in self.bodies:
                return prim
            prim = prim.GetParent()
        return None

    def _gravity(self, stage: Any, prims: list[Any]) -> Array:
        up = np.eye(3)[1 if self.pxr.UsdGeom.GetStageUpAxis(stage) == "Y" else 2]
        for prim in prims:
            if prim.IsA(self.pxr.UsdPhysics.Scene):
                scene = self.pxr.UsdPhysics.Scene(prim)
                way = np.array(self._value(scene.GetGravityDirectionAttr(), (0, 0, 0), prim), float)
                size = float(self._value(scene.GetGravityMagnitudeAttr(), -1.0, prim))
                way = way / np.linalg.norm(way) if np.any(way) else -up
                self.report.tell(READ, self._of(prim), "gravity")
                return np.asarray((EARTH if size < 0.0 else size * self.metres) * way)
        return np.asarray(-EARTH * up)

    def _sort(self, prim: Any, shapes: dict[str, list[Any]]) -> None:
        """Shapes, to their bodies; all else that bears on the motion, and is not read."""
        api = self.pxr.UsdPhysics
        if prim.HasAPI(api.CollisionAPI):
            owner = self._owner(prim)
            if owner is not None:
                shapes[str(owner.GetPath())].append(prim)
            else:
                self.report.tell(DROPPED, self._of(prim), "a shape for contact that no body carries")
        elif prim.GetTypeName() == "Xform" and (owner := self._owner(prim)) is not None and owner != prim:
            self.places.append((prim, owner))
        elif prim.IsA(self.pxr.UsdGeom.Gprim):
            self.report.tell(UNUSED, self._of(prim), "a picture")

    def _link(self, prim: Any, shapes: list[Any]) -> None:
        api, name = self.pxr.UsdPhysics, self._name(prim)
        body = api.RigidBodyAPI(prim)
        if self._value(body.GetKinematicEnabledAttr(), False, prim):
            raise self._of(prim).refuse(
                "a body that is moved from outside (kinematicEnabled); remove that, or fix it by a joint."
            )
        velocities = [
            self._value(get(), (0, 0, 0), prim) for get in (body.GetVelocityAttr, body.GetAngularVelocityAttr)
        ]
        if np.any(np.array(velocities, float)):
            self.report.tell(DROPPED, self._of(prim), "velocities at the start")
        tell_unread(prim, "", self._of(prim), self.report)
        frame, stretch = self._frame(prim)
        solid = self._solid(prim, shapes, frame, stretch)
        link = self._put(self.model, "link", name=name)
        self._pose(link, frame)
        inertial = self._put(link, "inertial")
        self._pose(inertial, Frame(solid.centre, np.eye(3)))
        for shape in shapes:
            self._collision(link, shape, frame)
        self._text(inertial, "mass", text_of(solid.mass))
        inertia = self._put(inertial, "inertia")
        for tag, i, j in (("ixx", 0, 0), ("iyy", 1, 1), ("izz", 2, 2), ("ixy", 0, 1), ("ixz", 0, 2), ("iyz", 1, 2)):
            self._text(inertia, tag, text_of(solid.inertia[i, j]))

    def _collision(self, link: Element, shape: Any, frame: Frame) -> None:
        """A shape for contact."""
        if not self._value(self.pxr.UsdPhysics.CollisionAPI(shape).GetCollisionEnabledAttr(), True, shape):
            return
        own, stretch = self._frame(shape)
        kind, turn, sizes = geometry_of(self.pxr, shape, self.metres * stretch)
        collision = self._put(link, "collision", name=str(shape.GetPath()))
        self._pose(collision, Frame(frame.turn.T @ (own.place - frame.place), frame.turn.T @ own.turn @ turn))
        geometry = self._put(self._put(collision, "geometry"), kind)
        for tag, content in sizes.items():
            self._text(geometry, tag, content)

    def _mark(self, prim: Any, owner: Any) -> None:
        """A place on a body: a port of it."""
        (own, _), (here, _) = self._frame(owner), self._frame(prim)
        frame = self._put(self.model, "frame", name=self._name(prim), attached_to=self._name(owner))
        self._pose(frame, Frame(own.turn.T @ (here.place - own.place), own.turn.T @ here.turn))

    def _frame(self, prim: Any) -> tuple[Frame, Array]:
        """Where it stands [m], and how much it is stretched along its own axes; sheared ones are refused."""
        matrix = np.array(self.cache.GetLocalToWorldTransform(prim), float)
        rows = matrix[:3, :3]
        stretch = np.linalg.norm(rows, axis=1)
        if not np.all(np.isfinite(matrix)) or stretch.min() < 1e-9:
            raise self._of(prim).refuse("its scale is zero; give it a scale above 0.")
        turn = (rows / stretch[:, None]).T
        if np.abs(turn.T @ turn - np.eye(3)).max() > 1e-5 or np.linalg.det(turn) < 0.0:
            raise self._of(prim).refuse("it is sheared or mirrored; give it rotations and scales along its own axes.")
        u, _, v = np.linalg.svd(turn)
        return Frame(self.metres * matrix[3, :3], u @ v), stretch

    def _solid(self, prim: Any, shapes: list[Any], frame: Frame, stretch: Array) -> Solid:
        """Mass, centre and inertia in the axes of the body; what MassAPI does not say comes from its shapes."""
        api = self.pxr.UsdPhysics.MassAPI(prim)
        unit, has = self.kilograms, prim.HasAPI(self.pxr.UsdPhysics.MassAPI)
        mass = unit * float(self._value(api.GetMassAttr(), 0.0, prim)) if has else 0.0
        density = float(self._value(api.GetDensityAttr(), 0.0, prim)) * unit / self.metres**3 if has else 0.0
        diagonal = np.array(self._value(api.GetDiagonalInertiaAttr(), (0, 0, 0), prim), float) if has else np.zeros(3)
        centre = (
            np.array(self._value(api.GetCenterOfMassAttr(), (-np.inf,) * 3, prim), float)
            if has
            else np.full(3, -np.inf)
        )
        if not np.isfinite([mass, density, *diagonal]).all():
            raise self._of(prim).refuse("its mass, density or inertia is not a finite number; give one.")
        told = mass > 0.0 and np.all(diagonal > 0.0)
        whole = None if told and np.all(np.isfinite(centre)) else self._of_shapes(shapes, frame, density)
        if whole is None and mass <= 0.0:
            raise self._of(prim).refuse(
                "it has no mass and no shape that tells one; give it PhysicsMassAPI with a mass."
            )
        if whole is not None and mass > 0.0:
            whole = Solid(mass, whole.centre, whole.second_moment * (mass / whole.mass))
        place = (
            self.metres * stretch * centre
            if np.all(np.isfinite(centre))
            else np.zeros(3)
            if whole is None
            else whole.centre
        )
        if told:
            turn = turn_of(self._value(api.GetPrincipalAxesAttr(), None, prim))
            tensor = turn @ np.diag(unit * self.metres**2 * diagonal) @ turn.T
            self.report.tell(READ, self._of(prim), "mass, centre and inertia")
            return Solid(mass, place, 0.5 * np.trace(tensor) * np.eye(3) - tensor)
        if whole is None:
            raise self._of(prim).refuse(
                "no inertia is given, and no shape tells it; give physics:diagonalInertia, or boxes, balls, cylinders, capsules."
            )
        self.report.tell(READ, self._of(prim), "inertia from its shapes")
        return Solid(whole.mass, place, whole.second_moment)

    def _of_shapes(self, shapes: list[Any], frame: Frame, density: float) -> Solid | None:
        solids = []
        for shape in shapes:
            own, stretch = self._frame(shape)
            usual = usual_density(self.pxr, shape, density, self.kilograms, self.metres)
            solid = solid_of(self.pxr, shape, self.metres * stretch, *usual)
            if solid is None:
                self.report.tell(APPROXIMATED, self._of(shape), "a shape whose mass is not known here, and is left out")
            else:
                inside = frame.turn.T @ (own.place - frame.place)
                solids.append(solid.turned(frame.turn.T @ own.turn).moved(inside.tolist()))
        return Solid.sum(*solids) if solids else None

    # --- joints --------------------------------------------------------------------------------------------------------

    def _joint(self, prim: Any) -> None:
        api = self.pxr.UsdPhysics.Joint(prim)
        if not self._value(api.GetJointEnabledAttr(), True, prim):
            self.report.tell(UNUSED, self._of(prim), "switched off")
            return
        ends = [self._end(prim, rel) for rel in (api.GetBody0Rel(), api.GetBody1Rel())]
        if (ends[0] is None and ends[1] is None) or ends[0] == ends[1]:
            self.report.tell(DROPPED, self._of(prim), "a joint that holds no two bodies")
            return
        kind, axes = self._kind(prim)
        if not kind:
            self.report.tell(
                DROPPED, self._of(prim), "a joint that is not known here; hinges, slides, balls, crosses and welds are"
            )
            return
        tell_unread(prim, kind, self._of(prim), self.report)
        pair = frozenset(str(end and end.GetPath()) for end in ends)
        if pair in self.pairs:
            self.report.tell(
                APPROXIMATED, self._of(prim), "one more joint between the same two: each holds what it holds alone"
            )
        self.pairs.add(pair)
        frames = [self._side(prim, end, number) for number, end in enumerate(ends)]
        parent, child = (1, 0) if ends[1] is None else (0, 1)
        place, sign = frames[child], -1.0 if parent else 1.0
        directions = [sign * frames[0].turn[:, axis] for axis in axes]
        begins = self._begins(prim, kind, frames, axes)
        joint = self._put(self.model, "joint", name=self._name(prim), type=kind)
        self._pose(joint, Frame(place.place, np.eye(3)), relative_to="__model__")
        self._text(joint, "parent", "world" if ends[parent] is None else self._name(ends[parent]))
        self._text(joint, "child", self._name(ends[child]))
        for tag, direction in zip(("axis", "axis2"), directions, strict=False):
            axis = self._put(joint, tag)
            self._text(axis, "xyz", row_text(direction), expressed_in="__model__")
            if kind in ("revolute", "prismatic"):
                self._along(prim, axis, kind, axes[0], begins)

    def _end(self, prim: Any, relation: Any) -> Any:
        targets = relation.GetTargets()
        found = prim.GetStage().GetPrimAtPath(targets[0]) if targets else None
        if targets and not found:
            raise self._of(prim).refuse(f"there is no {shown(str(targets[0]))}; name a body that there is.")
        return self._owner(found)

    def _side(self, prim: Any, body: Any, number: int) -> Frame:
        """Its frame on one side, in the world."""
        place = np.array(self._value(prim.GetAttribute(f"physics:localPos{number}"), (0, 0, 0), prim), float)
        turn = turn_of(self._value(prim.GetAttribute(f"physics:localRot{number}"), None, prim))
        if not np.all(np.isfinite(place)):
            raise self._of(prim).refuse(f"physics:localPos{number} is not a position; give three finite numbers.")
        if body is None:
            return Frame(self.metres * place, turn)
        frame, stretch = self._frame(body)
        return frame @ Frame(self.metres * stretch * place, turn)

    def _kind(self, prim: Any) -> tuple[str, list[int]]:
        kind = KINDS.get(prim.GetTypeName())
        if kind is None:
            return "", []
        if kind:
            axis = AXES.get(str(self._value(prim.GetAttribute("physics:axis"), "X", prim)), 0)
            return kind, [axis] if kind in ("revolute", "prismatic") else []
        free = [name for name in (*WAYS, *TURNS) if not self._locked(prim, name)]
        ways, turns = [name for name in free if name in WAYS], [name for name in free if name in TURNS]
        kinds = {(0, 0): "fixed", (1, 0): "prismatic", (0, 1): "revolute", (0, 2): "universal", (0, 3): "ball"}
        found = kinds.get((len(ways), len(turns)), "")
        return found, [] if found == "ball" else [AXES[name[-1]] for name in (*ways, *turns)]

    def _locked(self, prim: Any, name: str) -> bool:
        low, high = (
            self._value(prim.GetAttribute(f"limit:{name}:physics:{end}"), default, prim) for end, default in ENDS
        )
        return bool(low > high)

    def _begins(self, prim: Any, kind: str, frames: list[Frame], axes: list[int]) -> float:
        """The value of a hinge or slide as bodies stand; tells where more than that is open."""
        gap = frames[1].place - frames[0].place
        turn = frames[0].turn.T @ frames[1].turn
        begins = 0.0
        if kind == "prismatic":
            axis = frames[0].turn[:, axes[0]]
            begins = float(axis @ gap)
            gap = gap - begins * axis
        if kind == "revolute":
            x, y = (axes[0] + 1) % 3, (axes[0] + 2) % 3
            begins = float(np.arctan2(turn[y, x], turn[x, x]))
        one, other = (frame.turn[:, axes[0] if axes else 0] for frame in frames)
        leaning = 0.0 if kind in ("ball", "universal") else float(np.linalg.norm(np.cross(one, other)))
        if np.linalg.norm(gap) > OPEN or leaning > OPEN:
            said = f"its sides stand {np.linalg.norm(gap):.3g} m and {leaning:.3g} rad apart: held as they stand"
            self.report.tell(APPROXIMATED, self._of(prim), said)
        return begins

    def _along(self, prim: Any, axis: Element, kind: str, which: int, begins: float) -> None:
        """Stops, and what drives exert, of a joint with one coordinate."""
        unit = np.pi / 180.0 if kind == "revolute" else self.metres
        name = (TURNS if kind == "revolute" else WAYS)[which]
        general = prim.GetTypeName() == "PhysicsJoint"
        keys = [
            f"limit:{name}:physics:{end}" if general else f"physics:{side}Limit"
            for end, side in (("low", "lower"), ("high", "upper"))
        ]
        low, high = (
            self._value(prim.GetAttribute(key), usual, prim) for key, usual in zip(keys, (-np.inf, np.inf), strict=True)
        )
        ends = [unit * end - begins for end in (low, high)]
        if low <= high and (np.isfinite(low) or np.isfinite(high)):
            limit = self._put(axis, "limit")
            self._text(limit, "lower", text_of(max(ends[0], -FAR)))
            self._text(limit, "upper", text_of(min(ends[1], FAR)))
        for drive in (name, "angular" if kind == "revolute" else "linear"):
            if prim.GetAttribute(f"drive:{drive}:physics:maxForce") or prim.GetAttribute(
                f"drive:{drive}:physics:stiffness"
            ):
                self._drive(prim, axis, drive, unit, kind, begins)
                break
        if armature := armature_of(prim):
            scale = self.kilograms * (self.metres**2 if kind == "revolute" else 1.0)
            self._text(axis.one("dynamics") or self._put(axis, "dynamics"), "armature", text_of(scale * armature))

    def _drive(self, prim: Any, axis: Element, drive: str, unit: float, kind: str, begins: float) -> None:
        """A spring and a damper with a place where it rests; without both a motor that gives no more than its most."""
        stiffness, damping, most, target, pace = (
            float(self._value(prim.GetAttribute(f"drive:{drive}:physics:{key}"), usual, prim)) for key, usual in DRIVEN
        )
        effort = self.kilograms * (self.metres**2 if kind == "revolute" else self.metres)
        kind_of_drive = str(self._value(prim.GetAttribute(f"drive:{drive}:physics:type"), "force", prim))
        if not stiffness and not damping:
            if np.isfinite(most) and most > 0.0:
                limit = next(axis.all("limit"), None) or self._put(axis, "limit")
                self._text(limit, "effort", text_of(effort * most))
        elif kind_of_drive != "force" or pace or min(stiffness, damping) < 0.0:
            self.report.tell(DROPPED, self._of(prim), "a drive of accelerations, or with a velocity to reach")
        else:
            dynamics = self._put(axis, "dynamics")
            self._text(dynamics, "damping", text_of(effort * damping / unit))
            self._text(dynamics, "spring_stiffness", text_of(effort * stiffness / unit))
            self._text(dynamics, "spring_reference", text_of(unit * target - begins))
            if np.isfinite(most):
                self.report.tell(APPROXIMATED, self._of(prim), "a drive as a spring and a damper, whatever its most")


ENDS = (("low", -np.inf), ("high", np.inf))
DRIVEN = (("stiffness", 0.0), ("damping", 0.0), ("maxForce", np.inf), ("targetPosition", 0.0), ("targetVelocity", 0.0))


def path_stem(file: str) -> str:
    """The name of a file without its ending."""
    return Path(file).stem
