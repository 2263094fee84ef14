"""An FMU of version 2 or 3 stepped by hand through FMPy, with variables by name; run as a program, in a process without modular.

`python stepped.py FILE DT STEPS OUT NAME…` steps it and keeps these variables in OUT; with STATE in the environment it goes on from
the serialised state in that file.
"""

import os
import sys
import tempfile
from pathlib import Path

import numpy as np


class Stepped:
    def __init__(self, file, folder=None, **given):
        from fmpy import extract, read_model_description
        from fmpy.fmi2 import FMU2Slave
        from fmpy.fmi3 import FMU3Slave

        about = read_model_description(file)
        self.two = about.fmiVersion.startswith("2")
        self.references = {one.name: one.valueReference for one in about.modelVariables}
        self.folder = folder or extract(file, tempfile.mkdtemp(dir=Path(file).parent))
        token = about.guid if self.two else about.instantiationToken
        make = FMU2Slave if self.two else FMU3Slave
        self.fmu = make(
            guid=token,
            unzipDirectory=self.folder,
            modelIdentifier=about.coSimulation.modelIdentifier,
            instanceName="one",
        )
        self.fmu.instantiate()
        if self.two:
            self.fmu.setupExperiment(startTime=0.0)
        self.fmu.enterInitializationMode()
        self.tell(**given)
        self.fmu.exitInitializationMode()
        self.time = 0.0

    def tell(self, **given):
        names = [self.references[name] for name in given]
        if names:
            (self.fmu.setReal if self.two else self.fmu.setFloat64)(names, list(given.values()))

    def ask(self, *names):
        return np.array(
            (self.fmu.getReal if self.two else self.fmu.getFloat64)([self.references[name] for name in names])
        )

    def step(self, h):
        self.fmu.doStep(currentCommunicationPoint=self.time, communicationStepSize=h)
        self.time = float(self.ask("time")[0])

    def written(self):
        """Where it stands, as bytes."""
        state = self.fmu.getFMUState()
        try:
            return bytes(self.fmu.serializeFMUState(state))
        finally:
            self.fmu.freeFMUState(state)

    def read(self, content):
        state = self.fmu.deSerializeFMUstate(content) if self.two else self.fmu.deserializeFMUState(content)
        self.fmu.setFMUState(state)
        self.fmu.freeFMUState(state)
        self.time = float(self.ask("time")[0])


class Nothing:
    """Of modular, and of what it is compiled by, nothing can be imported."""

    def find_spec(self, name, path=None, target=None):
        names = ("modular", "components", "coordinator", "scenarios", "numba", "pythonfmu", "pythonfmu3")
        if name.split(".")[0] in names:
            raise ImportError(f"{name} is not to be imported here")


def main(file, dt, steps, out, *names):
    sys.meta_path.insert(0, Nothing())
    one = Stepped(file)
    if "STATE" in os.environ:
        one.read(Path(os.environ["STATE"]).read_bytes())
    rows = [one.ask(*names)]
    for _ in range(int(steps)):
        one.step(float(dt))
        rows.append(one.ask(*names))
    np.save(out, rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
