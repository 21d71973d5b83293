"""Files uploaded to the providers of models, one class for each provider: a file in, the provider's id of it out.

    AnthropicFiles(api_key).upload(file)    POST /v1/files   ->  provider_file_id "file_…"    (in beta)

A store's ports (`cinatra_sdk.store.artifacts.attachment_store`) call these; a host lends one for each provider whose
key it has.  Each exchange is one request (`ProviderClient`), and a JSON object comes back:

    UploadFailed: openai refused the file with HTTP 401 (invalid_api_key)

The answer of a provider may quote the key, and the text of an error may reach a model.  So no key is in an
error, a log or a repr, and an error holds the status and a short code alone.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from functools import cache
from typing import Any, Final, Protocol

import httpx2
from pydantic import JsonValue

from cinatra_sdk.attachments import find_provider
from cinatra_sdk.attachments.content_blocks import FILES_BETA
from cinatra_sdk.attachments.manifest import name_file, write_one_line
from cinatra_sdk.attachments.uploads import CachedFile
from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.errors import FlowError
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.http_exchange import unrecorded
from cinatra_sdk.outside.models.config import ModelConfig

TIMEOUT: Final = 60.0
"""Seconds for each wait of an exchange: to connect, and for each part that is read or written."""
MOST_BYTES: Final = 1024 * 1024
"""Bytes of an answer that are read."""
_WORD: Final = re.compile(r"[A-Za-z][A-Za-z_]{0,59}")


class UploadFailed(FlowError):
    """A provider did not take a file; the text is safe to show to a model."""

    code = "upload_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderAnswer:
    """What a provider answered; names of headers in small letters."""

    headers: Mapping[str, str]
    body: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderClient:
    """The exchanges with one provider, under one key; safe to share between threads."""

    provider: str
    base_url: str
    headers: Mapping[str, str] = field(repr=False)
    """Of every request, with the key."""
    client: httpx2.Client | None = field(default=None, repr=False)
    """A client of the host's; None: one for each exchange."""
    timeout: float = TIMEOUT

    def send(
        self,
        method: str,
        url: str,
        *,
        content: Iterable[bytes] | bytes = b"",
        headers: Mapping[str, str] | None = None,
        with_key: bool = True,
    ) -> ProviderAnswer:
        """Raises: `UploadFailed`; what `content` raises."""
        lent = self.client or httpx2.Client(
            trust_env=False, verify=_make_ssl_context(), timeout=self.timeout
        )
        try:
            with unrecorded():
                said = {**(self.headers if with_key else {}), **(headers or {})}
                request = lent.build_request(method, url, content=content, headers=said)
                return self._exchange(lent, request)
        finally:
            if lent is not self.client:
                lent.close()

    def _exchange(self, client: httpx2.Client, request: httpx2.Request) -> ProviderAnswer:
        cause = ""
        try:
            response = client.send(request, stream=True, auth=None, follow_redirects=False)
            try:
                text = _read_text(response)
            finally:
                response.close()
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            cause = type(error).__name__
        # Raised out here: the client's error holds the request, and so the key.
        if cause:
            raise UploadFailed(f"{self.provider} could not be reached: {cause}")
        body = _read_object(text)
        if not response.is_success:
            word = _find_word(body)
            said = f" ({word})" if word else ""
            raise UploadFailed(
                f"{self.provider} refused the file with HTTP {response.status_code}{said}"
            )
        return ProviderAnswer(headers=dict(response.headers), body=body)

    def fail(self, rule: str) -> UploadFailed:
        """An error about an answer that cannot be used."""
        return UploadFailed(f"{self.provider} {rule}")


@cache
def _make_ssl_context() -> ssl.SSLContext:
    # Read once: it holds every certificate of the machine.
    return httpx2.create_ssl_context(trust_env=True)


def check_key(provider: str, key: str) -> str:
    """The key, where a header can hold it.

    Raises: `ValueError`, which does not quote it.
    """
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError(f"the key for {provider} is empty, or holds what no header takes")
    return key


