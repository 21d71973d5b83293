"""ParallelMapNode: a flow for each element of a list, at the same time.

Read as a MapNode (map.py).
"""

from __future__ import annotations

from oas_compiler import ir
from oas_compiler.kinds.kind import DRAFT, NodeKind
from oas_compiler.kinds.map import MAP_FIELDS, MAP_KEYS, build_map

PARALLEL_MAP = NodeKind(
    component_type="ParallelMapNode",
    node=ir.ParallelMapNode,
    build=build_map,
    words="Runs a flow once for each element of a list, at the same time.",
    fields=MAP_FIELDS,
    since=DRAFT,
    flows=("subflow",),
    acts=False,
    metadata=MAP_KEYS,
    lowering="oas_compiler.lower.plain_nodes:lower_map",
)
