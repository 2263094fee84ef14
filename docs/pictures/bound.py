"""Where does the scheme really diverge, and what do the bounds say? `python docs/pictures/bound.py`.

Draws the three pictures of decision 8 beside this file and prints the numbers of its text.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from components import Fixed, KnifeEdge, PointMassRod, Revolute, RigidBody, Rod, Spherical, SpringDamper
from coordinator import Penalty, Simulation, Stable
from coordinator.checks.exact import exact_margin
from coordinator.checks.examination import examine
from coordinator.couplings.margins import stability_margins
from coordinator.couplings.rules.rule import StiffnessRule
from coordinator.system import System
from modular import Assembly, Diverged
from modular.elements import Array
from modular.internal_gains import InternalGains
from modular.joint import Joint

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "tests" / "support"))
random_assembly: Callable[..., Assembly] = importlib.import_module("random_assemblies").random_assembly

# Okabe and Ito's colours, which stay apart for colour-blind readers and in print
BLUE, VERMILION, GREEN, PURPLE, ORANGE = "#0072B2", "#D55E00", "#009E73", "#AA4499", "#E69F00"
INK, PALE = "#222222", "#6b6b6b"
DT = 1e-3
TICKS = 600
GROWN, FADED = 5.0, 1e-3  # more than beats between modes do; less is what has died away
DAMPINGS = (0.0, 0.05, 0.3)
RANDOM = 200
Builder = Callable[[float], Assembly]


# --- stiffnesses for the study ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Isolated(StiffnessRule):
    """Every joint at the limit that it would have without neighbours: lambda_max(W_j E_j) = 4."""

    damping: float = 0.05

    def refresh(self, system: System, dt: float) -> None:
        """Stiffness and damping from each joint's own compliance alone."""
        system.respond()
        for joints in system.joints:
            n = joints.count
            joints.compute_compliance(system.elements)
            joints.compute_seen_mass(system.elements)
            product = joints.compliance[:n] @ joints.block[:n]
            allowed = (4.0 / np.linalg.eigvals(product).real.max(axis=1))[:, None, None]
            if not joints.form.holonomic:
                joints.damping[:n] = 0.5 * allowed / dt * joints.block[:n]
                continue
            omega = 2.0 * (np.sqrt(self.damping**2 + 0.25 * allowed) - self.damping) / dt
            joints.stiffness[:n] = omega**2 * joints.block[:n]
            joints.damping[:n] = 2.0 * self.damping * omega * joints.block[:n]

    def remedy(self, margin: float, dt: float) -> tuple[str, float | None]:
        """None is needed in a study."""
        return "a study of the limit", None


Blocks = list[tuple[Array, Array]]  # K and C of every stack of joints, (n, m, m) each


@dataclass(frozen=True)
class Held(StiffnessRule):
    """Stiffness and damping as they were given, whatever the bodies do."""

    blocks: Callable[[], Blocks]  # data of a rule are plain numbers; arrays of this size are handed over behind a call

    def refresh(self, system: System, dt: float) -> None:
        """Copy them."""
        for joints, (stiffness, damping) in zip(system.joints, self.blocks(), strict=True):
            joints.stiffness[: joints.count] = stiffness
            joints.damping[: joints.count] = damping

    def remedy(self, margin: float, dt: float) -> tuple[str, float | None]:
        """None is needed in a study."""
        return "a study of the limit", None

    def grown(self, growth: float) -> Held:
        """As they would be seen by a step `growth` times as long."""
        return held([(growth**2 * k, growth * c) for k, c in self.blocks()])


def held(blocks: Blocks) -> Held:
    """A rule that keeps them."""
    return Held(lambda: blocks)


def blocks_of(model: Assembly, rule: StiffnessRule, dt: float = DT) -> Held:
    """What a rule gives at the start."""
    with Simulation(model, dt, Penalty(rule=rule)) as simulation:
        n = [(joints, joints.count) for joints in simulation.system.joints]
        return held([(joints.stiffness[:k].copy(), joints.damping[:k].copy()) for joints, k in n])