def _read_text(response: httpx2.Response) -> str:
    read = bytearray()
    for chunk in response.iter_bytes():
        read += chunk
        if len(read) > MOST_BYTES:
            return ""
    return read.decode("utf-8", errors="replace")


def _read_object(text: str) -> dict[str, JsonValue]:
    try:
        value = read_json(text)
    except NotStrictJson:
        return {}
    return value if isinstance(value, dict) else {}


def _find_word(body: Mapping[str, Any]) -> str:
    """The provider's word for what is wrong, such as `invalid_api_key`; empty where it is none."""
    told = body.get("error")
    for key in ("code", "status", "type"):
        word = told.get(key) if isinstance(told, Mapping) else None
        if isinstance(word, str) and _WORD.fullmatch(word):
            return word
    return ""


def read_text(answer: ProviderAnswer, *path: str) -> str:
    """The text at a place of the answer; empty where there is none."""
    value: Any = answer.body
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else ""


# ----------------------------------------------------------------------------
# A file on its way to a provider, and the one method that takes it.
#
# `files.upload(FileToUpload(name="plan.pdf", mime="application/pdf", size=3, chunks=[b"abc"]))`
#     -> CachedFile(provider_file_id="file-1", mime="application/pdf", size_bytes=3)


@dataclass(frozen=True, slots=True, kw_only=True)
class FileToUpload:
    """The bytes of one revision of a file, with the type that the store has for it."""

    name: str
    """As a person or the store calls it; see `cinatra_sdk.attachments.manifest`."""
    mime: str
    size: int
    """Exactly the bytes that `chunks` gives."""
    chunks: Iterable[bytes] = field(repr=False)
    """Read once, from the first byte to the last; what it raises ends the upload."""


class ProviderFiles(Protocol):
    """The files at one provider under one key."""

    def upload(self, file: FileToUpload) -> CachedFile:
        """Upload the file, and wait until a request can name it.

        Raises: `UploadFailed`, whose text is safe to show.
        """


# ----------------------------------------------------------------------------
# A form with one file, as the body of a request that is never whole in memory.
#
#     `form = FormBody(file, fields={"purpose": "user_data"}, boundary="b")`
#     form.content_type    'multipart/form-data; boundary=b'
#     list(form)           [b'--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n…', b'abc', …]
#
# The names of files are strangers' words in a head of lines, so what ends a line or a quoted name is
# escaped, as browsers do it.


_ESCAPES: Final = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})


class FormBody:
    """The bytes of the form; gives them once, as the file gives its own."""

    def __init__(
        self, file: FileToUpload, *, fields: Mapping[str, str] | None = None, boundary: str = ""
    ) -> None:
        """boundary: what stands between the parts; empty: made by chance, so that no file holds it."""
        self._file = file
        self._boundary = boundary or secrets.token_hex(16)
        self._head = self._write_head(fields or {}).encode()
        self._tail = f"\r\n--{self._boundary}--\r\n".encode()

    @property
    def content_type(self) -> str:
        return f"multipart/form-data; boundary={self._boundary}"

    @property
    def length(self) -> int:
        """Bytes of the whole body."""
        return len(self._head) + self._file.size + len(self._tail)

    def __iter__(self) -> Iterator[bytes]:
        yield self._head
        yield from self._file.chunks
        yield self._tail

    def _write_head(self, fields: Mapping[str, str]) -> str:
        head = "".join(
            f'--{self._boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()
        )
        name = name_file(self._file.name, self._file.mime).translate(_ESCAPES)
        mime = write_one_line(self._file.mime, most=200)
        return (
            f"{head}--{self._boundary}\r\n"
            f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n'
            f"Content-Type: {mime}\r\n\r\n"
        )


ANTHROPIC_URL: Final = "https://api.anthropic.com"
VERSION: Final = "2023-06-01"


