from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import mail_agent
from tests.checks.rule_case import findings, found
from tests.flows import plain


@pytest.mark.parametrize("kind", ["Agent", "Swarm", "ApiNode", "Flou"])
def test_the_document_is_a_flow(kind):
    flow = mail_agent()
    assert found(flow, "OAS132") == []
    flow["component_type"] = kind
    (finding,) = findings(flow, "OAS132")
    assert finding.pointer == "/component_type"
    assert finding.message == f'the document is a "{kind}", a Cinatra agent is a Flow'


def test_a_document_without_a_type_is_told_once():
    flow = mail_agent()
    del flow["component_type"]
    assert found(flow, "OAS132") == []
    assert len(found(flow, "OAS020")) == 1


def test_plain_agent_spec_documents_may_be_anything():
    flow = plain(mail_agent()) | {"component_type": "Agent"}
    assert found(flow, "OAS132") == []
