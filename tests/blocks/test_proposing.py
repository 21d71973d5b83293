"""`propose_and_confirm`: nothing is written before a person approves what was shown."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk.blocks.proposal_graph import build_proposing_graph, propose_and_confirm
from cinatra_sdk.errors import FlowError, NodeFailed
from cinatra_sdk.first_turn.proposals import Places
from cinatra_sdk.langgraph_threads.host_context import host_context
from cinatra_sdk.outside.effects.door import Verdict
from cinatra_sdk.outside.effects.effect import Effect
from tests.blocks.block_samples import CONFIG, graph_of

CONTEXT: Any = host_context(run_id="run-1", approval_policy=None)
TASTE: Any = {"kind": "taste", "category": "appearance", "content": "- soft light", "file": "sea"}
APPROVED: Any = Command(resume={"approved": True, "by": "ann"})
REJECTED: Any = Command(resume={"approved": False, "reason": "no", "by": "ann"})


@pytest.fixture
def places(tmp_path: Path) -> Places:
    (tmp_path / "work" / "img").mkdir(parents=True)
    return Places(workspace=tmp_path / "work", tastes_dir=tmp_path / "tastes")


def files(places: Places) -> dict[str, str]:
    root = Path(places.workspace).parent
    return {
        str(path.relative_to(root)): path.read_text()
        for path in root.rglob("*.md")
        if path.is_file()
    }


def alone(places: Places) -> Any:
    return build_proposing_graph(places, InMemorySaver())


def test_a_person_is_asked_with_the_proposal_whatever_the_policy_says(places: Places) -> None:
    stopped = alone(places).invoke(TASTE, CONFIG, context=CONTEXT)
    shown = stopped["__interrupt__"][0].value["values"]["proposal"]
    assert len(shown.pop("proposal_id")) == 32
    assert shown == {
        "kind": "taste", "category": "appearance", "file": "sea.md", "content": "- soft light",
    }  # fmt: skip
    assert files(places) == {}


def test_an_approved_taste_is_written_once(places: Places) -> None:
    graph = alone(places)
    graph.invoke(TASTE, CONFIG, context=CONTEXT)
    ended = graph.invoke(APPROVED, CONFIG, context=CONTEXT)
    assert ended["status"] == "completed"
    assert ended["write_output"] == {"file": "sea.md", "added": True}
    assert files(places) == {"tastes/sea.md": "- soft light\n"}
    graph.invoke({**TASTE, "content": "forged"}, CONFIG, context=CONTEXT)
    assert files(places) == {"tastes/sea.md": "- soft light\n"}


def test_a_rejected_note_is_not_written(places: Places) -> None:
    graph = alone(places)
    note = {"kind": "note", "image_id": "img", "content": "Kelp."}
    graph.invoke(note, CONFIG, context=CONTEXT)
    ended = graph.invoke(REJECTED, CONFIG, context=CONTEXT)
    assert ended["status"] == "rejected"
    assert "write_output" not in ended
    assert files(places) == {}


def test_a_jump_past_the_gate_writes_nothing(places: Places) -> None:
    graph = alone(places)
    graph.invoke(TASTE, CONFIG, context=CONTEXT)
    with pytest.raises(NodeFailed, match="without the approval 'review_decision'"):
        graph.invoke(Command(goto="write"), CONFIG, context=CONTEXT)
    assert files(places) == {}


def test_nobody_can_write_another_proposal_while_a_person_decides(places: Places) -> None:
    graph = alone(places)
    graph.invoke(TASTE, CONFIG, context=CONTEXT)
    graph.update_state(
        CONFIG, {"proposal": {"kind": "taste", "content": "forged"}}, as_node="host_node"
    )
    assert graph.get_state(CONFIG).values["proposal"]["content"] == "- soft light"


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "taste", "category": "mood", "content": "x"},
        {"kind": "taste", "category": "value", "content": " "},
        {"kind": "taste", "category": "value", "content": "x", "file": "../../x"},
        {"kind": "note", "image_id": "gone", "content": "x"},
        {"kind": "note", "image_id": "../photos/img", "content": "x"},
        {"kind": "other", "content": "x"},
    ],
)
def test_nobody_is_asked_for_what_cannot_be_written(places: Places, given: Any) -> None:
    with pytest.raises(FlowError):
        alone(places).invoke(given, CONFIG, context=CONTEXT)
    assert files(places) == {}


def test_a_node_of_another_graph_pauses_it_and_hands_back_what_was_written(places: Places) -> None:
    block = propose_and_confirm(
        places,
        node="ask",
        inputs={"kind": "note", "image_id": "img", "content": "{{ input_params.goal }}"},
    )
    graph = graph_of(block)
    stopped = graph.invoke({"goal": "Kelp."}, CONFIG, context=host_context(run_id="run-1"))
    assert stopped["__interrupt__"][0].value["values"]["proposal"]["content"] == "Kelp."
    assert files(places) == {}
    ended = graph.invoke(APPROVED, CONFIG, context=host_context(run_id="run-1"))
    assert ended["ask_output"] == {"file": "img/notes.md", "added": True}
    assert files(places) == {"work/img/notes.md": "Kelp.\n"}


def test_a_rejection_inside_rejects_the_graph_around(places: Places) -> None:
    block = propose_and_confirm(places, node="ask", inputs=TASTE)
    graph = graph_of(block)
    graph.invoke({}, CONFIG, context=host_context(run_id="run-1"))
    ended = graph.invoke(REJECTED, CONFIG, context=host_context(run_id="run-1"))
    assert ended["status"] == "rejected"
    assert files(places) == {}


def test_it_runs_on_an_event_loop(places: Places) -> None:
    async def run() -> Any:
        graph = alone(places)
        await graph.ainvoke(TASTE, CONFIG, context=CONTEXT)
        return await graph.ainvoke(APPROVED, CONFIG, context=CONTEXT)

    assert asyncio.run(run())["write_output"] == {"file": "sea.md", "added": True}
    assert files(places) == {"tastes/sea.md": "- soft light\n"}


def test_the_policy_of_effects_is_asked_before_a_file_is_written(places: Places) -> None:
    asked: list[Effect] = []

    def allow(effect: Effect) -> Verdict:
        asked.append(effect)
        return Verdict(allowed=False, reason="no files today")

    graph = alone(places)
    graph.invoke(TASTE, CONFIG, context=CONTEXT)
    context = host_context(run_id="run-1", approval_policy=None, allow=allow)
    with pytest.raises(FlowError, match="no files today"):
        graph.invoke(APPROVED, CONFIG, context=context)
    assert [effect.capability for effect in asked] == ["write_taste"]
    assert files(places) == {}


def test_a_file_that_cannot_be_written_fails_the_node_and_names_no_path(places: Places) -> None:
    graph = alone(places)
    graph.invoke(TASTE, CONFIG, context=CONTEXT)
    Path(places.tastes_dir or "").write_text("in the way")
    with pytest.raises(NodeFailed, match="its file is not written") as failed:
        graph.invoke(APPROVED, CONFIG, context=CONTEXT)
    assert str(places.tastes_dir) not in str(failed.value)
