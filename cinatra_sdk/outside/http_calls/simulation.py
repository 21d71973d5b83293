"""A platform without a network: answers from the declared outputs of a node, and records each call.

In: a `PlatformCall`.  Out: one made-up value per declared output, merged with the stub for this
call; every call is kept in `.calls` and, if wanted, in a file.

    platform = SimulatedPlatform({"draft": {"subject": "Hello"}})
    platform.call(PlatformCall(node="draft", …, outputs=(subject, body)))
        -> {"subject": "Hello", "body": "simulated body"}

Answers "in turn" are counted per process: a run that continues in another process starts with the
first response again.
"""

from __future__ import annotations

import copy
import json
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from typing import Any, Final

from pydantic import JsonValue

from cinatra_sdk.data.json_values import check_value
from cinatra_sdk.data.schema.samples import sample
from cinatra_sdk.data.text.author_files import shown_name
from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.governed.host_keys import without_governed
from cinatra_sdk.governed.secret_values import cut_out
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.protocol import (
    PlatformCall,
    PlatformError,
    PlatformOutputError,
    PlatformResponseError,
)
from cinatra_sdk.outside.http_calls.wire_response import response_error

# ----------------------------------------------------------------------------
# The stubs of a simulation: responses that replace the made-up responses.
#
# In: a mapping, or the path of a JSON or YAML file.  Out: `Stubs`, which returns the response
# for a call; `StubError` names the key and the broken rule.
#
#     drafts/generate: {subject: Hello}                    # by path: merged over the sample
#     `review: [{verdict: edited}, {verdict: accepted}]     # by id: in turn, the last one repeats`
#     /api/llm-bridge: {$error: {status: 503, code: NO_LLM_PROVIDER, message: "…"}}   # by url


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
    # Imported late: most simulations have no file, and reading YAML is much to load.
    from cinatra_sdk.data.text.documents import DocumentRefused, read_document

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """A call that a flow made; without headers and credentials."""

    node: str
    path: str
    method: str
    url: str = field(repr=False)
    body: JsonValue = field(repr=False)
    run_id: str = ""
    idempotency_key: str = ""
    answer: JsonValue = None
    """The response; `None` for a failed call."""
    error: dict[str, JsonValue] | None = None
    """`{"status": …, "code": …, "message": …}` of a failed call."""


