from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import around, mail_agent
from tests.checks.rule_case import findings, found
from tests.flows import port


@pytest.mark.parametrize("field", ["inputs", "outputs"])
def test_both_lists_are_there_even_when_they_are_empty(field):
    flow = mail_agent()
    assert found(flow, "OAS103") == []
    assert found(flow | {field: []}, "OAS103") == []
    assert found(flow | {field: None}, "OAS103") == [""]
    del flow[field]
    (finding,) = findings(flow, "OAS103")
    assert finding.pointer == ""
    assert finding.hint == f'write "{field}": [] when there are none'


def test_a_descriptor_needs_a_type():
    flow = mail_agent() | {"outputs": [port("draft", None)]}
    assert found(flow, "OAS103") == ["/outputs/0"]


def test_a_type_is_one_string():
    flow = mail_agent() | {"outputs": [{"title": "draft", "type": ["string", "null"]}]}
    (finding,) = findings(flow, "OAS103")
    assert finding.pointer == "/outputs/0/type"
    assert finding.message == (
        """"draft" of the flow's outputs: its type must be one string, not a list"""
    )


def test_texts_of_a_descriptor_are_strings():
    flow = mail_agent() | {"outputs": [port("draft", description=7, format=[])]}
    assert found(flow, "OAS103") == ["/outputs/0/description", "/outputs/0/format"]
    flow = mail_agent() | {"outputs": [port("draft", description="x", format="markdown")]}
    assert found(flow, "OAS103") == []


@pytest.mark.parametrize("category", ["profile", "content", "project", "idea", "report"])
def test_the_categories_of_the_host_are_taken(category):
    flow = mail_agent() | {"outputs": [port("draft", cinatra={"category": category})]}
    assert found(flow, "OAS103") == []


@pytest.mark.parametrize("category", ["text", 7, ["idea"]])
def test_another_category_is_not(category):
    flow = mail_agent() | {"outputs": [port("draft", cinatra={"category": category})]}
    assert found(flow, "OAS103") == ["/outputs/0/cinatra/category"]


def test_an_annotation_that_is_no_object_is_reported_there():
    flow = mail_agent() | {"outputs": [port("draft", cinatra="content")]}
    assert found(flow, "OAS103") == ["/outputs/0/cinatra"]


def test_what_any_flow_needs_is_reported_once_and_not_here():
    flow = mail_agent() | {"outputs": [{"type": "string"}]}
    assert found(flow, "OAS029") == ["/outputs/0"]
    assert found(flow, "OAS103") == []
    flow = mail_agent() | {"outputs": [port("draft", "strng")]}
    assert found(flow, "OAS103") == []


def test_ports_of_a_subflow_may_be_of_any_type():
    inner = mail_agent()
    inner["outputs"] = [port("draft", None)]
    assert found(around(inner), "OAS103") == []


@pytest.mark.parametrize("items", [7, "string", True])
def test_items_is_an_object(items):
    flow = mail_agent()
    flow["inputs"][0] |= {"type": "array", "items": {"type": "string"}}
    assert found(flow, "OAS103") == []
    flow["inputs"][0]["items"] = items
    codes = [code for code in ("OAS022", "OAS103") if found(flow, code) == ["/inputs/0/items"]]
    assert codes == (["OAS103"] if items is True else ["OAS022"])  # valid elsewhere, or nowhere


def test_a_type_that_is_none_is_told_once():
    flow = mail_agent()
    flow["inputs"][0]["type"] = 7
    assert found(flow, "OAS037") == ["/inputs/0/type"]
    assert found(flow, "OAS103") == []
    flow["inputs"][0]["type"] = ["string"]
    assert found(flow, "OAS103") == ["/inputs/0/type"]
