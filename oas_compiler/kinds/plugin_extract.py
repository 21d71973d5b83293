"""PluginExtractNode: values out of a text with JSON in it.

output_values: {"name": ".user.name"}    ->  one input "text", one output "name"

Source: WayFlow's `PluginExtractNode`; the ways are those of jq that only look values up.
"""

from __future__ import annotations

from typing import Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.component_facts.component import (
    PLUGIN_FIELDS,
    Field,
    Site,
    common,
    is_used,
    needs_jq,
    read_ways,
)
from oas_compiler.component_facts.inference import exactly_one, next_only, specialised
from oas_compiler.ir import STRING, Node, Port
from oas_compiler.kinds.kind import NodeKind

_TEXT: Final = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginExtractNode(Node):
    """In the IR: (output, the way to its value)."""

    ways: tuple[tuple[str, str], ...] = ()


def build_extract(site: Site) -> Node:
    given = site.component.mapping("output_values")
    outputs = tuple(Port(title=title, place=site.place()) for title in given)
    text = Port(title=_TEXT, type=STRING, place=site.place())
    inputs = site.declared("inputs")
    inputs = exactly_one(site, (text,) if inputs is None else inputs, "inputs", "input, the text")
    return PluginExtractNode(
        **common(site),
        inputs=inputs,
        outputs=specialised(site, "outputs", outputs, "output_values"),
        branches=next_only(site),
        ways=read_ways(given),
    )


PLUGIN_EXTRACT = NodeKind(
    component_type="PluginExtractNode",
    node=PluginExtractNode,
    build=build_extract,
    words="Takes values out of a text with JSON in it.",
    fields={
        **PLUGIN_FIELDS,
        "output_values": Field(
            "object", "Output → the way to its value.", required=True, refused=needs_jq
        ),
        "retry": Field("flag", "Whether a model mends the JSON.", refused=is_used),
        "llm_config": Field("any", "The model that mends it.", is_read=False),
    },
    acts=False,
    caption="values of a text",
    lowering="oas_compiler.lower.plain_nodes:lower_extract",
)
