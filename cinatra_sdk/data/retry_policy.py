"""A retry policy of Agent Spec: when an author wants a request repeated, and after which wait.

CallRetryPolicy().recovers(503)               ->  True
CallRetryPolicy().recovers(501)               ->  False: the server cannot do it, now or later
CallRetryPolicy().recovers(409, "Conflict")   ->  True
CallRetryPolicy().backoff(1, status=503)      ->  Backoff(fixed=0.0, spread=2.0, most=8.0)

A policy is the wish of the author.  The sender of a request decides whether it may be repeated at all: an
effect that is at most once may not.  `read_retry_policy` reads the object of a file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Final, Literal, TypeAlias, get_args

from cinatra_sdk.data.author_json import JsonValue
from cinatra_sdk.light_imports.records import dataclass

Jitter: TypeAlias = Literal["full", "equal", "full_and_equal_for_throttle", "decorrelated"]
JITTERS: Final[tuple[str, ...]] = get_args(Jitter)

MOST_RETRIES: Final = 20
"""Retries that are made at most, whatever a policy says: a call occupies a thread of its host."""
LONGEST_DELAY: Final = 60.0
"""Seconds between two attempts, at most, whatever a policy says."""
NEVER_RETRIED: Final = frozenset({400, 401, 403, 422})
"""Statuses that say that the same request will be refused again."""
_NOT_IMPLEMENTED: Final = 501
_LOWEST, _HIGHEST = 400, 599


@dataclass(frozen=True, slots=True)
class Backoff:
    """A wait in seconds: `fixed` and a random part of `spread`, together at most `most`."""

    fixed: float = 0.0
    spread: float = 0.0
    most: float = LONGEST_DELAY

    def seconds(self, jitter: Callable[[float], float]) -> float:
        """`jitter` gives a random number from 0 to its argument."""
        return min(self.fixed + jitter(self.spread), self.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRetryPolicy:
    """The policy of one node or tool; the defaults are those of Agent Spec."""

    max_attempts: int = 2
    """Retries; the first attempt does not count."""
    request_timeout: float | None = None
    """Seconds of one attempt."""
    initial_retry_delay: float = 1.0
    max_retry_delay: float = 8.0
    backoff_factor: float = 2.0
    jitter: Jitter | None = "full_and_equal_for_throttle"
    service_error_retry_on_any_5xx: bool = True
    recoverable_statuses: tuple[tuple[int, tuple[str, ...]], ...] = ((409, ()), (429, ()))
    """Status, and the codes of the receiver that it must come with; none means any."""

    @property
    def retries(self) -> int:
        """How often a request is repeated at most."""
        return min(self.max_attempts, MOST_RETRIES)

    def recovers(self, status: int, code: str = "") -> bool:
        """Whether a response with this status may be better the next time.

        code: the receiver's own code of the error.
        """
        if status in NEVER_RETRIED:
            return False
        for listed, codes in self.recoverable_statuses:
            if listed == status and (not codes or code in codes):
                return True
        is_service_error = 500 <= status <= _HIGHEST and status != _NOT_IMPLEMENTED
        return self.service_error_retry_on_any_5xx and is_service_error

    def backoff(self, attempt: int, *, status: int | None = None) -> Backoff:
        """The wait after attempt number `attempt` (0 is the first).

        status: of the response; None where there was none, which counts as an error of the service.
        """
        grown, most = self._grow(attempt), min(self.max_retry_delay, LONGEST_DELAY)
        kind = self.jitter
        if kind == "full_and_equal_for_throttle":
            kind = "equal" if status is not None and status < 500 else "full"
        if kind == "full":
            return Backoff(spread=grown, most=most)
        if kind == "equal":
            half = min(grown, most) / 2
            return Backoff(fixed=half, spread=half, most=most)
        return Backoff(fixed=grown, spread=1.0 if kind == "decorrelated" else 0.0, most=most)

    def _grow(self, attempt: int) -> float:
        try:
            return float(self.initial_retry_delay * self.backoff_factor**attempt)
        except OverflowError:
            return LONGEST_DELAY


@dataclass(frozen=True, slots=True)
class RetryFlaw:
    """A field of a policy that cannot be kept; `field` is empty for the policy as a whole."""

    field: str
    problem: str


def read_retry_policy(value: JsonValue) -> tuple[CallRetryPolicy | None, tuple[RetryFlaw, ...]]:
    """The policy that an author wrote, and what is wrong with it; None where nothing was written."""
    if value is None:
        return None, ()
    if not isinstance(value, dict):
        return None, (RetryFlaw("", "must be an object"),)
    known = {field.name for field in fields(CallRetryPolicy)}
    flaws = [
        RetryFlaw(name, f"is none of {', '.join(sorted(known))}")
        for name in value
        if name not in known
    ]
    read: dict[str, object] = {}
    for name, (reader, wanted) in _READERS.items():
        if name not in value or (value[name] is None and name != "jitter"):
            continue
        found = reader(value[name])
        if found is _WRONG:
            flaws.append(RetryFlaw(name, f"must be {wanted}"))
        else:
            read[name] = found
    flaws += _find_status_flaws(value.get("recoverable_statuses"))
    if flaws:
        return None, tuple(flaws)
    policy = CallRetryPolicy(**read)  # type: ignore[arg-type]  # each value was read as its field's type
    if policy.max_retry_delay < policy.initial_retry_delay:
        return None, (RetryFlaw("max_retry_delay", "must not be below initial_retry_delay"),)
    return policy, ()


_WRONG: Final = object()


def _find_status_flaws(statuses: JsonValue) -> list[RetryFlaw]:
    """Statuses that no policy repeats, which the author would rely on."""
    if not isinstance(statuses, Mapping):
        return []
    return [
        RetryFlaw(
            "recoverable_statuses", f"names {status}, which means that the same request fails again"
        )
        for status in statuses
        if status.isdecimal() and len(status) == 3 and int(status) in NEVER_RETRIED
    ]


def _read_count(value: JsonValue) -> object:
    return value if type(value) is int and value >= 0 else _WRONG


def _read_seconds(value: JsonValue) -> object:
    """A number that is not below 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
        return _WRONG
    try:
        return float(value) if math.isfinite(value) else _WRONG
    except OverflowError:
        return _WRONG


