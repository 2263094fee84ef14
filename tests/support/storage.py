"""Faults of storage: what a disk may have made of the writes of a save, wherever it was cut off.

`Written` listens to what modular/files.py asks of the disk. `after_a_cut` says what may be on the disk when the power goes after
some of it: bytes that were not made durable are torn, names that were not are as before or not. `lying` disks forget one of the
requests to make something durable. `rotten` bits change later. `Full` disks refuse what is asked of them from some point on.
"""

import errno
import io
import os
from contextlib import contextmanager

import modular.files as asked

SECTOR = 512


class Written:
    """What was asked of the disk, in order: (verb, path, ...), paths relative to a folder."""

    def __init__(self, root):
        self.root, self.asked, self._open = root, [], {}

    @contextmanager
    def listening(self, monkeypatch):
        with monkeypatch.context() as patched:
            usual = {name: getattr(asked, name) for name in VERBS}

            def open_anew(path):
                file = usual["open_anew"](path)
                self._open[file.fileno()] = path
                return file

            def make_durable(number):
                usual["make_durable"](number)
                path = self._open[number]
                self.asked += [("write", self._name(path), path.read_bytes()), ("durable", self._name(path))]

            def make_folder_durable(folder):
                self.asked.append(("names durable", self._name(folder)))

            def move(source, target):
                usual["move"](source, target)
                self.asked.append(("move", self._name(source), self._name(target)))

            def remove(path):
                usual["remove"](path)
                self.asked.append(("remove", self._name(path)))

            for verb in (open_anew, make_durable, make_folder_durable, move, remove):
                patch_everywhere(patched, verb.__name__, usual[verb.__name__], verb)
            yield self

    def _name(self, path):
        return path.relative_to(self.root).as_posix()


VERBS = ("open_anew", "make_durable", "make_folder_durable", "move", "remove")


def patch_everywhere(patched, name, usual, other):
    """In modular/files.py, and where somebody has imported it from there."""
    import coordinator.record.checkpoints.folder as checkpoints
    from coordinator.record import archive, on_disk

    for place in (asked, checkpoints, archive, on_disk):
        if getattr(place, name, None) is usual:
            patched.setattr(place, name, other)


class Content:
    def __init__(self, content, durable):
        self.content, self.durable = content, durable


def after_a_cut(before, requests, cut, rng, *, lying=False):
    """Files by name that may be there when the power goes after so many requests."""
    requests = requests[:cut]
    promises = [k for k, (verb, *_) in enumerate(requests) if "durable" in verb]
    forgotten = rng.choice(promises) if lying and promises else None
    seen = {name: Content(content, True) for name, content in before.items()}  # by whoever asks now
    there, changes = dict(seen), []  # names that are durable, and changes of names that are not
    for k, (verb, name, *more) in enumerate(requests):
        if k == forgotten:
            continue
        match verb:
            case "write":
                changes.append(("put", name, Content(more[0], False)))
            case "durable":
                seen[name].durable = True
            case "names durable":
                for change in changes:
                    take(there, change)
                changes = []
            case "move":
                changes.append(("move", more[0], (name, seen[name])))
            case "remove":
                changes.append(("drop", name, None))
        if verb in ("write", "move", "remove"):
            take(seen, changes[-1])
    in_order, last = rng.random() < 0.5, rng.randint(0, len(changes))
    for k, change in enumerate(changes):
        if k < last if in_order else rng.random() < 0.5:
            take(there, change)
    return {name: one.content if one.durable else torn(one.content, rng) for name, one in there.items()}


def take(names, change):
    """One change of names."""
    verb, name, what = change
    if verb == "move":
        source, names[name] = what
        names.pop(source, None)
    elif verb == "put":
        names[name] = what
    else:
        names.pop(name, None)


def torn(content, rng):
    """What may be there of bytes that were not made durable."""
    match rng.randrange(4):
        case 0:
            return b""
        case 1:
            return content[: rng.randrange(len(content) + 1)]
        case 2:
            return bytes(len(content))
        case _:
            sectors = [content[k : k + SECTOR] for k in range(0, len(content), SECTOR)]
            return b"".join(one if rng.random() < 0.7 else bytes(len(one)) for one in sectors)


def rotten(files, rng, strangers=()):
    """Files of which one has changed in its place: a bit, a sector, its end, or all of it for a stranger of its name."""
    name = rng.choice(sorted(name for name in files if files[name]))
    content = bytearray(files[name])
    place = rng.randrange(len(content))
    match rng.randrange(6 if strangers else 5):
        case 0 | 1:
            content[place] ^= 1 << rng.randrange(8)
        case 2:
            content[place : place + SECTOR] = bytes(len(content[place : place + SECTOR]))
        case 3:
            del content[place:]
        case 4:
            content[place : place + 1] = rng.randbytes(rng.choice([0, 1, 2, 64]))
        case _:
            content = bytearray(rng.choice(strangers).get(name, content))
    return {**files, name: bytes(content)}


class Full:
    """A disk that refuses from the request number `first` on what takes room, and that request whatever it is."""

    def __init__(self, first, code=errno.ENOSPC):
        self.first, self.code, self.count, self.refused = first, code, 0, []

    def asked(self, what, *, room):
        self.count += 1
        if self.count == self.first or (room and self.count > self.first):
            self.refused.append(what)
            raise OSError(self.code, os.strerror(self.code))

    @contextmanager
    def listening(self, monkeypatch):
        full, usual = self, {name: getattr(asked, name) for name in VERBS}

        class Short(io.FileIO):
            def write(self, data):
                try:
                    full.asked("write", room=True)
                except OSError:
                    super().write(bytes(data)[: len(data) // 2])
                    raise
                return super().write(data)

        def open_anew(path):
            full.asked("open", room=True)
            return io.BufferedWriter(Short(str(path), "wb"))

        def doing(verb, room):
            def do(*arguments):
                full.asked(verb, room=room)
                return usual[verb](*arguments)

            return do

        with monkeypatch.context() as patched:
            patch_everywhere(patched, "open_anew", usual["open_anew"], open_anew)
            for verb in ("make_durable", "make_folder_durable", "move"):
                patch_everywhere(patched, verb, usual[verb], doing(verb, verb == "make_durable"))
            yield self


def files_in(folder):
    """All files by name."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def laid_out(files, folder):
    """The files in a folder that is made for them."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder
