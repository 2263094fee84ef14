"""The page: one thread that shows what the session shows, thirty times a second, to everybody who has it open.

Nothing here decides anything: what people do in the page is posted as acts, what they see is the latest snapshot. So the page may
be slow, closed or opened again at any time, and the motion does not know.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

from coordinator.laboratory.acts import Doing, Receipt, Release
from coordinator.laboratory.session import Session
from coordinator.laboratory.snapshot import Snapshot
from scenarios.laboratory.asking import CallClient
from scenarios.laboratory.controls import Controls
from scenarios.laboratory.extras import Extras
from scenarios.laboratory.handling import Handling
from scenarios.laboratory.panels import name_page
from scenarios.laboratory.plots import Plots
from scenarios.laboratory.scene import Scene
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.tree import Tree

MAX_FRAME_RATE = 30.0  # pictures in a second at most
# of the time of its thread that the page may take: a mechanism of a thousand bodies is drawn less often
MAX_THREAD_SHARE = 0.2
PANEL_REFRESH_SECONDS = 0.15  # seconds between two looks at panels and plots
_log = logging.getLogger("modular")


class Page:
    """What is in the browser."""

    def __init__(self, session: Session, server: Any) -> None:
        self.session, self.server = session, server
        self.selection = Selection()
        self.handling = Handling(self.post, self.selection)
        self.pictures = 0  # shown so far
        self.seconds = 0.0  # that they took, in the thread of the page
        self._stop = threading.Event()
        server.gui.configure_theme(show_logo=False, show_share_button=False)
        name_page(server, session.snapshot.plan.title or "modular")
        self.scene = Scene(server, self.handling, self.selection)
        self.scene.stage(session.snapshot)
        self.tree = Tree(server, self.post, self.selection)
        self.controls = Controls(server, self.post, self.selection, self.scene)
        self.plots = Plots(server, self.selection)
        self.controls.hear(self.tree.fields, self.plots.inputs)
        self.asking = CallClient(server, self.post, self.scene)
        self.extras = Extras(server, session, self.scene)
        server.on_client_disconnect(self._gone)
        self._show(session.snapshot, panels=True)
        self._thread = threading.Thread(target=self._run, name="modular-page", daemon=True)

    def start(self) -> Page:
        """Show what comes from now on."""
        self._thread.start()
        return self

    def post(self, act: Doing) -> Receipt:
        """An act of somebody who has the page open."""
        return self.session.post(act)

    def close(self) -> None:
        """Show nothing more."""
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()

    def _gone(self, client: object) -> None:
        """Whoever closes a tab lets go."""
        if self.session.snapshot.held is not None:
            self.post(Release())

    def _run(self) -> None:
        shown: object = None
        panels, next_time, before = 0.0, time.monotonic(), self.seconds
        while not self._stop.is_set():
            next_time = max(
                next_time + max(1.0 / MAX_FRAME_RATE, (self.seconds - before) / MAX_THREAD_SHARE), time.monotonic()
            )
            before = self.seconds
            snapshot = self.session.snapshot
            now = (snapshot.number, self.selection.name, self.scene.colours)
            due = time.monotonic() - panels > PANEL_REFRESH_SECONDS
            try:
                if now != shown or due or snapshot.answers.swing is not None:
                    self._show(snapshot, panels=due)
            except Exception:
                if self._stop.is_set():
                    return
                _log.exception("the page could not be drawn; the motion goes on")
            if due:
                panels = time.monotonic()
            shown = now
            self._stop.wait(max(next_time - time.monotonic(), 0.001))

    def _show(self, snapshot: Snapshot, *, panels: bool) -> None:
        started = time.thread_time()
        self.scene.update(snapshot)
        if panels:
            self.tree.update(snapshot)
            self.controls.update(snapshot)
            self.plots.update(snapshot)
            self.asking.update(snapshot)
            self.extras.update(snapshot)
        self.pictures += 1
        self.seconds += time.thread_time() - started
