"""Many bodies in natural coordinates at once: everything that follows from their data, one row per body.

The physics of a body at the start is written here, once. A body alone is a list of one, and its row is the same to the
last bit as among thousands: sums over short axes are written out (`short_sums.py`), inverses and factors are taken
matrix by matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from components.bodies.identity_cache import GroupCache, cached_by_identity
from components.bodies.short_sums import combined, cross, inverted, outer, product, trace, transposed
from modular.body import StackMembers
from modular.elements import Array, Indices
from modular.errors import ModelError
from modular.tiles import TileRows

if TYPE_CHECKING:
    from components.bodies.natural.description import NaturalBody


class Layout(NamedTuple):
    """Where mass, elements and ports of n bodies are, in the world at the start."""

    elements: Array  # A, B, u, v or fewer [m], [-], (n, e, d)
    mass: Array  # [kg], (n,)
    centre: Array  # mass centre [m], (n, d)
    second_moment: Array  # about the centre, integral of r r^T dm [kg m^2], (n, d, d)
    ports: Array  # points of the ports of all bodies, one body after the other, in the order of port_names [m], (p, d)
    port_counts: Indices  # how many ports each body has, (n,)
    points: int = 2  # how many of the elements are points: those in front; of fewer elements all

    @property
    def port_starts(self) -> Indices:
        """First row of each body in `ports`, and their number at the end, (n + 1,)."""
        return np.concatenate([[0], np.cumsum(self.port_counts)]).astype(np.int64)

    def of(self, rows: Sequence[int] | Indices) -> Layout:
        """The layout of some of the bodies, in their order."""
        picked = np.asarray(rows, np.int64)
        counts = self.port_counts[picked]
        begins = self.port_starts[picked] - (np.cumsum(counts) - counts)  # of each, where those before it end
        numbers = np.repeat(begins, counts) + np.arange(int(counts.sum()))
        elements, mass, centre, second_moment = (np.asarray(column)[picked] for column in self[:4])
        return Layout(elements, mass, centre, second_moment, self.ports[numbers], counts, self.points)

    @property
    def constants_keys(self) -> list[bytes]:
        """Everything but place and velocity, to the last bit: bodies for which it is the same are of one make."""
        n, first = len(self.mass), self.elements[:, 0]
        parts = (spans_of(self.elements, self.points), self.mass, self.centre - first, self.second_moment)
        own = np.concatenate([part.reshape(n, -1) for part in parts], axis=1)
        ports = self.ports - np.repeat(first, self.port_counts, axis=0)
        data, more, size = own.tobytes(), ports.tobytes(), own.itemsize * own.shape[1]
        ends = (ports.itemsize * ports.shape[1] * self.port_starts).tolist()
        return [data[size * k : size * (k + 1)] + more[ends[k] : ends[k + 1]] for k in range(n)]


@dataclass(frozen=True, kw_only=True)
class RecordRows:
    """What a record of states of n bodies with e elements in d dimensions is read with.

    The weights of port number i of body number k are `port_weights[port_starts[k] + i]`, in the order of `port_names`.
    """

    mass: Array  # [kg], (n,)
    mass_matrix: Array  # (A1.12) without its unit matrices, (n, e, e)
    gram: Array  # w_a . w_b, the constants of the internal constraints (III.8), (n, e - 1, e - 1)
    centre_weights: Array  # the mass centre, put together from the elements, (n, e)
    port_weights: Array  # the points of all ports, put together from the elements, (p, e)
    port_starts: Indices  # first row of each body in `port_weights`, and their number at the end, (n + 1,)


@dataclass(frozen=True, kw_only=True)
class NaturalRows(RecordRows):
    """All that follows from their data; m = e (e - 1) / 2 internal constraints."""

    elements: Array  # A, B, u, v (or fewer) at the start [m], [-], (n, e, d)
    initial_velocity: Array  # of the elements [m/s], [1/s], (n, e, d)
    centre: Array  # mass centre at the start [m], (n, d)
    second_moment: Array  # about the mass centre [kg m^2], (n, d, d)
    spans: Array  # w = (B - A, u, v); their transpose is X_0 of (A1.6), (n, e - 1, d)
    inverse_spans: Array  # a vector r of the body is put together by r @ inverse_spans (A1.8), (n, d, e - 1)
    inverse_mass: Array  # symmetric to the last bit, (n, e, e)
    local: Array  # S = H M^-1 H^T, constant as long as the body is rigid, (n, m, m)
    fall: Array  # 1 for points, 0 for directions, (n, e)
    slip: Array  # 1/sqrt(mass), (n,)
    spin: Array  # 1/sqrt(inertia) where it is the same about every axis that turns the body, else 0, (n,)
    axes: Array  # three directions t put together from the elements, with sum t t^T = inertia^-1, (n, 3, e)


def rows_of(bodies: Sequence[NaturalBody]) -> NaturalRows:
    """Everything that follows from the data of sound bodies (`check`) of one shape (e, d), one row per body."""
    layout = lay_out(bodies)
    return rows_of_layout(layout, initial_velocity(bodies, layout))


Group = tuple[Layout, RecordRows]
FEW = 64  # bodies of which it is kept what follows from their data: records of small systems are read over and over
found_groups: GroupCache[NaturalBody, Group] = GroupCache()


def _found_of(bodies: Sequence[NaturalBody]) -> Group:
    layout = lay_out(bodies)
    return layout, _record_rows_of(layout)


def rows_of_layout(layout: Layout, velocity: Array) -> NaturalRows:
    """The same of bodies that are laid out, with the velocities of their elements.

    But for the first few it needs differences of places alone, so bodies of one make have the same rows.
    """
    spans, inverse_spans = _spans_and_inverse(layout)
    read = _record_rows(layout, spans, inverse_spans)
    points = min(layout.points, layout.elements.shape[1])
    inverse = inverted(read.mass_matrix)
    inverse = 0.5 * (inverse + transposed(inverse))
    spin, axes = _turning(layout.second_moment, inverse_spans, points)
    return NaturalRows(
        **vars(read),
        elements=layout.elements,
        initial_velocity=velocity,
        centre=layout.centre,
        second_moment=layout.second_moment,
        spans=spans,
        inverse_spans=inverse_spans,
        inverse_mass=inverse,
        local=local_operators(read.gram, inverse, points),
        fall=falling(layout.elements, points),
        slip=1.0 / np.sqrt(layout.mass),
        spin=spin,
        axes=axes,
    )


def record_rows_of(bodies: Sequence[NaturalBody]) -> RecordRows:
    """What a record of bodies of one shape is read with, one row per body: a third of the work of `rows_of`."""
    return _record_rows_of(lay_out(bodies))


def _record_rows_of(layout: Layout) -> RecordRows:
    return _record_rows(layout, *_spans_and_inverse(layout))


def kept_record_rows(bodies: Sequence[NaturalBody]) -> RecordRows:
    """The same, once where they stay together."""
    if not isinstance(bodies, StackMembers | TileRows):
        return record_rows_of(bodies)
    if bodies.derived is None:
        those = cast("Sequence[NaturalBody]", bodies)
        few = isinstance(bodies, StackMembers) and len(bodies) <= FEW
        bodies.derived = found_groups.find(those, _found_of)[1] if few else record_rows_of(those)
    found: RecordRows = bodies.derived
    return found


@cached_by_identity
def record_rows_of_one(body: NaturalBody) -> RecordRows:
    """The same of one, which is in what `rows_of` finds as well, for a third of the work."""
    own, found = _found_together.pop(id(body), (None, None))
    return found if own is body and found is not None else record_rows_of([body])


@cached_by_identity
def layout_of_one(body: NaturalBody) -> Layout:
    """Mass, elements and ports of one."""
    own, found = _laid_out_together.pop(id(body), (None, None))
    return found if own is body and found is not None else type(body).lay_out([body])


def find_together(bodies: Sequence[NaturalBody]) -> None:
    """Find both of several at once, before each is asked for its own."""
    alike: dict[tuple[int, int, int], list[NaturalBody]] = {}
    for body in bodies:
        alike.setdefault((*body.shape, body.point_count), []).append(body)
    _found_together.clear()
    _laid_out_together.clear()
    for those in alike.values():
        layout, rows = found_groups.find(those, _found_of)
        for k, body in enumerate(those):
            _laid_out_together[id(body)] = body, layout.of([k])
            ports = slice(int(rows.port_starts[k]), int(rows.port_starts[k + 1]))
            own = {
                field: getattr(rows, field)[k : k + 1] for field in ("mass", "mass_matrix", "gram", "centre_weights")
            }
            starts = rows.port_starts[k : k + 2] - rows.port_starts[k]
            _found_together[id(body)] = (
                body,
                RecordRows(**own, port_weights=rows.port_weights[ports], port_starts=starts),
            )


# by identity, until it is asked for
_found_together: dict[int, tuple[NaturalBody | None, RecordRows | None]] = {}
_laid_out_together: dict[int, tuple[NaturalBody | None, Layout | None]] = {}


def _spans_and_inverse(layout: Layout) -> tuple[Array, Array]:
    spans = spans_of(layout.elements, min(layout.points, layout.elements.shape[1]))
    return spans, _inverse_spans(spans)


def _record_rows(layout: Layout, spans: Array, inverse_spans: Array) -> RecordRows:
    elements, mass, centre = layout.elements, layout.mass, layout.centre
    points = min(layout.points, elements.shape[1])
    # mass matrix
    a = combined(centre - elements[:, 0], inverse_spans)  # (A1.9)
    z = product(product(transposed(inverse_spans), layout.second_moment), inverse_spans)
    return RecordRows(
        mass=mass,
        mass_matrix=_mass_matrix(mass, a, z, points),
        gram=product(spans, transposed(spans)),
        centre_weights=element_weights(a, points, point=True),
        port_weights=_port_weights(layout, inverse_spans),
        port_starts=layout.port_starts,
    )


def _port_weights(layout: Layout, inverse_spans: Array) -> Array:
    elements, counts = layout.elements, layout.port_counts
    owner = np.repeat(np.arange(len(counts)), counts)
    places = combined(layout.ports - elements[owner, 0], inverse_spans[owner])
    return element_weights(places, min(layout.points, elements.shape[1]), point=True)


def port_rows_of(bodies: Sequence[NaturalBody]) -> tuple[Array, Indices]:
    """`port_weights` and `port_starts` of a record: of variants side by side, which are asked for nothing else, these alone."""
    if isinstance(bodies, TileRows) and bodies.derived is None:
        layout = lay_out(cast("Sequence[NaturalBody]", bodies))
        return _port_weights(layout, _spans_and_inverse(layout)[1]), layout.port_starts
    rows = kept_record_rows(bodies)
    return rows.port_weights, rows.port_starts


def lay_out(bodies: Sequence[NaturalBody]) -> Layout:
    """Mass, elements and ports of bodies of one shape, any types and any bases, in their order."""
    groups: dict[object, list[int]] = {}
    if isinstance(bodies, TileRows) and len({(type(body), body.family) for body in bodies.originals}) == 1:
        alike: Layout = type(bodies.originals[0]).lay_out(bodies)
        return alike
    for k, body in enumerate(bodies):
        groups.setdefault((type(body), body.family), []).append(k)
    if not groups:
        raise ModelError("rows_of: the list of bodies is empty; give at least one.")
    if len(groups) == 1:
        return type(bodies[0]).lay_out(bodies)
    parts = [type(bodies[group[0]]).lay_out([bodies[k] for k in group]) for group in groups.values()]
    shapes = {(*part.elements.shape[1:], min(part.points, part.elements.shape[1])) for part in parts}
    if len(shapes) > 1:
        raise ModelError(
            f"rows_of: the bodies have shapes {sorted(shapes)}; give bodies with equally many elements and points."
        )
    elements, mass, centre, moment, ports, counts = (
        np.concatenate([np.asarray(part[column]) for part in parts]) for column in range(6)
    )
    whole = Layout(elements, mass, centre, moment, ports, counts, parts[0].points)
    return whole.of(np.argsort(np.concatenate(list(groups.values()))).tolist())


def falling(elements: Array, points: int) -> Array:
    """1 for points, 0 for directions, (n, e)."""
    fall = np.zeros(elements.shape[:2])
    fall[:, :points] = 1.0
    return fall


def spans_of(elements: Array, points: int) -> Array:
    """w = (B - A, u, v): points as seen from the first, then directions, (..., e, d) to (..., e - 1, d)."""
    arms = elements[..., 1:points, :] - elements[..., 0:1, :]
    return np.concatenate([arms, elements[..., max(points, 1) :, :]], axis=-2)


def element_weights(c: Array, points: int, *, point: bool) -> Array:
    """x = A + c1 (B - A) + c2 u + c3 v as weights on A, B, u, v, (..., e); a direction has no A of its own."""
    first = np.full((*c.shape[:-1], 1), 1.0 if point else 0.0)
    for k in range(points - 1):
        first = first - c[..., k : k + 1]
    return np.concatenate([first, c], axis=-1)


def _inverse_spans(spans: Array) -> Array:
    """X_0^-T, or its pseudo-inverse where the vectors do not span everything."""
    vectors, d = spans.shape[1:]
    if vectors == d:
        return inverted(spans)
    return product(transposed(spans), inverted(product(spans, transposed(spans))))


def _mass_matrix(mass: Array, a: Array, z: Array, points: int) -> Array:
    """(A1.12) from the coordinates `a` of the mass centre and the second moment `z` about it in the same coordinates."""
    n, vectors = a.shape
    matrix = np.empty((n, vectors + 1, vectors + 1))
    matrix[:, 0, 0] = mass
    # z = X_0^-1 J X_0^-T with J about A; parallel axes: J_A = J_G + m (G - A)(G - A)^T     (A1.10), (A1.11)
    matrix[:, 1:, 1:] = z = z + mass[:, None, None] * outer(a, a)
    if vectors:
        matrix[:, 0, 1:] = mass[:, None] * a
        for k in range(points - 1):
            matrix[:, 0, 0] -= 2.0 * mass * a[:, k]
            matrix[:, 0, 1:] -= z[:, k]
            for other in range(points - 1):
                matrix[:, 0, 0] += z[:, k, other]
        matrix[:, 1:, 0] = matrix[:, 0, 1:]
    return matrix


def local_operators(gram: Array, inverse_mass: Array, points: int) -> Array:
    """S = H M^-1 H^T from the Gram matrix of the vectors alone, (n, m, m)."""
    n, vectors = gram.shape[:2]
    # how the vectors answer each other: y = D M^-1 D^T, with w = D q
    rows = spans_of(inverse_mass, points)
    y = transposed(spans_of(transposed(rows), points))
    answers, products = (np.concatenate([x.reshape(n, vectors**2), np.zeros((n, 1))], axis=1) for x in (y, gram))
    first, *others = _pairings(vectors)
    local: Array = answers[:, first[0]] * products[:, first[1]]
    for moved, held in others:
        local += answers[:, moved] * products[:, held]
    return local


@cache
def _pairings(vectors: int) -> Indices:
    """Which answers meet which products in each entry of S, four times, (4, 2, m, m); the last place of each is a zero."""
    pairs = [(i, j) for i in range(vectors) for j in range(i, vectors)]
    # d(w_i . w_j) = w_j . dw_i + w_i . dw_j; the pair (i, i) with its factor 1/2 counts once
    terms = [[(i, j), (j, i)] if i != j else [(i, i)] for i, j in pairs]
    found = np.full((4, 2, len(pairs), len(pairs)), vectors**2)
    for r, row in enumerate(terms):
        for s, column in enumerate(terms):
            together = [(a, b) for a in row for b in column]
            for k, ((moved, by), (other, at)) in enumerate(together):
                found[k, :, r, s] = moved * vectors + other, by * vectors + at
    return found


def _turning(second_moment: Array, inverse_spans: Array, points: int) -> tuple[Array, Array]:
    """How readily bodies turn: 1/sqrt(inertia) about every axis, or three directions t with sum t t^T = inertia^-1.

    Principal axes over sqrt(inertia) are three such directions; so are the rows of L^-1 where inertia = L L^T, which
    need no eigenvectors.
    """
    n, d, vectors = inverse_spans.shape
    spin, axes = np.zeros(n), np.zeros((n, 3, vectors + 1))
    if vectors == 0:
        return spin, axes
    total = trace(second_moment)
    if d == 2 or vectors == 1:
        return 1.0 / np.sqrt(total), axes
    inertia = total[:, None, None] * np.eye(3) - second_moment
    directions = inverted(np.asarray(np.linalg.cholesky(inertia)))
    axes[:] = element_weights(product(directions, inverse_spans), points, point=False)
    return spin, axes


def initial_velocity(bodies: Sequence[NaturalBody], layout: Layout) -> Array:
    """Velocities of the elements from the velocity of the mass centre and the angular velocity, (n, e, d)."""
    elements, centre = layout.elements, layout.centre
    d = elements.shape[2]
    if isinstance(bodies, TileRows):
        if not any(bodies.given(field) for field in ("velocity", "angular_velocity")):
            return np.zeros(elements.shape)
        linear, angular = _given_rows(bodies, "velocity", d), _given_rows(bodies, "angular_velocity", 2 * d - 3)
    else:
        given = [body.velocity for body in bodies], [body.angular_velocity for body in bodies]
        if all(value is None for values in given for value in values):
            return np.zeros(elements.shape)
        linear, angular = _given(given[0], d), _given(given[1], 2 * d - 3)
    fall = falling(elements, layout.points)
    arms = elements - fall[:, :, None] * centre[:, None, :]
    if d == 2:
        turning = angular[:, :, None] * np.stack([-arms[:, :, 1], arms[:, :, 0]], axis=-1)
    else:
        turning = cross(np.broadcast_to(angular[:, None, :], arms.shape), arms)
    return np.asarray(fall[:, :, None] * linear[:, None, :] + turning)


def _given_rows(bodies: TileRows, field: str, size: int) -> Array:
    """The same of bodies that differ in plain fields."""
    found = np.zeros((len(bodies) // len(bodies.members), len(bodies.members), size))
    for k, (name, one) in enumerate(zip(bodies.members, bodies.originals, strict=True)):
        values = bodies.tiles.columns.get(name, {}).get(field, getattr(one, field))
        if values is not None:
            found[:, k] = np.asarray(values, float).reshape(-1, size)
    return found.reshape(-1, size)


def _given(values: Sequence[Sequence[float] | float | None], size: int) -> Array:
    """What was given as rows, zeros where nothing was, (n, size)."""
    found = np.zeros((len(values), size))
    given = {row: value for row, value in enumerate(values) if value is not None}
    if given:
        found[list(given)] = np.array([np.ravel(value) for value in given.values()])
    return found
