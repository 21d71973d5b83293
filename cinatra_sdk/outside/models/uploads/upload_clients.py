"""The files of Anthropic, Gemini and OpenAI: a file in, the provider's id of it out.

AnthropicFiles(api_key).upload(file)    POST /v1/files   ->  provider_file_id "file_…"    (in beta)
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import httpx2

from cinatra_sdk.attachments import find_provider
from cinatra_sdk.attachments.content_blocks import FILES_BETA
from cinatra_sdk.attachments.manifest import name_file, write_one_line
from cinatra_sdk.attachments.uploads import CachedFile
from cinatra_sdk.outside.models.config import ModelConfig
from cinatra_sdk.outside.models.uploads.upload_request import (
    FileToUpload,
    FormBody,
    ProviderAnswer,
    ProviderClient,
    ProviderFiles,
    check_key,
    read_text,
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
