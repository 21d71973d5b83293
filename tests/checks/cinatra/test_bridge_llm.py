from __future__ import annotations

import pytest

from oas_compiler.findings.finding import Edit
from oas_compiler.ir import Json
from tests.checks.cinatra.cinatra_case import INNER, PARTS, about, around, mail_agent, parts
from tests.checks.rule_case import findings, found

LLM = {"preferredProvider": "openai", "preferredModel": "gpt-5.5"}
WRITE = f"{PARTS}/write"


def preferring(llm, flow=None):
    flow = flow or mail_agent()
    about(flow)["llm"] = llm
    return flow


def test_a_bridge_call_repeats_what_the_root_prefers_and_the_fix_copies_it():
    flow = preferring(LLM)
    (finding,) = findings(flow, "OAS122")
    assert finding.pointer == WRITE
    assert finding.fix == (Edit(pointer=f"{WRITE}/data/cinatra_llm", value=Json.of(LLM)),)
    parts(flow)["write"]["data"]["cinatra_llm"] = LLM
    assert found(flow, "OAS122") == []


def test_a_call_may_prefer_another_model():
    flow = preferring(LLM)
    parts(flow)["write"]["data"]["cinatra_llm"] = {"preferredProvider": "gemini"}
    assert found(flow, "OAS122") == []


@pytest.mark.parametrize("llm", [None, {}, "openai"])
def test_a_root_that_prefers_nothing_asks_for_nothing(llm):
    assert found(preferring(llm), "OAS122") == []


def test_calls_in_subflows_count_and_the_subflow_s_own_metadata_does_not():
    assert found(preferring(LLM, around(mail_agent())), "OAS122") == [f"{INNER}{WRITE}"]
    assert found(around(preferring(LLM)), "OAS122") == []


def test_other_api_nodes_need_none():
    flow = preferring(LLM)
    parts(flow)["write"]["url"] = "{{CINATRA_BASE_URL}}/api/agents/passthrough"
    assert found(flow, "OAS122") == []


def test_without_data_the_fix_adds_it_and_other_bodies_are_left_alone():
    flow = preferring(LLM)
    parts(flow)["write"]["data"] = "text"
    assert findings(flow, "OAS122")[0].fix == ()
    parts(flow)["write"]["content"] = {"cinatra_llm": LLM}
    del parts(flow)["write"]["data"]
    (finding,) = findings(flow, "OAS122")
    assert finding.fix == (Edit(pointer=f"{WRITE}/data", value=Json.of({"cinatra_llm": LLM})),)


def test_a_key_that_is_spelt_almost_so_is_named_and_gets_no_second_one_beside_it():
    flow = preferring(LLM)
    parts(flow)["write"]["data"]["cinatra_lm"] = LLM
    (finding,) = findings(flow, "OAS122")
    assert finding.fix == ()
    assert finding.hint == '"cinatra_lm" in data is read by nobody: did you mean "cinatra_llm"?'
