"""Names: what may stand in one, and the nearest known one to what people mistype."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable

MAX_NAME_LENGTH = 200  # letters
MAX_LISTED = 5  # names that a sentence tells
# what Unicode calls control, format, surrogate, separator of lines
INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# what others call what we have
OTHER_WORDS = {
    "weld": ("fixed",), "clamp": ("fixed",), "rigid": ("fixed", "glued"), "hinge": ("revolute",), "pin": ("revolute",),
    "pivot": ("revolute",), "ball": ("spherical",), "socket": ("spherical",), "slider": ("prismatic",),
    "slide": ("prismatic",), "hooke": ("universal",), "cardan": ("universal",), "spring": ("springdamper", "penalty"),
    "springs": ("penalty",), "damper": ("springdamper",), "torque": ("moment",), "force": ("load",),
}  # fmt: skip
PLAIN_NAME = re.compile(rf"[ -~]{{1,{MAX_NAME_LENGTH}}}")


def unfit(name: str) -> str:
    """What is wrong with a name that people are to read, and that goes into files and messages; nothing where it will do.

    Letters that turn the direction of what follows, or cannot be seen, let one name be taken for another.
    """
    if PLAIN_NAME.fullmatch(name):
        return ""
    if not name:
        return "it is empty"
    if len(name) > MAX_NAME_LENGTH:
        return f"it has {len(name)} characters; at most {MAX_NAME_LENGTH} are allowed"
    hidden = next((letter for letter in name if unicodedata.category(letter) in INVISIBLE_CATEGORIES), None)
    return "" if hidden is None else f"it holds the invisible character U+{ord(hidden):04X}"


ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")


def hidden_in(text: str) -> str:
    """The first letter of a text that cannot be seen, or turns what follows, also where JSON writes it by its number.

    Nothing where there is none, or only ends of lines.
    """
    codes = {int(code, 16) for code in set(ESCAPED.findall(text))}
    letters = {chr(code) for code in codes if not 0xD800 <= code < 0xE000}  # two of those make one letter
    letters |= set() if text.isascii() and text.isprintable() else set(text)
    found = sorted(
        letter for letter in letters - {"\n", "\t", "\r"} if unicodedata.category(letter) in INVISIBLE_CATEGORIES
    )
    return f"U+{ord(found[0]):04X}" if found else ""


def meant(name: str, known: Iterable[str]) -> list[str]:
    """What we call what others call so, of what there is."""
    there = set(known)
    return [other for other in OTHER_WORDS.get(name.lower(), ()) if other in there]


def hint(name: str, names: Iterable[str]) -> str:
    """`did you mean 'elbow'?`, or what there is."""
    known = list(names)
    lowered = {other.lower(): other for other in known}
    asked = str(name).lower()
    near = meant(asked, lowered) or difflib.get_close_matches(asked, lowered, 1)
    within = [other for other in known if asked in other.lower()] if len(asked) > 2 else []
    if 1 < len(within) < 5 and not (near and abs(len(near[0]) - len(asked)) < 2):
        return f"did you mean {', '.join(map(repr, within[:-1]))} or {within[-1]!r}?"
    if near:
        return f"did you mean '{lowered[near[0]]}'?"
    return f"known: {', '.join(known[:12]) or 'none'}{' …' * (len(known) > 12)}."


def first_few(names: Iterable[str], most: int = MAX_LISTED) -> str:
    """`a, b, c, d and 16 more`."""
    known = list(names)
    more = len(known) - most
    return ", ".join(known) if more <= 1 else f"{', '.join(known[:most])} and {more} more"


def missing(what: str, name: str, names: Iterable[str], owner: str = "") -> str:
    """A sentence for a name that is not there; `what` is "joint", or "port of 'crank'"."""
    kind, _, holder = what.partition(" of ")
    sentence = f"{holder} has no {kind} '{name}'" if holder else f"there is no {kind} '{name}'"
    return f"{owner + ': ' if owner else ''}{sentence}; {hint(name, names)}"
