"""How checkpoints are read: with a serializer that makes no class because a row names it.

In: a checkpointer.  Out: the same one with a strict serializer, whatever the environment says.

    with_strict_serializer(InMemorySaver())

LangGraph's own serializer makes any class that a stored value names, and calls it, unless
`LANGGRAPH_STRICT_MSGPACK` was set before LangGraph was imported first.  A library cannot count on
that; who can write a row would run code in whoever reads it.
"""

from __future__ import annotations

import functools
from typing import Any, Final, TypeVar

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.base import SerializerProtocol, maybe_add_typed_methods
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

_S = TypeVar("_S", bound=BaseCheckpointSaver[Any])

STRICT: Final = JsonPlusSerializer(allowed_json_modules=None, allowed_msgpack_modules=None)
"""Makes dates, ids, sets and LangGraph's own records, and nothing else that a row may name."""


def with_strict_serializer(saver: _S) -> _S:
    """`saver` as seen by a graph of ours: all its state is shared, but it reads with `STRICT`.

    The saver itself is left alone: other graphs on it may need what theirs makes.
    Encryption around LangGraph's serializer stays.
    Raises: `ValueError` for any other serializer: what it makes of a row cannot be known.
    """
    serializer = _strict(saver.serde)
    if serializer is saver.serde:
        return saver
    own: Any = type(saver)
    kind = _strict_kind(own) if serializer is STRICT else _kind(own, serializer)
    strict: _S = object.__new__(kind)
    # The same dictionary, not a copy: a saver may count, cache or lock, and must stay one.
    strict.__dict__ = saver.__dict__
    return strict


@functools.lru_cache(maxsize=64)
def _strict_kind(saver_kind: type[Any]) -> type[Any]:
    return _kind(saver_kind, STRICT)


def _kind(saver_kind: type[Any], serializer: SerializerProtocol) -> type[Any]:
    """A class of savers with this serializer, whatever stands in an instance."""
    typed = maybe_add_typed_methods(serializer)
    members = {"serde": property(lambda _self: typed, lambda _self, _value: None)}
    return type(saver_kind.__name__, (saver_kind,), members)


def _strict(serializer: SerializerProtocol) -> SerializerProtocol:
    if serializer is STRICT:
        return serializer
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
