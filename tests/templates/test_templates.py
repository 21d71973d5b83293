"""Templates: typed values, JSON text, refusals, and bounds."""

from __future__ import annotations

import json
import random
from pathlib import Path
from types import MappingProxyType

import pytest

from cinatra_sdk.data.templates.flow_templates import (
    MAX_OUTPUT,
    Renderer,
    TemplateError,
    compile_template,
    render_tree,
)

VALUES: dict[str, object] = {
    "name": "Ada", "n": 3, "f": 1.5, "yes": True, "nothing": None, "refs": ["a", None, {"k": "<"}],
    "cfg": {"limit": 5, "items": "an item", "b": {"c": [10, 20]}}, "empty": "", "html": "<b>&\"'",
}  # fmt: skip


@pytest.mark.parametrize(
    ("template", "value"),
    [
        ("{{ refs }}", ["a", None, {"k": "<"}]),
        ("{{n}}", 3),
        ("{{ yes }}", True),
        ("{{ nothing }}", None),
        ("{{ cfg.b.c[1] }}", 20),
        ("{{ cfg['limit'] }}", 5),
        ("{# a hint: {{ n }} #}{{ n }}", 3),
        ("{{ cfg.items }}", "an item"),
    ],
)
def test_a_lone_placeholder_gives_the_typed_value(template, value):
    rendered = render_tree(template, VALUES)
    assert rendered == value
    assert type(rendered) is type(value)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("plain { text }", "plain { text }"),
        ("Hi {{ name }}!", "Hi Ada!"),
        (" {{ n }} ", " 3 "),
        ("{{ n }}{{ n }}", "33"),
        ("{{ yes }}/{{ nothing }}/{{ f }}", "true/null/1.5"),
        ("x{{ refs }}", 'x["a",null,{"k":"<"}]'),
        ("x{{ html }}", "x<b>&\"'"),
        ("{{ refs | tojson }}", '["a",null,{"k":"<"}]'),
        ('{"a":{{ name | tojson }}}', '{"a":"Ada"}'),
        ("{{ cfg | tojson }}", '{"limit":5,"items":"an item","b":{"c":[10,20]}}'),
        ("{# {{ gone }} #}", ""),
        ("{% raw %}{{ name }}{% endraw %}", "{{ name }}"),
        ("a\n{{ name }}\n", "a\nAda\n"),
        ("{% if refs and (refs|length > 0) %}present{% else %}missing{% endif %}", "present"),
        ("{{ 'yes' if n == 3 else 'no' }}!", "yes!"),
        ("{% for r in refs %}{{ loop.index }}={{ r }};{% endfor %}", '1=a;2=null;3={"k":"<"};'),
        ("{% for k, v in cfg.b | items %}{{ k }}:{{ v }}{% endfor %}", "c:[10,20]"),
        ("{{ gone | default('d') }}.", "d."),
        ("{% if gone is defined %}a{% else %}b{% endif %}", "b"),
        ("{{ 'a' ~ refs ~ yes }}", 'a["a",null,{"k":"<"}]true'),
        ("{{ refs | join('-') }}", 'a-null-{"k":"<"}'),
        ("{{ name | upper }}{{ name | lower }}{{ yes | upper }}", "ADAadaTRUE"),
        ("{{ refs | first }}{{ refs | last }}", 'a{"k":"<"}'),
        ("{{ n + 1 }}", "4"),
    ],
)
def test_text_is_rendered_with_json_for_what_is_no_string(template, text):
    assert render_tree(template, VALUES) == text


def test_text_of_a_lone_placeholder_is_text_too():
    assert Renderer("{{ n }}").text(VALUES) == "3"
    assert Renderer("{{ name }}").text(VALUES) == "Ada"
    assert Renderer({"a": "{{ n }}"}).text(VALUES) == '{"a":3}'


def test_a_tree_is_rendered_in_values_and_keys_and_keeps_the_rest():
    tree = {"{{ name }}": ["{{ n }}", 1, None, {"x{{ n }}": "{{ refs }}"}], "fix": True}
    assert render_tree(tree, VALUES) == {
        "Ada": [3, 1, None, {"x3": ["a", None, {"k": "<"}]}],
        "fix": True,
    }
    assert list(tree) == ["{{ name }}", "fix"]


def test_values_may_be_any_mapping():
    assert render_tree(["{{ n }}", "x{{ n }}"], MappingProxyType({"n": 1})) == [1, "x1"]


