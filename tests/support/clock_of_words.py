"""A clock for deadlines that counts what a healthy worker says: while a busy machine lets it say nothing, no time passes."""

from coordinator.distributed.transports.zeromq import Mailbox
from coordinator.distributed.workers import away
from coordinator.distributed.workers.attention import Attention

PER_WORD = 0.5  # seconds: on an idle machine a worker that waits says a word so often


class Speaking(Mailbox):
    """The mailbox of a run whose time is what one worker says."""

    healthy, torn = "worker0", "nobody"
    words = 0
    hears = staticmethod(lambda identity, word: None)  # what else happens at a word

    def _is_torn(self, identity):
        """Whether there is no connection, to this incarnation such as "worker1/1"."""
        return identity.startswith(f"{self.torn}/".encode())

    def mail(self):
        for sender, parts, whose in super().mail():
            Speaking.words += sender.startswith(f"{self.healthy}/".encode())
            self.hears(sender.decode(errors="replace"), bytes(parts[0]).decode(errors="replace"))
            if not self._is_torn(sender):
                yield sender, parts, whose

    def answer(self, sender, *parts):
        return not self._is_torn(sender) and super().answer(sender, *parts)


def let_words_count(monkeypatch, healthy="worker0"):
    """From now on teams are patient for as many words of this worker."""
    monkeypatch.setattr(Speaking, "healthy", healthy)
    monkeypatch.setattr(Speaking, "words", 0)
    monkeypatch.setattr(Speaking, "torn", "nobody")
    monkeypatch.setattr(away, "Mailbox", Speaking)
    monkeypatch.setattr(away, "Attention", lambda: Attention(lambda: PER_WORD * Speaking.words))
    return Speaking
