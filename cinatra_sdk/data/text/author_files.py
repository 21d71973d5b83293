"""The only access to files of other authors: packages, trees, files named by a user.

    Folder("agents/email").read("SKILL.md", 1_000)     at most 1,000 bytes of a file of the folder
    Folder("agents/email").read("notes", 1_000)        OSError where `notes` is a link to /etc/passwd
    read_named("stubs.yaml", 1_000)                    a file that the user named may be a link

A file of a folder is reached name by name, and each name is checked before it is opened.  A link is
followed as long as it stays in the folder, at any place of the path and even if names change
meanwhile.  Only ordinary files are opened: a pipe would wait for its writer, a device may act when
it is opened, and a file of /proc is made up while it is read.

Every refusal is an `OSError` whose `strerror` gives the reason, without the target of a link.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, NoReturn, Self

Kind = Literal["file", "folder", "refused", ""]
"""What a name of a folder stands for; empty where there is nothing."""

MAX_LINKS: Final = 40
"""Links on the way to one file; what Linux follows."""
MAX_STEPS: Final = 10_000
"""Folders that are entered on the way to one file: links may lead up and down again."""

HAS_DIR_FD = {os.open, os.stat, os.readlink} <= os.supports_dir_fd
_CLOSED: Final = getattr(os, "O_CLOEXEC", 0)
_FILE: Final = os.O_RDONLY | _CLOSED | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
# With O_PATH a folder may be entered that may not be listed, as the system itself allows.
_FOLDER: Final = getattr(os, "O_PATH", os.O_RDONLY) | _CLOSED | getattr(os, "O_DIRECTORY", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)
_NOTHING_THERE: Final = frozenset({errno.ENOENT, errno.ENOTDIR})


class FileRefused(OSError):
    """The file is there and is not read; `strerror` says which rule forbids it."""


class Folder:
    """A folder, and what may be read below it.  It may itself be reached by a link.

    `called` is what messages call it.
    """

    def __init__(self, path: str | os.PathLike[str], *, called: str = "folder") -> None:
        self.path = os.fspath(path)
        self._called = called

    def read(self, name: str, most: int) -> bytes:
        """The first `most` bytes of a file, by its name below the folder.

        Raises: `OSError`.
        """
        with self._start_walk(name) as way:
            descriptor = way.open_file(way.go())
        return _read_bytes(descriptor, most)

    def size(self, name: str) -> int:
        """Bytes of an ordinary file that may be read.

        Raises: `OSError`.
        """
        with self._start_walk(name) as way:
            descriptor = way.open_file(way.go())
        try:
            return os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)

    def kind(self, name: str) -> Kind:
        """What a name stands for; never raises."""
        try:
            with self._start_walk(name) as way:
                mode = way.about(way.go()).st_mode
        except OSError as error:
            return "" if error.errno in _NOTHING_THERE else "refused"
        if stat.S_ISDIR(mode):
            return "folder"
        return "file" if stat.S_ISREG(mode) else "refused"

    def real(self, name: str) -> Path:
        """The path of an ordinary file or a folder without any link below the folder's own path.

        Raises: `OSError`.
        """
        with self._start_walk(name) as way:
            last = way.go()
            mode = way.about(last).st_mode
            if not stat.S_ISDIR(mode):
                refuse_unless_ordinary(mode)
            return Path(os.path.realpath(self.path), *way.names, last)

    def _start_walk(self, name: str) -> _Walk:
        return _Walk(self.path, name, self._called)


def read_named(path: str | os.PathLike[str], most: int) -> bytes:
    """The first `most` bytes of a file that the user named, which may be a link.

    Raises: `OSError`.
    """
    return _read_bytes(open_ordinary(os.fspath(path), None, follow=True), most)


def read_unlinked(path: str | os.PathLike[str], most: int) -> bytes:
    """The first `most` bytes of a file whose name is no link.

    Raises: `OSError`.
    """
    return _read_bytes(open_ordinary(os.fspath(path), None, follow=False), most)


def without_link(path: str, flags: int) -> int:
    """An `opener` for `open` that follows no link at the end of the path."""
    return os.open(path, flags | _NO_LINK | _CLOSED)


def replace_file(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file completely or not at all; an ordinary file of that name is replaced.

    Anything else stays: a rename over a pipe or a device would put a file in its place, over
    `/dev/null` for the whole machine, and one over a link would leave its target as it was.
    Raises: `OSError`.
    """
    place = Path(path)
    with contextlib.suppress(FileNotFoundError):
        refuse_unless_ordinary(os.lstat(place).st_mode)
    descriptor, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:80]}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(place)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def walk(
    root: str, enters: Callable[[str], bool], failed: Callable[[OSError], None]
) -> Iterator[tuple[str, list[str]]]:
    """(folder, names of what is no folder) of `root` and everything below it, in order of names.

    Links to folders are names, and are not entered.  `enters` says by its name whether a folder
    is; `failed` hears of those that cannot be listed.  No depth is too much for the stack.
    """
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                listed = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError as error:
            failed(error)
            continue
        yield folder, sorted(name for name, is_folder in listed if not is_folder)
        below = sorted(name for name, is_folder in listed if is_folder and enters(name))
        waiting += [os.path.join(folder, name) for name in reversed(below)]  # noqa: PTH118 - any bytes


def shown_name(name: str) -> str:
    r"""A file's name for a message: what is no printable character is escaped, as `\n`."""
    if name.isprintable():
        return name
    raw = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in raw
    )


# ------------------------------------------------------------------------ the way to a file


