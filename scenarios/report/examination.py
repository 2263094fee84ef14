"""An examination as tables a mechanical engineer likes to read."""

from __future__ import annotations

from math import inf

from rich.console import Console
from rich.table import Table
from rich.text import Text

from coordinator.checks.examination import MAX_OWN_COMPLIANCE_SHARE, Examination
from scenarios.report.summary import load_text, margin_text, plain_table

MAX_JOINTS = 12  # joints shown, tightest first


def print_examination(console: Console, title: str, dt: float, coupling: str, found: Examination) -> None:
    """Masses, freedoms, joints, springs and advice."""
    for part in (_overview(title, dt, coupling, found), _joints(found), _springs(found)):
        if part is not None:
            console.print(part)
    for line in found.advice:
        console.print(f"- {line}", markup=False, highlight=False, soft_wrap=True)


def _overview(title: str, dt: float, coupling: str, found: Examination) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    heaviest = sorted(found.masses.items(), key=lambda item: -item[1])[:4]
    shown = ", ".join(f"{name} {mass:.4g} kg" for name, mass in heaviest) + (" …" if len(found.masses) > 4 else "")
    rows = {
        "model": title,
        "step": f"{dt:g} s",
        "coupling": coupling,
        "bodies": f"{len(found.masses)}, together {sum(found.masses.values()):.4g} kg ({shown})",
        "degrees of freedom": f"{found.freedoms} of the free bodies, {found.locks} locked by {_joint_count(len(found.joints))}",
    }
    if found.mobility is not None:
        again = (
            f"; {found.redundancy} of the locks repeat others (modular mobility names them)" if found.redundancy else ""
        )
        rows["mobility"] = f"{found.mobility} at this pose{again}"
    for key, value in rows.items():
        table.add_row(Text(key), Text(value))
    return table


def _joints(found: Examination) -> Table | None:
    if not found.joints:
        return None
    shown = sorted(found.joints, key=lambda joint: joint.margin)[:MAX_JOINTS]
    left = (
        f" ({len(found.joints) - MAX_JOINTS} of {len(found.joints)} not shown, tightest first)"
        if len(found.joints) > MAX_JOINTS
        else ""
    )
    table = plain_table(f"Joints{left}", "joint", "type")
    shares = any(joint.share is not None for joint in found.joints)  # of joints with flexible bodies alone
    for heading in (
        "locks",
        "seen\nmass\n[kg]",
        "seen\ninertia\n[kg m²]",
        "stiffness\n[N/m]",
        "gap per\n100 N [m]",
        *(["own share\nof com-\npliance"] if shares else []),
        "margin",
    ):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    for joint in shown:
        numbers = (joint.seen_mass, joint.seen_inertia, joint.stiffness, joint.give)
        cells = [joint.name, joint.kind.partition(":")[2], str(joint.locks)]
        cells += ["-" if number is None else f"{number:.3g}" for number in numbers]
        if shares:
            cells.append("-" if joint.share is None else f"{joint.share:.1%}")
        doubtful = joint.margin < 1 or (joint.share or 0.0) > MAX_OWN_COMPLIANCE_SHARE
        limit = "no limit" if joint.margin == inf else margin_text(joint.margin)
        cells.append(limit + load_text(joint.carrier))
        table.add_row(*(Text(cell) for cell in cells), style="yellow" if doubtful else "")
    return table


def _springs(found: Examination) -> Table | None:
    if not found.springs and not found.implicit and not found.friction:
        return None
    table = plain_table("Springs and dampers", "name")
    table.add_column(Text("margin"), justify="right")
    for name, margin in sorted(found.springs.items(), key=lambda item: item[1])[:MAX_JOINTS]:
        table.add_row(Text(name), Text(margin_text(margin)), style="yellow" if margin < 1 else "")
    for name, step in list(found.implicit.items())[:MAX_JOINTS]:
        table.add_row(Text(name), Text(f"no limit: implicit (resolved from {step:.2g} s on; what is faster is damped)"))
    for name in found.friction[:MAX_JOINTS]:
        table.add_row(
            Text(name), Text("no limit: dry friction (a joint while it sticks; where it slides is located in the step)")
        )
    return table


def _joint_count(count: int) -> str:
    return f"{count} joint" if count == 1 else f"{count} joints"
