"""Finite elements reduced to a few modes of a free body.

R. R. Craig, M. C. C. Bampton, "Coupling of substructures for dynamic analyses", AIAA Journal 6 (1968) 1313-1319: of a body that is
held at its ports (b) the first modes Phi, and beside them what it does (i) where each motion of a port is given, at rest,

    u = V (u_b, eta),     V = [ 1      0  ]     Psi = -K_ii^-1 K_ib,    K_ii Phi = M_ii Phi omega^2.
                              [ Psi   Phi ]

So forces at ports bend it as they should at rest, whatever the number of modes. What is left of the matrices, V^T M V and
V^T K V, is then taken apart once more into the rigid motions, which become the frame of the body, and the modes of the free one,
which follow from the rest: their mass matrix is 1, their stiffness omega^2, and none of them moves the mass centre or turns the
whole. With the moments of these modes, sums of m e_a e_b, the floating frame needs no finite element any more (A. A. Shabana,
"Dynamics of multibody systems", Cambridge University Press 2013, 5 and 6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sparse
from scipy.sparse.linalg import ArpackError, eigsh, splu

from modular.elements import Array
from modular.errors import ModelError
from modular.one_thread import on_one_thread

if TYPE_CHECKING:
    from components.bodies.beam.description import Beam

OWNER = "ModalBody.reduced"
MAX_DENSE_COORDINATES = 300  # coordinates inside up to which all modes are worked out, and the first kept
RIGID_MODE_TOLERANCE = 1e-6  # of the largest stiffness: what a rigid motion may meet
ZERO_STIFFNESS_TOLERANCE = 1e-9  # of the largest: stiffness that is none
DRAWN = "#"


class Reduced(NamedTuple):
    """What is known of a body by its modes; fields of ModalBody."""

    mass: float
    centre: Any
    moments: Any
    frequencies: Any
    ports: dict[str, Any]
    shapes: dict[str, Any]
    lines: list[tuple[str, str]]


@on_one_thread
def reduced(
    places: Any, mass: Any, stiffness: Any, ports: Mapping[str, int | Sequence[int]], modes: int,
    lines: Sequence[tuple[int, int]] = (),
) -> Reduced:  # fmt: skip
    """The modes of finite elements."""
    nodes = np.asarray(places, float)
    if nodes.ndim != 2 or nodes.shape[1] not in (2, 3) or not np.all(np.isfinite(nodes)):
        raise ModelError(f"{OWNER}: places have the shape {nodes.shape}; give two or three numbers for each node.")
    m, k = _matrix("mass", mass), _matrix("stiffness", stiffness)
    count, d = nodes.shape
    width = m.shape[0] // count
    turning = 1 if d == 2 else 3
    if m.shape != k.shape or m.shape[0] != width * count or width not in (d, d + turning):
        raise ModelError(
            f"{OWNER}: mass and stiffness have the shapes {m.shape} and {k.shape}; for {count} nodes give {count * d} rows and "
            f"columns, or {count * (d + turning)} where nodes turn too."
        )
    for name, matrix in (("mass", m), ("stiffness", k)):
        most = abs(matrix).max()
        if not np.isfinite(most) or abs(matrix - matrix.T).max() > 1e-8 * most:
            raise ModelError(f"{OWNER}: the {name} matrix is not symmetric, or contains a value that is not a number.")
    if not isinstance(modes, int) or modes < 0:
        raise ModelError(f"{OWNER}: modes = {modes!r}; give a whole number, 0 or more.")
    held, tie = _tied(nodes, width, ports)
    m, k = tie.T @ m @ tie, tie.T @ k @ tie
    rigid = tie.T @ _rigid(nodes, width)
    rigid = sparse.linalg.spsolve((tie.T @ tie).tocsc(), rigid) if tie.shape[0] != tie.shape[1] else rigid
    basis = _craig_bampton(m.tocsc(), k.tocsc(), held, modes)
    shapes, squares = _free(m, k, basis, rigid)
    return _described(nodes, width, tie, m, shapes, squares, ports, lines, mass=_matrix("mass", mass))


def _matrix(name: str, given: Any) -> Any:
    try:
        found = sparse.csr_matrix(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{OWNER}: {name} is not a matrix ({error}).") from error
    return found


def _tied(nodes: Array, width: int, ports: Mapping[str, Any]) -> tuple[int, Any]:
    """How many coordinates ports have, and how those of all nodes follow from them and, behind, from those of the free nodes."""
    count, d = nodes.shape
    turning = 1 if d == 2 else 3
    if not isinstance(ports, Mapping) or not ports:
        raise ModelError(f"{OWNER}: ports = {ports!r}; give at least one: name -> a node, or several.")
    rows: list[Any] = []
    columns: list[Any] = []
    values: list[Any] = []
    taken: dict[int, str] = {}
    held = 0
    for name, given in ports.items():
        group = _group(name, given, count, taken)
        if len(group) == 1:
            size = width
            for c in range(width):
                rows.append(group[0] * width + c)
                columns.append(held + c)
                values.append(1.0)
        else:
            size = d + turning
            arms = nodes[group] - nodes[group].mean(axis=0)
            if (
                np.linalg.matrix_rank(arms, tol=1e-9 * max(np.ptp(nodes, axis=0).max(), 1e-300)) < min(2, d - 1)
                and width == d
            ):
                raise ModelError(
                    f"{OWNER}: the nodes of port '{name}' lie on a line; add one off the line, which defines the "
                    "rotation of the port."
                )
            for node, arm in zip(group, arms, strict=True):
                block = _follow(arm, width)
                at, by = np.nonzero(block)
                rows.extend(node * width + at)
                columns.extend(held + by)
                values.extend(block[at, by])
        held += size
    free = [node for node in range(count) if node not in taken]
    for number, node in enumerate(free):
        for c in range(width):
            rows.append(node * width + c)
            columns.append(held + number * width + c)
            values.append(1.0)
    shape = (count * width, held + len(free) * width)
    return held, sparse.csr_matrix((values, (rows, columns)), shape=shape)


def _group(name: str, given: Any, count: int, taken: dict[int, str]) -> list[int]:
    """The nodes of a port."""
    group: list[Any] = [given] if isinstance(given, int | np.integer) else list(given) if np.iterable(given) else []
    wrong = [node for node in group if not isinstance(node, int | np.integer) or not 0 <= node < count]
    if not isinstance(name, str) or not name or name.startswith(DRAWN) or "." in name:
        raise ModelError(f"{OWNER}: {name!r} is not a port name; give a text without a dot that begins with a letter.")
    if not group or wrong:
        raise ModelError(
            f"{OWNER}: port '{name}' holds {(wrong or [given])[0]!r}; give numbers of nodes, 0 to {count - 1}."
        )
    for node in group:
        if node in taken:
            raise ModelError(
                f"{OWNER}: node {node} belongs to port '{taken[node]}' and to port '{name}'; it can belong to only one."
            )
        taken[node] = name
    return [int(node) for node in group]


def _follow(arm: Array, width: int) -> Array:
    """How a node follows a rigid piece that moves and turns, (width, d + turning)."""
    d = len(arm)
    if d == 2:
        block = np.array([[1.0, 0.0, -arm[1]], [0.0, 1.0, arm[0]], [0.0, 0.0, 1.0]])
    else:
        x, y, z = arm
        block = np.eye(6)
        block[:3, 3:] = [[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]
    return block[:width]


def _rigid(nodes: Array, width: int) -> Array:
    """Rigid motions of all nodes about the origin, (coordinates, 3 or 6)."""
    return np.concatenate([_follow(place, width) for place in nodes])


def _craig_bampton(m: Any, k: Any, held: int, modes: int) -> Array:
    """V: what ports do, and the first modes of what is held there."""
    size = m.shape[0]
    inside = size - held
    if inside == 0:
        return np.eye(size)
    k_ii, k_ib = k[held:, held:], k[held:, :held]
    try:
        factor = splu(k_ii.tocsc())
        psi = -factor.solve(k_ib.toarray())
    except RuntimeError as error:
        raise ModelError(_loose()) from error
    if not np.all(np.isfinite(psi)) or abs(k_ii @ psi + k_ib).max() > 1e-6 * abs(k_ii).max() * max(
        1.0, np.abs(psi).max()
    ):
        raise ModelError(_loose())
    basis = np.zeros((size, held + min(modes, inside)))
    basis[:held, :held] = np.eye(held)
    basis[held:, :held] = psi
    if modes:
        basis[held:, held:] = _first_modes(m[held:, held:], k_ii, min(modes, inside))
    return basis


def _loose() -> str:
    return (
        f"{OWNER}: with its ports held the body can still move without resistance; give the ports enough nodes "
        "(several each, where nodes do not turn), and check that all nodes are connected."
    )


def _first_modes(m: Any, k: Any, modes: int) -> Array:
    """The first of K phi = M phi omega^2."""
    size = m.shape[0]
    if size <= MAX_DENSE_COORDINATES or modes >= size - 1:
        dense = np.asarray(m.todense())
        if np.linalg.eigvalsh(dense).min() <= 0.0:
            raise ModelError(_massless())
        return np.asarray(scipy.linalg.eigh(np.asarray(k.todense()), dense, subset_by_index=(0, modes - 1))[1])
    try:
        # a start of ours: theirs comes from dice, and the last bits with it
        values, vectors = eigsh(k.tocsc(), modes, m.tocsc(), sigma=0.0, v0=np.linspace(1.0, 2.0, size))
    except (ArpackError, RuntimeError) as error:
        raise ModelError(f"{OWNER}: its first {modes} modes were not found ({error}); ask for fewer.") from error
    return np.asarray(vectors[:, np.argsort(values)])


def _massless() -> str:
    return f"{OWNER}: the mass matrix is not positive; give each node a mass, and an inertia where it turns."


def _free(m: Any, k: Any, basis: Array, rigid: Array) -> tuple[Array, Array]:
    """Modes of the free body within a basis, orthonormal in the mass matrix, and the squares of their frequencies."""
    mass, stiffness = basis.T @ (m @ basis), basis.T @ (k @ basis)
    most = np.abs(np.diag(stiffness)).max(initial=0.0)
    scale = np.sqrt(np.diag(mass).clip(1e-300))
    amounts, *_ = np.linalg.lstsq(basis, rigid, rcond=None)
    missed = np.abs(basis @ amounts - rigid).max() / np.abs(rigid).max()
    resists = np.abs(k @ rigid).max() / (abs(k).max() * np.abs(rigid).max())
    if resists > RIGID_MODE_TOLERANCE:
        raise ModelError(
            f"{OWNER}: the stiffness matrix resists rigid motions, to {resists:.1g} of its largest number; remove "
            "all supports, joints will hold the body."
        )
    if missed > RIGID_MODE_TOLERANCE:
        raise ModelError(_loose())
    across = scipy.linalg.null_space((amounts.T @ mass) / scale) / scale[:, None]  # M-orthogonal to rigid motions
    inner = across.T @ mass @ across
    if np.linalg.eigvalsh(inner).min() <= 0.0:
        raise ModelError(_massless())
    squares, vectors = scipy.linalg.eigh(across.T @ stiffness @ across, inner)
    if len(squares) and squares.min() <= ZERO_STIFFNESS_TOLERANCE * squares.max() * min(1.0, most):
        raise ModelError(
            f"{OWNER}: the body can move without resistance in other ways than as a rigid body; check which nodes "
            "are not connected."
        )
    shapes = basis @ across @ vectors
    places = np.abs(shapes).argmax(axis=0)
    return shapes * np.sign(shapes[places, np.arange(shapes.shape[1])]), squares


def _described(
    nodes: Array, width: int, tie: Any, m: Any, shapes: Array, squares: Array, ports: Mapping[str, Any],
    lines: Sequence[tuple[int, int]], mass: Any,
) -> Reduced:  # fmt: skip
    """Its mass, moments and ports."""
    count, d = nodes.shape
    modes = shapes.shape[1]
    turning = 1 if d == 2 else 3
    whole = (tie @ shapes).reshape(count, width, modes)
    between = sum(mass[c::width, c::width] for c in range(d)) / d  # the mass that two nodes have in common
    total = float(between.sum())
    centre = np.asarray(between.sum(axis=0)).ravel() @ nodes / total
    fields = np.concatenate([(nodes - centre)[None], whole[:, :d].transpose(2, 0, 1)])  # e_a of all nodes
    flat = fields.transpose(1, 0, 2).reshape(count, -1)
    moments = (flat.T @ (between @ flat)).reshape(1 + modes, d, 1 + modes, d).transpose(0, 2, 1, 3)
    spins = _rigid(nodes - centre, width)[:, d:]
    inertia = spins.T @ (mass @ spins)  # with that of nodes that turn
    half = 0.5 * np.trace(inertia) * np.eye(d)
    moments[0, 0] = half - inertia if d == 3 else half
    found_places: dict[str, Any] = {}
    found_shapes: dict[str, Any] = {}
    at = 0
    for name, given in ports.items():
        group = _group(name, given, count, {})
        size = width if len(group) == 1 else d + turning
        found_places[name] = nodes[group].mean(axis=0)
        found_shapes[name] = np.concatenate([shapes[at : at + size].T, np.zeros((modes, d + turning - size))], axis=1)
        at += size
    named = {group[0]: name for name, given in ports.items() if len(group := _group(name, given, count, {})) == 1}
    drawn = []
    for line in lines:
        pair = []
        for node in line:
            if not 0 <= int(node) < count:
                raise ModelError(f"{OWNER}: lines hold {node!r}; give pairs of nodes, 0 to {count - 1}.")
            name = named.setdefault(int(node), f"{DRAWN}{int(node)}")
            if name not in found_places:
                found_places[name] = nodes[int(node)]
                found_shapes[name] = np.concatenate(
                    [whole[int(node)].T, np.zeros((modes, d + turning - width))], axis=1
                )
            pair.append(name)
        drawn.append((pair[0], pair[1]))
    return Reduced(total, centre, moments, np.sqrt(squares), found_places, found_shapes, drawn)


@on_one_thread
def of_beam(beam: Beam, modes: int) -> Reduced:
    """The modes of a beam, at its ports (beam/strain.py: its strains where nothing bends it)."""
    d, n, length = beam.dimension, beam.elements + 1, beam.spacing
    f = 3 if d == 2 else 6
    axes = beam.own_axes
    turn = np.eye(f)  # from the axes of the world to its own
    turn[:d, :d] = axes.T
    if d == 3:
        turn[3:, 3:] = axes.T
    slope = np.concatenate([-turn, turn], axis=1)  # (e, kappa) of two neighbours
    half = 0.5 * length
    if d == 2:
        slope[1, [2, 5]] = -half  # e x turning, half of each
    else:
        for node in range(2):
            slope[1, 6 * node + 3 : 6 * node + 6] += -half * turn[5, 3:]
            slope[2, 6 * node + 3 : 6 * node + 6] += half * turn[4, 3:]
    element = slope.T @ (beam.stiffness_of_pieces[:, None] / length * slope)
    stiffness, mass = np.zeros((n * f, n * f)), np.zeros((n * f, n * f))
    for k in range(n - 1):
        stiffness[f * k : f * (k + 2), f * k : f * (k + 2)] += element
    for k, values in enumerate(beam.masses):
        mass[f * k : f * (k + 1), f * k : f * (k + 1)] = turn.T @ (values[:, None] * turn)
    places = beam.start_of_nodes[:, :d]
    ports = {port: beam.node_of(port) for port in beam.port_names}
    return reduced(places, mass, stiffness, ports, modes, [(k, k + 1) for k in range(n - 1)])
