"""What the coordinator writes to one worker, from what the journal adds up to."""

from __future__ import annotations

from coordinator.protocol.control import Commit, Grant, Hello, Prepare, Roster, Welcome
from coordinator.protocol.history import History, Seat
from coordinator.protocol.plan import Plan
from coordinator.protocol.schema import LARGEST, encode


def welcome(history: History, seat: Seat, roster: int) -> Welcome:
    """All that a worker needs to start, or to take the place of its predecessor."""
    return Welcome(
        epoch=history.epoch,
        run=history.opened.run,
        token=seat.token,
        incarnation=seat.incarnation,
        number=seat.number,
        every=history.opened.every,
        horizon=history.horizon,
        report=history.report_step,
        roster=roster,
        members=history.circle(seat.number),
        shares=tuple(history.share(plan, seat.number) for plan in history.recent_plans()),
        kept=seat.kept,
    )


def grant(history: History) -> Grant:
    """How far everybody may run."""
    return Grant(history.epoch, history.horizon, history.report_step, history.version)


def roster(history: History, seat: Seat, number: int) -> Roster:
    """Who is around a worker."""
    return Roster(history.epoch, number, history.circle(seat.number))


def prepare(history: History, seat: Seat, plan: Plan) -> Prepare:
    """A plan to look at."""
    return Prepare(history.epoch, history.share(plan, seat.number), history.circle(seat.number))


def commit(history: History, seat: Seat, plan: Plan) -> Commit:
    """A plan that holds."""
    return Commit(history.epoch, history.share(plan, seat.number), history.circle(seat.number))


def unlike(history: History, hello: Hello) -> str | None:
    """In what a worker differs from the run, both values named, or None."""
    for what in ("run", "fingerprint", "model"):
        ours, theirs = getattr(history.opened, what), getattr(hello, what)
        if ours != theirs:
            return f"worker '{hello.name}' has {what} {theirs!r}; this run has {ours!r}."
    return None


def too_long(history: History, plan: Plan) -> str | None:
    """Why a plan would not fit in a message any more, or None; looks at the worker with most neighbours."""
    seat = max(history.seats.values(), key=lambda seat: len(history.share(plan, seat.number).neighbours))
    length = len(encode(welcome(history, seat, history.roster)))
    if plan not in history.plans:
        length += len(encode(prepare(history, seat, plan)))
    if length <= LARGEST:
        return None
    return (
        f"with the plans since the oldest checkpoint it takes {length} bytes to tell worker '{seat.name}', and a message has "
        f"at most {LARGEST}; say less in the change, or wait for the next checkpoints."
    )
