"""Where all ports of a model go when nothing gives and the step is short: what runs are held against."""

import numpy as np

from coordinator import Glued, Simulation

SAMPLES = 50


def paths(model, run):
    """Of all ports, (ports, samples, d)."""
    return np.array([run.position(f"{name}.{port}") for name, body in model.bodies.items() for port in body.port_names])


def truth(model, until, order=6, samples=SAMPLES):
    """The same without error, at times that are evenly spread from 0 to `until`."""
    every = round(until / samples / 1e-3)
    return paths(model, Simulation(model, 1e-3, Glued(order), record_every=every).run(until))


def off(true, found):
    """The largest distance."""
    return float(np.linalg.norm(true - found, axis=2).max())
