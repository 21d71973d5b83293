from __future__ import annotations

import json

import pytest

from tests.checks.cinatra.cinatra_case import mail_agent
from tests.checks.rule_case import findings, found, package_of
from tests.flows import plain

MANIFEST = {"name": "@test/agent", "version": "0.1.0", "cinatra": {}}


def test_a_package_names_its_license(tmp_path):
    (finding,) = findings(package_of(tmp_path / "bad", mail_agent(), MANIFEST), "OAS127")
    assert finding.file.endswith("package.json")
    assert finding.pointer == ""
    good = package_of(tmp_path / "good", mail_agent(), MANIFEST | {"license": "MIT"})
    assert found(good, "OAS127") == []


@pytest.mark.parametrize("license_", ["", " ", None, ["MIT"]])
def test_an_empty_license_is_none(tmp_path, license_):
    folder = package_of(tmp_path, mail_agent(), MANIFEST | {"license": license_})
    assert found(folder, "OAS127") == ["/license"]


def test_a_package_that_is_not_for_cinatra_is_left_alone(tmp_path):
    for name, made in (("oas.json", plain(mail_agent())), ("package.json", {"name": "x"})):
        (tmp_path / name).write_text(json.dumps(made), encoding="utf-8")
    assert found(tmp_path, "OAS127") == []


def test_a_broken_package_json_is_reported_once(tmp_path):
    folder = package_of(tmp_path, mail_agent(), **{"package.json": "{"})
    assert found(folder, "OAS127") == []
    assert len(findings(folder, "OAS004")) == 1
