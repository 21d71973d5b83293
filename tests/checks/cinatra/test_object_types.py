from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import PARTS, mail_agent, parts
from tests.checks.rule_case import findings, found
from tests.flows import end, port


def producing(about):
    flow = mail_agent()
    parts(flow)["end"] = end(port("draft", cinatra=about))
    return flow


@pytest.mark.parametrize("kind", ["@acme/mail:email", "@cinatra-ai/blog-post:body_v2.html"])
def test_a_type_with_its_package_is_taken(kind):
    assert found(producing({"object_type": kind}), "OAS130") == []


@pytest.mark.parametrize(
    "kind",
    ["email", "acme/mail:email", "@acme:email", "@acme/mail", "@acme/mail:", "@a/b/c:d", 7, []],
)
def test_anything_else_is_not(kind):
    pointer = f"{PARTS}/end/outputs/0/cinatra/object_type"
    assert found(producing({"object_type": kind}), "OAS130") == [pointer]


@pytest.mark.parametrize("about", [None, "x", {}, {"artifact": {}}, {"object_type": None}])
def test_an_output_need_not_say_its_type(about):
    assert found(producing(about), "OAS130") == []


def test_the_message_shows_the_form():
    (finding,) = findings(producing({"object_type": "email"}), "OAS130")
    assert (
        finding.message == '"email" is not a type of object: it is written @scope/package:local-id'
    )