def test_two_keys_that_become_one_are_refused():
    with pytest.raises(TemplateError, match="same text"):
        render_tree({"{{ name }}": 1, "Ada": 2}, VALUES)


def test_one_renderer_serves_many_values_and_one_text_is_compiled_once():
    renderer = Renderer({"a": "<{{ n }}>"})
    assert [renderer.render({"n": n}) for n in (1, "x")] == [{"a": "<1>"}, {"a": "<x>"}]
    assert compile_template("<{{ n }}>") is compile_template("<{{ n }}>")


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ CINATRA_BASE_URL }}", "{{CINATRA_BASE_URL}}"),
        ("{{CINATRA_BASE_URL}}/api/{{ name }}", "{{CINATRA_BASE_URL}}/api/Ada"),
        ("{{ KEY_2 | tojson }}", '"{{KEY_2}}"'),
    ],
)
def test_an_upper_case_name_without_a_value_stays_for_the_platform(template, text):
    assert render_tree(template, VALUES) == text


def test_an_upper_case_name_with_a_value_is_put_in():
    assert render_tree("{{ KEY }}-{{ KEY }}", {"KEY": 1}) == "1-1"
    assert render_tree("{{ KEY }}", {"KEY": 1}) == 1


@pytest.mark.parametrize(
    ("template", "named"),
    [
        ("{{ gone }}", '"gone"'),
        ("x{{ gone }}", '"gone"'),
        ("{{ cfg.gone }}", '"cfg.gone"'),
        ("x{{ cfg.gone }}", '"gone"'),
        ("{{ gone.deep.er }}", '"gone.deep.er"'),
        ("x{{ gone | tojson }}", '"gone"'),
        ("x{{ gone | upper }}", '"gone"'),
        ("x{{ gone | length }}", '"gone"'),
        ("{% if gone %}{% endif %}", '"gone"'),
        ("{% for a in gone %}{% endfor %}", '"gone"'),
        ("{{ n.bit_length }}", '"n.bit_length"'),
    ],
)
def test_a_placeholder_without_a_value_is_an_error_that_names_it(template, named):
    with pytest.raises(TemplateError, match=f"the placeholder {named} has no value"):
        render_tree(template, VALUES)


PAYLOADS = [
    "{{ 7*7 }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ ''.__class__ }}x",
    "{{ name['__class__'] }}x",
    "{{ cfg.__init__.__globals__ }}",
    "{{ self }}x",
    "{{ self._TemplateReference__context }}",
    "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
    "{{ lipsum.__globals__ }}",
    "{{ namespace() }}",
    "{{ range(10**9) }}",
    "{% for i in range(999999999) %}x{% endfor %}",
    "{{ 'a' * 999999999 }}",
    "{{ '%0999999999d' % 1 }}",
    "{{ 9 ** 9 ** 9 }}",
    "{{ n // 0 }}",
    "{{ refs.append(1) }}",
    "{{ cfg.update({}) }}",
    "{{ cfg.items() }}",
    "{{ name | attr('__class__') }}",
    "{{ name | replace('a', 'b') }}",
    "{{ refs | map('upper') | list }}",
    "{{ name | safe }}",
    "{% set a = 1 %}",
    "{% macro m() %}{% endmacro %}",
    "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}",
    "{% extends 'x' %}",
    "{% block b %}{% endblock %}",
    "{% filter upper %}a{% endfilter %}",
    "{% call x() %}{% endcall %}",
    "{% with a = 1 %}{% endwith %}",
    "{{ {'a': 1} }}",
    "{{ x() }}",
    "{{ n is divisibleby 3 }}",
    "{% for a in refs recursive %}{% endfor %}",
    "{{ (1).real }}x",
    "{{ loop }}",
    "{{ 1bad }}",
    "{{ unclosed",
    "{% if n %}",
    "{{ " + "(" * 4000,
    "{% if n %}" * 200 + "{% endif %}" * 200,
]


@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_template_outside_the_language_is_refused(payload):
    with pytest.raises(TemplateError):
        render_tree(payload, VALUES)


@pytest.mark.parametrize("payload", [*PAYLOADS, "{{ name }}", "{% raw %}", "{#"])
def test_a_value_is_never_read_as_a_template(payload):
    assert render_tree({"a": "<{{ v }}>", "b": "{{ v }}"}, {"v": payload, **VALUES}) == {
        "a": f"<{payload}>",
        "b": payload,
    }


