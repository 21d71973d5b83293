"""Lowering: a checked IR in, the plan of a graph out; and the flow that hosts run.

What each node does is a record of the SDK; here it is read from the IR.

flow.py            `Flow`: a compiled flow, for hosts; one flow -> its plan; from a file to a
                   `Flow`, in one call; models by name; whether the host has the values that a
                   file only names
node_functions.py  the function that lowers a kind of node, and what it is given; a node of an
                   installed package, whose function the package makes itself; the outputs of such
                   a node, compared with its declaration; the node to which a finalize of a
                   context selection goes back
plain_nodes.py     the nodes that only compute, and those that run flows as they are;
                   InputMessageNode: a gate; MapNode and ParallelMapNode, also as WayFlow extends
                   them; ApiNode, and a ToolNode over a RemoteTool: one request through the
                   platform
service_nodes.py   LlmNode, also as WayFlow extends it, and the node whose way out a model
                   chooses; ToolNode over each kind of tool, and the nodes of an agent's
                   toolboxes; AgentNode, and the nodes of an agent's own flow
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.public_names import import_on_use

if TYPE_CHECKING:
    from oas_compiler.lower.node_functions import LoweringSite

_LATER: Final = {"LoweringSite": "lower.node_functions"}

__all__ = ["LoweringSite"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)
