r"""A file of an unlinked folder, changed by one writer at a time, whole or not at all.

    rewrite_file(UnlinkedFolder("tastes"), "_default.md", lambda before: before + b"more\n")

The writers of a folder take turns by a lock that the system gives back when a process dies.
The new content is written beside the file and renamed over it: a reader, and whoever comes after a
crash, finds the old content or the new content, and never a part.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator
from typing import Final

from cinatra_sdk.text.files import open_ordinary, refuse_file, refuse_unless_ordinary
from cinatra_sdk.text.unlinked import OpenFile, UnlinkedFolder, read_beginning

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
