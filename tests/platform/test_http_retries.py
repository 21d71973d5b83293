"""What HttpPlatform tries again, and how long it waits; nobody really sleeps here."""

from __future__ import annotations

import asyncio
from email.utils import formatdate

import httpx2
import pytest
from loopback_server import Reply

from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform, MachineServices
from cinatra_sdk.outside.http_calls.protocol import PlatformResponseError, PlatformUnreachable

NOW = 1_700_000_000.0


class Waits:
    """Records the waits; `jitter` takes the most, so that the bound itself is seen."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def asleep(self, seconds: float) -> None:
        self.seconds.append(seconds)

    def platform(self, url: str, **settings: object) -> HttpPlatform:
        surroundings = MachineServices(
            sleep=self.seconds.append, asleep=self.asleep, jitter=lambda most: most
        )
        return HttpPlatform(url, surroundings=surroundings, clock=lambda: NOW, **settings)


@pytest.fixture
def waits() -> Waits:
    return Waits()


@pytest.mark.parametrize("status", [502, 503, 504, 429, 409])
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_a_temporary_error_of_an_idempotent_call_is_tried_again(
    server, make_call, waits, status, method
):
    server.answers(Reply(status=status), Reply(status=status), {"ok": 1})
    with waits.platform(server.url) as http:
        assert http.call(make_call(method=method)) == {"ok": 1}
    assert len(server.seen) == 3
    assert waits.seconds == [1.0, 2.0]


def test_the_waits_double_up_to_eight_seconds_and_then_the_error_comes(server, make_call, waits):
    server.answers(Reply(status=503, body=b'{"error": "busy"}'))
    with (
        waits.platform(server.url, retries=5) as http,
        pytest.raises(PlatformResponseError) as caught,
    ):
        http.call(make_call(method="GET"))
    assert caught.value.code == "busy"
    assert waits.seconds == [1.0, 2.0, 4.0, 8.0, 8.0]
    assert len(server.seen) == 6


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422, 500, 501])
def test_a_lasting_error_is_never_tried_again(server, make_call, waits, status):
    server.answers(Reply(status=status))
    with waits.platform(server.url) as http, pytest.raises(PlatformResponseError):
        http.call(make_call(method="GET"))
    assert len(server.seen) == 1
    assert waits.seconds == []


@pytest.mark.parametrize("reply", [Reply(status=503), Reply(status=429), Reply(hang_up=True)])
def test_a_post_is_not_repeated_even_with_a_key(server, make_call, waits, reply):
    server.answers(reply)
    with (
        waits.platform(server.url) as http,
        pytest.raises((PlatformResponseError, PlatformUnreachable)),
    ):
        http.call(make_call(idempotency_key="key-1"))
    assert len(server.seen) == 1


@pytest.mark.parametrize("reply", [Reply(status=503), Reply(hang_up=True)])
def test_retry_posts_repeats_a_post_with_a_key_and_no_other(server, make_call, waits, reply):
    server.answers(reply, {"ok": 1})
    with waits.platform(server.url, retry_posts=True) as http:
        assert http.call(make_call(idempotency_key="key-1")) == {"ok": 1}
        assert [seen.headers["idempotency-key"] for seen in server.seen] == ["key-1", "key-1"]
        server.seen.clear()
        with pytest.raises((PlatformResponseError, PlatformUnreachable)):
            http.call(make_call())
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("header", "waited"),
    [("7", [7.0]), ("0", [0.0]), (formatdate(NOW + 30, usegmt=True), [30.0]), ("soon", [1.0])],
)
def test_retry_after_is_honoured_exactly(server, make_call, waits, header, waited):
    server.answers(Reply(status=429, headers={"Retry-After": header}), {"ok": 1})
    with waits.platform(server.url) as http:
        http.call(make_call(method="GET"))
    assert waits.seconds == waited


def test_a_retry_after_beyond_a_minute_ends_the_call_at_once(server, make_call, waits):
    server.answers(Reply(status=429, headers={"Retry-After": "61"}))
    with waits.platform(server.url) as http, pytest.raises(PlatformResponseError):
        http.call(make_call(method="GET"))
    assert len(server.seen) == 1
    assert waits.seconds == []


def failing(*errors: Exception) -> tuple[httpx2.MockTransport, list[httpx2.Request]]:
    """A transport that raises the errors in turn, then answers `{}`."""
    requests: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        if len(requests) <= len(errors):
            raise errors[len(requests) - 1]
        return httpx2.Response(200, json={})

    return httpx2.MockTransport(answer), requests


@pytest.mark.parametrize("error", [httpx2.ConnectError("refused"), httpx2.ConnectTimeout("slow")])
def test_a_connection_that_never_was_is_tried_again_for_any_method(make_call, waits, error):
    transport, requests = failing(error, error)
    with (
        httpx2.Client(transport=transport) as client,
        waits.platform("http://base.example.com", client=client) as http,
    ):
        assert http.call(make_call(method="POST")) == {}
    assert len(requests) == 3


@pytest.mark.parametrize(
    "error", [httpx2.ReadTimeout("t"), httpx2.ReadError("r"), httpx2.RemoteProtocolError("p")]
)
def test_a_broken_answer_is_tried_again_only_for_idempotent_calls(make_call, waits, error):
    transport, requests = failing(error)
    with (
        httpx2.Client(transport=transport) as client,
        waits.platform("http://base.example.com", client=client) as http,
    ):
        assert http.call(make_call(method="GET", body=None)) == {}
        assert len(requests) == 2
        requests.clear()
        with pytest.raises(PlatformUnreachable):
            http.call(make_call(method="POST"))
    assert len(requests) == 1


def test_a_name_without_an_address_is_tried_again_and_then_unreachable(make_call, waits):
    def no_address(_host: str, _port: int) -> list[object]:
        raise OSError

    surroundings = MachineServices(
        sleep=waits.seconds.append, jitter=lambda _: 0, resolve=no_address
    )
    http = HttpPlatform(
        "http://base.example.com", allow=["http://crm.example.com"], surroundings=surroundings
    )
    with http, pytest.raises(PlatformUnreachable, match="name"):
        http.call(make_call(url="http://crm.example.com/x"))
    assert waits.seconds == [0, 0]


def test_an_answer_that_drips_for_ever_ends_at_the_timeout(make_call):
    ticks = iter(range(1000))
    surroundings = MachineServices(monotonic=lambda: float(next(ticks)))
    transport = httpx2.MockTransport(
        lambda _request: httpx2.Response(200, content=(b" " for _ in range(500)))
    )
    with (
        httpx2.Client(transport=transport) as client,
        HttpPlatform(
            "http://base.example.com", client=client, timeout=10.0, surroundings=surroundings
        ) as http,
        pytest.raises(PlatformUnreachable, match="in time"),
    ):
        http.call(make_call())
    assert next(ticks) < 20


def test_the_timeout_of_the_call_goes_before_that_of_the_platform(make_call, waits):
    transport, requests = failing()
    with (
        httpx2.Client(transport=transport) as client,
        waits.platform("http://base.example.com", client=client, timeout=90.0) as http,
    ):
        http.call(make_call(timeout=3.0))
        http.call(make_call())
    assert [request.extensions["timeout"]["read"] for request in requests] == [3.0, 90.0]
    assert [request.extensions["timeout"]["connect"] for request in requests] == [3.0, 10.0]


def test_the_async_twin_waits_and_repeats_in_the_same_way(server, make_call, waits):
    server.answers(Reply(status=503), Reply(status=429, headers={"Retry-After": "4"}), {"ok": 1})

    async def twin() -> object:
        async with waits.platform(server.url) as http:
            return await http.acall(make_call(method="GET"))

    assert asyncio.run(twin()) == {"ok": 1}
    assert waits.seconds == [1.0, 4.0]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "POST"])
@pytest.mark.parametrize("status", [502, 503, 504, 429, 409])
def test_a_call_at_most_once_is_never_sent_a_second_time(server, make_call, waits, method, status):
    server.answers(Reply(status=status))
    call = make_call(method=method, once=True, idempotency_key="k1")
    with waits.platform(server.url, retry_posts=True) as http:
        with pytest.raises(PlatformResponseError):
            http.call(call)
        with pytest.raises(PlatformResponseError):
            asyncio.run(http.acall(call))
    assert len(server.seen) == 2
    assert waits.seconds == []


def test_but_it_waits_for_a_connection(make_call, waits, monkeypatch):
    monkeypatch.setattr(
        httpx2.Client,
        "send",
        lambda *_args, **_more: (_ for _ in ()).throw(httpx2.ConnectError("")),
    )
    with waits.platform("http://localhost:9") as http, pytest.raises(PlatformUnreachable) as caught:
        http.call(make_call(method="POST", once=True))
    assert waits.seconds == [1.0, 2.0]
    assert caught.value.unsent


def test_a_timeout_does_not_say_that_nothing_was_sent(make_call, waits, monkeypatch):
    monkeypatch.setattr(
        httpx2.Client, "send", lambda *_args, **_more: (_ for _ in ()).throw(httpx2.ReadTimeout(""))
    )
    with waits.platform("http://localhost:9") as http, pytest.raises(PlatformUnreachable) as caught:
        http.call(make_call(method="PUT", once=True))
    assert waits.seconds == []
    assert not caught.value.unsent


@pytest.mark.parametrize("status", [503, 429])
def test_a_request_that_was_sent_once_is_not_unsent_because_nobody_is_there_later(
    server, make_call, status
):
    server.answers(Reply(status=status, headers={"Connection": "close"}))

    def leave(_seconds: float) -> None:
        server.close()

    surroundings = MachineServices(sleep=leave, jitter=lambda most: most)
    with (
        HttpPlatform(server.url, surroundings=surroundings) as http,
        pytest.raises(PlatformUnreachable) as caught,
    ):
        http.call(make_call(method="PUT"))
    assert "there is no connection" in str(caught.value)
    assert not caught.value.unsent
