"""Folders below which no symbolic link is followed, and their files, read in pieces.

    with UnlinkedFolder("work").opened("img-7/log.jsonl") as file:
        file.read_at(file.size - 4_096, 4_096)      the file's last 4,096 bytes

    UnlinkedFolder("work").opened("img-7/log.jsonl")    OSError where `img-7` or the file is a link

The folder itself may be reached by a link: the host names it.  Every name below it is opened from
the descriptor of the folder before it, so a name that changes meanwhile leads nowhere else.
`cinatra_sdk.text.files.Folder` follows links that stay in its folder; names that a model or a
person gives are better served by none at all.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Protocol

from cinatra_sdk.text.files import HAS_DIR_FD, open_folder, open_ordinary, refuse_file

BLOCK: Final = 65_536
"""Bytes that are read at once."""


class Readable(Protocol):
    """A file of a known size, of which any piece can be read."""

    @property
    def size(self) -> int: ...

    def read_at(self, offset: int, most: int) -> bytes:
        """At most `most` bytes from `offset`; fewer where the file ends or was cut meanwhile."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenFile:
    """An ordinary file that is open for reading."""

    descriptor: int
    size: int
    """When it was opened: what is appended later is not read."""

    def read_at(self, offset: int, most: int) -> bytes:
        return os.pread(self.descriptor, max(0, min(most, self.size - offset)), offset)


class UnlinkedFolder:
    """A folder, and what lies below it without any link."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    @contextmanager
    def opened(self, name: str) -> Iterator[OpenFile]:
        """A file below the folder, by names with `/` between them.

        Raises: `OSError`, also for anything but an ordinary file.
        """
        with self.entered(_parent_of(name)) as folder:
            descriptor = open_ordinary(_last_of(name), folder, follow=False)
        try:
            yield OpenFile(descriptor=descriptor, size=os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)

    @contextmanager
    def entered(self, name: str = "") -> Iterator[int]:
        """The descriptor of a folder below this one; of this one where the name is empty.

        Raises: `OSError`.
        """
        descriptor = self._enter(name)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def holds_folder(self, name: str) -> bool:
        """Whether `name` is a folder that can be entered without a link; never raises."""
        try:
            with self.entered(name) as folder:
                return stat.S_ISDIR(os.fstat(folder).st_mode)
        except OSError:
            return False

    def _enter(self, name: str) -> int:
        if not HAS_DIR_FD:
            refuse_file(errno.ENOSYS, "this system cannot enter a folder without following links")
        if "\0" in self.path:
            refuse_file(errno.EINVAL, "this is no file name")
        descriptor = open_folder(self.path, None, follow=True)
        for part in name.split("/") if name else ():
            try:
                inner = open_folder(_checked_part(part), descriptor, follow=False)
            finally:
                os.close(descriptor)
            descriptor = inner
        return descriptor


def read_blocks(file: Readable) -> Iterator[bytes]:
    """The file from its beginning, block by block."""
    offset = 0
    while offset < file.size and (block := file.read_at(offset, BLOCK)):
        yield block
        offset += len(block)


def read_beginning(file: Readable, most: int) -> bytes:
    """The first `most` bytes."""
    parts: list[bytes] = []
    left = most
    for block in read_blocks(file):
        parts.append(block[:left])
        left -= len(block)
        if left <= 0:
            break
    return b"".join(parts)


def _parent_of(name: str) -> str:
    return name.rpartition("/")[0]


def _last_of(name: str) -> str:
    return _checked_part(name.rpartition("/")[2])


def _checked_part(part: str) -> str:
    if part in {"", ".", ".."} or "\0" in part or "/" in part:
        refuse_file(errno.EINVAL, "this is no name of a file in a folder")
    return part
