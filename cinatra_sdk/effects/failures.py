"""What an error says about an effect: whether a later try may help, and whether it may have happened.

PlatformUnreachable (no connection)      transient, not reached
PlatformUnreachable (timeout)            transient, may have happened
429, 5xx                                 transient; a 5xx may have happened
400, 404, 422                            permanent: the receiver says that it did nothing
an exception of a tool                   permanent, may have happened
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from cinatra_sdk.effects.effect import Usage
from cinatra_sdk.errors import RunBusy, StoreUnreachable
from cinatra_sdk.governed.secrets import redact
from cinatra_sdk.platform.protocol import (
    PlatformError,
    PlatformRefused,
    PlatformResponseError,
    PlatformUnreachable,
)

FailureKind: TypeAlias = Literal["transient", "permanent"]
_LONGEST: Final = 500
"""Characters of an error's text that are kept."""
_NOT_NOW: Final = frozenset({408, 425, 429})
"""Statuses below 500 by which a server asks for a later try."""
_UNDECIDED: Final = frozenset({408, 409, 425})
"""Statuses below 500 that do not tell whether this request, or an earlier one with its key, took effect."""


class NotMade(Exception):
    """The request was surely not made; an error that comes from this one is no unknown outcome."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectFailure:
    """Why an effect has no result; the text is safe to store."""

    kind: FailureKind
    code: str
    message: str
    reached: bool
    """Whether the effect may have happened all the same."""
    usage: Usage | None = None
    """What it used up all the same; None: nothing that anybody knows of."""


def read_failure(error: BaseException, secrets: Iterable[str]) -> EffectFailure:
    """The record of `error`, which a call raised.

    An error that was made from another (`raise … from`) has the kind of that other one.
    """
    known = tuple(secrets)
    used = getattr(error, "used", None)
    return EffectFailure(
        kind=kind_of(error),
        code=redact(str(getattr(error, "code", "") or type(error).__name__), known)[:100],
        message=redact(_format_text(error), known).replace("\x00", "")[:_LONGEST],
        reached=all(_may_have_reached(one) for one in _walk_causes(error)),
        usage=used if isinstance(used, Usage) else None,
    )


def surely_refused(status: int) -> bool:
    """Whether an answer with the status says that the request which it answers did nothing."""
    return 400 <= status < 500 and status not in _UNDECIDED


def kind_of(error: BaseException) -> FailureKind:
    """`transient` where a later try may help."""
    return "transient" if any(_is_transient(one) for one in _walk_causes(error)) else "permanent"


def _is_transient(error: BaseException) -> bool:
    if isinstance(error, PlatformResponseError):
        return error.status is not None and (error.status in _NOT_NOW or error.status >= 500)
    return isinstance(
        error,
        (
            PlatformUnreachable,
            StoreUnreachable,
            RunBusy,
            TimeoutError,
            ConnectionError,
            CancelledError,
        ),
    )


def _may_have_reached(error: BaseException) -> bool:
    if isinstance(error, (PlatformRefused, NotMade)):
        return False
    if isinstance(error, PlatformResponseError) and error.status is not None:
        return not surely_refused(error.status)
    return not (isinstance(error, PlatformError) and error.unsent)


def _walk_causes(error: BaseException) -> Iterator[BaseException]:
    """The error and those that it was made from."""
    seen: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in seen:
        seen.append(one)
        yield one
        one = one.__cause__


def _format_text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a stranger's __str__ may do anything
        return ""
