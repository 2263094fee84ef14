"""A pair of shapes in contact: what is remembered of a tick, where both stand, how they move, and how they answer a push."""

from __future__ import annotations

from components.forces.shapes import HALF_SPACE
from components.forces.vectors import cross, dot
from modular.blocks import room
from modular.elements import Array
from modular.kernel import kernel
from modular.workspaces import GIVEN, Workspace, layout, size_of, workspace

Pair = Workspace
Patch = Workspace
# what a row remembers of a tick
TICK = {
    "time": float,  # when that was [s]
    "known": float,  # 0 unless it was looked at; 1 where the one before is not known; QUIET where it did and left nothing
    "within": float,  # of the first look: 1 where that was within a tick, and not at an instant
    "pose": (2, 4, 3),  # middle and axes of both shapes
    "rates": (4, 3),  # how they move: velocity and turning of the first, of the second
    "slip": (3,),  # of the spring that sticks: across the normal [m]
    "twist": float,  # about it
    "owed": (8,),  # per point: 1 where the next tick owes the second part of an impact
    "goal": (8,),  # and with which velocity it is to part [m/s]
    "struck": float,  # so many ticks with impulses one after the other
    "pull": float,  # the largest acceleration towards each other in free flight
    "usual": float,  # the same as it was lately, but for blows
    "wrench": (3, 3),  # force on the second shape, moments on the first and on the second
    "held": float,  # energy in its springs [J]
    "taken": float,  # what it takes [W]
    "pace": (4, 3),  # accelerations that go with the rates, as last known where there was no impulse
    "bent": float,  # of that energy what is in the spring that sticks [J]
    "spared": float,  # what an impact has taken so far, and no more it may give back in its second part [J]
    "spent": (3, 3),  # the part of the wrench that gives nothing back
    "guess": float,  # and what it was thought to take [W]
    "carried": float,  # 1 where its springs have carried something, and there was no impact
    "slid": float,  # 1 where friction bore no more
    "turned": float,  # 1 where what slides has turned round, and is still slow
    "rests": float,  # at the first look: 1 where anything touches
    "ample": float,  # the share of what it would ask of its bodies that it has asked; 0 where that is not known
    "stiff": float,  # of its springs along normals [N/m]
    "drawn": (8,),  # per point: how far its spring is pressed [m]
    "raised": (8,),  # and so much earlier it begins, so that what rests from the start on is carried where it is [m]
    "later": (8,),  # per point: the second part of an impulse that was found together with others [N s]
    "rubbed": (8, 3),  # and of that of friction
    "stirs": (4, 3),  # how blows at others have changed the rates
    "let": float,  # so deep they may be in each other, for so they began [m]
    "load": (8,),  # per point: with what it carries what rests together with others (contact_carrying.py) [N]
    "steady": (8,),  # and what of it has lasted: a jolt is over in a tick [N]
    "grown": (8,),  # by how much that is more than a tick ago [N]
    "grasp": float,
    "winds": float,  # how stiff the spring is that sticks, across the normal and about it [N/m], [N m/rad]
}
MEMORY = size_of(TICK)
QUIET = 3.0  # of `known`: shapes were not near, and all but how they stand and move is nothing


def place_of_field(name: str) -> int:
    """The first number of a field."""
    return size_of({each: TICK[each] for each in list(TICK)[: list(TICK).index(name)]})


FIRST = place_of_field("wrench")
# a quiet tick remembers what stands before the first of these, from the second to the third, and so on
SLIP, PULL, PACE, BENT, LET, LOAD = map(place_of_field, ("slip", "pull", "pace", "bent", "let", "load"))
MAX_IMPACT_TICKS = (
    3.0  # ticks with impulses one after the other, from which on they are no impact but the way things are
)
MAX_MEMORY_AGE_STEPS = 4.0  # steps after which a tick is no longer one from which to go on

tick_of = layout(**TICK)
law_of = layout(friction=float, restitution=float, stiffness=float, damping=float, let_out=float)

