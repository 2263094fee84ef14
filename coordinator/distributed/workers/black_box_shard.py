"""Black boxes in a shard: a stack in plain Python, played where it lives by the worker that owns it whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from coordinator.distributed.workers.hosted_stack import HostedStack, Record, StackHost, put_columns, taken_columns
from coordinator.record.checkpoints.notes import Notes
from modular.elements import Array, Elements, Indices

MEMORY = "memory"


class BlackBoxShard:
    """What a shard holds of black boxes: which elements are theirs, and how they are made again.

    At the coordinator, while they live elsewhere, there is no hosted stack, and only their memory passes through here.
    """

    def __init__(self, key: str, record: Record, names: list[str], rows: Indices, hosted: HostedStack | None) -> None:
        self.key, self.record, self.names, self.hosted = key, record, names, hosted
        self.row = {name: row for row, name in enumerate(names)}
        self.rows = rows  # of the elements, in the order in which they were taken hold of
        self.slots = np.array([slot for _, slot, *_ in record["held"]], np.int64)
        self._memory = record["memory"]

    @property
    def stack(self) -> HostedStack:
        """The hosted stack itself."""
        assert self.hosted is not None, "it runs in another process"
        return self.hosted

    def renumber(self, numbers: Any) -> None:
        """Elements have other rows now."""
        self.rows = numbers[self.rows]

    # --- a stack of bodies -------------------------------------------------------------------------------------------

    def _play(self, verb: str, elements: Elements, **arguments: Any) -> Any:
        rows = self.rows
        found = self.stack.play(verb, self.slots, taken_columns(elements, rows, verb), elements.clock, arguments)
        put_columns(elements, rows, found["columns"])
        return found["answer"]

    def predict(self, elements: Elements, dt: float) -> None:
        """Predict, and show the predicted elements."""
        self._play("predict", elements, dt=dt)

    def correct(self, elements: Elements, dt: float) -> str | None:
        """Correct the state under the forces on the elements; a body that went wrong, if any."""
        wrong: str | None = self._play("correct", elements, dt=dt)
        return wrong

    def show(self, elements: Elements) -> None:
        """Show the corrected elements."""
        self._play("show", elements)

    def respond(self, elements: Elements) -> None:
        """Say how forces are answered."""
        self._play("respond", elements, constrained=True)

    def respond_predicted(self, elements: Elements) -> None:
        """The same between prediction and forces."""
        self._play("respond_predicted", elements)

    def respond_freely(self, elements: Elements) -> None:
        """The same without internal constraints."""
        self._play("respond_freely", elements)

    def bound_demands(self, elements: Elements) -> None:
        """Answer what joints ask."""
        self._play("bound_demands", elements)

    def state(self) -> Mapping[str, Array]:
        """Coordinates and their rates."""
        return self.stack.state()

    def save(self) -> Any:
        """All that they remember."""
        return self._memory if self.hosted is None else self.hosted.save()

    def restore(self, memory: Any) -> None:
        """Go back to it."""
        if self.hosted is None:
            self._memory = memory
        else:
            self.hosted.restore(memory)

    # --- as data and arrays ------------------------------------------------------------------------------------------

    def described(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """For a shard."""
        notes = Notes(prefix="record")
        data = {"key": self.key, "names": self.names, "record": notes.put(self.record)}
        return data, {**notes.arrays, "rows": self.rows}

    @classmethod
    def revived(cls, data: Mapping[str, Any], arrays: Mapping[str, Any], stack_host: StackHost) -> Self:
        """Where they live, or are to live from now on."""
        record = Notes(dict(arrays)).get(data["record"])
        hosted = stack_host.revived(data["key"], record)
        return cls(data["key"], record, list(data["names"]), np.array(arrays["rows"]), hosted)

    def memory_as_arrays(self) -> dict[str, Any]:
        """What they remember, as arrays alone."""
        notes = Notes(prefix=MEMORY)
        text = json.dumps(notes.put(self.save()), allow_nan=False).encode()
        return {**notes.arrays, MEMORY: np.frombuffer(text, np.uint8)}

    def take_memory(self, arrays: Mapping[str, Any]) -> None:
        """Stand so."""
        mine = {name: array for name, array in arrays.items() if name.partition(".")[0] == MEMORY}
        self.restore(Notes(mine).get(json.loads(bytes(mine[MEMORY]))))