class AnthropicFiles:
    """The files of one key."""

    def __init__(
        self,
        api_key: str,
        *,
        base_url: str = ANTHROPIC_URL,
        client: httpx2.Client | None = None,
        boundary: str = "",
    ) -> None:
        """boundary: of the form, for a body that is the same each time; see `FormBody`."""
        headers = {
            "x-api-key": check_key("anthropic", api_key),
            "anthropic-version": VERSION,
            "anthropic-beta": FILES_BETA,
        }
        self._client = ProviderClient(
            provider="anthropic", base_url=base_url.rstrip("/"), headers=headers, client=client
        )
        self._boundary = boundary

    def upload(self, file: FileToUpload) -> CachedFile:
        form = FormBody(file, boundary=self._boundary)
        answer = self._client.send(
            "POST",
            f"{self._client.base_url}/v1/files",
            content=form,
            headers={"Content-Type": form.content_type, "Content-Length": str(form.length)},
        )
        file_id = read_text(answer, "id")
        if not file_id:
            raise self._client.fail("answered without the id of the file")
        return CachedFile(provider_file_id=file_id, mime=file.mime, size_bytes=file.size)


# ----------------------------------------------------------------------------
# Gemini's files: an upload in two steps, then a wait until the file can be used.
#
#     `GeminiFiles(api_key).upload(file)`
#         POST /upload/v1beta/files             start: the answer names where the bytes go
#         POST (there)                          upload, finalize  ->  name, uri, state
#         GET  /v1beta/files/abc                while the state is PROCESSING: after 0.5, 1, 2, 4, 5, 5 … s
#         -> CachedFile(provider_file_id="https://…/v1beta/files/abc", …)
#
# A request names the file by its URI.  A request that names a file that is still PROCESSING is answered
# without it, and nobody is told; so the wait belongs to the upload.


GEMINI_URL: Final = "https://generativelanguage.googleapis.com"
FIRST_WAIT: Final = 0.5
LONGEST_WAIT: Final = 5.0
DEADLINE: Final = 60.0
"""Seconds of waiting after which a file that is still processed is given up."""
_NAME: Final = re.compile(r"files/[A-Za-z0-9._-]{1,200}")
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")


