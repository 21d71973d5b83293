"""Which files of a package are looked through for credentials, and which are too many or too large.

    Listing(files=("SKILL.md", "scripts/a.py"), secret_files=(".env",), closed=())
        -> plan_scan(root, …) == ScanPlan(parts=((".env", 120), …), left_out=("big.csv",))

Small files first, so that a large one in front does not hide the others.  Files come in as bytes
of any kind: what is no UTF-8 is looked through all the same.
"""

from __future__ import annotations

import os
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MAX_SCAN_BYTES: Final = 8 * 1024 * 1024
"""Of all files of a package together that are looked through."""
_NOT_THE_AUTHORS: Final = frozenset({"node_modules", "__pycache__", "dist", "build", "venv"})
_SECRET_FILES: Final = frozenset({".npmrc", ".netrc", ".pypirc", ".git-credentials", ".envrc"})
"""Hidden files in which people keep credentials; `.env` and `.env.…` are others."""
_MEDIA: Final = frozenset(
    {
        "png", "jpg", "jpeg", "gif", "webp", "ico", "pdf", "mp3", "mp4", "mov", "woff", "woff2",
        "ttf", "otf", "zip", "gz", "tgz", "whl", "pyc",
    }
)  # fmt: skip
"""Suffixes of files that hold no text."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What is in a folder."""

    files: tuple[str, ...]
    """Names of the author's files, relative and with `/`, sorted."""
    secret_files: tuple[str, ...]
    """Hidden files that credentials are kept in."""
    closed: tuple[str, ...]
    """Folders that could not be listed."""


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """What is looked through."""

    parts: tuple[tuple[str, int], ...]
    """Files with how many bytes of each."""
    left_out: tuple[str, ...]
    """Files that are not looked through, or only in part."""


def list_folder(root: Path, max_files: int, max_folders: int) -> Listing:
    """The files of a package; see `Package.files` for what is left out."""
    files: list[str] = []
    secret_files: list[str] = []
    closed: list[str] = []
    home = root.resolve()

    def refused(error: OSError) -> None:
        closed.append(_relative(Path(os.fsdecode(error.filename or root)), root))

    for folders, (folder, below, names) in enumerate(os.walk(root, onerror=refused), start=1):
        below[:] = sorted(n for n in below if not n.startswith(".") and n not in _NOT_THE_AUTHORS)
        for name in sorted(names):
            path = Path(folder, name)
            if name.startswith("."):
                if _keeps_secrets(name) and len(secret_files) < max_files and _is_own(path, home):
                    secret_files.append(_relative(path, root))
            elif _is_own(path, home):
                if len(files) >= max_files:
                    return Listing(tuple(sorted(files)), tuple(secret_files), tuple(closed))
                files.append(_relative(path, root))
        if folders >= max_folders:
            break
    return Listing(tuple(sorted(files)), tuple(secret_files), tuple(closed))


def plan_scan(root: Path, files: Iterable[str]) -> ScanPlan:
    """How much of each file is looked through."""
    left = MAX_SCAN_BYTES
    parts: list[tuple[str, int]] = []
    left_out: list[str] = []
    for size, file in sorted(_sizes(root, files)):
        if size < 0 or size > left:
            left_out.append(file)
        if size > 0 and left > 0:
            parts.append((file, min(size, left)))
            left -= min(size, left)
    return ScanPlan(tuple(parts), tuple(sorted(left_out)))


def read_part(path: Path, size: int) -> str:
    """The beginning of a file as text, whatever its bytes are; empty where it cannot be read."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(size)
    except (OSError, ValueError):
        return ""
    is_utf_16 = raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    return raw.decode("utf-16" if is_utf_16 else "utf-8-sig", errors="replace")


def is_file(path: Path) -> bool:
    """`Path.is_file`, which raises in a folder that may not be entered."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _sizes(root: Path, files: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Bytes of each file that may hold text; -1 where it may not be read."""
    for file in files:
        if file.rpartition(".")[2].lower() in _MEDIA:
            continue
        path = root / file
        try:
            yield (path.stat().st_size if os.access(path, os.R_OK) else -1), file
        except (OSError, ValueError):
            yield -1, file


def _keeps_secrets(name: str) -> bool:
    return name in _SECRET_FILES or name == ".env" or name.startswith(".env.")


def _is_own(path: Path, home: Path) -> bool:
    """Whether this is a file, and no link that leads out of `home`."""
    if not is_file(path):
        return False
    return not path.is_symlink() or path.resolve().is_relative_to(home)


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
