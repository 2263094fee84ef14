"""What a study takes from a run: how far it is from the reference, how well joints and bodies hold, what energy drifts."""

from __future__ import annotations

from typing import Any

import numpy as np

from coordinator.record.run import Run
from modular.elements import Array
from modular.errors import ModelError
from scenarios.report.balance import balance
from scenarios.report.page import magnitude, peak


def errors(run: Run, reference: Run) -> dict[str, Any]:
    """Distances of all ports from where the reference has them, at the common sample times.

    `error` [m] is the largest over time and ports, and `error_port` names the port; `final_error` [m] is the largest at the
    end; `velocity_error` [m/s] the largest over time. `ports` gives the largest and the final error of each port [m].
    A body that is missing in one of the two at some time is not judged then.
    """
    every, left = divmod(len(run) - 1, len(reference) - 1)
    if left:
        raise ModelError(
            f"the run has {len(run)} samples, which do not meet the {len(reference)} of its reference; delete the folder "
            "'reference' and begin anew."
        )
    common = slice(None, None, every)
    ports: dict[str, tuple[float, float]] = {}
    fastest = 0.0
    for name, body in run.bodies.items():
        if name not in reference.bodies:
            continue
        for port in body.port_names:
            address = f"{name}.{port}"
            apart = magnitude(run.position(address)[common] - reference.position(address))
            ports[address] = peak(apart), _end(apart)
            fastest = max(fastest, peak(magnitude(run.velocity(address)[common] - reference.velocity(address))))
    if not ports:
        return {}
    worst = max(ports, key=lambda address: ports[address][0])
    return {
        "error": ports[worst][0],
        "error_port": worst,
        "final_error": max(final for _, final in ports.values()),
        "velocity_error": fastest,
        "ports": {address: list(pair) for address, pair in ports.items()},
    }


def quality(run: Run) -> dict[str, Any]:
    """How well a run keeps its own laws, at the sample times.

    `gap` [m] and `turn` [-]: largest error of the joints, as distance and as direction; `internal` [m^2 or -]: of the
    internal constraints of the bodies; `drift` [J]: largest change of energy that no force and no impact accounts for, None
    where bodies came or went; `drift_share`: of the largest kinetic energy.
    """
    gap = turn = 0.0
    for joint in run.joints:
        split, error = run.translations(joint), run.violation(joint)
        gap = max(gap, peak(magnitude(error[:, :split])) if split else 0.0)
        turn = max(turn, peak(magnitude(error[:, split:])) if error.shape[1] > split else 0.0)
    internal = max((peak(run.internal_violation(body)) for body in run.bodies), default=0.0)
    ledger = balance(run)
    drift = None if ledger.changed else peak(ledger.drift)
    share = drift / ledger.scale if drift is not None and ledger.scale > 0 else None
    return {"gap": gap, "turn": turn, "internal": internal, "drift": drift, "drift_share": share}


def margin(run: Run) -> dict[str, Any]:
    """The tightest stability margin at the start and after events, and whose it is; None where the coupling has no limit."""
    found = [(value, name) for entry in run.margins for name, value in entry["margins"].items() if np.isfinite(value)]
    value, name = min(found, default=(None, None))
    return {"margin": value, "margin_joint": name}


def _end(series: Array) -> float:
    last = float(series[-1])
    return last if np.isfinite(last) else 0.0
