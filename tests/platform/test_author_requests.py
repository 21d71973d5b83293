"""What an author says of one request: its query, its policy for retries, the addresses it may reach."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Any

import httpx2
import pytest
from loopback_server import LoopbackServer, Reply

from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.outside.http_calls.call_addresses import RefusalError
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform, MachineServices
from cinatra_sdk.outside.http_calls.protocol import (
    PlatformCall,
    PlatformRefused,
    PlatformResponseError,
    PlatformUnreachable,
)
from cinatra_sdk.outside.http_calls.wire_request import check_listed, require_listed

MakeCall = Callable[..., PlatformCall]
PLAIN = CallRetryPolicy(jitter=None)


class Patient:
    """Platforms that record their waits and do not wait."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def asleep(self, seconds: float) -> None:
        self.waits.append(seconds)

    def platform(self, url: str, **settings: Any) -> HttpPlatform:
        services = MachineServices(
            sleep=self.waits.append, asleep=self.asleep, jitter=lambda most: most
        )
        return HttpPlatform(url, surroundings=services, **settings)


@pytest.fixture
def patient() -> Patient:
    return Patient()


# ------------------------------------------------------------------ query and body


@pytest.mark.parametrize(
    ("url", "query", "sent"),
    [
        ("/x?a=1", {"b": "2"}, "/x?a=1&b=2"),
        ("/x?a=1", {"a": "2"}, "/x?a=1&a=2"),
        ("/x?flag&q=a%20b", {"b": "c d&e"}, "/x?flag&q=a%20b&b=c+d%26e"),
        ("/x", {"b": "ü"}, "/x?b=%C3%BC"),
        ("/x?a=1", {}, "/x?a=1"),
    ],
)
def test_the_query_of_the_url_stays_and_the_parameters_join_it(
    server: LoopbackServer, make_call: MakeCall, url: str, query: dict[str, str], sent: str
) -> None:
    with HttpPlatform(server.url) as http:
        http.call(make_call(url, query=query))
    assert server.last.path == sent


@pytest.mark.parametrize(
    "content_type",
    ["application/x-www-form-urlencoded; charset=UTF-8", "Application/X-WWW-Form-URLEncoded"],
)
def test_a_form_is_a_form_however_its_type_is_written(
    server: LoopbackServer, make_call: MakeCall, content_type: str
) -> None:
    with HttpPlatform(server.url) as http:
        http.call(make_call(body={"a": "x y", "n": 1}, headers={"content-TYPE": content_type}))
        assert server.last.body == b"a=x+y&n=1"
        http.call(make_call(body="a=already", headers={"Content-Type": content_type}))
    assert server.last.body == b"a=already"


# ------------------------------------------------------------------------- retries


@pytest.mark.parametrize("awaited", [False, True])
def test_a_post_is_repeated_where_its_author_says_so_under_one_key(
    server: LoopbackServer, make_call: MakeCall, patient: Patient, awaited: bool
) -> None:
    server.answers(Reply(status=500), Reply(status=429), {"ok": 1})
    call = make_call(idempotency_key="key-1", retry=PLAIN)

    async def ask() -> Any:
        async with patient.platform(server.url) as http:
            return await http.acall(call)

    with patient.platform(server.url) as http:
        assert (asyncio.run(ask()) if awaited else http.call(call)) == {"ok": 1}
    assert [seen.headers["idempotency-key"] for seen in server.seen] == ["key-1"] * 3
    assert patient.waits == [1.0, 2.0]


def test_an_authors_count_of_retries_stands_before_the_operators(
    server: LoopbackServer, make_call: MakeCall, patient: Patient
) -> None:
    server.answers(Reply(status=503))
    with patient.platform(server.url, retries=5) as http, pytest.raises(PlatformResponseError):
        http.call(make_call(method="GET", retry=CallRetryPolicy(max_attempts=1)))
    assert len(server.seen) == 2
    with patient.platform(server.url, retries=5) as http, pytest.raises(PlatformResponseError):
        http.call(make_call(method="GET", retry=CallRetryPolicy(max_attempts=0)))
    assert len(server.seen) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 501])
