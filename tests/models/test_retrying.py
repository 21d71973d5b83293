"""When a model is asked again, and how long is waited before."""

from __future__ import annotations

import ssl
import threading
from typing import Any

import pytest

from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.outside.models.attempts import ask_again, is_worth_retrying, read_status

RULES = CallRetryPolicy()


def make_error(name: str, **held: Any) -> Exception:
    """An error of a client that this project does not know."""
    error: Exception = type(name, (Exception,), {})()
    for key, value in held.items():
        setattr(error, key, value)
    return error


@pytest.mark.parametrize(
    ("jitter", "status", "expected"),
    [
        (None, None, [1.0, 2.0, 4.0, 8.0, 8.0]),
        ("full", None, [0.5, 1.0, 2.0, 4.0, 8.0]),
        ("equal", None, [0.75, 1.5, 3.0, 6.0, 6.0]),
        ("decorrelated", None, [1.5, 2.5, 4.5, 8.0, 8.0]),
        ("full_and_equal_for_throttle", 429, [0.75, 1.5, 3.0, 6.0, 6.0]),
        ("full_and_equal_for_throttle", 503, [0.5, 1.0, 2.0, 4.0, 8.0]),
    ],
)
def test_the_pause_grows_with_the_jitter_of_the_policy(
    jitter: Any, status: int | None, expected: list[float]
) -> None:
    rules = CallRetryPolicy(jitter=jitter)
    pauses = [rules.backoff(tries, status=status).seconds(lambda x: 0.5 * x) for tries in range(5)]
    assert pauses == expected


@pytest.mark.parametrize(
    ("error", "again"),
    [
        (make_error("RateLimitError"), True),
        (make_error("ThrottlingException"), True),
        (make_error("APIConnectionError"), True),
        (make_error("Odd", status_code=503), True),
        (make_error("Odd", code=429), True),
        (make_error("Odd", response={"ResponseMetadata": {"HTTPStatusCode": 500}}), True),
        (make_error("Odd", status_code=401), False),
        (make_error("RateLimitError", status_code=400), False),
        (make_error("Odd", status_code=501), False),
        (make_error("Odd"), False),
        (ConnectionError(), True),
        (TimeoutError(), True),
        (ssl.SSLCertVerificationError(), False),
        (ValueError(), False),
    ],
)
def test_errors_are_told_apart_without_knowing_the_client(error: Exception, again: bool) -> None:
    assert is_worth_retrying(error, RULES) is again


def test_a_refused_certificate_behind_a_lost_connection_is_not_tried_again() -> None:
    error = make_error("APIConnectionError")
    error.__cause__ = ssl.SSLCertVerificationError()
    assert not is_worth_retrying(error, RULES)


def test_a_status_counts_with_the_codes_of_the_policy() -> None:
    rules = CallRetryPolicy(recoverable_statuses=((429, ("slow_down",)),))
    assert is_worth_retrying(make_error("E", status_code=429, code="slow_down"), rules)
    assert not is_worth_retrying(make_error("E", status_code=429, code="no_money"), rules)


def test_the_status_of_an_error_is_found_where_it_came_from() -> None:
    outer = make_error("Outer")
    outer.__cause__ = make_error("Inner", status_code=502)
    assert read_status(outer) == 502


def test_a_client_that_hangs_is_given_up() -> None:
    release = threading.Event()
    rules = CallRetryPolicy(request_timeout=0.01, max_attempts=1, initial_retry_delay=0)
    tried: list[int] = []

    def hang() -> None:
        tried.append(1)
        release.wait(60)

    try:
        with pytest.raises(TimeoutError, match=r"no answer within 0\.01 seconds"):
            ask_again(rules, hang, between=lambda: None)
    finally:
        release.set()
    assert len(tried) == 2
