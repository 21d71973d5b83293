"""Files uploaded to providers: every byte of the requests, against a server that writes them down."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from cinatra_sdk.attachments import CachedFile
from cinatra_sdk.outside.models.uploads import (
    AnthropicFiles,
    FileToUpload,
    GeminiFiles,
    OpenAiFiles,
    UploadFailed,
)
from tests.platform.loopback_server import LoopbackServer, Reply

KEY = "canary-provider-key-8d1c"


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    loopback = LoopbackServer()
    yield loopback
    loopback.close()


def file(**changes: Any) -> FileToUpload:
    given: dict[str, Any] = {
        "name": "Plan", "mime": "application/pdf", "size": 6, "chunks": iter([b"abc", b"def"]),
    }  # fmt: skip
    return FileToUpload(**given | changes)


@dataclass
class Clock:
    """Time that passes only while somebody sleeps."""

    now: float = 100.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def monotonic(self) -> float:
        return self.now


def openai(server: LoopbackServer) -> OpenAiFiles:
    return OpenAiFiles(KEY, base_url=f"{server.url}/v1", boundary="b")


def anthropic(server: LoopbackServer) -> AnthropicFiles:
    return AnthropicFiles(KEY, base_url=server.url, boundary="b")


def gemini(server: LoopbackServer, clock: Clock | None = None) -> GeminiFiles:
    clock = clock or Clock()
    return GeminiFiles(KEY, base_url=server.url, sleep=clock.sleep, monotonic=clock.monotonic)


def began(server: LoopbackServer, url: str = "") -> Reply:
    """Gemini's answer to the first step."""
    return Reply(headers={"X-Goog-Upload-URL": url or f"{server.url}/upload/here?id=7"})


def found(state: str, **more: Any) -> dict[str, Any]:
    return {
        "name": "files/abc",
        "uri": "https://g.example/v1beta/files/abc",
        "state": state,
        **more,
    }


OPENAI_BODY = (
    b"--b\r\n"
    b'Content-Disposition: form-data; name="purpose"\r\n\r\n'
    b"user_data\r\n"
    b"--b\r\n"
    b'Content-Disposition: form-data; name="file"; filename="Plan.pdf"\r\n'
    b"Content-Type: application/pdf\r\n\r\n"
    b"abcdef\r\n"
    b"--b--\r\n"
)
ANTHROPIC_BODY = (
    b"--b\r\n"
    b'Content-Disposition: form-data; name="file"; filename="Plan.pdf"\r\n'
    b"Content-Type: application/pdf\r\n\r\n"
    b"abcdef\r\n"
    b"--b--\r\n"
)


def test_openai_gets_a_form_with_the_purpose_and_the_file(server: LoopbackServer) -> None:
    server.answers({"id": "file-1", "object": "file", "bytes": 6})
    assert openai(server).upload(file()) == CachedFile(
        provider_file_id="file-1", mime="application/pdf", size_bytes=6
    )
    (seen,) = server.seen
    assert (seen.method, seen.path, seen.body) == ("POST", "/v1/files", OPENAI_BODY)
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.headers["content-type"] == "multipart/form-data; boundary=b"
    assert seen.headers["content-length"] == str(len(OPENAI_BODY))
    assert "transfer-encoding" not in seen.headers


def test_anthropic_gets_a_form_with_the_file_and_the_word_for_the_beta(
    server: LoopbackServer,
) -> None:
    server.answers({"id": "file_1", "type": "file", "size_bytes": 6})
    assert anthropic(server).upload(file()).provider_file_id == "file_1"
    (seen,) = server.seen
    assert (seen.method, seen.path, seen.body) == ("POST", "/v1/files", ANTHROPIC_BODY)
    assert seen.headers["x-api-key"] == KEY
    assert seen.headers["anthropic-version"] == "2023-06-01"
    assert seen.headers["anthropic-beta"] == "files-api-2025-04-14"
    assert "authorization" not in seen.headers


def test_gemini_is_told_of_the_file_first_and_gets_its_bytes_then(server: LoopbackServer) -> None:
    clock = Clock()
    server.answers(began(server), {"file": found("ACTIVE")})
    assert gemini(server, clock).upload(file()) == CachedFile(
        provider_file_id="https://g.example/v1beta/files/abc", mime="application/pdf", size_bytes=6
    )
    start, sent = server.seen
    assert (start.method, start.path) == ("POST", "/upload/v1beta/files")
    assert start.body == b'{"file": {"display_name": "Plan.pdf"}}'
    assert start.headers["x-goog-api-key"] == KEY
    assert start.headers["x-goog-upload-protocol"] == "resumable"
    assert start.headers["x-goog-upload-command"] == "start"
    assert start.headers["x-goog-upload-header-content-length"] == "6"
    assert start.headers["x-goog-upload-header-content-type"] == "application/pdf"
    assert (sent.method, sent.path, sent.body) == ("POST", "/upload/here?id=7", b"abcdef")
    assert sent.headers["content-length"] == "6"
    assert sent.headers["x-goog-upload-offset"] == "0"
    assert sent.headers["x-goog-upload-command"] == "upload, finalize"
    assert "x-goog-api-key" not in sent.headers
    assert clock.slept == []


def test_gemini_is_asked_until_the_file_can_be_used(server: LoopbackServer) -> None:
    clock = Clock()
    busy = found("PROCESSING", uri="")
    server.answers(began(server), {"file": busy}, busy, busy, busy, busy, busy, found("ACTIVE"))
    uploaded = gemini(server, clock).upload(file())
    assert uploaded.provider_file_id == "https://g.example/v1beta/files/abc"
    assert clock.slept == [0.5, 1.0, 2.0, 4.0, 5.0, 5.0]
    asked = server.seen[2:]
    assert {(seen.method, seen.path) for seen in asked} == {("GET", "/v1beta/files/abc")}
    assert {seen.headers["x-goog-api-key"] for seen in asked} == {KEY}


