"""The stubs of a simulation: responses that replace the made-up responses.

In: a mapping, or the path of a JSON or YAML file.  Out: `Stubs`, which returns the response
for a call; `StubError` names the key and the broken rule.

    drafts/generate: {subject: Hello}                    # by path: merged over the sample
    review: [{verdict: edited}, {verdict: accepted}]     # by id: in turn, the last one repeats
    /api/llm-bridge: {$error: {status: 503, code: NO_LLM_PROVIDER, message: "…"}}   # by url
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.platform.protocol import PlatformCall
from cinatra_sdk.text.documents import DocumentRefused, read_document
from cinatra_sdk.text.files import shown_name
from cinatra_sdk.values.json_values import check_value

ERROR: Final = "$error"
MAX_BYTES: Final = 8 * 1024 * 1024
"""Largest size of a stubs file."""
_ERROR_KEYS: Final = frozenset({"status", "code", "message"})
MAX_KEY: Final = 60
"""Characters of a key in an error."""


class StubError(ValueError):
    """The stubs are malformed; the text names the key and the rule."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StubbedError:
    """A call that fails on purpose."""

    status: int
    code: str = ""
    message: str = ""


class Stubs:
    """Answers by node path, node id or the end of the url; the most exact key wins.

    Not safe to share between threads: the platform holds its lock around it.
    """

    def __init__(self, stubs: Mapping[str, JsonValue] | None = None) -> None:
        self._responses = {
            key: _read_stub_responses(key, value)
            for key, value in _check_stubs(stubs or {}).items()
        }
        self._written: dict[str, JsonValue] = copy.deepcopy(dict(stubs or {}))
        self._turns = dict.fromkeys(self._responses, 0)

    def written(self) -> dict[str, JsonValue]:
        """The stubs as they were given."""
        return copy.deepcopy(self._written)

    def unused(self) -> list[str]:
        """Keys that no call has matched so far, in the order of the file."""
        return [key for key, turn in self._turns.items() if turn == 0]

    def answer(self, call: PlatformCall) -> dict[str, JsonValue] | StubbedError | None:
        """The next response for `call`; `None` when no key matches it."""
        key = self._key(call)
        if key is None:
            return None
        responses = self._responses[key]
        # By the visit as well as by the count: another process that continues a run in a loop
        # starts with an empty count.
        turn = max(self._turns[key], call.visit - 1)
        self._turns[key] = turn + 1
        return copy.deepcopy(responses[min(turn, len(responses) - 1)])

    def _key(self, call: PlatformCall) -> str | None:
        for key in (call.path, call.node):
            if key in self._responses:
                return key
        url = call.url.partition("?")[0].rstrip("/")
        ends = [
            key for key in self._responses if key.startswith("/") and url.endswith(key.rstrip("/"))
        ]
        return max(ends, key=len, default=None)


def read_stubs(path: str | os.PathLike[str]) -> dict[str, JsonValue]:
    """The stubs of a `.json`, `.yaml` or `.yml` file.

    Raises: `StubError`, which quotes only the wrong key of the file.
    """
    problem = ""
    try:
        loaded = read_document(path, what="stubs file", most=MAX_BYTES)
        return _check_stubs({} if loaded is None else loaded)
    except DocumentRefused as error:
        kind = "JSON" if os.fsdecode(path).lower().endswith(".json") else "YAML"
        problem = f"is not valid {kind}: {error}" if error.of_text else str(error)
    except StubError as error:
        problem = str(error)
    # Raised here, not in the handler, so that the error does not hold the file's text.
    raise StubError(f"{shown_name(os.fsdecode(path))}: {problem}")


def _shorten_key(key: object) -> str:
    """A key, shortened for an error."""
    text = str(key)
    return text if len(text) <= MAX_KEY else text[:MAX_KEY] + "…"


def _check_stubs(stubs: Any) -> dict[str, JsonValue]:
    """`stubs`, known to be a JSON object with usable keys and responses."""
    if not isinstance(stubs, Mapping):
        raise StubError("the stubs must be an object: node path, node id or url ending → response")
    for key, value in stubs.items():
        if not isinstance(key, str) or not key.strip("/ "):
            raise StubError(
                f"the key {_shorten_key(key)!r} must be a node path, a node id or a url ending"
            )
        try:
            check_value(value, where=f'stub "{_shorten_key(key)}"')
        except ValueRefused as error:
            raise StubError(str(error)) from None
        _read_stub_responses(_shorten_key(key), value)
    return dict(stubs)


def _read_stub_responses(key: str, value: Any) -> list[dict[str, JsonValue] | StubbedError]:
    """The responses in turn."""
    turns = value if isinstance(value, list) else [value]
    if not turns:
        raise StubError(f'stub "{key}": a list of responses must not be empty')
    return [_read_stub_response(key, turn) for turn in turns]


def _read_stub_response(key: str, value: Any) -> dict[str, JsonValue] | StubbedError:
    if not isinstance(value, Mapping):
        raise StubError(f'stub "{key}": a response must be an object: output → value')
    if ERROR not in value:
        return dict(value)
    if len(value) != 1 or not isinstance(value[ERROR], Mapping):
        raise StubError(f'stub "{key}": {ERROR} must be the only key, and hold an object')
    error = value[ERROR]
    unknown = sorted(set(error) - _ERROR_KEYS)
    if unknown:
        raise StubError(
            f'stub "{key}": {ERROR} has only status, code, message; not "{_shorten_key(unknown[0])}"'
        )
    status = error.get("status")
    if type(status) is not int or not 400 <= status <= 599:
        raise StubError(f'stub "{key}": {ERROR} needs a status from 400 to 599')
    texts = {name: error.get(name, "") for name in ("code", "message")}
    for name, text in texts.items():
        if not isinstance(text, str):
            raise StubError(f'stub "{key}": {ERROR} {name} must be a string')
    return StubbedError(status=status, **texts)
