"""A hanging chain of slender rods on ball joints, let go from the horizontal.

Each rod is 0.1 m long, weighs 0.1 kg and has a radius of 5 mm: a full body of 12 coordinates. With `radius=0` the rods
have no inertia about their axes and are carried by their ends alone.
"""

from __future__ import annotations

from components import Rod, Spherical
from modular import Assembly, ModelError

GROUP = "The thesis"
SAMPLED = 200  # bodies of which every tick is recorded; of longer chains as many numbers, in fewer samples


def build(bodies: int = 10, radius: float = 0.005) -> Assembly:
    """bodies: number of rods; radius: of each [m]."""
    if bodies < 1 or int(bodies) != bodies:
        raise ModelError(f"chain: bodies = {bodies}; give a whole number from 1 on.")
    length, mass = 0.1, 0.1  # [m], [kg]
    chain = Assembly(gravity=(0.0, 0.0, -9.81), title="chain")
    places = [(k * length, 0.0, 0.0) for k in range(bodies + 1)]
    for k in range(bodies):
        chain.add(f"rod{k}", Rod(places[k], places[k + 1], mass, radius))
    ball = Spherical()
    chain.join("hook", ball, "ground", "rod0.start")
    for k in range(1, bodies):
        chain.join(f"ball{k}", ball, f"rod{k - 1}.end", f"rod{k}.start")
    chain.suggested = {"dt": 1e-4, "until": 1.0, "record_every": -(-bodies // SAMPLED)}
    return chain
