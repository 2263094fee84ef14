"""What became of each element of a file: read, approximated, dropped, or without meaning for how it moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from modular.errors import ModelError
from scenarios.models.markup import Element, shown

READ, APPROXIMATED, DROPPED, UNUSED = "read", "approximated", "dropped", "unused"
FATES: Mapping[str, str] = {
    READ: "part of the model, as it stands",
    APPROXIMATED: "part of the model, but not quite as it stands",
    DROPPED: "would change how it moves, and is not part of the model",
    UNUSED: "does not bear on how it moves: pictures, sensors, words for other programs",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One element, and what became of it."""

    fate: str
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

    def tell(self, fate: str, element: Element, what: str) -> None:
        """One more."""
        name = element.attributes.get("name")
        told = element.tag if name is None else f'{element.tag} name="{shown(name)}"'
        self.entries.append(Entry(fate, element.line, told, what))

    def of(self, fate: str) -> list[Entry]:
        """Those that shared a fate, in the order of their lines."""
        return sorted((entry for entry in self.entries if entry.fate == fate), key=lambda entry: entry.line)

    def counted(self) -> dict[str, Counter[tuple[str, str]]]:
        """By fate, tag and what became of them: how many."""
        found: dict[str, Counter[tuple[str, str]]] = {fate: Counter() for fate in FATES}
        for entry in self.entries:
            found[entry.fate][entry.element.partition(" ")[0], entry.what] += 1
        return found

    def warning(self) -> str:
        """What whoever runs it should know, in a sentence; nothing where all was read."""
        told = [f"{len(found)} elements {fate}" for fate in (APPROXIMATED, DROPPED) if (found := self.of(fate))]
        first = next(iter(self.of(DROPPED) + self.of(APPROXIMATED)), None)
        return f"{self.file}: {', '.join(told)}, such as {first}; modular import lists them." if told else ""

    def lines(self) -> list[str]:
        """A sentence for each that was approximated or dropped."""
        return [f"{fate}, {e}" for fate in (APPROXIMATED, DROPPED) for e in self.of(fate)]

    def refuse_drops(self) -> None:
        """Where nothing may be dropped."""
        if dropped := self.of(DROPPED):
            more = f"\n… and {len(dropped) - 10} more" if len(dropped) > 10 else ""
            raise ModelError(
                f"{self.file}: --strict, and {len(dropped)} elements are dropped; take them out, or leave --strict out.\n"
                + "\n".join(str(entry) for entry in dropped[:10])
                + more
            )
