"""Keys: whoever sends to a mailbox that others can reach proves who he is (CurveZMQ); kept as ssh keeps its keys.

A pair is a file NAME.key with the secret, which its owner alone may read, and NAME.pub, which may go anywhere. A folder of `.pub`
files says who is authorised. Processes of one user on one machine know each other by a secret that he alone can read.
"""

from __future__ import annotations

import os
import re
import stat
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import platformdirs

from modular.errors import ModelError

KEY = re.compile(rb"[0-9a-zA-Z.\-:+=^!/*?&<>()\[\]{}@%$#]{40}")  # Z85
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
OWN = "of-this-user.secret"  # no pair of this name can be made by hand


@dataclass(frozen=True)
class Keys:
    """A pair, as ZeroMQ writes keys: 40 letters each."""

    public: bytes
    secret: bytes = field(repr=False)


def write_keys(folder: Path, name: str, keys: Keys) -> Path:
    """Keep a pair in a folder; never over one that is there. The file with the public key."""
    if not NAME.fullmatch(name):
        raise ModelError(f"keys: {name!r} is not a name for a pair; use letters, digits, - and _.")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    secret, public = folder / f"{name}.key", folder / f"{name}.pub"
    for path, key, mode in ((secret, keys.secret, 0o600), (public, keys.public, 0o644)):
        try:
            with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode), "wb") as file:
                file.write(key + b"\n")
        except FileExistsError:
            raise ModelError(f"keys: {path} is there already; remove it first, or take another name.") from None
    return public


def read_keys(folder: Path, name: str) -> Keys:
    """A pair; refused where others can read the secret."""
    secret, public = folder / f"{name}.key", folder / f"{name}.pub"
    if not secret.exists():
        there = "" if folder == folder_of_keys() else f" --folder {folder}"
        raise ModelError(f"keys: there is no {secret}; make a pair with 'modular keys new {name}{there}'.")
    _check_private(secret)
    return Keys(public_key(public), public_key(secret))


def find_keys(text: str, usual: str, folder: Path | None = None) -> Keys:
    """The pair that is meant by its name, by DIR/NAME, or by a folder that holds it: the only one there, or called `usual`."""
    folder, path = folder or folder_of_keys(), Path(text).expanduser()
    if NAME.fullmatch(text) and ((folder / f"{text}.key").exists() or not path.is_dir()):
        return read_keys(folder, text)
    if not path.is_dir():
        return read_keys(path.parent, path.name.removesuffix(".key"))
    found = sorted(secret.stem for secret in path.glob("*.key"))
    name = usual if usual in found or not found else found[0]
    if name != usual and len(found) > 1:
        raise ModelError(
            f"keys: {path} contains the pairs {', '.join(found)}, and none is called {usual}; choose one, as in "
            f"{path / name}."
        )
    return read_keys(path, name)


def folder_of_keys() -> Path:
    """Where the keys of this user are."""
    return Path(platformdirs.user_config_dir("modular-multibody")) / "keys"


def secret_of_this_user(fresh: Callable[[], bytes]) -> bytes:
    """One that no other user can read; made by `fresh` when it is first wanted, and the same for all who come at that time."""
    path = folder_of_keys() / OWN
    if not path.exists():
        beside = path.with_name(f"{OWN}.{uuid.uuid4().hex}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with os.fdopen(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
                file.write(fresh() + b"\n")
            try:
                with suppress(FileExistsError):  # somebody else was first
                    os.link(beside, path)
            finally:
                beside.unlink()
        except OSError as error:
            raise ModelError(
                f"keys: {path}, the key of your processes on this machine, cannot be created ({error}); give pairs "
                "of your own with --keys (modular keys new), or let the run choose its address."
            ) from error
    _check_private(path)
    return public_key(path)


def _check_private(secret: Path) -> None:
    """Refuse a secret that others can read."""
    if os.name == "posix" and stat.S_IMODE(secret.stat().st_mode) & 0o077:
        raise ModelError(f"keys: others can read {secret}; run 'chmod 600 {secret}', or make a new pair.")


def authorised(folder: Path) -> dict[bytes, str]:
    """Names by public keys, of all `.pub` files in a folder."""
    if not folder.is_dir():
        raise ModelError(
            f"keys: there is no folder {folder}; create it, with the .pub files of the workers that may take part."
        )
    return {public_key(path): path.stem for path in sorted(folder.glob("*.pub"))}


def public_key(path: Path) -> bytes:
    """The key in a file."""
    try:
        text = path.read_bytes().strip()
    except OSError as error:
        raise ModelError(f"keys: {path} cannot be read ({error}).") from error
    if not KEY.fullmatch(text):
        raise ModelError(f"keys: {path} holds no key of 40 letters; make a new pair with 'modular keys new'.")
    return text


def given_key(text: str) -> bytes:
    """A public key as it stands, or that of a file."""
    return text.encode() if KEY.fullmatch(text.encode()) and not Path(text).exists() else public_key(Path(text))
