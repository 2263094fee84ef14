"""The floor of an exchange: two processes that swap the same bytes by plain pyzmq, in the pattern that workers have.

`python -m coordinator.distributed.transports.raw_exchange BYTES plain ADDRESS` is one of them: a ROUTER that is bound and a DEALER
to that of the other. It says where it is reached, is told where the other is, swaps as often as each line says, and answers with
the seconds.
"""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import ExitStack
from typing import Self

import zmq
import zmq.auth
from zmq.auth.thread import ThreadAuthenticator

from coordinator.distributed.transports.addresses import SocketFolder

TCP = "tcp://127.0.0.1:*"


class RawExchange:
    """Two such processes."""

    def __init__(self, size: int, *, curve: bool = False) -> None:
        """`size` of a frame [bytes]; they meet where workers of one machine do."""
        command = [
            sys.executable,
            "-P",
            "-m",
            "coordinator.distributed.transports.raw_exchange",
            str(size),
            "curve" if curve else "plain",
        ]
        self._stack = ExitStack()
        socket_folder = SocketFolder.on_this_machine()
        if socket_folder is not None:
            self._stack.callback(socket_folder.close)
        self.where = [TCP if socket_folder is None else socket_folder.address(str(k)) for k in range(2)]
        self._pair = [
            self._stack.enter_context(
                subprocess.Popen([*command, where], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
            )
            for where in self.where
        ]
        addresses = [self._line(one) for one in self._pair]
        for one, other in zip(self._pair, reversed(addresses)):
            self._say(one, other)
        self.swap(100)

    def swap(self, times: int) -> float:
        """Microseconds for each exchange."""
        for one in self._pair:
            self._say(one, str(times))
        return max(float(self._line(one)) for one in self._pair) / times * 1e6

    def close(self) -> None:
        """Let both go."""
        for one in self._pair:
            if one.stdin is not None:
                one.stdin.close()
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @staticmethod
    def _say(process: subprocess.Popen[str], word: str) -> None:
        assert process.stdin is not None
        process.stdin.write(f"{word}\n")

    @staticmethod
    def _line(process: subprocess.Popen[str]) -> str:
        assert process.stdout is not None
        return process.stdout.readline().strip()


def main(size: int, curve: bool, where: str) -> None:
    """One of the two."""
    context = zmq.Context(1)
    inbox, line = context.socket(zmq.ROUTER), context.socket(zmq.DEALER)
    authenticator = ThreadAuthenticator(context) if curve else None
    public, secret = zmq.curve_keypair() if curve else (b"", b"")
    if authenticator is not None:
        authenticator.start()
        authenticator.configure_curve(domain="*", location=zmq.auth.CURVE_ALLOW_ANY)
        inbox.curve_server = True
        inbox.curve_publickey, inbox.curve_secretkey = public, secret
    inbox.bind(where)
    print(inbox.getsockopt_string(zmq.LAST_ENDPOINT), public.decode(), flush=True)
    address, *key = sys.stdin.readline().split()
    if curve:
        line.curve_serverkey = key[0].encode()
        line.curve_publickey, line.curve_secretkey = public, secret
    line.connect(address)
    frame = bytes(size)
    for told in sys.stdin:
        started = time.perf_counter()
        for _ in range(int(told)):
            line.send(frame)
            inbox.recv_multipart()
        print(time.perf_counter() - started, flush=True)
    line.close(0)
    inbox.close(0)
    if authenticator is not None:
        authenticator.stop()
    context.term()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] == "curve", sys.argv[3])
