"""Whatever bytes stand in a workspace, reading it gives a first turn of the right shape."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from cinatra_sdk.data.json_values import check_value
from cinatra_sdk.first_turn import first_turn_text, read_context, read_full_notes, to_json
from cinatra_sdk.first_turn.workspace import ImageNotFound

PIECES = [
    b"Tastes: ", b"**Tastes:** ", b"[", b"]", b",", b"a", b"b", b"../", b"/etc/passwd", b"'", b'"',
    b"\n", b"\r\n", b"\r", b"\0", b"\xff", b"\xc3", b"\xe2\x80\xa8", b"\xef\xbb\xbf", b"{", b"}",
    b'{"op": "crop", "timestamp": "t"}', b'{"op": null, "x": NaN}', b'{"description": 5}', b"[1]",
    b"null", b'{"operations_involved": "abc"}', b'{"a": "\\ud800"}', b"# x", b"---", b"<!--", b"-->",
    b"soft light", b"\t", b" ", b"\x1b[2J", b'{"__overwrite__": 1}', b'{"a":' * 70, b"9" * 5_000,
]  # fmt: skip
NAMES = ["brief.md", "notes.md", "log.jsonl", "vocabulary_gaps.jsonl"]


def test_random_bytes_raise_nothing(tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    image, tastes = tmp_path / "work" / "img", tmp_path / "tastes"
    image.mkdir(parents=True)
    tastes.mkdir()
    for _ in range(400):
        for path in [
            *(image / name for name in NAMES),
            tastes / "_default.md",
            tastes / "a.md",
            tastes / "b.md",
        ]:
            if chance.random() < 0.3:
                content = chance.randbytes(chance.randrange(200))
            else:
                content = b"".join(chance.choices(PIECES, k=chance.randrange(60)))
            path.write_bytes(content)
        turn = read_context(
            tmp_path / "work", "img", tastes_dir=tastes, limit=chance.randrange(-1, 20)
        )
        told = to_json(turn)
        assert list(told) == ["tastes", "brief", "notes", "recent_log", "recent_gaps"]
        check_value(told, where="the first turn")
        assert json.loads(json.dumps(told, allow_nan=False)) == told
        assert all(one.isprintable() or one == "\n" for one in first_turn_text(turn))
        notes = read_full_notes(tmp_path / "work", "img")
        assert notes.content == "" or notes.lines > 0
        if not turn.notes.truncated:
            assert turn.notes.summary == notes.content


def test_random_ids_never_leave_the_workspace(tmp_path: Path) -> None:
    seed = random.randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)
    (tmp_path / "work" / "img").mkdir(parents=True)
    (tmp_path / "brief.md").write_text("top secret")
    (tmp_path / "work" / "brief.md").write_text("top secret")
    parts = ["..", ".", "/", "img", "\\", "\0", "%2f", "\u2024", " ", "\n", "~", "work", "a"]
    found = 0
    for _ in range(2_000):
        image_id = "".join(chance.choices(parts, k=chance.randrange(1, 6)))
        try:
            turn = read_context(tmp_path / "work", image_id, tastes_dir=tmp_path)
        except ImageNotFound:
            continue
        found += 1
        assert image_id == "img"
        assert turn.brief.raw == ""
    assert found, "the control: the image itself is found"


@pytest.mark.parametrize("named", ["work/img", "gone", "file", "pipe\0x"])
def test_a_workspace_that_is_none_has_no_image(tmp_path: Path, named: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ImageNotFound):
        read_context(tmp_path / named, "img", tastes_dir=tmp_path)