new_pair = workspace(
    now=GIVEN, before=GIVEN,  # ticks
    law=GIVEN,
    size_a=GIVEN, size_b=GIVEN,  # of both shapes
    mobility_a=GIVEN, mobility_b=GIVEN,  # velocity per force, velocity per moment, turning per moment
    cross=GIVEN, shared=int,  # how the first side of it moves by a push on the second, in joints; -1: a is the second
    meeting=GIVEN, given=int,  # where blows were found together with others (contact_meetings.py), and 1 where they were
    carrying=GIVEN, carries=int,  # where what rests is carried together with others, and 1 where it is
    held=int,  # 1 where a body of it answers through joints
    asked=GIVEN, stiff=GIVEN, centre=GIVEN,  # of the step: shares of springs and dampers, their block, and where
    sunk=GIVEN,  # how deep they have been in each other, and the step times jumps of velocity, at most [m]
    inside=GIVEN,  # how deep they are at the first look [m], which way the second is to go, and how fast they move along it [m/s]
    kind_a=int, kind_b=int, flat=int,  # kinds of shapes; 1 in the plane
    time=float, dt=float, span=float,  # now, the step, and the time since the tick before
    quiet=int,  # 1 where this tick and the one before remembered nothing but how shapes stood and moved
    fresh=int, shown=int, steady=int,  # 1 where no tick came before; that, or the first look; where accelerations can be told
    a=(4, 3), b=(4, 3),  # middle and axes of both shapes
    rates=(4, 3), pace=(4, 3),  # how they move, and what others do to that
    wrench=(3, 3),  # force on the second shape, moments on the first and on the second
    none=(3,),  # zeros
    struck=int,  # 1 where there are impulses
    contacts_of_body=float,  # how many contacts either body has at most
    demand=float, ample=float,  # what contacts ask of its bodies, and the share of it that those have left
    slow=float,  # slower impacts do not bounce, slower pairs may stick [m/s]
    stored=float, takes=float,  # energy in springs [J]; what it takes [W]
    softened=float, came=float,  # energy that went as springs became softer, and that came with new ones under load [J]
)  # fmt: skip
new_patch = workspace(
    count=int, points=(8, 3), normals=(8, 3), gaps=(8,),  # where shapes touch or may
    band=float,  # gaps up to which points count as touching when springs are chosen [m]
    v=(8,), hurry=(8,),  # velocity and acceleration along normals
    answers=(8, 4, 3), w=(8, 8),  # how rates, and velocities along normals, answer forces along them
    candidates=(8,), theta=(8,), coming=(8,), goal=(8,),  # who meets, when, how fast, and how it is to part
    load=(8,),  # with what it carried what rests [N]
    impulse=(8,), lost=(8,),  # along normals [N s], and of that what gives nothing back
    paid=(8,), rubbed=(8, 3),  # and what was owed by the tick before, along normals and across
    across=(8,),  # how velocities across the normal answer an impulse there, at most
    k_n=float, c_n=float,  # of springs and dampers along normals
    drawn=(8,), pressing=(8,),  # how far they are pressed, below 0 where nothing touches [m]; forces that hold what rests [N]
    whole=float, centre=(3,), normal=(3,),  # of all impulses: their sum, where, and which way
    radius=float, extent=float,  # how far from there they act on average; how large both shapes are together [m]
)  # fmt: skip


# --- ticks ------------------------------------------------------------------------------------------------------------


@kernel
def shift_history(now: Array, before: Array, again: bool, pair: Pair) -> None:
    """What was now is before, unless this tick is worked out again; nothing is where it is too long ago to go on from.

    Where both ticks are quiet all else is nothing already, and what is kept will be written anew.
    """
    pair.quiet = 1 if pair.now.known == QUIET and pair.before.known == QUIET and not again else 0
    if pair.quiet:
        copy_kept(now, before)
    else:
        if not again:
            for k in range(MEMORY):
                before[k] = now[k]
        for k in range(MEMORY):
            now[k] = 0.0
    pair.span = pair.time - pair.before.time
    pair.fresh = 1 if pair.before.known == 0.0 or not 0.0 < pair.span <= MAX_MEMORY_AGE_STEPS * pair.dt else 0
    pair.shown = 1 if pair.fresh or pair.before.known == 1.0 else 0
    if pair.fresh:
        pair.span = pair.dt
        for k in range(MEMORY):
            before[k] = 0.0


@kernel
def copy_kept(now: Array, before: Array) -> None:
    """What a quiet tick remembers, which is before from here on."""
    for k in range(SLIP):
        before[k] = now[k]
    for k in range(PULL, FIRST):
        before[k] = now[k]
    for k in range(PACE, BENT):
        before[k] = now[k]
    for k in range(LET, LOAD):
        before[k] = now[k]


@kernel
def is_nothing_between(now: Array, first: int, last: int) -> bool:
    """Whether these numbers are 0."""
    nothing = True
    for k in range(first, last):
        nothing = nothing and now[k] == 0.0
    return nothing


