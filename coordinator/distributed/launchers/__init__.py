"""Launchers: how worker processes come to life, and the news of their death; one file per kind."""

from coordinator.distributed.launchers.children import Subprocess
from coordinator.distributed.launchers.dask import Dask
from coordinator.distributed.launchers.launcher import ByHand, Exited, Launcher, Order
from coordinator.distributed.launchers.ssh import Ssh

__all__ = ["ByHand", "Dask", "Exited", "Launcher", "Order", "Ssh", "Subprocess"]
