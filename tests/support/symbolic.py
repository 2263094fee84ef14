"""Equations of motion that sympy derives from a Lagrangian: a road that shares nothing with formulas written by hand."""

from lazily import Lazily

sympy, mechanics = Lazily("sympy"), Lazily("sympy.physics.mechanics")


def dynamicsymbols(names):
    """Functions of time."""
    return mechanics.dynamicsymbols(names)


def rate(expression):
    """Its derivative by time."""
    return expression.diff(mechanics.dynamicsymbols._t)


def lagrange(lagrangian, coordinates):
    """Left-hand sides of d/dt (dL/dq') - dL/dq = 0."""
    return [rate(lagrangian.diff(rate(q))) - lagrangian.diff(q) for q in coordinates]


def plain(expression, coordinates):
    """Time derivatives replaced by symbols; the symbols of q, then q', then q''."""
    t = mechanics.dynamicsymbols._t
    n = len(coordinates)
    symbols = sympy.symbols(f"s0:{3 * n}", real=True)
    for order in (2, 1, 0):
        for q, s in zip(coordinates, symbols[order * n :]):
            expression = expression.subs(q.diff(t, order) if order else q, s)
    return expression, symbols


def rates(lagrangian, coordinates, constraints=()):
    """`rates(state) -> list` in mpmath's numbers: velocities, then accelerations.

    Constraints (expressions that stay zero) are held by multipliers, differentiated twice: the start has to fulfil them.
    """
    n, m = len(coordinates), len(constraints)
    multipliers = sympy.symbols(f"lambda0:{m}")
    equations = [
        left + sum(force * c.diff(q) for force, c in zip(multipliers, constraints))
        for left, q in zip(lagrange(lagrangian, coordinates), coordinates)
    ]
    equations, symbols = plain(sympy.Matrix([*equations, *(rate(rate(c)) for c in constraints)]), coordinates)
    unknowns = [*symbols[2 * n :], *multipliers]
    matrix = equations.jacobian(unknowns)
    rest = equations.subs(dict.fromkeys(unknowns, 0))
    function = sympy.lambdify(symbols[: 2 * n], [*matrix, *rest], modules="mpmath", cse=True)
    size = n + m

    def state_rates(state):
        values = function(*state)
        return [*state[n:], *solve_by_elimination(values[: size**2], values[size**2 :], size)[:n]]

    return state_rates


def solve_by_elimination(matrix, rest, n):
    """x from A x + f = 0. A begins with a mass matrix, so no pivots are sought."""
    rows = [[*matrix[n * i : n * i + n], -rest[i]] for i in range(n)]
    for i in range(n):
        for j in range(i + 1, n):
            if rows[j][i]:
                factor = rows[j][i] / rows[i][i]
                rows[j][i:] = [a - factor * b for a, b in zip(rows[j][i:], rows[i][i:])]
    solution = [0] * n
    for i in reversed(range(n)):
        solution[i] = (rows[i][n] - sum(rows[i][j] * solution[j] for j in range(i + 1, n))) / rows[i][i]
    return solution
