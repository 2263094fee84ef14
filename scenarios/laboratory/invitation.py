"""Opens the page in the user's browser without telling the other users of the machine how to get in.

What a browser is started with stands in the list of processes, which everybody may read. So it is started with the name of
a file, and the file leads on to the page: a folder that only the user may enter has it, and it goes when it was used.

Why not the address itself with a code that counts once: a browser takes a second to start, whoever watches the list takes a
millisecond, so it would be he who comes first. Why a code in the file all the same, and not the token: a file may be left
behind by a process that was killed, in a backup, or in the history of the browser, where a used code is worth nothing.

The folder is made in the user's home: a browser that was installed as a snap or a flatpak sees neither /tmp nor folders that
begin with a point. Where none can be made that others keep out of, no browser is opened; the address is printed anyway.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import weakref
import webbrowser
from collections.abc import Callable
from pathlib import Path

NAME = "open-the-live-page.html"
PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0;url={url}">
<title>modular</title>
<p>The <a href="{url}">live page</a> opens; this address counts once. If it is turned away, open the one that was printed.
"""


class Invitation:
    """A file that leads to the page, once; it goes when it was used, when it is closed, and when Python ends."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

    @classmethod
    def written(cls, url: Callable[[Callable[[], object]], str]) -> Invitation | None:
        """One to what `url` says, which is told what to call when somebody has come; None where others could read it."""
        for place in (Path.home, tempfile.gettempdir):
            try:
                folder = Path(tempfile.mkdtemp(prefix="modular-live-", dir=place()))  # 0700
            except (OSError, RuntimeError):
                continue
            invitation = cls(folder)
            if _is_private(folder) and invitation._write(url(invitation.close)):
                return invitation
            invitation.close()
        return None

    def open(self) -> bool:
        """Whether a browser could be started with it."""
        return webbrowser.open(self.path.as_uri())

    def close(self) -> None:
        """It goes, with its folder."""
        self._remove()

    def _write(self, url: str) -> bool:
        try:
            number = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(number, "w", encoding="utf-8") as file:
                file.write(PAGE.format(url=url))
        except OSError:
            return False
        return _is_private(self.path)


def _is_private(path: Path) -> bool:
    """Whether others may not read it; some file systems know no rights. On Windows a home is its user's by other means."""
    if os.name != "posix":
        return True
    found = path.stat()
    return found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077
