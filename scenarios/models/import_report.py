"""What became of each element of a file: read, approximated, dropped, or without meaning for how it moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from modular.errors import ModelError
from scenarios.models.markup import Element, shown

READ, APPROXIMATED, DROPPED, UNUSED = "read", "approximated", "dropped", "unused"
OUTCOMES: Mapping[str, str] = {
    READ: "part of the model, as it stands",
    APPROXIMATED: "part of the model, but not quite as it stands",
    DROPPED: "would change how it moves, and is not part of the model",
    UNUSED: "does not bear on how it moves: pictures, sensors, words for other programs",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One element, and what became of it."""

    outcome: str
    line: int
    element: str
    what: str

    def __str__(self) -> str:
        return (f"line {self.line}: " if self.line else "") + f"<{self.element}>: {self.what}"


@dataclass
class Report:
    """All elements of a file."""

    file: str
    folder: Path | None = None  # in which the file lies: of meshes beside it
    entries: list[Entry] = field(default_factory=list)

    def tell(self, outcome: str, element: Element, what: str) -> None:
        """One more."""
        name = element.attributes.get("name")
        told = element.tag if name is None else f'{element.tag} name="{shown(name)}"'
        self.entries.append(Entry(outcome, element.line, told, what))

    def of(self, outcome: str) -> list[Entry]:
        """Those with one outcome, in the order of their lines."""
        return sorted((entry for entry in self.entries if entry.outcome == outcome), key=lambda entry: entry.line)

    def counted(self) -> dict[str, Counter[tuple[str, str]]]:
        """By outcome, tag and what became of them: how many."""
        found: dict[str, Counter[tuple[str, str]]] = {outcome: Counter() for outcome in OUTCOMES}
        for entry in self.entries:
            found[entry.outcome][entry.element.partition(" ")[0], entry.what] += 1
        return found

    def warning(self) -> str:
        """What whoever runs it should know, in a sentence; nothing where all was read."""
        told = [
            f"{len(found)} elements {outcome}" for outcome in (APPROXIMATED, DROPPED) if (found := self.of(outcome))
        ]
        first = next(iter(self.of(DROPPED) + self.of(APPROXIMATED)), None)
        return f"{self.file}: {', '.join(told)}, such as {first}; modular import lists them." if told else ""

    def lines(self) -> list[str]:
        """A sentence for each that was approximated or dropped."""
        return [f"{outcome}, {e}" for outcome in (APPROXIMATED, DROPPED) for e in self.of(outcome)]

    def refuse_drops(self) -> None:
        """Where nothing may be dropped."""
        if dropped := self.of(DROPPED):
            more = f"\n… and {len(dropped) - 10} more" if len(dropped) > 10 else ""
            raise ModelError(
                f"{self.file}: --strict, and {len(dropped)} elements are dropped; take them out, or leave --strict out.\n"
                + "\n".join(str(entry) for entry in dropped[:10])
                + more
            )
