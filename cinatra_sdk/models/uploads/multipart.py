r"""A form with one file, as the body of a request that is never whole in memory.

    form = FormBody(file, fields={"purpose": "user_data"}, boundary="b")
    form.content_type    'multipart/form-data; boundary=b'
    list(form)           [b'--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n…', b'abc', …]

The names of files are strangers' words in a head of lines, so what ends a line or a quoted name is
escaped, as browsers do it.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from typing import Final

from cinatra_sdk.attachments.file_names import name_file
from cinatra_sdk.attachments.one_line import write_one_line
from cinatra_sdk.models.uploads.file import FileToUpload

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
