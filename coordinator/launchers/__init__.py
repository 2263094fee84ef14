"""Launchers: how worker processes come to life, and the news of their death; one file per kind."""

from coordinator.launchers.by_hand import ByHand
from coordinator.launchers.launcher import Exited, Launcher, Order
from coordinator.launchers.subprocess import Subprocess

__all__ = ["ByHand", "Exited", "Launcher", "Order", "Subprocess"]
