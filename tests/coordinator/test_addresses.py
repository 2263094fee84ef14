"""Addresses: who reaches them, and by which one of its own this machine reaches somebody else."""

import pytest

from coordinator.distributed.launchers import Order, Ssh
from coordinator.distributed.transports.addresses import (
    IPC_ANY,
    LOOPBACK_ANY,
    host_of,
    is_everywhere,
    is_local,
    mailbox_towards,
    route_to,
)
from modular import ModelError


@pytest.mark.parametrize(
    ("address", "host", "local", "everywhere"),
    [
        ("tcp://127.0.0.1:5555", "127.0.0.1", True, False),
        ("tcp://localhost:*", "localhost", True, False),
        ("tcp://[::1]:5555", "::1", True, False),
        ("tcp://10.0.0.7:*", "10.0.0.7", False, False),
        ("tcp://node1.cluster:5555", "node1.cluster", False, False),
        ("tcp://0.0.0.0:5555", "0.0.0.0", False, True),
        ("tcp://*:5555", "*", False, True),
        ("ipc:///tmp/here", "", True, False),
        ("nonsense", "", True, False),
        ("tcp://a b:5555", "", False, False),
    ],
)
def test_an_address_says_who_reaches_it(address, host, local, everywhere):
    assert (host_of(address), is_local(address), is_everywhere(address)) == (host, local, everywhere)


def test_a_worker_is_found_where_it_speaks_to_the_run_from():
    assert route_to("127.0.0.1") == "127.0.0.1"
    assert mailbox_towards("tcp://127.0.0.1:5555") == LOOPBACK_ANY
    # a folder that others may enter
    assert mailbox_towards("ipc:///tmp/here") == mailbox_towards("nonsense") == IPC_ANY
    assert mailbox_towards("tcp://nowhere.invalid:5555") == LOOPBACK_ANY
    with pytest.raises(ModelError, match=r"no route to 'nowhere.invalid'"):
        route_to("nowhere.invalid")


def test_a_run_that_listens_everywhere_is_told_by_the_address_that_each_host_reaches(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(
        "coordinator.distributed.launchers.ssh.route_to", lambda host: {"node1": "10.0.0.7", "node2": "10.1.0.7"}[host]
    )
    monkeypatch.setattr(Ssh, "_real_name", lambda self, host: host.rpartition("@")[2])
    launcher = Ssh(["node1", "me@node2", "localhost"])
    assert launcher.mailbox() == "tcp://10.0.0.7:*"
    told = []
    monkeypatch.setattr(
        launcher._children, "start", lambda order, command: told.append((order.settings["hub"], command[-2]))
    )
    for name in "abcd":
        launcher.start(Order(name, 1, {"name": name, "incarnation": "1", "hub": "tcp://0.0.0.0:5555"}))
    assert told == [
        ("tcp://10.0.0.7:5555", "node1"),
        ("tcp://10.1.0.7:5555", "me@node2"),
        ("tcp://127.0.0.1:5555", "localhost"),
        ("tcp://10.0.0.7:5555", "node1"),
    ]
