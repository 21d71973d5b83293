"""The files of a package that are searched for credentials, and those beyond the limits.

    FolderListing(files=("SKILL.md", "scripts/a.py"), secret_files=(".env",), closed=())
        -> plan_scan(root, …) == ScanPlan(parts=((".env", 120), …), left_out=("big.csv",))

Small files come first, so that one large file does not use up the limit.  Files that are not UTF-8
are searched too.
"""

from __future__ import annotations

import os
import stat
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oas_compiler.text.files import folder_at, walk

MAX_SCAN_BYTES: Final = 8 * 1024 * 1024
"""Bytes that are searched in all files of a package together."""
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
class FolderListing:
    """What is in a folder."""

    files: tuple[str, ...]
    """Names of the author's files, relative and with `/`, sorted."""
    secret_files: tuple[str, ...]
    """Hidden files that credentials are kept in."""
    closed: tuple[str, ...]
    """Folders that could not be listed."""
    refused: tuple[str, ...] = ()
    """Names that are no files of the author: links that lead out of the package, pipes, devices."""


@dataclass(frozen=True, slots=True)
class ScanPlan:
    """What is looked through."""

    parts: tuple[tuple[str, int], ...]
    """Files with how many bytes of each."""
    left_out: tuple[str, ...]
    """Files that are not looked through, or only in part."""


def list_folder(root: Path, max_files: int, max_folders: int) -> FolderListing:
    """The files of a package; see `Package.files` for what is left out."""
    found: dict[str, list[str]] = {"file": [], "secret": [], "refused": []}
    closed: list[str] = []

    def failed(error: OSError) -> None:
        closed.append(_format_relative_path(Path(os.fsdecode(error.filename or root)), root))

    for folders, (folder, names) in enumerate(walk(str(root), _is_entered, failed), start=1):
        for name in names:
            path = Path(folder, name)
            if name.startswith(".") and not _keeps_secrets(name):
                continue
            kind = _find_file_kind(path, root)
            if kind == "file":
                kind = "secret" if name.startswith(".") else kind
                if len(found[kind]) < max_files:
                    found[kind].append(_format_relative_path(path, root))
            elif kind == "refused" and len(found[kind]) < max_files:
                found[kind].append(_format_relative_path(path, root))
        if folders >= max_folders or len(found["file"]) >= max_files:
            break
    return FolderListing(
        files=tuple(sorted(found["file"])),
        secret_files=tuple(found["secret"]),
        closed=tuple(closed),
        refused=tuple(sorted(found["refused"])),
    )


def _is_entered(name: str) -> bool:
    return not name.startswith(".") and name not in _NOT_THE_AUTHORS


def plan_scan(root: Path, files: Iterable[str]) -> ScanPlan:
    """How much of each file is looked through."""
    left = MAX_SCAN_BYTES
    parts: list[tuple[str, int]] = []
    left_out: list[str] = []
    for size, file in sorted(_measure_files(root, files)):
        if size < 0 or size > left:
            left_out.append(file)
        if size > 0 and left > 0:
            parts.append((file, min(size, left)))
            left -= min(size, left)
    return ScanPlan(tuple(parts), tuple(sorted(left_out)))


def read_part(root: Path, file: str, size: int) -> str:
    """The beginning of a file as text, whatever its bytes are; empty where it cannot be read."""
    try:
        raw = folder_at(root).read(file, size)
    except OSError:
        return ""
    is_utf_16 = raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE))
    return raw.decode("utf-16" if is_utf_16 else "utf-8-sig", errors="replace")


def _measure_files(root: Path, files: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Bytes of each file that may hold text; -1 where it may not be read."""
    folder = folder_at(root)
    for file in files:
        if file.rpartition(".")[2].lower() in _MEDIA:
            continue
        try:
            yield (folder.size(file) if os.access(root / file, os.R_OK) else -1), file
        except OSError:
            yield -1, file


def _keeps_secrets(name: str) -> bool:
    return name in _SECRET_FILES or name == ".env" or name.startswith(".env.")


def _find_file_kind(path: Path, root: Path) -> str:
    """What a name that was listed is; only of a link the way has to be looked at."""
    try:
        mode = path.lstat().st_mode
    except (OSError, ValueError):
        return ""
    if stat.S_ISLNK(mode):
        return folder_at(root).kind(_format_relative_path(path, root))
    return "file" if stat.S_ISREG(mode) else "refused"


def _format_relative_path(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
