"""Retry policies of authors: what is read of them, what they repeat, and how long they wait."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.data.retry_policy import CallRetryPolicy, read_retry_policy


def read(**fields: Any) -> CallRetryPolicy:
    policy, flaws = read_retry_policy(fields)
    assert flaws == ()
    assert policy is not None
    return policy


def test_nothing_written_is_no_policy_and_an_empty_object_is_the_default_one() -> None:
    assert read_retry_policy(None) == (None, ())
    assert read() == CallRetryPolicy()


@pytest.mark.parametrize(
    ("fields", "status", "code", "again"),
    [
        ({}, 500, "", True),
        ({}, 503, "", True),
        ({}, 501, "", False),
        ({}, 409, "", True),
        ({}, 429, "", True),
        ({}, 404, "", False),
        ({}, 400, "", False),
        ({}, 401, "", False),
        ({"service_error_retry_on_any_5xx": False}, 503, "", False),
        ({"recoverable_statuses": {}}, 429, "", False),
        ({"recoverable_statuses": {"404": []}}, 404, "", True),
        ({"recoverable_statuses": {"501": []}}, 501, "", True),
        ({"recoverable_statuses": {"409": ["Locked"]}}, 409, "Locked", True),
        ({"recoverable_statuses": {"409": ["Locked"]}}, 409, "Exists", False),
    ],
)
def test_which_responses_are_worth_another_attempt(
    fields: dict[str, Any], status: int, code: str, again: bool
) -> None:
    assert read(**fields).recovers(status, code) is again


@pytest.mark.parametrize(
    ("jitter", "status", "least", "most"),
    [
        (None, 503, 4.0, 4.0),
        ("full", 429, 0.0, 4.0),
        ("equal", 503, 2.0, 4.0),
        ("full_and_equal_for_throttle", 503, 0.0, 4.0),
        ("full_and_equal_for_throttle", None, 0.0, 4.0),
        ("full_and_equal_for_throttle", 429, 2.0, 4.0),
        ("decorrelated", 503, 4.0, 5.0),
    ],
)
def test_each_jitter_has_its_own_range(
    jitter: str | None, status: int | None, least: float, most: float
) -> None:
    wait = read(jitter=jitter).backoff(2, status=status)
    assert (wait.seconds(lambda _most: 0.0), wait.seconds(lambda most: most)) == (least, most)


def test_a_delay_grows_by_its_factor_up_to_the_longest() -> None:
    policy = read(initial_retry_delay=0.5, backoff_factor=3, max_retry_delay=6, jitter=None)
    waits = [policy.backoff(attempt).seconds(lambda most: most) for attempt in range(4)]
    assert waits == [0.5, 1.5, 4.5, 6.0]
    equal = read(initial_retry_delay=4, max_retry_delay=6, jitter="equal").backoff(5)
    assert (equal.fixed, equal.spread) == (3.0, 3.0)


def test_no_policy_holds_a_thread_for_long() -> None:
    policy = read(
        max_attempts=10**9, initial_retry_delay=1e300, max_retry_delay=1e308, backoff_factor=1e300,
    )  # fmt: skip
    assert policy.retries == 20
    assert policy.backoff(10**6).seconds(lambda most: most) == 60.0


@pytest.mark.parametrize(
    ("written", "field", "says"),
    [
        (3, "", "must be an object"),
        ({"max_atempts": 1}, "max_atempts", "is none of"),
        ({"max_attempts": -1}, "max_attempts", "whole number"),
        ({"max_attempts": True}, "max_attempts", "whole number"),
        ({"max_attempts": 2.5}, "max_attempts", "whole number"),
        ({"request_timeout": 0}, "request_timeout", "above 0"),
        ({"request_timeout": float("inf")}, "request_timeout", "above 0"),
        ({"initial_retry_delay": "1"}, "initial_retry_delay", "not below 0"),
        ({"initial_retry_delay": 10**400}, "initial_retry_delay", "not below 0"),
        ({"initial_retry_delay": 9}, "max_retry_delay", "initial_retry_delay"),
        ({"backoff_factor": 0}, "backoff_factor", "above 0"),
        ({"jitter": "none"}, "jitter", "decorrelated"),
        ({"service_error_retry_on_any_5xx": 1}, "service_error_retry_on_any_5xx", "true or false"),
        ({"recoverable_statuses": [409]}, "recoverable_statuses", "an object"),
        ({"recoverable_statuses": {"4xx": []}}, "recoverable_statuses", "400 to 599"),
        ({"recoverable_statuses": {"401": []}}, "recoverable_statuses", "401"),
    ],
)
def test_what_cannot_be_kept_is_named_by_its_field(written: Any, field: str, says: str) -> None:
    policy, flaws = read_retry_policy(written)
    assert policy is None
    assert [flaw.field for flaw in flaws] == [field]
    assert says in flaws[0].problem
