"""Files as strangers and bad disks leave them: good ones with letters, lines and numbers gone, doubled and exchanged."""

import random
import re

ODD = [
    "",
    "0",
    "-1",
    "1e999",
    "-0.0",
    "nan",
    "inf",
    "1e308",
    "9" * 5000,
    "true",
    '"',
    "'",
    '""',
    '"ground"',
    '"1/0"',
    '"(" * 9',
    "[]",
    "{}",
    "[[[]]]",
    "[1, 2, 3, 4]",
    '"kind"',
    "kind",
    "none",
    '"none"',
    '"\\u0000"',
    "\x00",
    "é",
    "\ud7ff",
    "[",
    "]",
    "{",
    "}",
    "=",
    ":",
    ",",
    "#",
    "\n",
    "\r",
    "<",
    ">",
    "/>",
    "&lol;",
    "<!DOCTYPE a [<!ENTITY b 'c'>]>",
    "2024-01-01",
    "0x_",
    '"x" * 10',
    '"2**9999"',
    '"9**9**9**9"',
    '"sqrt(-1)"',
    '"a.b.c"',
    "a.b.c = 1",
    '"Subassembly"',
    '"modular:Port"',
    '"os:system"',
    "__class__",
    '"{i}"',
    '"{"',
    '"' + "(" * 300 + '"',
    '"' + "-" * 400 + '1"',
    "[" * 500,
    "{a=" * 300,
    "../../etc/passwd",
]


def damaged(text: str, chance: random.Random) -> str:
    """A text with a few things wrong."""
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        text = chance.choice(WAYS)(text, chance)
    return text


def _cut(text, chance):
    start = chance.randrange(len(text) + 1)
    return text[:start] + text[start + chance.choice((1, 3, 20, 200)) :]


def _put(text, chance):
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(ODD) + text[at:]


def _word(text, chance):
    """Another word, number or text instead of one."""
    words = list(re.finditer(r'"[^"\n]*"|[\w.+-]+', text))
    if not words:
        return _put(text, chance)
    found, other = chance.choice(words), chance.choice((*ODD, chance.choice(words)[0], chance.choice(words)[0]))
    return text[: found.start()] + other + text[found.end() :]


def _lines(text, chance):
    """One goes, is doubled, or stands elsewhere."""
    lines = text.split("\n")
    at = chance.randrange(len(lines))
    line = lines.pop(at)
    for _ in range(chance.randrange(3)):
        lines.insert(chance.randrange(len(lines) + 1), line)
    return "\n".join(lines)


def _letter(text, chance):
    at = chance.randrange(len(text) + 1)
    return text[:at] + chr(chance.randrange(32, 0x250)) + text[at + 1 :]


def _many(text, chance):
    """A piece of it, over and over."""
    start = chance.randrange(len(text) + 1)
    piece = text[start : start + chance.randrange(1, 40)]
    return text[:start] + piece * chance.choice((3, 30, 300)) + text[start:]


WAYS = (_cut, _put, _word, _word, _lines, _letter, _many)
