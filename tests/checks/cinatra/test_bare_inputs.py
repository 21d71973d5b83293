from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import INNER, PARTS, around, mail_agent, parts
from tests.checks.rule_case import findings, found
from tests.flows import port

WRITE = f"{PARTS}/write"


def using(user, *more, **fields):
    """The agent whose bridge call has this text and these further inputs."""
    flow = mail_agent()
    write = parts(flow)["write"]
    write["inputs"] += more
    write["data"]["user"] = "About {{ topic }} " + user
    write.update(fields)
    return flow


def test_an_input_that_stands_in_no_text_is_reported_at_its_descriptor():
    assert found(using("{{ tone }}", port("tone", default="")), "OAS117") == []
    (finding,) = findings(using("", port("tone", default="")), "OAS117")
    assert finding.pointer == f"{WRITE}/inputs/2"
    assert finding.hint == "use it as {{ tone }}, or remove the input"


def test_a_filter_hides_a_name_and_the_hint_comment_shows_it():
    refs = port("refs", "array", default=[])
    (finding,) = findings(using("{{ refs | tojson }}", refs), "OAS117")
    assert finding.pointer == f"{WRITE}/inputs/2"
    assert "bare {{ refs }}" in finding.message
    assert finding.hint == (
        "write {# pyagentspec-input-hint (do not remove): {{ refs }} #} before the text: "
        "it is seen, and renders to nothing"
    )
    comment = "{# pyagentspec-input-hint (do not remove): {{ refs }} #}"
    assert found(using(comment + "{{ refs | tojson }}", refs), "OAS117") == []


@pytest.mark.parametrize(
    "fields",
    [
        {"url": "{{CINATRA_BASE_URL}}/api/{{ tone }}"},
        {"api_spec_uri": "{{ tone }}"},
        {"headers": {"x-tone": "{{tone}}"}},
        {"query_params": {"tone": ["a", {"b": "{{  tone  }}"}]}},
        {"http_method": "{{ tone }}"},
        {"headers": {"{{ tone }}": "key"}},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_every_field_that_the_host_looks_at_counts(fields):
    assert found(using("", port("tone", default=""), **fields), "OAS117") == []


def test_other_fields_do_not_count():
    flow = using("", port("tone", default=""), description="{{ tone }}")
    assert found(flow, "OAS117") == [f"{WRITE}/inputs/2"]


@pytest.mark.parametrize(
    "text",
    [
        "{# {{ tpic }} #}",
        "{% raw %}{{ tpic }}{% endraw %}",
        "{% for tpic in topic %}{{ tpic }}{% endfor %}",
        "{{ '{{ tpic }}' }}",
    ],
    ids=["comment", "raw", "loop", "quotes"],
)
def test_a_name_that_only_the_pattern_sees_must_be_declared(text):
    (finding,) = findings(using(text), "OAS117")
    assert finding.pointer == f"{WRITE}/data/user"
    assert finding.hint == 'did you mean "topic"?'
    assert found(using(text, port("tpic", default="")), "OAS117") == []


def test_a_name_that_is_really_looked_up_is_reported_once():
    flow = using("{{ tpic }} {# {{ tpic }} #}")
    parts(flow)["write"]["data"]["system"] = "{# {{ tpic }} #}"
    assert found(flow, "OAS081") == [f"{WRITE}/data/user"]
    assert found(flow, "OAS117") == []


def test_a_broken_template_is_reported_once():
    flow = using("{{ a }} {{ b ? }}")
    assert found(flow, "OAS080") == [f"{WRITE}/data/user"]
    assert found(flow, "OAS117") == []


def test_an_undeclared_name_in_a_field_that_is_not_rendered_is_reported_here():
    assert found(using("", api_spec_uri="{{ spec }}"), "OAS117") == [f"{WRITE}/api_spec_uri"]


def test_upper_case_names_belong_to_the_environment():
    assert found(using("{# {{ SOME_KEY }} #}{{ SOME_KEY }}"), "OAS117") == []
    (finding,) = findings(using("{{ TONE }}", port("TONE", default="")), "OAS117")
    assert finding.hint == "rename it in lower case"


def test_without_declared_inputs_nothing_is_compared():
    flow = using("{# {{ other }} #}")
    assert found(flow, "OAS117") == [f"{WRITE}/data/user"]
    del parts(flow)["write"]["inputs"]
    assert found(flow, "OAS117") == []


def test_subflows_are_looked_at_too():
    flow = around(using("", port("tone", default="")))
    assert found(flow, "OAS117") == [f"{INNER}{WRITE}/inputs/2"]


@pytest.mark.parametrize(
    ("text", "code"),
    [("{{ topik }}", "OAS081"), ('{{ topic ? "a" : "b" }}', "OAS080")],
)
def test_an_input_that_another_finding_explains_is_not_told_again(text, code):
    flow = mail_agent()
    data = parts(flow)["write"]["data"]
    data["user"] = text
    assert found(flow, code) == [f"{PARTS}/write/data/user"]
    assert found(flow, "OAS117") == []
    data["user"] = "{{ zzzz }}"
    assert found(flow, "OAS117") == [f"{PARTS}/write/inputs/0"]


def test_a_name_that_may_be_the_missing_title_is_not_told():
    flow = mail_agent()
    data, inputs = parts(flow)["write"]["data"], parts(flow)["write"]["inputs"]
    data["note"] = "{# {{ extra }} #}"
    assert found(flow, "OAS117") == [f"{PARTS}/write/data/note"]
    inputs.append("extra")
    assert found(flow, "OAS029") == [f"{PARTS}/write/inputs/2"]
    assert found(flow, "OAS117") == []
