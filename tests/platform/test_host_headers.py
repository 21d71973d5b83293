"""Headers that a host sets at one origin: sent there and nowhere else, and kept nowhere."""

from __future__ import annotations

import asyncio
import threading

import pytest
from loopback_server import Reply

from cinatra_sdk.outside.http_calls.description import platform_from
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.http_calls.protocol import PlatformRefused, PlatformResponseError

KEY = "key-of-the-crm-0123"
HEADERS = {"Authorization": f"Bearer {KEY}", "X-Team": "team-seven"}


def test_they_go_to_their_origin_and_nowhere_else(server, other, make_call):
    with HttpPlatform(server.url, allow=[other.url], headers_for={other.url: HEADERS}) as http:
        http.call(make_call(url=f"{other.url}/people"))
        http.call(make_call("/api/other"))
    assert other.last.headers["authorization"] == f"Bearer {KEY}"
    assert other.last.headers["x-team"] == "team-seven"
    assert KEY not in str(server.last.headers)
    assert "x-team" not in server.last.headers


def test_the_entry_with_the_longest_path_counts(server, other, make_call):
    headers = {other.url: {"X-Key": "all-of-it"}, f"{other.url}/v1": {"X-Key": "first-version"}}
    with HttpPlatform(server.url, allow=[other.url], headers_for=headers) as http:
        for path in ("/v1/x", "/v10/x"):
            http.call(make_call(url=other.url + path))
    assert [seen.headers["x-key"] for seen in other.seen] == ["first-version", "all-of-it"]


def test_a_function_is_asked_for_each_call_outside_of_the_event_loop(server, other, make_call):
    asked: list[tuple[str, int]] = []

    def headers(call):
        asked.append((call.run_id, threading.get_ident()))
        return {"Authorization": f"Bearer key-of-{call.run_id}"}

    with HttpPlatform(server.url, allow=[other.url], headers_for={other.url: headers}) as http:
        http.call(make_call(url=f"{other.url}/x"))
        asyncio.run(http.acall(make_call(url=f"{other.url}/x", run_id="run-2")))
    assert [run for run, _ in asked] == ["run-1", "run-2"]
    assert asked[0][1] == threading.get_ident() != asked[1][1]
    sent = [seen.headers["authorization"] for seen in other.seen]
    assert sent == ["Bearer key-of-run-1", "Bearer key-of-run-2"]


def test_they_do_not_come_back_in_an_answer_or_an_error(server, other, make_call):
    other.answers({"said": f"you are {KEY}"}, Reply(400, f'{{"message": "bad {KEY}"}}'.encode()))
    with HttpPlatform(server.url, allow=[other.url], headers_for={other.url: HEADERS}) as http:
        assert http.call(make_call(url=f"{other.url}/x")) == {"said": "you are [redacted]"}
        with pytest.raises(PlatformResponseError) as raised:
            http.call(make_call(url=f"{other.url}/x"))
        shown = f"{raised.value} {http!r} {http._rules!r} {http.describe()!r}"
    assert KEY not in shown


def test_a_header_that_the_flow_declares_too_is_refused(server, other, make_call):
    with (
        HttpPlatform(server.url, allow=[other.url], headers_for={other.url: HEADERS}) as http,
        pytest.raises(PlatformRefused, match='the host sets the header "x-team" there'),
    ):
        http.call(make_call(url=f"{other.url}/x", headers={"x-team": "mine"}))
    assert not other.seen


def test_a_value_of_the_run_does_not_take_them_and_a_placeholder_of_the_host_does(
    server, other, make_call
):
    with HttpPlatform(server.url, allow=[other.url], headers_for={other.url: HEADERS}) as http:
        with pytest.raises(PlatformRefused, match="its host comes from a value"):
            http.call(make_call(url=f"{other.url}/x", origin_by_value=True))
        http.call(make_call(url=f"{other.url}/x", origin_by_value=True, origin_by_placeholder=True))
    assert [seen.headers["x-team"] for seen in other.seen] == ["team-seven"]


def test_a_call_on_behalf_of_somebody_else_gets_none_of_them(server, other, make_call):
    with HttpPlatform(server.url, allow=[other.url], headers_for={other.url: HEADERS}) as http:
        http.call(make_call(url=f"{other.url}/x", with_own_token=False))
    assert KEY not in str(other.last.headers)


