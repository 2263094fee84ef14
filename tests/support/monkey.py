"""Somebody who does anything with a session, sense or nonsense."""

import random

from components import Distance, Fixed, Load, Moment, PointMassRod, Prismatic, Revolute, Rod, SpringDamper
from coordinator import Glued, Mixed, Penalty, Relaxed, Shannon
from coordinator.laboratory.acts import (
    Adjust,
    Drag,
    Follow,
    Grab,
    Pause,
    Redo,
    Release,
    Rename,
    Reset,
    Resume,
    SetCoupling,
    SetGravity,
    SetLimit,
    SetSpeed,
    SetStep,
    Step,
    Undo,
)
from modular import Add, Apply, Cut, Join, Limit, Merge, ModelError, Remove, Unmerge

MOST_BODIES = 12


class Monkey:
    """Draws acts; about a third make no sense."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.number = 0

    def body(self, plan):
        return self.rng.choice([*plan.bodies, "nobody"] if self.rng.random() < 0.9 else ["", "ground", "a.b"])

    def port(self, plan):
        name = self.rng.choice([*plan.bodies, "ground"])
        return name if name == "ground" else f"{name}.{self.rng.choice([*plan.bodies[name].port_names, 'nowhere'])}"

    def joint(self, plan):
        return self.rng.choice([*plan.joints, "nothing"])

    def value(self):
        return self.rng.choice([0.0, -1.0, 1e-3, 0.5, 1.3, 2.0, 10.0, 1e9, float("nan"), float("inf")])

    def point(self):
        return tuple(self.rng.uniform(-2.0, 2.0) for _ in range(self.rng.choice([2, 2, 2, 2, 2, 3, 1])))

    def fresh(self):
        self.number += 1
        return f"new-{self.number}"

    def act(self, plan):
        rng = self.rng
        kind = rng.randrange(24)
        if kind == 0:
            return Cut(self.joint(plan))
        if kind == 1:
            made = rng.choice([Revolute(), Fixed(), Prismatic((1.0, 0.3)), Distance()])
            at = self.point() if rng.random() < 0.2 else None
            return Join(rng.choice([self.fresh(), "elbow", ""]), made, self.port(plan), self.port(plan), at=at)
        if kind == 2 and len(plan.bodies) < MOST_BODIES:
            start, end = self.point(), self.point()
            made = rng.choice([Rod(start, end, mass=self.value()), PointMassRod(start, end, (1.0, 0.5))])
            return Add(rng.choice([self.fresh(), "upper"]), made)
        if kind == 3:
            return Remove(rng.choice([*plan.bodies, *plan.forces, "nothing"]))
        if kind == 4:
            force = rng.choice([Load((self.value(), 1.0)), Moment(self.value()), SpringDamper(self.value(), 0.1)])
            return Apply(self.fresh(), force, tuple(self.port(plan) for _ in range(force.sides)))
        if kind == 5:
            name = self.body(plan)
            known = plan.bodies[name].adjustable() if name in plan.bodies else {"mass": 1.0}
            number = rng.choice([*known, "colour"])
            return Adjust(
                name, {number: rng.choice([self.value(), known.get(number, 1.0) * rng.uniform(0.7, 1.4), "x"])}
            )
        if kind == 6:
            return Rename(
                rng.choice([*plan.bodies, *plan.joints, *plan.forces, "nothing"]),
                rng.choice([self.fresh(), "upper", "a b"]),
            )
        if kind == 7:
            limit = rng.choice([None, Limit(force=rng.uniform(5.0, 500.0)), Limit(force=5.0, window=1e-4)])
            return SetLimit(self.joint(plan), limit)
        if kind == 8:
            return SetGravity(rng.choice([(0.0, -9.81), (1.0, 0.0), (0.0, 0.0, -1.0), (float("nan"), 0.0)]))
        if kind == 9:
            return SetStep(rng.choice([1e-3, 5e-4, 2e-3, 7e-4, 0.0, -1.0, float("nan")]))
        if kind == 10:
            return SetCoupling(
                rng.choice([Penalty(), Glued(), Glued(4), Relaxed(), Mixed(), Penalty(rule=Shannon(delta=0.2))])
            )
        if kind in (11, 12):
            body = self.body(plan)
            ports = [*plan.bodies[body].port_names, ""] if body in plan.bodies else ["start"]
            return Grab(body, rng.choice(ports), rng.choice(ports), rng.choice([rng.uniform(0, 1), self.value()]))
        if kind in (13, 14):
            return Drag(self.point())
        if kind == 15:
            return Release()
        if kind in (16, 17):
            return rng.choice([Undo(), Undo(), Redo()])
        if kind == 18 and rng.random() < 0.3:
            return Reset()
        if kind == 19:
            return rng.choice([Merge, Unmerge])(tuple(self.body(plan) for _ in range(rng.choice([1, 2, 3]))))
        if kind == 20:
            return rng.choice([Pause(), Resume(), SetSpeed(rng.choice([0.0, 1.0, 100.0]))])
        if kind == 21:
            return rng.choice([Follow(), Follow(None)])
        return Step(rng.choice([1, 3, 50]))


def misused(monkey, session):
    """An act, if what was drawn is one at all: some are refused where they are written down."""
    try:
        return monkey.act(session.snapshot.plan)
    except ModelError as error:
        assert str(error)
        return None


def play(session, acts, seed, walked=20):
    """So many acts with some ticks between; how many were refused."""
    monkey, refused = Monkey(seed), 0
    for _ in range(acts):
        act = misused(monkey, session)
        if act is None:
            refused += 1
            continue
        receipt = session.post(act)
        session.turn()
        assert receipt.over
        if receipt.error:
            refused += 1
            assert len(receipt.error) > 10 and "Traceback" not in receipt.error
        session.pace.pause()
        if not session.trouble:
            session.advance(session.simulation.tick + walked, lambda: False)
        if session.trouble:
            back = session.post(Undo() if session.history.undo else Reset())
            session.turn()
            if back.error or session.trouble:
                session.do(Reset())
            assert not session.trouble
    return refused
