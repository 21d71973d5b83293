from __future__ import annotations

import pytest

from oas_compiler import check
from tests.checks.guide.guide_case import agent

CODE = "OAS248"
SCREEN = {"id": "@test/agent:review", "kind": "reviewer-output"}


def told(package):
    return [(one.pointer, one.hint) for one in check(package) if one.code == CODE]


@pytest.mark.parametrize(
    ("cinatra", "pointer", "hint"),
    [
        ({"kind": "agnet"}, "kind", 'did you mean "agent"?'),
        ({"apiVersion": "cinatra.ai/v9"}, "apiVersion", 'write "cinatra.ai/v1"'),
        ({"fieldRenderers": [{**SCREEN, "kind": "reviewer-ouput"}]}, "fieldRenderers/0/kind",
         'did you mean "reviewer-output"?'),
        ({"fieldRenderers": [{"id": SCREEN["id"]}]}, "fieldRenderers/0",
         'add "kind": the screen that shows it'),
        ({"fieldRenderers": [{"kind": "cta"}]}, "fieldRenderers/0", 'add "id": "@scope/package:name"'),
        ({"fieldRenderers": [SCREEN, SCREEN]}, "fieldRenderers/1/id", "remove one of the two"),
        ({"fieldRenderers": ["x"]}, "fieldRenderers/0",
         'write {"id": "@scope/package:name", "kind": "…"}'),
    ],
)  # fmt: skip
def test_a_value_that_no_host_reads_is_found(tmp_path, cinatra, pointer, hint):
    assert told(agent(tmp_path, cinatra=cinatra)) == [(f"/cinatra/{pointer}", hint)]


@pytest.mark.parametrize(
    "cinatra",
    [{}, {"kind": "agent", "apiVersion": "cinatra.ai/v1"}, {"kind": "workflow"},
     {"fieldRenderers": [SCREEN, {"id": "@test/agent:map", "kind": "world-map"}]}],
)  # fmt: skip
def test_values_that_a_host_reads_and_those_of_others_are_fine(tmp_path, cinatra):
    assert told(agent(tmp_path, cinatra=cinatra)) == []


@pytest.mark.parametrize(
    ("files", "there"),
    [(["SKILL.md"], False), (["cinatra"], True), (["./cinatra/"], True), (["cinatra/oas.json"], True),
     (["**/*.json"], True), (None, True)],
)  # fmt: skip
def test_what_is_published_holds_the_flow(tmp_path, files, there):
    assert bool(told(agent(tmp_path, manifest={"files": files}))) is not there


def test_a_block_that_is_no_object(tmp_path):
    package = agent(tmp_path)
    (package / "package.json").write_text('{"name": "@test/agent", "cinatra": "x"}', "utf-8")
    assert [pointer for pointer, _ in told(package)] == ["/cinatra"]
