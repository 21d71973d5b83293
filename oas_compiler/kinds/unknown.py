"""The stand-in for a node that cannot be built, so that the rest of its flow can be examined.

a foreign type, a tool or flow that could not be read    ->  UnknownNode with the declared ports
"""

from __future__ import annotations

from oas_compiler import ir
from oas_compiler.component.site import Site, common
from oas_compiler.kinds.kind import NodeKind


def build_unknown(site: Site) -> ir.Node:
    """A stand-in that knows what the file declares and nothing else."""
    declared = site.component.items("branches")
    branches = tuple(name for name in declared or () if isinstance(name, str))
    return ir.UnknownNode(
        **common(site),
        component_type=site.component.type,
        inputs=site.declared("inputs") or (),
        outputs=site.declared("outputs") or (),
        branches=branches or ("next",),
        subflows=site.readable_subflows,
        behind=site.facts_behind,
    )


UNKNOWN = NodeKind(
    component_type="",
    node=ir.UnknownNode,
    build=build_unknown,
    words="",
    fields=None,
)
"""The kind of the stand-in; no file names it, and it never runs."""
