"""The controls: the clock, back and forth, settings, what can be added, and what has happened."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

from coordinator.laboratory.acts import Doing, Pause, Receipt, Redo, Reset, Resume, SetSpeed, Step, Undo
from coordinator.laboratory.hand import NAME as HAND
from coordinator.laboratory.snapshot import Notice, Plan, Snapshot
from modular.events import Cut, Remove
from scenarios.laboratory.add_form import AddForm
from scenarios.laboratory.apply_form import ApplyForm
from scenarios.laboratory.fields import Fields, put
from scenarios.laboratory.join_form import JoinForm
from scenarios.laboratory.panels import put_main_panel, side_tab
from scenarios.laboratory.selection import Selection
from scenarios.laboratory.settings_form import SettingsForm
from scenarios.laboratory.words import DIM, GREEN, RED, block, dim, in_red, safe

MAX_EVENT_LINES = 8  # of what has happened
KEY_REPEAT_SECONDS = 0.25  # seconds between two strokes of a key that is held down, at most
SPEEDS = {"× 0.1": 0.1, "× 1": 1.0, "× 5": 5.0, "max": 0.0}
PAUSE, PLAY = "Pause", "Play"
BACK = ("Step", "Reset", "Undo", "Redo")
COLOURS = {"refused": RED, "trouble": RED, "happened": "#1864ab", "done": "inherit"}
UNTOLD = "turn page"  # the session's own act


class Controls:
    """The panel on the right; `scene`: what it controls beside the session, nothing yet."""

    def __init__(
        self,
        server: Any,
        post: Callable[[Doing], Receipt],
        selection: Selection,
        scene: object = None,
    ) -> None:
        self.server, self.gui, self.post, self.selection = server, server.gui, post, selection
        self.inputs = Fields(self.gui)
        self._panels = [self.inputs]  # whose refusals are told here
        self.plan: Plan | None = None
        self._playing = False
        self._struck: dict[str, float] = {}
        self._lines: deque[tuple[str, float, str]] = deque(maxlen=MAX_EVENT_LINES)
        self._heard = 0
        self._log_is_new = False
        put_main_panel(server)
        self._build()
        with side_tab(server, "Build", "tools"):
            self._forms()
        with side_tab(server, "Settings", "adjustments"):
            self.settings = SettingsForm(self.gui, self.post, self.inputs)
        self._commands()

    def _build(self) -> None:
        gui = self.gui
        self.status = gui.add_html("", order=0)
        self.play = gui.add_button(PLAY, icon="player-play", color="green", order=1)
        self.back = gui.add_button_group("", BACK, order=2)
        self.hint = gui.add_html("", order=3)
        self.steps = gui.add_number("steps per click", 1, min=1, max=1_000_000_000, step=1, order=4)
        with gui.add_folder(None, order=5):
            self.speed = self.inputs.number(
                "speed", 1.0, lambda value: self.post(SetSpeed(value)), hint="Times the clock; 0: as fast as it goes"
            )
            self.speeds = gui.add_button_group("", tuple(SPEEDS))
        with gui.add_folder("What has happened", order=70):
            self.log = gui.add_html("")

        async def toggle(_: Any) -> None:
            self.toggle()

        async def back(event: Any) -> None:
            self.do(str(event.target.value))

        async def speed(event: Any) -> None:
            self.post(SetSpeed(SPEEDS[str(event.target.value)]))

        self.play.on_click(toggle)
        self.back.on_click(back)
        self.speeds.on_click(speed)

    def _forms(self) -> None:
        """What can be added."""
        gui = self.gui
        tabs = gui.add_tab_group()
        with tabs.add_tab("Joint"):
            self.joining = JoinForm(gui, self.post, self.selection, self.inputs)
        with tabs.add_tab("Body"):
            self.adding = AddForm(gui, self.post, self.selection, self.inputs)
        with tabs.add_tab("Force"):
            self.applying = ApplyForm(gui, self.post, self.selection, self.inputs)

    def on_quit(self, end: Callable[[], None]) -> None:
        """A button by which all is over."""
        button = self.gui.add_button("Quit", icon="door-exit", color="gray", order=100)

        async def quit_(_: Any) -> None:
            end()

        button.on_click(quit_)

    def hear(self, *others: Fields) -> None:
        """What other panels refuse is told here as well."""
        self._panels.extend(others)

    # --- keys --------------------------------------------------------------------------------------------------------

    def _commands(self) -> None:
        for label, key, modifier, work in (
            ("Pause or play", "space", None, self.toggle),
            ("Delete what is selected", "delete", None, self.let_go),
            ("Delete what is selected (backspace)", "backspace", None, self.let_go),
            ("Undo", "Z", "cmd/ctrl", lambda: self.do("Undo")),
            ("Redo", "Z", "cmd/ctrl+shift", lambda: self.do("Redo")),
            ("Step", "S", None, lambda: self.do("Step")),
            ("Select nothing", "escape", None, self.selection.clear),
        ):
            command = self.gui.add_command(label, hotkey=key, modifier=modifier)
            command.on_trigger(self._stroke(label, work, once=key == "space"))

    def _stroke(self, label: str, work: Callable[[], object], *, once: bool) -> Callable[[Any], Any]:
        """What a key does; one that is held down counts once."""

        async def struck(_: Any) -> None:
            now = time.monotonic()
            before, self._struck[label] = self._struck.get(label, -1e9), now
            if not once or now - before > KEY_REPEAT_SECONDS:
                work()

        return struck

    def toggle(self) -> None:
        """Pause, or go on."""
        self.post(Pause() if self._playing else Resume())

    def do(self, what: str) -> None:
        """One of the buttons."""
        acts: dict[str, Callable[[], Doing]] = {
            "Step": lambda: Step(int(self.steps.value)),
            "Reset": Reset,
            "Undo": Undo,
            "Redo": Redo,
        }
        self.post(acts[what]())

    def let_go(self) -> None:
        """Cut or remove what is selected."""
        name, plan = self.selection.name, self.plan
        if name is None or plan is None or name == HAND:
            return
        if name in plan.joints:
            self.post(Cut(name))
        elif name in plan.bodies or name in plan.forces:
            self.post(Remove(name))
        self.selection.choose(None)

    # --- what there is to see ----------------------------------------------------------------------------------------

    def update(self, snapshot: Snapshot) -> None:
        """Show a snapshot; cheap where nothing has changed."""
        self.inputs.update()
        plan = snapshot.plan
        fresh, self.plan, self._playing = plan is not self.plan, plan, snapshot.playing
        with self.server.atomic():
            self._show(snapshot)
            if fresh:
                self.settings.update(plan)
            for form in (self.adding, self.joining, self.applying):
                form.update(snapshot)
            self._listen(snapshot.notices)

    def _show(self, snapshot: Snapshot) -> None:
        label = PAUSE if snapshot.playing else PLAY
        if self.play.label != label:
            self.play.label = label
            self.play.color = "orange" if snapshot.playing else "green"
            self.play.icon = "player-pause" if snapshot.playing else "player-play"
        self.speed.show(float(snapshot.speed))
        put(self.status, status(snapshot))
        put(self.hint, hint(snapshot))

    def _listen(self, notices: Any) -> None:
        """What has happened since, and what was refused before anybody heard of it."""
        for notice in notices:
            if notice.number > self._heard:
                self._heard = notice.number
                self._tell(notice)
        for fields in self._panels:
            while fields.refusals:
                self._tell(Notice(0, float("nan"), "refused", fields.refusals.popleft()))
        if self._log_is_new:
            self._log_is_new = False
            put(self.log, block(*(line(*entry) for entry in self._lines), size=0.75))

    def _tell(self, notice: Notice) -> None:
        if notice.text != UNTOLD:
            self._lines.appendleft((notice.kind, notice.time, notice.text))
            self._log_is_new = True


def status(snapshot: Snapshot) -> str:
    """Time, tick, how fast, and what is wrong."""
    if snapshot.trouble:
        state = in_red("stopped")
    elif snapshot.playing:
        asked = snapshot.speed
        slow = asked > 0.0 and 0.0 < snapshot.factor < 0.9 * asked
        colour = RED if slow else GREEN
        state = (
            f'<span style="color:{colour}">{snapshot.factor:.2f} × real time</span>' if snapshot.factor else "playing"
        )
    else:
        state = dim("paused")
    held = f" · holding {safe(snapshot.held)}" if snapshot.held is not None else ""
    return block(
        f'<span style="font-size:1.5em;font-variant-numeric:tabular-nums"><b>{snapshot.time:.4f}</b> s</span>'
        f'<span style="float:right;padding-top:0.4em">{state}</span>',
        f'<span style="color:{DIM}">tick {snapshot.tick:,}{held}</span>',
        in_red(snapshot.trouble) if snapshot.trouble else "",
        size=0.85,
    )


def hint(snapshot: Snapshot) -> str:
    """What would be undone, and done again."""
    lines = [f"{word}: {text}" for word, text in (("undo", snapshot.undo), ("redo", snapshot.redo)) if text]
    return block(*(dim(text) for text in lines), size=0.75)


def line(kind: str, when: float, text: str) -> str:
    """Of the log."""
    at = "" if when != when else f"{when:.3f} s "
    said = f"refused: {text}" if kind == "refused" else text
    return f'{dim(at)}<span style="color:{COLOURS.get(kind, "inherit")}">{safe(said)}</span>'
