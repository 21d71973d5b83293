"""The context of a first turn as a block of the compiled context, where a pack asks for it.

    {"memory_layer": {"first_turn": {"image_id": "image_id", "workspace": "photos"}}}
        ->  ContextBlock(block_id="first_turn", bucket="memory", content="# Context of the first turn …")

The request names the image, the pack the workspace, and the host alone knows which folder that is.  The
text stands in the transcript, as everything that a planner was told.
"""

from __future__ import annotations

from typing import Final

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.governance.admission import Admitted
from cinatra_sdk.governance.compiling import REQUEST_PRIORITY
from cinatra_sdk.governance.contracts.compiled import ContextBlock
from cinatra_sdk.governance.contracts.contract import thaw
from cinatra_sdk.governance.ports import GovernancePorts
from cinatra_sdk.governance.refusals import GovernanceRefused
from cinatra_sdk.lending.first_turns import ANY_WORKSPACE, find_reader, read_text

BLOCK: Final = "first_turn"


def read_first_turn(admitted: Admitted, ports: GovernancePorts) -> tuple[ContextBlock, ...]:
    """Empty where no pack asks for it.

    Raises: `GovernanceRefused` (INVALID_ENVELOPE) where the request does not say what it is about;
    `NotConfigured` where the host lends no reader, or the reader fails.
    """
    asked = admitted.book.first_turn
    if asked is None:
        return ()
    given = thaw(admitted.envelope.input.context) or {}
    image_id = given.get(asked.image_id)
    if not isinstance(image_id, str):
        raise GovernanceRefused(
            "INVALID_ENVELOPE",
            f"input/context/{asked.image_id} is no text, and a pack begins with the first turn of it",
        )
    word = asked.workspace or ANY_WORKSPACE
    reader = find_reader(ports.first_turn or {}, given.get(word, word))
    if reader is None:
        raise NotConfigured(
            "a pack begins with the context of a first turn, which this process cannot read",
            hint="GovernancePorts(first_turn=…)",
        )
    text, problem = read_text(reader, image_id)
    if problem:
        raise NotConfigured(f"the first turn: {problem}")
    priority = min(asked.priority, REQUEST_PRIORITY - 1)
    return (ContextBlock(block_id=BLOCK, bucket="memory", content=text, priority=priority),)