def test_a_response_that_will_not_change_is_final(
    server: LoopbackServer, make_call: MakeCall, patient: Patient, status: int
) -> None:
    server.answers(Reply(status=status))
    with patient.platform(server.url) as http, pytest.raises(PlatformResponseError):
        http.call(make_call(method="GET", retry=PLAIN))
    assert len(server.seen) == 1


@pytest.mark.parametrize("code", ["Locked", "Exists"])
def test_a_status_may_be_tied_to_the_receivers_own_code(
    server: LoopbackServer, make_call: MakeCall, patient: Patient, code: str
) -> None:
    policy = CallRetryPolicy(max_attempts=1, recoverable_statuses=((409, ("Locked",)),))
    server.answers(Reply(status=409, body=b'{"code": "%s"}' % code.encode()))
    with patient.platform(server.url) as http, pytest.raises(PlatformResponseError):
        http.call(make_call(retry=policy))
    assert len(server.seen) == (2 if code == "Locked" else 1)


def test_the_servers_own_time_is_obeyed_up_to_a_minute(
    server: LoopbackServer, make_call: MakeCall, patient: Patient
) -> None:
    wait, too_long = ({"Retry-After": seconds} for seconds in ("30", "61"))
    server.answers(Reply(status=429, headers=wait), Reply(status=429, headers=too_long), {})
    with patient.platform(server.url) as http, pytest.raises(PlatformResponseError):
        http.call(make_call(retry=CallRetryPolicy(max_attempts=9)))
    assert patient.waits == [30.0]
    assert len(server.seen) == 2


@pytest.mark.parametrize("reply", [Reply(status=503), Reply(hang_up=True)])
def test_a_call_that_is_at_most_once_is_not_repeated_whatever_its_author_says(
    server: LoopbackServer, make_call: MakeCall, patient: Patient, reply: Reply
) -> None:
    server.answers(reply)
    with (
        patient.platform(server.url) as http,
        pytest.raises((PlatformResponseError, PlatformUnreachable)),
    ):
        http.call(make_call(once=True, retry=PLAIN))
    assert len(server.seen) == 1


def test_a_broken_connection_is_repeated_and_a_tls_error_never(
    make_call: MakeCall, patient: Patient
) -> None:
    tls = httpx2.ConnectError("tls")
    tls.__cause__ = ssl.SSLCertVerificationError("no")
    for error, attempts in ((httpx2.ReadError("r"), 3), (tls, 1)):
        sent: list[httpx2.Request] = []

        def fail(
            request: httpx2.Request,
            sent: list[httpx2.Request] = sent,
            error: httpx2.RequestError = error,
        ) -> httpx2.Response:
            sent.append(request)
            raise error

        with (
            httpx2.Client(transport=httpx2.MockTransport(fail)) as client,
            patient.platform("http://base.example.com", client=client) as http,
            pytest.raises(PlatformUnreachable),
        ):
            http.call(make_call(retry=PLAIN))
        assert len(sent) == attempts


@pytest.mark.parametrize(("asked", "given"), [(3.0, 3.0), (500.0, 7.0)])
def test_an_author_may_ask_for_less_time_than_the_operator_gives(
    make_call: MakeCall, patient: Patient, asked: float, given: float
) -> None:
    times: list[Any] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        times.append(request.extensions["timeout"]["read"])
        return httpx2.Response(200, json={})

    with (
        httpx2.Client(transport=httpx2.MockTransport(answer)) as client,
        patient.platform("http://base.example.com", client=client, timeout=7.0) as http,
    ):
        http.call(make_call(retry=CallRetryPolicy(request_timeout=asked)))
    assert times == [given]


# ------------------------------------------------------------------------ addresses


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        ("https://h.example", "https://h.example/any?q=1#f"),
        ("https://h.example:443/v1", "https://H.example/v1"),
        ("https://h.example/v1/", "https://h.example/v1/x"),
        ("https://h.example/v1", "https://h.example/v1/a%2Fb"),
        ("https://h.example/a%20b", "https://h.example/a b/c"),
    ],
)
def test_an_entry_covers_its_host_and_what_is_below_its_path(entry: str, url: str) -> None:
    check_listed(["https://other.example", entry], url)


