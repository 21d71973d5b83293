"""The classes from which the channels of a governed graph are made.

LangGraph documents channels as annotations of a state.  It does not promise that a state may name a
channel class of its own, which sees every write.
"""

from __future__ import annotations

from typing import Any, Final

from langgraph.channels import LastValue
from langgraph.channels.base import BaseChannel
from langgraph.checkpoint.serde.types import _DeltaSnapshot as DeltaSnapshot
from langgraph.errors import EmptyChannelError

__all__ = ["MISSING", "BaseChannel", "DeltaSnapshot", "EmptyChannelError"]

MISSING: Final[Any] = LastValue(str).checkpoint()
"""LangGraph's own mark of an empty channel, which a checkpoint leaves out."""


def list_growing_channels(metadata: Any) -> frozenset[str]:
    """The channels of a checkpoint whose values lie in the writes of earlier checkpoints, too."""
    found = metadata.get("counters_since_delta_snapshot") if isinstance(metadata, dict) else None
    return frozenset(found) if isinstance(found, dict) else frozenset()
