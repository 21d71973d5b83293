"""The pick list of upstream cases, row 39: what a retry policy repeats, for an ApiNode and a RemoteTool.

A real server on loopback answers; the waits are written down instead of waited for.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform, MachineServices
from cinatra_sdk.testing import Result, drive
from oas_compiler import compile_flow
from tests.agent_spec.documents import around, codes_of, node, port
from tests.platform.loopback_server import LoopbackServer, Reply

GOOD = Reply(body=b'{"y": "done"}')
KINDS = pytest.mark.parametrize("kind", ["ApiNode", "RemoteTool"])


def calling(kind: str, url: str, policy: Any) -> Any:
    request = {
        "url": f"{url}/x", "http_method": "POST", "data": {"a": 1}, "query_params": {}, "headers": {},
        "outputs": [port("y")], **({} if policy is None else {"retry_policy": policy}),
    }  # fmt: skip
    if kind == "ApiNode":
        return around(node("ApiNode", "call", **request), [], [port("y")])
    tool = node("RemoteTool", "remote", description="", inputs=[], **request)
    return around(node("ToolNode", "call", tool=tool), [], [port("y")])


class Caller:
    def __init__(self, server: LoopbackServer) -> None:
        self.server = server
        self.waits: list[float] = []
        surroundings = MachineServices(
            sleep=self.waits.append, asleep=self._asleep, jitter=lambda most: most
        )
        self.platform = HttpPlatform(None, allow=[server.url, self.tls], surroundings=surroundings)

    @property
    def tls(self) -> str:
        return self.server.url.replace("http:", "https:")

    async def _asleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def __call__(self, kind: str, policy: Any, *replies: Reply | int, url: str = "") -> Result:
        self.server.replies = [
            Reply(status=one, body=b'{"error": "busy"}') if isinstance(one, int) else one
            for one in replies
        ]
        flow = compile_flow(calling(kind, url or self.server.url, policy), platform=self.platform)
        return drive(flow, platform=self.platform)


@pytest.fixture
def caller() -> Iterator[Caller]:
    made = Caller(LoopbackServer())
    yield made
    made.platform.close()
    made.server.close()


@KINDS
@pytest.mark.parametrize("status", [500, 502, 503, 504, 599, 409, 429])
def test_row_39_a_recoverable_answer_is_repeated_with_the_same_request(
    caller: Caller, kind: str, status: int
) -> None:
    ran = caller(kind, {}, status, status, GOOD)
    assert ran.outputs == {"y": "done"}
    assert len(caller.server.seen) == 3
    assert len({(one.body, one.headers["idempotency-key"]) for one in caller.server.seen}) == 1


@KINDS
@pytest.mark.parametrize(("most", "requests"), [(0, 1), (1, 2), (2, 3), (5, 6)])
def test_row_39_the_first_attempt_is_not_counted(
    caller: Caller, kind: str, most: int, requests: int
) -> None:
    ran = caller(kind, {"max_attempts": most}, 503)
    assert ran.status == "failed"
    assert len(caller.server.seen) == requests


@KINDS
@pytest.mark.parametrize(
    ("policy", "status", "requests"),
    [
        ({}, 501, 1),
        ({}, 404, 1),
        ({}, 418, 1),
        ({"service_error_retry_on_any_5xx": False}, 500, 1),
        ({"service_error_retry_on_any_5xx": False}, 409, 3),
        ({"service_error_retry_on_any_5xx": False, "recoverable_statuses": {"503": []}}, 503, 3),
        ({"service_error_retry_on_any_5xx": False, "recoverable_statuses": {"503": []}}, 502, 1),
        ({"recoverable_statuses": {}}, 409, 1),
        ({"recoverable_statuses": {}}, 500, 3),
        ({"recoverable_statuses": {"418": []}}, 418, 3),
        ({"recoverable_statuses": {"418": []}}, 429, 1),
        ({"recoverable_statuses": {"418": ["busy"]}}, 418, 3),
        ({"recoverable_statuses": {"418": ["other"]}}, 418, 1),
        *[({}, one, 1) for one in (400, 401, 403, 422)],
    ],
)
def test_row_39_which_answers_are_repeated(
    caller: Caller, kind: str, policy: Any, status: int, requests: int
) -> None:
    assert caller(kind, policy, status).status == "failed"
    assert len(caller.server.seen) == requests


@KINDS
@pytest.mark.parametrize(
    ("policy", "status", "waits"),
    [
        ({"jitter": None, "max_attempts": 5}, 503, [1.0, 2.0, 4.0, 8.0, 8.0]),
        ({"jitter": None, "initial_retry_delay": 0.5, "backoff_factor": 3.0, "max_retry_delay": 2.0}, 503, [0.5, 1.5]),
        ({"jitter": "full"}, 503, [1.0, 2.0]),
        ({"jitter": "equal"}, 503, [1.0, 2.0]),
        ({"jitter": "decorrelated"}, 503, [2.0, 3.0]),
        ({"jitter": "decorrelated", "max_retry_delay": 2.5}, 503, [2.0, 2.5]),
        ({}, 503, [1.0, 2.0]),
        ({}, 429, [1.0, 2.0]),
    ],
)  # fmt: skip
def test_row_39_the_longest_waits_of_each_jitter(
    caller: Caller, kind: str, policy: Any, status: int, waits: list[float]
) -> None:
    caller(kind, policy, status)
    assert caller.waits == waits


@KINDS
@pytest.mark.parametrize(
    ("policy", "status", "waits"),
    [
        ({"jitter": "full"}, 503, [0.0, 0.0]),
        ({"jitter": "equal"}, 503, [0.5, 1.0]),
        ({"jitter": "decorrelated"}, 503, [1.0, 2.0]),
        ({}, 503, [0.0, 0.0]),
        ({}, 429, [0.5, 1.0]),
    ],
)
def test_row_39_the_shortest_waits_of_each_jitter(
    caller: Caller, kind: str, policy: Any, status: int, waits: list[float]
) -> None:
    caller.platform.close()
    surroundings = MachineServices(
        sleep=caller.waits.append, asleep=caller._asleep, jitter=lambda _: 0.0
    )
    caller.platform = HttpPlatform(None, allow=[caller.server.url], surroundings=surroundings)
    caller(kind, policy, status)
    assert caller.waits == waits


@KINDS
def test_row_39_a_broken_connection_is_repeated(caller: Caller, kind: str) -> None:
    assert caller(kind, {}, Reply(hang_up=True), GOOD).outputs == {"y": "done"}
    assert len(caller.server.seen) == 2


@KINDS
def test_row_39_the_time_of_one_attempt_is_bounded(caller: Caller, kind: str) -> None:
    never = threading.Event()
    ran = caller(kind, {"request_timeout": 0.3}, Reply(once=never), GOOD)
    never.set()
    assert ran.outputs == {"y": "done"}
    assert len(caller.server.seen) == 2


@KINDS
def test_row_39_a_refused_certificate_is_never_repeated(caller: Caller, kind: str) -> None:
    ran = caller(kind, {}, GOOD, url=caller.tls)
    assert ran.status == "failed"
    assert caller.waits == []


@KINDS
def test_row_39_without_a_policy_a_post_is_sent_once(caller: Caller, kind: str) -> None:
    assert caller(kind, None, 503).status == "failed"
    assert len(caller.server.seen) == 1


@KINDS
@pytest.mark.parametrize(
    "policy",
    [
        {"max_attempts": -1},
        {"max_attempts": "2"},
        {"request_timeout": 0},
        {"backoff_factor": 0},
        {"jitter": "some"},
        {"initial_retry_delay": 9.0, "max_retry_delay": 1.0},
        {"recoverable_statuses": [409]},
        {"retries": 3},
        *[{"recoverable_statuses": {str(one): []}} for one in (400, 401, 403, 422)],
    ],
)
def test_row_39_a_policy_that_cannot_be_kept_is_refused(kind: str, policy: Any) -> None:
    assert codes_of(calling(kind, "https://h.example", policy)) == {"OAS022"}


@KINDS
def test_row_39_a_policy_needs_the_version_that_brought_it(kind: str) -> None:
    document = calling(kind, "https://h.example", json.loads('{"max_attempts": 1}'))
    assert codes_of({**document, "agentspec_version": "26.1.2"}) == set()
    assert codes_of({**document, "agentspec_version": "26.1.0"}) == {"OAS032"}
