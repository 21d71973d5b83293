"""The JSON Schemas of what surfaces tell, by name, under one version.

    schema_of("RunJson")["$id"]    "urn:oasflow:api:v1:RunJson"

A member that is added leaves the version as it is, so readers take members that they do not know.  One
that goes away or changes its meaning makes a new version; `docs/schemas/api` holds every version that
was published, and a test compares the newest with the code.
"""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter

from cinatra_sdk.api.export_json import EvidenceLineJson, ExportEndJson, RecordLineJson
from cinatra_sdk.api.gate_json import GateJson, NeedJson, OpenGateJson
from cinatra_sdk.api.http_errors import ErrorJson
from cinatra_sdk.api.page_json import (
    DecisionPageJson,
    EventListJson,
    NeedPageJson,
    RunPageJson,
)
from cinatra_sdk.api.run_json import (
    AskedGateJson,
    CallJson,
    ChosenJson,
    DecisionJson,
    EventJson,
    ModelUsageJson,
    RunJson,
    RunSummaryJson,
    SettlementJson,
    StretchJson,
    WholeRunJson,
)

API_VERSION: Final = "v1"
SHAPES: Final[dict[str, Any]] = {
    one.__name__: one
    for one in (
        RunJson,
        WholeRunJson,
        RunSummaryJson,
        GateJson,
        OpenGateJson,
        AskedGateJson,
        NeedJson,
        DecisionJson,
        EventJson,
        StretchJson,
        CallJson,
        SettlementJson,
        ChosenJson,
        ModelUsageJson,
        RunPageJson,
        NeedPageJson,
        DecisionPageJson,
        EventListJson,
        ErrorJson,
        EvidenceLineJson,
        RecordLineJson,
        ExportEndJson,
    )
}
"""Every shape that stands by itself, by its name."""


def schema_of(name: str) -> dict[str, Any]:
    """The JSON Schema of a shape, with the name and version that it has for good.

    Raises: `KeyError` for a name that no shape has.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:oasflow:api:{API_VERSION}:{name}",
        **TypeAdapter(SHAPES[name]).json_schema(),
    }
