"""The names found without Jinja are Jinja's; where they might not be, Jinja is asked."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cinatra_sdk.data.templates import language as template_language
from cinatra_sdk.data.templates.parser import measured
from oas_compiler.templates import FILTERS, TemplateInvalid, _names_by_jinja, common, strings
from tests.effort import tries
from tests.samples import CINATRA, needs_corpus

NAMES = ["a", "b", "long_name", "_x", "A", "UPPER_CASE", "x1"]
ODD_NAMES = [
    "true", "None", "not", "if", "in", "is", "loop", "self", "super", "range", "dict", "caller",
    "raw", "endraw", "set", "context", "namespace", "cycler", "environment", "l_0_a", "é", "aé",
    "for", "include", "joiner", "lipsum", "_", "__class__", "and", "or", "else", "endif",
]  # fmt: skip
words = st.sampled_from(NAMES) | st.sampled_from(ODD_NAMES)
spaces = st.sampled_from(["", " ", "  ", "\n", "\t", "\r\n", "\u00a0", "\x0c"])
constants = st.sampled_from(
    ["0", "1", "10", "01", "1.5", "1_0", "0x1", "1e5", "'s'", '"s"', "''", "'}}'", '"{{ z }}"',
     "'\\''", "'a\nb'", "-1", "1.e", "99999999999"]
)  # fmt: skip
tails = st.sampled_from(
    ["", "", "", "|tojson", " | upper", "|length", ".b", "['k']", "[0]", ".b[0].c", "|join", "|items",
     "|default(1)", "()", "|nothing", " is defined", ".0", "[b]", ".true", "|upper.x", " if b", "|tojson|lower"]
)  # fmt: skip
operands = st.builds(lambda *parts: "".join(parts), spaces, words | constants, tails, spaces)
joins = st.sampled_from(
    ["and", "or", "==", "!=", "<", ">=", "and not", "not in", "in", "+", "~", ","]
)
negations = st.sampled_from(["", "", "", "not ", "not not ", "(", "-"])


@st.composite
def expressions(draw: st.DrawFn) -> str:
    text = draw(negations) + draw(operands)
    for _ in range(draw(st.integers(0, 3))):
        text += f" {draw(joins)} {draw(negations)}{draw(operands)}"
    opened = text.count("(") - text.count(")")
    return text + ")" * draw(st.sampled_from([opened, opened, 0]))


signs = st.sampled_from(["", "", "", "-", "+"])
data = st.sampled_from(["", "text", "}", "}}", "%}", "#}", "{", "{ ", "\n", "$", "{{{", "- "])
tags = st.one_of(
    st.builds(lambda s, e, t: f"{{{{{s}{e}{t}}}}}", signs, expressions(), signs),
    st.builds(lambda n: f"{{{{ {n} }}}}", words),
    st.builds(lambda e: f"{{% if {e} %}}", expressions()),
    st.builds(lambda e: f"{{% elif {e} %}}", expressions()),
    st.builds(lambda w: f"{{# {w} #}}", words | data),
    st.sampled_from(
        ["{% else %}", "{% endif %}", "{%- endif -%}", "{% raw %}", "{% endraw %}", "{% for r in a %}",
         "{% endfor %}", "{% set b = 1 %}", "{#", "{#}", "{#-#}", "{%", "{{", "{{}}", "{% if %}",
         "{% else if a %}", "{% include 'a' %}"]
    ),
)  # fmt: skip
blocks = st.builds(
    lambda e, one, f, two, three: f"{{% if {e} %}}{one}{{% elif {f} %}}{two}{{% else %}}{three}{{% endif %}}",
    expressions(), tags, expressions(), tags, tags,
)  # fmt: skip
templates = st.lists(st.one_of(tags, tags, blocks, data), max_size=5).map("".join)


def by_jinja(template: str) -> frozenset[str] | str:
    try:
        return frozenset(_names_by_jinja(template))
    except TemplateInvalid as error:
        return f"refused: {error}"


@settings(max_examples=tries(150, 3_000), deadline=None, suppress_health_check=list(HealthCheck))
@given(templates)
def test_what_is_found_without_jinja_is_what_jinja_finds(template: str) -> None:
    found = common(template)
    assert found is None or found.names == by_jinja(template)
    assert found is None or found.size >= measured(template).count


@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("no tag", set()),
        ("{{ a }}{{b}} {{\n c | tojson }}", {"a", "b", "c"}),
        ("{{CINATRA_BASE_URL}}/api/{{ path|tojson }}", {"CINATRA_BASE_URL", "path"}),
        ("{# hint: {{ a }} #}{{ b }}", {"b"}),
        ("{% if a and (b|length > 0) %}{{ c }}{% elif not d.e %}{% else %}{{ f }}{% endif %}", set("abcdf")),
        ("{{- a['k'][0].b -}}", {"a"}),
        ("{{ a }}}", {"a"}),
        ("{{ 'b' }}", set()),
    ],
)  # fmt: skip
def test_the_common_kind_needs_no_jinja(template: str, names: set[str]) -> None:
    found = common(template)
    assert found is not None
    assert found.names == names == by_jinja(template)


@pytest.mark.parametrize(
    "template",
    [
        "{{ a", "{{ }}", "{{ true }}", "{{ a ~ b }}", "{% for r in a %}{% endfor %}", "{{{ a }}}",
        "{% raw %}{{ a }}{% endraw %}", "{% if a %}", "{% endif %}", "{{ a if b }}", "{# a", "{{ a() }}",
        "{{ é }}", "{{ a == not b }}", "{% if a %}{% else %}{% else %}{% endif %}", "{{ a | default('') }}",
        "{{ (a }}", "{{ a.b.__class__ + 1 }}", "{{ 9**9 }}", "{% if a %}" * 11 + "{% endif %}" * 11,
        "{{ " + "not " * 60 + "a }}",
    ],
)  # fmt: skip
def test_anything_else_is_left_to_jinja(template: str) -> None:
    assert common(template) is None


def test_its_filters_are_filters_of_the_language() -> None:
    for name in FILTERS:
        assert by_jinja(f"{{{{ a | {name} }}}}") == {"a"}
    assert set(template_language.ENVIRONMENT.filters) >= FILTERS


@needs_corpus
def test_no_template_of_the_real_flows_needs_jinja() -> None:
    templates = [
        text
        for file in CINATRA
        for text, _ in strings(json.loads(file.read_text(encoding="utf-8")), "")
    ]
    assert len(templates) > 100
    for text in templates:
        found = common(text)
        refused = isinstance(by_jinja(text), str)  # prose that looks like a template
        assert refused if found is None else found.names == by_jinja(text)
    code = f"import oas_compiler, sys; oas_compiler.check({str(CINATRA[-1])!r}); print('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
