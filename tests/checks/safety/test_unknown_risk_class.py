from __future__ import annotations

import pytest

from oas_compiler.control.risk_classes import KNOWN, is_known, means_send, meant
from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_node, flow_of, gate, node, start

CODE = "OAS213"


def calling(risk):
    return flow_of(start(), gate("ask"), api("call", risk=risk), end())


@pytest.mark.parametrize(
    ("risk", "word"),
    [
        ("email-send", "email_send"),
        ("Email_Send", "email_send"),
        ("emailSend", "email_send"),
        ("send_email", "email_send"),
        ("email_publish ", "email_publish"),
        ("HTMLPagePublish", "html_page_publish"),
        ("delete user", "user_delete"),
        ("message_send_external", "send_external_message"),
        ("email_sned", "email_send"),
        ("invoice_pubish", "invoice_publish"),
        ("readonly", "read_only"),
        ("READ_ONLY", "read_only"),
        ("aproval", "approval"),
    ],
)
def test_an_unknown_class_is_a_warning_with_the_nearest_known_one(risk, word):
    (finding,) = findings(calling(risk), CODE)
    assert finding.pointer == "/$referenced_components/call/metadata/cinatra/riskClass"
    assert finding.severity == "warning"
    assert finding.hint == f'did you mean "{word}"?'
    assert found(calling(word), CODE) == []


@pytest.mark.parametrize("risk", [*KNOWN, "refund_post", "x_delete", "send", "publish", "", "  "])
def test_known_classes_and_none_at_all_are_no_finding(risk):
    assert found(calling(risk), CODE) == []


def test_the_message_says_whether_the_class_may_mean_a_send():
    (sends,) = findings(calling("email-send"), CODE)
    (other,) = findings(calling("post_review"), CODE)
    assert "may mean a send" in sends.message
    assert "may mean a send" not in other.message
    assert other.hint.startswith("known are read_only")


def test_gates_other_components_and_the_entries_of_gate_steps_are_looked_at():
    agent = {
        "component_type": "Agent", "id": "a", "name": "a", "system_prompt": "",
        "metadata": {"cinatra": {"riskClass": "emailSend"}},
    }  # fmt: skip
    inner = flow_of(start(), gate("ask", riskClass="aproval"), end(), id_="inner")
    steps = [{"riskClass": "read_only"}, {"riskClass": "testsend"}, 7]
    flow = flow_of(
        start(), flow_node("talk", inner, gateSteps=steps), node("AgentNode", "tell", agent=agent), end()
    )  # fmt: skip
    about = "metadata/cinatra"
    assert sorted(found(flow, CODE)) == [
        f"/$referenced_components/inner/$referenced_components/ask/{about}/riskClass",
        f"/$referenced_components/talk/{about}/gateSteps/1/riskClass",
        f"/$referenced_components/tell/agent/{about}/riskClass",
    ]


@pytest.mark.parametrize("odd", [None, 7, [], {}, [[]], True])
@pytest.mark.parametrize("key", ["riskClass", "gateSteps"])
def test_odd_values_are_no_classes(key, odd):
    flow = calling("read_only")
    flow["$referenced_components"]["call"]["metadata"]["cinatra"][key] = odd
    assert found(flow, CODE) == []


@pytest.mark.parametrize("piece", ["a", "A", "aB", "_", "- ", "send_", "ß", "\u0661"])
def test_long_classes_mean_nothing(piece):
    text = piece * 300_000
    assert meant(text) == ""
    assert means_send(text) is False
    assert not is_known(text)
    assert len(found(calling(text), CODE)) == (1 if text.strip() else 0)


@pytest.mark.parametrize(
    ("risk", "word"),
    [
        ("email_se\u200bnd", "email_send"),  # zero-width space
        ("email_send\ufeff", "email_send"),
        ("email_s\u0435nd", "email_send"),  # Cyrillic
        ("re\u0430d_\u03bfnly", "read_only"),  # Cyrillic, Greek
        ("\uff45\uff4d\uff41\uff49\uff4c\uff3f\uff53\uff45\uff4e\uff44", "email_send"),
    ],
)
def test_letters_that_look_alike_or_are_not_seen_make_an_unknown_class(risk, word):
    (finding,) = findings(calling(risk), CODE)
    assert finding.hint == f'did you mean "{word}"?'
    assert found(calling(word), CODE) == []


def test_a_word_that_is_near_to_nothing_is_unknown_all_the_same():
    (finding,) = findings(calling("\u043e\u0442\u043f\u0440\u0430\u0432\u0438\u0442\u044c"), CODE)
    assert finding.hint.startswith("known are read_only")


@pytest.mark.parametrize("key", ["riskClass", "risk_class"])
def test_a_class_beside_metadata_cinatra_is_read_by_nobody(key):
    flow = calling("read_only")
    metadata = flow["$referenced_components"]["call"]["metadata"]
    metadata["cinatra"] = {}
    metadata[key] = "email_send"
    (finding,) = findings(flow, CODE)
    assert finding.pointer == f"/$referenced_components/call/metadata/{key}"
    assert finding.hint.startswith("move it")
    metadata["cinatra"] = {"riskClass": "email_send"}
    assert found(flow, CODE) == []
