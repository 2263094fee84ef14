"""Launchers: how worker processes come to life, and the news of their death; one file per kind."""

from coordinator.launchers.by_hand import ByHand
from coordinator.launchers.dask import Dask
from coordinator.launchers.launcher import Exited, Launcher, Order
from coordinator.launchers.ssh import Ssh
from coordinator.launchers.subprocess import Subprocess

__all__ = ["ByHand", "Dask", "Exited", "Launcher", "Order", "Ssh", "Subprocess"]