class SimulatedPlatform:
    """Answers every call; safe to share between threads.

    `stubs` is a mapping or the path of a JSON or YAML file.  `record` is the path of a file that
    gets one JSON line per call.  The line is on disk before the response is returned, so it survives
    a killed process, and several processes may append to the file.

    `fallback` holds stubs for the calls that no stub of `stubs` matches.

    Raises: `StubError` (a `ValueError`) for malformed stubs.
    """

    holds_proofs_back = True
    simulates = True
    """Records of governed runs say so."""

    def __init__(
        self,
        stubs: Mapping[str, JsonValue] | str | os.PathLike[str] | None = None,
        *,
        record: str | os.PathLike[str] | None = None,
        fallback: Mapping[str, JsonValue] | None = None,
    ) -> None:
        given = read_stubs(stubs) if isinstance(stubs, (str, os.PathLike)) else stubs
        self._stubs = Stubs(given)
        self._fallback = Stubs(fallback)
        self._record = None if record is None else os.fspath(record)
        self._calls: list[RecordedCall] = []
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"SimulatedPlatform(stubs={list(self._stubs.written())!r}, record={self._record!r})"

    @property
    def calls(self) -> list[RecordedCall]:
        """All calls so far, in order."""
        with self._lock:
            return list(self._calls)

    @property
    def unused_stubs(self) -> list[str]:
        """Keys of `stubs` that no call has matched so far: often a misspelt node id."""
        with self._lock:
            return self._stubs.unused()

    def calls_after(self, node: str) -> list[RecordedCall]:
        """The calls made after the last one of `node` (its id or its path).

        Raises: `ValueError` when `node` was never called, so that a misspelt id proves nothing.
        """
        calls = self.calls
        last = max(
            (i for i, call in enumerate(calls) if node in {call.node, call.path}), default=-1
        )
        if last < 0:
            called = ", ".join(dict.fromkeys(call.node for call in calls)) or "none"
            raise ValueError(f'"{node}" was never called; called were: {called}')
        return calls[last + 1 :]

    def describe(self) -> dict[str, JsonValue]:
        fallback = self._fallback.written()
        return {
            "kind": "simulated",
            "stubs": self._stubs.written(),
            # The description names no file: another process that continues the run would write to
            # it.
            "record": None,
            **({"fallback": fallback} if fallback else {}),
        }

    def call(self, call: PlatformCall) -> JsonValue:
        with self._lock:
            stub = self._stubs.answer(call)
            if stub is None:
                stub = self._fallback.answer(call)
            if isinstance(stub, StubbedError):
                self._record_call(call, recorded_call(call, error=asdict(stub)))
                raise _build_stubbed_error(call, stub)
            where = f'the stub for node "{call.node}"'
            answer: JsonValue = without_governed(
                _build_sample_response(call, stub or {}), where=where
            )
            # The record keeps a copy, because the caller may change the response.
            self._record_call(call, recorded_call(call, answer=_copy_json(answer)))
            return answer

    async def acall(self, call: PlatformCall) -> JsonValue:
        return self.call(call)

    def _record_call(self, call: PlatformCall, recorded: RecordedCall) -> None:
        self._calls.append(recorded)
        if self._record is None:
            return
        # In memory the call as it was made; on disk with names of placeholders in place of their
        # values.
        kept = replace(recorded, url=call.shown_url, body=call.shown_body)
        line = json.dumps(cut_out(asdict(kept), call.placeholders), ensure_ascii=False) + "\n"
        written, problem = 0, ""
        try:
            written = _append_line(self._record, line.encode())
        except OSError as error:
            problem = os.strerror(error.errno) if error.errno else type(error).__name__
        if problem or written != len(line.encode()):
            raise PlatformError(
                f'node "{recorded.node}": the record {self._record} cannot be written: '
                f"{problem or 'the disk took only a part of the line'}",
                node=recorded.node,
            )


def _build_sample_response(
    call: PlatformCall, stub: Mapping[str, JsonValue]
) -> dict[str, JsonValue]:
    """A sample of each declared output that the stub does not give, then the stub."""
    answer: dict[str, JsonValue] = {}
    for output in call.outputs:
        if output.title in stub:
            continue
        problem = ""
        try:
            # Not by `format`: a made-up id would look real, and a flow that asks a person when the
            # id is missing would never ask.
            answer[output.title] = sample(dict(output.schema), name=output.title, formats=False)
        except ValueError as error:
            problem = str(error)
        if problem:
            raise PlatformOutputError(
                f'node "{call.node}": the simulation cannot make up "{output.title}", '
                f"give a stub for it: {problem}",
                node=call.node,
                url=call.shown_url,
            )
    return {**answer, **stub}


def recorded_call(
    call: PlatformCall, *, answer: JsonValue = None, error: dict[str, JsonValue] | None = None
) -> RecordedCall:
    """`call` as a record keeps it: without headers and credentials."""
    return RecordedCall(
        node=call.node,
        path=call.path,
        method=call.method,
        url=call.url,
        body=_copy_json(call.body),
        run_id=call.run_id,
        idempotency_key=call.idempotency_key,
        answer=answer,
        error=error,
    )


def _copy_json(value: JsonValue) -> JsonValue:
    copied: JsonValue = json.loads(json.dumps(value))
    return copied


def _build_stubbed_error(call: PlatformCall, stub: StubbedError) -> PlatformResponseError:
    return response_error(
        node=call.node, url=call.shown_url, status=stub.status, code=stub.code, message=stub.message
    )


def _append_line(path: str, line: bytes) -> int:
    """Append in one write, and return when the line is on disk.

    A pipe without a reader is an error; the call does not wait for one.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
    file = os.open(path, flags, 0o600)
    try:
        os.set_blocking(file, True)
        written = os.write(file, line)
        os.fsync(file)
    finally:
        os.close(file)
    return written
