r"""JSON-RPC as it comes from a server: read strictly, and an answer to the request.

judge_answer(b'{"jsonrpc": "2.0", "id": 1, "result": {"n": NaN}}', asked=1)   BrokenOff: NaN is not JSON
judge_answer(b'{"jsonrpc": "2.0", "id": 7, "result": {}}', asked=1)           BrokenOff: another request

EventJudge(asked=1).feed(b"data: {…}\n\n")   the same events, as they were understood
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.data.text.header_names import folded
from cinatra_sdk.governed.secret_values import SHORTEST_SECRET
from cinatra_sdk.outside.http_calls.wire_response import safe_line

RequestId: TypeAlias = int | str | None
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")


class BrokenOff(Exception):
    """What a server sends is not taken; says why, in words that quote nothing of it."""


def is_json(text: bytes) -> bool:
    """Whether the text is JSON in anybody's reading."""
    try:
        json.loads(text)
    except RecursionError:
        return True
    except (json.JSONDecodeError, UnicodeDecodeError):
        return False
    except ValueError:  # a number of more digits than Python reads
        return True
    return True


def judge_answer(text: bytes, asked: RequestId) -> Any:
    """The value of what came; asked: the id of the request, None where there was none.

    Raises: `BrokenOff` for what is no strict JSON, for the answer to another request, and for what is no
    message where an answer is due: clients tell of it in words of their libraries.
    """
    value = _read_strictly(text)
    if is_foreign(value, asked):
        raise BrokenOff("it answered another request")
    if asked is not None and not is_message(value):
        raise BrokenOff("what it answered is no answer of the protocol")
    return value


def judge_refusal(text: bytes, asked: RequestId) -> Any:
    """The value of what came with a status of no success; None where nobody reads it as JSON, such as a page.

    Words of a gateway say nothing: what counts is the status.  A message of the protocol has to be an
    error for the request, since clients put the request's own id on it.

    Raises: `BrokenOff`, as `judge_answer` does, and for a result: it was done, and the status says no.
    """
    try:
        value = _read_strictly(text)
    except BrokenOff:
        if is_json(text):
            raise
        return None
    for one in value if isinstance(value, list) else [value]:
        if asked is None or not isinstance(one, dict) or "jsonrpc" not in one:
            continue
        if is_foreign(one, asked):
            raise BrokenOff("it answered another request")
        if one is not value or not is_message(one):
            raise BrokenOff("what it answered is no answer of the protocol")
        if "result" in one:
            raise BrokenOff("it refused the request and gave its result, too")
    return value


def _read_strictly(text: bytes) -> Any:
    """Raises: `BrokenOff`."""
    problem = ""
    try:
        value = read_json(text.decode("utf-8"), to_keep=False)
    except UnicodeDecodeError:
        problem = "it is not UTF-8"
    except NotStrictJson as error:
        problem = str(error)
    else:
        problem = "it has half of a letter" if _has_half_letter(text, value) else ""
    if problem:
        raise BrokenOff(f"its answer is no JSON: {problem}")
    return value


def is_message(value: Any) -> bool:
    """Whether a value is a request, a notification, a result or an error of JSON-RPC 2.0, and one only."""
    if not isinstance(value, dict) or value.get("jsonrpc") != "2.0":
        return False
    if "method" in value:
        return isinstance(value["method"], str)
    if "result" in value:
        return isinstance(value["result"], dict) and "error" not in value
    error = value.get("error")
    return (
        isinstance(error, dict)
        and type(error.get("code")) is int
        and isinstance(error.get("message"), str)
    )


def _has_half_letter(text: bytes, value: Any) -> bool:
    """Whether a surrogate stands alone in the value, which other readers of JSON refuse."""
    if b"\\ud" not in text and b"\\uD" not in text:
        return False
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return True
    return False


def count_values(text: bytes, value: Any, most: int) -> int:
    """How many values a message has, where that may be more than `most`; text: what it was read from."""
    if sum(map(text.count, (b",", b"[", b"{"))) < most:
        return 0
    found, waiting = 0, [value]
    while waiting and found <= most:
        one = waiting.pop()
        found += 1
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return found


def is_foreign(value: Any, asked: RequestId) -> bool:
    """Whether a message is the answer to another request; without an id it may be an error to any.

    An id comes back as it was sent: of 1, neither "1" nor true nor 1.0 is the same (JSON-RPC 2.0, 5).
    """
    if not isinstance(value, dict) or "method" in value or asked is None:
        return False
    said = value.get("id")
    is_same = type(said) is type(asked) and said == asked
    return ("result" in value or said is not None) and not is_same


