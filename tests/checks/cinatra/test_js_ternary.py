from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import PARTS, mail_agent, parts
from tests.checks.rule_case import findings, found


def described(text):
    flow = mail_agent()
    parts(flow)["write"]["description"] = text
    return flow


@pytest.mark.parametrize(
    "text",
    [
        "{{ ready ? 'yes' : 'no' }}",
        "{{a?b:c}}",
        "{{ fine }} and {{ a.b ? c : d }}",
        "{{ x['?'] ? 1 : 2 }}",
        "{{ a ?? b ? c : d }}",
    ],
)
def test_a_ternary_in_any_text_is_refused(text):
    assert found(described(text), "OAS118") == [f"{PARTS}/write/description"]


@pytest.mark.parametrize(
    "text",
    [
        "{{ 'yes' if ready else 'no' }}",
        "ready ? yes : no",
        "{{ ready }} ? {{ yes }} : {{ no }}",
        "{{ 'ready ? yes : no' }}",
        '{{ "is it?" ~ {"a": b} }}',
        "{{ a ?? b }}: c",
        "{{ a?.b }}{{ x[1:2] }}",
        "{{ x[1:2] ? }}",
        "{{ ready ? yes : no",
        "{ ready ? yes : no }}",
    ],
)
def test_what_only_looks_like_one_is_not(text):
    assert found(described(text), "OAS118") == []


def test_the_hint_shows_the_form_of_jinja():
    (finding,) = findings(described("{{ a ? b : c }}"), "OAS118")
    assert finding.hint == "write {{ b if a else c }} instead of {{ a ? b : c }}"


def test_in_a_text_that_is_rendered_it_is_reported_once():
    flow = mail_agent()
    parts(flow)["write"]["data"]["user"] = "{{ topic ? 'a' : 'b' }}"
    assert found(flow, "OAS080") == [f"{PARTS}/write/data/user"]
    assert found(flow, "OAS118") == []
    # valid Jinja, but the host does not look at what is raw
    parts(flow)["write"]["data"]["user"] = "{% raw %}{{ topic ? 'a' : 'b' }}{% endraw %}"
    assert found(flow, "OAS118") == [f"{PARTS}/write/data/user"]


def test_a_long_text_is_read_once():
    # quadratic scanning of this would take hours
    assert found(described("{{ ? " * 200_000), "OAS118") == []
    assert found(described("{{ '?' }}" * 100_000 + "{{a?b:c}}"), "OAS118") != []
