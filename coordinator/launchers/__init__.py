"""Launchers: how worker processes come to life, and the news of their death; one file per kind."""

from coordinator.launchers.launcher import Exited, Launcher, Order
from coordinator.launchers.subprocess import Subprocess

__all__ = ["Exited", "Launcher", "Order", "Subprocess"]
