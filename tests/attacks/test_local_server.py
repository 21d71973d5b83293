"""Files of the embedded server, and what else may stand in their place."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.local_postgres import server_folders
from cinatra_sdk.local_postgres.cluster import Postmaster
from cinatra_sdk.local_postgres.supervisor import LocalServer, LocalServerError
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, tests_of

CANARY = "canary-7f3a"
SECONDS = 30
"""Nothing here takes one; a wait for a pipe would have no end."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A server that was started once, as root by another account, and stopped."""

    server: LocalServer
    place: Path

    @property
    def secret(self) -> Path:
        return self.place / "secret"

    @property
    def nothing(self) -> Path:
        return self.place / "nothing"


@pytest.fixture(scope="module")
def kept() -> Iterator[Kept]:
    with tempfile.TemporaryDirectory(prefix="pg", dir="/tmp") as name:
        place = Path(name)
        place.chmod(0o755)
        account = "nobody" if os.geteuid() == 0 else None
        made = Kept(LocalServer(place / "pg", run_as=account), place)
        made.secret.write_text(f"{CANARY}\n")
        made.secret.chmod(0o600)
        made.server.start()
        made.server.stop()
        yield made
        made.server.stop()


def attempt(attack: Attack, place: Place) -> str:
    kept: Kept = place.request.getfixturevalue("kept")
    name, form, *more = attack.value
    if form == "sockets":
        with _instead(kept, kept.server.folder / name, form, *more):
            note = Postmaster.of((kept.server.folder / name).parent)
            return "nobody" if note is None else note.sockets
    with _instead(kept, kept.server.folder / name, form, *more):
        return _told(kept, attack.door, Path(name).name)


@contextmanager
def _instead(kept: Kept, path: Path, form: str, what: str = "") -> Iterator[None]:
    """What the form says stands in the place of a file; the file is back afterwards."""
    beside = path.with_name(f"{path.name}.kept")
    was_there = path.exists() and form != "nothing"
    if was_there:
        path.rename(beside)
    match form:
        case "fifo":
            os.mkfifo(path)
        case "link":
            path.symlink_to(what.format(secret=kept.secret, nothing=kept.nothing))
        case "bytes":
            path.write_bytes(CANARY.encode() + b"\xff")
        case "empty":
            path.touch()
        case "folder":
            path.mkdir()
        case "sockets":
            path.write_text(f"{os.getpid()}\n{path.parent}\n1\n5432\n{what}\n")
    if form in {"fifo", "empty"}:
        about = path.parent.stat()
        os.chown(path, about.st_uid, about.st_gid)
    try:
        yield
    finally:
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        elif form != "nothing":
            path.unlink(missing_ok=True)
        if was_there:
            beside.rename(path)


def _told(kept: Kept, door: str, file: str) -> str:
    def wake(*_: Any) -> None:
        raise TimeoutError(f"{door} waited")

    before = signal.signal(signal.SIGALRM, wake)
    signal.alarm(SECONDS)
    try:
        if door == "stop":
            kept.server.stop()
            return "stopped"
        status = kept.server.start() if door == "start" else kept.server.status()
    except LocalServerError as error:
        told = str(error)
        where = file in told and not kept.nothing.exists()
        return "told" if where and CANARY not in told else f"opened: {told}"
    except (TimeoutError, UnicodeError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    if CANARY in repr(status) or kept.nothing.exists():
        return "opened"
    if status.running:
        kept.server.stop()
    return "running" if status.running else "not running"


@contextmanager
def anything_is_read(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(
            server_folders, "read_unlinked", lambda path, most: Path(path).read_bytes()[:most]
        )
        yield


CONTROLS = {
    "links are followed": Control(open=anything_is_read, row="status-version,_a_link_to_a_file"),
}

test_attack, test_twin, test_control = tests_of("local_server", attempt, CONTROLS)