class _Walk:
    """One way from a folder to a name below it.

    The descriptor is that of the folder that was reached; `names` are those on the way there,
    none of which is a link.
    """

    def __init__(self, root: str, name: str, called: str) -> None:
        self.names: list[str] = []
        self._root = root
        self._called = called
        self._steps = 0
        self._links = 0
        self._outside: list[str] | None = None
        """Where a link led to, by name only: nothing out there is looked at."""
        if "\0" in name or "\0" in root:
            refuse_file(errno.EINVAL, "this is no file name")
        self._left = deque(os.fsdecode(name).split("/"))
        self._descriptor = open_folder(root, None, follow=True)
        if name.startswith("/"):
            self._outside = []
            self._came_back()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _at: TracebackType | None,
    ) -> None:
        os.close(self._descriptor)

    def go(self) -> str:
        """Go as far as the folder that holds what is meant, and say what it is called there.

        "." where the folder itself is meant.
        """
        while self._left:
            part = self._left.popleft()
            if self._outside is not None:
                self._add_outside_name(part)
            elif part == "..":
                self._leave_folder()
            elif part not in {"", "."}:
                mode = self.about(part).st_mode
                if stat.S_ISLNK(mode):
                    self._follow_link(part)
                elif not self._left:
                    return part
                else:
                    self._enter_folder(part)
        if self._outside is not None:
            refuse_file(errno.EXDEV, f"a symbolic link leads out of the {self._called}")
        return "."

    def about(self, name: str) -> os.stat_result:
        return os.stat(self._at(name), dir_fd=self._base, follow_symlinks=False)

    def open_file(self, name: str) -> int:
        return open_ordinary(self._at(name), self._base, follow=False)

    @property
    def _base(self) -> int | None:
        return self._descriptor if HAS_DIR_FD else None

    def _at(self, name: str) -> str:
        """What a call with `_base` reaches `name` by."""
        return name if HAS_DIR_FD else os.path.join(self._root, *self.names, name)  # noqa: PTH118 - only without folders as descriptors

    def _enter_folder(self, name: str) -> None:
        self._steps += 1
        if self._steps > MAX_STEPS:
            refuse_file(errno.ELOOP, "symbolic links lead through too many folders")
        descriptor = open_folder(self._at(name), self._base, follow=False)
        os.close(self._descriptor)
        self._descriptor = descriptor
        self.names.append(name)

    def _leave_folder(self) -> None:
        if not self.names:
            self._outside = _split_path(os.path.realpath(self._root))[:-1]
            self._came_back()
            return
        self._restart_from_root(self.names[:-1])

    def _restart_from_root(self, names: list[str]) -> None:
        descriptor = open_folder(self._root, None, follow=True)
        os.close(self._descriptor)
        self._descriptor = descriptor
        self.names = []
        for name in names:
            self._enter_folder(name)

    def _follow_link(self, name: str) -> None:
        self._links += 1
        if self._links > MAX_LINKS:
            refuse_file(errno.ELOOP, "symbolic links lead in a circle")
        target = os.readlink(self._at(name), dir_fd=self._base)
        self._left.extendleft(reversed(target.split("/")))
        if target.startswith("/"):
            self._outside = []
            self._came_back()

    def _add_outside_name(self, name: str) -> None:
        """One name outside: it is only written down, until the names are the folder's own."""
        assert self._outside is not None
        if name == "..":
            self._outside = self._outside[:-1]
        elif name not in {"", "."}:
            self._outside.append(name)
        self._came_back()

    def _came_back(self) -> None:
        own = (_split_path(os.path.realpath(self._root)), _split_path(os.path.abspath(self._root)))  # noqa: PTH100 - texts of names are compared
        if self._outside in own:
            self._outside = None
            self._restart_from_root([])


def _split_path(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


# ------------------------------------------------------------------------ opening and reading


def open_folder(name: str, base: int | None, *, follow: bool) -> int:
    """A folder, entered; base: the descriptor of the folder that holds it.  Raises: `OSError`."""
    return os.open(name, _FOLDER | (0 if follow else _NO_LINK), dir_fd=base)


def open_ordinary(name: str, base: int | None, *, follow: bool) -> int:
    """An ordinary file, open for reading; looked at before, and again when it is open."""
    if "\0" in name:
        refuse_file(errno.EINVAL, "this is no file name")
    refuse_unless_ordinary(os.stat(name, dir_fd=base, follow_symlinks=follow).st_mode)
    descriptor = os.open(name, _FILE | (0 if follow else _NO_LINK), dir_fd=base)
    try:
        refuse_unless_ordinary(os.fstat(descriptor).st_mode)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _read_bytes(descriptor: int, most: int) -> bytes:
    """The beginning of an open file, which is closed then."""
    with contextlib.closing(os.fdopen(descriptor, "rb", buffering=0)) as file:
        parts: list[bytes] = []
        left = most
        while left > 0 and (part := file.read(min(left, 1 << 20))):
            parts.append(part)
            left -= len(part)
        if parts and not os.fstat(descriptor).st_size:
            refuse_file(errno.EINVAL, "it is made up while it is read, and no file on a disk")
    return b"".join(parts)


def refuse_unless_ordinary(mode: int) -> None:
    """Raises: `OSError` for a mode that is not an ordinary file's."""
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if stat.S_ISLNK(mode):
        refuse_file(errno.ELOOP, "it is a symbolic link")
    words = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    what = words.get(stat.S_IFMT(mode), "a device")
    refuse_file(errno.EINVAL, f"it is {what}, and no ordinary file")


def refuse_file(number: int, why: str) -> NoReturn:
    """Raises: `FileRefused`."""
    raise FileRefused(number, why)
