"""What an attack on a serializer tries to have made."""

from __future__ import annotations

from typing import Any

MADE: list[Any] = []


class Bait:
    """Notes that it was made."""

    def __init__(self, arg: Any = None) -> None:
        MADE.append(arg)

    @classmethod
    def made(cls, arg: Any) -> Bait:
        return cls(arg)

    @classmethod
    def model_construct(cls, **fields: Any) -> Bait:
        return cls(fields)


def take(arg: Any) -> Any:
    MADE.append(arg)
    return arg


def __reduce_bait__() -> Any:
    MADE.append("pickle")
    return {}
