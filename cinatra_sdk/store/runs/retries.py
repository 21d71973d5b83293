"""Which failed runs are tried again, when, and how often.

    RetryPolicy().find_delay("transient", failures=2)   ->  60.0
    RetryPolicy().find_delay("transient", failures=5)   ->  None: a person has to resume the run

The next sweep continues a run whose process died; the death counts as a failure too.
"""

from __future__ import annotations

from typing import Any, Final

from psycopg.types.json import Json

from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import FailureKind, kind_of

EXHAUSTED: Final = "attempts_exhausted"
"""The code of a run that failed as often as it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Seconds before each further try, by the class of the failure; the last number repeats."""

    transient: tuple[float, ...] = (10.0, 60.0, 300.0)
    """The platform cannot be reached, or answers 408, 425, 429 or 5xx; the database cannot be
    reached.
    """
    permanent: tuple[float, ...] = ()
    """Everything else; empty: such a run waits for a person at once."""
    most: int = 5
    """Failures in a row, deaths among them, after which a run waits for a person; at least 1."""

    def __post_init__(self) -> None:
        """Raises: `ValueError`."""
        if self.most < 1 or any(wait < 0 for wait in self.transient + self.permanent):
            raise ValueError("most is at least 1, and no wait is below 0 seconds")

    def find_delay(self, kind: FailureKind, *, failures: int) -> float | None:
        """Seconds until the next try; None where there is none.

        failures: in a row, this one included.
        """
        waits = self._choose_waits(kind)
        if not waits or failures >= self.most:
            return None
        return waits[min(failures, len(waits)) - 1]

    def _choose_waits(self, kind: FailureKind) -> tuple[float, ...]:
        return self.transient if kind == "transient" else self.permanent

    def is_exhausted(self, kind: FailureKind, *, failures: int) -> bool:
        """Whether such a failure is tried again in general, and this one no more."""
        return bool(self._choose_waits(kind)) and failures >= self.most


def plan_retry(
    policy: RetryPolicy, error: Exception, *, failures: int, told: Json
) -> dict[str, Any]:
    """The columns `error` and `retry_in` of a failed run; `told` is the error as it is kept."""
    kind = kind_of(error)
    if policy.is_exhausted(kind, failures=failures):
        told = describe_exhausted(failures, told.obj)
    return {"error": told, "retry_in": policy.find_delay(kind, failures=failures)}


def describe_exhausted(failures: int, last: dict[str, Any] | None) -> Json:
    """The error of a run that failed or died as often as it may.

    last: the error of its last failure; None where its process died.
    """
    said = "its process died" if last is None else last["message"]
    times = "once" if failures == 1 else f"{failures} times in a row"
    return Json(
        {
            "code": EXHAUSTED,
            "message": f"the run failed {times} and is not tried again until it is resumed; "
            f"the last time: {said}"[:2000],
            "node": "" if last is None else last["node"],
            "cause": "died" if last is None else last["code"],
        }
    )
