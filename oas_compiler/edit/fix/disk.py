"""The identity of a file on disk, and whether `--fix` may write it.

identity("link.json") == identity("oas.json")    a link, symbolic or hard, is the file itself
refusal("locked.json")                           ->  "locked.json is read-only"
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final, TypeAlias

from oas_compiler.text.files import real_file

Identity: TypeAlias = tuple[int, int]

_ANY_WRITER: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def identity(file: str) -> Identity | None:
    """Device and number of the file behind a name; `None` where there is no file."""
    try:
        about = Path(file).stat()
    except (OSError, ValueError):
        return None
    return about.st_dev, about.st_ino


def refusal(file: str) -> str:
    """Why the file must not be written; empty when it may be."""
    try:
        about = real_file(file).stat()
    except (OSError, ValueError):
        return f"{file} cannot be read"
    if not stat.S_ISREG(about.st_mode):
        return f"{file} is no ordinary file"
    # A file without any write permission is not written by root either.
    if not about.st_mode & _ANY_WRITER or not os.access(file, os.W_OK):
        return f"{file} is read-only"
    return ""