@kernel
def fall_quiet(now: Array, pair: Pair) -> None:
    """After a tick in which shapes were not near: it is quiet if nothing of it is remembered but how they stand and move."""
    silent = pair.quiet == 1 or (
        is_nothing_between(now, SLIP, PULL) and is_nothing_between(now, FIRST, PACE)
        and is_nothing_between(now, BENT, LET) and is_nothing_between(now, LOAD, MEMORY)
    )  # fmt: skip
    if silent:
        pair.now.known = QUIET


@kernel
def stir(tick: Workspace, k: int, c: int, rate: float) -> None:
    """Add how blows at others have changed a rate: a tick of which that is remembered is not quiet."""
    tick.stirs[k, c] += rate
    tick.known = min(tick.known, 2.0)


@kernel
def stands_still(pair: Pair) -> bool:
    """Whether both shapes are where they were when this tick was looked at before."""
    still = True
    for k in range(4):
        for c in range(3):
            still = still and pair.a[k, c] == pair.now.pose[0, k, c] and pair.b[k, c] == pair.now.pose[1, k, c]
    return still


@kernel
def record_tick(pair: Pair) -> None:
    """Where shapes are and how they move; and what others do to them: what came about since, less what the contact itself did."""
    now, before = pair.now, pair.before
    now.time, now.known, now.pull = pair.time, 1.0 if pair.fresh else 2.0, before.pull
    pair.steady = 1 if not pair.fresh and (before.struck == 0.0 or before.struck > MAX_IMPACT_TICKS) else 0
    own, factor = room((4, 3)), 2.0 if before.known == 1.0 and before.within == 0.0 else 1.0
    if pair.steady:
        answer_to(pair, before.wrench, own)
    for k in range(4):
        for c in range(3):
            now.pose[0, k, c], now.pose[1, k, c] = pair.a[k, c], pair.b[k, c]
            now.rates[k, c] = pair.rates[k, c]
            pair.pace[k, c] = before.pace[k, c]
            if pair.steady:
                pair.pace[k, c] = factor * (pair.rates[k, c] - before.rates[k, c]) / pair.span - own[k, c]
                pair.pace[k, c] -= before.stirs[k, c] / pair.span
            now.pace[k, c] = pair.pace[k, c]


@kernel
def reset(pair: Pair, patch: Patch) -> None:
    """Nothing acts yet, and nothing is asked."""
    for c in range(3):
        pair.none[c] = patch.centre[c] = patch.normal[c] = 0.0
        for k in range(3):
            pair.wrench[k, c] = 0.0
    if pair.asked[0] != 0.0 or pair.asked[1] != 0.0:  # else its block is nothing already
        for p in range(6):
            for q in range(6):
                pair.stiff[p, q] = 0.0
    pair.asked[0] = pair.asked[1] = 0.0
    pair.stored, pair.takes, pair.struck, patch.whole = 0.0, 0.0, 0, 0.0
    pair.softened = pair.came = 0.0


# --- motions and answers ----------------------------------------------------------------------------------------------


@kernel
def relative(pair: Pair, rates: Array, x: Array, out: Array) -> None:
    """Velocity at a point of the second shape against the first."""
    a, b = pair.a[0], pair.b[0]
    for c in range(3):
        p, q = (c + 1) % 3, (c + 2) % 3
        out[c] = rates[2, c] - rates[0, c] + rates[3, p] * (x[q] - b[q]) - rates[3, q] * (x[p] - b[p])
        out[c] -= rates[1, p] * (x[q] - a[q]) - rates[1, q] * (x[p] - a[p])


@kernel(apart=True)
def turn_about(pair: Pair, rates: Array, x: Array, normal: Array, steady: Array, slip: Array, passing: Array) -> None:
    """How what goes with shapes moves at a point where they touch, the second against the first.

    `steady`: w x (w x r), by steady turning; `slip`: velocity; `passing`: w x slip with the turning of a flat side, over which the
    point goes with the other. On a round side what goes with it is its middle, and on a flat one what lies under that of the other.
    Of two boxes it does not show whose corner it is: there nothing passes.
    """
    p, q, round_a, round_b = room((3,)), room((3,)), pair.size_a[3], pair.size_b[3]
    for c in range(3):
        p[c] = x[c] + (round_b if round_a == 0.0 else -round_a) * normal[c] - pair.a[0, c]
        q[c] = x[c] + (-round_a if round_b == 0.0 else round_b) * normal[c] - pair.b[0, c]
    first, second = rates[1], rates[3]
    along_p, along_q, turn_p, turn_q = dot(first, p), dot(second, q), dot(first, first), dot(second, second)
    for c in range(3):
        steady[c] = (along_q * second[c] - turn_q * q[c]) - (along_p * first[c] - turn_p * p[c])
        i, j = (c + 1) % 3, (c + 2) % 3
        slip[c] = rates[2, c] - rates[0, c] + second[i] * q[j] - second[j] * q[i] - (first[i] * p[j] - first[j] * p[i])
        passing[c] = 0.0
    if pair.kind_a == HALF_SPACE or (round_a == 0.0 and round_b > 0.0):
        cross(first, slip, passing)
    elif round_b == 0.0 and round_a > 0.0:
        cross(second, slip, passing)


