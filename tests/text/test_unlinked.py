"""Below an unlinked folder nothing but ordinary files is opened, and no link is followed."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from cinatra_sdk.data.text import folders
from cinatra_sdk.data.text.author_files import open_folder
from cinatra_sdk.data.text.folders import UnlinkedFolder, read_beginning


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "work" / "img").mkdir(parents=True)
    (tmp_path / "work" / "img" / "notes.md").write_text("mine")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "notes.md").write_text("secret")
    return tmp_path


def read(root: Path, name: str) -> bytes:
    with UnlinkedFolder(root).opened(name) as file:
        return read_beginning(file, 1_000)


def test_a_file_below_folders_is_read(place: Path) -> None:
    assert read(place / "work", "img/notes.md") == b"mine"


def test_the_folder_itself_may_be_a_link(place: Path) -> None:
    (place / "here").symlink_to("work")
    assert read(place / "here", "img/notes.md") == b"mine"


@pytest.mark.parametrize(
    "name",
    [
        "link/notes.md", "inner/notes.md", "img/deep/notes.md", "img/link.md", "img/loop.md",
        "../outside/notes.md", "img/../img/notes.md", "./img/notes.md", "/etc/hostname",
        "img//notes.md", "img/", "", ".", "..", "img\0/notes.md", "img/notes.md\0", "img",
        "pipe", "socket", "img/notes.md/x", "gone", "img/" + "x" * 5_000,
    ],
)  # fmt: skip
def test_every_other_way_is_refused(
    place: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = place / "work"
    (work / "link").symlink_to(place / "outside")
    (work / "inner").symlink_to("img")
    (work / "img" / "deep").symlink_to("../../outside")
    (work / "img" / "link.md").symlink_to("../../outside/notes.md")
    (work / "img" / "loop.md").symlink_to("loop.md")
    os.mkfifo(work / "pipe")
    monkeypatch.chdir(work)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("socket")
        with pytest.raises(OSError):
            read(work, name)


def test_a_device_is_refused() -> None:
    with pytest.raises(OSError, match="device"):
        read(Path("/dev"), "null")


def count_open() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_no_descriptor_stays_open(place: Path) -> None:
    before = count_open()
    for name in ("img/notes.md", "img/gone", "gone/x", "img"):
        try:
            read(place / "work", name)
        except OSError:
            continue
    assert count_open() == before


def test_a_folder_that_becomes_a_link_after_it_was_entered_leads_nowhere_else(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The race: the name is swapped between entering the folder and opening the file in it.
    work = place / "work"

    def entered(name: str, base: int | None, *, follow: bool) -> int:
        descriptor = open_folder(name, base, follow=follow)
        if name == "img":
            (work / "img").rename(work / "was")
            (work / "img").symlink_to("../outside")
        return descriptor

    monkeypatch.setattr(folders, "open_folder", entered)
    assert read(work, "img/notes.md") == b"mine"
    with pytest.raises(OSError):
        read(work, "img/notes.md")


def test_what_is_appended_while_a_file_is_open_is_not_read(place: Path) -> None:
    path = place / "work" / "img" / "notes.md"
    with UnlinkedFolder(place / "work").opened("img/notes.md") as file:
        path.write_text("mine and more")
        assert (file.size, read_beginning(file, 1_000)) == (4, b"mine")