class GeminiFiles:
    """The files of one key."""

    def __init__(
        self,
        api_key: str,
        *,
        base_url: str = GEMINI_URL,
        client: httpx2.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """sleep, monotonic: the machine's clock, in seconds; tests replace it."""
        headers = {"x-goog-api-key": check_key("gemini", api_key)}
        self._client = ProviderClient(
            provider="gemini", base_url=base_url.rstrip("/"), headers=headers, client=client
        )
        self._sleep = sleep
        self._monotonic = monotonic

    def upload(self, file: FileToUpload) -> CachedFile:
        sent = self._client.send(
            "POST",
            self._begin(file),
            content=file.chunks,
            headers={
                "Content-Length": str(file.size),
                "X-Goog-Upload-Offset": "0",
                "X-Goog-Upload-Command": "upload, finalize",
            },
            with_key=False,  # the address is of this one upload, and holds its own right
        )
        name, state = read_text(sent, "file", "name"), read_text(sent, "file", "state")
        uri = read_text(sent, "file", "uri")
        if not _NAME.fullmatch(name):
            raise self._client.fail("answered without the name of the file")
        if state != "ACTIVE":
            uri = self._wait(name, state)
        if not _URI.fullmatch(uri):
            raise self._client.fail("answered without the URI of the file")
        return CachedFile(provider_file_id=uri, mime=file.mime, size_bytes=file.size)

    def _begin(self, file: FileToUpload) -> str:
        """Announce the file; out: the address that takes its bytes."""
        about = {"file": {"display_name": name_file(file.name, file.mime)}}
        answer = self._client.send(
            "POST",
            f"{self._client.base_url}/upload/v1beta/files",
            content=json.dumps(about).encode(),
            headers={
                "Content-Type": "application/json",
                "X-Goog-Upload-Protocol": "resumable",
                "X-Goog-Upload-Command": "start",
                "X-Goog-Upload-Header-Content-Length": str(file.size),
                "X-Goog-Upload-Header-Content-Type": write_one_line(file.mime, most=200),
            },
        )
        address = answer.headers.get("x-goog-upload-url", "")
        if not _is_of(address, self._client.base_url):
            raise self._client.fail("named no address of its own for the bytes")
        return address

    def _wait(self, name: str, state: str) -> str:
        """Ask for the file until it is ACTIVE; out: its URI."""
        begun, wait = self._monotonic(), FIRST_WAIT
        while True:
            if state == "FAILED":
                raise self._client.fail("could not process the file")
            left = DEADLINE - (self._monotonic() - begun)
            if left <= 0:
                raise self._client.fail(f"still processes the file after {DEADLINE:.0f} seconds")
            self._sleep(min(wait, left))
            wait = min(wait * 2, LONGEST_WAIT)
            told: ProviderAnswer = self._client.send(
                "GET", f"{self._client.base_url}/v1beta/{name}"
            )
            state = read_text(told, "state")
            if state == "ACTIVE":
                return read_text(told, "uri")


def _is_of(address: str, base_url: str) -> bool:
    """Whether the address is of the provider: bytes go nowhere else, whatever an answer says."""
    try:
        there, here = httpx2.URL(address), httpx2.URL(base_url)
    except httpx2.InvalidURL:
        return False
    return (there.scheme, there.host, there.port) == (here.scheme, here.host, here.port)


# ----------------------------------------------------------------------------
# OpenAI's files: a form in, the id of a file out.
#
# OpenAiFiles(api_key).upload(file)    POST /files, purpose user_data   ->  provider_file_id "file-…"


OPENAI_URL: Final = "https://api.openai.com/v1"
PURPOSE: Final = "user_data"
"""OpenAI's word for files that a question names."""


class OpenAiFiles:
    """The files of one key."""

    def __init__(
        self,
        api_key: str,
        *,
        base_url: str = OPENAI_URL,
        client: httpx2.Client | None = None,
        boundary: str = "",
    ) -> None:
        """boundary: of the form, for a body that is the same each time; see `FormBody`."""
        headers = {"Authorization": f"Bearer {check_key('openai', api_key)}"}
        self._client = ProviderClient(
            provider="openai", base_url=base_url.rstrip("/"), headers=headers, client=client
        )
        self._boundary = boundary

    def upload(self, file: FileToUpload) -> CachedFile:
        form = FormBody(file, fields={"purpose": PURPOSE}, boundary=self._boundary)
        answer = self._client.send(
            "POST",
            f"{self._client.base_url}/files",
            content=form,
            headers={"Content-Type": form.content_type, "Content-Length": str(form.length)},
        )
        file_id = read_text(answer, "id")
        if not file_id:
            raise self._client.fail("answered without the id of the file")
        return CachedFile(provider_file_id=file_id, mime=file.mime, size_bytes=file.size)


# ----------------------------------------------------------------------------
# The client that uploads files for a model, with the key under which the model is asked.
#
#     open_provider_files(ModelConfig(provider="openai", model="gpt-5"), "sk-…")   ->   OpenAiFiles(…)
#     open_provider_files(ModelConfig(provider="vllm", model="llama"), "")         ->   None
#
# Bytes go to the provider that answers, and to no other: where the client of the provider is led to another
# address, its key is not the provider's, and nothing is uploaded.


@dataclass(frozen=True, slots=True)
class _Provider:
    files: Callable[[str], ProviderFiles]
    elsewhere: tuple[str, ...]
    """Variables by which the provider's client is led to another address."""


_PROVIDERS: Final[Mapping[str, _Provider]] = {
    "openai": _Provider(OpenAiFiles, ("OPENAI_BASE_URL", "OPENAI_API_BASE")),
    "anthropic": _Provider(AnthropicFiles, ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL")),
    "gemini": _Provider(GeminiFiles, ("GOOGLE_GEMINI_BASE_URL",)),
}


def open_provider_files(config: ModelConfig, key: str) -> dict[str, ProviderFiles]:
    """The client under the provider's name in the rules; empty where nothing can be uploaded."""
    provider = find_provider(config.provider)
    known = _PROVIDERS.get(provider)
    if known is None or config.url or not key:
        return {}
    if any(os.environ.get(name) for name in known.elsewhere):
        return {}
    try:
        return {provider: known.files(key)}
    except ValueError:  # a key that no header takes
        return {}
