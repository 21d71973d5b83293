"""How checkpoints are read: with a serializer that makes no class because a row names it.

In: a checkpointer.  Out: the same one with a strict serializer, whatever the environment says.

    with_strict_serializer(InMemorySaver())

LangGraph's own serializer makes any class that a stored value names, and calls it, unless
`LANGGRAPH_STRICT_MSGPACK` was set before LangGraph was imported first.  A library cannot count on
that; who can write a row would run code in whoever reads it.
"""

from __future__ import annotations

import copy
from typing import Any, Final, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.base import SerializerProtocol, maybe_add_typed_methods
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

_S = TypeVar("_S", bound=BaseCheckpointSaver[Any])

STRICT: Final = JsonPlusSerializer(allowed_json_modules=None, allowed_msgpack_modules=None)
"""Makes dates, ids, sets and LangGraph's own records, and nothing else that a row may name."""


def with_strict_serializer(saver: _S) -> _S:
    """A copy of `saver` on the same storage that reads and writes with `STRICT`.

    Encryption around LangGraph's serializer stays.
    Raises: `ValueError` for any other serializer: what it makes of a row cannot be known.
    """
    if saver.serde is STRICT:
        return saver
    strict = copy.copy(saver)
    strict.serde = maybe_add_typed_methods(_strict(saver.serde))
    return strict


def _strict(serializer: SerializerProtocol) -> SerializerProtocol:
    # By the exact type: a subclass may make what it likes.
    if type(serializer) is JsonPlusSerializer and not serializer.pickle_fallback:
        return STRICT
    if type(serializer) is EncryptedSerializer:
        return EncryptedSerializer(serializer.cipher, _strict(serializer.serde))
    name = type(serializer).__name__
    raise ValueError(
        f"the checkpointer reads its rows with {name}, which may run what a row names: "
        "give it a JsonPlusSerializer without pickle_fallback, or an EncryptedSerializer around one"
    )
