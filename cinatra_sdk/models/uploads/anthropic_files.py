"""Anthropic's files, which are in beta: a form in, the id of a file out.

AnthropicFiles(api_key).upload(file)    POST /v1/files   ->  provider_file_id "file_…"
"""

from __future__ import annotations

from typing import Final

import httpx2

from cinatra_sdk.attachments.parts import FILES_BETA
from cinatra_sdk.attachments.ports import CachedFile
from cinatra_sdk.models.uploads.client import ProviderClient, check_key, read_text
from cinatra_sdk.models.uploads.file import FileToUpload
from cinatra_sdk.models.uploads.multipart import FormBody

URL: Final = "https://api.anthropic.com"
VERSION: Final = "2023-06-01"


class AnthropicFiles:
    """The files of one key."""

    def __init__(
        self,
        api_key: str,
        *,
        base_url: str = URL,
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
