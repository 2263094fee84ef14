"""A clock for deadlines that counts what a healthy worker says: while a busy machine lets it say nothing, no time passes."""

from coordinator.distributed.transports.zeromq import Mailbox
from coordinator.distributed.workers import process_pool
from coordinator.distributed.workers.capped_clock import CappedClock

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
        for sender, parts, key_owner in super().mail():
            Speaking.words += sender.startswith(f"{self.healthy}/".encode())
            self.hears(sender.decode(errors="replace"), bytes(parts[0]).decode(errors="replace"))
            if not self._is_torn(sender):
                yield sender, parts, key_owner

    def answer(self, sender, *parts):
        return not self._is_torn(sender) and super().answer(sender, *parts)


def let_words_count(monkeypatch, healthy="worker0"):
    """From now on pools are patient for as many words of this worker."""
    monkeypatch.setattr(Speaking, "healthy", healthy)
    monkeypatch.setattr(Speaking, "words", 0)
    monkeypatch.setattr(Speaking, "torn", "nobody")
    monkeypatch.setattr(process_pool, "Mailbox", Speaking)
    monkeypatch.setattr(process_pool, "CappedClock", lambda: CappedClock(lambda: PER_WORD * Speaking.words))
    return Speaking