def test_a_function_that_fails_sends_nothing_and_tells_nothing_of_its_words(
    server, other, make_call
):
    def headers(_call):
        raise KeyError(KEY)

    with (
        HttpPlatform(server.url, allow=[other.url], headers_for={other.url: headers}) as http,
        pytest.raises(PlatformRefused, match="raised KeyError") as raised,
    ):
        http.call(make_call(url=f"{other.url}/x"))
    assert KEY not in str(raised.value)
    assert (raised.value.__cause__, raised.value.__context__) == (None, None)
    assert not other.seen


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ({"https://elsewhere.example": HEADERS}, "add it to `allow`"),
        ({"nonsense": HEADERS}, "headers_for 'nonsense'"),
        ({"https://crm.example": {"X-Cinatra-Run-Token": KEY}}, "the runtime sets"),
        ({"https://crm.example": {"Host": "h"}}, "the runtime sets"),
        ({"https://crm.example": {"Idempotency_Key": "h"}}, "the runtime sets"),
        ({"https://crm.example": {"X Y": KEY}}, "no HTTP token"),
        ({"https://crm.example": {"X-Key": f"{KEY}\n"}}, 'value of "X-Key"'),
        ({"https://crm.example": {"X-Key": KEY, "x-key": KEY}}, "given twice"),
        ({"https://own.example/x": {"Authorization": KEY}}, "bearer_token of flow.context"),
    ],
)  # fmt: skip
def test_what_cannot_be_sent_is_refused_when_the_platform_is_made(given, rule):
    with pytest.raises(ValueError, match=rule) as raised:
        HttpPlatform("https://own.example", allow=["https://crm.example"], headers_for=given)
    assert KEY not in str(raised.value)


async def _asked_later(_call):
    return HEADERS


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (lambda _call: HEADERS, "headers_for is a function, and has to name the origins"),
        (dict, "headers_for is a function"),
        ([("https://crm.example", HEADERS)], "headers_for is a list"),
        (f"Bearer {KEY}", "headers_for is a str"),
        ({b"https://crm.example": HEADERS}, "an origin is a text, and not a bytes"),
        ({None: HEADERS}, "an origin is a text"),
        ({"https://crm.example": _asked_later}, "'https://crm.example': the function is async"),
    ],
)
def test_headers_without_their_origins_are_refused_in_words(given, rule):
    with pytest.raises(ValueError, match=rule) as raised:
        HttpPlatform("https://own.example", allow=["https://crm.example"], headers_for=given)
    assert KEY not in str(raised.value)


def test_another_process_makes_such_a_platform_only_with_headers_of_its_own():
    platform = HttpPlatform(
        "https://own.example",
        allow=["https://crm.example"],
        headers_for={"https://crm.example": HEADERS},
    )
    described = platform.describe()
    assert described["headers_for"] == ["https://crm.example"]
    with pytest.raises(ValueError, match=r"https://crm.example with headers of its host's own"):
        platform_from(described, env={"CINATRA_BASE_URL": "https://own.example"})


# --------------------------------------------------------------- a host without a platform


def test_without_a_platform_only_the_list_is_called(other, make_call):
    with HttpPlatform(None, allow=[other.url]) as http:
        http.call(make_call(url=f"{other.url}/x"))
        with pytest.raises(PlatformRefused, match="no platform is configured"):
            http.call(make_call("/api/llm-bridge"))
        with pytest.raises(PlatformRefused, match="only the allow list may be called"):
            http.call(make_call(url="https://elsewhere.example/x"))
    assert len(other.seen) == 1


def test_it_is_made_again_without_the_platform_of_the_process():
    described = HttpPlatform(None, allow=["https://crm.example"], timeout=9).describe()
    env = {"CINATRA_BASE_URL": "https://own.example", "CINATRA_BRIDGE_TOKEN": "bridge-0123"}
    assert platform_from(described, env=env).describe() == described


def test_a_stored_list_opens_no_private_address():
    described = HttpPlatform(None, allow=["http://127.0.0.1:9"]).describe()
    with pytest.raises(ValueError, match="which a stored description does not open"):
        platform_from(described, env={})
