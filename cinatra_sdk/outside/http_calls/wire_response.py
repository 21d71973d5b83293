"""The meaning of a response: a pure function from status, headers and bytes to a value or an error.

In: the response to a request (a `Response`), or the reason for its absence (a `Failure`).
Out: the decoded JSON, a `Backoff` before the next attempt, or a `PlatformError`.

    200 {"title": "T"}                             -> {"title": "T"}
    200 text/plain `hello`                         -> "hello"
    503 {"error": "NO_LLM_PROVIDER", "message": …} -> PlatformResponseError(code="NO_LLM_PROVIDER")

An error's text holds the node, the url without its query, the status and the platform's own
code and one-line message; never a header, a request body or the rest of the response.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from email.utils import parsedate_to_datetime
from itertools import islice
from typing import TYPE_CHECKING, Literal, NoReturn

from pydantic import JsonValue

from cinatra_sdk.data.json_values import check_value
from cinatra_sdk.data.retry_policy import Backoff
from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.governed.secret_values import cut_out, forms_of, redact
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.opaque_responses import kept_of
from cinatra_sdk.outside.http_calls.protocol import (
    PlatformOutputError,
    PlatformResponseError,
    PlatformUnreachable,
)

if TYPE_CHECKING:
    from cinatra_sdk.outside.http_calls.wire_request import Prepared


MESSAGE_LENGTH = 300
FIRST_WAIT = 1.0
LONGEST_WAIT = 8.0
LONGEST_RETRY_AFTER = 60.0
"""Seconds.  A server that asks for a longer wait is not called again at all."""

_SHOWN_AS_RUN_ERROR = frozenset(
    {"NO_LLM_PROVIDER", "PREFERRED_PROVIDER_UNAVAILABLE", "CAPABILITY_UNSATISFIABLE"}
)
"""Codes of status 503 whose message is written for the person who started the run."""
_OVERLOADED = frozenset({409, 429})
_TEMPORARY = frozenset({502, 503, 504})
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.:-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One whole response."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Lower-case names."""
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why there is no whole response."""

    kind: Literal["connect", "name", "tls", "timeout", "broken", "protocol", "too_large"]
    """`connect` and `name` mean that no byte of the request was sent."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The response's value."""

    value: JsonValue


_UNSENT = frozenset({"connect", "name"})
"""Failures before the first byte of the request."""
_FAILURES = {
    "connect": "there is no connection",
    "name": "the host name cannot be resolved",
    "tls": "TLS failed: the certificate or the protocol was refused",
    "timeout": "there was no whole response in time",
    "broken": "the connection broke before the whole response was there",
    "protocol": "the response breaks the HTTP protocol",
}


def judge(
    prepared: Prepared,
    outcome: Response | Failure,
    *,
    attempt: int,
    retries: int,
    now: float,
    sent: bool = False,
) -> Decoded | Backoff:
    """The next action after `outcome` of attempt number `attempt` (0 is the first).

    retries: where the author gave no policy.  sent: whether an earlier attempt was.
    Raises: `PlatformError` when no further attempt is due.
    """
    if attempt < (retries if prepared.retry is None else prepared.retry.retries):
        wait = _plan_retry(prepared, outcome, attempt=attempt, now=now)
        if wait is not None:
            return wait
    if isinstance(outcome, Failure):
        _raise_failure(prepared, outcome, sent)
    if 200 <= outcome.status < 300:
        return Decoded(decode(prepared, outcome))
    raise _status_error(prepared, outcome)


def _plan_retry(
    prepared: Prepared, outcome: Response | Failure, *, attempt: int, now: float
) -> Backoff | None:
    if isinstance(outcome, Failure):
        again = outcome.kind in {"timeout", "broken"} and prepared.repeatable
        return _backoff(prepared, attempt) if outcome.kind in _UNSENT or again else None
    if not prepared.repeatable or not _is_temporary(prepared, outcome):
        return None
    asked = _retry_after(outcome.headers.get("retry-after", ""), now=now)
    if asked is None:
        return _backoff(prepared, attempt, outcome.status)
    # The server named the time: a retry must not come earlier.
    return Backoff(fixed=asked) if asked <= LONGEST_RETRY_AFTER else None


