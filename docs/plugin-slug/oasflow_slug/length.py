"""LengthNode: leaves by `short` or `long`, and puts out how long its text is.

text: "{{ slug }}", most: 40    ->  one input "slug", one output "length", branches "short", "long"
"""

from __future__ import annotations

from dataclasses import dataclass

from oas_compiler.ir import Node, Port, ScalarType
from oas_compiler.kinds import (
    NODE_FIELDS,
    Field,
    NodeKind,
    Site,
    checked_branches,
    common,
    exactly_one,
    template_inputs,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthNode(Node):
    text: str
    most: int


def build_length(site: Site) -> Node:
    outputs = site.declared("outputs")
    if outputs is None:
        outputs = (Port(title="length", type=ScalarType("integer"), place=site.place()),)
    most = site.component.fields.get("most")
    if type(most) is not int:
        if "most" not in site.component.unread:  # where it is missing, that was reported
            site.error("OAS022", f"most of {site.label} must be a whole number", "most")
        most = 0
    return LengthNode(
        **common(site),
        inputs=template_inputs(site),
        outputs=exactly_one(site, outputs, "outputs", "output"),
        branches=checked_branches(site, ("short", "long")),
        text=site.component.text("text"),
        most=most,
    )


LENGTH = NodeKind(
    component_type="LengthNode",
    node=LengthNode,
    build=build_length,
    words="Leaves by `long` where a text has more than `most` characters, else by `short`.",
    fields={
        **NODE_FIELDS,
        "text": Field("text", "The text; a template.", required=True, template=True),
        "most": Field("any", "Characters of a short text, at most.", required=True),
    },
    acts=False,
    shape="branch",
    caption="",
    lowering="oasflow_slug.length_lowering:lower_length",
)
