"""What a host lends to read the context of a first turn: one reader, or readers by workspace.

find_reader({"photos": read_photo, "*": read_any}, "photos")   ->  read_photo
read_text(read_photo, "img-7")                                 ->  ("# Context of the first turn …", "")
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from cinatra_sdk.errors import FlowError
from cinatra_sdk.first_turn import FirstTurn, first_turn_text

FirstTurnReader: TypeAlias = Callable[[str], FirstTurn]
"""From an image's id to the context of a first turn, such as `read_context` with its workspace."""
FirstTurnReaders: TypeAlias = FirstTurnReader | Mapping[str, FirstTurnReader]

ANY_WORKSPACE: Final = "*"


def find_reader(readers: FirstTurnReaders, workspace: object) -> FirstTurnReader | None:
    """The reader for a workspace; None where the host lends none for it."""
    if callable(readers):
        return readers
    found = readers.get(workspace) if isinstance(workspace, str) else None
    return found or readers.get(ANY_WORKSPACE)


def read_text(reader: FirstTurnReader, image_id: str) -> tuple[str, str]:
    """The text for an image, and what went wrong in its place; names no folder of the host."""
    try:
        turn: object = reader(image_id)
    except FlowError as error:
        return "", str(error)
    except Exception as error:  # noqa: BLE001 - a function of the host raises anything
        return "", f"its reader raised {type(error).__name__}"
    if not isinstance(turn, FirstTurn):
        return "", f"its reader gave a {type(turn).__name__}, and no FirstTurn"
    return first_turn_text(turn), ""
