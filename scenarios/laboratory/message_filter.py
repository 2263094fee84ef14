"""What a page may say: the messages of viser's own page, of the right types, and nothing else.

viser takes what comes: a message may set any attribute of a button, one of the wrong types raises where nobody looks,
and one that cannot be passed on stops the server for all. So each frame is read here first, and only what the page itself
would send reaches viser. The list is that of viser 1.1; requests for a public tunnel are left out of it.

Numbers are those of a page: finite, and so small that whole ones are told apart. viser makes of what comes whatever the
field holds, so 1e20 or twenty digits as a text became a whole number that no message can carry, kept for everybody who
opens the page later. So a field gets only what fits it: its kind of value, whole where it holds a whole number, within
its bounds. Files come to a button for files, in the pieces that a page makes of them, and no more than is bearable at once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import msgspec
from viser import GuiUploadButtonHandle
from viser import _messages as said

LARGEST_MESSAGE = 2**20  # [bytes] pages send files in pieces of half that size
FILE_CHUNK_BYTES = 2**19  # [bytes] of a file in one message; the last one has the rest
LARGEST_FILE = 2**26  # [bytes] of all files that one page is sending
MAX_EXACT_INTEGER = 2**53  # numbers are smaller: from there on the whole ones have no numbers of their own in a page

SPOKEN = {
    kind.__name__: kind
    for kind in (
        said.CommandTriggerMessage,
        said.FileTransferPart,
        said.FileTransferStartUpload,
        said.GetRenderResponseMessage,
        said.GuiButtonHoldMessage,
        said.GuiFormDirtyMessage,
        said.GuiFormSubmitMessage,
        said.GuiUpdateMessage,
        said.LocalStorageGetItemResponseMessage,
        said.SceneNodeClickMessage,
        said.SceneNodeDragMessage,
        said.ScenePointerMessage,
        said.TransformControlsDragEndMessage,
        said.TransformControlsDragStartMessage,
        said.TransformControlsUpdateMessage,
        said.ViewerCameraMessage,
    )
}
Plain = bool | int | float | str | None
Value = Plain | list[Plain]  # what a field of the page can hold


class InvalidMessage(ValueError):
    """A frame that is no message at all: whoever sent it is not our page."""


Field = Any  # viser's handle of something on the page that has a value


class MessageFilter:
    """What one connection may say, and the files that it is sending; `field` finds a field of the page by its number."""

    def __init__(self, field: Callable[[str], Field | None]) -> None:
        self._field = field
        self._underway: dict[str, dict[int, int]] = {}  # of each file: the bytes of every piece that is still to come

    def is_for_viser(self, frame: object) -> bool:
        """Whether a frame is something that the page may say now; raises `InvalidMessage` where it is no message."""
        content = _decoded(frame)
        kind = SPOKEN.get(str(content.pop("type", "")))
        if kind is None or not content.keys() <= {field.name for field in dataclasses.fields(kind)}:
            return False
        try:
            message = msgspec.convert(content, kind)
            if isinstance(message, said.GuiUpdateMessage):
                msgspec.convert(message.updates, _Update)
        except (ValueError, RecursionError):
            return False
        return _is_bounded(content) and self._fits(message)

    def _fits(self, message: Any) -> bool:
        """Whether what the message is about takes it."""
        match message:
            case said.GuiUpdateMessage():
                field = self._field(message.uuid)
                return field is not None and _takes(field, message.updates["value"])
            case said.FileTransferStartUpload():
                return self._is_for_files(message.source_component_uuid) and self._starts(message)
            case said.FileTransferPart():
                return self._is_for_files(message.source_component_uuid) and self._goes_on(message)
        return True

    def _is_for_files(self, uuid: str | None) -> bool:
        return uuid is not None and isinstance(self._field(uuid), GuiUploadButtonHandle)

    def _starts(self, start: said.FileTransferStartUpload) -> bool:
        size = start.size_bytes
        underway = sum(sum(pieces.values()) for pieces in self._underway.values())
        new = start.transfer_uuid not in self._underway
        if not new or not 0 <= size <= LARGEST_FILE - underway or start.part_count != -(-size // FILE_CHUNK_BYTES):
            return False
        if size:
            self._underway[start.transfer_uuid] = {
                k: min(FILE_CHUNK_BYTES, size - k * FILE_CHUNK_BYTES) for k in range(start.part_count)
            }
        return True

    def _goes_on(self, part: said.FileTransferPart) -> bool:
        pieces = self._underway.get(part.transfer_uuid, {})
        if pieces.get(part.part_index) != len(part.content):
            return False
        del pieces[part.part_index]
        if not pieces:
            del self._underway[part.transfer_uuid]
        return True


def _decoded(frame: object) -> dict[str, Any]:
    if not isinstance(frame, bytes):
        raise InvalidMessage
    try:
        return msgspec.msgpack.decode(frame, type=dict[str, Any])
    except (ValueError, RecursionError) as error:  # also what msgspec raises
        raise InvalidMessage from error


def _is_bounded(content: object) -> bool:
    """Whether all numbers in it are those of a page; nothing that has the types of a message is deep."""
    if isinstance(content, dict):
        return all(map(_is_bounded, content.values()))
    if isinstance(content, list):
        return all(map(_is_bounded, content))
    return not isinstance(content, int | float) or -MAX_EXACT_INTEGER < content < MAX_EXACT_INTEGER  # nor is it nan


def _takes(field: Field, value: Value) -> bool:
    """Whether a value is of the kind that a field holds, and within its bounds."""
    held = field._impl.value
    if isinstance(held, tuple):
        if not isinstance(value, list):
            return False
        return not held or (len(value) == len(held) and all(map(_is_alike, held, value)))
    return _is_alike(held, value) and (isinstance(value, str | bool) or _is_between(field, value))


def _is_alike(held: object, value: object) -> bool:
    if isinstance(held, bool) or not isinstance(held, int | float):
        return type(value) is type(held)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(held, float) or value == int(value)


def _is_between(field: Field, value: Any) -> bool:
    least, most = (getattr(field._impl.props, name, None) for name in ("min", "max"))
    return (least is None or value >= least) and (most is None or value <= most)


class _Update(msgspec.Struct, forbid_unknown_fields=True):
    """The one thing that a page changes of a button or a field."""

    value: Value
