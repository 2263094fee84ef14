"""A server of OpenSSH for one test: on a high port of the loopback, with keys that nobody else has."""

import getpass
import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from waiting import GUARD

PATHS = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
SSHD = shutil.which("sshd", path=PATHS)
THERE = os.name == "posix" and SSHD is not None and shutil.which("ssh") is not None and shutil.which("ssh-keygen")


@contextmanager
def own_sshd(folder):
    """The options with which `ssh` gets into 127.0.0.1 through it."""
    folder.mkdir(mode=0o700)
    for name in ("host", "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)],
            check=True,
            stdin=subprocess.DEVNULL,
        )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = folder / "sshd_config"
    settings.write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {folder}/host\nAuthorizedKeysFile {folder}/user.pub\nPidFile none\n"
        "StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPubkeyAuthentication yes\n"
        f"AllowUsers {getpass.getuser()}\nPermitRootLogin prohibit-password\nMaxStartups 100\n"
    )
    known = folder / "known_hosts"
    known.write_text(f"[127.0.0.1]:{port} {' '.join((folder / 'host.pub').read_text().split()[:2])}\n")
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where a server that root starts locks itself up
    log = folder / "log"
    with log.open("ab") as said:
        server = subprocess.Popen(
            [SSHD, "-D", "-e", "-f", str(settings)], stdout=said, stderr=said, stdin=subprocess.DEVNULL
        )
    try:
        until = time.monotonic() + GUARD
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=GUARD).close()
                break
            except OSError:
                assert server.poll() is None and time.monotonic() < until, log.read_text()
                time.sleep(0.05)
        yield (
            "-F", "none", "-p", str(port), "-i", str(folder / "user"), "-o", "IdentitiesOnly=yes",
            "-o", f"UserKnownHostsFile={known}", "-o", "StrictHostKeyChecking=yes",
        )  # fmt: skip
    finally:
        server.terminate()
        server.wait(GUARD)
