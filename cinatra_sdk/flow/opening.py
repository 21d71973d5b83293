"""The context of a first turn before the prompt of a node that asks a model.

In: the two names of a node's record, and the reader that the host lends.  Out: the text for the
values of one visit.

    ("image_id", "photos")   {"image_id": "img-7"}   ->   "# Context of the first turn, version 1 …"

A file names an input and a word; which folder a word means, only the host knows.  The text is read
each time that the model is asked, and stands in no record of the effect: notes that change between
a crash and the next try must not make another effect of the same one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.lending.first_turns import ANY_WORKSPACE, find_reader, read_text
from cinatra_sdk.lending.host_parts import FirstTurnReaders, HostParts

Opened: TypeAlias = "tuple[str, str] | None"
"""The input with the image's id, and the workspace: an input, or a word of the file; None: the node
has no context.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstTurnOpening:
    """Reads the context for one node."""

    frame: Frame
    readers: FirstTurnReaders
    image_id: str
    workspace: str

    def read(self, values: Mapping[str, Any]) -> str:
        """The text; values: those of the node's inputs.

        Raises: `NodeFailed`.
        """
        image_id = values.get(self.image_id)
        if not isinstance(image_id, str):
            raise self.frame.failed(f"its input '{self.image_id}' is no image's id: it is no text")
        workspace = values.get(self.workspace, self.workspace) or ANY_WORKSPACE
        reader = find_reader(self.readers, workspace)
        if reader is None:
            raise self.frame.failed(
                "the host lends no reader for this workspace", hint="HostParts(first_turn={…})"
            )
        text, problem = read_text(reader, image_id)
        if problem:
            raise self.frame.failed(f"the first turn: {problem}")
        return text


def make_opening(
    frame: Frame, host: HostParts, opened: Opened, *, simulated: bool
) -> FirstTurnOpening | None:
    """simulated: the calls of the run are made up.

    Raises: `NotConfigured` where a model would be told the context, and the host lends no reader.
    """
    if opened is None:
        return None
    if not host.first_turn:
        if simulated and not host.models:
            return None  # a simulation is told no context, so it needs none
        raise NotConfigured(
            f"node '{frame.where}' begins with the context of a first turn, which this process cannot "
            "read",
            hint="give a reader with HostParts(first_turn=…); at the command line, --host MODULE:FACTORY",
        )
    return FirstTurnOpening(
        frame=frame, readers=host.first_turn, image_id=opened[0], workspace=opened[1]
    )


def read_opening(opening: FirstTurnOpening | None, state: Mapping[str, Any]) -> str:
    """The text for one visit; empty where the node has no context."""
    return "" if opening is None else opening.read(opening.frame.gather(state))
