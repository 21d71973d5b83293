"""Templates of placeholders only are put together without Jinja, and say what Jinja says."""

from __future__ import annotations

import random

import pytest

from cinatra_sdk.data.templates import flow_templates as templates
from cinatra_sdk.data.templates.flow_templates import TemplateError, compile_template
from cinatra_sdk.data.templates.placeholders import is_simple

PIECES = ["{{ a }}", "{{a.b}}", "{{ a.b[0] }}", "{{NAME}}", "{{ NAME.x }}", " text ", "{", "}", "\n",
          "{{ none }}", "{{a|tojson}}", "{{ c | tojson }}", "{{ missing|tojson }}", "{{{a}}}",
          "{{ c }}", "{{ missing }}", "{{ c[1] }}", "{{ c[01] }}", "{{-a}}", "}}", "%}", "\r\n",
          "{{ a.missing.x }}", "{{s.x}}", "{{ d }}", "{{\n a }}", "{{ loop }}", "{{ a.items }}",
          "{# x #}", "{{ é }}", "{{ s[0] }}", "{{ self }}"]  # fmt: skip
VALUES = {"a": {"b": ["é", 2]}, "c": [1, None], "s": "str", "d": 1.5, "é": "e"}


def rendered(template: str) -> object:
    compile_template.cache_clear()
    try:
        return compile_template(template).value(VALUES)
    except TemplateError as error:
        return f"error: {error}"


def test_both_ways_put_out_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    seed = 20261122
    print("seed", seed)
    chance = random.Random(seed)
    drawn = ["".join(chance.choices(PIECES, k=chance.randint(1, 5))) for _ in range(400)]
    by_parts = [rendered(template) for template in drawn]
    assert sum(is_simple(template) for template in drawn) > 50
    monkeypatch.setattr(templates, "parts_of", lambda _text: ())
    for template, came in zip(drawn, by_parts, strict=True):
        assert rendered(template) == came, template
    compile_template.cache_clear()


def test_a_template_of_many_placeholders_needs_no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    def parsing(*_: object) -> None:
        raise AssertionError("parsed")

    monkeypatch.setattr(templates.ENVIRONMENT, "parse", parsing)
    assert compile_template("{{ many }} " * 50_000).value({"many": "x"}) == "x " * 50_000
