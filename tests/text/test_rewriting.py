"""A file is changed by one writer at a time, whole or not at all."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cinatra_sdk.data.text.folders import LOCK, UnlinkedFolder, rewrite_file

MOST = 100_000


def append(root: Path, name: str, added: bytes) -> None:
    rewrite_file(UnlinkedFolder(root), name, lambda before: before + added, most=MOST)


def list_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_new_file_and_a_known_one_are_written(tmp_path: Path) -> None:
    append(tmp_path, "a.md", b"one\n")
    append(tmp_path, "a.md", b"two\n")
    assert (tmp_path / "a.md").read_bytes() == b"one\ntwo\n"
    assert list_names(tmp_path) == [LOCK, "a.md"]


def test_permissions_stay(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"")
    (tmp_path / "a.md").chmod(0o640)
    append(tmp_path, "a.md", b"x")
    assert stat.S_IMODE((tmp_path / "a.md").stat().st_mode) == 0o640


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "locked by a link", "link in between"])
def test_what_is_no_ordinary_file_is_not_written(tmp_path: Path, kind: str) -> None:
    outside, work = tmp_path / "outside", tmp_path / "work"
    outside.mkdir()
    work.mkdir()
    (outside / "a.md").write_bytes(b"theirs")
    name = "a.md"
    if kind == "link":
        (work / "a.md").symlink_to(outside / "a.md")
    elif kind == "folder":
        (work / "a.md").mkdir()
    elif kind == "pipe":
        os.mkfifo(work / "a.md")
    elif kind == "locked by a link":
        (work / LOCK).symlink_to(outside / "made")
    else:
        (work / "img").symlink_to(outside)
        name = "img/a.md"
    with pytest.raises(OSError):
        append(work, name, b"x")
    assert (outside / "a.md").read_bytes() == b"theirs"
    assert list_names(outside) == ["a.md"]


def test_a_planted_link_beside_the_file_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"theirs")
    (tmp_path / ".a.md.new").symlink_to("victim")
    append(tmp_path, "a.md", b"x")
    assert (tmp_path / "victim").read_bytes() == b"theirs"
    assert (tmp_path / "a.md").read_bytes() == b"x"


def test_a_file_that_would_become_too_large_stays(tmp_path: Path) -> None:
    append(tmp_path, "a.md", b"x" * MOST)
    with pytest.raises(OSError, match="more than 100,000 bytes"):
        append(tmp_path, "a.md", b"x")
    assert (tmp_path / "a.md").stat().st_size == MOST


def test_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    begin = threading.Barrier(8)

    def write(number: int) -> None:
        begin.wait()
        for round_ in range(5):
            append(tmp_path, "a.md", f"{number}.{round_}\n".encode())

    writers = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    lines = (tmp_path / "a.md").read_text().splitlines()
    assert sorted(lines) == sorted(
        f"{number}.{round_}" for number in range(8) for round_ in range(5)
    )


def test_writers_of_several_processes_lose_nothing(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.text.test_rewriting import append\n"
        "[append(Path(sys.argv[1]), 'a.md', f'{sys.argv[2]}.{n}\\n'.encode()) for n in range(10)]"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path), name]) for name in "abc"
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    lines = (tmp_path / "a.md").read_text().splitlines()
    assert sorted(lines) == sorted(f"{name}.{number}" for name in "abc" for number in range(10))


def test_a_writer_killed_before_it_renames_leaves_the_old_content_and_no_lock(
    tmp_path: Path,
) -> None:
    append(tmp_path, "a.md", b"old\n")
    program = (
        "import os, signal, sys; from pathlib import Path\n"
        "from tests.text.test_rewriting import append\n"
        "os.rename = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)\n"
        "append(Path(sys.argv[1]), 'a.md', b'new\\n')"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert (tmp_path / ".a.md.new").read_bytes() == b"old\nnew\n", (
        "the control: it was killed there"
    )
    assert (tmp_path / "a.md").read_bytes() == b"old\n"
    append(tmp_path, "a.md", b"later\n")
    assert (tmp_path / "a.md").read_bytes() == b"old\nlater\n"
    assert list_names(tmp_path) == [LOCK, "a.md"]
