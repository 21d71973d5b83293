"""InputMessageNode: asks a person.

outputs: [{"title": "choice", "enum": ["a", "b"]}]   ->  answer_schema {"enum": ["a", "b"], …}
outputs: [{"title": "reply", "type": "string"}]      ->  answer_schema None: approval or text
"""

from __future__ import annotations

from cinatra_sdk.contract import MAX_GATE_VISITS
from oas_compiler import ir
from oas_compiler.component_facts.component import NODE_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import exactly_one, next_only, template_inputs
from oas_compiler.component_facts.metadata import (
    FLAG,
    NODE_KEYS,
    SCHEMA,
    TEXT_MAP,
    cinatra_error,
    cinatra_text,
    cinatra_text_map,
)
from oas_compiler.ir import Json, JsonValue, Port
from oas_compiler.kinds.kind import Extended, NodeKind, is_any, is_off, renames_nothing


def build_input_message(site: Site) -> ir.Node:
    outputs = site.declared("outputs")
    if outputs is None:
        outputs = (
            Port(
                title="user_input",
                type=ir.STRING,
                schema=Json.of({"type": "string"}),
                place=site.place(),
            ),
        )
    outputs = exactly_one(site, outputs, "outputs", "output, the answer")
    schema = site.component.cinatra.get("inputMessageSchema")
    if schema is not None and not isinstance(schema, dict):
        cinatra_error(site, "inputMessageSchema", "a JSON Schema object")
        schema = None
    form = schema if isinstance(schema, dict) else None
    message = site.component.fields.get("message")
    return ir.InputMessageNode(
        **common(site),
        inputs=template_inputs(site, also=() if _is_plain(site) else None),
        outputs=outputs,
        branches=next_only(site),
        message=message if isinstance(message, str) else None,
        answer_schema=_answer_schema(outputs, form),
        renderer=_choose_renderer(site, outputs, form),
        max_visits=_max_visits(site),
    )


def _is_plain(site: Site) -> bool:
    """Whether a gate shows its inputs by its message alone, and not as values on a screen."""
    shown = site.component.cinatra.get("surfaceGateInputs") is True
    return site.component.has("message") and not shown and not site.component.cinatra


def _answer_schema(outputs: tuple[Port, ...], form: dict[str, JsonValue] | None) -> Json | None:
    """The schema of an answer: the form's, or the output's where it says more than "a string"."""
    if form is not None:
        return Json.of(form)
    if not outputs:
        return None
    schema = outputs[0].schema.mapping()
    rules = {
        key: value
        for key, value in schema.items()
        if key != "description" and not key.startswith("x-")
    }
    return None if rules in ({}, {"type": "string"}) else outputs[0].schema


def _choose_renderer(
    site: Site, outputs: tuple[Port, ...], form: dict[str, JsonValue] | None
) -> str:
    of_output = cinatra_text_map(site, "inputRenderers").get(outputs[0].title if outputs else "")
    of_form = (form or {}).get("x-renderer")
    return (
        of_output or cinatra_text(site, "renderer") or (of_form if isinstance(of_form, str) else "")
    )


def _max_visits(site: Site) -> int | None:
    value = site.component.cinatra.get("maxGateVisits")
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= MAX_GATE_VISITS:
        return value
    cinatra_error(site, "maxGateVisits", f"a whole number from 1 to {MAX_GATE_VISITS}")
    return None


INPUT_MESSAGE = NodeKind(
    component_type="InputMessageNode",
    node=ir.InputMessageNode,
    build=build_input_message,
    words="A gate: the run waits here until a person approves, rejects or answers.",
    fields={
        **NODE_FIELDS,
        "inputs": Field("list", "What the gate shows."),
        "outputs": Field("list", "Exactly one output: the answer."),
        "message": Field("text", "The text; a template.", template=True),
    },
    extended=Extended(
        "PluginInputMessageNode",
        {
            "input_mapping": renames_nothing,
            "output_mapping": is_any,  # names the one output, which is listed
            "rephrase": is_off,
            "llm_config": is_any,
        },
        {"message_template": "message"},
    ),
    acts=False,
    shows_screens=True,
    shape="gate",
    caption="gate",
    metadata={
        **NODE_KEYS,
        "autoSkipWhenInputsPresent": FLAG,
        "inputMessageSchema": SCHEMA,
        "formSchema": SCHEMA,
        "surfaceGateInputs": FLAG,
        "inputRenderers": TEXT_MAP,
        "maxGateVisits": {"type": "integer", "minimum": 1, "maximum": MAX_GATE_VISITS},
    },
    lowering="oas_compiler.lower.plain_nodes:lower_gate",
)