@kernel
def along(pair: Pair, rates: Array, x: Array, line: Array) -> float:
    """Its part along a line."""
    out = room((3,))
    relative(pair, rates, x, out)
    found: float = dot(out, line)
    return found


@kernel
def turning(rates: Array, line: Array) -> float:
    """How fast the second shape turns against the first, about a line."""
    found = 0.0
    for c in range(3):
        found += (rates[3, c] - rates[1, c]) * line[c]
    return found


@kernel
def answer_of(mobility: Array, force: Array, moment: Array, sign: float, slide: Array, spin: Array) -> None:
    """Velocity and turning of a shape per force on its middle, times a sign, and moment."""
    for i in range(3):
        slid, spun = 0.0, 0.0
        for j in range(3):
            slid += mobility[0, i, j] * (sign * force[j]) + mobility[1, i, j] * moment[j]
            spun += mobility[1, j, i] * (sign * force[j]) + mobility[2, i, j] * moment[j]
        slide[i], spin[i] = slid, spun


@kernel
def answer_to(pair: Pair, wrench: Array, rates: Array) -> None:
    """Rates per force on the middle of the second shape, its opposite on that of the first, and a moment on each."""
    answer_of(pair.mobility_a, wrench[0], wrench[1], -1.0, rates[0], rates[1])
    answer_of(pair.mobility_b, wrench[0], wrench[2], 1.0, rates[2], rates[3])
    if pair.shared != 0:
        answer_across(pair, wrench, rates)


@kernel(written_out=False)
def answer_across(pair: Pair, wrench: Array, rates: Array) -> None:
    """Add how each shape moves by what acts on the other one, as both hang together in joints."""
    pushes = room((2, 6))
    for c in range(3):
        pushes[0, c], pushes[0, 3 + c] = -wrench[0, c], wrench[1, c]
        pushes[1, c], pushes[1, 3 + c] = wrench[0, c], wrench[2, c]
    for side in range(2):
        moved, pushed = 2 * side, pushes[1 - side]
        for i in range(6):
            value = 0.0
            for j in range(6):
                share = pair.cross[i, j] if (side == 0) == (pair.shared > 0) else pair.cross[j, i]
                value += share * pushed[j]
            rates[moved + i // 3, i % 3] += value


@kernel(apart=True)
def respond_to(pair: Pair, x: Array, f: Array, m: Array, rates: Array) -> None:
    """The same per impulse f at x and angular impulse m on the second shape, with their opposites on the first."""
    wrench, a, b = room((3, 3)), pair.a[0], pair.b[0]
    for c in range(3):
        p, q = (c + 1) % 3, (c + 2) % 3
        wrench[0, c] = f[c]
        wrench[1, c] = -(x[p] - a[p]) * f[q] + (x[q] - a[q]) * f[p] - m[c]
        wrench[2, c] = (x[p] - b[p]) * f[q] - (x[q] - b[q]) * f[p] + m[c]
    answer_to(pair, wrench, rates)


@kernel
def push(pair: Pair, x: Array, line: Array, size: float, wrench: Array) -> None:
    """Add a force at a point to that on the second shape and to the moments on both."""
    a, b = pair.a[0], pair.b[0]
    for c in range(3):
        p, q = (c + 1) % 3, (c + 2) % 3
        wrench[0, c] += size * line[c]
        wrench[1, c] -= size * ((x[p] - a[p]) * line[q] - (x[q] - a[q]) * line[p])
        wrench[2, c] += size * ((x[p] - b[p]) * line[q] - (x[q] - b[q]) * line[p])


@kernel
def wind(line: Array, size: float, wrench: Array) -> None:
    """Add a moment about a line to that on the second shape, and take it from that on the first."""
    for c in range(3):
        wrench[1, c] -= size * line[c]
        wrench[2, c] += size * line[c]
