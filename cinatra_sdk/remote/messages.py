r"""JSON-RPC as it comes from a server: read strictly, and an answer to what was asked.

judge_answer(b'{"jsonrpc": "2.0", "id": 1, "result": {"n": NaN}}', asked=1)   BrokenOff: NaN is not JSON
judge_answer(b'{"jsonrpc": "2.0", "id": 7, "result": {}}', asked=1)           BrokenOff: another request

EventJudge(asked=1).feed(b"data: {…}\n\n")   the same events, as they were understood
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from cinatra_sdk.values.strict_json import NotStrictJson, read_json

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
    if is_foreign(value, asked):
        raise BrokenOff("it answered another request")
    if asked is not None and not is_message(value):
        raise BrokenOff("what it answered is no answer of the protocol")
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
    ) -> None:
        """asked: of a stream that is no response to one request, what says for which it may answer.

        look: sees each message with its value; raises `BrokenOff` for one that is too much.
        """
        self._asked, self._look = asked, look
        self._rest = b""
        self._data: list[bytes] = []
        self._others: list[bytes] = []

    def feed(self, chunk: bytes) -> bytes:
        """The events that are whole now.  Raises: `BrokenOff`."""
        text = self._rest + chunk
        held = b"\r" if text.endswith(b"\r") else b""  # perhaps the half of an end of a line
        *lines, rest = _LINE_END.split(text[: len(text) - len(held)])
        self._rest = rest + held
        return b"".join(map(self._take, lines))

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
            value = judge_answer(data, asked)
            self._look(data, value)
            data = json.dumps(value, ensure_ascii=True).encode()
        lines = [*others, *(b"data: " + one for one in data.split(b"\n") if data)]
        return b"\n".join([*lines, b"", b""]) if lines else b""
