"""HttpPlatform against real servers on loopback: what is sent, where, and what comes back."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import json
import logging
import socket
import ssl
import threading
from ipaddress import ip_address

import httpx2
import pytest
from loopback_server import ATTEST, BEARER, BRIDGE, CANARIES, RUN_TOKEN, Reply

from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform, MachineServices
from cinatra_sdk.outside.http_calls.protocol import (
    Credentials,
    Platform,
    PlatformError,
    PlatformOutputError,
    PlatformRefused,
    PlatformResponseError,
    PlatformUnreachable,
)
from cinatra_sdk.outside.http_calls.wire_request import prepare
from cinatra_sdk.outside.http_calls.wire_response import Response, judge

NOW = 1_700_000_000.5
EXPIRY = 1_700_000_300


def no_sleep(_seconds: float) -> None:
    raise AssertionError("this test must not wait")


def platform(base_url: str, **settings: object) -> HttpPlatform:
    defaults: dict[str, object] = {
        "bridge_token": BRIDGE,
        "attestation_key": ATTEST,
        "clock": lambda: NOW,
        "timeout": 5.0,
        "surroundings": MachineServices(sleep=no_sleep, jitter=lambda most: most),
    }
    return HttpPlatform(base_url, **(defaults | settings))


def everything_said(error: BaseException) -> str:
    """All text that an error, its causes and its contexts could print or store."""
    said, seen, open_ends = "", set(), [error]
    while open_ends:
        one = open_ends.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        said += f"{one!s} {one!r} {one.args!r} {vars(one)!r} {getattr(one, 'object', '')!r} "
        said += f"{getattr(one, 'doc', '')!r} {getattr(one, 'request', '')!r} "
        open_ends += [e for e in (one.__cause__, one.__context__) if e is not None]
    return said


def signed(version: str) -> str:
    material = f"{version}\nconversation-1\nctx-brand-resolve_context\n{EXPIRY}".encode()
    digest = hmac.new(ATTEST.encode(), material, hashlib.sha256).hexdigest()
    return f"{version}:{EXPIRY}:{digest}"


# ------------------------------------------------------------------ runtime headers

CONTEXT_ID, TOKEN = "x-cinatra-a2a-context-id", "x-cinatra-run-token"
V2 = {"x-cinatra-context-node", "x-cinatra-context-attestation"}
S1 = {"x-cinatra-step-node", "x-cinatra-step-attestation"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/llm-bridge", {CONTEXT_ID, TOKEN} | S1),
        ("/api/context-resolve", {CONTEXT_ID, TOKEN} | V2),
        ("/api/context-finalize", {CONTEXT_ID, TOKEN} | V2),
        ("/api/agents/passthrough", {CONTEXT_ID} | S1),
        ("/api/auditor/run-skills", {CONTEXT_ID}),
        ("/api/auditor/apply", {CONTEXT_ID}),
        ("/api/auditor/exclude", set()),
        ("/api/other", set()),
    ],
)
def test_each_endpoint_gets_exactly_the_proofs_of_the_contract(server, make_call, path, expected):
    with platform(server.url) as http:
        http.call(make_call(path))
    sent = {name for name in server.last.headers if name.startswith("x-cinatra-")}
    assert sent == expected | {"x-cinatra-bridge-token"}
    assert server.last.headers["authorization"] == f"Bearer {BEARER}"


def test_the_values_of_the_proofs_are_those_the_platform_checks(server, make_call):
    with platform(server.url) as http:
        http.call(make_call("/api/llm-bridge"))
        http.call(make_call("/api/context-resolve"))
    bridge, resolve = (seen.headers for seen in server.seen)
    assert bridge["x-cinatra-bridge-token"] == BRIDGE
    assert bridge[CONTEXT_ID] == "conversation-1"
    assert bridge[TOKEN] == RUN_TOKEN
    assert bridge["x-cinatra-step-node"] == "ctx-brand-resolve_context"
    assert bridge["x-cinatra-step-attestation"] == signed("s1")
    assert resolve["x-cinatra-context-node"] == "ctx-brand-resolve_context"
    assert resolve["x-cinatra-context-attestation"] == signed("v2")


def test_without_key_or_context_no_attestation_is_sent(server, make_call):
    with platform(server.url, attestation_key=None) as http:
        http.call(make_call("/api/llm-bridge"))
        http.call(make_call("/api/context-resolve", context_id=""))
    for seen in server.seen:
        assert not (V2 | S1) & set(seen.headers)


@pytest.mark.parametrize(
    "name", ["X-CINATRA-Run-Token", "x-cinatra-step-node", "X-Cinatra-Anything", "AUTHORIZATION"]
)
@pytest.mark.parametrize("path", ["/api/llm-bridge", "/api/other"])
def test_a_runtime_header_of_an_author_is_refused_in_any_spelling(server, make_call, name, path):
    with (
        platform(server.url) as http,
        pytest.raises(PlatformRefused, match="only the host") as said,
    ):
        http.call(make_call(path, headers={name: "forged"}))
    assert f'"{name.lower()}"' in str(said.value)
    assert "forged" not in everything_said(said.value)
    assert not server.seen


def test_the_platform_is_also_known_by_its_origin_written_out(server, make_call):
    with platform(server.url) as http, pytest.raises(PlatformRefused, match="only the host"):
        http.call(make_call(url=f"{server.url}/x", headers={"Authorization": "forged"}))
    assert not server.seen


def test_another_port_is_a_foreign_origin_and_gets_no_proof(server, other, make_call):
    with platform(server.url, allow=[other.url]) as http:
        http.call(make_call(url=f"{other.url}/api/llm-bridge"))
    assert not server.seen
    sent = str(other.last.headers)
    assert not [secret for secret in (*CANARIES, "x-cinatra") if secret in sent]
    assert "authorization" not in other.last.headers


def test_every_other_header_of_an_author_is_sent_as_declared(server, other, make_call):
    declared = {
        "Authorization": "Bearer of-the-crm",
        "User-Agent": "newsletter/1",
        "Accept": "text/csv",
        "X_Own": "kept",
        "Cookie": "theme=dark",
    }
    with platform(server.url, allow=[other.url]) as http:
        http.call(make_call(url=f"{other.url}/people", headers=declared))
        own = {name: value for name, value in declared.items() if name != "Authorization"}
        http.call(make_call("/api/other", headers=own))
    sent = {name.lower(): value for name, value in declared.items()}
    assert sent.items() <= other.last.headers.items()
    assert {**sent, "authorization": f"Bearer {BEARER}"}.items() <= server.last.headers.items()


@pytest.mark.parametrize(
    "headers",
    [{"Idempotency-Key": "mine"}, {"Accept-Encoding": "gzip"}, {"X-Team": "a", "x-team": "b"}],
)
def test_a_header_that_would_be_replaced_is_refused(server, other, make_call, headers):
    with platform(server.url, allow=[other.url]) as http, pytest.raises(PlatformRefused):
        http.call(make_call(url=f"{other.url}/x", headers=headers))
    assert not other.seen


def test_the_client_of_the_host_adds_no_header_cookie_or_login(server, make_call):
    server.answers(Reply(headers={"Set-Cookie": "session=of-run-1"}), {})
    with (
        httpx2.Client(headers={"X-Client": "1"}, auth=("user", "word")) as client,
        platform(server.url, client=client) as http,
    ):
        http.call(make_call("/api/other"))
        http.call(make_call("/api/other"))
        assert not client.is_closed
    for seen in server.seen:
        assert "x-client" not in seen.headers
        assert "cookie" not in seen.headers
        assert seen.headers["authorization"] == f"Bearer {BEARER}"


def test_the_idempotency_key_goes_with_writes_only(server, make_call):
    with platform(server.url) as http:
        http.call(make_call(idempotency_key="key-1"))
        http.call(make_call(idempotency_key="key-1", method="GET", body=None))
    assert server.seen[0].headers["idempotency-key"] == "key-1"
    assert "idempotency-key" not in server.seen[1].headers


# --------------------------------------------------------------------------- where


def test_a_base_url_with_a_path_and_a_trailing_slash_is_put_in(server, make_call):
    with platform(f"{server.url}/cinatra/") as http:
        http.call(make_call("/api/llm-bridge?x=1", query={"y": "a&b"}))
    assert server.last.path == "/cinatra/api/llm-bridge?x=1&y=a%26b"
    assert TOKEN in server.last.headers


@pytest.mark.parametrize(
    "url",
    [
        "https://elsewhere.example.com/x",
        "{{CINATRA_BASE_URL}}.evil.example.com/x",
        "{{CINATRA_BASE_URL}}@evil.example.com/x",
        "{{CINATRA_BASE_URL}}0/x",
        "{{CINATRA_BASE_URL}}/api/{{ missing }}",
        "{{OTHER_HOST}}/x",
        "ftp://127.0.0.1/x",
        "file:///etc/passwd",
        "//127.0.0.1/x",
        "/api/x",
        "",
        "http://user:hunter2@127.0.0.1/x",
        "{{CINATRA_BASE_URL}}/a\r\nX-Injected: 1",
        "{{CINATRA_BASE_URL}}/a\x00b",
        "{{CINATRA_BASE_URL}}/%0d%0aX-Injected:%201",
        "{{CINATRA_BASE_URL}}/api/../admin",
        "{{CINATRA_BASE_URL}}/api/%252e%252e/admin",
        "{{CINATRA_BASE_URL}}\\@evil.example.com",
        "http://127.0.0.1:99999/x",
        "http://[::1/x",
        "http://ünï.example.com/x",
    ],
)
def test_a_url_outside_the_rules_is_refused_and_nothing_is_sent(server, make_call, url):
    with platform(server.url) as http, pytest.raises(PlatformRefused) as caught:
        http.call(make_call(url=url))
    assert not server.seen
    assert caught.value.node == "ctx-brand-resolve_context"
    assert "ctx-brand-resolve_context" in str(caught.value)
    assert not [secret for secret in CANARIES if secret in everything_said(caught.value)]
    assert "hunter2" not in everything_said(caught.value)


def test_a_refusal_says_what_to_add_to_allow(server, make_call):
    with platform(server.url) as http, pytest.raises(PlatformRefused) as caught:
        http.call(make_call(url="https://crm.example.com/v1/people?key=query-secret"))
    assert 'add "https://crm.example.com" to `allow`' in str(caught.value)
    assert "query-secret" not in everything_said(caught.value)


def test_an_allowed_path_prefix_is_compared_by_whole_segments(server, other, make_call):
    with platform(server.url, allow=[f"{other.url}/v1"]) as http:
        http.call(make_call(url=f"{other.url}/v1/people"))
        with pytest.raises(PlatformRefused):
            http.call(make_call(url=f"{other.url}/v10/people"))
        with pytest.raises(PlatformRefused):
            http.call(make_call(url=f"{other.url}/v1/%2e%2e/admin"))
    assert [seen.path for seen in other.seen] == ["/v1/people"]


def test_a_redirect_is_an_error_and_is_not_followed(server, other, make_call):
    server.answers(Reply(status=302, headers={"Location": f"{other.url}/{RUN_TOKEN}"}))
    with platform(server.url) as http, pytest.raises(PlatformResponseError) as caught:
        http.call(make_call())
    assert caught.value.status == 302
    assert caught.value.code == "redirect"
    assert not other.seen
    assert RUN_TOKEN not in everything_said(caught.value)


def test_a_name_that_resolves_into_a_private_network_is_refused(server, make_call):
    outside = MachineServices(sleep=no_sleep, resolve=lambda _h, _p: [ip_address("127.0.0.1")])
    with platform(server.url, allow=["http://crm.example.com"], surroundings=outside) as http:
        with pytest.raises(PlatformRefused, match="loopback"):
            http.call(make_call(url="http://crm.example.com/x"))
        with pytest.raises(PlatformRefused, match="loopback"):
            asyncio.run(http.acall(make_call(url="http://crm.example.com/x")))


def test_the_checked_address_is_the_one_that_is_connected_to(make_call):
    """A second look-up could answer otherwise (rebinding): the request names the address itself."""
    requests: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        requests.append(request)
        return httpx2.Response(200, json={"ok": True})

    outside = MachineServices(sleep=no_sleep, resolve=lambda _h, _p: [ip_address("93.184.215.14")])
    with (
        httpx2.Client(transport=httpx2.MockTransport(answer)) as client,
        platform(
            "http://base.example.com",
            allow=["https://crm.example.com:8443"],
            client=client,
            surroundings=outside,
        ) as http,
    ):
        assert http.call(make_call(url="https://crm.example.com:8443/x")) == {"ok": True}
    (request,) = requests
    assert str(request.url) == "https://93.184.215.14:8443/x"
    assert request.headers["host"] == "crm.example.com:8443"
    assert request.headers["connection"] == "close"
    assert request.extensions["sni_hostname"] == "crm.example.com"


def test_a_foreign_host_is_really_reached_by_its_checked_address(server, other, make_call):
    named = f"http://localhost:{other.port}"
    with platform(server.url, allow=[named]) as http:
        assert http.call(make_call(url=f"{named}/x")) == {}
        assert asyncio.run(http.acall(make_call(url=f"{named}/x"))) == {}
    assert [seen.headers["host"] for seen in other.seen] == [f"localhost:{other.port}"] * 2


@pytest.mark.parametrize("name", ["Host", "Transfer-Encoding", "content-length", "Connection"])
def test_an_author_cannot_set_the_headers_of_the_connection(server, make_call, name):
    with platform(server.url) as http, pytest.raises(PlatformRefused, match=name.lower()):
        http.call(make_call(headers={name: "1"}))
    assert not server.seen


def test_a_line_break_in_a_header_value_is_refused_without_showing_the_value(server, make_call):
    with platform(server.url) as http, pytest.raises(PlatformRefused) as caught:
        http.call(make_call(headers={"X-Own": "private\r\nX-Injected: 1"}))
    assert "x-own" in str(caught.value)
    assert "private" not in everything_said(caught.value)
    assert not server.seen


# ---------------------------------------------------------------------------- body


@pytest.mark.parametrize(
    ("body", "content_type", "sent", "sent_type"),
    [
        ({"b": "ü", "a": [1, None]}, None, '{"b":"ü","a":[1,null]}', "application/json"),
        ([], None, "[]", "application/json"),
        (0, None, "0", "application/json"),
        ("plain", None, "plain", "text/plain; charset=utf-8"),
        ("text", "application/json", "text", "application/json"),
        ("<a/>", "application/xml", "<a/>", "application/xml"),
        ({"a": 1}, "application/vnd.x+json", '{"a":1}', "application/vnd.x+json"),
        (
            {"a": "x y", "b": ["1", 2], "c": None, "d": True},
            "application/x-www-form-urlencoded",
            "a=x+y&b=1&b=2&c=&d=true",
            "application/x-www-form-urlencoded",
        ),
    ],
)
def test_a_body_is_sent_in_the_form_its_content_type_says(
    server, make_call, body, content_type, sent, sent_type
):
    headers = {"Content-Type": content_type} if content_type else {}
    with platform(server.url) as http:
        http.call(make_call(body=body, headers=headers))
    assert server.last.body.decode() == sent
    assert server.last.headers["content-type"] == sent_type


def test_no_body_sends_no_body_and_no_content_type(server, make_call):
    with platform(server.url) as http:
        http.call(make_call(method="get", body=None))
    assert server.last.method == "GET"
    assert server.last.body == b""
    assert "content-type" not in server.last.headers


@pytest.mark.parametrize("body", [{"a": float("nan")}, {"a": "\ud800"}, "\ud800"])
def test_a_body_that_is_no_json_is_refused(server, make_call, body):
    with platform(server.url) as http, pytest.raises(PlatformRefused, match="body"):
        http.call(make_call(body=body))
    assert not server.seen


# -------------------------------------------------------------------------- answers


@pytest.mark.parametrize(
    ("body", "content_type", "value"),
    [
        (b'{"a": 1, "a": 2}', "application/json", {"a": 2}),
        (b'\xef\xbb\xbf["x"]', "application/json", ["x"]),
        (b"[1]", "text/plain", [1]),
        (b"hello", "text/plain; charset=utf-8", "hello"),
        (b"", "application/json", None),
        (b" \n", "text/plain", None),
    ],
)
def test_an_answer_is_read_as_json_and_plain_text_as_a_string(
    server, make_call, body, content_type, value
):
    server.answers(Reply(body=body, headers={"Content-Type": content_type}))
    with platform(server.url) as http:
        assert http.call(make_call()) == value


@pytest.mark.parametrize(
    "body", [b"<html>private</html>", b"{", b'{"a": NaN}', b"\xff\xfe", b"[" * 99999]
)
def test_an_unreadable_answer_is_an_error_that_does_not_quote_it(server, make_call, body):
    server.answers(Reply(body=body, headers={"Content-Type": "text/html"}))
    with platform(server.url) as http, pytest.raises(PlatformResponseError) as caught:
        http.call(make_call())
    assert caught.value.code == "answer_unreadable"
    assert caught.value.status == 200
    assert "private" not in everything_said(caught.value)


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (b'{"a": ["x\\u0000y"]}', "NUL"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b'{"a": 1e999}', "number"),
        (b'{"a": 9223372036854775808}', "64 bit"),
        (b"[" * 70 + b"]" * 70, "nested"),
    ],
)
def test_an_answer_that_no_database_keeps_is_an_output_error(server, make_call, body, rule):
    server.answers(Reply(body=body))
    with platform(server.url) as http, pytest.raises(PlatformOutputError, match=rule) as caught:
        http.call(make_call())
    assert caught.value.node == "ctx-brand-resolve_context"


def test_a_token_that_the_platform_echoes_is_blanked_out(server, make_call):
    server.answers({"debug": f"got {RUN_TOKEN}", RUN_TOKEN: [BRIDGE]})
    with platform(server.url) as http:
        answer = http.call(make_call())
    assert answer == {"debug": "got [redacted]", "[redacted]": ["[redacted]"]}


@pytest.mark.parametrize("announced", [True, False])
def test_an_answer_over_the_size_limit_is_given_up(server, make_call, announced):
    server.answers(Reply(body=b'"' + b"x" * 5000 + b'"'))
    limit = 100 if announced else 5001
    with (
        platform(server.url, max_bytes=limit) as http,
        pytest.raises(PlatformResponseError) as caught,
    ):
        http.call(make_call())
    assert caught.value.code == "answer_too_large"


def test_an_answer_without_a_length_is_bounded_while_it_is_read(make_call):
    handed_out = []

    def endless():
        for _ in range(1000):
            handed_out.append(1)
            yield b"x" * 100

    transport = httpx2.MockTransport(lambda _r: httpx2.Response(200, content=endless()))
    with (
        httpx2.Client(transport=transport) as client,
        platform("http://base.example.com", client=client, max_bytes=1000) as http,
        pytest.raises(PlatformResponseError) as caught,
    ):
        http.call(make_call())
    assert caught.value.code == "answer_too_large"
    assert len(handed_out) == 11


def test_a_packed_answer_is_refused_because_it_was_not_asked_for(server, make_call):
    server.answers(Reply(body=b"\x1f\x8b", headers={"Content-Encoding": "gzip"}))
    with platform(server.url) as http, pytest.raises(PlatformUnreachable, match="protocol"):
        http.call(make_call())
    assert server.last.headers["accept-encoding"] == "identity"


# --------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("body", "code", "sentence"),
    [
        ({"error": "slot_missing", "message": "No such\n slot."}, "slot_missing", "No such slot."),
        ({"code": "UNKNOWN_MODEL_ID", "message": "m"}, "UNKNOWN_MODEL_ID", "m"),
        ({"error": {"code": "bad", "message": "inner"}}, "bad", "inner"),
        ({"error": "The whole sentence."}, "platform_response", "The whole sentence."),
        ({"error": "internal", "detail": "why"}, "internal", "why"),
        ({"other": "private"}, "platform_response", ""),
        (["private"], "platform_response", ""),
    ],
)
def test_an_error_status_carries_the_platforms_code_and_sentence(
    server, make_call, body, code, sentence
):
    server.answers(Reply(status=422, body=json.dumps(body).encode()))
    with platform(server.url) as http, pytest.raises(PlatformResponseError) as caught:
        http.call(make_call())
    error = caught.value
    assert (error.status, error.code) == (422, code)
    assert str(error).endswith(sentence)
    assert "422" in str(error)
    assert "private" not in everything_said(error)


@pytest.mark.parametrize(
    "code", ["NO_LLM_PROVIDER", "PREFERRED_PROVIDER_UNAVAILABLE", "CAPABILITY_UNSATISFIABLE"]
)
def test_the_503_family_shows_the_platforms_sentence_first(server, make_call, code):
    body = json.dumps({"error": code, "message": "Connect a provider first."}).encode()
    server.answers(Reply(status=503, body=body))
    with platform(server.url) as http, pytest.raises(PlatformResponseError) as caught:
        http.call(make_call())
    assert str(caught.value).startswith("Connect a provider first. (")
    assert caught.value.code == code


def test_an_error_message_is_one_line_of_at_most_300_characters(server, make_call):
    body = json.dumps({"error": "big", "message": "a\n" * 4_000}).encode()
    server.answers(Reply(status=500, body=body))
    with platform(server.url) as http, pytest.raises(PlatformResponseError) as caught:
        http.call(make_call())
    assert "\n" not in str(caught.value)
    assert len(str(caught.value).partition("big: ")[2]) == 300


def test_no_secret_is_in_any_error_or_printed_form(server, make_call):
    echo = {"error": RUN_TOKEN, "message": " ".join(CANARIES)}
    replies: list[Reply] = [
        Reply(status=403, body=json.dumps(echo).encode()),
        Reply(body=f"not json {RUN_TOKEN}".encode()),
        Reply(body=json.dumps({RUN_TOKEN: "\x00"}).encode()),
        Reply(hang_up=True),
    ]
    for reply in replies:
        server.seen.clear()
        server.answers(reply)
        with platform(server.url, retries=0) as http:
            with pytest.raises(PlatformError) as caught:
                http.call(make_call())
            assert not [secret for secret in CANARIES if secret in everything_said(caught.value)]
            shown = f"{http!r} {http._rules!r} {http.describe()!r} {make_call()!r}"
            assert not [secret for secret in CANARIES if secret in shown]


def test_a_dead_port_is_unreachable_and_the_error_names_node_and_url(server, make_call):
    dead = server.url
    server._server.socket.close()
    with platform(dead, retries=0) as http, pytest.raises(PlatformUnreachable) as caught:
        http.call(make_call())
    assert "ctx-brand-resolve_context" in str(caught.value)
    assert f"{dead}/api/llm-bridge" in str(caught.value)


def test_a_tls_error_is_named_and_not_tried_again(make_call):
    tries = []

    def fail(request: httpx2.Request) -> httpx2.Response:
        tries.append(request)
        raise httpx2.ConnectError("handshake") from ssl.SSLError("bad certificate")

    with (
        httpx2.Client(transport=httpx2.MockTransport(fail)) as client,
        platform("https://base.example.com", client=client) as http,
        pytest.raises(PlatformUnreachable, match="TLS"),
    ):
        http.call(make_call(method="GET", body=None))
    assert len(tries) == 1


# --------------------------------------------------------------------- life and twins


@pytest.mark.parametrize(
    "base", ["ftp://h", "http://user:hidden@h", "no url", "http://h?x=1", "http://h#f"]
)
def test_a_bad_base_url_is_refused_without_showing_its_password(base):
    with pytest.raises(ValueError, match="base_url") as caught:
        HttpPlatform(base)
    assert "hidden" not in everything_said(caught.value)


@pytest.mark.parametrize(
    "entry", ["crm.example.com", "https://crm.example.com/../x", "https://h/?q=1"]
)
def test_a_bad_allow_entry_is_refused(entry):
    with pytest.raises(ValueError, match="allow entry"):
        HttpPlatform("http://base.example.com", allow=[entry])


def test_a_closed_platform_refuses_instead_of_failing_strangely(server, make_call):
    http = platform(server.url)
    http.call(make_call())
    http.close()
    with pytest.raises(PlatformRefused, match="closed"):
        http.call(make_call())
    with httpx2.Client() as client:
        injected = platform(server.url, client=client)
    with pytest.raises(PlatformRefused, match="closed"):
        injected.call(make_call())


def test_the_async_twin_sends_the_same_and_reads_the_same(server, make_call):
    server.answers({"n": 1}, {"n": 1}, Reply(status=409, body=b'{"error": "c"}'))

    async def twin() -> object:
        async with platform(server.url) as http:
            answer = await http.acall(make_call(headers={"X-Own": "1"}))
            with pytest.raises(PlatformResponseError) as caught:
                await http.acall(make_call())
            assert caught.value.code == "c"
            return answer

    with platform(server.url) as http:
        first = http.call(make_call(headers={"X-Own": "1"}))
    assert asyncio.run(twin()) == first == {"n": 1}
    assert server.seen[0].headers == server.seen[1].headers
    assert server.seen[0].body == server.seen[1].body


def test_one_platform_serves_several_event_loops(server, make_call):
    http = platform(server.url)

    async def once() -> object:
        return await http.acall(make_call())

    assert [asyncio.run(once()) for _ in range(3)] == [{}, {}, {}]
    http.close()


def test_a_describe_round_trip_holds_no_secret_and_fits_the_protocol(server):
    http = platform(f"{server.url}/", allow=["https://crm.example.com/v1"], retries=1)
    assert isinstance(http, Platform)
    assert http.describe() == {
        "needs": ["CINATRA_BRIDGE_TOKEN", "CINATRA_CONTEXT_ATTEST_KEY"],
        "kind": "http",
        "base_url": server.url,
        "allow": ["https://crm.example.com/v1"],
        "timeout": 5.0,
        "retries": 1,
    }


# ------------------------------------------------------------ attacks that once worked


@pytest.mark.parametrize(
    "between",
    ["\u200b", "\x07", "\u2060", "\ufe0f", "\u034f", "\u3164", " ", "\n", "\u200b\x07\n"],
    ids=ascii,
)
@pytest.mark.parametrize("member", ["message", "error", "detail"])
def test_a_secret_with_letters_between_its_own_is_cut_out_of_an_error(
    server, make_call, between, member
):
    with platform(server.url) as http:
        for secret in CANARIES:
            echo = {"code": "denied", member: f"you sent {between.join(secret)}, sorry"}
            server.answers(Reply(status=403, body=json.dumps(echo).encode()))
            with pytest.raises(PlatformError) as caught:
                http.call(make_call())
            assert str(caught.value).endswith("denied: you sent [redacted], sorry")


@pytest.mark.parametrize("between", ["\u200b", "\x07"], ids=ascii)
def test_a_secret_in_the_place_of_a_refused_value_is_cut_out_too(server, make_call, between):
    echo = {between.join(BRIDGE): {"a": "\x00"}}
    server.answers(Reply(body=json.dumps(echo).encode()))
    with platform(server.url) as http, pytest.raises(PlatformOutputError) as caught:
        http.call(make_call())
    assert "[redacted]" in str(caught.value)
    assert BRIDGE not in "".join(letter for letter in str(caught.value) if letter.isprintable())


def test_a_secret_cut_in_half_by_the_length_limit_is_not_shown(make_call):
    """Each echo shrinks to `[redacted]`, so that what was cut at the end moves into sight."""
    rules = platform("http://base.example.com")._rules
    call = make_call(credentials=Credentials(run_token="r" * 100 + "-canary-run"))
    prepared = prepare(rules, call, now=NOW)
    for shift in range(120):
        text = "." * shift + "\u200b".join(call.credentials.run_token) * 40
        answer = Response(status=400, body=json.dumps({"message": text}).encode())
        with pytest.raises(PlatformResponseError) as caught:
            judge(prepared, answer, attempt=0, retries=0, now=NOW)
        assert "rrr" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        f"http://127.0.0.1:{BRIDGE}/x",
        f"http://[{BRIDGE}]/x",
        f"http://[::1{BRIDGE}/x",
        "https://elsewhere.example.com/x",
    ],
)
def test_a_refused_call_keeps_no_other_exception_in_its_chain(make_call, url):
    with (
        platform("http://base.example.com") as http,
        pytest.raises(PlatformRefused) as caught,
    ):
        http.call(make_call(url=url))
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


def test_a_refused_address_body_or_entry_keeps_no_other_exception_in_its_chain(make_call):
    outside = MachineServices(sleep=no_sleep, resolve=lambda _h, _p: [ip_address("192.0.0.192")])
    http = platform("http://b.example.com", allow=["http://c.example.com"], surroundings=outside)
    errors: list[BaseException] = []
    with http:
        with pytest.raises(PlatformRefused, match="special-purpose") as by_address:
            http.call(make_call(url="http://c.example.com/x"))
        with pytest.raises(PlatformRefused, match="NaN") as by_body:
            http.call(make_call(body={"x": float("nan")}))
        with pytest.raises(ValueError, match="allow entry") as by_entry:
            HttpPlatform("http://b.example.com", allow=[f"http://h:{BRIDGE}/"])
    errors += [by_address.value, by_body.value, by_entry.value]
    assert [(error.__context__, error.__cause__) for error in errors] == [(None, None)] * 3


def test_the_loggers_of_the_client_write_no_header_url_or_reason_of_an_answer(
    server, make_call, caplog
):
    caplog.set_level(logging.DEBUG)  # of the root: what a host does to see everything
    server.answers(Reply(headers={"Set-Cookie": BRIDGE, "Location": RUN_TOKEN}))
    with platform(server.url) as http:
        http.call(make_call("/api/x?q=query-secret"))
        asyncio.run(http.acall(make_call("/api/x?q=query-secret")))
    assert len(server.seen) == 2
    said = [f"{record.name}: {record.getMessage()}" for record in caplog.records]
    assert not [line for line in said if line.startswith(("httpcore2", "httpx2"))]
    assert not [secret for secret in (*CANARIES, "query-secret") if secret in str(said)]


@pytest.mark.parametrize(
    ("name", "level"),
    [("httpx2", logging.INFO), ("httpcore2", logging.DEBUG), ("httpcore2.http11", logging.DEBUG)],
)
def test_a_host_that_sets_a_level_by_name_gets_the_records_of_that_logger(
    server, make_call, caplog, name, level
):
    with caplog.at_level(level, logger=name), platform(server.url) as http:
        http.call(make_call("/api/x"))
    assert {record.name.partition(".")[0] for record in caplog.records} == {name.partition(".")[0]}


def test_what_the_host_calls_itself_with_the_same_client_stays_in_its_log(
    server, make_call, caplog
):
    caplog.set_level(logging.INFO)
    with httpx2.Client(trust_env=False) as client:
        with platform(server.url, client=client) as http:
            http.call(make_call("/api/x"))
        client.get(f"{server.url}/of-the-host")
    said = [record.getMessage() for record in caplog.records if record.name == "httpx2"]
    assert len(said) == 1
    assert "/of-the-host" in said[0]


@pytest.mark.parametrize(
    "name", ["X_Cinatra_Run_Token", "x_cinatra-step_node", "X-Cinatra_Bridge_Token"]
)
def test_an_underscore_does_not_get_a_reserved_header_past_the_filter(
    server, other, make_call, name
):
    with platform(server.url, allow=[other.url]) as http:
        for origin in (server.url, other.url):
            with pytest.raises(PlatformRefused, match="only the host"):
                http.call(make_call(url=f"{origin}/x", headers={name: "forged"}))
    assert not server.seen
    assert not other.seen


@pytest.mark.parametrize("name", ["Content_Length", "transfer_Encoding", "proxy_authorization"])
def test_an_underscore_does_not_get_a_framing_header_past_the_filter(server, make_call, name):
    with platform(server.url) as http, pytest.raises(PlatformRefused, match="cannot set"):
        http.call(make_call(headers={name: "1"}))
    assert not server.seen


@pytest.mark.parametrize("path", ["/v1/..;/admin", "/v1/%c0%ae%c0%ae/admin"])
def test_a_disguised_dot_segment_under_an_allowed_prefix_is_not_sent(
    server, other, make_call, path
):
    with platform(server.url, allow=[f"{other.url}/v1"]) as http, pytest.raises(PlatformRefused):
        http.call(make_call(url=other.url + path))
    assert not other.seen


@pytest.mark.parametrize(
    "drip", [b"HTTP/1.1 100 Continue\r\n\r\n", b"X"], ids=["100 Continue", "head"]
)
def test_an_async_attempt_ends_at_its_deadline_whatever_the_server_drips(make_call, drip):
    enough = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection, contextlib.suppress(OSError):
                while not enough.wait(0.02):
                    connection.sendall(drip)

        thread = threading.Thread(target=serve)
        thread.start()

        async def once() -> None:
            url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            async with platform(url, timeout=0.2, retries=0) as http:
                # Without a deadline nothing ends but this.
                await asyncio.wait_for(http.acall(make_call()), timeout=10)

        try:
            with pytest.raises(PlatformUnreachable, match="in time"):
                asyncio.run(once())
        finally:
            enough.set()
            thread.join()
