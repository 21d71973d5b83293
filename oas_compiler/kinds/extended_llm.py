"""ExtendedLlmNode: WayFlow's LlmNode, which may have several messages and say its answer.

prompt_template_object: [system "Be {{ style }}.", user "About {{ topic }}"]
    ->  inputs "style", "topic", output "output": string
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from oas_compiler import ir
from oas_compiler.component_facts.component import PLUGIN_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import next_only, template_inputs
from oas_compiler.component_facts.metadata import read_attached, read_first_turn
from oas_compiler.component_facts.model_fields import change_messages, read_messages
from oas_compiler.ir import Json, Port
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.kinds.llm import LLM, read_config

_TEXTS: Final = "texts"


def build_extended_llm(site: Site) -> ir.Node:
    given = site.component.fields.get("prompt_template_object")
    messages = read_messages(given.get("messages")) if isinstance(given, dict) else None
    prompt = site.component.text("prompt_template")
    messages = messages if messages is not None else (("user", prompt),)
    if bool(prompt) == bool(given):
        site.error(
            "OAS022",
            f"{site.label} needs a prompt_template, or a prompt_template_object in its place",
            "prompt_template",
        )
    if isinstance(given, dict) and change_messages(given.get("pre_rendering_transforms")):
        message = (
            f"the template of {site.label} shortens the conversation, which only an agent does"
        )
        site.error("OAS022", message, "prompt_template_object", hint="let an Agent ask the model")
    *before, (role, last) = messages or (("user", ""),)
    if role != "user":
        before, last = [*messages], ""
    inputs = template_inputs(_put_texts_in(site, messages), _TEXTS)
    return ir.ExtendedLlmNode(
        **common(site),
        inputs=inputs,
        outputs=_read_outputs(
            site, given.get("response_format") if isinstance(given, dict) else None
        ),
        branches=next_only(site),
        prompt_template=last,
        llm_config=read_config(site),
        first_turn=read_first_turn(site, site.component, inputs),
        attached=read_attached(site, site.component, inputs),
        before=tuple(before),
        says=site.component.flag("send_message", default=False),
    )


def _put_texts_in(site: Site, messages: tuple[tuple[str, str], ...]) -> Site:
    """The site with all texts in one field, from which inputs follow."""
    component = site.component
    texts: list[ir.JsonValue] = [text for _, text in messages]
    fields = {**component.fields, _TEXTS: texts}
    return replace(site, component=replace(component, fields=fields))


def _read_outputs(site: Site, form: ir.JsonValue) -> tuple[Port, ...]:
    outputs = site.declared("outputs")
    if outputs:
        return outputs
    if isinstance(form, dict):
        return site.reader.ports([form], site.component.at("prompt_template_object"))
    schema = Json.of({"type": "string"})
    return (Port(title="output", type=ir.STRING, schema=schema, place=site.place()),)


EXTENDED_LLM = NodeKind(
    component_type="ExtendedLlmNode",
    node=ir.ExtendedLlmNode,
    build=build_extended_llm,
    words="Asks a language model, with one message or several, and may say the answer.",
    fields={
        **PLUGIN_FIELDS,
        "llm_config": Field("component", "The model that is asked.", required=True),
        "prompt_template": Field("text", "What it is asked; a template.", template=True),
        "prompt_template_object": Field("component", "Several messages in its place."),
        "send_message": Field("flag", "Whether the answer joins the conversation."),
    },
    behind=LLM.behind,
    shape=LLM.shape,
    caption=LLM.caption,
    metadata=LLM.metadata,
    lowering="oas_compiler.lower.service_nodes:lower_llm",
)
