"""Writes new text to disk, completely or not at all, and never over another program's change.

    write([FileChange(file="oas.json", before=b"…", after=b"…")])

A file is replaced by a complete new file with the same owner, group, mode and extended attributes.
A file that has several names, or whose owner cannot be kept, is written in place instead; a copy of
the old text lies beside it meanwhile.  Where the name is a symbolic link, the link stays and its
target changes; a link that leads out of a package is refused.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from oas_compiler.edit.fix.disk import refusal
from oas_compiler.edit.fix.planning import FileChange
from oas_compiler.text.files import read_unlinked, real_file, without_link


class CannotWrite(Exception):
    """A file has changed since its check, or must not be written; it stays as it is."""


def write(changes: Iterable[FileChange]) -> None:
    """Write every change.

    Raises:
        CannotWrite: when any of the files changed since it was read, or is read-only; all are
            looked at before the first is written.
        OSError: when the disk refuses; files before this one are written then, complete.

    """
    files = [(_resolve_target(change), change) for change in changes]
    for path, change in files:
        _refuse_if_changed(path, change)
        why = refusal(change.file)
        if why:
            raise CannotWrite(why)
    for path, change in files:
        _write_file(path, change)


def _resolve_target(change: FileChange) -> Path:
    """The path to write to, in which no part is a link."""
    try:
        return real_file(change.file, change.within)
    except OSError:
        raise CannotWrite(f"{change.file} has changed since it was checked") from None


def _refuse_if_changed(path: Path, change: FileChange) -> None:
    try:
        same = read_unlinked(path, len(change.before) + 1) == change.before
    except OSError:
        same = False
    if not same:
        raise CannotWrite(f"{change.file} has changed since it was checked")


def _write_file(path: Path, change: FileChange) -> None:
    about = path.stat()
    written = _write_temp_file(path, change.after)
    try:
        if about.st_nlink == 1 and _looks_like(written, path, about):
            # Checked again as late as possible: only the rename comes after.
            _refuse_if_changed(path, change)
            written.replace(path)
            return
    finally:
        with contextlib.suppress(OSError):
            written.unlink()
    _write_in_place(path, change, about)


def _write_temp_file(path: Path, text: bytes) -> Path:
    """A new file in the same folder, on disk; only its owner may read it."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".oasflow-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    return Path(name)


def _looks_like(written: Path, path: Path, about: os.stat_result) -> bool:
    """Give `written` the owner, mode and attributes of `path`; False when that is not allowed."""
    own = written.stat()
    try:
        if (own.st_uid, own.st_gid) != (about.st_uid, about.st_gid):
            os.chown(written, about.st_uid, about.st_gid)
        # After the owner, because a change of owner removes the bits for set-user-id.
        shutil.copystat(path, written)
        os.utime(written)
    except OSError:
        return False
    return stat.S_IMODE(written.stat().st_mode) == stat.S_IMODE(about.st_mode)


def _write_in_place(path: Path, change: FileChange, about: os.stat_result) -> None:
    """Write new text into the same file; the old text is restored if the disk refuses."""
    _refuse_if_changed(path, change)
    kept = _write_temp_file(path, change.before)
    try:
        _overwrite_file(path, change.after)
    except BaseException:
        _overwrite_file(path, change.before)  # if this fails too, the copy stays
        kept.unlink()
        raise
    kept.unlink()
    if stat.S_IMODE(path.stat().st_mode) != stat.S_IMODE(about.st_mode):
        with contextlib.suppress(OSError):  # not the owner: the system removed a bit
            path.chmod(stat.S_IMODE(about.st_mode))


def _overwrite_file(path: Path, text: bytes) -> None:
    with open(path, "r+b", opener=without_link) as file:
        file.write(text)
        file.truncate()
        file.flush()
        os.fsync(file.fileno())
