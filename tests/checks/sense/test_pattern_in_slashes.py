from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import end, flow_of, gate, node, port, start

CODE = "OAS256"


def searching(pattern):
    regex = node("PluginRegexNode", "find", inputs=[port("text")], regex_pattern=pattern)
    return flow_of(
        start(port("text"), required=["text"]),
        regex,
        end(),
        edges=[("start", "text", "find", "text")],
    )


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("/accept|revise/i", 'write "(?i)accept|revise"'),
        ("/^a$/", 'write "^a$"'),
        ("/[0-9]+/g", 'write "[0-9]+"'),
        (r"/^a\/b/", r'write "^a\/b"'),
    ],
)
def test_a_pattern_of_javascript_is_found_with_what_to_write(pattern, hint):
    (finding,) = findings(searching(pattern), CODE)
    assert finding.pointer == "/$referenced_components/find/regex_pattern"
    assert (finding.severity, finding.hint) == ("warning", hint)


@pytest.mark.parametrize(
    "pattern",
    [
        "/orders/[0-9]+/",
        "/[0-9]+/d",
        r"/\d+/s",
        "/users/",
        "/a/i",
        "^/a/$",
        r"/price\$/",
        "a/b",
        "/",
        "//",
        "",
    ],
)
def test_slashes_that_may_be_meant_are_fine(pattern):
    assert found(searching(pattern), CODE) == []


def test_the_pattern_of_a_schema_is_told_by_the_rule_of_schemas():
    wrong = {"type": "object", "properties": {"a": {"type": "string", "pattern": "/^a$/i"}}}
    made = flow_of(start(), gate("ask", inputMessageSchema=wrong), end())
    (finding,) = findings(made, "OAS251")
    assert finding.hint == 'write "^a$": a schema has no flags'
    wrong["properties"]["a"]["pattern"] = "^a$"
    assert found(made, "OAS251") == []
