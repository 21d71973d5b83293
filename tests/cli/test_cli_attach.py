"""`oasflow attach`, and files that go with an answer: kept in the store, and told to the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.facts.test_answer_rules import straight


@pytest.fixture
def plan(tmp_path: Path) -> str:
    path = tmp_path / "plan.pdf"
    path.write_bytes(b"%PDF-1.7")
    return str(path)


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"draft": {"text": "T"}}), "utf-8")
    return f"scripted:{path}"


def refs(done: Any) -> Any:
    return json.loads(done.stdout)["attachments"]


def test_a_file_is_kept_and_its_ref_is_printed(cli: Any, plan: str) -> None:
    done = cli("attach", plan, "--json")
    assert done.exit_code == 0, done.output
    (ref,) = refs(done)
    assert (ref["mime"], ref["filename"], ref["size"]) == ("application/pdf", "plan.pdf", 8)
    assert json.loads(cli("attach", plan).stdout)[0]["digest"] == ref["digest"]


def test_a_type_that_the_name_does_not_tell_is_asked_for(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "plan.docx"
    path.write_bytes(b"x")
    refused = cli("attach", str(path))
    assert refused.exit_code == 2
    assert "say it with --mime" in " ".join(refused.output.split())
    assert cli("attach", str(path), "--mime", "text/plain").exit_code == 0


@pytest.mark.parametrize("name", ["gone.pdf", "folder.pdf", "gone", "folder"])
def test_what_is_no_file_is_refused(cli: Any, tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.pdf").mkdir()
    (tmp_path / "folder").mkdir()
    refused = cli("attach", str(tmp_path / name))
    assert refused.exit_code == 2
    assert "Traceback" not in refused.output
    assert "--mime" not in refused.output, "the type is not what is wrong"


def test_files_go_with_an_answer_to_the_call_that_opens_them(
    cli: Any, flow_file: Any, plan: str, script: str
) -> None:
    made = cli("run", flow_file(straight()), "--model", script, "--run-id", "r1")
    assert made.exit_code == 3, made.output
    done = cli("answer", "r1", "--text", "Sum up.", "--attach", plan, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["outputs"] == {"text": "T"}
    (decision,) = json.loads(cli("show", "r1", "--json").stdout)["decisions"]
    envelope = json.loads(decision["answer"]["value"])
    assert envelope["text"] == "Sum up."
    assert [one["filename"] for one in envelope["attachments"]] == ["plan.pdf"]
    told = " ".join(cli("show", "r1", "--full").output.split())
    assert "Sum up. with plan.pdf" in told


@pytest.mark.parametrize(
    "answer",
    [("approve", "r1"), ("answer", "r1", "--text", "Fine."), ("answer", "r1", "--text", "5")],
)
def test_an_answer_without_files_reaches_the_call_that_opens_them(
    cli: Any, flow_file: Any, script: str, answer: tuple[str, ...]
) -> None:
    cli("run", flow_file(straight()), "--model", script, "--run-id", "r1")
    done = cli(*answer, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["outputs"] == {"text": "T"}


def test_no_file_goes_with_an_answer_whose_model_would_see_json(
    cli: Any, flow_file: Any, plan: str, script: str
) -> None:
    flow = straight(user_envelope=False)
    cli("run", flow_file(flow), "--model", script, "--run-id", "r1")
    refused = cli("answer", "r1", "--text", "Sum up.", "--attach", plan)
    assert refused.exit_code == 2
    assert "reaches no model with files" in " ".join(refused.output.split())
    assert json.loads(cli("show", "r1", "--json").stdout)["status"] == "waiting"


def test_more_files_than_an_envelope_holds_are_refused_and_none_is_left_out(
    cli: Any, flow_file: Any, plan: str, script: str
) -> None:
    cli("run", flow_file(straight()), "--model", script, "--run-id", "r1")
    refused = cli("answer", "r1", "--text", "Sum up.", *(["--attach", plan] * 21))
    assert refused.exit_code == 2
    assert "21 files are attached; an answer takes 20 at most" in " ".join(refused.output.split())
    assert json.loads(cli("show", "r1", "--json").stdout)["status"] == "waiting"


def test_a_file_without_a_text_is_refused(offline: Any, plan: str) -> None:
    refused = offline("answer", "r1", "--value", "1", "--attach", plan)
    assert refused.exit_code == 2
    assert "--attach goes with --text" in refused.output
