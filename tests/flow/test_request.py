"""What an ApiNode asks: placeholders go in as they are, or the request is not made."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk.data.templates.language import TemplateError
from cinatra_sdk.flow.requests.request_template import Request
from oas_compiler.ir import ApiNode, Json

ENV = {"TENANT": "acme", "CRM": "https://crm.example.com/v1/"}


def request(url: str, data: Any = None) -> Request:
    node = ApiNode(
        id="n", name="n", url=url, method="POST", headers=Json.of({}), query=Json.of({}),
        data=Json.of({"note": data}) if data else None,
    )  # fmt: skip
    return Request.of(node, ENV)


@pytest.mark.parametrize(
    ("url", "sent", "written"),
    [
        ('https://h.example/{{ t | default("{{TENANT}}") }}/x', "https://h.example/acme/x",
         "https://h.example/{{TENANT}}/x"),
        ("{{CRM}}{{ id }}", "https://crm.example.com/v1/users%2F7%3Fa", "{{CRM}}users%2F7%3Fa"),
        ("https://h.example?of={{TENANT}}&id={{ id }}", "https://h.example?of=acme&id=users/7?a",
         "https://h.example?of={{TENANT}}&id=users/7?a"),
    ],
)  # fmt: skip
def test_a_placeholder_goes_into_a_url_as_it_is(url: str, sent: str, written: str) -> None:
    made = request(url).rendered({"id": "users/7?a"})
    assert made.url == sent
    assert made.written is not None
    assert made.written.url == written


@pytest.mark.parametrize(
    "changed",
    [
        '{{ "{{TENANT}}" | upper }}', '{{ "{{TENANT}}" | lower }}', '{{ ("{{TENANT}}" ~ "x")[:30] }}',
        '{{ "{{TENANT}}"[3:] }}',
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", ["https://h.example/%s", "https://h.example/?q=%s", "body"])
def test_a_mark_that_an_expression_has_changed_is_not_sent(place: str, changed: str) -> None:
    made = request("https://h.example/", changed) if place == "body" else request(place % changed)
    with pytest.raises(
        TemplateError, match=r"in the (url|headers|query|body) changes a placeholder"
    ):
        made.rendered({})
