"""Compiled flows under the rules of a pack: every acting node goes through the gateway."""

from __future__ import annotations

import asyncio
import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.gates.decisions import Decision
from cinatra_sdk.governance.contracts.context_pack import ContextPack
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.run.host_ports import GovernancePorts
from cinatra_sdk.testing import adrive, drive
from oas_compiler import compile_flow
from tests.flows import api, end, flow_node, flow_of, gate, node, port, start, tool
from tests.governance.small_pack import SEND, make_small_pack

GATED = [{"rule_id": "R1", "then": {"requires_approval_gate": "G"}}]
FLOW = flow_of(
    start(port("to")), api("send", outputs=[port("id")], data={"to": "{{to}}"}, inputs=[port("to")]),
    end(port("id")), edges=[("start", "to", "send", "to"), ("send", "id", "end", "id")],
)  # fmt: skip


def run(flow: Any, pack: Any, answers: Any = None, **more: Any) -> Any:
    ports = more.pop("ports", None)
    made = compile_flow(flow, governance=Governance.of(pack, ports=ports), **more)
    return drive(made, {"to": "bob"}, answers=answers, stubs={"send": {"id": "m1"}})


def test_a_gate_of_the_pack_is_a_phase_of_the_node() -> None:
    waiting = run(FLOW, make_small_pack(GATED))
    assert waiting.status == "waiting"
    (asked,) = waiting.gates
    assert (asked.id, asked.node, waiting.calls) == ("send:G", "send", ())
    values = asked.payload["values"]
    assert values["call"] == "mail.send"
    assert values["arguments"]["body"] == {"to": "bob"}
    assert values["evidence_snapshot_hash"].startswith("sha256:")
    done = run(FLOW, make_small_pack(GATED), [True])
    assert (done.status, len(done.calls), done.outputs) == ("completed", 1, {"id": "m1"})
    assert run(FLOW, make_small_pack(GATED), [False]).status == "rejected"
    denied = run(FLOW, make_small_pack(GATED), [Decision.deny(by="ann")])
    assert (denied.status, denied.calls) == ("completed", ())


@pytest.mark.parametrize(
    ("pack", "code"),
    [
        (make_small_pack([{"rule_id": "R", "then": {"allow": False}}]), "POLICY_DENIED"),
        (make_small_pack(binds_to="POST https://elsewhere"), "CAPABILITY_UNSURFACED"),
        (make_small_pack(safety="read_only"), "MODE_EXCEEDS_SAFETY"),
        (make_small_pack(mode="destructive", safety="destructive"), "DELEGATION_REQUIRED"),
        (make_small_pack(scopes=["mail.send"]), "DELEGATION_REQUIRED"),
        (make_small_pack(arg_schema={"required": ["subject"]}), "ARGUMENTS_INVALID"),
        (make_small_pack([{"rule_id": "R", "then": {"requires": ["kg:x:"]}}]), "EVIDENCE_MISSING"),
        (make_small_pack(kind="tool"), "CAPABILITY_UNSURFACED"),
    ],
)
def test_what_a_pack_does_not_let_through_fails_with_its_code(pack: Any, code: str) -> None:
    failed = run(FLOW, pack)
    assert failed.status == "failed"
    assert getattr(failed.error, "code", "") == code
    assert failed.calls == ()


def test_a_pack_may_be_given_as_json_and_nothing_else() -> None:
    flow = compile_flow(FLOW, governance=make_small_pack().to_json())
    assert drive(flow, {"to": "bob"}, stubs={"send": {"id": "m1"}}).status == "completed"
    with pytest.raises(GovernanceRefused, match="ContextPack: contract_meta"):
        compile_flow(FLOW, governance={})
    with pytest.raises(TypeError, match="governance is a str: give Governance"):
        compile_flow(FLOW, governance="packs/ctxpack.small@1.0.0.json")  # type: ignore[arg-type]  # the mistake


def test_a_pack_that_contradicts_itself_is_refused_where_it_is_compiled() -> None:
    rules = [{"rule_id": "R", "then": {"requires_approval_gate": "NO_GATE"}}]
    with pytest.raises(GovernanceRefused, match=r"'ctxpack\.small@1\.0\.0': rule 'R' asks at"):
        compile_flow(FLOW, governance=make_small_pack(rules))


def test_packs_that_are_one_text_and_registries_that_are_none_are_named() -> None:
    one = Governance.of(make_small_pack())
    ref = one.pack_refs[0]
    texts = compile_flow(FLOW, governance=replace(one, pack_refs=ref))  # type: ignore[arg-type]  # the mistake
    with pytest.raises(NotConfigured) as caught:
        drive(texts, {"to": "bob"})
    assert caught.value.hint == "Governance(pack_refs=('ctxpack.small@1.0.0',))"
    folder = compile_flow(FLOW, governance=replace(one, registry="packs"))  # type: ignore[arg-type]  # the mistake
    with pytest.raises(NotConfigured, match="is a str, which loads no packs"):
        drive(folder, {"to": "bob"})


