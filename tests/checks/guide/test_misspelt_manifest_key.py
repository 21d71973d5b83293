from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import agent, only, told

CODE = "OAS197"


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("agentDependancies", "agentDependencies"),
        ("agent_dependencies", "agentDependencies"),
        ("fieldRenderer", "fieldRenderers"),
        ("Kind", "kind"),
    ],
)
def test_a_key_that_is_almost_one_that_a_host_reads_is_named_with_it(tmp_path, key, meant):
    found = only(agent(tmp_path, cinatra={key: {}, meant: None}), CODE)
    assert (found.pointer, found.severity) == (f"/cinatra/{key}", "warning")
    assert found.hint == f'did you mean "{meant}"?'
    assert told(agent(tmp_path, cinatra={key: {}, meant: {}}), CODE) == []


@pytest.mark.parametrize("key", ["team", "x-note", "ownerOrgId", "toolAccess"])
def test_other_keys_are_free(tmp_path, key):
    assert told(agent(tmp_path, cinatra={key: 1}), CODE) == []
