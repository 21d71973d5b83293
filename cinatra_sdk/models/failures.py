"""What an error of a provider's client says: its status, and whether a later try may help.

    429, 5xx but 501, a lost connection, a timeout      try again
    400, 401, 403, 404, 422, 501, a certificate         never

Clients have no error in common, so the status is looked for where they keep it, and the class name
counts where there is none.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from typing import Final

from cinatra_sdk.values.retry_policy import CallRetryPolicy

_NEVER: Final = frozenset({400, 401, 403, 404, 422, 501})
_LOST: Final = frozenset(
    {
        "APIConnectionError", "APITimeoutError", "ConnectError", "ConnectTimeout", "ReadError",
        "ReadTimeout", "RemoteProtocolError", "WriteError", "WriteTimeout", "PoolTimeout",
        "TimeoutException", "DeadlineExceeded", "EndpointConnectionError", "ReadTimeoutError",
        "ConnectTimeoutError", "ConnectionClosedError",
    }
)  # fmt: skip
"""Class names of errors of a connection."""
_BUSY: Final = {
    "RateLimitError": 429, "ThrottlingException": 429, "ResourceExhausted": 429,
    "InternalServerError": 500, "OverloadedError": 529, "ServiceUnavailable": 503,
    "ServiceUnavailableError": 503, "ModelNotReadyException": 503,
}  # fmt: skip
"""Class names that stand for a status."""


class ModelUnreachable(ConnectionError):
    """No model answered, and a later try may; made of the client's error, without its words."""


def read_status(error: BaseException) -> int | None:
    """The HTTP status that the error, or one that it was made from, is about."""
    for one in _walk(error):
        response = getattr(one, "response", None)
        for held in (one, response):
            for name in ("status_code", "http_status", "status", "code"):
                value = getattr(held, name, None)
                if type(value) is int and 100 <= value < 600:
                    return value
        if isinstance(response, dict):  # of Amazon's clients
            found = (response.get("ResponseMetadata") or {}).get("HTTPStatusCode")
            if type(found) is int:
                return found
    names = (type(one).__name__ for one in _walk(error))
    return next((_BUSY[name] for name in names if name in _BUSY), None)


def is_worth_retrying(error: BaseException, rules: CallRetryPolicy) -> bool:
    """Whether the rules allow another try after the error."""
    if any(isinstance(one, ssl.SSLError) or "CERTIFICATE" in str(one) for one in _walk(error)):
        return False
    status = read_status(error)
    if status is None:
        return is_lost(error)
    return status not in _NEVER and rules.recovers(status, _read_code(error))


def is_lost(error: BaseException) -> bool:
    """Whether the connection was lost, or took too long."""
    return any(
        isinstance(one, (ConnectionError, TimeoutError)) or type(one).__name__ in _LOST
        for one in _walk(error)
    )


def _read_code(error: BaseException) -> str:
    """The provider's own code of the error; empty where it has none."""
    found = (getattr(one, "code", None) for one in _walk(error))
    return next((code for code in found if isinstance(code, str)), "")


def _walk(error: BaseException) -> Iterator[BaseException]:
    seen: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in seen:
        seen.append(one)
        yield one
        one = one.__cause__
