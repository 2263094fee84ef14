"""The double pendulum of the thesis, cut while it swings: the elbow at 0.5 s, the pivot at 0.8 s.

Séguy 2003, VI.5, Figures VI-28 to VI-31: the lower rod flies on freely, then the upper one. The thesis cut by mouse; here
the cuts are events of the model.
"""

from __future__ import annotations

from modular import Assembly, Cut
from scenarios.systems import double_pendulum

GROUP = "The thesis"


def build(elbow: float = 0.5, pivot: float = 0.8) -> Assembly:
    """elbow, pivot: times of the two cuts [s]."""
    pendulum = double_pendulum.build()
    pendulum.title = "cut-double-pendulum"
    pendulum.at(elbow, Cut("elbow"))
    pendulum.at(pivot, Cut("pivot"))
    pendulum.suggested = {"dt": 1e-4, "until": 1.2}
    return pendulum