def _is_temporary(prepared: Prepared, response: Response) -> bool:
    """Whether another attempt may get another response."""
    if prepared.retry is None:
        return response.status in _OVERLOADED | _TEMPORARY
    return prepared.retry.recovers(response.status, platform_error(response.body)[0])


def _backoff(prepared: Prepared, attempt: int, status: int | None = None) -> Backoff:
    if prepared.retry is not None:
        return prepared.retry.backoff(attempt, status=status)
    return Backoff(spread=min(LONGEST_WAIT, FIRST_WAIT * 2**attempt))


def _retry_after(text: str, *, now: float) -> float | None:
    """Seconds to wait, from either form of `Retry-After`; `None` when it names no time."""
    if re.fullmatch(r"[0-9]{1,9}", text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except ValueError:
        return None


# --------------------------------------------------------------------------- success


def decode(prepared: Prepared, response: Response) -> JsonValue:
    """The body as JSON that can be stored; a text/plain body that is no JSON as a string.

    An empty body is `None`.
    """
    if not response.body.strip() or prepared.opaque == "status":
        return None
    value = _parse_response_body(prepared, response)
    if prepared.opaque == "plain":
        value = _reduce_opaque_response(prepared, response, value)
    refused = ""
    try:
        check_value(value, where=f'node "{prepared.node}": the response of {prepared.shown_url}')
    except ValueRefused as error:
        refused = str(error)
    if refused:
        raise PlatformOutputError(
            safe_line(refused, prepared.secrets),
            node=prepared.node,
            url=prepared.shown_url,
            status=response.status,
        )
    return cut_out(value, prepared.secrets) if prepared.secrets else value


def _parse_response_body(prepared: Prepared, response: Response) -> JsonValue:
    text, problem = "", "is not JSON"
    try:
        text = response.body.decode("utf-8-sig")
        value: JsonValue = json.loads(text, parse_constant=_refuse_constant)
    except UnicodeDecodeError:
        problem = "is not UTF-8"
    except RecursionError:
        problem = "is nested too deeply"
    except ValueError:
        media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media == "text/plain":
            return text
    else:
        return value
    # Raised here, not in a handler: the caught errors hold the whole body.
    raise PlatformResponseError(
        f'node "{prepared.node}": the response of {prepared.shown_url} {problem}',
        node=prepared.node,
        url=prepared.shown_url,
        status=response.status,
        code="answer_unreadable",
    )


def _reduce_opaque_response(prepared: Prepared, response: Response, value: JsonValue) -> JsonValue:
    """The part of an opaque response that may be kept."""
    kept = kept_of(value, prepared.outputs)
    if not isinstance(kept, str):
        return kept
    raise PlatformOutputError(
        f'node "{prepared.node}": the output "{kept}" could hold a text, and responses of '
        f"{prepared.shown_url} are opaque: it may be a boolean, a number, null, or a word that "
        "its schema lists",
        node=prepared.node,
        url=prepared.shown_url,
        status=response.status,
        code="answer_opaque",
    )


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


# ---------------------------------------------------------------------------- errors


def was_sent(outcome: Response | Failure) -> bool:
    """Whether a byte of the attempt's request may have left the process."""
    return not (isinstance(outcome, Failure) and outcome.kind in _UNSENT)


def _raise_failure(prepared: Prepared, failure: Failure, sent: bool) -> NoReturn:
    if failure.kind == "too_large":
        raise PlatformResponseError(
            f'node "{prepared.node}": the response of {prepared.shown_url} is larger than allowed',
            node=prepared.node,
            url=prepared.shown_url,
            code="answer_too_large",
        )
    raise PlatformUnreachable(
        f'node "{prepared.node}": no response from {prepared.shown_url}: {_FAILURES[failure.kind]}',
        node=prepared.node,
        url=prepared.shown_url,
        unsent=not (sent or was_sent(failure)),
    )


def _status_error(prepared: Prepared, response: Response) -> PlatformResponseError:
    # An opaque origin's code and message are dropped: both may repeat what was sent.
    code, message = ("", "") if prepared.opaque else platform_error(response.body)
    if 300 <= response.status < 400:
        code, message = "redirect", "redirects are never followed; name the final url in the flow"
    return response_error(
        node=prepared.node,
        url=prepared.shown_url,
        status=response.status,
        code=safe_line(code, prepared.secrets),
        message=safe_line(message, prepared.secrets),
    )


def response_error(
    *, node: str, url: str, status: int, code: str, message: str
) -> PlatformResponseError:
    """The error of a response with an error status, with the platform's own code and sentence."""
    sentence = one_line(message)
    if status == 503 and code in _SHOWN_AS_RUN_ERROR and sentence:
        text = f'{sentence} (node "{node}", {status} {code})'
    else:
        named = f"{status} {code}".strip()
        text = f'node "{node}": {url} answered {named}{": " if sentence else ""}{sentence}'
    return PlatformResponseError(text, node=node, url=url, status=status, code=code)


def platform_error(body: bytes) -> tuple[str, str]:
    """Code and message of an error body; an empty string for a missing one.

    Forms: `{"error": code, "message": …}`, `{"code": …, "message": …}`,
    `{"error": {"code": …, "message": …}}`, `{"error": "a sentence"}`.
    """
    try:
        value: JsonValue = json.loads(body)
    except (ValueError, RecursionError):
        return "", ""
    if not isinstance(value, dict):
        return "", ""
    inner = value.get("error")
    if isinstance(inner, dict):
        value = inner
    words = [value.get("code"), value.get("error")]
    code = next((word for word in words if isinstance(word, str) and _CODE.fullmatch(word)), "")
    texts = [value.get("message"), value.get("error"), value.get("detail")]
    message = next((text for text in texts if isinstance(text, str) and text != code), "")
    return code, message


def one_line(text: str) -> str:
    """`text` on one line, printable, at most `MESSAGE_LENGTH` characters."""
    return safe_line(text, ())


def safe_line(text: str, secrets: Sequence[str]) -> str:
    """As `one_line`, without the `secrets` and without well-known shapes of secrets.

    Text of a response reaches an error through this function only.
    """
    longest = forms_of(tuple(secrets)).longest
    # An error body may hold megabytes, and only its beginning is shown.
    seen = (letter for letter in text if letter.isprintable() or letter.isspace())
    kept = "".join(islice(seen, 4 * MESSAGE_LENGTH + longest + 1))
    cut = len(kept) > 4 * MESSAGE_LENGTH + longest
    # Cleaned before the search: a character dropped later could join the parts of a secret.
    line = " ".join(kept.split())
    for secret in sorted(secrets, key=len, reverse=True):
        line = _compile_scattered_pattern(secret).sub("[redacted]", line)
    line = redact(line, secrets)
    if cut and longest:
        line = line[:-longest]  # the cut may leave the first half of a secret
    return line if len(line) <= MESSAGE_LENGTH else line[: MESSAGE_LENGTH - 1] + "…"


def _compile_scattered_pattern(secret: str) -> re.Pattern[str]:
    """A pattern for `secret`, also with blanks and invisible characters inside (U+FE0F is
    printable).
    """
    letters = [re.escape(letter) for letter in secret if "!" <= letter <= "~"]
    # A pattern of few letters would blank out ordinary words; such a secret is only found
    # literally.
    return re.compile("[^!-~]*".join(letters) if len(letters) >= 8 else "(?!)")
