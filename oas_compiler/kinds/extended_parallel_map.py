"""ExtendedParallelMapNode: WayFlow's map whose rounds run at the same time.

Read as an ExtendedMapNode (extended_map.py).
"""

from __future__ import annotations

from oas_compiler import ir
from oas_compiler.kinds.extended_map import MAP_FIELDS, build_extended_map
from oas_compiler.kinds.kind import NodeKind

EXTENDED_PARALLEL_MAP = NodeKind(
    component_type="ExtendedParallelMapNode",
    node=ir.ExtendedParallelMapNode,
    build=build_extended_map,
    words="Runs a flow for each element of a list at the same time, with parts of the element.",
    fields=MAP_FIELDS,
    flows=("flow",),
    acts=False,
    lowering="oas_compiler.lower.plain_nodes:lower_extended_map",
)
