"""Linear equations of a model: about a place where it rests, or about a motion that goes on as it is."""

from __future__ import annotations

from coordinator.analysis.linear import Linear, linear_at
from coordinator.analysis.resting import at_rest
from coordinator.analysis.steady import linear_along
from modular.assembly import Assembly
from modular.one_thread import on_one_thread


@on_one_thread
def linearise(model: Assembly, *, seek: bool = False, steady: bool = False) -> Linear:
    """A model where it stands, which has to be a place where it rests; `seek`: where it would come to rest from there.

    `steady`: about the motion with which it sets out, which has to go on as it is; with `seek` the motion is sought that goes on
    with the same pace near where the model is put: what spins is stretched and bent by that.
    """
    if steady:
        return linear_along(model, seek=seek)
    with at_rest(model, seek=seek) as rest:
        return linear_at(rest)
