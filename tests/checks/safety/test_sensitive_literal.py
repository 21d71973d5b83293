from __future__ import annotations

from typing import Any

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_of, node, start

CODE = "OAS219"
CALL = "/$referenced_components/call"


def calling(headers: Any) -> Any:
    call = api("call", url="https://crm.example.com/x")
    return flow_of(start(), {**call, "sensitive_headers": headers}, end(), metadata={})


def test_a_sensitive_header_that_is_written_out_is_worth_a_warning():
    (finding,) = findings(calling({"X-Team": "blue-42"}), CODE)
    assert (finding.pointer, finding.severity) == (f"{CALL}/sensitive_headers/X-Team", "warning")
    assert finding.message == '"sensitive_headers" ("X-Team") of the ApiNode "call" is written out'
    assert finding.hint == (
        'refer to it: {"$component_ref": "call.sensitive_headers"}, whose value the host lends; '
        "or write {{NAME}} for a value of the host (--env NAME=…)"
    )


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Team": "{{TEAM}}"},
        {"X-Team": "Team {{ team }}"},
        {"X-Team": {"$component_ref": "call.team"}},
        {"$component_ref": "call.sensitive_headers"},
        {"X-Team": "<TEAM>"},
        {"X-Team": ""},
    ],
)
def test_a_placeholder_and_a_reference_are_not(headers: Any):
    assert found(calling(headers), CODE) == []


def test_what_another_rule_says_is_not_said_again():
    known = calling({"X-Team": "ghp_0123456789abcdefghij"})
    assert found(known, CODE) == []
    assert found(known, "OAS205") == [f"{CALL}/sensitive_headers/X-Team"]
    named = calling({"X-Api-Key": "d41d8cd98f00"})
    assert found(named, CODE) == []
    assert found(named, "OAS212") == [f"{CALL}/sensitive_headers/X-Api-Key"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("/etc/keys/client.pem", ["key_file"]),
        ({"$component_ref": "shop.key_file"}, []),
        ("{{KEY_FILE}}", []),
    ],
)
def test_other_sensitive_fields_of_other_components_count_too(value: Any, expected: Any):
    transport = {
        "component_type": "StreamableHTTPmTLSTransport", "id": "shop", "name": "shop",
        "url": "https://shop.example.com/mcp", "key_file": value,
        "cert_file": {"$component_ref": "shop.cert_file"},
        "ca_file": {"$component_ref": "shop.ca_file"},
    }  # fmt: skip
    tool = {
        "component_type": "MCPTool",
        "id": "find",
        "name": "find",
        "client_transport": transport,
    }
    flow = flow_of(start(), node("ToolNode", "call", tool=tool), end(), metadata={})
    at = f"{CALL}/tool/client_transport"
    assert found(flow, CODE) == [f"{at}/{name}" for name in expected]


def test_a_member_of_a_body_is_no_sensitive_field():
    call = api("call", url="https://crm.example.com/x", data={"key_file": "a.pem"})
    assert found(flow_of(start(), call, end(), metadata={}), CODE) == []
