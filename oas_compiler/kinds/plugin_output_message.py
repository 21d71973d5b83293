"""PluginOutputMessageNode: a message to people, which is an output, too.

message: "Draft: {{ draft }}"    ->  one input "draft", one output "output_message"

Source: WayFlow's `PluginOutputMessageNode`.
"""

from __future__ import annotations

from typing import Final

from oas_compiler import ir
from oas_compiler.component_facts.component import PLUGIN_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import (
    exactly_one,
    next_only,
    none_declared,
    template_inputs,
)
from oas_compiler.ir import JsonValue, Port
from oas_compiler.kinds.kind import NodeKind

_OUTPUT: Final = "output_message"


def build_plugin_message(site: Site) -> ir.Node:
    component = site.component
    message = "message" if component.has("message") else "message_template"
    return ir.PluginOutputMessageNode(
        **common(site),
        inputs=template_inputs(site),
        outputs=_read_outputs(site),
        branches=next_only(site),
        message=component.text(message),
    )


def _read_outputs(site: Site) -> tuple[Port, ...]:
    if not site.component.flag("expose_message_as_output", default=True):
        return none_declared(site, "outputs")
    outputs = site.declared("outputs")
    usual = Port(title=_OUTPUT, type=ir.STRING, place=site.place())
    return exactly_one(site, outputs or (usual,), "outputs", _OUTPUT)


def _is_other_speaker(value: JsonValue) -> bool:
    return value is not None and not (isinstance(value, str) and value.casefold() == "agent")


def _is_on(value: JsonValue) -> bool:
    return value is True


PLUGIN_OUTPUT_MESSAGE = NodeKind(
    component_type="PluginOutputMessageNode",
    node=ir.PluginOutputMessageNode,
    build=build_plugin_message,
    words="Says something to the person, and gives it as an output.",
    fields={
        **PLUGIN_FIELDS,
        "message": Field("text", "The text; a template.", template=True),
        "message_template": Field("text", "The older name of `message`.", template=True),
        "expose_message_as_output": Field("flag", "Whether the message is an output."),
        "message_type": Field("text", "Who speaks: `AGENT`.", refused=_is_other_speaker),
        "rephrase": Field("flag", "Whether a model rephrases the message.", refused=_is_on),
        "llm_config": Field("any", "The model that rephrases it.", is_read=False),
    },
    acts=False,
    shape="message",
    caption="message",
    lowering="oas_compiler.lower.plain_nodes:lower_message",
)
