"""How a file refers to what stands elsewhere, and how a variable of a flow goes from node to node."""

from __future__ import annotations

from typing import Final

REFERENCE: Final = "$component_ref"
"""The key of an object that stands for a component or a value of another place."""
REFERENCE_MARK: Final = "$component_ref "
"""Begins a text that stands for the value of a sensitive field: fields of texts hold no objects."""

VARIABLE_PORT: Final = "variable "
"""Begins the name of the port by which a variable of a flow goes from node to node."""
VARIABLE_OVERWRITE: Final = "overwrite"
VARIABLE_MERGE: Final = "merge"
VARIABLE_INSERT: Final = "insert"
