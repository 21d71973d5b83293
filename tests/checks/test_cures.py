"""What hints say: the cure, in the words of the file that is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest

from oas_compiler import check
from oas_compiler.component_facts.component import with_article
from oas_compiler.component_facts.inference import cure
from oas_compiler.ir import ANY, STRING, ObjectType, ScalarType
from oas_compiler.ir.printout import contrast
from tests.samples import found_in, needs_corpus, only, plain, small, text

BLOCK = "$referenced_components"


def body(template: str) -> Any:
    return small(write={"data": {"user": template, "also": "{{ topic }}"}})


@pytest.mark.parametrize(
    ("template", "hint"),
    [
        ("{{ topic ? topic : 'x' }}", "write {{ topic if topic else 'x' }}"),
        ("{{ topic || 'x' }}", "write or instead of ||"),
        ("{{ topic && 'x' }}", "write and instead of &&"),
        ("{{ topic === 'x' }}", "write == instead of ==="),
        ("{% if topic !== 'x' %}y{% endif %}", "write != instead of !=="),
        ("{{ topic ?? 'x' }}", "write {{ a | default(b) }} instead of ??"),
        ("{{ !topic }}", "write not instead of !"),
    ],
)
def test_javascript_in_a_template_gets_the_word_of_the_language(template: str, hint: str):
    assert only(body(template), "OAS080").hint == hint


def test_what_is_no_javascript_is_told_about_raw():
    assert "{% raw %}" in only(body("{{ 'a || b' topic }}"), "OAS080").hint
    assert found_in(body("{{ topic or 'a ? b : c' }}")) == []


def test_a_long_choice_is_not_repeated():
    assert cure(f"{{{{ a ? '{'x' * 100}' : c }}}}") == (
        "write {{ b if a else c }} instead of a ? b : c"
    )
    assert cure("{{" * 5_000) == ""


@pytest.mark.parametrize(
    ("name", "article"),
    [
        ("ApiNode", "an"), ("InputMessageNode", "an"), ("EndNode", "an"), ("OutputMessageNode", "an"),
        ("LlmNode", "an"), ("MCPTool", "an"), ("FlowNode", "a"), ("StartNode", "a"), ("", "a"),
    ],
)  # fmt: skip
def test_types_have_the_article_that_is_spoken(name: str, article: str):
    assert with_article(name) == f"{article} {name}"


def test_messages_use_it():
    assert '"url" of an ApiNode must' in only(small(write={"url": 7}), "OAS022").message


def test_a_node_that_is_named_by_a_plain_string_gets_the_reference():
    broken = small()
    broken["nodes"][1] = "write"
    assert only(broken, "OAS022").hint == 'write {"$component_ref": "write"}'
    broken["nodes"][1] = "wrote"
    assert only(broken, "OAS022").hint == (
        'write {"$component_ref": "…"} with the name of a component'
    )


def test_a_misspelt_required_field_is_found_where_it_stands():
    broken = small()
    node = broken[BLOCK]["write"]
    node["http_metod"] = node.pop("http_method")
    found = only(broken, "OAS023")
    assert found.pointer == f"/{BLOCK}/write/http_metod"
    assert found.message == 'the ApiNode "write" has no "http_method", it has "http_metod"'
    assert found.hint == 'did you mean "http_method"?'
    node["http_method"] = "POST"
    assert only(broken, "OAS024").hint == 'did you mean "http_method"?'


def test_a_legacy_key_at_the_flow_is_called_so():
    assert "legacy" in only(small(flow={"approvalPolicy": {}}), "OAS024").hint
    assert "legacy" not in only(small(write={"approvalPolicy": {}}), "OAS024").hint


def test_metadata_of_the_wrong_form_gets_its_form():
    broken = small()
    broken[BLOCK]["start"]["metadata"]["cinatra"]["hidden"] = "topic"
    assert only(broken, "OAS038").hint == 'write "hidden": ["topic"]'


@pytest.mark.parametrize("written", ['{"a": 1,}', '{"a": [1, 2,\n]}', '{"a": 1 ,\n }'])
def test_a_comma_after_the_last_entry_is_found_where_it_stands(written: str):
    (found,) = check(written.encode())
    assert (found.code, found.hint) == ("OAS004", "remove the comma")
    lines = written.splitlines()
    assert lines[found.line - 1][found.column - 1] == ","


@pytest.mark.parametrize(
    ("written", "says", "hint", "column"),
    [
        ('{"a": 1,, "b": 2}', "a comma stands where an entry should", "remove the comma", 9),
        ('{"a": 1,', "the file ends and a bracket is still open", "close with }", 9),
        ('{"a" 1}', "a colon is missing", 'write "name": value', 6),
        ('{"a": 1}}', "more text stands after the end", "remove it", 9),
        ('{"a": 1 "b": 2}', 'a comma is missing before "b"', "write a comma before it", 9),
        ('{"a": \'b\'}', "single quotes", "double quotes", 7),
        ('{"a": True}', "True is no word of JSON", "write true", 7),
        ('{"a": 1} // x', "a comment stands in the file", "remove the comment", 10),
        ('{"a": [1, 2}', "} stands where ] should", "close with ] first", 12),
        ('{"a": "b\n}', "a text is not closed on its line", 'close it with a "', 7),
        ('{"a": "b\\q"}', "a backslash stands before a sign", "write two", 9),
        ('{"a": }', "a value is missing after the colon", "write a value", 7),
        ('{"a": 01}', "a number is written in a way", "as in 5", 7),
        ('{"a": sk-abcdefgh}', "a word stands without quotes", "double quotes", 7),
    ],
)  # fmt: skip
def test_a_flaw_of_json_is_told_in_words_and_at_its_place(
    written: str, says: str, hint: str, column: int
):
    (found,) = check(written.encode())
    assert found.code == "OAS004"
    assert says in found.message
    assert hint in found.hint
    assert found.column == column
    assert "sk-" not in found.message + found.hint


@pytest.mark.parametrize("wrong", ["x", 7, 1.5])
def test_items_that_are_no_schema_are_found_where_they_stand(wrong: Any):
    def listing(items: Any, **more: Any) -> Any:
        port = {"title": "draft", "type": "array", "items": items, **more}
        return small(write={"outputs": [port]}, end={"outputs": [text("draft")]})

    found = only(listing(wrong), "OAS022")
    assert found.pointer == f"/{BLOCK}/write/outputs/0/items"
    for good in ({}, True, {"type": "string"}, None):
        assert found_in(listing(good)) == []


def test_properties_that_are_no_object_are_found_too():
    port = {"title": "draft", "type": "object", "json_schema": {"properties": ["a"]}}
    found = only(small(write={"outputs": [port]}), "OAS022")
    assert found.pointer == f"/{BLOCK}/write/outputs/0/json_schema/properties"
    port["json_schema"]["properties"] = {"a": {"type": "string"}}
    assert found_in(small(write={"outputs": [port]})) == []


def test_two_types_that_look_the_same_are_told_apart():
    one, other = ObjectType(), ObjectType(additional=None)
    assert contrast(one, other) == ("object", "object{nothing else}")
    assert contrast(one, ObjectType(additional=ScalarType("integer"))) == (
        "object",
        "object{…: integer}",
    )
    named = ObjectType(properties=(("a", STRING),))
    assert contrast(named, other) == ("object{a: string}", "object")
    assert contrast(ANY, STRING) == ("any", "string")


def answering(schema: Any) -> Any:
    from tests.samples import with_node

    about = {"cinatra": {"inputMessageSchema": schema}}
    gate = {"component_type": "InputMessageNode", "id": "ask", "outputs": [text("a")]}
    return with_node({**gate, "metadata": about})


def test_a_list_of_items_is_told_the_word_of_the_draft_that_is_read():
    pair = [{"type": "string"}, {"type": "integer"}]
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "items": pair}
    found = only(answering(old), "OAS093")
    assert found.pointer.endswith("/inputMessageSchema/items")
    assert "Draft 2020-12 is read" in found.message
    assert found.hint == "rename items to prefixItems, and additionalItems to items"
    del old["items"]
    assert found_in(answering({**old, "prefixItems": pair})) == []


# ------------------------------------------------------------------ what is meant for Cinatra


def rules_of(source: Any) -> set[str]:
    return {found.code for found in check(source)}


def lone() -> Any:
    """No sign of Cinatra at all."""
    made = plain()
    made[BLOCK]["write"]["url"] = "https://api.example.com"
    return made


def test_a_flow_without_any_sign_of_cinatra_is_left_alone():
    assert "OAS102" not in rules_of(lone())


@pytest.mark.parametrize("block", [None, 7, [], {}])
def test_a_root_block_of_any_value_is_a_sign(block: Any):
    assert "OAS102" in rules_of(lone() | {"metadata": {"cinatra": block}})
    assert "OAS102" not in rules_of(lone() | {"metadata": {"other": block}})


def test_the_block_of_a_component_is_a_sign():
    made = lone()
    made[BLOCK]["start"]["metadata"] = {"cinatra": {"required": ["topic"], "hidden": []}}
    assert "OAS102" in rules_of(made)


def test_a_call_of_the_platform_is_a_sign():
    made = lone()
    made[BLOCK]["write"]["url"] = "{{ CINATRA_BASE_URL }}/api/llm-bridge"
    assert "OAS102" in rules_of(made)


@pytest.mark.parametrize(
    ("name", "is_sign"),
    [
        ("cinatra/oas.json", True), ("cinatra/agent.json", True), ("oas.json", False),
        ("cinatra/other.json", False), ("flows/cinatra.json", False),
    ],
)  # fmt: skip
def test_the_place_of_the_file_is_a_sign(tmp_path, name: str, is_sign: bool):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(lone()), encoding="utf-8")
    assert ("OAS102" in rules_of(path)) is is_sign


@needs_corpus
def test_a_real_flow_that_lost_its_metadata_is_told():
    from tests.samples import agent

    document = json.loads(agent("email-outreach-agent").read_text(encoding="utf-8"))
    assert "OAS102" not in rules_of(document)
    del document["metadata"]
    assert "OAS102" in rules_of(document)
