"""The first turn as tools: closed inputs, answers instead of errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import HostParts
from cinatra_sdk.first_turn.model_tools import make_tools
from cinatra_sdk.first_turn.proposals import Proposals
from tests.first_turn.trees import build_tree


@pytest.fixture
def work(tmp_path: Path) -> Path:
    build_tree(
        tmp_path,
        {
            "work/img/notes.md": "one\ntwo\nthree\n",
            "work/img/brief.md": "Tastes: gone, ../x\nBlue.",
            "tastes/_default.md": "calm",
        },
    )
    return tmp_path / "work"


def ask(work: Path, name: str, **given: Any) -> Any:
    tools = make_tools(work, tastes_dir=work.parent / "tastes", proposals=Proposals())
    return tools[name](**given)


def test_a_known_image_is_answered_in_the_shape_of_the_contract(work: Path) -> None:
    answer = ask(work, "read_context", image_id="img")
    assert list(answer) == ["success", "data"]
    assert answer["success"] is True
    assert list(answer["data"]) == ["tastes", "brief", "notes", "recent_log", "recent_gaps"]
    assert answer["data"]["tastes"]["default"] == "calm"


@pytest.mark.parametrize("image_id", ["gone", "../..", "../tastes", "/etc", "img/..", "img\0", ""])
@pytest.mark.parametrize("name", ["read_context", "read_full_notes"])
def test_any_other_image_is_not_found(work: Path, name: str, image_id: str) -> None:
    answer = ask(work, name, image_id=image_id)
    assert list(answer) == ["success", "error"]
    assert answer["success"] is False
    assert answer["error"]["code"] == "not_found"
    assert str(work) not in json.dumps(answer)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("read_context", {}),
        ("read_context", {"image_id": 5}),
        ("read_context", {"image_id": None}),
        ("read_context", {"image_id": "img", "workspace": "/etc"}),
        ("read_context", {"image_id": "img", "limit": 5}),
        ("read_full_notes", {"image_id": "img", "offset": -1}),
        ("read_full_notes", {"image_id": "img", "limit": "5"}),
        ("read_full_notes", {"image_id": "img", "limit": True}),
        ("propose_taste", {"content": "x"}),
        ("propose_taste", {"content": "x", "category": "mood"}),
        ("propose_taste", {"content": " ", "category": "value"}),
        ("propose_taste", {"content": "x", "category": "value", "file": "../../x.md"}),
        ("propose_note", {"content": "x", "image_id": 5}),
    ],
)
def test_an_input_that_does_not_fit_is_invalid(work: Path, name: str, given: Any) -> None:
    answer = ask(work, name, **given)
    assert answer["success"] is False
    assert answer["error"]["code"] == "invalid_input"


def test_full_notes_are_cut_by_lines(work: Path) -> None:
    def data(**given: Any) -> Any:
        return ask(work, "read_full_notes", image_id="img", **given)["data"]

    assert data() == {"content": "one\ntwo\nthree\n", "lines": 3, "truncated": False}
    assert data(offset=1, limit=1) == {"content": "two\n", "lines": 3, "truncated": True}
    assert data(offset=2, limit=1) == {"content": "three\n", "lines": 3, "truncated": False}
    assert data(offset=9) == {"content": "", "lines": 3, "truncated": False}
    assert data(limit=0) == {"content": "", "lines": 3, "truncated": True}


def test_a_model_reads_no_character_that_a_person_does_not_see(work: Path) -> None:
    (work / "img" / "notes.md").write_text(
        "bl\u2060ue\U000e0041\u202e a\u200db\ue000\n", encoding="utf-8"
    )
    (work / "img" / "brief.md").write_text("so\ufeffft\u0378", encoding="utf-8")
    (work.parent / "tastes" / "_default.md").write_text("ca\u200blm", encoding="utf-8")
    read = ask(work, "read_context", image_id="img")["data"]
    assert read["notes"]["summary"] == "blue a\u200db\n"
    assert read["brief"]["intent"].strip() == "soft"
    assert read["tastes"]["default"] == "calm"
    notes = ask(work, "read_full_notes", image_id="img")["data"]
    assert notes["content"] == "blue a\u200db\n"


def test_full_notes_without_a_file_are_empty(work: Path) -> None:
    (work / "new").mkdir()
    answer = ask(work, "read_full_notes", image_id="new")
    assert answer == {"success": True, "data": {"content": "", "lines": 0, "truncated": False}}


def test_warnings_are_told_beside_the_answer(work: Path) -> None:
    told: list[str] = []
    answer = make_tools(work, tastes_dir=work.parent / "tastes", tell=told.append)["read_context"](
        image_id="img"
    )
    assert told == [
        'brief.md: "../x" is no name of a taste, and is ignored',
        "the taste gone is declared, and there is no text of it",
    ]
    assert "no name of a taste" not in json.dumps(answer)


def test_what_is_proposed_waits_and_is_not_written(work: Path) -> None:
    store = Proposals()
    tools = make_tools(work, proposals=store)
    data: Any = tools["propose_note"](image_id="img", content="four")["data"]
    assert (data["kind"], data["image_id"], data["content"]) == ("note", "img", "four")
    assert store.take(data["proposal_id"], "note").content == "four"
    assert (work / "img" / "notes.md").read_text() == "one\ntwo\nthree\n"
    assert tools["propose_note"](image_id="gone", content="x")["error"] == {
        "code": "not_found",
        "message": 'no image "gone" in the workspace (an image is a folder of the workspace, '
        "named by letters, digits, `_`, `.` and `-`)",
    }


def test_a_model_is_told_of_closed_schemas_and_of_no_tool_that_confirms(work: Path) -> None:
    assert list(make_tools(work)) == ["read_context", "read_full_notes"]
    tools = make_tools(work, proposals=Proposals())
    assert list(tools) == ["read_context", "read_full_notes", "propose_taste", "propose_note"]
    for name, tool in tools.items():
        function = tool.describe()["function"]
        assert function["name"] == name
        assert function["parameters"]["additionalProperties"] is False


def test_a_host_lends_them_to_flows(work: Path) -> None:
    tools = HostParts(tools=make_tools(work)).tools
    assert tools["read_context"](image_id="img")["success"] is True
