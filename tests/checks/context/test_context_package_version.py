from __future__ import annotations

import pytest

from tests.checks.context.slot_samples import MANIFEST, slotted
from tests.checks.rule_case import findings, package_of

CODE = "OAS163"


@pytest.mark.parametrize("version", [None, "", " "])
def test_a_package_with_slots_has_a_version(tmp_path, version):
    folder = package_of(tmp_path, slotted(), {**MANIFEST, "version": version})
    (finding,) = findings(folder, CODE)
    assert (finding.pointer, finding.file) == ("/version", str(tmp_path / "package.json"))


def test_with_a_version_or_without_slots_there_is_nothing_to_say(tmp_path):
    bare = {"name": "@test/agent", "cinatra": {}}
    assert len(findings(package_of(tmp_path / "a", slotted(), bare), CODE)) == 1
    assert findings(package_of(tmp_path / "b", slotted(), MANIFEST), CODE) == []
    assert findings(package_of(tmp_path / "c", slotted(slots=[]), bare), CODE) == []
