"""The part of the dialect that is Cinatra's: `metadata.cinatra`, and what outputs say they make.

    metadata_schema("InputMessageNode")["properties"]["cinatra"]["properties"]["maxGateVisits"]
        ->  {"description": …, "anyOf": [{"type": "integer", "minimum": 1, "maximum": 100}, …]}

Every key that real flows have is in it; others are allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from oas_compiler.ir import JsonValue
from oas_compiler.schema.words import CINATRA

Schema = dict[str, JsonValue]

_TEXT: Final[Schema] = {"type": "string"}
_FLAG: Final[Schema] = {"type": "boolean"}
_TEXTS: Final[Schema] = {"type": "array", "items": {"type": "string"}}
_TEXT_MAP: Final[Schema] = {"type": "object", "additionalProperties": {"type": "string"}}
_ANY: Final[Schema] = {}
_SCHEMA: Final[Schema] = {"allOf": [{"$ref": "#/$defs/jsonSchema"}]}
_NODE_KEYS: Final[Mapping[str, Schema]] = {
    "riskClass": _TEXT,
    "requiresApproval": _FLAG,
    "description": _TEXT,
    "purpose": _TEXT,
    "packageName": _TEXT,
    "renderer": _TEXT,
    "a2uiSurfaceId": _TEXT,
    "sideEffects": _FLAG,
}
_CHILD_KEYS: Final[Mapping[str, Schema]] = {
    "hitlOwnedBy": {"enum": ["childAgent", "self"]},
    "a2uiSurfaceIdOverride": _TEXT,
}
_LLM: Final[Schema] = {
    "type": "object",
    "properties": {
        "preferredProvider": {"enum": ["openai", "anthropic", "gemini"]},
        "preferredModel": _TEXT,
        "capabilityRequired": {"enum": ["media_input", "function_tools", "native_mcp"]},
    },
    "additionalProperties": False,
}
_PRODUCED: Final[Schema] = {
    "type": "object",
    "required": ["extension"],
    "properties": {"extension": _TEXT, "objectTypeId": _TEXT},
}
KEYS: Final[Mapping[str, Mapping[str, Schema]]] = {
    "Flow": {
        "type": {"enum": ["flow", "node", "orchestrator", "leaf"]},
        "packageName": _TEXT,
        "packageVersion": _TEXT,
        "hitlScreens": _TEXTS,
        "llm": _LLM,
        "contextSlots": {"type": "array", "items": {"$ref": "#/$defs/contextSlot"}},
        "docsRef": _ANY,
        "produces": {"type": "array", "items": _PRODUCED},
        "agentDependencies": _ANY,
        "reentrantGate": _TEXT,
        "toolboxes": {"type": "array"},
        "projectPrimitiveTools": _ANY,
        "parentSatisfiedContextSlots": {"type": "array"},
    },
    "StartNode": {
        "required": _TEXTS,
        "hidden": _TEXTS,
        "inputRenderers": _TEXT_MAP,
        "inputTitles": _TEXT_MAP,
        "inputDataSources": {"type": "object"},
        "inputContract": _ANY,
    },
    "ApiNode": {**_NODE_KEYS, "approvalPolicy": _ANY, "phase": _ANY, "tools": _ANY},
    "InputMessageNode": {
        **_NODE_KEYS,
        "autoSkipWhenInputsPresent": _FLAG,
        "inputMessageSchema": _SCHEMA,
        "formSchema": _SCHEMA,
        "surfaceGateInputs": _FLAG,
        "inputRenderers": _TEXT_MAP,
        "maxGateVisits": {"type": "integer", "minimum": 1, "maximum": 100},
    },
    "FlowNode": {
        **_NODE_KEYS,
        **_CHILD_KEYS,
        "gateSteps": {"type": "array", "items": {"$ref": "#/$defs/gateStep"}},
    },
    "AgentNode": {**_NODE_KEYS, **_CHILD_KEYS},
    "A2AAgent": _NODE_KEYS,
    "ToolNode": _NODE_KEYS,
}
"""What the host and this compiler read, by type of component; also the vocabulary of OAS133."""
OTHER_KEYS: Final[Mapping[str, Schema]] = {
    "description": _TEXT,
    "purpose": _TEXT,
    "riskClass": _TEXT,
}
"""Of every other type."""


def metadata_schema(of: str) -> Schema:
    keys = KEYS.get(of, OTHER_KEYS)
    # An absent value and null are the same to whoever reads these keys.
    properties: Schema = {
        key: {"description": CINATRA[key], **_or_null(schema)} for key, schema in keys.items()
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
            "selectionMode": {"enum": ["interactive", "autonomous"]},
            "resolutionMode": {"enum": ["override", "accumulate"]},
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
            "name": _TEXT,
            "description": _TEXT,
            "renderer": _TEXT,
            "riskClass": _TEXT,
            "requiresApproval": _FLAG,
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
