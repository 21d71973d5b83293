"""Propose, then confirm: sequences of calls, their files, and what is refused."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.first_turn import ImageNotFound, read_context
from cinatra_sdk.first_turn.proposals import (
    MAX_PENDING,
    Places,
    ProposalInvalid,
    ProposalNotFound,
    Proposals,
    ProposalUnwritten,
    confirm,
    make_note,
    make_taste,
    propose_note,
    propose_taste,
    write_proposal,
)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    (tmp_path / "work" / "img").mkdir(parents=True)
    return Places(workspace=tmp_path / "work", tastes_dir=tmp_path / "deep" / "tastes")


def taste_file(places: Places, name: str = "_default.md") -> Path:
    assert places.tastes_dir is not None
    return Path(places.tastes_dir) / name


def test_a_confirmed_taste_begins_the_default_file_and_its_folder(places: Places) -> None:
    store = Proposals()
    made = propose_taste(store, content="- soft light", category="appearance")
    assert re.fullmatch(r"[0-9a-f]{32}", made.id)
    assert not taste_file(places).exists()
    done = confirm(store, places, made.id, kind="taste")
    assert (done.file, done.added) == ("_default.md", True)
    assert taste_file(places).read_text() == "- soft light\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "new\n"),
        ("\n", "\nnew\n"),
        ("old", "old\n\nnew\n"),
        ("old\n", "old\n\nnew\n"),
        ("old\n\n", "old\n\nnew\n"),
        ("old\n\n\n", "old\n\n\nnew\n"),
        ("old\r\n", "old\r\n\nnew\n"),
    ],
)
def test_a_blank_line_stands_between(places: Places, before: str, after: str) -> None:
    notes = Path(places.workspace) / "img" / "notes.md"
    notes.write_bytes(before.encode())
    store = Proposals()
    made = propose_note(store, content="new", image_id="img")
    confirm(store, places, made.id, kind="note")
    assert notes.read_bytes() == after.encode()


def test_what_was_confirmed_is_read_in_the_next_first_turn(places: Places) -> None:
    store = Proposals()
    taste = propose_taste(store, content="- blue", category="value", file="underwater")
    note = propose_note(store, content="Kelp is green.", image_id="img")
    confirm(store, places, taste.id, kind="taste")
    confirm(store, places, note.id, kind="note")
    (Path(places.workspace) / "img" / "brief.md").write_text("Tastes: underwater")
    turn = read_context(places.workspace, "img", tastes_dir=places.tastes_dir)
    assert turn.tastes.genres[0].text == "- blue\n"
    assert turn.notes.summary == "Kelp is green.\n"


@pytest.mark.parametrize(
    ("said", "file"),
    [("", "_default.md"), ("sea", "sea.md"), ("sea.md", "sea.md"), ("v1.2", "v1.2.md")],
)
def test_the_file_of_a_taste_ends_in_md(said: str, file: str) -> None:
    assert make_taste(content="x", category="process", file=said).file == file


@pytest.mark.parametrize(
    "file",
    [
        "../../x.md", "../x", "/etc/x", "a/b", "a\\b", ".hidden", ".md", "..", "a b", "a\0", "a\n",
        "x" * 300, 5, None, ".oasflow-lock",
    ],
)  # fmt: skip
def test_no_taste_is_written_outside_of_its_folder(file: Any) -> None:
    with pytest.raises(ProposalInvalid) as refused:
        make_taste(content="x", category="value", file=file)
    assert refused.value.code == "invalid_input"


@pytest.mark.parametrize(
    "content", ["", " \n\t", None, 5, "x" * 10_001, "a\0b", "a\x1b[2J", "\ud800"]
)
def test_content_that_nobody_could_read_is_refused(content: Any) -> None:
    with pytest.raises(ProposalInvalid):
        make_taste(content=content, category="value")
    with pytest.raises(ProposalInvalid):
        make_note(content=content, image_id="img")


@pytest.mark.parametrize(
    ("hidden", "named"),
    [
        ("\u2060", "U+2060"),
        ("\u202e", "U+202E"),
        ("\U000e0041", "U+E0041"),
        ("\ue000", "U+E000"),
        ("\u0378", "U+0378"),
        ("\ufeff", "U+FEFF"),
    ],
)
def test_content_with_a_character_that_nobody_sees_is_refused(hidden: str, named: str) -> None:
    with pytest.raises(ProposalInvalid, match=re.escape(f"holds {named}, which nobody sees")):
        make_taste(content=f"blue{hidden}", category="value")
    with pytest.raises(ProposalInvalid, match=re.escape(f"holds {named}, which nobody sees")):
        make_note(content=f"{hidden}blue", image_id="img")


def test_content_may_join_letters() -> None:
    text = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \U0001f469\u200d\U0001f680"
    assert make_taste(content=text, category="value").content == text


@pytest.mark.parametrize("category", ["", "mood", "Appearance", None, ["value"]])
def test_a_taste_has_one_of_three_categories(category: Any) -> None:
    with pytest.raises(ProposalInvalid, match="appearance, process, value"):
        make_taste(content="x", category=category)


@pytest.mark.parametrize("image_id", ["../x", "", ".", "a/b", None])
def test_a_note_belongs_to_a_plain_name(image_id: Any) -> None:
    with pytest.raises(ProposalInvalid):
        make_note(content="x", image_id=image_id)


@pytest.mark.parametrize("proposal_id", ["", "0" * 32, None, 5, ["x"]])
def test_an_unknown_id_is_not_found(places: Places, proposal_id: Any) -> None:
    with pytest.raises(ProposalNotFound) as refused:
        confirm(Proposals(), places, proposal_id, kind="taste")
    assert refused.value.code == "not_found"


def test_a_proposal_is_confirmed_once(places: Places) -> None:
    store = Proposals()
    made = propose_taste(store, content="x", category="value")
    confirm(store, places, made.id, kind="taste")
    with pytest.raises(ProposalNotFound):
        confirm(store, places, made.id, kind="taste")
    assert taste_file(places).read_text() == "x\n"


def test_an_id_of_the_other_kind_is_not_found_and_goes_on_waiting(places: Places) -> None:
    store = Proposals()
    taste = propose_taste(store, content="x", category="value")
    note = propose_note(store, content="y", image_id="img")
    with pytest.raises(ProposalNotFound):
        confirm(store, places, taste.id, kind="note")
    with pytest.raises(ProposalNotFound):
        confirm(store, places, note.id, kind="taste")
    assert not taste_file(places).exists()
    assert confirm(store, places, taste.id, kind="taste").added
    assert confirm(store, places, note.id, kind="note").added


def test_of_two_confirms_at_once_one_writes(places: Places) -> None:
    for _ in range(20):
        store = Proposals()
        made = propose_taste(store, content="x", category="value")
        begin, ends = threading.Barrier(2), []

        def end(
            store: Proposals = store, made: Any = made, begin: Any = begin, ends: Any = ends
        ) -> None:
            begin.wait()
            try:
                ends.append(confirm(store, places, made.id, kind="taste").added)
            except ProposalNotFound:
                ends.append("not found")

        threads = [threading.Thread(target=end) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(map(str, ends)) == ["True", "not found"]
    assert taste_file(places).read_text() == "\n".join(["x\n"] * 20)


def test_two_proposals_confirmed_at_once_are_both_written(places: Places) -> None:
    store, begin = Proposals(), threading.Barrier(10)
    made = [propose_note(store, content=f"note {n}", image_id="img") for n in range(10)]

    def end(proposal_id: str) -> None:
        begin.wait()
        confirm(store, places, proposal_id, kind="note")

    threads = [threading.Thread(target=end, args=(one.id,)) for one in made]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    text = (Path(places.workspace) / "img" / "notes.md").read_text()
    assert sorted(text.strip().split("\n\n")) == sorted(one.content for one in made)


def test_a_note_of_an_image_that_is_gone_goes_on_waiting(places: Places) -> None:
    store = Proposals()
    made = propose_note(store, content="x", image_id="later")
    with pytest.raises(ImageNotFound):
        confirm(store, places, made.id, kind="note")
    (Path(places.workspace) / "later").mkdir()
    assert confirm(store, places, made.id, kind="note").file == "later/notes.md"


@pytest.mark.parametrize("kind", ["link", "folder", "pipe"])
def test_a_file_that_is_something_else_stays_and_the_proposal_waits(
    places: Places, tmp_path: Path, kind: str
) -> None:
    victim, notes = tmp_path / "victim", Path(places.workspace) / "img" / "notes.md"
    victim.write_text("theirs")
    if kind == "link":
        notes.symlink_to(victim)
    elif kind == "folder":
        notes.mkdir()
    else:
        os.mkfifo(notes)
    store = Proposals()
    made = propose_note(store, content="x", image_id="img")
    with pytest.raises(ProposalUnwritten, match="is not written") as refused:
        confirm(store, places, made.id, kind="note")
    assert str(tmp_path) not in str(refused.value)
    assert victim.read_text() == "theirs"
    assert store.take(made.id, "note") == made


def test_an_image_that_is_a_link_gets_no_note(places: Places, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (Path(places.workspace) / "link").symlink_to(tmp_path / "outside")
    store = Proposals()
    made = propose_note(store, content="x", image_id="link")
    with pytest.raises(ImageNotFound):
        confirm(store, places, made.id, kind="note")
    assert list((tmp_path / "outside").iterdir()) == []


def test_tastes_that_would_be_longer_than_is_read_are_refused(places: Places) -> None:
    taste_file(places).parent.mkdir(parents=True)
    taste_file(places).write_text("x" * 99_990)
    store = Proposals()
    made = propose_taste(store, content="y" * 10, category="value")
    with pytest.raises(ProposalUnwritten, match="more than 100,000 bytes"):
        confirm(store, places, made.id, kind="taste")


def test_a_run_that_writes_again_after_a_crash_writes_once(places: Places) -> None:
    proposal = make_taste(content="- blue\n- soft", category="value")
    assert write_proposal(places, proposal, once=True).added
    assert not write_proposal(places, proposal, once=True).added
    assert taste_file(places).read_text() == "- blue\n- soft\n"
    assert write_proposal(places, proposal).added


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"old\r\n\r\n", b"old\r\n\r\nblue\n"),
        (b"\n", b"\nblue\n"),
        (b" \n", b" \nblue\n"),
        (b"", b"blue\n"),
        (b"old", b"old\n\nblue\n"),
    ],
)
def test_a_proposal_is_written_once_whatever_blank_lines_were_there(
    places: Places, before: bytes, after: bytes
) -> None:
    taste_file(places).parent.mkdir(parents=True)
    taste_file(places).write_bytes(before)
    proposal = make_taste(content="blue", category="value")
    assert write_proposal(places, proposal, once=True).added
    assert not write_proposal(places, proposal, once=True).added
    assert taste_file(places).read_bytes() == after


def test_a_longer_line_that_ends_alike_is_no_paragraph(places: Places) -> None:
    taste_file(places).parent.mkdir(parents=True)
    taste_file(places).write_text("no blue\n")
    assert write_proposal(places, make_taste(content="blue", category="value"), once=True).added


def test_the_oldest_of_too_many_proposals_is_dropped(places: Places) -> None:
    store = Proposals()
    first = propose_taste(store, content="x", category="value")
    for _ in range(MAX_PENDING):
        propose_taste(store, content="y", category="value")
    with pytest.raises(ProposalNotFound):
        confirm(store, places, first.id, kind="taste")
