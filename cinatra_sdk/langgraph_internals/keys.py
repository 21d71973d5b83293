"""LangGraph's own strings in configurations, metadata and values.

Without any import: checking a file and validating a value must not pay for LangGraph.
"""

from __future__ import annotations

from typing import Final

# ---------------------------------------------------------------- in `config["configurable"]`
READ: Final = "__pregel_read"
"""LangGraph's own function for reading state; it holds the channels of the running task's graph."""
CHECKPOINTER: Final = "__pregel_checkpointer"
"""The checkpointer of the graph around; None where none is kept."""
DURABILITY: Final = "__pregel_durability"
"""When checkpoints are stored: "sync", "async" or "exit"."""
SCRATCHPAD: Final = "__pregel_scratchpad"
"""Counters of the running task, and the answers that it was given."""

# ---------------------------------------------------------------- in `config["metadata"]`
NODE: Final = "langgraph_node"
STEP: Final = "langgraph_step"
PATH: Final = "langgraph_path"
NAMESPACE: Final = "langgraph_checkpoint_ns"
PUSH: Final = "__pregel_push"
"""First part of the path of a task that a `Send` started."""

MARKS: Final = ("__pregel_", "langgraph_")
"""How keys begin that LangGraph leaves in the configuration of every task."""
INSTRUCTIONS: Final = ("__overwrite__", "__pregel_", "branch:to:")
"""How keys begin by which JSON could be taken for one of LangGraph's own instructions."""
