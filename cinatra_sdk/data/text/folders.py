"""Folders below which no symbolic link is followed, and their files, read in pieces.

    with UnlinkedFolder("work").opened("img-7/log.jsonl") as file:
        file.read_at(file.size - 4_096, 4_096)      the file's last 4,096 bytes

    UnlinkedFolder("work").opened("img-7/log.jsonl")    OSError where `img-7` or the file is a link

The folder itself may be reached by a link: the host names it.  Every name below it is opened from
the descriptor of the folder before it, so a name that changes meanwhile leads nowhere else.
`cinatra_sdk.data.text.author_files.Folder` follows links that stay in its folder; names that a model or a
person gives are better served by none at all.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from cinatra_sdk.data.text.author_files import (
    HAS_DIR_FD,
    open_folder,
    open_ordinary,
    refuse_file,
    refuse_unless_ordinary,
)
from cinatra_sdk.light_imports.records import dataclass

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


# ----------------------------------------------------------------------------
# A file of an unlinked folder, changed by one writer at a time, whole or not at all.
#
#     `rewrite_file(UnlinkedFolder("tastes"), "_default.md", lambda before: before + b"more\n")`
#
# The writers of a folder take turns by a lock that the system gives back when a process dies.
# The new content is written beside the file and renamed over it: a reader, and whoever comes after a
# crash, finds the old content or the new content, and never a part.


LOCK: Final = ".oasflow-lock"
"""The file that writers of a folder lock."""
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCKED: Final = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def rewrite_file(
    folder: UnlinkedFolder, name: str, change: Callable[[bytes], bytes], *, most: int
) -> None:
    """Give the file the content that `change` makes of the one before, which is empty at first.

    name: as for `UnlinkedFolder.opened`; most: bytes of the content before, and of the new one.
    Raises: `OSError`, also where the name stands for anything but an ordinary file.
    """
    within, _, last = name.rpartition("/")
    with folder.entered(within) as place, _turn_at(place):
        before, mode = _read_before(place, last, most)
        after = change(before)
        if len(after) > most:
            refuse_file(errno.EFBIG, f"it would have more than {most:,} bytes")
        if after != before:
            _replace(place, last, after, mode)


def _read_before(place: int, name: str, most: int) -> tuple[bytes, int]:
    """The content and the permissions of the file; empty and those of a new file without one."""
    try:
        descriptor = open_ordinary(name, place, follow=False)
    except FileNotFoundError:
        return b"", 0
    try:
        about = os.fstat(descriptor)
        if about.st_size > most:
            refuse_file(errno.EFBIG, f"it has more than {most:,} bytes")
        file = OpenFile(descriptor=descriptor, size=about.st_size)
        return read_beginning(file, about.st_size), stat.S_IMODE(about.st_mode)
    finally:
        os.close(descriptor)


def _replace(place: int, name: str, content: bytes, mode: int) -> None:
    # One name for all writers: they take turns, and what a killed writer left is replaced.
    beside = f".{name}.new"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(beside, dir_fd=place)
    descriptor = os.open(beside, _NEW, 0o666, dir_fd=place)
    with contextlib.closing(os.fdopen(descriptor, "wb")) as file:
        if mode:
            os.fchmod(descriptor, mode)
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    os.rename(beside, name, src_dir_fd=place, dst_dir_fd=place)
    # The name, too, is to outlive a power cut; some file systems cannot say so.
    with contextlib.suppress(OSError):
        folder = os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=place)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextlib.contextmanager
def _turn_at(place: int) -> Iterator[None]:
    descriptor = os.open(LOCK, _LOCKED, 0o666, dir_fd=place)
    try:
        refuse_unless_ordinary(os.fstat(descriptor).st_mode)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


# ----------------------------------------------------------------------------
# Lines of a file that is too long to be held: streamed from its beginning, or read from its end.
#
#     list(lines_forward(file, longest=100, left_out=…))      ["first\n", "second\n", "last"]
#     list(lines_backward(file, longest=100, most=1_000, …))  [b"last", b"second", b"first"]
#
# Only `\n` ends a line, with or without `\r` before it: U+2028, form feeds and lone `\r` are letters
# of a line.  A line longer than `longest` is left out, and never held.


def lines_forward(file: Readable, *, longest: int, left_out: Callable[[], None]) -> Iterator[str]:
    """The lines of a UTF-8 text, each with its end; `left_out` hears of each that is too long.

    Raises: `UnicodeDecodeError`.
    """
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    rest, is_inside_long = "", False
    for block in read_blocks(file):
        pieces = (rest + decoder.decode(block)).split("\n")
        rest = pieces.pop()
        for piece in pieces:
            if is_inside_long or len(piece) > longest:
                left_out()
                is_inside_long = False
            else:
                yield piece + "\n"
        if is_inside_long or len(rest) > longest:
            rest, is_inside_long = "", True
    rest += decoder.decode(b"", final=True)
    if is_inside_long:
        left_out()
    elif rest:
        yield rest


def lines_backward(
    file: Readable,
    *,
    longest: int,
    most: int,
    left_out: Callable[[], None],
    stopped: Callable[[], None],
) -> Iterator[bytes]:
    r"""The lines, the last one first, without `\n`; `left_out` hears of each that is too long.

    Calls `stopped` and ends where `most` bytes were read and lines are left.
    """
    end, rest, is_inside_long = file.size, b"", False
    while end > 0:
        if file.size - end >= most:
            stopped()
            return
        start = max(0, end - BLOCK)
        block = file.read_at(start, end - start)
        if len(block) < end - start:
            return  # the file was cut meanwhile
        pieces = (block + rest).split(b"\n")
        end, rest = start, pieces[0]
        for piece in reversed(pieces[1:]):
            if is_inside_long or len(piece) > longest:
                left_out()
                is_inside_long = False
            else:
                yield piece
        if is_inside_long or len(rest) > longest:
            rest, is_inside_long = b"", True
    if is_inside_long:
        left_out()
    else:
        yield rest.removeprefix(codecs.BOM_UTF8)


def without_end(line: str) -> str:
    r"""The line without `\n` or `\r\n`."""
    return line.removesuffix("\n").removesuffix("\r") if line.endswith("\n") else line