# --- measured divergence ------------------------------------------------------------------------------------


def kick(simulation: Simulation, speed: float) -> None:
    """Every coordinate gets a small random velocity."""
    rng = np.random.default_rng(2)
    for bodies in simulation.system.bodies:
        v = bodies.state()["v"]
        v += speed * rng.normal(size=v.shape)


def grows(model: Assembly, rule: StiffnessRule, ticks: int = TICKS) -> bool:
    """Whether a kick of 1e-6 m/s grows: largest gap of the last quarter of the run against that of the second."""
    peaks = np.zeros(4)
    with Simulation(model, DT, Penalty(rule=rule), record_every=ticks + 1) as simulation:
        kick(simulation, 1e-6)
        for tick in range(ticks):
            try:
                simulation.step()
            except Diverged:
                return True
            gap = max(
                max(np.abs(j.error[: j.count]).max(), DT * np.abs(j.rate[: j.count]).max())
                for j in simulation.system.joints
            )
            if not gap < 1e-5:  # ten thousand times what the kick opens
                return True
            peaks[4 * tick // ticks] = max(peaks[4 * tick // ticks], gap)
    return bool(peaks[3] > GROWN * peaks[1] and peaks[3] > FADED * peaks[0])


def bisect(unstable: Callable[[float], bool], low: float, high: float, rounds: int) -> float:
    """Where it begins to grow."""
    if unstable(low):
        raise ValueError(f"it grows at {low} already; start lower")
    while not unstable(high):
        low, high = high, 1.5 * high
    for _ in range(rounds):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if unstable(middle) else (middle, high)
    return 0.5 * (low + high)


# --- models -------------------------------------------------------------------------------------------------


def still(*parts: tuple[str, Any]) -> Assembly:
    """Bodies without gravity."""
    model = Assembly(gravity=(0.0, 0.0, 0.0))
    for name, body in parts:
        model.add(name, body)
    return model


def pinned_mass() -> Assembly:
    """One scalar constraint: the pin sees 1 kg across the rod."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add("rod", PointMassRod((0, 0), (1, 0), (1.0, 1.0)))
    model.join("pin", Spherical(), "ground", "rod.start")
    return model


def chain(bodies: int, joint: Joint, radius: float) -> Assembly:
    """Rods of 0.1 m and 0.1 kg on a crooked line, hung from the ground."""
    rng = np.random.default_rng(bodies)
    steps = rng.normal(loc=(2, 0, 0), size=(bodies, 3))
    steps *= 0.1 / np.linalg.norm(steps, axis=1, keepdims=True)
    points = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    model = still(*((f"rod{k}", Rod(tuple(points[k]), tuple(points[k + 1]), 0.1, radius)) for k in range(bodies)))
    model.join("joint0", joint, "ground", "rod0.start")
    for k in range(1, bodies):
        model.join(f"joint{k}", joint, f"rod{k - 1}.end", f"rod{k}.start")
    return model


def redundant_loop() -> Assembly:
    """A plane four-bar in space with four hinges and, on top of one of them, a ball."""
    corners = [(0, 0, 0), (0, 0, 0.4), (0.4, 0, 0.4), (0.4, 0, 0)]
    model = still(*((name, Rod(corners[k], corners[k + 1], 1.0 + k, 0.03)) for k, name in enumerate("abc")))
    ports = ["ground", "a.start", "a.end", "b.start", "b.end", "c.start", "c.end", "ground"]
    for k in range(4):
        model.join(f"hinge{k}", Revolute(axis=(0, 1, 0)), ports[2 * k], ports[2 * k + 1])
    model.join("twice", Spherical(), "a.end", "b.start")
    return model


def sprung(growth: float, stiffness: float = 3e4, damping: float = 10.0) -> Assembly:
    """Three rods on balls and a stiff spring with its damper, whose k and c grow with the rest."""
    model = chain(3, Spherical(), 0.01)
    spring = SpringDamper(stiffness=growth**2 * stiffness, damping=growth * damping)
    model.apply("spring", spring, "rod0.end", "rod2.end")
    return model


def sleigh() -> Assembly:
    """A body on a skate."""
    model = Assembly(gravity=(0.0, 0.0))
    model.add("sleigh", RigidBody(mass=1.3, inertia=0.2, centre=(0.25, 0), ports={"blade": (0, 0)}))
    model.join("skate", KnifeEdge(normal=(0, 1)), "sleigh.blade", "ground")
    return model


SIZES = (2, 3, 10, 100)
KINDS: dict[str, tuple[Joint, float]] = {
    "balls": (Spherical(), 0.005),
    "hinges": (Revolute(axis=(0.1, 1.0, 0.2)), 0.01),
    "welds, slender": (Fixed(), 0.0005),
}


def families() -> dict[str, list[tuple[str, Builder]]]:
    """All models by family, each as a function of how far the step has grown."""

    def of(joint: Joint, radius: float, n: int) -> Builder:
        return lambda growth: chain(n, joint, radius)

    found = {kind: [(f"{n} {kind}", of(*how, n)) for n in SIZES] for kind, how in KINDS.items()}
    found["redundant loop"] = [("redundant loop", lambda growth: redundant_loop())]
    found["spring and damper"] = [("spring and damper", sprung)]
    found["skate"] = [("skate", lambda growth: sleigh())]
    return found


# --- pictures -----------------------------------------------------------------------------------------------


def picture(width: float, height: float) -> tuple[Figure, Any]:
    """A figure with one clean pair of axes."""
    figure = Figure(figsize=(width, height), facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.grid(color="#e6e6e6", lw=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, length=3, labelsize=11)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    return figure, axes


def save(figure: Figure, name: str) -> None:
    """Beside this file."""
    figure.savefig(HERE / name, dpi=120, facecolor="white", metadata={"Software": None})
    print(f"{name}: {(HERE / name).stat().st_size / 1000:.0f} kB")


def draw_scalar() -> None:
    """The limit of one isolated row over the damping ratio."""
    eps = np.array([0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0])

    def limit(e: float) -> float:
        k = np.eye(2)[None] / DT**2  # on 1 kg

        def unstable(omega: float) -> bool:
            return grows(pinned_mass(), held([(omega**2 * k, 2 * e * omega * DT * k)]))

        return bisect(unstable, 0.2, 3.2, 12)

    measured = np.array([limit(e) for e in eps])
    predicted = 2 * (np.sqrt(1 + eps**2) - eps)
    print("scalar: eps", eps, "measured", measured.round(4), "formula", predicted.round(4))
    print(f"scalar: largest deviation {np.abs(measured / predicted - 1).max():.1e}")
    figure, axes = picture(8.0, 4.6)
    line = np.linspace(0, 1.05, 300)
    curve = 2 * (np.sqrt(1 + line**2) - line)
    axes.fill_between(line, curve, color=BLUE, alpha=0.10, lw=0)
    axes.plot(line, curve, color=BLUE, lw=2.2)
    axes.plot(eps, measured, "o", ms=8, mfc="white", mec=VERMILION, mew=2.0, zorder=4)
    axes.axhline(np.pi, color=INK, lw=1.5, ls=(0, (5, 3)))
    axes.plot(line, np.full_like(line, 0.6 * np.pi), color=INK, lw=1.2, ls=":")
    axes.text(
        1.04, np.pi - 0.06, "criterion of the thesis: δ < 0.5, ωΔt < π", ha="right", va="top", fontsize=12, color=INK
    )
    axes.text(1.04, 0.6 * np.pi + 0.05, "its choice, δ = 0.3", ha="right", va="bottom", fontsize=12, color=INK)
    axes.text(0.4, 1.47, "2 (√(1+ε²) − ε)", color=BLUE, fontsize=13, fontweight="bold")
    axes.text(0.03, 0.35, "stable", color=BLUE, fontsize=13)
    axes.annotate(
        "divergence measured", (0.75, measured[7]), xytext=(0.72, 1.3), fontsize=12, color=VERMILION, fontweight="bold",
        ha="left", arrowprops={"arrowstyle": "-", "color": VERMILION, "shrinkB": 6},
    )  # fmt: skip
    axes.set(xlim=(0, 1.05), ylim=(0, 3.35))
    axes.set_xlabel("damping ratio ε", fontsize=12)
    axes.set_ylabel("largest stable ωΔt of one row", fontsize=12)
    save(figure, "bound-scalar.png")


def draw_models() -> None:
    """Measured divergence against the exact and the local bound."""
    figure, axes = picture(8.0, 6.2)
    style = dict(zip(families(), zip("osD^vP", (BLUE, VERMILION, GREEN, PURPLE, ORANGE, INK)), strict=False))
    line = np.array([0.3, 1.1])
    axes.fill_between(line, 0.97 * line, 1.03 * line, color=PALE, alpha=0.2, lw=0)
    axes.plot(line, line, color=PALE, lw=1.2)
    worst, lost = 0.0, []
    for family, models in families().items():
        marker, colour = style[family]
        for name, build in models:
            for eps in DAMPINGS if family != "skate" else (0.0,):
                kept = blocks_of(build(1.0), Isolated(eps))
                with Simulation(build(1.0), DT, Penalty(rule=kept)) as simulation:
                    exact = exact_margin(simulation.system, DT)
                    local = min(stability_margins(simulation.system, DT).values())

                def unstable(mu: float, kept: Held = kept, build: Builder = build) -> bool:
                    return grows(build(mu), kept.grown(mu))

                measured = bisect(unstable, 0.4, 1.1, 9)
                worst = max(worst, abs(measured / exact - 1))
                lost.append(local / measured)
                print(f"models: {name:20s} eps {eps:4.2f} measured {measured:.4f} exact {exact:.4f} local {local:.4f}")
                axes.plot([exact, local], [measured, measured], color=colour, lw=0.8, alpha=0.45, zorder=2)
                axes.plot(local, measured, marker, ms=5, mfc="white", mec=colour, mew=1.2, zorder=3)
                axes.plot(exact, measured, marker, ms=8, mfc=colour, mec="white", mew=0.7, zorder=4)
        axes.plot([], [], marker, color=colour, ms=8, label=family if family not in KINDS else f"chains, {family}")
    print(
        f"models: {len(lost)} cases, largest |measured/exact - 1| {worst:.4f}; local/measured {min(lost):.3f} to {max(lost):.3f}"
    )
    axes.plot([], [], "o", ms=8, color=PALE, label="filled: exact bound")
    axes.plot([], [], "o", ms=5, mfc="white", mec=PALE, mew=1.2, label="open: local bound")
    axes.legend(loc="upper left", fontsize=11, frameon=False)
    axes.set(xlim=(0.36, 1.04), ylim=(0.57, 1.04))
    axes.text(0.785, 0.735, "measured = predicted, ±3 %", fontsize=12, color=INK)
    axes.set_xlabel("predicted limit (1: every joint at the limit it has alone)", fontsize=12)
    axes.set_ylabel("limit measured by divergence", fontsize=12)
    save(figure, "bound-models.png")


def draw_random() -> None:
    """What the local rule gives away on random mechanisms."""
    shares = []
    for seed in range(RANDOM):
        with Simulation(random_assembly(seed, most=10), DT, Penalty(rule=Stable(safety=1.0))) as simulation:
            shares.append(1.0 / exact_margin(simulation.system, DT))
    share = np.array(shares)
    unsafe = int((share > 1.0 + 1e-6).sum())
    low, middle, high = np.percentile(share, [5, 50, 95])
    print(
        f"random: {RANDOM} mechanisms, local/exact {share.min():.3f} to {share.max():.4f}, "
        f"median {middle:.3f}, 5 % {low:.3f}, 95 % {high:.3f}; unsafe {unsafe}"
    )
    figure, axes = picture(8.0, 4.2)
    bins = np.arange(np.floor(share.min() / 0.025) * 0.025, 1.0251, 0.025)
    drawn = np.where(share <= 1.0 + 1e-6, np.minimum(share, 1.0 - 1e-6), share)  # one, to rounding, is not above one
    axes.hist(drawn, bins=list(bins), color=BLUE, edgecolor="white", lw=0.8)
    axes.axvline(1.0, color=VERMILION, lw=2.0)
    top = axes.get_ylim()[1]
    axes.axvspan(1.0, 1.08, color=VERMILION, alpha=0.12, lw=0)
    axes.text(
        1.01, 0.95 * top, f"unsafe:\n{unsafe or 'none'}", color=VERMILION, fontsize=12, va="top", fontweight="bold"
    )
    axes.axvline(float(middle), color=INK, lw=1.5, ls=(0, (5, 3)))
    axes.text(middle - 0.006, 0.97 * top, f"median {middle:.2f}", fontsize=12, color=INK, va="top", ha="right")
    axes.set(xlim=(bins[0] - 0.01, 1.08), ylim=(0, top))
    axes.set_xlabel("local rule / exact bound, as step at equal stiffness", fontsize=12)
    axes.set_ylabel(f"of {RANDOM} random mechanisms", fontsize=12)
    save(figure, "bound-random.png")


# --- what happens for … -------------------------------------------------------------------------------------


def turned(angle: float, points: Iterable[Sequence[float]]) -> list[tuple[float, ...]]:
    """Points turned about z."""
    c, s = np.cos(angle), np.sin(angle)
    return [tuple(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.asarray(p, float)) for p in points]


def welded(angle: float, spin: float = 0.0) -> Assembly:
    """Two thin rods in one line, welded, in free flight; turned about z by an angle [rad], spinning [rad/s]."""
    points = turned(angle, [(-0.1, 0, 0), (0, 0, 0), (0.1, 0, 0)])
    across = turned(angle, [(0, 0.05 * spin, 0)])[0]
    model = still()
    for name, k, sign in (("a", 0, -1.0), ("b", 1, 1.0)):
        speed = tuple(sign * x for x in across)
        model.add(name, Rod(points[k], points[k + 1], 0.1, 5e-4, velocity=speed, angular_velocity=(0, 0, spin)))
    model.join("weld", Fixed(), "a.end", "b.start")
    return model


def say_rotations() -> None:
    """Scalar seen masses per row against the matrix, and rows that turn."""
    for degrees in (0.0, 10.0):
        with Simulation(welded(np.radians(degrees)), DT, Penalty(rule=Stable())) as simulation:
            joints = next(simulation.system.joints)
            simulation.system.respond()
            joints.compute_compliance(simulation.system.elements)
            w = joints.compliance[0][3:, 3:]
        tilt = np.array([-np.sin(np.radians(degrees)), np.cos(np.radians(degrees)), 0.0])  # about an axis across
        matrix = tilt @ np.linalg.inv(w) @ tilt
        rows = tilt @ np.diag(1.0 / np.diag(w)) @ tilt
        print(
            f"weld at {degrees:g} deg: tilt stiffness with one number per row / with the matrix = {rows / matrix:.5f}"
        )
    kept = blocks_of(welded(0.0), Stable())
    for degrees in (0.0, 1.0, 10.0, 90.0):
        with Simulation(welded(np.radians(degrees)), DT, Penalty(rule=kept)) as simulation:
            old = exact_margin(simulation.system, DT)
        with Simulation(welded(np.radians(degrees)), DT) as simulation:
            fresh = exact_margin(simulation.system, DT)
        print(f"weld turned {degrees:g} deg: exact margin {old:.4f} with stiffness kept, {fresh:.4f} with it refreshed")
    for label, rule in (("kept", kept), ("refreshed", Stable())):
        with Simulation(welded(0.0, 1.0), DT, Penalty(rule=rule), record_every=10_000) as simulation:
            joints = next(simulation.system.joints)
            kick(simulation, 1e-9)
            while simulation.time < 6.0 and np.abs(joints.error[0]).max() < 1e-3:
                simulation.step()
            gap = np.abs(joints.error[0]).max()
            print(f"weld spinning at 1 rad/s, {label}: error {gap:.1e} after {np.degrees(simulation.time):.1f} deg")
    for bodies in (10, 100):
        model = chain(bodies, KINDS["hinges"][0], KINDS["hinges"][1])
        seconds = []
        for rule in (blocks_of(model, Stable()), Stable()):
            with Simulation(model, DT, Penalty(rule=rule), record_every=10_000) as simulation:
                runs = []
                for _ in range(5):
                    started = time.perf_counter()
                    for _ in range(300):
                        simulation.step()
                    runs.append((time.perf_counter() - started) / 300)
                seconds.append(min(runs))
        old, fresh = (1e6 * s for s in seconds)
        print(f"chain of {bodies} hinges: {old:.0f} us a tick with stiffness kept, {fresh:.0f} us refreshed")


def between(light: float, *, hang: bool) -> Assembly:
    """1 kg, a light rod, 1 kg: 0.3 m each, hanging at rest or released level."""
    model = Assembly(gravity=(0.0, 0.0, -9.81))
    along = np.array([0, 0, -0.3]) if hang else np.array([0.3, 0, 0])
    for k, mass in enumerate((1.0, light, 1.0)):
        model.add(f"rod{k}", Rod(tuple(k * along), tuple((k + 1) * along), mass, 0.0))
    model.join("joint0", Spherical(), "ground", "rod0.start")
    for k in (1, 2):
        model.join(f"joint{k}", Spherical(), f"rod{k - 1}.end", f"rod{k}.start")
    return model


def say_light() -> None:
    """A light body between heavy ones: the bound, the gap under load, the shape of the light body."""
    for light in (1.0, 1e-1, 1e-2, 3e-3, 1e-3):
        with Simulation(between(light, hang=True), DT, Penalty(rule=Stable(safety=1.0))) as simulation:
            exact = exact_margin(simulation.system, DT)
        run = Simulation(between(light, hang=True), DT).run(1.0)
        gap = abs(run.violation("joint2")[500:, 2].mean())
        shapes = []
        for iterations in (1, 2, 3):
            internal = replace(InternalGains(), iterations=iterations)
            try:
                level = Simulation(between(light, hang=False), DT, Penalty(internal=internal)).run(1.0)
                shapes.append(f"{np.abs(level.internal_violation('rod1')).max() / 0.3**2:.1e}")
            except Diverged:
                shapes.append("diverged")
        print(
            f"light body {light:g} kg: exact/local {exact:.3f}; gap {gap:.2e} m under 9.81 N, "
            f"gap m/(F dt^2) = {gap * light / 9.81 / DT**2:.2f}; length error, 1, 2 and 3 iterations {', '.join(shapes)}"
        )


def say_forces() -> None:
    """A spring, a damper and a skate, each alone, against E < 4."""

    def spring_grows(stiffness: float, damping: float) -> bool:
        model = still(("m", PointMassRod((0, 0, 0), (1, 0, 0), (1.0, 1.0))))
        model.apply("s", SpringDamper(stiffness=stiffness, damping=damping), "ground", "m.start", at=(-1.0, 0, 0))
        with Simulation(model, DT, record_every=TICKS + 1) as simulation:
            v = next(simulation.system.bodies).state()["v"]
            v[0, :, 0] += 1e-6
            peaks = np.zeros(4)
            for tick in range(TICKS):
                try:
                    simulation.step()
                except Diverged:
                    return True
                speed = np.abs(v[0, :, 0]).max()
                peaks[4 * tick // TICKS] = max(peaks[4 * tick // TICKS], speed)
        return bool(peaks[3] > 1.5 * peaks[1])

    two = 2.0 / DT**2  # the line sees both masses
    k = bisect(lambda x: spring_grows(x * two, 0.0), 1.0, 8.0, 12)
    c = bisect(lambda x: spring_grows(0.0, x * 2.0 / DT), 0.2, 4.0, 12)
    print(f"spring alone: diverges at dt^2 k W = {k:.3f}; damper alone: at dt c W = {c:.3f}, 4 dt c W = {4 * c:.3f}")
    for stiffness in (0.0, 2e4, 1e5):
        model = chain(3, Spherical(), 0.01)
        if stiffness:
            model.apply("spring", SpringDamper(stiffness=stiffness), "rod0.end", "rod2.end")
        with Simulation(model, DT, Penalty(rule=Stable(safety=1.0))) as simulation:
            stack = next(simulation.system.joints)
            taken = simulation.system.force_bounds(DT).max() if stiffness else 0.0
            print(
                f"spring of {stiffness:g} N/m: takes {taken:.2f} of 4; joint stiffness {stack.stiffness[0, 0, 0]:.3g}, "
                f"{stack.stiffness[1, 0, 0]:.3g}; exact margin {exact_margin(simulation.system, DT):.3f}"
            )
    kept = blocks_of(sleigh(), Isolated())
    skate = bisect(lambda mu: grows(sleigh(), kept.grown(mu)), 0.4, 1.2, 12)
    with Simulation(sleigh(), DT) as simulation:
        rule = exact_margin(simulation.system, DT)
    print(f"skate: diverges at dt C W = {2 * skate:.3f}; the rule stands at {2 / rule:.3f}")


def say_mixed() -> None:
    """Springs, joint dampers and force dampers on one row: roots of its cubic against kappa + 2 c + 4 d < 4."""
    rng = np.random.default_rng(0)
    wrong, cases = 0, 20_000
    for _ in range(cases):
        share = rng.random(3)
        share *= (3.0 + 2.0 * rng.random()) / share.sum()
        k, c, d = share / [1.0, 2.0, 4.0]
        # z (z - 1)^2 + z^2 k + (z - 1) (z c + (3 z - 1) d / 2)
        roots = np.roots([1.0, k + c + 1.5 * d - 2.0, 1.0 - c - 2.0 * d, 0.5 * d])
        wrong += bool((abs(roots).max() > 1.0) != (share.sum() > 4.0))
    print(f"one row with spring, joint damper and force damper: {wrong} of {cases} told wrong")


def say_loop() -> None:
    """Redundant joints: how many locks repeat others, and what the rule gives away."""
    with Simulation(redundant_loop(), DT) as simulation:
        found = examine(simulation)
        print(f"redundant loop: {found.locks} locks, {found.redundancy} of them repeat others")
    for eps in DAMPINGS:
        with Simulation(redundant_loop(), DT, Penalty(rule=Stable(safety=1.0, damping=eps))) as simulation:
            print(f"redundant loop, eps {eps}: exact/local at the rule {exact_margin(simulation.system, DT):.3f}")


if __name__ == "__main__":
    began = time.perf_counter()
    for part in (draw_scalar, draw_models, draw_random, say_rotations, say_loop, say_light, say_forces, say_mixed):
        part()
        print(f"  [{part.__name__}: {time.perf_counter() - began:.0f} s]", flush=True)
