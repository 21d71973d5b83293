from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import end, flow_of, message, port, start

CODE = "OAS239"
AT = "/$referenced_components/say/message"
INPUTS = (
    port("subject"),
    port("count", "integer"),
    port("refs", "array", items={"type": "string"}),
)


def saying(text):
    uses = "{# {{ subject }} {{ count }} {{ refs }} #}"
    edges = [("start", one["title"], "say", one["title"]) for one in INPUTS]
    return flow_of(start(*INPUTS), message("say", uses + text, *INPUTS), end(), edges=edges)


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ('{"a":{{ subject }}}', "without quotes", "write {{ subject | tojson }}"),
        ('{"a":"{{ subject | tojson }}"}', "quotes of its own", "without quotes around it"),
        ('{"a":"{{ refs }}"}', "quotes of its own", "without quotes around it"),
        ('{"a":{{ subject | tojson }}"b":1}', 'a comma is missing before "b"', "a comma before it"),
        (
            '{"a":{{ subject | tojson }},}',
            "a comma stands after the last entry",
            "remove the comma",
        ),
        ('{"a":{{ subject | tojson }}', "a bracket is still open", "close with }"),
        ("{'a':{{ subject | tojson }}}", "single quotes", "double quotes"),
        ('[{"a":{{ count }}]', "] stands where } should", "close with } first"),
        ('{"a" {{ count }}}', "a colon is missing", '"name": value'),
    ],
)
def test_a_message_that_is_no_json_with_its_values_is_found(text, says, hint):
    (finding,) = findings(saying(text), CODE)
    assert (finding.pointer, finding.severity) == (AT, "warning")
    assert says in finding.message
    assert hint in finding.hint


@pytest.mark.parametrize(
    "text",
    [
        '{"a":{{ subject | tojson }},"b":{{ refs | tojson }}}', '{"a":{{ count }},"b":"{{ count }}"}',
        '{"a":{{ refs }}}', '{"a":"about {{ subject }}"}', '{"a":"say \\"hi\\" to {{ subject }}"}',
        "{}", '["{{ subject }}", {{ count }}]', '{ "a" : {{ subject|tojson }} }',
        # none of these is meant as JSON
        "Hello {{ subject }}", "{{ subject }}", "[Note] {{ subject }}", "{name}: {{ subject }}",
        '{% if subject %}{"a":1}{% else %}none{% endif %}', "",
    ],
)  # fmt: skip
def test_json_and_other_texts_are_fine(text):
    assert found(saying(text), CODE) == []