def test_the_smallest_pack_of_the_page_does_what_it_says() -> None:
    page = (Path(__file__).parents[2] / "docs" / "governance.md").read_text(encoding="utf-8")
    pack = json.loads(page.partition("```json\n")[2].partition("```")[0])
    flow = compile_flow(FLOW, governance=pack)
    inside, outside = (
        drive(flow, {"to": to}, stubs={"send": {"id": "m1"}})
        for to in ("bob@acme.example", "bob@elsewhere.example")
    )
    assert inside.status == "completed"
    assert [gate.id for gate in outside.gates] == ["send:GATE_OUTSIDE"]


def test_a_pack_that_lets_it_through() -> None:
    assert run(FLOW, make_small_pack()).status == "completed"


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("confirmed", [False, True])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("wrong", [0, 1, 2])
def test_the_stricter_wins(own: bool, confirmed: bool, packed: bool, wrong: int) -> None:
    """Gates of the file, of the tool and of the pack: the call is made when all of them were passed."""
    call = tool("send", "send", [port("to")], [port("id")])
    call["tool"]["requires_confirmation"] = confirmed
    nodes = [start(port("to")), *([gate("own")] if own else []), call, end(port("id"))]
    flow = flow_of(*nodes, edges=[("start", "to", "send", "to"), ("send", "id", "end", "id")])
    made: list[str] = []
    pack = make_small_pack(GATED if packed else (), kind="tool", binds_to="send")
    compiled = compile_flow(
        flow, governance=Governance.of(pack), tools={"send": lambda to: made.append(to) or "m1"}
    )
    gates = own + confirmed + packed
    answers = [True] * gates
    if wrong < gates:
        answers[wrong] = False
    done = drive(compiled, {"to": "bob"}, answers=answers)
    assert len(done.gates) == min(gates, wrong + 1 if wrong < gates else gates)
    assert made == (["bob"] if wrong >= gates else [])
    assert done.status == ("completed" if wrong >= gates else "rejected")


def test_nodes_inside_subflows_stand_under_the_rules_too() -> None:
    inner = flow_of(
        start(port("to")), api("send", outputs=[port("id")], data={"to": "{{to}}"}, inputs=[port("to")]),
        end(port("id")), edges=[("start", "to", "send", "to"), ("send", "id", "end", "id")], id_="inner",
    )  # fmt: skip
    outer = flow_of(
        start(port("to")), flow_node("sub", inner), end(port("id")),
        edges=[("start", "to", "sub", "to"), ("sub", "id", "end", "id")],
    )  # fmt: skip
    waiting = run(outer, make_small_pack(GATED))
    assert [one.id for one in waiting.gates] == ["sub/send:G"]
    assert run(outer, make_small_pack(GATED), [True]).status == "completed"
    assert run(outer, make_small_pack(GATED), [False]).calls == ()


def test_each_element_of_a_map_asks_by_itself() -> None:
    inner = flow_of(
        start(port("to")), api("send", outputs=[port("id")], data={"to": "{{to}}"}, inputs=[port("to")]),
        end(port("id")), edges=[("start", "to", "send", "to"), ("send", "id", "end", "id")], id_="inner",
    )  # fmt: skip
    each = node(
        "MapNode", "each", subflow=inner,
        inputs=[{"title": "iterated_to", "type": "array", "items": {"type": "string"}}],
        outputs=[{"title": "collected_id", "type": "array", "items": {"type": "string"}}],
        reducers={"id": "append"},
    )  # fmt: skip
    listed = {"title": "all", "type": "array", "items": {"type": "string"}}
    flow = flow_of(
        start(listed), each, end({**listed, "title": "ids"}),
        edges=[("start", "all", "each", "iterated_to"), ("each", "collected_id", "end", "ids")],
    )  # fmt: skip
    made = compile_flow(flow, governance=Governance.of(make_small_pack(GATED)))
    done = drive(made, {"all": ["a", "b", "c"]}, answers=[True] * 3, stubs={"send": {"id": "m"}})
    assert done.status == "completed", done.error
    assert len({one.id for one in done.gates}) == 3
    assert [call.body for call in done.calls] == [{"to": one} for one in "abc"]


