from __future__ import annotations

import pytest

from oas_compiler.findings.finding import Edit
from oas_compiler.ir import Json
from tests.checks.cinatra.cinatra_case import ABOUT, about, mail_agent
from tests.checks.rule_case import findings, found, package_of


def packaged(folder, claimed, version):
    flow = mail_agent()
    if claimed is not None:
        about(flow)["packageVersion"] = claimed
    manifest = {"name": "@test/agent", "license": "MIT", "cinatra": {}}
    if version is not None:
        manifest["version"] = version
    return package_of(folder, flow, manifest)


def test_package_json_decides_and_the_fix_follows_it(tmp_path):
    (finding,) = findings(packaged(tmp_path, "0.1.0", "0.2.0"), "OAS126")
    assert finding.pointer == f"{ABOUT}/packageVersion"
    assert finding.file.endswith("oas.json")
    assert finding.message == 'the flow says it is version "0.1.0", package.json says "0.2.0"'
    assert finding.fix == (Edit(pointer=finding.pointer, value=Json.of("0.2.0")),)


@pytest.mark.parametrize(
    ("claimed", "version"), [("0.2.0", "0.2.0"), (None, "0.2.0"), ("0.2.0", None), ("0.2.0", 2)]
)
def test_equal_versions_and_only_one_of_them_are_fine(tmp_path, claimed, version):
    assert found(packaged(tmp_path, claimed, version), "OAS126") == []
