"""Small mechanisms with dry friction."""

import numpy as np

from components import (
    Contact,
    DrivenTranslation,
    Friction,
    HalfSpace,
    Prismatic,
    Ramp,
    Revolute,
    RigidBody,
    Sphere,
    TableSpring,
)
from modular import Assembly
from rubbing_chain import RubbingChain

X = (1.0, 0.0)
K, M, STATIC, SLIDING, BELT = 40.0, 1.5, 9.0, 5.0, 0.3  # of a block on a belt


def body(model, name, at, mass=1.0, inertia=0.1, velocity=(0.0, 0.0), **settings):
    """One with a port in its centre."""
    model.add(name, RigidBody(mass=mass, inertia=inertia, centre=at, ports={"p": at}, velocity=velocity, **settings))


def slider(name, model, at=(0.0, 0.0), axis=X, **settings):
    """A body on a guide."""
    body(model, name, at, **settings)
    model.join(f"{name}-guide", Prismatic(axis=axis), "ground", f"{name}.p")


def sprung(stiffness, rest=0.0):
    """A straight spring along x."""
    places = (rest - 1.0, rest + 1.0)
    return TableSpring(places, (-stiffness, stiffness), measure="way", axis=X)


def rubs(dry, axis=X, **settings):
    """Friction along x."""
    return Friction(dry, measure="way", axis=axis, **settings)


def on_a_belt():
    """A block with a spring on a belt that goes on, and both begin together."""
    model = Assembly(gravity=(0.0, 0.0))
    slider("block", model, mass=M, velocity=(BELT, 0.0))
    slider("belt", model, at=(0.0, -0.1), mass=2.0, velocity=(BELT, 0.0))
    model.join("drive", DrivenTranslation(Ramp(BELT), axis=X), "ground", "belt.p")
    model.apply("spring", sprung(K), "ground", "block.p")
    model.apply("rub", rubs(SLIDING, static=STATIC), "belt.p", "block.p")
    return model


def hung(chain):
    """Links of a chain as bodies."""
    model, at, velocity = Assembly(gravity=(0.0, -9.81)), np.zeros(2), np.zeros(2)
    for k in range(chain.count):
        along = np.array([np.cos(chain.angles[k]), np.sin(chain.angles[k])]) * chain.lengths[k]
        swing = chain.rates[k] * np.array([-along[1], along[0]])
        link = RigidBody(
            mass=float(chain.masses[k]), inertia=float(chain.inertias[k]), centre=tuple(at + 0.5 * along),
            ports={"a": tuple(at), "b": tuple(at + along)}, velocity=tuple(velocity + 0.5 * swing),
            angular_velocity=float(chain.rates[k]),
        )  # fmt: skip
        model.add(f"link{k}", link)
        before = "ground" if k == 0 else f"link{k - 1}.b"
        model.join(f"hinge{k}", Revolute(), before, f"link{k}.a")
        model.apply("rub" if k == 0 else f"rub{k}", Friction(float(chain.dry[k])), before, f"link{k}.a")
        at, velocity = at + along, velocity + swing
    return model


def drawn(seed):
    """A chain by lot, at rest or thrown, with friction that holds it or not."""
    lot = np.random.default_rng(seed)
    count = int(lot.integers(1, 4))
    lengths, masses = lot.uniform(0.2, 1.0, count), lot.uniform(0.2, 2.0, count)
    beyond = np.cumsum((masses * lengths)[::-1])[::-1]
    dry, inertias = 0.5 * 9.81 * beyond * lot.uniform(0.03, 0.9, count), masses * lengths**2 / 12.0
    thrown = lot.normal(0.0, 3.0, count) * (lot.random() < 0.7)
    return RubbingChain(lengths, masses, inertias, dry, lot.uniform(-3.0, 3.0, count), thrown)


def car(brake, mu):
    """A wheel on a road that carries 20 kg and rolls, with a brake between them."""
    model, radius = Assembly(gravity=(0.0, -9.81)), 0.3
    wheel = (0.0, radius)
    body(model, "wheel", wheel, 5.0, 0.5 * 5.0 * radius**2, (3.0, 0.0), angular_velocity=-3.0 / radius)
    body(model, "car", wheel, 20.0, 5.0, (3.0, 0.0))
    slider("rail", model, at=(0.0, 1.0), mass=0.5, velocity=(3.0, 0.0))
    model.join("axle", Revolute(), "car.p", "wheel.p")
    model.join("upright", Prismatic(axis=(0.0, 1.0)), "rail.p", "car.p")
    model.apply("rub", Friction(brake), "car.p", "wheel.p")
    model.apply("road", Contact(HalfSpace(), Sphere(radius), mu), "ground", "wheel.p")
    return model


def landing(seed, dry):
    """Four bars in a row whose hinges rub, let go above the ground."""
    lot, model = np.random.default_rng(seed), Assembly(gravity=(0.0, -9.81))
    start, turned = np.array([0.0, 0.6]), lot.uniform(-0.5, 0.5)
    for k in range(4):
        turned += lot.uniform(-0.8, 0.8)
        end = start + 0.3 * np.array([np.cos(turned), np.sin(turned)])
        ports = {"a": tuple(start), "b": tuple(end)}
        model.add(f"bar{k}", RigidBody(mass=1.0, inertia=0.0075, centre=tuple(0.5 * (start + end)), ports=ports))
        if k > 0:
            model.join(f"hinge{k}", Revolute(), f"bar{k - 1}.b", f"bar{k}.a")
            model.apply(f"rub{k}", Friction(dry), joint=f"hinge{k}")
        model.apply(f"foot{k}", Contact(HalfSpace(), Sphere(0.04), 0.5, 0.2), "ground", f"bar{k}.b")
        start = end
    model.apply("foot", Contact(HalfSpace(), Sphere(0.04), 0.5, 0.2), "ground", "bar0.a")
    return model
