"""A platform of named routes, in process and over HTTP."""

from __future__ import annotations

import asyncio
import importlib.util
from datetime import UTC, datetime
from typing import Any

import pytest

from cinatra_sdk.errors import StoreError
from cinatra_sdk.outside.http_calls.protocol import PlatformRefused, PlatformResponseError
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.outside.routes import RouteCall, RoutedPlatform, RouteError
from tests.bridge.bridge_world import WAYS, ask, opened, outcome, own

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("uvicorn") is None, reason="the extra `server` is not installed"
)

REFUSED = "the body is no strict JSON:"
BROKEN = "Expecting property name enclosed in double quotes at line 1, column 2"


def tell(call: RouteCall) -> Any:
    """Everything that a route learns."""
    return {
        "body": call.body,
        "owner": [call.owner.run_id, call.owner.tenant, call.owner.person],
        "conversation": call.context_id,
        "key": call.idempotency_key,
    }


async def tell_later(call: RouteCall) -> Any:
    await asyncio.sleep(0)
    return tell(call)


def refuse(_call: RouteCall) -> Any:
    raise RouteError(409, "already_there", "the note is there already")


def fail(_call: RouteCall) -> Any:
    raise ValueError("the key is hunter2-0123")


def platform(beyond: Any = None) -> RoutedPlatform:
    routes = {
        "POST /api/tell": tell, "POST /api/llm-bridge": tell, "POST /api/agents/passthrough": tell_later, "POST /api/refuse": refuse,
        "POST /api/fail": fail, "POST /api/much": lambda _call: "x" * 20_000_000,
        "POST /api/none": lambda _call: None,
    }  # fmt: skip
    return RoutedPlatform(routes, beyond=beyond, identify=own)


def to(route: str, body: Any = None, **changes: Any) -> Any:
    return ask(body, url="{{CINATRA_BASE_URL}}/api/" + route, **changes)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("route", ["llm-bridge", "agents/passthrough"])
def test_a_route_gets_the_body_and_the_identity_that_the_host_sealed(way: str, route: str) -> None:
    body = {"run_id": "another", "ü": [1, 2.5, None, True]}
    with opened(way, platform()) as asked:
        assert asked.call(to(route, body)) == {
            "body": body, "owner": ["r1", "o1", "ann"], "conversation": "c1", "key": "k1",
        }  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_call_of_no_known_run_has_no_owner(way: str) -> None:
    with opened(way, platform()) as asked:
        told: Any = asked.call(to("llm-bridge", {}, run_id="r9", context_id="c9"))
    assert told["owner"] == ["", "", ""]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (to("refuse", {}), (409, "already_there", "the note is there already")),
        (to("fail", {}), (500, "internal_error", "the route failed; its log says why")),
        (to("tell", "{"), (400, "invalid_body", f"{REFUSED} {BROKEN}")),
        (to("tell", '{"a": 1e400}'), (400, "invalid_body", f"{REFUSED} a number is out of bounds")),
        (to("tell", '{"a": NaN}'), (400, "invalid_body", f"{REFUSED} NaN is not JSON")),
        (to("tell", '{"a": 1, "a": 2}'), (400, "invalid_body", f"{REFUSED} the name 'a' is said twice")),
        (to("tell", '{"a": "\\ud800"}'), (400, "invalid_body", f"{REFUSED} the body /a holds a lone surrogate")),
        (to("tell", '{"a": "\\u0000"}'), (400, "invalid_body", f"{REFUSED} the body /a holds a NUL character")),
        (to("tell", "[" * 100_000), (400, "invalid_body", f"{REFUSED} it is nested too deeply")),
        (to("tell", "x" * 1_048_577), (413, "body_too_large", "a body has at most 1048576 bytes")),
        (to("none"), None),
    ],
    ids=[
        "refused", "failed", "no JSON", "a huge number", "no number", "a name twice", "half a letter",
        "NUL", "too deep", "too large", "null",
    ],
)  # fmt: skip
def test_a_refusal_is_the_same_either_way(way: str, call: Any, expected: Any) -> None:
    with opened(way, platform()) as asked:
        assert outcome(asked, call) == expected


@pytest.mark.parametrize("way", WAYS)
def test_a_query_that_no_route_takes_is_refused(way: str) -> None:
    with opened(way, platform()) as asked:
        assert outcome(asked, to("tell", {}, query={"a": "b"}))[:2] == (400, "invalid_body")


def test_the_words_of_a_failing_route_reach_neither_error_nor_log(caplog: Any) -> None:
    with pytest.raises(PlatformResponseError) as raised:
        platform().call(to("fail", {}))
    assert "hunter2" not in str(raised.value)
    assert "hunter2" not in caplog.text
    assert "POST /api/fail failed: ValueError in fail" in caplog.text


def test_another_call_goes_beyond_or_is_refused_by_its_name() -> None:
    beyond = SimulatedPlatform({"/api/other": {"a": 1}})
    assert platform(beyond).call(to("other", {})) == {"a": 1}
    assert asyncio.run(platform(beyond).acall(to("other", {}))) == {"a": 1}
    with pytest.raises(PlatformRefused, match=r'node "ask": POST .*/api/other was not called: this platform has no such route'):  # fmt: skip
        platform().call(to("other", {}))


@pytest.mark.parametrize(
    "url", ["/api/tell/", "/api//tell", "/API/tell", "/api/%74ell", "/x/../api/tell"]
)
def test_another_spelling_of_a_route_is_another_route(url: str) -> None:
    beyond = SimulatedPlatform()
    platform(beyond).call(ask({}, url="{{CINATRA_BASE_URL}}" + url))
    assert [call.url for call in beyond.calls] == ["{{CINATRA_BASE_URL}}" + url]


def test_a_value_of_the_run_never_names_a_route() -> None:
    beyond = SimulatedPlatform()
    platform(beyond).call(to("tell", {}, origin_by_value=True))
    assert len(beyond.calls) == 1


@pytest.mark.parametrize("entry", ["/api/tell", "POST api/tell", "post /api/tell", "POST /a?b"])
def test_a_malformed_route_is_refused_when_the_platform_is_made(entry: str) -> None:
    with pytest.raises(ValueError, match='a route is "METHOD /path"'):
        RoutedPlatform({entry: tell})


def test_secrets_of_the_run_are_cut_out_of_an_answer() -> None:
    call = to("tell", {"said": "token-of-the-crm"}, placeholders=("token-of-the-crm",))
    told: Any = platform().call(call)
    assert "token-of-the-crm" not in str(told)


@pytest.mark.parametrize("value", [datetime(2026, 1, 1, tzinfo=UTC), float("nan"), {1, 2}])
def test_what_a_route_gives_that_is_no_json_is_an_error_of_the_route(value: Any) -> None:
    routed = RoutedPlatform({"POST /api/tell": lambda _call: {"x": value}})
    for call in (routed.call, lambda made: asyncio.run(routed.acall(made))):
        with pytest.raises(PlatformResponseError) as raised:
            call(to("tell", {}))
        assert (raised.value.status, raised.value.code) == (500, "internal_error")


def test_an_error_of_the_store_says_nothing_of_its_database() -> None:
    def fail(_call: Any) -> Any:
        raise StoreError("the database secretdb at db.internal.example failed")

    with pytest.raises(PlatformResponseError) as raised:
        RoutedPlatform({"POST /api/tell": fail}).call(to("tell", {}))
    assert "secretdb" not in str(raised.value)
    assert raised.value.status == 500
