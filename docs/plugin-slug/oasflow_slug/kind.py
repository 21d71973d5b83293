"""SlugNode: a text that is fit for an address.

text: "About {{ topic }}"    ->  one input "topic", one output "slug"
"""

from __future__ import annotations

from dataclasses import dataclass

from oas_compiler.ir import STRING, Node, Port
from oas_compiler.kinds import (
    NODE_FIELDS,
    Field,
    NodeKind,
    Site,
    common,
    exactly_one,
    next_only,
    template_inputs,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SlugNode(Node):
    """In the IR: everything that a run of the node needs."""

    text: str
    separator: str = "-"


def build_slug(site: Site) -> Node:
    """One component of the file in, the IR node out; what is wrong is recorded through `site`."""
    outputs = site.declared("outputs")
    if outputs is None:
        outputs = (Port(title="slug", type=STRING, place=site.place()),)
    separator = site.component.text("separator", "-")
    if len(separator) != 1:
        site.error("OAS022", f"the separator of {site.label} must be one character", "separator")
    return SlugNode(
        **common(site),
        inputs=template_inputs(site),
        outputs=exactly_one(site, outputs, "outputs", "output"),
        branches=next_only(site),
        text=site.component.text("text"),
        separator=separator,
    )


SLUG = NodeKind(
    component_type="SlugNode",
    node=SlugNode,
    build=build_slug,
    words="Makes a text fit for an address.",
    fields={
        **NODE_FIELDS,
        "text": Field("text", "The text; a template.", required=True, template=True),
        "separator": Field("text", "What stands between the words; `-` where left out."),
    },
    acts=False,
    caption="slug",
    lowering="oasflow_slug.lowering:lower_slug",
)
