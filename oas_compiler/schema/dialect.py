"""JSON Schema of the flow files that are read here: Agent Spec with Cinatra's metadata.

In: every component type with its fields.  Out: one schema (draft 2020-12), for editors and for tests.

    dialect_schema()["$defs"]["ApiNode"]["properties"]["url"]
        ->  {"type": "string", "description": "Address of the call; a template."}

The schema lists the component types and the kinds of values in their fields; `check` tests
everything that involves several places of a file (references, edges, types).  An unknown field is
only a warning in `check`, so the schema allows it.  In metadata the schema is stricter than
`check`: a run ignores a key of a wrong kind, but the author surely did not mean that.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from cinatra_sdk.contract import RESOLUTION_MODES, SELECTION_MODES
from oas_compiler.component_facts.component import COMPONENT_FIELDS, Field
from oas_compiler.component_facts.metadata import (
    ANY,
    ATTACHMENT_KEYS,
    FIRST_TURN_KEYS,
    FLAG,
    NODE_KEYS,
    TEXT,
    TEXTS,
    Schema,
)
from oas_compiler.document.component_types import all_fields, known_types, node_types, words_of
from oas_compiler.document.survey import NEWEST, OLDEST
from oas_compiler.ir import JsonValue
from oas_compiler.kinds.registry import RUNNERS, TOOLS, find_kind
from oas_compiler.schema.flow_schemas import DRAFT

# ----------------------------------------------------------------------------
# The meaning of each key of `metadata.cinatra`, in one sentence, for editors.
#
#     CINATRA["hidden"]    ->  "Inputs that only the caller supplies; nobody is asked for them."
#
# What a component type and its fields mean stands with the type (kinds/, document/component_types.py).


CINATRA: Final[Mapping[str, str]] = {
    "type": "`flow` or `orchestrator` runs on its own, `node` or `leaf` inside another agent.",
    "packageName": "Name of the npm package that this belongs to, or of the child agent it runs.",
    "packageVersion": "Version of that package; package.json decides.",
    "hitlScreens": "Ids of the screens that this agent may show.",
    "llm": "The model that calls of the bridge prefer.",
    "contextSlots": "Places where a person or the agent picks stored artifacts as context.",
    "docsRef": "Where the agent is described.",
    "produces": "Artifacts that the agent makes.",
    "agentDependencies": "Not read here: child agents are declared in package.json.",
    "reentrantGate": "The gate that a loop comes back to.",
    "toolboxes": "Toolboxes that calls of the bridge may use.",
    "projectPrimitiveTools": "Notes about tools.",
    "parentSatisfiedContextSlots": "Slots whose pick is handed to a child agent.",
    "required": "Inputs that the run cannot begin without, in the order in which they are asked.",
    "hidden": "Inputs that only the caller supplies; nobody is asked for them.",
    "inputRenderers": "Title → id of the screen that asks for it.",
    "inputTitles": "Title → what people see instead.",
    "inputDataSources": "Title → where choices come from.",
    "inputContract": "Notes about the inputs.",
    "riskClass": "What the node does to the world; `…_send`, `…_publish`, `…_post`, `…_delete` and "
    "`send_external_message` act on it and need a gate before them.",
    "effect": "How often the effect may happen when a run goes on after a crash: `at_least_once`, "
    "under one key, or `at_most_once`.",
    "onItemError": "What a map does where an element fails: `fail`, or `collect` and go on.",
    "requiresApproval": "Of a gate: that it asks. Of a call: for information only.",
    "renderer": "Id of the screen, `@scope/package:screen`.",
    "a2uiSurfaceId": "Id of the surface that the screen is drawn on.",
    "approvalPolicy": "For information only; the policy follows from the gates.",
    "phase": "For information only.",
    "tools": "For information only.",
    "description": "What it is for, in words.",
    "purpose": "What it is for; marks context selection with `author-placed-…` and "
    "`loader-injected-context-resolution-for-<slotId>`.",
    "autoSkipWhenInputsPresent": "A hint for authors; nothing reads it.",
    "inputMessageSchema": "JSON Schema of the answer that a person gives.",
    "formSchema": "JSON Schema of the object inside an answer that is a JSON text.",
    "surfaceGateInputs": "Whether the gate's inputs are shown as one object.",
    "maxGateVisits": "How often one run may come to this gate.",
    "gateSteps": "How the gates inside the subflow are shown, in their order.",
    "a2uiSurfaceIdOverride": "The surface that takes the place of the child agent's own.",
    "hitlOwnedBy": "Whose screens are shown: the child agent's or this one's own.",
    "firstTurn": "The model is told tastes, brief, notes and recent work on an image before its prompt.",
    "attachments": "The input with a list of refs of files, which the model is sent.",
    "sideEffects": "Whether the step acts on the world.",
}


# ----------------------------------------------------------------------------
# Cinatra's part of the dialect: `metadata.cinatra`, and the object types of outputs.
#
#     `metadata_schema("InputMessageNode")["properties"]["cinatra"]["properties"]["maxGateVisits"]`
#         ->  {"description": …, "anyOf": [{"type": "integer", "minimum": 1, "maximum": 100}, …]}
#
# The schema has every key of real flows, and allows other keys.


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


ID: Final = "urn:oasflow:schema:oas"
"""Names the schema; nothing is fetched from anywhere."""

_FOREIGN: Final = "^(Plugin|Extended)"
_JSON_TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")
_KINDS: Final[Mapping[str, str]] = {
    "text": "string",
    "flag": "boolean",
    "list": "array",
    "object": "object",
}


def dialect_schema() -> Schema:
    """The schema, fresh."""
    definitions: Schema = {
        "component": _make_component_schema(),
        "reference": _make_reference_schema(),
        "componentOrReference": _component_or_reference(),
        "property": _make_property_schema(),
        "jsonSchema": _json_schema(),
        "contextSlot": context_slot(),
        "gateStep": gate_step(),
        **{name: _make_type_schema(name, fields) for name, fields in all_fields().items()},
    }
    schema: Schema = {
        "$schema": DRAFT,
        "$id": ID,
        "title": "Open Agent Specification, with Cinatra's metadata",
        "description": "A flow file (cinatra/oas.json) or another Agent Spec document.",
        "$ref": "#/$defs/componentOrReference",
        "$defs": definitions,
    }
    # No two readers may share a part of the tables above.
    copied: Schema = json.loads(json.dumps(schema))
    return copied


# ------------------------------------------------------------------------ components


def _make_component_schema() -> Schema:
    known: list[JsonValue] = [*sorted(known_types())]
    return {
        "title": "Component",
        "description": "An Agent Spec component; its component_type decides which fields it has.",
        "type": "object",
        "required": ["component_type"],
        "properties": {
            "component_type": {
                "type": "string",
                "description": COMPONENT_FIELDS["component_type"].words,
            },
        },
        # Types of other plugins are foreign, not misspelt.
        "if": {"not": {"required": ["component_plugin_name"]}},
        "then": {
            "properties": {
                "component_type": {"anyOf": [{"enum": known}, {"pattern": _FOREIGN}]},
            }
        },
        "allOf": [
            {"if": _is_type([name]), "then": _make_schema_ref(name)} for name in all_fields()
        ],
    }


def _make_reference_schema() -> Schema:
    return {
        "title": "Reference",
        "type": "object",
        "required": ["$component_ref"],
        "properties": {
            "$component_ref": {
                "type": "string",
                "description": "Name of a component in the $referenced_components of this flow.",
            }
        },
    }


def _component_or_reference() -> Schema:
    return {
        "if": {"required": ["$component_ref"]},
        "then": _make_schema_ref("reference"),
        "else": _make_schema_ref("component"),
    }


def _make_type_schema(name: str, fields: Mapping[str, Field]) -> Schema:
    properties: Schema = {
        field: _make_field_schema(name, field, about) for field, about in fields.items()
    }
    needed: list[JsonValue] = [field for field, about in fields.items() if about.required]
    return {
        "title": name,
        "description": words_of(name),
        "type": "object",
        "properties": properties,
        "required": needed,
    }


def _make_field_schema(of: str, name: str, about: Field) -> Schema:
    special = _find_special_schema(of, name)
    if name == "component_type":
        return {"const": of, "description": about.words}
    if special is not None:
        schema = special
    elif about.kind in _KINDS:
        schema = {"type": _KINDS[about.kind]}
        if name == "id" and about.required:
            schema["minLength"] = 1
    elif about.kind == "component":
        schema = _make_schema_ref("componentOrReference")
    else:
        schema = {}
    # null counts as absent
    if about.required or about.kind == "any":
        return {"description": about.words, **schema}
    if set(schema) == {"type"}:
        return {"description": about.words, "type": [schema["type"], "null"]}
    return {"description": about.words, "anyOf": [schema, {"type": "null"}]}


def _find_special_schema(of: str, name: str) -> Schema | None:
    """What is known of a field beyond its kind."""
    if name in {"inputs", "outputs"}:
        return {"type": "array", "items": _make_schema_ref("property")}
    if name == "branches":
        return {"type": "array", "items": {"type": "string"}}
    if name == "$referenced_components":
        return {"type": "object", "additionalProperties": _make_schema_ref("componentOrReference")}
    if name == "agentspec_version":
        return _make_version_schema()
    if name == "metadata":
        return metadata_schema(of)
    if name == "mapping":
        return {"type": "object", "additionalProperties": {"type": "string"}}
    if name in _NODE_FIELDS:
        wanted = tuple(sorted(node_types()))
    elif name in _WANTED:
        wanted = _WANTED[name]
    else:
        return None
    inner = _make_inline_schema(wanted)
    return {"type": "array", "items": inner} if name in _LISTS else inner


_NODE_FIELDS: Final = frozenset(
    {"nodes", "start_node", "from_node", "to_node", "source_node", "destination_node"}
)
"""The fields in which any node may stand."""
_TOOLS: Final = (*sorted(TOOLS), *sorted(RUNNERS))
_LISTS: Final = frozenset(
    {"nodes", "control_flow_connections", "data_flow_connections", "subflows"}
)
_WANTED: Final[Mapping[str, tuple[str, ...]]] = {
    "control_flow_connections": ("ControlFlowEdge",),
    "data_flow_connections": ("DataFlowEdge",),
    "subflow": ("Flow",),
    "subflows": ("Flow",),
    "tool": _TOOLS,
}
"""The component types that may stand in a field, where they are not references."""


def _make_inline_schema(types: tuple[str, ...]) -> Schema:
    """A reference, or one of these types, or one of a plugin."""
    plugins: list[JsonValue] = [] if len(types) == 1 else [{"pattern": _FOREIGN}]
    names: list[JsonValue] = [*types]
    return {
        "allOf": [_make_schema_ref("componentOrReference")],
        "if": {
            "required": ["component_type"],
            "not": {
                "anyOf": [{"required": ["$component_ref"]}, {"required": ["component_plugin_name"]}]
            },
        },
        "then": {"properties": {"component_type": {"anyOf": [{"enum": names}, *plugins]}}},
    }


def _is_type(types: Iterable[str]) -> Schema:
    names: list[JsonValue] = [*types]
    return {"properties": {"component_type": {"enum": names}}, "required": ["component_type"]}


def _make_schema_ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _make_version_schema() -> Schema:
    years: list[str] = [str(year) for year in range(OLDEST[0], NEWEST[0] + 1)]
    return {
        "anyOf": [
            {
                "type": "string",
                "pattern": rf"^({'|'.join(years)})\.[0-9]{{1,4}}(\.[0-9]{{1,4}})?$",
                "examples": ["26.1.0"],
            },
            {"type": "null"},
        ]
    }


# ------------------------------------------------------------------------ properties


def _make_property_schema() -> Schema:
    return {
        "title": "Property",
        "description": "An input or output: a JSON Schema with a title that names it.",
        "allOf": [_make_schema_ref("jsonSchema")],
        "type": "object",
        "properties": {
            "title": {
                "type": "string",
                "minLength": 1,
                "description": "The name that edges and templates use.",
            },
            "default": {
                "description": "Taken when no edge feeds it; null is a default too.",
            },
            "json_schema": {
                "description": "Cinatra's wrapper for the rest of the schema; what stands beside "
                "it wins.",
                "allOf": [_make_schema_ref("jsonSchema")],
            },
            "x-renderer": {"type": "string", "description": CINATRA["renderer"]},
            "cinatra": object_annotation(),
        },
        # The title may also stand in json_schema.
        "anyOf": [
            {"required": ["title"]},
            {"properties": {"json_schema": {"required": ["title"]}}, "required": ["json_schema"]},
        ],
    }


def _json_schema() -> Schema:
    names: list[JsonValue] = [*_JSON_TYPES]
    one: Schema = {"enum": names}
    many: Schema = {"type": "array", "items": _make_schema_ref("jsonSchema")}
    named: Schema = {"type": "object", "additionalProperties": _make_schema_ref("jsonSchema")}
    return {
        "title": "JSON Schema",
        "type": ["object", "boolean"],
        "properties": {
            "type": {
                "description": "Left out, every value is taken.",
                "anyOf": [one, {"type": "array", "items": one}],
            },
            "description": {"type": "string"},
            "format": {"type": "string", "description": "An annotation; it is not enforced."},
            "enum": {"type": "array"},
            "items": _make_schema_ref("jsonSchema"),
            "properties": named,
            "additionalProperties": _make_schema_ref("jsonSchema"),
            "required": {"type": "array", "items": {"type": "string"}},
            "anyOf": many,
            "oneOf": many,
            "allOf": many,
        },
    }