class EventJudge:
    """Server-sent events, each judged when it is whole; what goes on is only what was understood."""

    def __init__(
        self,
        asked: RequestId | Callable[[], RequestId],
        look: Callable[[bytes, Any], None] = lambda _text, _value: None,
        judge: Callable[[bytes, RequestId], Any] = judge_answer,
    ) -> None:
        """asked: of a stream that is no response to one request, what says for which it may answer.

        look: sees each message with its value; raises `BrokenOff` for one that is too much.
        judge: `judge_refusal` for a stream with a status of no success.
        """
        self._asked, self._look, self._judge_one = asked, look, judge
        self._rest = b""
        self._data: list[bytes] = []
        self._others: list[bytes] = []
        self.ready = b""
        """The events of the last chunk that are whole and were judged, also where the next one fails."""

    def feed(self, chunk: bytes) -> bytes:
        """The events that are whole now.  Raises: `BrokenOff`."""
        text = self._rest + chunk
        held = b"\r" if text.endswith(b"\r") else b""  # perhaps the half of an end of a line
        *lines, rest = _LINE_END.split(text[: len(text) - len(held)])
        self._rest = rest + held
        self.ready = b""
        for line in lines:
            self.ready += self._take(line)
        return self.ready

    def end(self) -> bytes:
        """What is whole because nothing comes after it.  Raises: `BrokenOff`."""
        return self.feed(b"\n") if self._rest == b"\r" else b""

    def _take(self, line: bytes) -> bytes:
        name, _, value = line.removeprefix(b"\xef\xbb\xbf").partition(b":")
        if line:
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
            elif name in (b"event", b"id", b"retry"):
                self._others.append(line)
            return b""
        data, others = b"\n".join(self._data), self._others
        self._data, self._others = [], []
        return self._judge(data, others)

    def _judge(self, data: bytes, others: list[bytes]) -> bytes:
        kind = next((one for one in others if one.startswith(b"event")), b"")
        if data and kind.partition(b":")[2].strip() in (b"", b"message"):
            asked = self._asked() if callable(self._asked) else self._asked
            value = self._judge_one(data, asked)
            self._look(data, value)
            data = json.dumps(value, ensure_ascii=True).encode()
        lines = [*others, *(b"data: " + one for one in data.split(b"\n") if data)]
        return b"\n".join([*lines, b"", b""]) if lines else b""


# ----------------------------------------------------------------------------
# What servers and agents say, as it may be shown: plain letters, and none of the secrets.
#
# tell_problem("\x1b[2Jno key 9f3a-secret", ["9f3a-secret"])    "[2Jno key [redacted]"
# plain_value({"description": "a\x1b[31mb"})                     {"description": "a[31mb"}


_TELLS: Final = re.compile(r"auth|key|token|secret|cookie|password|session|credential")
"""Parts of names that hold secrets: of headers, of members of a query, of options of a program."""
_SCHEME: Final = re.compile(
    r"(?i)(?:bearer|basic|token|api-?key|digest|negotiate|dpop|hmac|signature)\s+\S"
)
"""How a header begins that logs in, whatever its name is."""
_LINES: Final = frozenset("\n\t")


def tell_problem(text: str, secrets: Iterable[str]) -> str:
    """A problem in the words of a server, as one line of an error."""
    return safe_line(text, [one for one in secrets if len(one) >= SHORTEST_SECRET])


def plain_text(text: str) -> str:
    """The text without letters that nobody sees, such as those that steer a terminal."""
    if text.isascii() and text.isprintable():
        return text
    from cinatra_sdk.data.text.person_texts import drop_unseen  # late: few texts need it

    return "".join(one for one in drop_unseen(text) if one.isprintable() or one in _LINES)


def plain_value(value: Any) -> Any:
    """The value with plain texts and names."""
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, dict):
        return {plain_text(name): plain_value(one) for name, one in value.items()}
    return [plain_value(one) for one in value] if isinstance(value, list) else value


def list_header_secrets(headers: Mapping[str, str]) -> tuple[str, ...]:
    """The values of headers that tell of a secret by their names or by the scheme before it, whole and in
    the parts that a server may repeat: without the scheme, read from base64, cookie by cookie.
    """
    found: list[str] = []
    for name, value in headers.items():
        if not (_TELLS.search(folded(name)) or _SCHEME.match(value)):
            continue
        scheme, _, rest = value.partition(" ")
        found += (value, rest.strip())
        if scheme.lower() == "basic":
            found += _read_basic(rest)
        if "cookie" in folded(name):
            found += (one.partition("=")[2].strip() for one in value.split(";"))
    return _keep_long(found)


def list_address_secrets(address: str) -> tuple[str, ...]:
    """The user and password of an address, and what its query says under names that tell of a secret."""
    try:
        parts = urlsplit(address)
        query = parse_qsl(parts.query)
    except ValueError:  # a template that is filled later, or no address
        return ()
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    found = [password or user, unquote(password or user)]
    return _keep_long(found + [value for name, value in query if _TELLS.search(folded(name))])


def list_argument_secrets(arguments: Sequence[str]) -> tuple[str, ...]:
    """What a program is started with under names that tell of a secret: `--token=…`, `--api-key …`,
    `--header "Authorization: Bearer …"`.
    """
    found: list[str] = []
    before = ""
    for one in arguments:
        name, is_named, value = one.partition("=")
        if is_named and name.startswith("-") and _TELLS.search(folded(name)):
            found.append(value)
        if before.startswith("-") and "=" not in before and _TELLS.search(folded(before)):
            found.append(one)
        header, _, sent = (value if is_named and name.startswith("-") else one).partition(":")
        found += list_header_secrets({header.strip(): sent.strip()})
        before = one
    return _keep_long(found)


def _read_basic(text: str) -> list[str]:
    """The user with the password, and the password, of a header `Basic …`."""
    try:
        told = base64.b64decode(text, validate=True).decode("utf-8")
    except ValueError:
        return []
    return [told, told.partition(":")[2]]


def _keep_long(texts: Iterable[str]) -> tuple[str, ...]:
    """Those that are long enough to be searched for, each once."""
    return tuple(dict.fromkeys(one for one in texts if len(one) >= SHORTEST_SECRET))