def test_questions_to_models_are_calls_too() -> None:
    ask = node(
        "LlmNode", "ask", prompt_template="Say hello to {{to}}", inputs=[port("to")],
        outputs=[port("text")],
        llm_config={"component_type": "OpenAiConfig", "id": "m", "name": "m", "model_id": "gpt-5"},
    )  # fmt: skip
    flow = flow_of(
        start(port("to")), ask, end(port("text")),
        edges=[("start", "to", "ask", "to"), ("ask", "text", "end", "text")],
    )  # fmt: skip
    models = {"*": FakeListChatModel(responses=["hi"])}
    for binds_to, status in (
        ("openai/gpt-5", "completed"),
        ("*", "completed"),
        ("openai/x", "failed"),
    ):
        pack = make_small_pack(kind="model", binds_to=binds_to)
        done = drive(
            compile_flow(flow, governance=Governance.of(pack), models=models), {"to": "bob"}
        )
        assert done.status == status, done.error


def test_asynchronous_runs_stand_under_the_same_rules() -> None:
    async def both() -> tuple[Any, Any]:
        made = compile_flow(FLOW, governance=Governance.of(make_small_pack(GATED)))
        done = await adrive(made, {"to": "bob"}, answers=[True], stubs={"send": {"id": "m1"}})
        refusing = make_small_pack([{"rule_id": "R", "then": {"allow": False}}])
        other = compile_flow(FLOW, governance=Governance.of(refusing))
        return done, await adrive(other, {"to": "bob"})

    done, denied = asyncio.run(both())
    assert (done.status, len(done.calls)) == ("completed", 1)
    assert denied.status == "failed"


def test_a_gate_that_asks_for_a_role_asks_again() -> None:
    pack = make_small_pack(GATED)
    raw = pack.to_json()
    raw["policy_layer"]["approval_gates"][0]["required_approver_role"] = "lead"
    strict = type(pack).read(raw)
    ports = GovernancePorts(roles_of=lambda _tenant, person: {"lead"} if person == "ann" else ())
    done = run(FLOW, strict, [Decision.approve(by="bob"), Decision.approve(by="ann")], ports=ports)
    assert done.status == "completed", done.error
    assert len(done.gates) == 2
    assert "note" in done.gates[1].payload["values"]
    nobody = run(FLOW, strict, [Decision.approve(by="bob")])
    assert (nobody.status, nobody.calls) == ("waiting", ())


def test_budgets_hold_over_all_nodes() -> None:
    calls = [api(f"send{n}", url="{{CINATRA_BASE_URL}}/api/send") for n in range(4)]
    flow = flow_of(start(port("to")), *calls, end())
    raw = make_small_pack().to_json()
    raw["pack_meta"]["environment_defaults"]["run_budget"] = {
        "total_tokens": 1000, "bucket_tokens": {"session": 500, "tool": 500}, "max_tool_calls": 2,
        "max_replan_attempts": 0, "wall_clock_ms": 60000, "max_cost_cents": 1.0,
    }  # fmt: skip
    pack = type(make_small_pack()).read(raw)
    failed = drive(compile_flow(flow, governance=Governance.of(pack)), {"to": "x"})
    assert getattr(failed.error, "code", "") == "BUDGET_EXCEEDED"
    assert len(failed.calls) == 2


def test_flows_without_a_pack_are_as_before() -> None:
    plain = drive(compile_flow(FLOW), {"to": "bob"}, stubs={"send": {"id": "m1"}})
    assert (plain.status, plain.gates) == ("completed", ())
    assert compile_flow(FLOW).recorder is None
    assert list(itertools.islice(compile_flow(FLOW).graph().nodes, 1))


def test_runs_whose_names_look_alike_together_are_two() -> None:
    rules = Governance.of(make_small_pack()).make_rules("flow")
    runs = [{"tenant": "acme/eu", "run_id": "r1"}, {"tenant": "acme", "run_id": "eu/r1"}]
    opened = [rules.open_session(one).admitted.run for one in runs]
    assert [(one.tenant_id, one.run_id) for one in opened] == [("acme/eu", "r1"), ("acme", "eu/r1")]


@pytest.mark.parametrize("binds_to", [SEND, "*"])
@pytest.mark.parametrize("is_first", [False, True])
def test_what_one_pack_forbids_no_other_allows(is_first: bool, binds_to: str) -> None:
    """The same call under two names: whichever pack is named first."""
    free = make_small_pack(binds_to=binds_to)
    text = json.dumps(free.to_json()).replace('"mail"', '"post"').replace(".small", ".other")
    for name in ("B", "P", "G"):
        text = text.replace(f'"{name}"', f'"{name}2"')
    forbids = ContextPack.read_json_text(text.replace('"allow": true', '"allow": false'))
    packs = [forbids, free] if is_first else [free, forbids]
    made = compile_flow(FLOW, governance=Governance.of(*packs))
    done = drive(made, {"to": "bob"}, stubs={"send": {"id": "m1"}})
    assert (getattr(done.error, "code", ""), done.calls) == ("CAPABILITY_UNSURFACED", ())
