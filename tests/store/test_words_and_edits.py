"""Questions and edits in a durable run: what is refused, and what the record of decisions keeps."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cinatra_sdk import AnswerInvalid, Decision, RunStore
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from oas_compiler import compile_flow
from tests.flows import end, flow_of, node, port, start, tool

ASKING = flow_of(
    start(), node("InputMessageNode", "city", message="Where do you live?", outputs=[port("said")]),
    end(port("said")), edges=[("city", "said", "end", "said")],
)  # fmt: skip


@pytest.fixture
def store(fresh_database: str) -> Any:
    with RunStore.open(fresh_database) as opened:
        yield opened


@pytest.mark.parametrize("value", [..., True, None, "", " \n", [], {}], ids=repr)
def test_no_approval_without_words_answers_a_question(store: RunStore, value: Any) -> None:
    flow = compile_flow(ASKING, platform=SimulatedPlatform())
    store.start(flow, {}, "r1")
    given = {} if value is ... else {"value": value}
    with pytest.raises(AnswerInvalid, match="gate 'city', 'said': "):
        store.answer("r1", "city", Decision.approve(by="ann", **given))
    assert store.decisions("r1") == []
    done = store.answer("r1", "city", Decision.approve(by="ann", value="Lyon"))
    assert (done.status, done.outputs) == ("completed", {"said": "Lyon"})


def test_an_edit_is_recorded_before_and_after_and_carried_out(store: RunStore) -> None:
    asking = tool("mail", "send", [port("to")], [port("told")])
    asking["tool"]["requires_confirmation"] = True
    sent: list[str] = []
    flow = compile_flow(
        flow_of(
            start(port("to")), asking, end(port("told")),
            edges=[("start", "to", "mail", "to"), ("mail", "told", "end", "told")],
        ),
        tools={"send": lambda to: sent.append(to) or "sent"},
    )  # fmt: skip
    store.start(flow, {"to": "ann"}, "r1")
    with pytest.raises(AnswerInvalid, match="to: not of type 'string'"):
        store.answer("r1", "mail", Decision.approve(by="eve", value={"to": 5}), flow=flow)
    done = store.answer("r1", "mail", Decision.approve(by="eve", value={"to": "bob"}), flow=flow)
    assert (done.status, sent) == ("completed", ["bob"])
    (kept,) = store.decisions("r1")
    assert (kept.kind, kept.decided_by) == ("approved", "eve")
    assert (kept.answer["before"], kept.answer["value"]) == ({"to": "ann"}, {"to": "bob"})
    json.dumps(kept.to_json())


def test_an_edit_that_changes_nothing_is_recorded_as_an_approval(store: RunStore) -> None:
    asking = tool("mail", "send", [port("to")], [port("told")])
    asking["tool"]["requires_confirmation"] = True
    flow = compile_flow(
        flow_of(start(port("to")), asking, end(), edges=[("start", "to", "mail", "to")]),
        tools={"send": lambda to: to},
    )
    store.start(flow, {"to": "ann"}, "r1")
    same = Decision.approve(by="eve", value={"to": "ann"})
    assert store.answer("r1", "mail", same, flow=flow).status == "completed"
    assert "before" not in store.decisions("r1")[0].answer
