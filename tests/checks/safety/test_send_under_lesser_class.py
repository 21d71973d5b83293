from __future__ import annotations

import pytest

from tests.checks.rule_case import findings, found
from tests.flows import api, end, flow_of, gate, start, tool

CODE = "OAS234"
PASS = "{{CINATRA_BASE_URL}}/api/agents/passthrough"


def calling(name, risk="write", **fields):
    return flow_of(
        start(), gate("ask"), api("act", data={"tool": name}, url=PASS, risk=risk, **fields), end()
    )


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("email_test_delivery_run_send", "delivery_run_send"), ("sendEmail", "email_send"),
        ("slack.message.send", "slack_message_send"), ("blog-publish", "blog_publish"),
        ("linkedin_post", "linkedin_post"), ("delete_contact", "contact_delete"),
        ("publish", "external_publish"), ("tweet", "external_post"), ("order_refund", "order_post"),
        ("mailPurge", "mail_delete"),
    ],
)  # fmt: skip
def test_a_tool_that_is_named_like_a_send_has_the_class_of_one(name, wanted):
    (finding,) = findings(calling(name), CODE)
    assert finding.pointer == "/$referenced_components/act/data/tool"
    assert finding.hint.startswith(f'write "riskClass": "{wanted}"')
    assert finding.severity == "warning"
    assert found(calling(name, wanted), CODE) == []


@pytest.mark.parametrize(
    "name",
    [
        "list_sent_mails", "blog_post_create", "post_list", "get_post", "send_status", "sender_list",
        "objects_save", "render_preview", "draft_send_preview", "posts", "resend_check", "{{ tool }}",
        "sendgrid_config", "objects_update", "deleted_items_count", "postal_code_lookup",
    ],
)  # fmt: skip
def test_other_names_say_no_send(name):
    assert found(calling(name), CODE) == []


@pytest.mark.parametrize(
    ("url", "there"),
    [
        ("{{CINATRA_BASE_URL}}/api/press/publish", True), ("{{CINATRA_BASE_URL}}/api/mail/send/", True),
        ("https://x.example/v1/messages/{{ id }}/send", True), ("{{CINATRA_BASE_URL}}/api/posts", False),
        ("{{CINATRA_BASE_URL}}/api/publishers", False), ("{{CINATRA_BASE_URL}}/api/llm-bridge", False),
        ("http://[::1", False),
    ],
)  # fmt: skip
def test_the_last_part_of_an_address_counts(url, there):
    made = flow_of(start(), gate("ask"), api("act", url=url, risk=""), end())
    assert bool(found(made, CODE)) is there
    made["$referenced_components"]["act"]["http_method"] = "GET"
    assert found(made, CODE) == []


def test_a_delete_by_method_counts():
    made = flow_of(start(), gate("ask"), api("act"), end())
    made["$referenced_components"]["act"]["http_method"] = "DELETE"
    assert found(made, CODE) == ["/$referenced_components/act/http_method"]


def test_the_class_of_the_tool_behind_a_tool_node_counts():
    made = flow_of(start(), gate("ask"), tool("act", "send_mail", [], []), end())
    assert found(made, CODE) == ["/$referenced_components/act/tool/name"]
    made["$referenced_components"]["act"]["tool"]["metadata"] = {
        "cinatra": {"riskClass": "mail_send"}
    }
    assert found(made, CODE) == []


@pytest.mark.parametrize("risk", ["email_sned", ["email_send"], "sendEmail"])
def test_a_class_that_has_a_finding_of_its_own_has_no_second_one(risk):
    assert found(calling("send_mail", risk), CODE) == []


def test_a_note_called_meta_hides_no_class():
    made = calling("slack_message_send")
    act = made["$referenced_components"]["act"]
    del act["metadata"]
    assert len(found(made, CODE)) == 1
    act["meta"] = {"owner": "press"}
    assert len(found(made, CODE)) == 1
