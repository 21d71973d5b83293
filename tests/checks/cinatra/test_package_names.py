from __future__ import annotations

import pytest

from tests.checks.cinatra.cinatra_case import ABOUT, PARTS, about, mail_agent, parts
from tests.checks.rule_case import findings, found, package_of


@pytest.mark.parametrize("name", ["@acme/mail-agent", "mail.agent", "", None, 7])
def test_a_name_that_can_be_looked_up_is_taken(name):
    flow = mail_agent()
    about(flow)["packageName"] = name
    assert found(flow, "OAS129") == []


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("@acme/../mail", 'has ".." in it'),
        ("..", 'has ".." in it'),
        ("@acme/agents/mail", "has more than one slash"),
        ("@acme//mail", "has more than one slash"),
    ],
)
def test_a_name_that_leads_elsewhere_is_not(name, problem):
    flow = mail_agent()
    about(flow)["packageName"] = name
    (finding,) = findings(flow, "OAS129")
    assert finding.pointer == f"{ABOUT}/packageName"
    assert finding.message == f'the packageName of the Flow "mail" {problem}'


def test_nodes_name_packages_too():
    flow = mail_agent()
    about(parts(flow)["write"])["packageName"] = "@acme/a/b"
    assert found(flow, "OAS129") == [f"{PARTS}/write{ABOUT}/packageName"]


def test_the_package_itself_has_such_a_name(tmp_path):
    bad = package_of(tmp_path / "a", mail_agent(), {"name": "@acme/a/b"})
    (finding,) = findings(bad, "OAS129")
    assert (finding.pointer, finding.file[-12:]) == ("/name", "package.json")
    good = package_of(tmp_path / "b", mail_agent(), {"name": "@acme/a"})
    assert found(good, "OAS129") == []
