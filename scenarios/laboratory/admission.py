"""Who may speak to the server of a page: whoever says our name, comes from our page, and holds the token of this run.

A server on the loopback is open to every page that the user has open: browsers let any of them connect a WebSocket to
127.0.0.1, and a name that its owner points at 127.0.0.1 makes a foreign page look like ours (DNS rebinding). Three
questions keep them out; each is asked of every request, and none is enough alone:

- *Host*: exactly one of our names, so a foreign name that leads here is noticed;
- *Origin*, of a WebSocket: the page at that very name. Programs may say what they like, browsers say the truth;
- *token*: a secret of this run, in the address that we print. Opening it leaves a cookie that scripts cannot read and other
  sites do not send. Servers of one machine share cookies whatever their port, so the name of the cookie has the port in it.

Nothing here knows a server: a request is a path and a way to its headers.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from urllib.parse import parse_qs

# What is sent for each header of that name; a header may be sent twice, and none may be missing.
Headers = Callable[[str], list[str]]


class Answer(Enum):
    """What becomes of a request."""

    REFUSED = auto()
    FILE = auto()  # a file of the page
    FIRST_PAGE = auto()  # the page, with the cookie that opens all else
    SOCKET = auto()  # a WebSocket may be opened


@dataclass(frozen=True)
class Admission:
    """The names of a server and its secret; `names` are what the header Host may say, port and all."""

    names: frozenset[str]
    cookie: str
    token: str

    def answer(self, path: str, headers: Headers) -> Answer:
        """Whether this request may come in, and as what; anything doubtful is refused."""
        name = _only(headers("Host"))
        if name is None or name not in self.names:
            return Answer.REFUSED
        if headers("Upgrade"):
            ours = _only(headers("Origin")) == f"http://{name}"
            return Answer.SOCKET if ours and self.knows(headers) else Answer.REFUSED
        place, _, query = path.partition("?")
        told = parse_qs(query).get("token", [])
        if place == "/" and len(told) == 1 and self._right(told[0]):
            return Answer.FIRST_PAGE
        return Answer.FILE if self.knows(headers) else Answer.REFUSED

    def knows(self, headers: Headers) -> bool:
        """Whether a cookie of the request holds the token."""
        crumbs = (crumb.strip().partition("=") for cookie in headers("Cookie") for crumb in cookie.split(";"))
        return any(self._right(value) for name, _, value in crumbs if name == self.cookie)

    def headers(self, answer: Answer, name: str) -> dict[str, str]:
        """What a page sent to `name` tells the browser: where its scripts may connect, and the token.

        viser's page connects wherever its address says (`?websocket=`) and does what it is told there, so a link could
        hand it to a stranger. The policy lets it talk to this server only, and lets no other page show it in a frame.
        """
        inside = "'self' data: blob: 'unsafe-inline' 'unsafe-eval'"
        told = {
            "Content-Security-Policy": f"default-src {inside}; connect-src 'self' ws://{name} data: blob:; "
            "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'",
            "Cross-Origin-Resource-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",  # the address has the token in it
            "Cache-Control": "no-store",
        }
        if answer is Answer.FIRST_PAGE:
            told["Set-Cookie"] = f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        return told

    def _right(self, told: str) -> bool:
        """Whether this is the token, in a time that does not say how much of it was right."""
        return hmac.compare_digest(told.encode(errors="surrogateescape"), self.token.encode())


def _only(values: list[str]) -> str | None:
    return values[0] if len(values) == 1 else None
