"""Cinatra's part of the dialect: `metadata.cinatra`, and the object types of outputs.

    metadata_schema("InputMessageNode")["properties"]["cinatra"]["properties"]["maxGateVisits"]
        ->  {"description": …, "anyOf": [{"type": "integer", "minimum": 1, "maximum": 100}, …]}

The schema has every key of real flows, and allows other keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cinatra_sdk.contract import RESOLUTION_MODES, SELECTION_MODES
from oas_compiler.component.attached import ATTACHMENT_KEYS
from oas_compiler.component.first_turn import FIRST_TURN_KEYS
from oas_compiler.component.metadata import ANY, FLAG, NODE_KEYS, TEXT, TEXTS, Schema
from oas_compiler.kinds.registry import find_kind
from oas_compiler.schema.words import CINATRA

_LLM: Final[Schema] = {
    "type": "object",
    "properties": {
        "preferredProvider": {"enum": ["openai", "anthropic", "gemini"]},
        "preferredModel": TEXT,
        "capabilityRequired": {"enum": ["media_input", "function_tools", "native_mcp"]},
    },
    "additionalProperties": False,
}
_PRODUCED: Final[Schema] = {
    "type": "object",
    "required": ["extension"],
    "properties": {"extension": TEXT, "objectTypeId": TEXT},
}
_KEYS: Final[Mapping[str, Mapping[str, Schema]]] = {
    "Flow": {
        "type": {"enum": ["flow", "node", "orchestrator", "leaf"]},
        "packageName": TEXT,
        "packageVersion": TEXT,
        "hitlScreens": TEXTS,
        "llm": _LLM,
        "contextSlots": {"type": "array", "items": {"$ref": "#/$defs/contextSlot"}},
        "docsRef": ANY,
        "produces": {"type": "array", "items": _PRODUCED},
        "agentDependencies": ANY,
        "reentrantGate": TEXT,
        "toolboxes": {"type": "array"},
        "projectPrimitiveTools": ANY,
        "parentSatisfiedContextSlots": {"type": "array"},
    },
    "A2AAgent": NODE_KEYS,
    "Agent": {**NODE_KEYS, **FIRST_TURN_KEYS, **ATTACHMENT_KEYS},
}
"""Of components that are no nodes."""
OTHER_KEYS: Final[Mapping[str, Schema]] = {
    "description": TEXT,
    "purpose": TEXT,
    "riskClass": TEXT,
}
"""Of every other type."""


def keys_of(component_type: str) -> Mapping[str, Schema] | None:
    """The keys that the host and this compiler read in `metadata.cinatra` of a component; see
    OAS133.

    `None` for a type without keys of its own: `OTHER_KEYS` counts there.
    """
    if component_type in _KEYS:
        return _KEYS[component_type]
    kind = find_kind(component_type)
    return kind.metadata if kind is not None else None


def metadata_schema(of: str) -> Schema:
    keys = keys_of(of)
    keys = OTHER_KEYS if keys is None else keys
    # An absent value and null are the same to whoever reads these keys.
    properties: Schema = {
        key: {"description": CINATRA.get(key, ""), **_or_null(schema)}
        for key, schema in keys.items()
    }
    return {
        "type": "object",
        "properties": {"cinatra": {"type": ["object", "null"], "properties": properties}},
    }


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]} if schema else {}


def context_slot() -> Schema:
    return {
        "title": "Context slot",
        "description": "A place where stored artifacts are picked as context.",
        "type": "object",
        "required": ["slotId", "acceptedArtifactExtensions", "selectionMode", "resolutionMode"],
        "properties": {
            "slotId": {"type": "string", "minLength": 1},
            "acceptedArtifactExtensions": {
                "type": "array",
                "minItems": 1,
                "items": {"type": "string", "minLength": 1},
            },
            "selectionMode": {"enum": [*SELECTION_MODES]},
            "resolutionMode": {"enum": [*RESOLUTION_MODES]},
            "minItems": {"type": "integer", "minimum": 0, "default": 0},
            "maxItems": {"type": "integer", "minimum": 1},
            "readableOnly": {"type": "boolean", "default": False},
        },
        "additionalProperties": False,
    }


def gate_step() -> Schema:
    return {
        "title": "Gate step",
        "description": "How a gate inside the subflow is shown; these values win over its own.",
        "type": "object",
        "properties": {
            "name": TEXT,
            "description": TEXT,
            "renderer": TEXT,
            "riskClass": TEXT,
            "requiresApproval": FLAG,
            "hitlOwnedBy": {"enum": ["childAgent", "self"]},
            "gateCount": {
                "type": "integer",
                "minimum": 1,
                "default": 1,
                "description": "How many gates this entry stands for.",
            },
        },
    }


def object_annotation() -> Schema:
    text: Schema = {"type": "string"}
    return {
        "description": "Of an output of the flow: the object type that it makes.",
        "type": "object",
        "properties": {
            "object_type": {"type": "string", "description": "`@scope/package:local-id`."},
            "display_name": text,
            "category": {"enum": ["profile", "content", "project", "idea", "report"]},
            "canonical_keys": {"type": "array", "items": text},
            "identity_key": text,
        },
    }
