"""Components from elsewhere: FMUs (FMI 2 and 3) as bodies and forces, held by mechanical ports. Needs the extra `fmi`."""

from components.fmi.body import Fmu
from components.fmi.command import Command
from components.fmi.network import FmuNetwork
from components.fmi.port import PowerPort

__all__ = ["Command", "Fmu", "FmuNetwork", "PowerPort"]
