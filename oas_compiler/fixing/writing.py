"""New text on disk: all of it or none of it, and never over somebody else's change.

    write([Change(file="oas.json", before=b"…", after=b"…")])

The file keeps its mode; where its name is a symbolic link, the link stays and its target changes.
"""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from oas_compiler.fixing.planning import Change


class CannotWrite(Exception):
    """A file is not what was checked any more, or must not be written; it stays as it is."""


def write(changes: Iterable[Change]) -> None:
    """Write every change.

    Raises:
        CannotWrite: when any of the files changed since it was read, or is read-only; all are
            looked at before the first is written.
        OSError: when the disk refuses; files before this one are written then, complete.

    """
    files = [(Path(os.path.realpath(change.file)), change) for change in changes]
    for path, change in files:
        _refuse_if_changed(path, change)
        if not os.access(path, os.W_OK):
            raise CannotWrite(f"{change.file} is read-only")
    for path, change in files:
        _write(path, change)


def _refuse_if_changed(path: Path, change: Change) -> None:
    try:
        same = path.read_bytes() == change.before
    except OSError:
        same = False
    if not same:
        raise CannotWrite(f"{change.file} has changed since it was checked")


def _write(path: Path, change: Change) -> None:
    mode = stat.S_IMODE(path.stat().st_mode)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".oasflow-")
    written = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(change.after)
            file.flush()
            os.fsync(file.fileno())
        written.chmod(mode)
        # Once more, as late as can be: nothing but the rename comes after.
        _refuse_if_changed(path, change)
        written.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            written.unlink()
        raise
