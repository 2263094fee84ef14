"""Worker processes that are threads of this one, and a mailbox of the run that loses what it is told to lose."""

import threading
from collections import Counter
from contextlib import suppress

from coordinator.launchers import Exited
from coordinator.transports.zeromq import Mailbox
from coordinator.workers.process import serve
from modular import ModelError

ORPHAN = 8.0  # seconds without a word after which one that is left over ends


class Threads:
    """A launcher of workers that are threads. One that is said to have died goes on, and nobody listens to it."""

    def __init__(self):
        self.running, self._dead = [], []

    def mailbox(self):
        return "tcp://127.0.0.1:*"

    def start(self, order):
        thread = threading.Thread(target=self._serve, args=({**order.told, "orphan": str(ORPHAN)},))
        thread.start()
        self.running.append(thread)

    @staticmethod
    def _serve(told):
        with suppress(ModelError):
            serve(told)

    def say_dead(self, name, incarnation):
        """As if its process had ended."""
        self._dead.append(Exited(name, incarnation, "killed"))

    def exits(self):
        dead, self._dead = self._dead, []
        return dead

    def stop(self, name, incarnation):
        pass

    def close(self):
        for thread in self.running:
            thread.join(2.0 * ORPHAN)


class Losing(Mailbox):
    """The mailbox of a run, on a way that loses messages. `loses(said_by, word, count)`: whether it is so with this one."""

    loses = staticmethod(lambda said_by, word, count: False)

    def __init__(self, *settings, **more):
        super().__init__(*settings, **more)
        self.said, self.gone = Counter(), Counter()

    def _is_lost(self, said_by, word):
        key = said_by, bytes(word).decode()
        self.said[key] += 1
        lost = self.loses(*key, self.said[key])
        self.gone[key] += lost
        return lost

    def answer(self, sender, *parts):
        return self._is_lost("run", parts[0]) or super().answer(sender, *parts)

    def mail(self):
        for sender, parts, whose in super().mail():
            if not self._is_lost("worker", parts[0]):
                yield sender, parts, whose
