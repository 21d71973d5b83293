"""A ToolNode over a RemoteTool: the call of an ApiNode, and a person who confirms it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest

from cinatra_sdk import Decision
from cinatra_sdk.testing import adrive, drive
from oas_compiler import Flow, compile_flow
from oas_compiler.explain import explain
from oas_compiler.ir import RemoteToolNode
from tests.attacks.leaks import CRM, http
from tests.checks.rule_case import findings
from tests.flows import end, flow_of, node, port, start

LENT = "canary-lent-4711"
RUNS = [drive, lambda *a, **k: asyncio.run(adrive(*a, **k))]


class Crm:
    """A server that keeps the requests and answers with a status."""

    def __init__(self, *statuses: int) -> None:
        self.requests: list[httpx2.Request] = []
        self.statuses = list(statuses)

    def answer(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        status = self.statuses.pop(0) if self.statuses else 200
        return httpx2.Response(status, json={"told": f"saved {len(self.requests)}", "more": 1})


def described(**fields: Any) -> dict[str, Any]:
    return {
        "component_type": "RemoteTool", "id": "t", "name": "save_person", "description": "",
        "url": f"{CRM}/people/{{{{ id }}}}?v=1", "http_method": "post", "data": {"name": "{{ name }}"},
        "headers": {"X-Team": "7"}, "sensitive_headers": {"Authorization": "Bearer {{CRM_KEY}}"},
        "query_params": {"w": "{{ name }}"}, "outputs": [port("told")], **fields,
    }  # fmt: skip


def saving(cinatra: Any = None, **fields: Any) -> dict[str, Any]:
    inputs = [port("id", default="7"), port("name", default="Ada")]
    made = flow_of(
        start(*inputs), node("ToolNode", "save", tool=described(**fields), cinatra=cinatra),
        end(port("told")),
        edges=[("start", "id", "save", "id"), ("start", "name", "save", "name"), ("save", "told", "end", "told")],
    )  # fmt: skip
    return {**made, "agentspec_version": "26.1.2"}


def compiled(crm: Crm, **fields: Any) -> Flow:
    return compile_flow(saving(**fields), platform=http(crm.answer), env={"CRM_KEY": LENT})


@pytest.mark.parametrize("run", RUNS)
def test_it_calls_as_an_api_node_does(run: Any) -> None:
    crm = Crm()
    assert run(compiled(crm), platform=http(crm.answer)).outputs == {"told": "saved 1"}
    (sent,) = crm.requests
    assert (sent.method, sent.url.raw_path) == ("POST", b"/people/7?v=1&w=Ada")
    assert json.loads(sent.content) == {"name": "Ada"}
    assert (sent.headers["x-team"], sent.headers["authorization"]) == ("7", f"Bearer {LENT}")
    assert sent.headers["idempotency-key"]


def test_its_inputs_follow_from_its_templates_and_one_output_takes_the_whole_answer() -> None:
    crm = Crm()
    flow = compiled(crm)
    (save,) = [one for one in flow.ir.nodes if one.id == "save"]
    assert isinstance(save, RemoteToolNode)
    assert [given.title for given in save.inputs] == ["id", "name"]
    made = saving()
    tool = made["$referenced_components"]["save"]["tool"]
    del tool["outputs"]
    save = next(one for one in explain_ir(made) if one.id == "save")
    assert [out.title for out in save.outputs] == ["response"]


def explain_ir(made: dict[str, Any]) -> Any:
    for edge in list(made["data_flow_connections"]):
        if edge["source_output"] == "told":
            edge["source_output"] = "response"
    return compile_flow(made).ir.nodes


@pytest.mark.parametrize("run", RUNS)
def test_a_confirmed_call_is_made_once_and_shown_without_its_secret(run: Any) -> None:
    crm = Crm()
    result = run(
        compiled(crm, requires_confirmation=True), platform=http(crm.answer), answers=[True]
    )
    assert result.outputs == {"told": "saved 1"}
    assert len(crm.requests) == 1
    (asked,) = result.gates
    assert asked.values == {
        "call": "save_person",
        "arguments": {"id": "7", "name": "Ada"},
        "request": f"POST {CRM}/people/7",
    }


@pytest.mark.parametrize(
    ("answer", "status", "outputs"),
    [
        (Decision.deny(by="ann", reason="no"), "completed", {"told": "[Denied by operator] no"}),
        (Decision.reject(by="ann"), "rejected", {}),
    ],
)
def test_a_call_that_nobody_confirmed_is_not_made(answer: Any, status: str, outputs: Any) -> None:
    crm = Crm()
    result = drive(
        compiled(crm, requires_confirmation=True), platform=http(crm.answer), answers=[answer]
    )
    assert (result.status, crm.requests) == (status, [])
    if outputs:
        assert result.outputs == outputs


def test_its_policy_repeats_it_under_one_key() -> None:
    crm = Crm(503)
    policy = {"max_attempts": 1, "initial_retry_delay": 0, "max_retry_delay": 0}
    flow = compiled(crm, retry_policy=policy)
    assert drive(flow, platform=http(crm.answer)).outputs == {"told": "saved 2"}
    keys = {sent.headers["idempotency-key"] for sent in crm.requests}
    assert (len(crm.requests), len(keys)) == (2, 1)


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"headers": {"Host": "x"}}, "OAS054", "headers/Host"),
        ({"http_method": "FETCH"}, "OAS053", "http_method"),
        ({"retry_policy": {"jitter": 3}}, "OAS022", "retry_policy/jitter"),
        ({"url_allow_list": ["x"]}, "OAS022", "url_allow_list/0"),
        ({"url": None}, "OAS023", ""),
    ],
)
def test_what_is_wrong_with_its_request_is_said_at_the_tool(
    fields: dict[str, Any], code: str, field: str
) -> None:
    places = [one.place.pointer for one in findings(saving(**fields), code)]
    at = "/$referenced_components/save/tool"
    assert places == [f"{at}/{field}" if field else at]


def test_an_explanation_names_the_tool_and_its_address() -> None:
    text = repr(explain(saving()))
    assert "save_person" in text
    assert "people" in text
