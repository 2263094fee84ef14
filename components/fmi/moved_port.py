"""Ports of FMUs that are told motion: poses, twists and their rates in, the forces that this takes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from components.bodies.posed.quaternions import crossed
from components.fmi.fmu_system import FmuSystem
from components.fmi.port import PowerPort, angles_of, axes_of, quaternion_of_angles
from modular.elements import Array
from modular.errors import ModelError

MOTION = ("position", "orientation", "velocity", "angular_velocity", "acceleration", "angular_acceleration")


class MotionMap:
    """Vectors over all ports of a machine, as `PortMap` has them, the other way round."""

    def __init__(self, fmus: FmuSystem, ports: Sequence[PowerPort], what: str) -> None:
        self.fmus, self.ports = fmus, ports
        self.d = ports[0].dimension
        self.width, self.pose_width = (3, 3) if self.d == 2 else (6, 7)
        self.count = len(ports)
        told: list[str] = []
        self._told: list[tuple[int, str, int]] = []  # port, what of its motion, and which number of that
        shown: list[str] = []
        self._shown_at: list[int] = []
        signs: list[float] = []
        for k, port in enumerate(ports):
            for kind in MOTION:
                for c, entry in enumerate(getattr(port, kind)):
                    if isinstance(entry, str):
                        told.append(entry)
                        self._told.append((k, kind, c))
            for kind, offset in (("force", 0), ("moment", self.d)):
                for c, entry in enumerate(getattr(port, kind)):
                    if isinstance(entry, str):
                        shown.append(entry)
                        self._shown_at.append(k * self.width + offset + c)
                        signs.append(-1.0 if port.exerts else 1.0)
        if wrong := [name for name in told if fmus.variable(name, what).causality != "input"]:
            raise ModelError(
                f"{what}: '{wrong[0]}' is not an input, but other variables of its motion are; all variables of a "
                "motion that the FMU receives must be inputs."
            )
        if not shown:
            raise ModelError(f"{what}: no port shows a force; name variables in force=[…].")
        self.inputs, self.outputs = fmus.signals(told, what), fmus.signals(shown, what)
        self._names, self._signs = told, np.array(signs)

    def free(self) -> list[int]:
        """Entries of all twists in which the ports move: points do not turn."""
        return [
            k * self.width + c for k, port in enumerate(self.ports) for c in range(self.width if port.turns else self.d)
        ]

    def begin(self, parameters: Mapping[str, Any]) -> tuple[Array, Array]:
        """Poses and twists with which the FMU begins: as its inputs are given, and as ports say."""
        pose, twist = np.zeros((self.count, self.pose_width)), np.zeros(self.count * self.width)
        if self.d == 3:
            pose[:, 3] = 1.0
        angles: dict[tuple[int, int], Array] = {}
        for name, (k, kind, c) in zip(self._names, self._told, strict=True):
            variable = self.fmus.variable(name, "")
            first = (variable.start or "0").split()[0]
            value = float(parameters[name]) if name in parameters else variable.in_si(float(first))
            if kind == "position":
                pose[k, c] = value
            elif kind == "orientation" and len(self.ports[k].orientation) in (1, 4):
                pose[k, self.d + c] = value
            elif kind == "orientation":
                angles.setdefault((k, len(self.ports[k].orientation)), np.zeros(9))[c] = value
            elif kind in ("velocity", "angular_velocity"):
                twist[k * self.width + (0 if kind == "velocity" else self.d) + c] = value
        for (k, count), values in angles.items():
            if count == 3:
                pose[k, 3:] = quaternion_of_angles(values[:3])
            elif values.any():
                from components.fmi.port import quaternion_of

                pose[k, 3:] = quaternion_of(values.reshape(3, 3))
        for k, port in enumerate(self.ports):
            for c, entry in enumerate(port.position):
                if isinstance(entry, int | float):
                    pose[k, c] = float(entry)
            pose[k, : len(port.start)] = port.start
        if self.d == 3:
            norm = np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
            pose[:, 3:] = np.where(norm > 1e-9, pose[:, 3:] / np.where(norm > 1e-9, norm, 1.0), [1.0, 0.0, 0.0, 0.0])
        return pose, twist

    def values(self, pose: Array, twist: Array, slope: Array) -> Array:
        """What it is told of a motion."""
        given = {"velocity": (twist, 0), "angular_velocity": (twist, self.d), "acceleration": (slope, 0),
                 "angular_acceleration": (slope, self.d)}  # fmt: skip
        turned: dict[int, Array] = {}
        found = np.empty(len(self._told))
        for row, (k, kind, c) in enumerate(self._told):
            if kind == "position":
                found[row] = pose[k, c]
            elif kind == "orientation":
                if k not in turned:
                    turned[k] = self._orientation(pose[k], len(self.ports[k].orientation))
                found[row] = turned[k][c]
            else:
                values, offset = given[kind]
                found[row] = values[k * self.width + offset + c]
        return found

    def _orientation(self, pose: Array, count: int) -> Array:
        if count in (1, 4):
            return pose[self.d :]
        return angles_of(pose[3:]) if count == 3 else axes_of(pose).ravel()

    def tell(self, pose: Array, twist: Array, slope: Array) -> None:
        """The motion at the end of the step."""
        self.fmus.tell(self.inputs, self.values(pose, twist, slope))

    def read(self) -> Array:
        """Forces and moments on the FMU."""
        found = np.zeros(self.count * self.width)
        found[self._shown_at] = self._signs * self.fmus.ask(self.outputs)
        return found


class Carriers:
    """What carries the ports of an FMU: masses and inertias that are ours."""

    def __init__(self, ports: Sequence[PowerPort], dimension: int) -> None:
        self.d, self.width = dimension, 3 if dimension == 2 else 6
        turning = 1 if dimension == 2 else 3
        self.mass = np.array([port.mass for port in ports])
        self.inertia = np.array([np.broadcast_to(np.asarray(port.inertia, float), (turning,)) for port in ports])
        self.some = bool(self.mass.any() or self.inertia.any())

    def matrix(self, pose: Array) -> Array:
        """Mass and inertia over all ports, in world axes."""
        found = np.zeros((len(pose) * self.width, len(pose) * self.width))
        for k, one in enumerate(pose):
            start, turning = k * self.width, slice(k * self.width + self.d, (k + 1) * self.width)
            found[range(start, start + self.d), range(start, start + self.d)] = self.mass[k]
            axes = np.eye(1) if self.d == 2 else axes_of(one)
            found[turning, turning] = axes @ np.diag(self.inertia[k]) @ axes.T
        return found

    def forces(self, pose: Array, twist: Array, gravity: Array) -> Array:
        """Weight, and what turns against gyroscopic moments."""
        found = np.zeros(len(pose) * self.width)
        for k, one in enumerate(pose):
            start = k * self.width
            found[start : start + self.d] = self.mass[k] * gravity
            if self.d == 3:
                axes, spin = axes_of(one), twist[start + 3 : start + 6]
                found[start + 3 : start + 6] = -crossed(spin, axes @ (self.inertia[k] * (axes.T @ spin)))
        return found

    def energies(self, poses: Array, rates: Array, gravity: Array) -> tuple[Array, Array]:
        """Kinetic and potential, of samples (..., ports, coordinates) [J]."""
        d = self.d
        speed, place = rates[..., :d], poses[..., :d]
        kinetic = 0.5 * np.sum(self.mass * np.sum(speed * speed, axis=-1), axis=-1)
        potential = -np.sum(self.mass * (place @ gravity), axis=-1)
        if d == 2:
            return kinetic + 0.5 * np.sum(self.inertia[:, 0] * rates[..., 2] ** 2, axis=-1), potential
        flat = poses.reshape(-1, poses.shape[-1])
        axes = np.array([axes_of(pose) for pose in flat]).reshape(*poses.shape[:-1], 3, 3)
        spin = np.einsum("...ji,...j->...i", axes, rates[..., 3:6])
        return kinetic + 0.5 * np.sum(self.inertia * spin * spin, axis=(-1, -2)), potential
