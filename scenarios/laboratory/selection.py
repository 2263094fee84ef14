"""What is chosen in a page: a component, and the ports that were clicked last."""

from __future__ import annotations


class Selection:
    """Plain attributes: written where somebody clicks, read where the page is drawn."""

    def __init__(self) -> None:
        self.name: str | None = None  # a body, joint or force
        self.ports: list[str] = []  # the last two that were clicked
        self.points: list[tuple[float, ...]] = []  # and where [m]
        self.joint = ""  # the kind of joint that a drag makes; "" is the one that fits

    def choose(self, name: str | None) -> None:
        """A component, or nothing."""
        self.name = name

    def touch(self, port: str, point: tuple[float, ...]) -> None:
        """A port was clicked."""
        self.ports = [*self.ports[-1:], port]
        self.points = [*self.points[-1:], point]

    def clear(self) -> None:
        """Nothing is chosen."""
        self.name, self.ports, self.points = None, [], []
