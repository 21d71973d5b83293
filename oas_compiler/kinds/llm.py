"""LlmNode: one question to a language model.

prompt "About {{ topic }}"   ->  input "topic", output "generated_text": string
"""

from __future__ import annotations

from oas_compiler import ir
from oas_compiler.component_facts.component import NODE_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import next_only, template_inputs
from oas_compiler.component_facts.metadata import (
    ATTACHMENT_KEYS,
    FIRST_TURN_KEYS,
    NODE_KEYS,
    read_attached,
    read_first_turn,
)
from oas_compiler.component_facts.requests import report_retry_policy
from oas_compiler.ir import Json, Port
from oas_compiler.kinds.kind import NodeKind

_NAMES = ("model_id", "name")
"""Fields of a model that name it, the plainest first."""


def build_llm(site: Site) -> ir.Node:
    outputs = site.declared("outputs")
    if outputs is None:
        schema = Json.of({"type": "string"})
        outputs = (Port(title="generated_text", type=ir.STRING, schema=schema, place=site.place()),)
    inputs = template_inputs(site)
    return ir.LlmNode(
        **common(site),
        inputs=inputs,
        outputs=outputs,
        branches=next_only(site),
        prompt_template=site.component.text("prompt_template"),
        llm_config=read_config(site),
        first_turn=read_first_turn(site, site.component, inputs),
        attached=read_attached(site, site.component, inputs),
    )


def read_config(site: Site) -> Json:
    """The model's component, the references of its own fields resolved."""
    model = site.behind
    if model is None:
        return ir.NOTHING
    report_retry_policy(site, model)  # read when the model is connected
    # As its author ordered it; what was wrong is not in it, and was reported.
    return Json.of({"component_type": model.type, **model.fields})


def name_model(node: ir.Node) -> str:
    """The model that a node asks, as its file names it: `gpt-4o`; empty where it has no name."""
    model = getattr(node, "llm_config", ir.NOTHING).value()
    names = (model.get(key) for key in _NAMES) if isinstance(model, dict) else ()
    return next((name for name in names if isinstance(name, str) and name), "")


def describe_question(node: ir.Node) -> str:
    return f"model {name_model(node)}".rstrip()


LLM = NodeKind(
    component_type="LlmNode",
    node=ir.LlmNode,
    build=build_llm,
    words="Asks a language model.",
    fields={
        **NODE_FIELDS,
        "llm_config": Field("component", "The model that is asked.", required=True),
        "prompt_template": Field(
            "text", "What it is asked; a template.", required=True, template=True
        ),
    },
    behind="llm_config",
    shape="call",
    caption=describe_question,
    metadata={**NODE_KEYS, **FIRST_TURN_KEYS, **ATTACHMENT_KEYS},
    lowering="oas_compiler.lower.service_nodes:lower_llm",
)
