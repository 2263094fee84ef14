"""The contract of bodies whose equations compiled loops write down, for a solver that sees everything at once."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class BalancesInLoops(Protocol):
    """Writes down in loops what `GivesEquations` (modular/body.py) does; its elements are x = weights . q whatever the state."""

    def balance_table(self) -> Any:
        """A table beside the stack with a row per body, good for as long as nobody comes or goes.

        Given `acceleration` (n, e, d) and multipliers `effort` (n, m), its loop `balance` fills in `pull` = Q - H^T mu, with the
        forces on all elements, `inertia` = M a, `openness` = phi and `bend` = dH/dt v; `linearise_shape` fills in `matrix`
        (n, e, e), M + mu d2phi/dq2 of each of the d directions, and `slopes` = H (n, m, e, d). `attached`, `weights` and `numbers`
        are those of the stack.
        """
