"""Where panels are: the model and all that can be built on the left, the clock on the right, plots below it.

A panel that several share is made by the first who asks for it.
"""

from __future__ import annotations

import json
from typing import Any
from weakref import WeakKeyDictionary

LEFT, RIGHT = 320, 330  # widths in pixels

_sides: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def side_tab(server: Any, title: str, icon: str) -> Any:
    """A tab of the panel on the left."""
    panel = _sides.get(server)
    if panel is None:
        panel = _sides[server] = server.gui.add_panel()
        panel.dock_left()
        panel.set_width(LEFT)
    return panel.add_tab(title, icon=icon)


def name_page(server: Any, title: str) -> None:
    """What browsers write on the tab of the page: nothing that is offered says so, and the viewer's own name says little."""
    from viser._messages import RunJavascriptMessage

    server.gui._websock_interface.queue_message(RunJavascriptMessage(source=f"document.title = {json.dumps(title)};"))


def put_main_panel(server: Any) -> None:
    """The main panel stands on the right."""
    server.gui.main_panel.dock_right()
    server.gui.main_panel.set_width(RIGHT)


def tab_below_main(server: Any, title: str, icon: str) -> Any:
    """A tab of a panel of its own below the main one."""
    panel = server.gui.add_panel()
    tab = panel.add_tab(title, icon=icon)
    panel.dock_below(server.gui.main_panel)
    return tab
