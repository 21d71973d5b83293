"""How much is read and held, counted in bytes: never by a clock."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from cinatra_sdk.data.text import folders
from cinatra_sdk.data.text.folders import BLOCK, OpenFile
from cinatra_sdk.first_turn import first_turn_records, read_context, read_full_notes, to_json

LOG_LINES, NOTES_LINES = 100_000, 10_000


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("large") / "work"
    image = work / "img"
    image.mkdir(parents=True)
    entries = (
        json.dumps({"timestamp": str(number), "op": "crop", "width": number, "note": "x" * 60})
        for number in range(LOG_LINES)
    )
    (image / "log.jsonl").write_text("\n".join(entries) + "\n")
    gaps = (json.dumps({"description": f"gap {number}"}) for number in range(LOG_LINES))
    (image / "vocabulary_gaps.jsonl").write_text("\n".join(gaps) + "\n")
    (image / "notes.md").write_text("".join(f"note {n} {'y' * 60}\n" for n in range(NOTES_LINES)))
    return work


class Taken:
    """Bytes that are read, by the size of their file."""

    def __init__(self) -> None:
        self.by_size: dict[int, int] = {}

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        read_at = OpenFile.read_at

        def counted(file: OpenFile, offset: int, most: int) -> bytes:
            piece = read_at(file, offset, most)
            self.by_size[file.size] = self.by_size.get(file.size, 0) + len(piece)
            return piece

        monkeypatch.setattr(folders.OpenFile, "read_at", counted)


def test_a_long_log_is_read_from_its_end_in_one_block(
    large: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    taken = Taken()
    taken.watch(monkeypatch)
    turn = read_context(large, "img", tastes_dir=tmp_path)
    assert [entry.timestamp for entry in turn.recent_log] == [
        str(number) for number in range(99_999, 99_989, -1)
    ]
    assert turn.recent_gaps[0].description == "gap 99999"
    assert turn.notes.truncated
    assert f"[{NOTES_LINES - 40} lines elided]" in turn.notes.summary
    sizes = {name: (large / "img" / name).stat().st_size for name in (
        "log.jsonl", "vocabulary_gaps.jsonl", "notes.md")}  # fmt: skip
    assert taken.by_size == {
        sizes["log.jsonl"]: BLOCK,
        sizes["vocabulary_gaps.jsonl"]: BLOCK,
        sizes["notes.md"]: sizes["notes.md"],
    }
    assert sizes["log.jsonl"] > 100 * BLOCK, "the control: the log is long"


def peak_of(large: Path, tmp_path: Path) -> int:
    read_context(large, "img", tastes_dir=tmp_path)  # what is loaded once is no part of it
    tracemalloc.start()
    try:
        read_context(large, "img", tastes_dir=tmp_path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_is_flat_however_long_notes_and_log_are(large: Path, tmp_path: Path) -> None:
    notes = large / "img" / "notes.md"
    longer = tmp_path / "work" / "img"
    longer.mkdir(parents=True)
    (longer / "notes.md").write_bytes(notes.read_bytes() * 20)
    (longer / "log.jsonl").write_bytes((large / "img" / "log.jsonl").read_bytes() * 2)
    small, big = peak_of(large, tmp_path / "t"), peak_of(tmp_path / "work", tmp_path / "t")
    assert (longer / "notes.md").stat().st_size > 13_000_000
    assert small < 1_500_000
    assert big < small + 200_000


def test_a_log_of_nothing_but_broken_lines_is_looked_at_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = tmp_path / "work" / "img"
    image.mkdir(parents=True)
    (image / "log.jsonl").write_bytes(b"{\n" * 10_000_000)
    taken = Taken()
    taken.watch(monkeypatch)
    monkeypatch.setattr("cinatra_sdk.first_turn.workspace_files.MAX_LOOKED_BACK", 1_000_000)
    monkeypatch.setattr("cinatra_sdk.first_turn.workspace_files.MAX_NO_ENTRIES", 10**9)
    turn = read_context(tmp_path / "work", "img", tastes_dir=tmp_path)
    assert turn.recent_log == ()
    assert "log.jsonl: entries before the last 1,000,000 bytes are not looked for" in turn.warnings
    assert taken.by_size[20_000_000] <= 1_000_000 + BLOCK


@pytest.mark.parametrize("line", [b"{\n", b"\n", b"7\n"])
def test_entries_are_looked_for_among_so_many_other_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: bytes
) -> None:
    image = tmp_path / "work" / "img"
    image.mkdir(parents=True)
    monkeypatch.setattr("cinatra_sdk.first_turn.workspace_files.MAX_NO_ENTRIES", 100)
    entry = b'{"op": "crop"}\n'
    for more, ops in ((99, ["crop"]), (100, [])):
        (image / "log.jsonl").write_bytes(entry + line * more)
        turn = read_context(tmp_path / "work", "img", tastes_dir=tmp_path)
        assert [one.op for one in turn.recent_log] == ops
        told = "log.jsonl: entries before 100 other lines are left out"
        assert (told in turn.warnings) is not ops


def test_notes_of_more_lines_than_anybody_writes_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = tmp_path / "work" / "img"
    image.mkdir(parents=True)
    monkeypatch.setattr("cinatra_sdk.first_turn.workspace_files.MAX_NOTES_LINES", 100)
    (image / "notes.md").write_bytes(b"\n" * 100)
    assert read_full_notes(tmp_path / "work", "img").lines == 100
    (image / "notes.md").write_bytes(b"\n" * 101)
    assert read_full_notes(tmp_path / "work", "img").warnings == (
        "notes.md is not read: it has more than 100 lines",
    )
    assert read_context(tmp_path / "work", "img", tastes_dir=tmp_path).notes.summary == ""


def test_one_line_of_a_gigabyte_takes_no_memory(tmp_path: Path) -> None:
    image = tmp_path / "work" / "img"
    image.mkdir(parents=True)
    with (image / "log.jsonl").open("wb") as file:
        file.truncate(1_000_000_000)
    assert peak_of(tmp_path / "work", tmp_path) < 1_000_000


def test_notes_beyond_their_bound_are_empty_and_told(tmp_path: Path) -> None:
    image = tmp_path / "work" / "img"
    image.mkdir(parents=True)
    with (image / "notes.md").open("wb") as file:
        file.truncate(first_turn_records.MAX_NOTES + 1)
    turn = read_context(tmp_path / "work", "img", tastes_dir=tmp_path)
    assert (turn.notes.summary, turn.notes.truncated) == ("", False)
    assert turn.warnings == ("notes.md is not read: it has more than 16,000,000 bytes",)


def test_a_brief_beyond_its_bound_is_cut_after_a_line(tmp_path: Path) -> None:
    image = tmp_path / "work" / "img"
    image.mkdir(parents=True)
    (image / "brief.md").write_text("Tastes: a\n" + "ü" * 40_000 + "\n" + "ü" * 40_000 + "\n")
    turn = read_context(tmp_path / "work", "img", tastes_dir=tmp_path)
    assert turn.brief.intent == "ü" * 40_000
    assert "brief.md is cut: it has more than 100,000 bytes" in turn.warnings


def test_the_worst_workspace_gives_a_bounded_first_turn(tmp_path: Path) -> None:
    image, tastes = tmp_path / "work" / "img", tmp_path / "tastes"
    image.mkdir(parents=True)
    tastes.mkdir()
    names = [f"t{number}" for number in range(40)]
    (image / "brief.md").write_text(f"Tastes: {','.join(names)}\n" + "b\n" * 100_000)
    for name in (*names, "_default"):
        (tastes / f"{name}.md").write_text("".join(f"{n}\n" for n in range(50_000)))
    (image / "notes.md").write_text(("n" * 10_000 + "\n") * 1_000)
    line = json.dumps({"op": "o", "x": "x" * 49_000}) + "\n"
    (image / "log.jsonl").write_text(line * 200)
    (image / "vocabulary_gaps.jsonl").write_text(json.dumps({"notes": "x" * 49_000}) + "\n")
    turn = read_context(tmp_path / "work", "img", tastes_dir=tastes, limit=10**9)
    assert len(turn.tastes.genres) == first_turn_records.MAX_GENRES
    assert len(turn.tastes.conflicts) == first_turn_records.MAX_CONFLICTS
    assert len(turn.recent_log) == 4  # 200,000 bytes
    assert len(turn.warnings) <= first_turn_records.MAX_WARNINGS
    most = (
        first_turn_records.MAX_GENRES + 3
    ) * first_turn_records.MAX_PROSE + 40 * first_turn_records.MAX_NOTES_LINE
    most += 2 * first_turn_records.MAX_ENTRIES + first_turn_records.MAX_CONFLICTS * 300
    assert len(json.dumps(to_json(turn), ensure_ascii=False)) < 2 * most


def test_full_notes_come_in_pages_that_join_to_the_file(large: Path) -> None:
    whole = (large / "img" / "notes.md").read_text()
    pages, offset = [], 0
    while True:
        page = read_full_notes(large, "img", offset=offset)
        pages.append(page.content)
        assert page.lines == NOTES_LINES
        assert len(page.content) <= first_turn_records.MAX_NOTES_PAGE
        if not page.truncated:
            break
        offset += page.content.count("\n")
    assert "".join(pages) == whole
    assert len(pages) == 4  # 708,890 characters
