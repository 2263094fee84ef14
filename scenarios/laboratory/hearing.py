"""What a page may say: the messages of viser's own page, of the right types, and nothing else.

viser takes what comes: a message may set any attribute of a button, one of the wrong types raises where nobody looks,
and one that cannot be passed on stops the server for all. So each frame is read here first, and only what the page itself
would send reaches viser. The list is that of viser 1.1; requests for a public tunnel are left out of it.
"""

from __future__ import annotations

import dataclasses

import msgspec
from viser import _messages as said

LARGEST_MESSAGE = 2**20  # [bytes] pages send files in pieces of half that size

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


class Garbage(ValueError):
    """A frame that is no message at all: whoever sent it is not our page."""


def is_for_viser(frame: object) -> bool:
    """Whether a frame is something that the page may say; raises `Garbage` where it is no message."""
    if not isinstance(frame, bytes):
        raise Garbage
    try:
        told = msgspec.msgpack.decode(frame, type=dict[str, object])
    except (ValueError, RecursionError) as error:  # also what msgspec raises
        raise Garbage from error
    kind = SPOKEN.get(str(told.pop("type", "")))
    if kind is None or not told.keys() <= {field.name for field in dataclasses.fields(kind)}:
        return False
    try:
        message = msgspec.convert(told, kind)
        if isinstance(message, said.GuiUpdateMessage):
            msgspec.convert(message.updates, _Update)
    except (ValueError, RecursionError):
        return False
    return True


class _Update(msgspec.Struct, forbid_unknown_fields=True):
    """The one thing that a page changes of a button or a field."""

    value: Value