@pytest.mark.parametrize(
    ("template", "values"),
    [
        ("x{{ v }}", {"v": "a" * MAX_OUTPUT}),
        ("{{ v }}", {"v": "a" * (MAX_OUTPUT + 1)}),
        ("{% for a in v %}{% for b in v %}{% for c in v %}{% endfor %}{% endfor %}{% endfor %}",
         {"v": [0] * 1000}),
        ("{% for a in v %}{{ big }}{% endfor %}", {"v": [0] * 1000, "big": "b" * 10_000}),
        ("{{ v | join(sep) }}", {"v": ["a"] * 10_000, "sep": "s" * 10_000}),
        ("a" * (MAX_OUTPUT + 1), {}),
    ],
)  # fmt: skip
def test_output_and_loops_are_bounded(template, values):
    with pytest.raises(TemplateError, match="more than"):
        render_tree(template, values)


@pytest.mark.parametrize(
    "template",
    ["x{{ secret + 1 }}", "x{{ secret | first | first | items }}", "x{{ cfg[secret] }}",
     "{% for a in secret %}{% endfor %}", "x{{ [1][secret] }}", "x{{ secret < 1 }}"],
)  # fmt: skip
def test_an_error_never_shows_a_value(template):
    with pytest.raises(TemplateError) as caught:
        render_tree(template, {"secret": "canary-value", "cfg": {}})
    error: BaseException | None = caught.value
    assert "canary" not in str(error)


def test_a_value_that_is_no_json_is_refused():
    with pytest.raises(TemplateError, match="not JSON"):
        render_tree("x{{ v }}", {"v": object()})
    with pytest.raises(TemplateError, match="not JSON"):
        render_tree("x{{ v }}", {"v": float("nan")})


def test_random_json_survives_a_template_unchanged():
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    source = random.Random(seed)

    def value(depth: int) -> object:
        kinds = [None, True, source.randrange(-(2**53), 2**53), source.random()]
        text = "".join(source.choice('{}%#"\\<&é\n a') for _ in range(source.randrange(12)))
        if depth and source.random() < 0.5:
            return [value(depth - 1) for _ in range(3)]
        if depth and source.random() < 0.5:
            return {f"{text}{i}": value(depth - 1) for i in range(3)}
        return source.choice([*kinds, text])

    for _ in range(300):
        one = value(3)
        assert render_tree("{{ v }}", {"v": one}) == one
        assert json.loads(str(render_tree("{{ v | tojson }}", {"v": one}))) == one


def test_every_template_of_the_real_flows_compiles():
    root = Path(__file__).resolve().parents[2] / "../shared/corpus/cinatra"
    files = sorted(root.glob("*/cinatra/oas.json"))
    if not files:
        pytest.skip("the corpus of real flows is not beside this checkout")
    compiled = 0

    def walk(value: object) -> None:
        nonlocal compiled
        if isinstance(value, dict):
            if value.get("component_type") in {
                "ApiNode",
                "OutputMessageNode",
                "PluginTemplateNode",
            }:
                for key in ("data", "message", "template", "url"):
                    Renderer(value.get(key))
                    compiled += 1
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            for item in value:
                walk(item)

    for file in files:
        walk(json.loads(file.read_text()))
    assert compiled > 0


@pytest.mark.parametrize(
    "tree",
    [
        ["x{{ big }}"] * 9,
        ["{{ big }}"] * 9,
        {f"k{i}": {"deep": ["{{ held }}"]} for i in range(9)},
        {"{{ big }}" + str(i): 1 for i in range(9)},
    ],
)
def test_a_rendered_tree_is_bounded_over_all_its_strings(tree):
    big = "a" * 900_000
    values = {"big": big, "held": {"key": [big]}}
    with pytest.raises(TemplateError, match="the rendered tree has more than 8000000 characters"):
        Renderer(tree).render(values)
    with pytest.raises(TemplateError, match="the rendered tree has more than 8000000 characters"):
        Renderer(tree).text(values)


def test_each_rendering_has_the_whole_budget_of_a_tree():
    big = "a" * 900_000
    renderer = Renderer(["{{ big }}"] * 8)
    for _ in range(2):
        assert renderer.render({"big": big}) == [big] * 8


def test_a_template_error_keeps_no_exception_that_quotes_a_value():
    with pytest.raises(TemplateError, match="does not fit") as caught:
        render_tree("{{ a - b }}!", {"a": "canary", "b": 1})
    assert caught.value.__context__ is None
    with pytest.raises(TemplateError, match="line 1") as unread:
        render_tree("{{ a b }}", {})
    assert unread.value.__context__ is None
