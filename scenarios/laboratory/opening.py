"""Opening a laboratory: a session, a guarded server and a page, and closing them in order.

from scenarios import live
live(simulation)                 # prints the address, opens a browser, and waits until the page is closed
lab = live(simulation, wait=False)
lab.session.do(Cut("elbow"))
"""

from __future__ import annotations

import html
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from coordinator import Simulation
from coordinator.laboratory.acts import Resume
from coordinator.laboratory.session import Session
from modular.assembly import Assembly
from modular.errors import ModelError
from scenarios.steps import DEFAULT_STEP

RELOAD_GRACE_SECONDS = 3.0  # seconds in which a page that was closed may be opened again (reloaded)


class Laboratory:
    """A session that is open in a browser; from then on the session belongs to it."""

    def __init__(self, session: Session, *, host: str = "127.0.0.1", port: int = 0, anywhere: bool = False) -> None:
        from scenarios.laboratory.gate import open_server
        from scenarios.laboratory.page import Page

        self.session = session
        self._ended = threading.Event()
        self._closed = False
        self.gated: Any = None
        try:
            self.gated = open_server(
                host=host, port=port, anywhere=anywhere, label=session.snapshot.plan.title or "modular"
            )
            self.page = Page(session, self.gated.server)
            self.page.controls.on_quit(self.end)
            session.start()
            self.page.start()
        except BaseException:
            if self.gated is not None:
                self.gated.close()
            session.close()
            raise

    @property
    def url(self) -> str:
        """The address, with the token that lets in."""
        return str(self.gated.url)

    @property
    def simulation(self) -> Simulation:
        """The simulation that goes on now; it may be another than the one that was given."""
        return self.session.simulation

    def open_browser(self) -> bool:
        """Whether the user's browser could be started with the page."""
        return bool(self.gated.open_browser())

    def end(self) -> None:
        """Somebody wants it to be over."""
        self._ended.set()

    def wait(self, *, stay: bool = False) -> None:
        """Until it is over: somebody has said so, or the last page was closed; `stay`: that does not count."""
        left: float | None = None
        seen = False
        while not self._ended.wait(0.05):
            there = bool(self.gated.server.get_clients())
            seen = seen or there
            if there or not seen or stay:
                left = None
            elif left is None:
                left = time.monotonic()
            elif time.monotonic() - left > RELOAD_GRACE_SECONDS:
                return

    def close(self) -> None:
        """Close the page, the server and the session, in this order."""
        if self._closed:
            return
        self._closed = True
        self._ended.set()
        self.page.close()
        self._take_leave()
        self.gated.close()
        self.session.close()

    def _take_leave(self) -> None:
        """Whoever still has the page open is told that it is over."""
        where = f"Everything is kept in {self.session.folder}. " if self.session.folder is not None else ""
        there = list(self.gated.server.get_clients().values())
        for client in there:
            client.add_notification("The session is over", f"{where}This tab may be closed.", auto_close_seconds=None)
            client.flush()
        if there:
            time.sleep(0.1)  # so that it arrives

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _repr_html_(self) -> str:
        """A notebook shows where it is."""
        return f'<a href="{html.escape(self.url)}" target="_blank">open the laboratory</a>'


def live(
    simulation: Simulation | Assembly, *, folder: str | Path | None = None, port: int = 0, playing: bool = False,
    speed: float = 1.0, browser: bool = True, wait: bool | None = None,
) -> Laboratory:  # fmt: skip
    """Open a simulation (or a model, with the step that it suggests) in a browser, and act on it while it runs.

    `folder`: where the diary of the session is written, and at the end all that was recorded; `modular replay` repeats it.
    `wait`: until the page is closed, as a script wants it; in a notebook, and at a prompt, it comes back at once.
    """
    if isinstance(simulation, Assembly):
        simulation = Simulation(simulation, simulation.suggested.get("dt", DEFAULT_STEP))
    if not isinstance(simulation, Simulation):
        raise ModelError(f"live: {simulation!r} is not a simulation; give a Simulation(model, dt), or a model.")
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
    lab = Laboratory(Session(simulation, folder, speed=speed), port=port)
    session = lab.session
    print(lab.url, flush=True)
    if playing:
        session.post(Resume())
    if browser:
        lab.open_browser()
    if wait if wait is not None else not (hasattr(sys, "ps1") or "ipykernel" in sys.modules):
        try:
            lab.wait()
        except KeyboardInterrupt:
            pass
        finally:
            lab.close()
    return lab
