"""Why a template or a pattern is refused, in words of our own."""

from __future__ import annotations

import pytest

from cinatra_sdk.data.patterns.syntax import flaw as pattern_flaw
from cinatra_sdk.data.templates.language import TemplateError
from cinatra_sdk.data.templates.parser import read


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{{ a", "line 1: {{ is not closed: }} is missing"),
        ("x\n{{ a }", "line 2: {{ is not closed: }} is missing"),
        ("{{ a {{ b }}", "line 1: {{ is not closed: }} is missing"),
        ("{% if a %}x", "line 1: {% if %} is not closed: {% endif %} is missing"),
        ("{% for x in a %}{% if x %}y{% endif %}", "{% for %} is not closed: {% endfor %}"),
        ("x{% endif %}", "line 1: {% endif %} closes nothing"),
        ("{% for x in a %}{% endif %}", "{% endif %} closes nothing"),
        ("{% else %}", "{% else %} stands in no {% if %}"),
        ("{% fi a %}x", 'there is no tag "fi"; known are if'),
        ("{% set x = 1 %}", "a template may not use set"),
        ("{% if a %}b{% else if c %}d{% endif %}", "write elif instead of else if"),
        ("{{{ a }}}", "three braces stand where two belong"),
        ("{{ }}", "nothing stands between {{ and }}"),
        ("{{ a b }}", "two names stand beside each other"),
        ("{{ a | default('x) }}", "a quote after {{ is not closed"),
        ("{# a", "{# is not closed: #} is missing"),
        ("{{ a * 2 }}", "a template may not use *"),
        ("{{ a | }}", "line 1: what stands between the marks is no name"),
        ("{% raw %}{{ {% endraw %}{{ a + }}", "what stands between the marks is no name"),
    ],
)
def test_a_template(text, says):
    with pytest.raises(TemplateError) as refused:
        read(text)
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("(a", "( is not closed"),
        ("a)", ") at position 2 closes nothing"),
        ("[a-", "[ is not closed"),
        (r"[]a]\)(b", "( is not closed"),
        ("*a", "* at position 1 repeats nothing"),
        ("a**", "* at position 3 repeats nothing"),
        (r"a\y", r"\y at position 2 is no escape"),
        ("a\\", "it ends with a backslash"),
        ("[z-a]", "the range z-a at position 2 runs backwards"),
        ("(?P<a>x)(?P<a>y)", 'two groups are called "a"'),
        ("(?<a>x)", "a named group is written (?P<a>…)"),
        ("(?z)", "the group (?z at position 1 is none that is known"),
    ],
)
def test_a_pattern(pattern, says):
    flawed = pattern_flaw(pattern)
    assert flawed is not None
    assert flawed.detail == says
