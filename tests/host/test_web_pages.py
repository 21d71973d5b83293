"""A served platform that asks for no proof answers no web page of another site."""

from __future__ import annotations

from typing import Any

import pytest
from local_world import ask

from cinatra_sdk.host import FixedRuns, local_app
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform

NOTHING: Any = None  # no route about context reads it
HERE = {"Host": "127.0.0.1:3000"}
FORBIDDEN = (403, "forbidden")


def send(headers: dict[str, str], content: Any = None, **settings: Any) -> tuple[Any, list[Any]]:
    """Status and code of a call of the bridge, and what went on to it."""
    beyond = SimulatedPlatform({"/api/llm-bridge": {"text": "Hello"}})
    app = local_app(
        NOTHING,
        NOTHING,
        FixedRuns({}),
        beyond=beyond,
        hands_on=["POST /api/llm-bridge"],
        **settings,
    )
    status, answer = ask(app, "llm-bridge", {"user": "hi"} if content is None else content, headers)
    return (status, answer.get("error", "")), [call.body for call in beyond.calls]


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:3000", "127.0.0.1:3000", "127.8.9.10", "[::1]", "[::1]:3000", ""],
)
def test_a_loopback_host_is_answered(host: str) -> None:
    assert send({"Host": host}) == ((200, ""), [{"user": "hi"}])


@pytest.mark.parametrize(
    "host",
    ["shop.example", "localhost.shop.example", "127.0.0.1.shop.example:3000", "10.0.0.1", "[::2]",
     "localhost, shop.example", "user@localhost"],
)  # fmt: skip
def test_a_name_that_was_pointed_to_this_machine_is_refused(host: str) -> None:
    assert send({"Host": host}) == (FORBIDDEN, [])


@pytest.mark.parametrize(
    "page",
    [
        {"Origin": "https://shop.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:5173"},
        {"Origin": "http://localhost:3000"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_a_page_of_another_origin_is_refused(page: dict[str, str]) -> None:
    assert send({**HERE, **page}) == (FORBIDDEN, [])


def test_a_context_route_refuses_such_a_page_too() -> None:
    app = local_app(NOTHING, NOTHING, FixedRuns({}))
    status, answer = ask(app, "context-resolve", {}, {**HERE, "Origin": "https://shop.example"})
    assert (status, answer["error"]) == FORBIDDEN


def test_a_page_of_the_platform_itself_is_answered() -> None:
    own = {**HERE, "Origin": "http://127.0.0.1:3000", "Sec-Fetch-Site": "same-origin"}
    assert send(own) == ((200, ""), [{"user": "hi"}])


def test_a_token_opens_any_host() -> None:
    known = {"Host": "platform.example", "X-Cinatra-Bridge-Token": "bridge-0123"}
    assert send(known, bridge_token="bridge-0123") == ((200, ""), [{"user": "hi"}])


@pytest.mark.parametrize(
    "said", ["text/plain", "", "application/x-www-form-urlencoded", "text/json"]
)
def test_a_body_that_is_not_called_json_goes_no_further(said: str) -> None:
    refused = (415, "unsupported_media_type")
    assert send({**HERE, "Content-Type": said}) == (refused, [])


def test_who_sends_the_token_may_call_the_body_a_text() -> None:
    headers = {"Content-Type": "text/plain", "X-Cinatra-Bridge-Token": "bridge-0123"}
    assert send(headers, bridge_token="bridge-0123") == ((200, ""), [{"user": "hi"}])


def test_json_with_a_charset_and_a_call_without_a_body_go_on() -> None:
    charset = {**HERE, "Content-Type": "Application/JSON; charset=utf-8"}
    assert send(charset) == ((200, ""), [{"user": "hi"}])
    assert send({**HERE, "Content-Type": ""}, b"") == ((200, ""), [None])
