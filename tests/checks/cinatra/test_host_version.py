from __future__ import annotations

from tests.checks.cinatra.cinatra_case import mail_agent
from tests.checks.rule_case import findings, found
from tests.flows import plain


def test_a_cinatra_file_of_another_version_is_refused_by_the_host():
    assert found(mail_agent() | {"agentspec_version": "25.4.1"}, "OAS100") == ["/agentspec_version"]
    assert found(mail_agent() | {"agentspec_version": "26.1.0"}, "OAS100") == []


def test_the_hint_says_that_it_compiles_here():
    (finding,) = findings(mail_agent() | {"agentspec_version": "26.1.2"}, "OAS100")
    assert '"26.1.2"' in finding.message
    assert '"26.1.0"' in finding.message
    assert finding.hint == (
        "it compiles here, where a range of versions is read, but the host refuses it"
    )


def test_a_file_without_a_version_is_named_as_such():
    flow = mail_agent()
    del flow["agentspec_version"]
    assert found(flow, "OAS100") == [""]
    assert found(flow | {"agentspec_version": None}, "OAS100") == [""]


def test_a_version_that_nobody_reads_is_reported_once():
    for version in ("latest", "20.1.0", 26.1):
        flow = mail_agent() | {"agentspec_version": version}
        assert found(flow, "OAS025") == ["/agentspec_version"]
        assert found(flow, "OAS100") == []


def test_a_plain_agent_spec_file_may_have_any_readable_version():
    flow = plain(mail_agent()) | {"agentspec_version": "25.4.1"}
    assert found(flow, "OAS100") == []