@pytest.mark.parametrize(
    "url",
    [
        "http://h.example/v1", "https://h.example:8443/v1", "https://h.example.evil.test/v1",
        "https://evil.test/v1", "https://h.example/v10", "https://h.example/", "https://h.example/V1",
        "https://h.example@evil.test/v1", "https://user@h.example/v1", "https://h.example\\@evil.test/v1",
        "https://h.example/v1/../admin", "https://h.example/v1/%2e%2e/admin", "https://h.example/v1%2Fx",
        "https://h.example/x/..;/v1", "https://h.example//v1", "https://h.example/%252e%252e/v1",
        "//h.example/v1", "https://h.example/v1;x/y", "https://h.example/?x=/v1", "",
    ],
)  # fmt: skip
def test_no_other_spelling_gets_past_an_entry(url: str) -> None:
    with pytest.raises(RefusalError):
        check_listed(["https://h.example/v1"], url)


def test_an_empty_list_covers_nothing() -> None:
    with pytest.raises(RefusalError):
        check_listed([], "https://h.example/")


def test_a_call_outside_the_list_is_refused_before_it_is_sent_and_its_query_is_not_told(
    server: LoopbackServer, make_call: MakeCall
) -> None:
    listed = (f"{server.url}/api/allowed",)
    with HttpPlatform(server.url) as http:
        http.call(make_call("/api/allowed/7", url_allow_list=listed))
        with pytest.raises(PlatformRefused) as caught:
            http.call(make_call("/api/other?key=s3cret", url_allow_list=listed))
    assert len(server.seen) == 1
    assert "url_allow_list" in str(caught.value)
    assert "s3cret" not in f"{caught.value!r} {caught.value.url}"


def test_a_listed_address_cannot_lead_on_to_another(
    server: LoopbackServer, other: LoopbackServer, make_call: MakeCall
) -> None:
    server.answers(Reply(status=302, headers={"Location": f"{other.url}/secret"}))
    with HttpPlatform(server.url, allow=[other.url]) as http, pytest.raises(PlatformResponseError):
        http.call(make_call(method="GET", url_allow_list=(server.url,), retry=PLAIN))
    assert not other.seen


BASE = "{{CINATRA_BASE_URL}}"


@pytest.mark.parametrize(
    ("entries", "path", "refused"),
    [
        ((f"{BASE}/api",), "/api/x", False),
        ((f"{BASE}/api",), "/apis", True),
        (("https://p.example/api",), "/api/x", False),  # only the platform knows its address
        ((), "/api/x", True),
    ],
)
def test_the_platform_is_listed_by_its_placeholder(
    make_call: MakeCall, entries: tuple[str, ...], path: str, refused: bool
) -> None:
    call = make_call(path, url_allow_list=entries)
    if refused:
        with pytest.raises(PlatformRefused):
            require_listed(call)
    else:
        require_listed(call)


# ------------------------------------------------------------------------- headers


@pytest.mark.parametrize("name", ["X-Key", "x-key", "X-KEY"])
def test_one_name_in_both_groups_of_headers_is_refused(
    server: LoopbackServer, make_call: MakeCall, name: str
) -> None:
    with HttpPlatform(server.url) as http, pytest.raises(PlatformRefused) as caught:
        http.call(make_call(headers={"X-Key": "a"}, sensitive_headers={name: "canary-1"}))
    assert not server.seen
    assert "canary-1" not in str(caught.value)


def test_a_sensitive_header_is_sent_and_cut_out_of_what_comes_back(
    server: LoopbackServer, make_call: MakeCall
) -> None:
    server.answers({"you sent": "canary-1, is that right?"})
    call = make_call(headers={"X-Team": "7"}, sensitive_headers={"X-Key": "Bearer canary-1"})
    with HttpPlatform(server.url) as http:
        answer = http.call(call)
    assert (server.last.headers["x-key"], server.last.headers["x-team"]) == ("Bearer canary-1", "7")
    assert answer == {"you sent": "[redacted], is that right?"}
    assert "canary" not in repr(call)
