"""One exchange with a provider's files: a request out, a JSON object in.

    ProviderClient(provider="openai", base_url="https://api.openai.com/v1", headers={…}).send(
        "POST", "https://api.openai.com/v1/files", content=form, headers={…})
        -> ProviderAnswer(headers={…}, body={"id": "file-1", …})
        -> UploadFailed: openai refused the file with HTTP 401 (invalid_api_key)

The answer of a provider may quote the key, and the text of an error may reach a model.  So an error holds
the status and the provider's short word for the error, and nothing else of the answer.
"""

from __future__ import annotations

import re
import secrets
import ssl
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, Protocol

import httpx2
from pydantic import JsonValue

from cinatra_sdk.attachments.manifest import name_file, write_one_line
from cinatra_sdk.attachments.uploads import CachedFile
from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.errors import FlowError
from cinatra_sdk.outside.platform.http_exchange import unrecorded

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
