"""Lowering: a checked IR in, the plan of a graph out; and the flow that hosts run.

The work of each node is a record of the SDK, read here from the IR.

flow.py            `Flow`: a compiled flow for hosts; one flow -> its plan; `compile_flow`
node_functions.py  the function that lowers a kind of node, and its input; nodes of packages
plain_nodes.py     nodes that compute, gates, maps, subflows, requests
service_nodes.py   nodes that ask models, tools, servers and agents
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

if TYPE_CHECKING:
    from oas_compiler.lower.node_functions import LoweringSite

_LATER: Final = {"LoweringSite": "lower.node_functions"}

__all__ = ["LoweringSite"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)
