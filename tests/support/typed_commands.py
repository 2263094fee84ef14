"""The command line as people type it: `modular`, short runs, a model of their own."""

from command_line import CliRunner
from scenarios.cli import app

PICTURES = {
    "trajectories.png",
    "energy.png",
    "violations.png",
    "ledger.png",
    "reactions.png",
}  # of runs where nothing acts along an axis

OWN = """
from components import PointMassRod, Revolute
from modular import Assembly, Join

def build(length=1.0, late=False):
    swing = Assembly(gravity=(0.0, -9.81))
    swing.add("bar", PointMassRod(start=(0, 0), end=(length, 0), masses=(1.0, 0.5)))
    swing.join("pivot", Revolute(), "ground", "bar.start")
    if late:
        swing.add("far", PointMassRod(start=(3, 0), end=(4, 0), masses=(1.0, 0.5)))
        swing.at(0.01, Join("reach", Revolute(), "bar.end", "far.start"))
    return swing
"""


def modular(*words):
    """What a command answers."""
    return CliRunner().invoke(app, [str(word) for word in words])


def run(*words):
    """A short run without pictures."""
    return modular("run", *words, "--no-plot", *([] if "--until" in words else ["--until", "0.02"]))
