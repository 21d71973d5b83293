"""Reading and compiling a template takes work in proportion to its size, whatever it nests.

Work is counted in calls of functions, never in seconds.
"""

from __future__ import annotations

import jinja2.optimizer
import pytest

from cinatra_sdk.data.templates.flow_templates import Renderer, TemplateError, compile_template
from cinatra_sdk.data.templates.language import MAX_DEPTH, MAX_LOOPS
from cinatra_sdk.data.templates.parser import MAX_BRACKETS, MAX_SIZE, measured, read
from tests.counting import calls_of
from tests.effort import tries

CALLS_PER_WORD = 800
"""Loops inside each other need 530, any other form less than 400; folding of constants takes thousands."""
WORDS = tries(300, 1_000)
"""Of each form, repeated in one template."""
DEEP = MAX_DEPTH - 6
"""What these forms may be repeated inside each other, with what stands around them."""


def repeated(before: str, part: str, after: str = "", inner: str = "a") -> str:
    return "{{ " + before * DEEP + inner + part * DEEP + after + " }}"


def bracketed(opening: str, closing: str, inner: str = "a") -> str:
    depth = MAX_BRACKETS - 2
    return "{{ " + opening * depth + inner + closing * depth + " }}"


FORMS = {
    "added": repeated("", " + a"),
    "subtracted numbers": repeated("", " - 1", inner="1"),
    "joined": repeated("", " ~ a"),
    "negated": repeated("-", ""),
    "not": repeated("not ", ""),
    "path": repeated("", ".b", "|upper"),
    "indexes": repeated("", "[1]", "|upper"),
    "slices": repeated("", "[1:]"),
    "filters": repeated("", "|upper"),
    "filters with defaults": repeated("", "|d(1)"),
    "tests": repeated("", " is in a"),
    "and": repeated("", " and a"),
    "or of constants": repeated("", " or 0", inner="0"),
    "choices": repeated("", " if a else a"),
    "comparisons in a row": repeated("", " < a"),
    "list": "{{ [" + "a, " * DEEP + "] }}",
    "lists in a list": "{{ [" + "[], " * DEEP + "] }}",
    "named arguments": "{{ a|d(" + ", ".join(f"k{n}=1" for n in range(DEEP)) + ") }}",
    "brackets": bracketed("(", ")"),
    "brackets of sums": bracketed("(", " + a)"),
    "brackets of comparisons": bracketed("(", " < a < a)"),
    "lists inside": bracketed("[", "]"),
    "arguments inside": bracketed("a|d(", ")"),
    "indexes inside": bracketed("a[", "]"),
    "choices inside": bracketed("(a if ", " else a)"),
    "ifs": "{% if a %}" * DEEP + "{{ a ~ a }}" + "{% endif %}" * DEEP,
    "ifs in a row": "{% if a %}" + "{% elif a %}" * DEEP + "{% endif %}",
    "loops": "{% for a in a %}" * MAX_LOOPS + "{{ a ~ a }}" + "{% endfor %}" * MAX_LOOPS,
    "loops with conditions": "{% for a in a if a %}{{ a }}{% endfor %}" * 5,
    "comments": "{##}" * DEEP + "{{ a ~ a }}",
    "text between": "x{{ '' }}" * DEEP,
    "many names": "{{ " + " ~ ".join(f"a{n}" for n in range(DEEP)) + " }}",
    "long numbers": "{{ [" + ("9" * 200 + ",") * DEEP + "] }}",
}


@pytest.mark.parametrize("form", FORMS)
def test_work_grows_with_the_words_and_signs_however_they_nest(form: str) -> None:
    one = FORMS[form]
    text = one * max(1, WORDS // measured(one).count)
    compile_template.cache_clear()
    calls = calls_of(lambda: compile_template(text))
    assert calls <= CALLS_PER_WORD * measured(text).count


@pytest.mark.parametrize("form", FORMS)
def test_what_is_read_is_also_compiled(form: str) -> None:
    read(FORMS[form])
    compile_template(FORMS[form])


def test_constants_are_not_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    def folding(*_: object) -> None:
        raise AssertionError("a constant is folded")

    monkeypatch.setattr(jinja2.optimizer.Optimizer, "generic_visit", folding)
    compile_template.cache_clear()
    template = compile_template("{{ 'a' ~ ('b' if 1 < 2 else x.y.z) }}")
    assert template.text({"x": 1}) == "ab"


def test_marks_within_quotes_do_not_hide_what_follows() -> None:
    hidden = "{{ '}}' " + "~ a " * MAX_SIZE + "}}"
    with pytest.raises(TemplateError, match="more than 5,000 words and signs"):
        compile_template(hidden)


def test_text_around_the_marks_does_not_count() -> None:
    assert measured("word and sign " * 50_000 + "{{ a ~ b }}").count == 6
    assert measured("{{ a|d('" + "word and sign " * 1_000 + "') }}").count == 8


def test_an_error_names_the_place_in_the_tree() -> None:
    with pytest.raises(
        TemplateError, match=r"^at rows/1/text: line 1: what stands between the marks"
    ):
        Renderer({"rows": ["{{ a }}", {"text": "{{ a ~ }}"}]})
    with pytest.raises(TemplateError, match=r"^line 1: what stands between the marks"):
        Renderer("{{ a ~ }}")


def test_a_path_without_a_value_is_named_by_its_beginning() -> None:
    with pytest.raises(TemplateError) as caught:
        Renderer("{{ a" + ".long" * 10_000 + " }}").render({"a": {}})
    assert str(caught.value).startswith('the placeholder "a.long.long')
    assert len(str(caught.value)) < 300