def _read_positive(value: JsonValue) -> object:
    return _WRONG if value == 0 else _read_seconds(value)


def _read_jitter(value: JsonValue) -> object:
    return value if value is None or value in JITTERS else _WRONG


def _read_flag(value: JsonValue) -> object:
    return value if isinstance(value, bool) else _WRONG


def _read_statuses(value: JsonValue) -> object:
    if not isinstance(value, dict):
        return _WRONG
    found: list[tuple[int, tuple[str, ...]]] = []
    for status, codes in value.items():
        is_status = status.isascii() and status.isdecimal() and len(status) == 3
        if not is_status or not _LOWEST <= int(status) <= _HIGHEST:
            return _WRONG
        if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
            return _WRONG
        found.append((int(status), tuple(code for code in codes if isinstance(code, str))))
    return tuple(found)


_READERS: Final[Mapping[str, tuple[Callable[[JsonValue], object], str]]] = {
    "max_attempts": (_read_count, "a whole number that is not below 0"),
    "request_timeout": (_read_positive, "a number of seconds above 0"),
    "initial_retry_delay": (_read_seconds, "a number of seconds that is not below 0"),
    "max_retry_delay": (_read_seconds, "a number of seconds that is not below 0"),
    "backoff_factor": (_read_positive, "a number above 0"),
    "jitter": (_read_jitter, f"null or one of {', '.join(JITTERS)}"),
    "service_error_retry_on_any_5xx": (_read_flag, "true or false"),
    "recoverable_statuses": (
        _read_statuses,
        "an object from a status (400 to 599) to a list of codes",
    ),
}
