"""XML with the lines where elements stand, and nothing that a stranger's file could do: no document types, so no entities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

import numpy as np

from modular.elements import Array
from modular.errors import ModelError
from modular.names import hint

LARGEST_FILE = 50_000_000  # bytes
DEEPEST = 100  # elements in each other
MOST_ELEMENTS = 500_000
LARGEST_NUMBER = 1e20  # in SI units: a robot has none beyond, and fourth powers are still numbers
LONGEST_CONTENT = 5_000  # letters of a text that are kept: some numbers, or a name
LONGEST_SHOWN = 60  # letters of a value in a message


@dataclass(slots=True)
class Element:
    """An element, its attributes, and those in it."""

    tag: str
    attributes: dict[str, str]
    file: str
    line: int
    inside: list[Element] = field(default_factory=list)
    content: str = ""  # text between its tags

    @property
    def place(self) -> str:
        """`robot.urdf:12: <link name="arm">`."""
        name = self.attributes.get("name")
        where = f"{self.file}:{self.line}" if self.line else self.file
        return f"{where}: <{self.tag}" + (f' name="{shown(name)}">' if name is not None else ">")

    def refuse(self, what: str) -> ModelError:
        """An error that says where."""
        return ModelError(f"{self.place}: {what}")

    def all(self, tag: str) -> Iterator[Element]:
        """Those in it with a tag."""
        return (element for element in self.inside if element.tag == tag)

    def one(self, tag: str) -> Element | None:
        """That in it with a tag, if there is one."""
        found = list(self.all(tag))
        if len(found) > 1:
            raise found[1].refuse(f"<{self.tag}> has a second <{tag}>; leave one.")
        return found[0] if found else None

    def text(self, name: str, default: str | None = None) -> str:
        """An attribute."""
        found = self.attributes.get(name, default)
        if found is None:
            near = f"; {hint(name, self.attributes)}" if self.attributes else ""
            raise self.refuse(f'it has no {name}="…"{near}' + ("" if near else "; give one."))
        return found.strip()

    def number(self, name: str, default: float | None = None) -> float:
        """An attribute that is one finite number."""
        if name not in self.attributes and default is not None:
            return default
        return float(self._numbers(name, self.text(name), 1)[0])

    def inner(self, tag: str, default: str | None = None) -> str:
        """The text of an element in it."""
        found = self.one(tag)
        if found is None and default is None:
            raise self.refuse(f"it has no <{tag}>; give one.")
        return str(default) if found is None else found.content.strip()

    def inner_number(self, tag: str, default: float | None = None) -> float:
        """The number in an element in it."""
        found = self.one(tag)
        if found is None and default is not None:
            return default
        text = self.inner(tag)
        return float((found or self)._numbers(f"<{tag}>", text, 1)[0])

    def own_numbers(self, count: int) -> Array:
        """So many finite numbers as its text."""
        return self._numbers("text", self.content, count)

    def vector(self, name: str, default: tuple[float, float, float] | None = None) -> Array:
        """An attribute that is three finite numbers."""
        if name not in self.attributes and default is not None:
            return np.array(default)
        return self._numbers(name, self.text(name), 3)

    def _numbers(self, name: str, text: str, count: int) -> Array:
        try:
            found = np.array([float(word) for word in text.split()] if "_" not in text else [])
        except ValueError:
            found = np.zeros(0)
        if len(found) != count or not (np.abs(found) <= LARGEST_NUMBER).all():
            wanted = f"one finite number up to {LARGEST_NUMBER:g}" if count == 1 else f"{count} finite numbers"
            raise self.refuse(f'{name}="{shown(text)}"; give {wanted}.')
        return found


def shown(text: str) -> str:
    """A value as a message may show it: short, and of visible letters."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in text[: LONGEST_SHOWN + 1])
    return plain if len(plain) <= LONGEST_SHOWN else f"{plain[:LONGEST_SHOWN]}…"


def parsed(data: bytes, file: str, longest: int = LONGEST_CONTENT) -> Element:
    """The root element of an XML text; `longest`: letters of a text that are kept."""
    if len(data) > LARGEST_FILE:
        raise ModelError(f"{file}: {len(data)} bytes; {LARGEST_FILE} are the most that are read as a model.")
    parser = expat.ParserCreate()
    top = Element("", {}, file, 0)
    open_elements, count = [top], 0

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        element = Element(tag, attributes, file, parser.CurrentLineNumber)
        if len(open_elements) > DEEPEST or count > MOST_ELEMENTS:
            raise element.refuse(
                f"more than {DEEPEST} nested elements, or {MOST_ELEMENTS} in all; this is not a model."
            )
        open_elements[-1].inside.append(element)
        open_elements.append(element)

    def document_type(name: str, *_: object) -> None:
        raise ModelError(
            f"{file}:{parser.CurrentLineNumber}: <!DOCTYPE {shown(name)}> is refused, as entities could fill the memory or "
            "read other files; take it out."
        )

    def take_text(text: str) -> None:
        element = open_elements[-1]
        if len(element.content) < longest:
            element.content += text[:longest]

    parser.buffer_text = True
    parser.buffer_size = max(parser.buffer_size, min(longest, len(data) + 1))
    parser.CharacterDataHandler = take_text
    parser.StartElementHandler = begin
    parser.EndElementHandler = lambda _: open_elements.pop()
    parser.StartDoctypeDeclHandler = document_type
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        what = expat.errors.messages[error.code]
        raise ModelError(
            f"{file}:{error.lineno}: not valid XML ({what}); correct the line, or write the file again."
        ) from error
    except ModelError:
        raise
    except (LookupError, ValueError) as error:  # an encoding that nobody knows
        raise ModelError(f"{file}: not valid XML ({shown(str(error))}); write it in UTF-8.") from error
    return top.inside[0]


def parsed_file(path: Path) -> Element:
    """The root element of a file."""
    try:
        with path.open("rb") as file:
            return parsed(file.read(LARGEST_FILE + 1), path.name)
    except OSError as error:
        raise ModelError(f"'{path}' cannot be read ({error.strerror}).") from error
