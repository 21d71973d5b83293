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

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

from pydantic import JsonValue

from cinatra_sdk.governed.keys import without_governed
from cinatra_sdk.governed.secrets import cut_out
from cinatra_sdk.platform.protocol import (
    PlatformCall,
    PlatformError,
    PlatformOutputError,
    PlatformResponseError,
)
from cinatra_sdk.platform.response import response_error
from cinatra_sdk.platform.stubs import StubbedError, Stubs, read_stubs
from cinatra_sdk.values.schema_sample import sample


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    """One call that was made; headers and credentials are not kept."""

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
