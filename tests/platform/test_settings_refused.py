"""What a platform is made of: settings that are refused when it is made, and those that it tells."""

from __future__ import annotations

from typing import Any

import pytest
from loopback_server import LoopbackServer

from cinatra_sdk.outside.http_calls.description import (
    MOST_RETRIES,
    _read_timeout_settings,
    _refuse_host_headers,
)
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform, StrangersPlatform
from cinatra_sdk.outside.http_calls.protocol import Credentials, PlatformCall

BASE = "https://host.example"


async def _later(_call: PlatformCall) -> dict[str, str]:
    return {}


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (lambda _call: {}, "headers_for is a function"),
        ([BASE], "headers_for is a list"),
        ({3: {}}, "an origin is a text, and not a int"),
        ({BASE: _later}, "the function is async"),
    ],
)
def test_headers_of_a_host_name_their_origin(given: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        HttpPlatform(BASE, headers_for=given)


@pytest.mark.parametrize("entry", ["no address", "ftp://host.example", ""])
def test_an_opaque_entry_that_is_no_address_is_named(entry: str) -> None:
    with pytest.raises(ValueError, match="opaque entry"):
        HttpPlatform(BASE, opaque={entry: "status"})


def test_a_platform_tells_whether_it_posts_again() -> None:
    told = [HttpPlatform(BASE, retry_posts=again).describe() for again in (True, False)]
    assert [one.get("retry_posts", False) for one in told] == [True, False]


@pytest.mark.parametrize("origins", ["https://a.example", [3], {"a": 1}])
def test_stored_headers_of_a_host_of_another_form_are_told_as_such(origins: Any) -> None:
    with pytest.raises(ValueError, match="is a list of addresses"):
        _refuse_host_headers(origins)
    with pytest.raises(ValueError, match="headers of its host's own"):
        _refuse_host_headers([BASE])


@pytest.mark.parametrize(("retries", "read"), [(0, 0), (1, 1), (10**9, MOST_RETRIES)])
def test_a_stored_platform_may_try_once_alone_and_not_for_ever(retries: int, read: int) -> None:
    assert _read_timeout_settings({"retries": retries}) == {"retries": read}
    with pytest.raises(ValueError, match="whole number"):
        _read_timeout_settings({"retries": -1})


def test_an_address_that_only_the_run_names_is_called_without_credentials() -> None:
    server = LoopbackServer()
    call = PlatformCall(
        node="ask", path="ask", method="POST", url="{{CINATRA_BASE_URL}}/api", body={},
        idempotency_key="k1", run_id="r1", context_id="c1",
        credentials=Credentials(run_token="tok-of-the-run", bearer_token="tok-of-the-host"),
    )  # fmt: skip
    try:
        with StrangersPlatform(f"http://127.0.0.1:{server.port}") as platform:
            platform.call(call)
        (seen,) = server.seen
        assert "tok-of" not in str(seen)
        assert "c1" not in [*seen.headers.values()]
    finally:
        server.close()


@pytest.mark.parametrize("token", [None, "a-token-of-the-bridge"])
def test_a_platform_without_a_token_of_its_own_sends_no_header_for_it(token: str | None) -> None:
    server = LoopbackServer()
    call = PlatformCall(
        node="ask", path="ask", method="POST", url="{{CINATRA_BASE_URL}}/api", body={},
        idempotency_key="k1", run_id="r1",
    )  # fmt: skip
    try:
        with HttpPlatform(f"http://127.0.0.1:{server.port}", bridge_token=token) as platform:
            platform.call(call)
        sent = {name.lower(): value for name, value in server.seen[0].headers.items()}
        assert sent.get("x-cinatra-bridge-token") == token
    finally:
        server.close()
