"""The compiler's access to files: it reads the files of a package, and nothing around it.

    read_flow("agents/email/cinatra/oas.json", 1_000)
        a file of a package (`agents/email/package.json` is there): links in the package only
    read_flow("x.json", 1_000)
        a file that the user named, and that no package holds: it may be a link to anywhere

`cinatra_sdk.data.text.author_files` opens them; no other module of the compiler opens a file (tests/test_layers.py).
It is imported late: importing the front end loads nothing of the SDK.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cinatra_sdk.data.text.author_files import Folder


MANIFEST: Final = "package.json"


def folder_at(path: str | os.PathLike[str], *, called: str = "package") -> Folder:
    """A folder whose files are read by their names below it."""
    from cinatra_sdk.data.text.author_files import Folder

    return Folder(path, called=called)


def read_flow(
    file: str | os.PathLike[str], most: int, *, within: str | os.PathLike[str] = ""
) -> bytes:
    """The first `most` bytes of a flow: one of a package, of the folder `within`, or any file.

    Raises: `OSError`.
    """
    around = package_around(file)
    if around is not None:
        return around[0].read(around[1], most)
    if within:
        name = Path(file).relative_to(within).as_posix()
        return folder_at(within, called="folder").read(name, most)
    return read_named(file, most)


def read_shown(file: str, most: int) -> bytes:
    """The first `most` bytes of a file whose lines are shown; outside of a package it is no link.

    Raises: `OSError`.
    """
    around = package_around(file)
    if around is not None:
        return around[0].read(around[1], most)
    path = Path(file)
    root = package_places(path)[0]
    name = path.name if root == path.parent else f"{_name_of(path.parent)}/{path.name}"
    folder = folder_at(root, called="folder")
    if folder.real(name) != Path(os.path.realpath(root)) / name:
        raise OSError(errno.ELOOP, "it is a symbolic link")
    return folder.read(name, most)


def require_no_link_out(folder: str | os.PathLike[str]) -> None:
    """A folder that is named stays where its name says: no link leads out of the folder that holds it.

    Whoever writes `check agents/*` has not seen each name.  Looked at are the last name and, of a path
    below the working directory, every other: a link above it belongs to the machine.
    Raises: `OSError`.
    """
    path = Path(folder)
    is_below = not path.is_absolute() and path.parts[:1] != ("..",)
    names = [*reversed(path.parents), path] if is_below else [path]
    for one in names:
        if one.name not in {"", ".."} and one.is_symlink():
            folder_at(one.parent, called="folder").real(one.name)


def explain_unreachable(path: str | os.PathLike[str]) -> str:
    """Why the way to a file or folder cannot be gone; empty where something is there."""
    try:
        Path(path).stat()
    except OSError as error:
        return error.strerror or type(error).__name__
    except ValueError:  # NUL in it
        return "it is not a file name"
    return ""


def read_unlinked(file: str | os.PathLike[str], most: int) -> bytes:
    """The first `most` bytes of a file whose name is no link.

    Raises: `OSError`.
    """
    from cinatra_sdk.data.text.author_files import read_unlinked as read

    return read(file, most)


def read_named(file: str | os.PathLike[str], most: int) -> bytes:
    """The first `most` bytes of a file that the user named, and that is part of no package.

    Raises: `OSError`.
    """
    from cinatra_sdk.data.text.author_files import read_named as read

    return read(file, most)


def without_link(path: str, flags: int) -> int:
    """An `opener` that follows no link at the end of the path."""
    from cinatra_sdk.data.text.author_files import without_link as opened

    return opened(path, flags)


def replace_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file completely or not at all; an ordinary file of that name is replaced.

    Raises: `OSError`, also where something else than a file has that name.
    """
    from cinatra_sdk.data.text.author_files import replace_file as replace

    replace(path, content)


def real_file(file: str, within: str = "") -> Path:
    """The file that writing `file` changes: its own path, or the target of an allowed link.

    within: as in `read_flow`.

    Raises: `OSError`.
    """
    around = package_around(file)
    if around is not None:
        return around[0].real(around[1])
    if within:
        return folder_at(within, called="folder").real(Path(file).relative_to(within).as_posix())
    return Path(os.path.realpath(file))


def package_around(file: str | os.PathLike[str]) -> tuple[Folder, str] | None:
    """The package that a flow belongs to, with the flow's name in it; see `find_package`."""
    path = Path(file)
    root = next((root for root in package_places(path) if has_manifest(root)), None)
    if root is None:
        return None
    folder = path.parent
    inside = root != folder
    name = f"{_name_of(folder)}/{path.name}" if inside else path.name
    return folder_at(root), name


def package_places(file: Path) -> list[Path]:
    """The folders in which Cinatra keeps the package.json of a flow: the one above goes first."""
    folder = file.parent
    if _name_of(folder) != "cinatra":
        return [folder]
    return [Path(os.path.normpath(folder / "..")), folder]


def has_manifest(root: Path) -> bool:
    """Whether the folder has a package.json that is not a folder."""
    try:
        mode = (root / MANIFEST).lstat().st_mode
    except (OSError, ValueError):
        return False
    if stat.S_ISLNK(mode):
        return folder_at(root).kind(MANIFEST) != "folder"
    return not stat.S_ISDIR(mode)


def first_of(folder: str | os.PathLike[str], names: tuple[str, ...]) -> str | None:
    """The first of `names` that is a file of the folder, readable or not."""
    root = folder_at(folder)
    return next((name for name in names if root.kind(name) in {"file", "refused"}), None)


def walk(
    root: str, enters: Callable[[str], bool], failed: Callable[[OSError], None]
) -> Iterator[tuple[str, list[str]]]:
    """The folders below `root` with the names of their files; see `cinatra_sdk.data.text.author_files.walk`."""
    from cinatra_sdk.data.text.author_files import walk as walk_folders

    return walk_folders(root, enters, failed)


def shown_name(name: str) -> str:
    """A file's name for a message, with escapes for what is not printable."""
    if name.isprintable():
        return name
    from cinatra_sdk.data.text.author_files import shown_name as escaped

    return escaped(name)


def _name_of(folder: Path) -> str:
    return Path(os.path.normpath(folder.absolute())).name
