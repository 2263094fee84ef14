"""A verdict on a run from what it has recorded: about how far it is off, and what that comes from.

As shares of the extent L of the model, over the whole run; where nothing moves by a tenth of it, of how far anything moves as well:

    gave       what opens turns what hangs there: gap over the size of the smaller body at the joint, plus the angle it gave; while
               joints ring after a blow it comes back at once, and is not multiplied by the way
    slid       the way that a joint let pass which locks velocities alone
    swallowed  energy that joints took for good which should take none, but for ringing after a blow; what the ledgers of forces
               leave open beyond a thousandth of what their dampers took; and what came or went within bodies that have no damping;
               over the largest kinetic energy: half of it lacks in the speed
    bent       what a step of order p leaves out where paths bend: (a dt^2 / L)^(p/2) / 8, a the largest acceleration, or what the
               method says that its steps left out (Formulas); what flies
               freely bends about its mass centre alone, which falls as it should at every step; L is how far anything moves, where
               that is less and it swings to and fro: then it errs in its pace
    late       by how much walls that are as stiff as the step allows let things fall behind: they give way for some ticks, and what
               comes back is not as fast as it should be; each of them tells it of itself, and it counts without the way

    total = (gave + slid) (1 + way / 2) + swallowed way / 2 + bent (way that bends) + late,    error = total / (1 + total)

What hangs askew also swings at another pace, hence the way that was gone. Measured (docs/method.md, 11): within a factor ten of the
true error for 95 of 100 random mechanisms. It does not see how errors grow where motions are sensitive: a run at twice the
step does (checks/verification.py), and where there was one, its word counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from modular.elements import Array

ALL_LOST_FACTOR = 0.3
MAX_GLUED_ORDER = 8  # order of glued joints
# of the extent: finds nearly all runs that are off by a hundredth, and hardly one that is right to 1e-4
MAX_ERROR_SHARE = 1e-3
TARGET_ERROR_SHARE = 5e-4  # of it: what a smaller step should bring it down to
MAX_ERROR_SHARE_OF_MOTION = 0.05  # and of how far anything moves, where that is
SMALL_MOTION_SHARE = 0.1  # of the extent, and more than
REST_SHARE = 1e-5  # of it: less is rest
SINKING_FACTOR = 5.0  # times as deep as walls let anything sink in: so little is what rests
TURNED_BACK_RATIO = 1.2  # times so far: what has gone a longer way has turned back
SENSITIVE_RATIO = 10.0  # times what samples tell: what is off by more is sensitive
BENDING_LOSS_FACTOR = 20.0  # times what the step leaves out of paths: energy that comes and goes within bodies with it
SAGITTA_DIVISOR = 8.0  # a dt^2 / 8 is the sagitta of a path that is taken for straight


@dataclass(frozen=True)
class Loss:
    """Energy that came or went where none should, and with whom the most."""

    total: float  # [J]
    kind: str = ""  # "joint" or "force"; none where bodies lost it within themselves
    name: str = ""
    most: float = 0.0  # of the one that is named [J]
    share: float = 0.0  # of the largest kinetic energy
    struck: bool = False  # whether it went in blows that several contacts took at once

    @classmethod
    def of(cls, kind: str, losses: Iterable[tuple[Sequence[str], Array]]) -> Self:
        """From energies by names [J], whatever their signs."""
        total, name, most = 0.0, "", 0.0
        for names, energies in losses:
            if len(names):
                sizes = np.abs(energies)
                row = int(np.argmax(sizes))
                total += float(sizes.sum())
                if sizes[row] > most:
                    name, most = names[row], float(sizes[row])
        return cls(total, kind if name else "", name, most)

    def beside(self, within: float) -> Self:
        """And what bodies lost within themselves [J]."""
        both = replace(self, total=self.total + within)
        return replace(both, kind="", name="", most=within, struck=False) if within > self.most else both

    def over(self, kinetic: float) -> Self:
        """As a share of the largest kinetic energy [J]."""
        return replace(self, share=min(1.0, self.total / kinetic) if kinetic > 0.0 else 0.0)


def left_out(bend: float, order: int | None) -> float:
    """What a step leaves out of a path with the bend a dt^2 / L, as a share of the way on it."""
    return bend ** (0.5 * order) / SAGITTA_DIVISOR if order is not None else 0.0


@dataclass(frozen=True)
class Estimate:
    """About how far a run is off, each part as a share of the extent of the model."""

    extent: float  # [m]
    gave: float
    slid: float
    swallowed: float
    bent: float
    joint: str = ""  # the one that gave most; where none gave, the one that slid most
    tick: int = 0  # when it was most
    gap: float = 0.0  # [m]
    turn: float = 0.0  # [rad]
    taker: str = (
        ""  # the joint or force with which the most energy came or went; none where bodies did so within themselves
    )
    kind: str = ""  # "joint" or "force"
    loss: float = 0.0  # what came or went there [J]
    struck: bool = False  # in blows that several contacts took at once
    inside: bool = False  # by a contact whose shapes begin in each other
    beyond: bool = False  # by a stop that begins beyond a limit
    late: float = 0.0
    wall: str = ""  # the one that does most to it
    shorter: bool = True  # whether a shorter step makes that less, also where joints give
    strained: bool = False  # whether something is driven, and joints open as if it asked for more than can be reached
    moved: float = np.inf  # the longest diagonal of a box around all places of a port [m]
    way: float = 0.0  # the longest that a port has gone [m]
    least: bool = False  # whether forces begin, end or bend inside ticks, of whose errors samples tell nothing
    order: int | None = 2  # of the coupling in its step; None where it chooses steps of its own
    control: float | None = (
        None  # what a run at twice the step, or half of it, says of the share (checks/verification.py)
    )
    held: float = 1.0  # the part of the run, from its start, that was run again for that

    @classmethod
    def of(
        cls,
        extent: float,
        way: float,
        gave: float,
        slid: float,
        taken: Loss,
        lost: Loss,
        bend: float,
        bending: float,
        order: int | None,
        missed: float | None = None,
        **most: Any,
    ) -> Estimate:
        """From what was seen: `taken` by joints, `lost` by forces and within bodies, `bend` as a dt^2 / L; ways over L.

        `missed`: what steps left out of paths, over L, where the method tells.
        """
        bent = left_out(bend, order) if missed is None else missed
        counted = [taken, *([lost] if lost.share > BENDING_LOSS_FACTOR * bent else [])]
        parts = (gave * (1.0 + 0.5 * way), slid * (1.0 + 0.5 * way), 0.5 * sum(loss.share for loss in counted) * way)
        worst = max(counted, key=lambda loss: loss.most)
        largest: dict[str, Any] = {"taker": worst.name, "kind": worst.kind, "loss": worst.most, "struck": worst.struck}
        found = cls(
            extent, parts[0], parts[1], parts[2], bent * bending if missed is None else missed, way=way * extent, **largest,
            order=order, **most
        )  # fmt: skip
        if missed is not None or not found.turned_back:
            return found
        # what swings on a small way errs in its pace, at most by as much as it moves
        size = min(1.0, found.moved / extent)
        return replace(found, bent=max(found.bent, min(size, 2.0 * left_out(bend / (2.0 * size), order) * bending)))

    @property
    def total(self) -> float:
        """All parts together."""
        return self.gave + self.slid + self.swallowed + self.bent + self.late

    @property
    def samples(self) -> float:
        """The error as samples tell it, as a share of the extent of the model, which what is confined does not leave."""
        return self.total / (1.0 + self.total)

    @property
    def share(self) -> float:
        """The error as a share of the extent of the model; where other steps were taken, as those tell it."""
        return self.samples if self.control is None else self.control

    @property
    def or_more(self) -> bool:
        """Whether that is the least."""
        return self.least if self.control is None else self.held < 1.0

    @property
    def grows(self) -> bool:
        """Whether other steps tell so much more than samples that the motion makes it grow."""
        return self.share > SENSITIVE_RATIO * self.samples

    @property
    def length(self) -> float:
        """The same [m]."""
        return self.share * self.extent

    @property
    def turned_back(self) -> bool:
        """Whether it has turned back; what has only begun to move or sinks into something has not."""
        least = max(REST_SHARE * self.extent, SINKING_FACTOR * self.late * self.extent)
        return least < self.moved < self.way / TURNED_BACK_RATIO

    @property
    def little(self) -> float:
        """How far anything moves, where that has turned back and is little [m]; else 0."""
        return self.moved if self.turned_back and self.moved < SMALL_MOTION_SHARE * self.extent else 0.0

    @property
    def of_motion(self) -> float:
        """The error as a share of that."""
        share = (self.total - self.late) / (1.0 + self.total) if self.control is None else self.control
        return min(1.0, share * self.extent / self.little) if self.little else 0.0

    @property
    def too_much(self) -> bool:
        """Whether whoever runs it should know."""
        return self.share > MAX_ERROR_SHARE or self.of_motion > MAX_ERROR_SHARE_OF_MOTION

    @property
    def cause(self) -> str:
        """The largest part."""
        return max(("gave", "slid", "swallowed", "bent", "late"), key=lambda part: getattr(self, part))

    @property
    def who(self) -> str:
        """The joint or force that does most to it; none where it is the step, or bodies."""
        named = {"gave": self.joint, "slid": self.joint, "swallowed": self.taker, "late": self.wall}
        return named.get(self.cause, "")

    @property
    def about(self) -> str:
        """How far, in words."""
        if self.share > 0.5:
            return f"about the extent of the model ({self.extent:.2g} m)"
        share, of = self.share, f"the extent of the model ({self.extent:.2g} m)"
        if self.of_motion > MAX_ERROR_SHARE_OF_MOTION:
            share, of = self.of_motion, f"how far anything moves ({self.moved:.2g} m)"
        return f"about {self.length:.2g} m, {share:.1%} of {of}{', or more' * self.or_more}"

    def to_data(self) -> dict[str, Any]:
        """As it stands beside a run."""
        told = {
            "or_more": self.or_more,
            "share": self.share,
            "samples": self.samples,
            "length": self.length,
            "little": self.little,
        }
        return {**vars(self), **told}

    def event(self, dt: float) -> dict[str, Any]:
        """As it stands in the log."""
        found = {"tick": self.tick, "time": self.tick * dt, "kind": "verdict", "name": self.who or "step"}
        return found | {key: value for key, value in self.to_data().items() if key not in ("tick", "joint", "kind")}

    def why(self, dt: float) -> str:
        """What the largest part comes from."""
        if self.beyond:
            return f"'{self.who}' begins beyond its limit, and has thrown out what it holds"
        if self.inside:
            return f"contact '{self.who}' begins with its shapes inside each other, and has thrown them out"
        if self.cause == "gave":
            gave = [f"opened by {self.gap:.2g} m"] * (self.gap > 0.0) + [f"given by {self.turn:.2g} rad"] * (
                self.turn > 0.0
            )
            return f"joint '{self.joint}' has {' and '.join(gave)} at {self.tick * dt:.6g} s"
        if self.cause == "slid":
            return f"joint '{self.joint}' locks velocities, and slides under load"
        if self.cause == "swallowed":
            if self.struck:
                return (
                    f"impacts at '{self.taker}' and other contacts at the same time have removed or added "
                    f"{self.loss:.2g} J by error"
                )
            who = f"{self.kind} '{self.taker}' has" if self.taker else "the bodies have internally"
            return f"{who} removed or added {self.loss:.2g} J by error"
        if self.cause == "late":
            return f"'{self.wall}' is only as stiff as the step allows, so what it holds moves, and bounces come late"
        return "the step is too long for the curvature of the paths"

    def sentence(self, dt: float, verify: str = "verify()", *, words: Callable[[float], str] = "{:.2g}".format) -> str:
        """What it means, and what helps; `verify`: how the error is measured here; `words`: of a step (checks/diagnosis.py)."""
        powers = {"slid": 1.0, "late": 1.0, "bent": float(self.order or 2)}  # of the step, with which parts fall
        lost = ALL_LOST_FACTOR if self.share > 0.5 else 1.0  # where all is lost, nothing tells how much
        wanted = TARGET_ERROR_SHARE / (self.total if self.control is None else self.control)
        if self.of_motion > MAX_ERROR_SHARE_OF_MOTION:
            wanted = min(wanted, 0.5 * MAX_ERROR_SHARE_OF_MOTION / self.of_motion)
        step = lost * dt * wanted ** (1.0 / powers.get(self.cause, 2.0))
        return (
            f"the run is off by {self.about}, {self._beside}: {self.why(dt)}. Remedy: "
            f"{self.remedy(step, words)}; {verify} measures the error."
        )

    @property
    def _beside(self) -> str:
        """How sure that is."""
        if self.control is None:
            return "more where the motion is sensitive"
        part = f" in its first {self.held:.0%}" if self.held < 1.0 else ""
        return f"held against another step{part}" + (
            ", because small differences grow in this motion" if self.grows else ""
        )

    def remedy(self, dt: float, words: Callable[[float], str]) -> str:
        """What helps: such a step, or another coupling."""
        step = f"take dt = {words(dt)} s"
        more = 4 if self.order is None or self.order < 4 else 2 * (int(self.order) // 2 + 1)
        higher = (
            f", or a coupling of higher order, such as Glued({more})"
            if more <= MAX_GLUED_ORDER and not self.least
            else ""
        )
        if self.inside:
            return "move them apart before the run; no step helps"
        if self.beyond:
            return "begin between its limits, or give it a stiffness of its own; no step helps"
        if self.cause == "swallowed" and self.struck:
            return (
                "give the contacts that are hit at the same time a stiffness of their own: a shorter step does not distribute "
                "the impacts better"
            )
        if self.strained:
            return (
                "check whether the drives demand more than the mechanism can reach, where no step helps: with "
                f"rigid joints, Glued(), the run stops there with an error. Otherwise {step}"
            )
        if self.cause == "swallowed" and self.kind != "joint":
            return step
        return {
            "bent": f"{step}{higher}",
            "slid": f"take joints that do not slide, Glued(), or {step}",
            "late": f"give it a stiffness of its own, or {step}{'' if self.shorter else ' and rigid joints, Glued()'}",
        }.get(self.cause, f"{step}, or rigid joints, Glued()")
