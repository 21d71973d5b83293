"""Placeholders: what a template needs, and what it may not do."""

from __future__ import annotations

import pytest

from cinatra_sdk.data.templates.language import MAX_OUTPUT
from cinatra_sdk.data.templates.placeholders import fill_environment
from oas_compiler.pipeline import compile_ir
from oas_compiler.templates import TemplateInvalid, TemplateReader, placeholders, strings
from oas_compiler.text.input_bounds import MAX_TEMPLATE, MAX_TEMPLATES
from tests.samples import errors, only, small


@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("no placeholder", ()),
        ("{{ a }} and {{b}}", ("a", "b")),
        ("{{ a|tojson }}", ("a",)),
        ("{{ a.b.c }}{{ d['x'] }}", ("a", "d")),
        ("{{ a or b }}{{ 1 if c else d }}", ("a", "b", "c", "d")),
        ("{% for r in refs %}{{ r.id }}{{ loop.index }}{% endfor %}", ("refs",)),
        ("{% if a and (b|length > 0) %}x{% else %}{{ c }}{% endif %}", ("a", "b", "c")),
        ("{# {{ hint }} #}", ()),
        ("{% raw %}{{ raw }}{% endraw %}", ()),
        ("{{CINATRA_BASE_URL}}/{{ path }}", ("path",)),
        ("{{ X }}{{ A_1 }}", ()),
        ("{{ Mixed }}", ("Mixed",)),
    ],
)
def test_names_come_from_the_syntax_tree(template, names):
    assert placeholders(template) == names


@pytest.mark.parametrize(
    "template",
    [
        "{{ a",
        "{% for %}",
        "{% set x = a %}{{ x }}",
        "{{ range(3) }}",
        "{{ 9**9**9**9 }}",
        "{{ 'a'|center(10**12) }}",
        "{% if 'a' * 10**12 %}{{ a }}{% endif %}",
        "{{ a ? b : c }}",
        "{{ a|nosuchfilter }}",
        "{% include 'x' %}",
        "{% extends base %}",
        "{% import 'x' as y %}",
        "{{ " + "(" * 50_000 + "a" + ")" * 50_000 + " }}",
        "{{ " + "not " * 50_000 + "a }}",
        "{{ " + "9" * 5_000 + " }}",
    ],
)
def test_a_template_that_cannot_be_used_raises_one_error(template):
    with pytest.raises(TemplateInvalid):
        placeholders(template)


def test_strings_are_found_at_any_depth_with_their_pointers():
    value = {"a": ["{{ x }}", {"b/c": "{{ y }}"}], "{{ k }}": 1, "plain": "text"}
    assert sorted(strings(value, "/data")) == [
        ("{{ k }}", "/data/{{ k }}"),
        ("{{ x }}", "/data/a/0"),
        ("{{ y }}", "/data/a/1/b~1c"),
    ]


class TestEnvironment:
    def test_known_upper_case_names_are_filled_in_and_others_stay(self):
        value = {"url": "{{BASE}}/{{ PATH_1 }}/{{OTHER}}/{{ base }}", "n": 1, "{{BASE}}": None}
        assert fill_environment(value, {"BASE": "http://h", "PATH_1": "p", "base": "no"}) == {
            "url": "http://h/p/{{OTHER}}/{{ base }}",
            "n": 1,
            "{{BASE}}": None,
        }

    def test_a_value_with_quotes_and_placeholders_is_taken_literally_and_once(self):
        assert fill_environment("{{A}}", {"A": '"{{B}}\n', "B": "x"}) == '"{{B}}\n'

    def test_only_the_given_mapping_counts(self, monkeypatch):
        monkeypatch.setenv("CINATRA_BASE_URL", "http://from-the-process")
        url = "{{CINATRA_BASE_URL}}/api/llm-bridge"
        assert getattr(compile_ir(small()).ir.node("write"), "url", None) == url
        filled = compile_ir(small(), env={"CINATRA_BASE_URL": "http://host"})
        assert getattr(filled.ir.node("write"), "url", None) == "http://host/api/llm-bridge"


class TestFindings:
    def test_a_placeholder_that_is_no_input_is_named_with_the_nearest_spelling(self):
        found = only(small(write={"data": {"deep": ["{{ topc }}"]}}), "OAS081")
        assert found.place.pointer == "/$referenced_components/write/data/deep/0"
        assert found.hint == 'did you mean "topic"?'

    def test_a_declared_input_that_no_template_uses_is_fine(self):
        assert not errors(small(write={"data": {"user": "constant"}}))

    def test_a_broken_template_is_shown_where_it_stands(self):
        found = only(small(write={"headers": {"X-Note": "{{ topic"}}), "OAS080")
        assert found.place.pointer == "/$referenced_components/write/headers/X-Note"

    @pytest.mark.parametrize("field", ["url", "http_method", "data", "query_params", "headers"])
    def test_every_templated_field_of_an_api_node_is_searched(self, field):
        template = "{{ nowhere }}"
        value = template if field in {"url", "http_method", "data"} else {"k": template}
        assert [code for code, _ in errors(small(write={field: value}))] == ["OAS081"]


def test_a_document_whose_templates_would_take_seconds_to_read_is_refused_from_there_on():
    reader = TemplateReader()
    assert reader.names("{{ topic }}" * 90_000) == ("topic",)
    assert reader.names("text " * 150_000 + "{{ x ~ 2 }}") == ("x",)
    for number in range(MAX_TEMPLATES // 1_000 - 1):
        assert reader.names("{{ x ~ 1 }}" * 196 + f"{{{{ {number} ~ y }}}}") == ("x", "y")
    refused = "the document has more than 25,000 words and signs"
    with pytest.raises(TemplateInvalid, match=refused):
        _read(reader, [f"{{{{ z ~ {number} }}}}" for number in range(1_000)])
    assert reader.names("{{ topic }}") == ("topic",)


def test_short_templates_count_too():
    with pytest.raises(TemplateInvalid, match="the document has more than 25,000 words and signs"):
        _read(TemplateReader(), [f"{{{{a~{number}}}}}" for number in range(2_000)])


def _read(reader, templates):
    for template in templates:
        reader.names(template)


@pytest.mark.parametrize(
    ("hostile", "rule"),
    [
        ("{{ a" + " + a" * 50_000, "more than 5,000 words and signs"),
        ("{{ '}}' ~ a" + " ~ a" * 50_000 + " }}", "more than 5,000 words and signs"),
        ("{% " * 60_000, "more than 5,000 words and signs|brackets nest deeper than 30"),
        ("{#" + "x" * 160_000, "{# is not closed"),
        ("x" * 1_000_001 + "{{ a }}", "more than 1,000,000 characters"),
        ("{{ " + "(" * 31 + "a" + ")" * 31 + " }}", "brackets nest deeper than 30"),
        ("{{ " + "not " * 51 + "a }}", "expressions and blocks nest deeper than 50"),
        ("{{ a" + " + a" * 51 + " }}", "expressions and blocks nest deeper than 50"),
        ("{% for a in b %}" * 11 + "{% endfor %}" * 11, "loops nest deeper than 10"),
        ("{% if a %}" * 51 + "{% endif %}" * 51, "expressions and blocks nest deeper than 50"),
    ],
)
def test_a_template_that_is_too_large_is_told_by_its_rule(hostile, rule):
    with pytest.raises(TemplateInvalid, match=rule):
        TemplateReader().names(hostile)


def test_the_checker_and_the_runtime_take_templates_of_the_same_length():
    assert MAX_TEMPLATE == MAX_OUTPUT