def test_gemini_is_given_up_after_a_minute(server: LoopbackServer) -> None:
    clock = Clock()
    server.answers(began(server), {"file": found("PROCESSING")}, found("PROCESSING"))
    with pytest.raises(UploadFailed, match="gemini still processes the file after 60 seconds"):
        gemini(server, clock).upload(file())
    assert sum(clock.slept) == 60.0
    assert clock.slept[-2:] == [5.0, 2.5]


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ([{"file": found("FAILED")}], "gemini could not process the file"),
        ([{"file": found("PROCESSING")}, found("FAILED")], "gemini could not process the file"),
        ([{"file": found("ACTIVE", name="")}], "gemini answered without the name of the file"),
        ([{"file": found("ACTIVE", name="../x")}], "gemini answered without the name of the file"),
        ([{}], "gemini answered without the name of the file"),
        ([{"file": found("ACTIVE", uri="")}], "gemini answered without the URI of the file"),
        ([{"file": found("ACTIVE", uri="files/a")}], "gemini answered without the URI of the file"),
    ],
)
def test_gemini_s_answers_that_cannot_be_used(
    server: LoopbackServer, answers: list[Any], says: str
) -> None:
    server.answers(began(server), *answers)
    with pytest.raises(UploadFailed, match=says):
        gemini(server).upload(file())


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/x", "https://evil.example/x", "nonsense", "::"]
)
def test_the_bytes_go_to_no_other_server_whatever_gemini_names(
    server: LoopbackServer, url: str
) -> None:
    server.answers(began(server, url))
    with pytest.raises(UploadFailed, match="named no address of its own"):
        gemini(server).upload(file())
    assert len(server.seen) == 1


PROVIDERS = {"openai": openai, "anthropic": anthropic, "gemini": gemini}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_error_tells_the_status_and_the_word_and_never_the_key(
    server: LoopbackServer, provider: str
) -> None:
    told = {"error": {"code": "invalid_api_key", "message": f"Incorrect API key: {KEY}"}}
    server.replies = [Reply(status=401, body=json.dumps(told).encode())]
    with pytest.raises(UploadFailed) as failed:
        PROVIDERS[provider](server).upload(file())
    assert str(failed.value) == f"{provider} refused the file with HTTP 401 (invalid_api_key)"
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b'{"error": "x"}', json.dumps({"error": {"code": KEY}}).encode()],
)
def test_an_answer_of_any_other_form_tells_the_status_alone(
    server: LoopbackServer, provider: str, body: bytes
) -> None:
    server.replies = [Reply(status=503, body=body)]
    with pytest.raises(UploadFailed) as failed:
        PROVIDERS[provider](server).upload(file())
    assert str(failed.value) == f"{provider} refused the file with HTTP 503"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_server_that_hangs_up_is_told_without_the_request(
    server: LoopbackServer, provider: str
) -> None:
    server.replies = [Reply(hang_up=True)]
    with pytest.raises(UploadFailed) as failed:
        PROVIDERS[provider](server).upload(file())
    assert str(failed.value).startswith(f"{provider} could not be reached: ")
    assert failed.value.__cause__ is None
    assert failed.value.__context__ is None


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_redirect_is_not_followed(server: LoopbackServer, provider: str) -> None:
    server.replies = [Reply(status=307, headers={"Location": f"{server.url}/elsewhere"})]
    with pytest.raises(UploadFailed, match="HTTP 307"):
        PROVIDERS[provider](server).upload(file())
    assert len(server.seen) == 1


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_an_answer_without_an_id_is_a_failure(server: LoopbackServer, provider: str) -> None:
    server.answers({"object": "file"})
    with pytest.raises(UploadFailed, match="without the id"):
        PROVIDERS[provider](server).upload(file())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_goes_wrong_while_the_bytes_are_read_comes_out_as_it_is(
    server: LoopbackServer, provider: str
) -> None:
    def broken() -> Iterator[bytes]:
        yield b"abc"
        raise LookupError("the bytes are gone")

    server.replies = [began(server)]
    with pytest.raises(LookupError, match="the bytes are gone"):
        PROVIDERS[provider](server).upload(file(chunks=broken()))


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_the_name_and_the_type_of_a_file_cannot_write_a_head_of_their_own(
    server: LoopbackServer, provider: str
) -> None:
    server.answers({"id": "file-1"})
    evil = file(name='a"; x="\r\nX-Evil: 1\r\n\r\n--b--', mime="text/plain\r\nX-Evil: 2")
    PROVIDERS[provider](server).upload(evil)
    head = server.last.body.split(b"\r\n\r\n")[-2]
    assert b'filename="a%22; x=%22 X-Evil: 1 --b--"' in head
    assert b"Content-Type: text/plain X-Evil: 2" in head
    assert b"\r\nX-Evil" not in server.last.body


def test_no_key_is_logged_and_none_is_shown(
    server: LoopbackServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.answers({"id": "file-1"})
    lent = openai(server)
    lent.upload(file())
    assert KEY not in caplog.text
    assert KEY not in repr(lent)
    assert KEY not in repr(lent._client)


@pytest.mark.parametrize("key", ["", "a b", "a\nb", "schlüssel"])
@pytest.mark.parametrize("kind", [OpenAiFiles, AnthropicFiles, GeminiFiles])
def test_a_key_that_no_header_takes_is_refused_without_being_quoted(kind: Any, key: str) -> None:
    with pytest.raises(ValueError, match="what no header takes") as refused:
        kind(key)
    assert not key or key not in str(refused.value)
