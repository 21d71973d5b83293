"""OpenAI's files: a form in, the id of a file out.

OpenAiFiles(api_key).upload(file)    POST /files, purpose user_data   ->  provider_file_id "file-…"
"""

from __future__ import annotations

from typing import Final

import httpx2

from cinatra_sdk.attachments.ports import CachedFile
from cinatra_sdk.models.uploads.client import ProviderClient, check_key, read_text
from cinatra_sdk.models.uploads.file import FileToUpload
from cinatra_sdk.models.uploads.multipart import FormBody

URL: Final = "https://api.openai.com/v1"
PURPOSE: Final = "user_data"
"""OpenAI's word for files that a question names."""


class OpenAiFiles:
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
