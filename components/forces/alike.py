"""What forces on one point ask of the step, where they push back alike in all directions."""

from modular.elements import RIGID, Array
from modular.kernel import kernel


@kernel
def ask_alike(asked: float, response: Array, load: Array) -> None:
    """E = asked B^T B: there is no other side to share it with. `asked` is dt^2 k + 4 dt c."""
    for p in range(RIGID):
        for q in range(RIGID):
            value = 0.0
            for c in range(response.shape[0]):
                value += response[c, p] * response[c, q]
            load[p, q] = asked * value
