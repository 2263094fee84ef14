"""What can be asked of the mechanism in the page: how it swings, shown in motion, and which joints share a load."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from coordinator.laboratory.acts import AskLoads, Doing, Receipt, ShowMode
from coordinator.laboratory.snapshot import Snapshot
from scenarios.laboratory.colours import SHARED
from scenarios.laboratory.fields import put
from scenarios.laboratory.scene import Scene
from scenarios.laboratory.words import block, dim

NONE = "none"
SLOWEST = "the slowest"


class CallClient:
    """A folder of the main panel."""

    def __init__(self, server: Any, post: Callable[[Doing], Receipt], scene: Scene) -> None:
        self.post, self.scene = post, scene
        gui = server.gui
        with gui.add_folder("Ask", expand_by_default=False, order=85):
            self.modes = gui.add_dropdown(
                "mode", (NONE, SLOWEST), hint="How it swings about where it would come to rest, as a ghost in motion"
            )
            self.swinging = gui.add_html("")
            loads = gui.add_button(
                "Who shares loads", icon="scale", color="gray", hint="Freedoms, and joints that share a load"
            )
            self.sharing = gui.add_html("")

        async def chosen(event: Any) -> None:
            if event.client is not None:  # and not the page itself, which says what swings
                self.choose(self.modes.value)

        async def asked(_: Any) -> None:
            scene.colours = SHARED
            post(AskLoads())

        self.modes.on_update(chosen)
        loads.on_click(asked)

    def choose(self, words: str) -> None:
        """A mode by what is said of it."""
        if words == NONE:
            self.post(ShowMode(None))
        else:
            self.post(ShowMode(0 if words == SLOWEST else int(words.partition(":")[0])))

    def update(self, snapshot: Snapshot) -> None:
        """What holds now: a change of the mechanism takes answers away."""
        answers = snapshot.answers
        options = (NONE, *(answers.modes or (SLOWEST,)))
        if tuple(self.modes.options) != options:
            self.modes.options = options
        swings = NONE if answers.swing is None else answers.swing.words
        waits = self.modes.value == SLOWEST and answers.swing is None and not self._refused(snapshot)
        if self.modes.value != swings and swings in options and not waits:
            self.modes.value = swings
        told = "" if answers.swing is None else f"mode {swings}, one period in {answers.swing.period:.2g} s here"
        put(self.swinging, block(dim(told)) if told else "")
        put(self.sharing, block(dim(answers.mobility)) if answers.mobility else "")

    @staticmethod
    def _refused(snapshot: Snapshot) -> bool:
        return any(notice.kind == "refused" and notice.text.startswith("show mode") for notice in snapshot.notices[-1:])
