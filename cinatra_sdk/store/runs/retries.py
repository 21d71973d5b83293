"""Which failed runs are tried again, when, and how often.

    RetryPolicy().find_delay("transient", failures=2)   ->  60.0
    RetryPolicy().find_delay("transient", failures=5)   ->  None: a person has to resume the run

Transient is what `TRANSIENT_ERRORS` of `cinatra_sdk.effects` names, and what a host names by class
(`transient_errors`); everything else is permanent, such as a bug in the code of a node.  The next sweep
continues a run whose process died; the death counts as a failure too.  No failure, and no death, is what the
database did (a restart, a connection that was cut off, a limit on idle sessions): the run goes on where it
stands as soon as the database can be reached.
"""

from __future__ import annotations

from typing import Any, Final

from psycopg.types.json import Json

from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import FailureKind, kind_of, list_classes

EXHAUSTED: Final = "attempts_exhausted"
"""The code of a run that failed as often as it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Seconds before each further try, by the class of the failure; the last number repeats."""

    transient: tuple[float, ...] = (10.0, 60.0, 300.0)
    """Of what a later try may help with: see `TRANSIENT_ERRORS`."""
    permanent: tuple[float, ...] = ()
    """Everything else; empty: such a run waits for a person at once."""
    most: int = 5
    """Failures in a row, deaths among them, after which a run waits for a person; at least 1."""
    transient_errors: tuple[type[BaseException], ...] = ()
    """Classes of errors that the host's own code raises, and those derived from them, that a later try may
    help with.  What a tool of a flow raises is permanent unless it is named here.
    """
    permanent_errors: tuple[type[BaseException], ...] = ()
    """As `transient_errors`, of errors that no later try helps with; these win."""

    def __post_init__(self) -> None:
        """Raises: `ValueError`."""
        given: object
        for name in ("transient_errors", "permanent_errors"):
            given = getattr(self, name)
            if not isinstance(given, tuple) or not all(
                isinstance(one, type) and issubclass(one, BaseException) for one in given
            ):
                raise ValueError(f"{name} is no tuple of classes of exceptions")
        if self.most < 1 or any(wait < 0 for wait in self.transient + self.permanent):
            raise ValueError("most is at least 1, and no wait is below 0 seconds")

    def classify(self, error: BaseException) -> FailureKind:
        """By the error and those that it was made from, whatever a node made of them."""
        classes = list_classes(error)
        for chosen, kind in _KINDS:
            if any(issubclass(one, getattr(self, chosen)) for one in classes):
                return kind
        return kind_of(error)

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


_KINDS: Final[tuple[tuple[str, FailureKind], ...]] = (
    ("permanent_errors", "permanent"),
    ("transient_errors", "transient"),
)
"""What a host says of classes, in the order in which it counts."""


def plan_retry(
    policy: RetryPolicy, error: Exception, *, failures: int, told: Json
) -> dict[str, Any]:
    """The columns `error` and `retry_in` of a failed run; `told` is the error as it is kept."""
    kind = policy.classify(error)
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
