"""What else the page has: how things are drawn, the reference that follows as a ghost, and files to take away."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coordinator.laboratory.acts import Collect, Follow
from coordinator.laboratory.session import Session
from coordinator.laboratory.snapshot import Snapshot
from modular.errors import CouplingError, ModelError
from scenarios.laboratory.cameras import FOLLOWED
from scenarios.laboratory.colours import COLOURS
from scenarios.laboratory.fields import put
from scenarios.laboratory.scene import Scene
from scenarios.laboratory.words import block, dim, in_red

NOT_KEPT = "not kept:"
_log = logging.getLogger("modular")


class Extras:
    """Two folders of the main panel: View and Keep."""

    def __init__(self, server: Any, session: Session, scene: Scene) -> None:
        self.server, self.session, self.scene = server, session, scene
        self._busy = threading.Lock()
        self._said = ""
        gui = server.gui
        with gui.add_folder("View", expand_by_default=False, order=80):
            fit = gui.add_button("Fit all", icon="maximize", color="gray", hint="Fit everything into the picture (F)")
            again = gui.add_button("Look from the start", icon="camera", color="gray", hint="Back to the first view")
            follow = gui.add_dropdown("camera follows", FOLLOWED, initial_value=scene.cameras.follow)
            self.colours = colours = gui.add_dropdown("colour of joints", COLOURS, initial_value=scene.colours)
            arrows = gui.add_checkbox("reactions", scene.arrows)
            traces = gui.add_checkbox("traces", scene.traces)
            pictures = gui.add_checkbox(
                "pictures", scene.pictured, hint="What files of robots say that links look like"
            )
            self.follow = gui.add_checkbox("reference", False, hint="The same mechanism solved as a whole, as a ghost")
            self.distance = gui.add_text("distance to reference", "", disabled=True)
        with gui.add_folder("Keep", expand_by_default=False, order=90):
            html = gui.add_button("Save HTML", hint="One file that plays in any browser, without a network")
            gif = gui.add_button("Save GIF")
            runs = gui.add_button("Save run", hint="What was recorded so far, as run folders")
            self.status = gui.add_html("")

        async def coloured(_: Any) -> None:
            scene.colours = colours.value

        async def with_arrows(_: Any) -> None:
            scene.arrows = arrows.value

        async def with_traces(_: Any) -> None:
            scene.traces = traces.value

        async def with_pictures(_: Any) -> None:
            scene.pictured = pictures.value

        async def looking(event: Any) -> None:
            scene.cameras.look_again(event.client)

        async def fitting(event: Any) -> None:
            scene.cameras.fit(event.client)

        async def going_along(_: Any) -> None:
            scene.cameras.follow = follow.value

        async def following(_: Any) -> None:
            session.post(Follow() if self.follow.value else Follow(None))

        colours.on_update(coloured)
        arrows.on_update(with_arrows)
        traces.on_update(with_traces)
        pictures.on_update(with_pictures)
        self.follow.on_update(following)
        again.on_click(looking)
        fit.on_click(fitting)
        gui.add_command("Fit all", hotkey="F").on_trigger(fitting)
        follow.on_update(going_along)
        for button, work in ((html, self._html), (gif, self._gif), (runs, self._runs)):
            button.on_click(self._starting(work))

    def update(self, snapshot: Snapshot) -> None:
        """Numbers of now."""
        ghost = snapshot.ghost
        text = "" if ghost is None else f"{ghost.distances[-1][1]:.3g} m at {ghost.distances[-1][0]:.3f} s"
        if self.distance.value != text:
            self.distance.value = text
        if self.follow.value and ghost is None and any("reference cannot follow" in n.text for n in snapshot.notices):
            self.follow.value = False
        if self.colours.value != self.scene.colours:
            self.colours.value = self.scene.colours
        put(self.status, status_html(self._said))

    # --- files -------------------------------------------------------------------------------------------------------

    def _starting(self, work: Callable[[Any, Path], None]) -> Callable[[Any], Any]:
        """A button whose work takes a while: in a thread of its own, one at a time."""

        async def clicked(event: Any) -> None:
            if self._busy.acquire(blocking=False):
                threading.Thread(
                    target=self._doing, args=(work, event.client), daemon=True, name="modular-keep"
                ).start()

        return clicked

    def _doing(self, work: Callable[[Any, Path], None], client: Any) -> None:
        try:
            self._said = "working…"
            self.session.do(Collect())
            import tempfile

            folder = self.session.folder
            if folder is None:
                with tempfile.TemporaryDirectory() as place:
                    work(client, Path(place))
            else:
                work(client, folder)
        except (ModelError, CouplingError, OSError, ValueError) as error:
            self._said = f"{NOT_KEPT} {error}"
        except Exception as error:  # none is known; whoever comes upon one is told, and can ask for something else
            _log.exception("laboratory: something could not be kept")
            self._said = f"{NOT_KEPT} {type(error).__name__}: {error}"
        finally:
            self._busy.release()

    def _html(self, client: Any, folder: Path) -> None:
        from scenarios.laboratory.movie import NAME, write_html

        path = write_html(self.session.collected, folder / NAME, self._share, self.session.snapshot.plan.pictures)
        self._hand_over(client, path)

    def _gif(self, client: Any, folder: Path) -> None:
        from scenarios.report.animation import animate

        runs = [run for run in self.session.collected if len(run) > 1]
        if not runs:
            raise ModelError("nothing was recorded, so there is nothing to show.")
        self._hand_over(client, animate(runs[-1], folder))

    def _runs(self, client: Any, folder: Path) -> None:
        from coordinator.laboratory.diary import STRETCH

        if self.session.folder is None:
            raise ModelError("this session has no folder; start it with one, as in live(simulation, folder='mine').")
        for number, run in enumerate(self.session.collected, start=1):
            run.save(folder / STRETCH.format(number))
        self._said = f"kept in {folder}"

    def _share(self, done: int, of: int) -> None:
        if done % 20 == 0 or done == of:
            self._said = f"picture {done} of {of}"

    def _hand_over(self, client: Any, path: Path) -> None:
        """As a download of the browser, and where the session is kept."""
        client.send_file_download(path.name, path.read_bytes(), save_immediately=True)
        kept = f"; it lies in {path.parent}" if self.session.folder is not None else ""
        self._said = f"{path.name}, {path.stat().st_size / 1e6:.2g} MB{kept}"


def status_html(said: str) -> str:
    """What became of a file, in as many lines as it takes."""
    if not said:
        return ""
    return block(*(in_red(line) if said.startswith(NOT_KEPT) else dim(line) for line in said.splitlines()))
