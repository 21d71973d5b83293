"""Flows whose context slots are wired, and context files with artifacts for them.

wired(declared())          start → context_brand → write → end, as `oasflow wire-context` leaves it
alone()                    the same with a person who looks at what was chosen instead of `write`
context(artifact("a"))     acme's ann, with one artifact of acme that counts as @x/brand-artifact
"""

from __future__ import annotations

import json
from typing import Any

from oas_compiler.edit.slot_wires import plan_wiring
from oas_compiler.findings.finding import Findings
from oas_compiler.text.source import read_source
from oas_compiler.text_edits.json_edits import rewritten
from tests.flows import end, flow_of, gate, port, start
from tests.slot_flows import declared

Json = dict[str, Any]
BRAND = "@x/brand-artifact"
GATE = "context_brand/ctx-brand-context_select_gate"
LOOK = gate("look", inputs=[port("contextSlotBindings", "array", json_schema={"items": {}})])
"""A consumer that calls nobody: a person looks at what was chosen."""


def wired(flow: Json, *, package_name: str = "") -> Json:
    source = read_source(json.dumps(flow).encode(), Findings())
    assert source is not None
    made: Json = json.loads(
        rewritten(source.raw, plan_wiring(source, package_name=package_name).edits).decode()
    )
    return made


def alone() -> Json:
    """A flow with a slot that calls nothing but the context routes."""
    about = declared()["metadata"]
    first = start(port("topic", default=""), required=["topic"])
    return wired(flow_of(first, LOOK, end(), metadata=about))


def artifact(id_: str, **changes: Any) -> Json:
    given = {
        "id": id_,
        "visibility": "org",
        "extensions": [BRAND],
        "content": f"The text of {id_}.",
    }
    return {key: value for key, value in (given | changes).items() if value is not ...}


def context(*artifacts: Json, **changes: Any) -> Json:
    given: Json = {
        "actor": {"orgId": "acme", "principalId": "ann", "projectIds": ["spring"]},
        "artifacts": list(artifacts),
    }
    return given | changes
