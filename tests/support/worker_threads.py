"""Worker processes that are threads of this one, and a mailbox of the run that loses what it is told to lose."""

import threading
from collections import Counter
from contextlib import suppress

from coordinator.distributed.launchers import Exited
from coordinator.distributed.transports.addresses import IPC_ANY
from coordinator.distributed.transports.zeromq import Mailbox
from coordinator.distributed.workers.process import Process
from modular import ModelError


class Threads:
    """A launcher of workers that are threads. One that is said to have died goes on, and nobody listens to it."""

    def __init__(self):
        self._serving, self._dead = [], []

    def mailbox(self):
        return IPC_ANY

    def start(self, order):
        process = Process(order.settings)
        thread = threading.Thread(target=self._serve, args=(process,))
        self._serving.append((process, thread))
        thread.start()

    @staticmethod
    def _serve(process):
        try:
            with suppress(ModelError):
                process.serve()
        finally:
            process.close()

    def say_dead(self, name, incarnation):
        """As if its process had ended."""
        self._dead.append(Exited(name, incarnation, "killed"))

    def exits(self):
        dead, self._dead = self._dead, []
        return dead

    def stop(self, name, incarnation):
        pass

    def close(self):
        """Whoever has been told to quit does; those that are left over hear of it here."""
        for process, _ in self._serving:
            process.over = True
        for _, thread in self._serving:
            thread.join()


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
        for sender, parts, key_owner in super().mail():
            if not self._is_lost("worker", parts[0]):
                yield sender, parts, key_owner
