"""Models with bodies of a package that only some processes have; `make` says how such a body is described."""

import json
import sys
import tempfile
import warnings

import scenarios
from by_payload import ByPayload
from components import Load, Revolute, Rod, Spherical, SpringDamper
from coordinator import BlackBox, LeakWarning, Penalty, Shannon, Simulation, resume
from coordinator.continuation.resume import latest
from coordinator.distributed.workers import distributed_run
from coordinator.distributed.workers.worker_pool import InProcessPool
from modular import Add, Apply, Assembly, Crossing, Cut, Diverged, Join, Limit
from modular.component import find_class

DT, UNTIL = 1e-3, 0.12
PORTS = {"plant:Motor": ["shaft"], "plant:Forgetful": ["shaft"], "plant:Beam": ["start", "end"]}


def hung(make, **data):
    """A chain of rods with a motor at its end, and another that flies."""
    model = scenarios.load("chain", bodies=4)
    end = model.bodies["rod3"].end
    model.add("motor", make("plant:Motor", at=end, mass=0.4, **data))
    model.add("flyer", make("plant:Motor", at=(0.0, 2.0, 0.0), velocity=(1.0, 0.0, 0.5)))
    model.join("mount", Spherical(), "rod3.end", "motor.shaft")
    return model


def events(make):
    """Cuts, joins, impacts, a load, a body that comes."""
    model = hung(make)
    model.at(0.02, Cut("ball2"))
    model.at(
        0.04, Join("catch", Spherical(), "ground", "flyer.shaft"), Apply("kick", Load((0.0, 0.0, 2.0)), ["motor.shaft"])
    )
    model.at(0.05, Cut("mount"))
    model.at(0.06, Add("late", make("plant:Motor", at=(1.0, 1.0, 1.0), mass=2.0)))
    model.at(
        0.07,
        Join("rope", Spherical(), "late.shaft", "ground"),
        Apply("pull", SpringDamper(20.0, 0.1), ["late.shaft", "motor.shaft"]),
    )
    model.at(0.09, Cut("catch"))
    return model


def fragile(make):
    """A joint that breaks, a condition on one of our bodies and one on theirs."""
    model = hung(make)
    model.cut("ball1")
    model.join("ball1", Spherical(), "rod0.end", "rod1.start", breaks_at=Limit(force=2.5, window=0.02))
    model.when(Crossing("rod3.end", "z", -0.01), Apply("kick", Load((0.0, 0.0, 2.0)), ["rod3.end"]))
    return model


def crossing(make):
    """A condition on a black box."""
    model = hung(make)
    model.when(Crossing("flyer.shaft", "x", 0.0401), Cut("mount"))
    return model


def beams(make):
    """Compiled bodies elsewhere, with turning joints and a spring."""
    model = Assembly(title="beams")
    model.add("arm", make("plant:Beam", start=(0.0, 0.0, 0.0), end=(0.5, 0.0, 0.1), mass=1.0, radius=0.02))
    model.add("rod", Rod((0.5, 0.0, 0.1), (1.0, 0.0, 0.1), 0.5, 0.02))
    model.add("tip", make("plant:Beam", start=(1.0, 0.0, 0.1), end=(1.2, 0.3, 0.1), mass=0.3, radius=0.01))
    model.join("shoulder", Revolute(axis=(0, 1, 0)), "ground", "arm.start")
    model.join("elbow", Revolute(axis=(0, 1, 0)), "arm.end", "rod.start")
    model.join("wrist", Spherical(), "rod.end", "tip.start")
    model.apply("spring", SpringDamper(30.0, 0.2), "arm.start", "tip.end")
    model.at(0.06, Cut("wrist"))
    return model


def forgetful(make):
    """A motor that does not save."""
    model = Assembly(title="forgetful")
    model.add("rod", Rod((0.0, 0.0, 0.0), (0.5, 0.0, 0.0), 0.5, 0.02))
    model.add("motor", make("plant:Forgetful", at=(0.5, 0.0, 0.0), mass=0.4))
    model.join("hook", Spherical(), "ground", "rod.start")
    model.join("mount", Spherical(), "rod.end", "motor.shaft")
    model.at(0.05, Cut("mount"))
    return model


def diverging(make):
    """A spring too stiff for the step, on a black box."""
    model = hung(make)
    model.apply("bolt", SpringDamper(4e6, 0.0), "rod1.start", "motor.shaft")
    return model


CASES = {
    "hung": (hung, {}),
    "events": (events, {}),
    "often": (events, {"record_every": 1}),
    "fragile": (fragile, {"leak_limit": 1e-7}),
    "crossing": (crossing, {}),
    "beams": (beams, {}),
    "forgetful": (forgetful, {}),
    "diverging": (diverging, {}),
    "thesis": (beams, {"coupling": Penalty(rule=Shannon(delta=0.1))}),
}


def build(case, make, **more):
    """The simulation of a case."""
    model, settings = CASES[case]
    return Simulation(model(make), DT, **{"record_every": 7, **settings}, **more)


def outcome(simulation):
    """What a run comes to, or how it fails."""
    failure = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LeakWarning)
            simulation.run(UNTIL)
    except Diverged as error:
        failure = str(error)
    return {**told(simulation), "failure": failure}


def told(simulation):
    """Everything of a run that must not depend on who computes it."""
    run = simulation.recorded
    margins = [dict(entry["margins"]) for entry in run.margins]
    found = {"digest": run.digest, "events": run.events, "margins": margins, "ticks": simulation.tick, "failure": None}
    return json.loads(json.dumps(found))


def itself(what, **data):
    """A body of a class that is installed here."""
    return find_class(what)(**data)


def boxed(what, **data):
    """The same as a black box."""
    return BlackBox(what, worker="plant", ports=PORTS[what], data=data)


def ways(case, folder):
    """The outcomes of a case where the package is installed: of the class itself, and of black boxes in every way."""
    with build(case, itself) as simulation:
        yield "itself", outcome(simulation)
    with build(case, boxed) as simulation:
        yield "alone", outcome(simulation)
    for pool in (InProcessPool, ByPayload):
        distributed_run.InProcessPool = pool
        with build(case, boxed, workers=2, launcher="here") as simulation:
            yield pool.__name__, outcome(simulation)
    distributed_run.InProcessPool = InProcessPool
    with build(case, boxed) as simulation:
        simulation.run(0.005)
        if case != "forgetful":
            simulation.hire(2, "here")
        yield "hired", outcome(simulation)
    if case in ("events", "often", "beams"):
        with build(case, boxed) as simulation:
            simulation.run(0.045, checkpoints=folder)
        for stop, more in ((0.075, {"workers": 2, "launcher": "here"}), (UNTIL, {})):
            with resume(folder, **more) as simulation:
                simulation.run(stop, checkpoints=latest(folder).checkpoints())
        yield "resumed", told(simulation)


if __name__ == "__main__":
    found = {}
    for case in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            found[case] = dict(ways(case, folder))
    print(json.dumps(found))
