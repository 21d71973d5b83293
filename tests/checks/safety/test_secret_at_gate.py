from __future__ import annotations

import pytest

from cinatra_sdk.governed.secret_values import SECRET_KEYS
from oas_compiler.checks.safety.secret_at_gate import is_secret_name
from tests.checks.rule_case import findings, found
from tests.flows import end, flow_of, gate, message, port, start

CODE = "OAS211"


def shown(name):
    """A gate that declares an input of this name."""
    return flow_of(
        start(port("text", default="")), gate("ask", inputs=[port(name)]), end(),
        edges=[("start", "text", "ask", name)],
    )  # fmt: skip


@pytest.mark.parametrize("name", [*sorted(SECRET_KEYS), "apiKey", "API-KEY", "accessToken"])
def test_a_gate_has_no_input_that_is_a_credential(name):
    (finding,) = findings(shown(name), CODE)
    assert finding.pointer == "/$referenced_components/ask/inputs/0"
    assert finding.message == f'"{name}" is a credential and "ask" shows it to a person'


@pytest.mark.parametrize("name", ["draft", "token_count", "secretary", "passwords_reset", "tokens"])
def test_other_names_are_shown(name):
    assert not is_secret_name(name)
    assert found(shown(name), CODE) == []


def test_a_credential_does_not_come_to_a_gate_under_another_name():
    def fed(output):
        return flow_of(
            start(port(output, default="")), gate("ask", inputs=[port("text")]), end(),
            edges=[("start", output, "ask", "text")],
        )  # fmt: skip

    assert found(fed("api_key"), CODE) == ["/data_flow_connections/0"]
    assert found(fed("draft"), CODE) == []


def test_one_credential_on_one_way_is_one_finding():
    flow = flow_of(
        start(port("api_key", default="")), gate("ask", inputs=[port("api_key")]), end(),
        edges=[("start", "api_key", "ask", "api_key")],
    )  # fmt: skip
    assert found(flow, CODE) == ["/$referenced_components/ask/inputs/0"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("{{ access_token }}", 1),
        ("{{ account.access_token }}", 1),
        ("{{ account['access_token'] | tojson }}", 1),
        ("{{ account }}, your access_token is safe", 0),
        ("{{ account", 0),
    ],
)
def test_a_message_before_a_gate_names_no_credential(text, count):
    inputs = [port("account", "object", default={}), port("access_token", default="")]
    used = [item for item in inputs if item["title"] in text.replace("account.access", "account")]
    flow = flow_of(start(*inputs), message("tell", text, *used[:1]), gate("ask"), end())
    every = found(flow, CODE)
    assert len(every) == count
    assert all(pointer.startswith("/$referenced_components/tell") for pointer in every)


def test_a_credential_may_go_to_a_call():
    from tests.flows import api

    flow = flow_of(
        start(port("api_key", default="")), api("call", inputs=[port("api_key")], data={"k": "{{ api_key }}"}),
        end(), edges=[("start", "api_key", "call", "api_key")],
    )  # fmt: skip
    assert found(flow, CODE) == []
