"""The program that a French course on multibody systems in the plane has its readers write, as an independent solution.

Renaud and Dion 2024, "Programmer un logiciel multicorps en 2D". Solids have q = (x, z, theta), theta turning X towards -Z; their
equations are assembled into (17) and, with hinges, into the bordered system (20) in its variant 3. Without Baumgarte's terms:
tolerances are so tight that nothing drifts.
"""

import numpy as np

from lazily import Lazily

integrate = Lazily("scipy.integrate")

G = 9.81  # [m/s^2]


def rotation(theta):
    """(1): axes of a solid into those of the world."""
    c, s = np.cos(theta), np.sin(theta)
    return np.array([[c, s], [-s, c]])


def rotation_v(theta):
    """(5): its derivative by the angle."""
    c, s = np.cos(theta), np.sin(theta)
    return np.array([[-s, c], [-c, -s]])


def transformation_v(q, arm):
    """T_v of (6): velocity of a point by the velocities of its solid."""
    return np.column_stack([np.eye(2), rotation_v(q[2]) @ arm])


class Solid:
    """Mass, inertia, mass centre; at rest with theta = 0, where arms are what points are off the mass centre."""

    def __init__(self, mass, inertia, centre):
        self.mass, self.inertia, self.centre = mass, inertia, np.asarray(centre, float)

    def arm(self, point):
        """(3)."""
        return np.asarray(point, float) - self.centre


class Program:
    """Solids by number, springs and hinges between points of two of them, or of one and the ground (None)."""

    def __init__(self, solids, springs=(), hinges=()):
        self.solids = [Solid(*data) for data in solids]
        self.springs = [(a, b, self._at(a, p), self._at(b, r), k, c, rest) for a, p, b, r, k, c, rest in springs]
        self.hinges = [(a, b, self._at(a, p), self._at(b, p)) for a, b, p in hinges]
        self.mass = np.concatenate([[s.mass, s.mass, s.inertia] for s in self.solids])
        self.weight = np.concatenate([[0.0, -s.mass * G, 0.0] for s in self.solids])

    def _at(self, number, point):
        return np.asarray(point, float) if number is None else self.solids[number].arm(point)

    def _point(self, number, arm, q, v):
        """Place and velocity of a point, (2) and (6), its T_v, and what of its acceleration rates alone make, (9)."""
        if number is None:
            return arm, np.zeros(2), None, np.zeros(2)
        part = slice(3 * number, 3 * number + 3)
        own, rates = q[part], v[part]
        place = rotation(own[2]) @ arm
        t_v = transformation_v(own, arm)
        return own[:2] + place, t_v @ rates, t_v, -(rates[2] ** 2) * place

    def rates(self, t, y):
        """y = (q, q'): the state model of 7.3."""
        n, rows = len(self.mass), 2 * len(self.hinges)
        q, v = y[:n], y[n:]
        b = self.weight.copy()
        for first, second, arm_a, arm_b, k, c, rest in self.springs:
            (at_a, v_a, t_a, _), (at_b, v_b, t_b, _) = self._point(first, arm_a, q, v), self._point(second, arm_b, q, v)
            u = (at_b - at_a) / np.linalg.norm(at_b - at_a)
            force = (k * (np.linalg.norm(at_b - at_a) - rest) + c * u @ (v_b - v_a)) * u  # of B on A, 5.2
            for number, t_v, sign in ((first, t_a, 1.0), (second, t_b, -1.0)):
                if number is not None:
                    b[3 * number : 3 * number + 3] += sign * t_v.T @ force  # (15)
        matrix, right = np.zeros((n + rows, n + rows)), np.concatenate([b, np.zeros(rows)])
        matrix[range(n), range(n)] = self.mass
        for k, (first, second, arm_a, arm_b) in enumerate(self.hinges):
            row = slice(n + 2 * k, n + 2 * k + 2)
            for number, arm, sign in ((first, arm_a, -1.0), (second, arm_b, 1.0)):
                _, _, t_v, bias = self._point(number, arm, q, v)
                right[row] -= sign * bias
                if number is not None:
                    matrix[row, 3 * number : 3 * number + 3] = sign * t_v  # C_A and C_B of 8.3.1
        matrix[:n, n:] = matrix[n:, :n].T
        return np.concatenate([v, np.linalg.solve(matrix, right)[:n]])  # (20)

    def run(self, times, method="DOP853", rtol=1e-11, atol=1e-12):
        """Positions of the mass centres and angles from rest at `times`, (n, solids, 3)."""
        start = np.concatenate([*[[*s.centre, 0.0] for s in self.solids], np.zeros(len(self.mass))])
        found = integrate.solve_ivp(self.rates, (times[0], times[-1]), start, method, times, rtol=rtol, atol=atol)
        assert found.success
        return found.y[: len(self.mass)].T.reshape(len(times), -1, 3)


def turned(q, arm):
    """Where a point of a solid is, (2), for many states of it, (n, 2)."""
    return np.array([own[:2] + rotation(own[2]) @ arm for own in q])


def chain_rates(links, mass=0.01, inertia=1e-9, length=1.0):
    """The chain of 10.3 in the angles of its links to the x axis, counted from x to z; y = (angles, rates).

    Lagrange's equations: with links of pitch p, M_ij = m p^2 s_ij cos(a_i - a_j) + I d_ij, where s_ij says how many links hang
    wholly below both, the lower one itself by half, or by a fourth where both are one.
    """
    pitch, order = length / links, np.arange(links)
    below = links - 1 - np.maximum.outer(order, order)
    share = mass * pitch**2 * (below + np.where(np.eye(links, dtype=bool), 0.25, 0.5))
    weight = mass * G * pitch * (links - 0.5 - order)
    turning = inertia * np.eye(links)

    def rates(t, y):
        angles, spins = y[:links], y[links:]
        e = np.stack([np.cos(angles), np.sin(angles)])
        n = np.stack([-e[1], e[0]])
        force = n.T @ e * share @ spins**2 - weight * e[0]  # n_i e_j = -sin(a_i - a_j)
        return np.concatenate([spins, np.linalg.solve(e.T @ e * share + turning, force)])

    return rates


def chain_ends(states, start, length=1.0):
    """P2 of every link, (n, links, 2)."""
    angles = states[:, : states.shape[1] // 2]
    steps = np.stack([np.cos(angles), np.sin(angles)], axis=-1) * (length / angles.shape[1])
    return np.asarray(start) + np.cumsum(steps, axis=1)
