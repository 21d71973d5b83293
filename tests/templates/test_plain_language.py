"""Plain Agent Spec has one placeholder; what else stands between braces is text."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.data.templates.flow_templates import TemplateError, compile_template
from cinatra_sdk.testing import drive
from oas_compiler import check, compile_flow
from oas_compiler.templates import write_templates
from tests.flows import end, flow_of, message, node, plain, port, start

TEXTS = [
    ("{{a}} and {{ a }}", "A and A"),
    ("{{\n a\t}}", "A"),
    ("{{a.b}} {{ a|upper }} {{a}}", "{{a.b}} {{ a|upper }} A"),
    ("100 {% of {{a}} %}", "100 {% of A %}"),
    ("{# {{a}} #}", "{# A #}"),
    ("{{ and {{a}} }}", "{{ and A }}"),
    ("{{{a}}}", "{A}"),
    ("{{{{a}}}}", "{{A}}"),
    ("{{ }} {{a}} {{two words}}", "{{ }} A {{two words}}"),
    ('{{ "{" }} {{a}}', '{{ "{" }} A'),
    ("{% raw %}{{a}}{% endraw %}", "{% raw %}A{% endraw %}"),
    ("line\r{% one {{a}}", "line\n{% one A"),
    ("{{1st}} {{a}}", "first A"),
    ("{", "{"),
    ("{{", "{{"),
]


@pytest.mark.parametrize(("text", "says"), TEXTS)
def test_only_a_name_between_two_braces_is_a_placeholder(text: str, says: str) -> None:
    written = write_templates(text)
    assert isinstance(written, str)
    assert compile_template(written).text({"a": "A", "1st": "first"}) == says


WORDS_OF_JINJA = [
    "true", "false", "none", "True", "None", "not", "in", "is", "if", "and", "loop", "self",
    "1", "1e5", "0x1F", "1_000", "é", "²", "tojson", "range", "__class__",
]  # fmt: skip


@pytest.mark.parametrize("name", WORDS_OF_JINJA)
def test_a_word_of_jinja_is_a_name_like_any_other(name: str) -> None:
    written = write_templates(f"{{{{{{ {name} }}}}}} of {{{{{name}}}}}, {{{{a}}}}")
    alone = write_templates(f"{{{{ {name}\t}}}}")
    assert isinstance(written, str)
    assert isinstance(alone, str)
    values = {name: "V", "a": "A"}
    assert compile_template(written).text(values) == "{V} of V, A"
    assert compile_template(alone).value({name: [1]}) == [1]


def test_such_a_word_without_a_value_is_named_in_the_error() -> None:
    written = write_templates("{{ true }}!")
    assert isinstance(written, str)
    with pytest.raises(TemplateError, match='"true" has no value'):
        compile_template(written).text({"a": "A"})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("one\r\n{{not}}\rthree", "one\nN\nthree"),
        ("{{\u00a0a}} {{\ra}} {{not}}", "A A N"),
        ("{{ not }}{% {# {{ not.a }}", "N{% {# {{ not.a }}"),
    ],
)
def test_what_stands_around_such_a_word_stays(text: str, says: str) -> None:
    written = write_templates(text)
    assert isinstance(written, str)
    assert compile_template(written).text({"a": "A", "not": "N"}) == says


@pytest.mark.parametrize("name", ["true", "not", "1", "é"])
def test_a_flow_gives_an_input_of_such_a_name(name: str) -> None:
    made = plain(
        flow_of(
            start(port(name)), message("say", f"{{{{ {name} }}}}!", port(name)), end(),
            edges=[("start", name, "say", name)],
        )
    )  # fmt: skip
    assert drive(compile_flow(made), {name: "x"}).messages == ("x!",)
    del made["$referenced_components"]["say"]["inputs"]
    assert drive(compile_flow(made), {name: "x"}).messages == ("x!",)


@pytest.mark.parametrize("text", ["{{ a }}", "x {{a}} y {{b}}", '{"a": {"b": {{a}}}}', "", "} %}"])
def test_a_text_with_no_other_marks_stays_as_it_is(text: str) -> None:
    assert write_templates(text) == text


def test_keys_and_lists_are_written_too() -> None:
    assert write_templates({"{% {{a}}": ["{#", 1, None]}) == {
        '{{ "{" }}% {{a}}': ['{{ "{" }}#', 1, None]
    }


SAID = "{{ a|upper }} {% if a %}{{ a }}"


def saying(text: str = SAID, **more: Any) -> dict[str, Any]:
    return flow_of(
        start(port("a")), message("say", text, port("a")), end(port("a")),
        edges=[("start", "a", "say", "a"), ("start", "a", "end", "a")], **more,
    )  # fmt: skip


def test_a_plain_document_says_it_as_it_stands_and_is_warned() -> None:
    made = plain(saying())
    assert drive(compile_flow(made), {"a": "x"}).messages == ("{{ a|upper }} {% if a %}x",)
    (warned,) = [one for one in check(made).warnings if one.code == "OAS083"]
    assert "{{ a|upper }}" in warned.message
    assert warned.pointer.endswith("/say/message")


@pytest.mark.parametrize("sign", ["flow", "node", "platform", "extended"])
def test_a_document_of_cinatra_or_wayflow_has_the_wider_language(sign: str) -> None:
    text = "{{ a|upper }}{% if a %}!{% endif %} {{ a }}"
    made = saying(text) if sign == "flow" else plain(saying(text))
    if sign == "node":
        made["$referenced_components"]["say"]["metadata"] = {"cinatra": {}}
    if sign == "platform":
        made["description"] = "calls {{CINATRA_BASE_URL}}"
    if sign == "extended":
        made["component_type"] = "ExtendedFlow"
    assert drive(compile_flow(made), {"a": "x"}).messages == ("X! x",)


def test_braces_in_the_prompt_and_the_data_of_a_call_are_kept() -> None:
    api = node(
        "ApiNode", "call", url="https://api.example.com/x", http_method="POST",
        data={"{{a}}": "{{ a.b }}", "q": ["{%", "{{a}}"]}, inputs=[port("a")], outputs=[port("r")],
    )  # fmt: skip
    made = plain(
        flow_of(
            start(port("a")), api, end(port("r")),
            edges=[("start", "a", "call", "a"), ("call", "r", "end", "r")],
        )
    )  # fmt: skip
    ran = drive(compile_flow(made), {"a": "x"}, stubs={"call": {"r": "ok"}})
    assert ran.calls[0].body == {"x": "{{ a.b }}", "q": ["{%", "x"]}
