from __future__ import annotations

import pytest

from oas_compiler.findings.finding import Edit
from oas_compiler.ir import Json
from tests.checks.cinatra.cinatra_case import INNER, PARTS, about, around, mail_agent, parts
from tests.checks.rule_case import findings, found

WRITE = f"{PARTS}/write"


def with_toolboxes(toolboxes, flow=None):
    flow = flow or mail_agent()
    about(flow)["toolboxes"] = toolboxes
    return flow


def test_a_bridge_call_repeats_the_toolboxes_and_the_fix_copies_them():
    flow = with_toolboxes(["web_search"])
    (finding,) = findings(flow, "OAS123")
    assert finding.pointer == WRITE
    edit = Edit(pointer=f"{WRITE}/data/toolbox_ids", value=Json.of(["web_search"]))
    assert finding.fix == (edit,)
    parts(flow)["write"]["data"]["toolbox_ids"] = ["cinatra-mcp"]
    assert found(flow, "OAS123") == []


@pytest.mark.parametrize("toolboxes", [[], None, "web_search", {}])
def test_no_toolboxes_ask_for_nothing(toolboxes):
    assert found(with_toolboxes(toolboxes), "OAS123") == []


def test_toolboxes_that_are_no_names_are_not_copied():
    (finding,) = findings(with_toolboxes([{"id": "x"}]), "OAS123")
    assert finding.fix == ()


def test_calls_in_subflows_count():
    flow = with_toolboxes(["web_search"], around(mail_agent()))
    assert found(flow, "OAS123") == [f"{INNER}{WRITE}"]
    assert found(around(with_toolboxes(["web_search"])), "OAS123") == []
