"""Who may speak to the server of a page: whoever says our name, comes from our page, and holds the token of this run.

A server on the loopback is open to every page that the user has open: browsers let any of them connect a WebSocket to
127.0.0.1, and a name that its owner points at 127.0.0.1 makes a foreign page look like ours (DNS rebinding). Three
questions keep them out; each is asked of every request, and none is enough alone:

- *Host*: exactly one of our names, so a foreign name that leads here is noticed;
- *Origin*, of a WebSocket: the page at that very name. Programs may say what they like, browsers say the truth;
- *token*: a secret of this run, in the address that we print. Opening it leaves a cookie that scripts cannot read and other
  sites do not send, and leads at once to an address without it: what stands in the bar of the browser, in a photograph of
  the screen or in a bookmark is no secret. Servers of one machine share cookies whatever their port, so the name of the
  cookie has the port in it.

An *invitation* stands for the token once: whoever comes second with it is turned away.

A cookie that other sites do not send is not sent either where a link on another site, in a notebook or in a file has led to
the address with the token: to the browser the page that it is led to is still the other site's wish. So whoever asks for the
page without a cookie is turned away with a page that asks once more, now of itself (`RETRY_PATH`), and then for good.

Nothing here knows a server: a request is a path and a way to its headers.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from urllib.parse import parse_qs

# What is sent for each header of that name; a header may be sent twice, and none may be missing.
Headers = Callable[[str], list[str]]
RETRY_PATH = "/?again"


class Answer(Enum):
    """What becomes of a request."""

    REFUSED = auto()
    ONCE_MORE = auto()  # refused, but the cookie may come with a second try
    ENTERED = auto()  # whoever knows the secret gets the cookie that opens all else, and is led to the page
    LED = auto()  # to the page, which has one address only
    FILE = auto()  # a file of the page
    SOCKET = auto()  # a WebSocket may be opened


@dataclass(frozen=True)
class Admission:
    """The names of a server and its secret; `names` are what the header Host may say, port and all."""

    names: frozenset[str]
    cookie: str
    token: str
    # not used yet, and who wants to know of it
    invitations: dict[str, Callable[[], object]] = field(default_factory=dict)

    def invite(self, used: Callable[[], object]) -> str:
        """A secret that stands for the token once; `used` is called when somebody has come with it."""
        invitation = secrets.token_urlsafe(32)
        self.invitations[invitation] = used
        return invitation

    def answer(self, path: str, headers: Headers) -> Answer:
        """Whether this request may come in, and as what; anything doubtful is refused."""
        name = _only(headers("Host"))
        if name is None or name not in self.names:
            return Answer.REFUSED
        if headers("Upgrade"):
            ours = _only(headers("Origin")) == f"http://{name}"
            return Answer.SOCKET if ours and self.knows(headers) else Answer.REFUSED
        place, _, query = path.partition("?")
        fields = parse_qs(query)
        if place == "/" and (self._has_token(fields) or self._is_invited(fields)):
            return Answer.ENTERED
        if self.knows(headers):
            return Answer.LED if path == RETRY_PATH else Answer.FILE
        return Answer.ONCE_MORE if path == "/" else Answer.REFUSED

    def _has_token(self, fields: dict[str, list[str]]) -> bool:
        token = _only(fields.get("token", []))
        return token is not None and _same(token, self.token)

    def _is_invited(self, fields: dict[str, list[str]]) -> bool:
        """Whether somebody comes with an invitation, which is used up by it."""
        shown = _only(fields.get("invitation", []))
        if shown is None:
            return False
        for invitation in list(self.invitations):
            if _same(shown, invitation) and (used := self.invitations.pop(invitation, None)) is not None:
                used()
                return True
        return False

    def knows(self, headers: Headers) -> bool:
        """Whether a cookie of the request holds the token."""
        crumbs = (crumb.strip().partition("=") for cookie in headers("Cookie") for crumb in cookie.split(";"))
        return any(_same(value, self.token) for name, _, value in crumbs if name == self.cookie)

    def headers(self, answer: Answer, name: str) -> dict[str, str]:
        """What a page sent to `name` tells the browser: where its scripts may connect, and the token.

        viser's page connects wherever its address says (`?websocket=`) and does what it is told there, so a link could
        hand it to a stranger. The policy lets it talk to this server only, and lets no other page show it in a frame.
        """
        inside = "'self' data: blob: 'unsafe-inline' 'unsafe-eval'"
        found = {
            "Content-Security-Policy": f"default-src {inside}; connect-src 'self' ws://{name} data: blob:; "
            "frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'",
            "Cross-Origin-Resource-Policy": "same-origin",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",  # an address may have the token in it
            "Cache-Control": "no-store",
        }
        if answer in (Answer.ENTERED, Answer.LED):
            found["Location"] = "/"
        if answer is Answer.ENTERED:
            found["Set-Cookie"] = f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        return found


def _same(shown: str, secret: str) -> bool:
    """Whether this is the secret, in a time that does not say how much of it was right."""
    return hmac.compare_digest(shown.encode(errors="surrogateescape"), secret.encode())


def _only(values: list[str]) -> str | None:
    return values[0] if len(values) == 1 else None
