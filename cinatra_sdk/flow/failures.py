"""What counts as a failure of a flow inside a node, for a node that goes on after one.

NodeFailed, PlatformError, …     ->  a failure
a pause, a rejection, a stop     ->  none: it goes out of the node as out of any other
EffectUnknown, LimitExceeded, …  ->  none: the run must not go on by itself
"""

from __future__ import annotations

from typing import Final

from langgraph.errors import GraphBubbleUp

from cinatra_sdk.errors import (
    EffectDiffers,
    EffectRefused,
    EffectUnknown,
    ForkRefused,
    InputInvalid,
    LimitExceeded,
    NodeFailed,
    ShownDiffers,
    ValueRefused,
)
from cinatra_sdk.platform.protocol import PlatformError

FAILURES: Final = (NodeFailed, PlatformError, InputInvalid, ValueRefused)
"""Whatever `is_failure` is true of is one of these."""
_NO_FAILURES: Final = (
    EffectDiffers, EffectRefused, EffectUnknown, ForkRefused, LimitExceeded, ShownDiffers,
    GraphBubbleUp,
)  # fmt: skip


def is_failure(error: BaseException) -> bool:
    """Whether a node that takes failures may go on after `error`."""
    return isinstance(error, FAILURES) and not isinstance(error, _NO_FAILURES)


def describe_failure(error: BaseException) -> str:
    """The node and the kind of a failure; its text may say more than its reader should know."""
    where = getattr(error, "path", "") or getattr(error, "node", "")
    code = getattr(error, "code", "") or "failed"
    return f"node '{where}' failed ({code})" if where else f"the flow failed ({code})"
