"""A planar chain of links with dry friction in all hinges, in angles: between switches by an integrator that locates them, at
switches by trying all ways in which hinges may stick and slide. Nothing of it is shared with what it is held against."""

import itertools

import numpy as np
from scipy.integrate import solve_ivp

G, AGREES, AT_REST = 9.81, 1e-9, 1e-9


class RubbingChain:
    """Lengths [m], masses [kg], inertias [kg m^2], dry friction [N m]; angles [rad] and their rates [1/s] at the start."""

    def __init__(self, lengths, masses, inertias, dry, angles, rates):
        self.lengths, self.masses, self.inertias, self.dry = map(np.asarray, (lengths, masses, inertias, dry))
        self.angles, self.rates, self.count = np.asarray(angles), np.asarray(rates), len(lengths)
        before = np.tril(np.ones((self.count, self.count)), -1)
        self.arms = (before + 0.5 * np.eye(self.count)) * self.lengths  # of each link's centre over the angles
        self.pairs = np.einsum("i,ij,ik->jk", self.masses, self.arms, self.arms)
        self.relative = np.eye(self.count) - np.eye(self.count, k=-1)

    def efforts(self, state, modes):
        """Accelerations, and what hinges hold where they stick (mode 0) and slide (1, -1)."""
        n, angles, rates = self.count, state[: self.count], state[self.count :]
        apart = angles[:, None] - angles
        mass = self.pairs * np.cos(apart) + np.diag(self.inertias)
        force = -(self.pairs * np.sin(apart)) @ rates**2 - G * (self.masses @ self.arms) * np.cos(angles)
        found = modes * self.dry
        stuck = np.flatnonzero(modes == 0)
        rows = self.relative[stuck]
        whole = np.block([[mass, rows.T], [rows, np.zeros((len(stuck), len(stuck)))]])
        solved = np.linalg.solve(whole, np.concatenate([force - self.relative.T @ found, np.zeros(len(stuck))]))
        found[stuck] = solved[n:]
        return solved[:n], found

    def decide(self, state, rates, breaking=()):
        """The one way in which hinges that rest may go on; those that are `breaking` have come to what they hold."""
        resting, modes = np.flatnonzero(np.abs(rates) <= AT_REST), np.sign(rates)
        for guess in sorted(itertools.product((0, 1, -1), repeat=len(resting)), key=np.count_nonzero):
            modes[resting] = guess
            acceleration, found = self.efforts(state, modes.copy())
            rises = self.relative @ acceleration
            if all(
                abs(found[k]) <= self.dry[k] * (1.0 - AGREES if k in breaking else 1.0 + AGREES)
                if mode == 0
                else mode * rises[k] >= -AGREES
                for k, mode in zip(resting, guess, strict=True)
            ):
                return modes
        raise AssertionError("no way to go on")

    def end(self, until):
        """Angles at the end, and how often a hinge has switched."""
        n, time, switches = self.count, 0.0, 0
        state = np.concatenate([self.angles, self.rates])
        modes = self.decide(state, self.relative @ self.rates)
        while time < until:
            known = modes.copy()

            def rates_of(_, y, known=known):
                return np.concatenate([y[n:], self.efforts(y, known.copy())[0]])

            def away(k, known=known):
                def event(_, y):
                    if known[k]:
                        return known[k] * (self.relative @ y[n:])[k]
                    return self.dry[k] - abs(self.efforts(y, known.copy())[1][k])

                event.terminal, event.direction = True, -1
                return event

            went = solve_ivp(
                rates_of, (time, until), state, "DOP853", rtol=1e-11, atol=1e-12, max_step=0.02,
                events=[away(k) for k in range(n)],
            )  # fmt: skip
            time, state = went.t[-1], went.y[:, -1].copy()
            if went.status == 1:
                switches += 1
                hit = [k for k in range(n) if len(went.t_events[k])]
                rates = self.relative @ state[n:]
                rates[[k for k in range(n) if k in hit or known[k] == 0]] = 0.0
                state[n:] = np.linalg.solve(self.relative, rates)
                modes = self.decide(state, rates, [k for k in hit if known[k] == 0])
        return state[:n], switches
