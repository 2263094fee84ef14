"""USD with physics (openusd.org, UsdPhysics), as text: bodies below one another stand in the world, joints make any graph.

Frames of bodies stand in the joints that hold them, with the axes of the world. Places of bodies are written with all digits, all
other numbers as the schema has them, with seven.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from components import Friction, Motor, Stop, TorsionSpring
from modular.elements import Array
from modular.errors import ModelError
from modular.names import first_few
from scenarios.models.rigid import BALL, SLIDE, TURN, Axis, Mechanism, Rigid, in_space
from scenarios.models.spanning import Branch, branches, joint_along
from scenarios.models.usd_opening import library

TYPES = {TURN: "RevoluteJoint", SLIDE: "PrismaticJoint", BALL: "SphericalJoint"}
ROOT = "/model"


def usd(found: Mechanism) -> str:
    """The mechanism as USD; refuses what leaves more than one motion free and is no ball."""
    pxr = library()
    order, closures = branches(found)
    held = [(one.name, one.free) for one in order if one.joint is not None]
    unknown = [f"'{name}'" for name, free in [*held, *((one.name, one.free) for one in closures)] if len(free) > 1]
    unknown += [f"'{name}' (Coupler)" for name, _ in found.couplers]
    if unknown:
        raise ModelError(
            f"joint {first_few(unknown)}: USD has hinges, slides, balls and welds; write FILE.xml, which is MJCF, or take it out."
        )
    return _Writer(pxr, found, order).text([(one.name, one.first, one.second, one.point, one.free) for one in closures])


class _Writer:
    def __init__(self, pxr: Any, found: Mechanism, order: list[Branch]) -> None:
        self.pxr, self.found, self.order = pxr, found, order
        self.stage = pxr.Usd.Stage.CreateInMemory()
        self.origins = {branch.body.name: branch.origin for branch in order}
        self.paths: dict[str, str] = {}
        self.joints: dict[str, Any] = {}

    def text(self, closures: list[tuple[str, Rigid | None, Rigid | None, Array, list[Axis]]]) -> str:
        """All of it."""
        pxr, stage, found = self.pxr, self.stage, self.found
        pxr.UsdGeom.SetStageMetersPerUnit(stage, 1.0)
        pxr.UsdGeom.SetStageUpAxis(stage, pxr.UsdGeom.Tokens.z)
        pxr.UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
        root = pxr.UsdGeom.Xform.Define(stage, ROOT)
        stage.SetDefaultPrim(root.GetPrim())
        gravity = in_space(found.model.gravity)
        scene, size = pxr.UsdPhysics.Scene.Define(stage, "/scene"), float(np.linalg.norm(gravity))
        scene.CreateGravityMagnitudeAttr(size)
        scene.CreateGravityDirectionAttr(pxr.Gf.Vec3f(*((gravity / size) if size else (0.0, 0.0, -1.0))))
        for branch in self.order:
            self._body(branch.body)
        for branch in self.order:
            if branch.joint is not None:
                self._joint(branch.name, branch.parent, branch.body, branch.origin, branch.free)
        for name, first, second, point, free in closures:
            sign = 1.0 if second is not None else -1.0
            parent, child = (first, second) if second is not None else (None, first)
            assert child is not None  # a joint holds a body
            self._joint(name, parent, child, point, [(kind, sign * axis) for kind, axis in free])
        self._forces()
        if found.plane and (loose := [branch.name for branch in self.order if branch.joint is None]):
            found.approximated.append(f"{first_few(loose)}: free in space, where nothing takes them out of the plane")
        if any(np.any(body.velocity) or np.any(body.spin) for body in found.bodies.values()):
            found.dropped.append("velocities at the start, which are not written to USD")
        return str(stage.GetRootLayer().ExportToString())

    def _path(self, above: str, name: str) -> str:
        """A path of letters that USD takes, that nothing else has."""
        plain = re.sub(r"\W", "_", name, flags=re.ASCII)
        plain = f"_{plain}" if not plain or plain[0].isdigit() else plain
        path = f"{above}/{plain}"
        while self.stage.GetPrimAtPath(path):
            path += "_"
        return path

    def _body(self, body: Rigid) -> None:
        pxr, origin = self.pxr, self.origins[body.name]
        path = self.paths[body.name] = self._path(ROOT, body.name)
        prim = pxr.UsdGeom.Xform.Define(self.stage, path)
        prim.AddTranslateOp().Set(pxr.Gf.Vec3d(*origin.tolist()))
        pxr.UsdPhysics.RigidBodyAPI.Apply(prim.GetPrim())
        mass = pxr.UsdPhysics.MassAPI.Apply(prim.GetPrim())
        mass.CreateMassAttr(body.mass)
        mass.CreateCenterOfMassAttr(pxr.Gf.Vec3f(*(body.centre - origin).tolist()))
        values, axes = np.linalg.eigh(body.inertia)
        if np.linalg.det(axes) < 0.0:
            axes[:, 0] *= -1.0
        mass.CreateDiagonalInertiaAttr(pxr.Gf.Vec3f(*values.tolist()))
        mass.CreatePrincipalAxesAttr(self._quaternion(axes))
        for port, (point, frame) in body.ports.items():
            place = pxr.UsdGeom.Xform.Define(self.stage, self._path(path, f"{body.name}_{port}"))
            place.AddTranslateOp().Set(pxr.Gf.Vec3d(*(point - origin).tolist()))
            place.AddOrientOp().Set(self._quaternion(frame.T))

    def _quaternion(self, turn: Array) -> Any:
        from scipy.spatial.transform import Rotation

        x, y, z, s = Rotation.from_matrix(turn).as_quat()
        return self.pxr.Gf.Quatf(float(s), float(x), float(y), float(z))

    def _joint(self, name: str, parent: Rigid | None, child: Rigid, point: Array, free: list[Axis]) -> None:
        """Its axis is the x axis of its frames."""
        pxr = self.pxr
        kind = TYPES[free[0][0]] if free else "FixedJoint"
        joint = getattr(pxr.UsdPhysics, kind).Define(
            self.stage, self._path(ROOT, f"{name}_joint" if name == child.name else name)
        )
        turn = np.eye(3)
        if free and free[0][0] != BALL:
            axis = free[0][1]
            across = np.linalg.svd(axis[None])[2][1]
            turn = np.array([axis, across, np.cross(axis, across)]).T
            joint.CreateAxisAttr("X")
        ends = [None if body is None else self.paths[body.name] for body in (parent, child)]
        for number, (path, body) in enumerate(zip(ends, (parent, child), strict=True)):
            if path is not None and body is not None:
                (joint.CreateBody0Rel if number == 0 else joint.CreateBody1Rel)().SetTargets([path])
            before = np.zeros(3) if body is None else self.origins[body.name]
            place, rotation = pxr.Gf.Vec3f(*(point - before).tolist()), self._quaternion(turn)
            if number == 0:
                joint.CreateLocalPos0Attr(place)
                joint.CreateLocalRot0Attr(rotation)
            else:
                joint.CreateLocalPos1Attr(place)
                joint.CreateLocalRot1Attr(rotation)
        self.joints[name] = joint

    def _forces(self) -> None:
        """Stops, springs, friction and the most of motors, of joints with one coordinate."""
        for name, edge in self.found.model.force_edges.items():
            force: Any = edge.force
            along = joint_along(force, edge.ports, self.order, self.found)
            if along is None or not isinstance(force, Stop | Friction | Motor | TorsionSpring):
                self.found.dropped.append(f"force '{name}' ({type(force).__name__})")
                continue
            branch, sign = along
            taken = self._along(self.joints[branch.name], force, branch.free[0][0] == TURN, sign, name)
            if taken:
                self.found.dropped.append(
                    f"force '{name}' ({type(force).__name__}): joint '{branch.name}' has {taken} already"
                )

    def _along(self, joint: Any, force: Any, turns: bool, sign: float, name: str) -> str:
        """Numbers of a joint, angles in degrees; what of them is there already."""
        unit = np.pi / 180.0 if turns else 1.0
        if isinstance(force, Stop):
            if joint.GetLowerLimitAttr().HasAuthoredValue() or joint.GetUpperLimitAttr().HasAuthoredValue():
                return "stops"
            low, high = (force.low, force.high) if sign > 0.0 else (force.high, force.low)
            for end, create in ((low, joint.CreateLowerLimitAttr), (high, joint.CreateUpperLimitAttr)):
                if end is not None:
                    create(sign * end / unit)
            return ""
        which = "angular" if turns else "linear"
        if joint.GetPrim().HasAPI(self.pxr.UsdPhysics.DriveAPI, which):
            return "a drive"
        drive = self.pxr.UsdPhysics.DriveAPI.Apply(joint.GetPrim(), which)
        if isinstance(force, Motor):
            if force.most is not None:
                drive.CreateMaxForceAttr(force.most)
            if force.effort != 0.0 or force.target is not None or force.law is not None:
                self.found.dropped.append(f"force '{name}': what the motor does; its most is written")
            return ""
        stiffness, damping = (0.0, force.viscous) if isinstance(force, Friction) else (force.stiffness, force.damping)
        drive.CreateStiffnessAttr(float(stiffness) * unit)
        drive.CreateDampingAttr(float(damping) * unit)
        if isinstance(force, TorsionSpring):
            drive.CreateTargetPositionAttr(sign * float(force.rest) / unit)
        elif force.dry:
            self.found.dropped.append(f"force '{name}': its dry part; what is viscous is written")
        return ""
