"""The words of the context selection graph: addresses, ports, policy and samples."""

from __future__ import annotations

from typing import Final

from pydantic import JsonValue

from cinatra_sdk.contract import RESOLUTION_MODES, SELECTION_MODES
from cinatra_sdk.platform import BASE_URL_PLACEHOLDER

RESOLVE_URL: Final = f"{BASE_URL_PLACEHOLDER}/api/context-resolve"


FINALIZE_URL: Final = f"{BASE_URL_PLACEHOLDER}/api/context-finalize"


GATE: Final = "context_select_gate"


STEP: Final = 1


POLICY: Final[dict[str, JsonValue]] = {
    "steps": [{"stepNumber": STEP, "riskClass": "read_only", "requiresApproval": True}]
}
"""The approval policy when the host gives none."""


INPUTS: Final[dict[str, dict[str, JsonValue]]] = {
    "parentRunId": {"type": "string", "default": ""},
    "parentPackageName": {"type": "string", "minLength": 1},
    "slotId": {"type": "string", "minLength": 1},
    "projectId": {"type": "string", "default": ""},
}


PINNED: Final = ("artifactId", "representationRevisionId", "semanticAssertionId")


REFS: Final[dict[str, JsonValue]] = {
    "type": "array",
    "items": {"type": "object", "required": list(PINNED)},
}


RESOLVED: Final[dict[str, dict[str, JsonValue]]] = {
    "candidates": REFS,
    "slotMeta": {"type": "object"},
    "selectedRefs": REFS,
    "selectionMode": {"type": "string", "enum": [*SELECTION_MODES]},
    "resolutionMode": {"type": "string", "enum": [*RESOLUTION_MODES]},
    "allocationToken": {"type": "string", "default": ""},
}
"""Outputs of the platform's response; only newer platforms name the plan for a finalize."""


FINALIZED: Final[dict[str, dict[str, JsonValue]]] = {
    "contextSlotBindings": {"type": "array", "items": {"type": "object"}}
}


NODES: Final = (
    "start",
    "resolve_context",
    "select_mode",
    "emit_context_payload",
    GATE,
    "finalize_interactive",
    "finalize_autonomous",
    "end",
)


OF_ONE_CHOICE: Final = (
    "resolve_context_output",
    "emit_context_payload_output",
    "selection_decision",
    "userResponse",
)
"""State keys that belong to one choice; taking the choice back empties them."""


SAMPLE_REF: Final[dict[str, JsonValue]] = {
    "artifactId": "brand-voice",
    "representationRevisionId": "brand-voice-r2",
    "semanticAssertionId": "brand-voice-s1",
    "extension": "@example/brand-voice-artifact",
    "sourceScope": "organization",
    "ownerId": "ada",
    "displayName": "Brand voice",
}


SAMPLES: Final[dict[str, JsonValue]] = {
    "resolve_context": {
        "candidates": [
            {
                **SAMPLE_REF,
                "artifactId": "launch-tone",
                "displayName": "Tone of the launch",
                "sourceScope": "project",
            },
            SAMPLE_REF,
        ],
        "slotMeta": {
            "slotId": "voice",
            "selectionMode": "interactive",
            "resolutionMode": "accumulate",
            "minItems": 0,
            "maxItems": 2,
            "readableOnly": True,
        },
        "selectedRefs": [],
        "selectionMode": "interactive",
        "resolutionMode": "accumulate",
    },
    "finalize_interactive": {"contextSlotBindings": [{"slotId": "voice", "refs": [SAMPLE_REF]}]},
}
"""Answers of the simulated platform in Studio."""
