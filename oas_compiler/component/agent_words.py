"""Ids, branches and names of tools that every agent's flow has."""

from __future__ import annotations

from typing import Final

from oas_compiler.ir import Json

START: Final = "start"
MODEL: Final = "model"
SHORTEN: Final = "shorten"
CALLS: Final = "calls"
END: Final = "end"
AGAIN: Final = "again"
"""The branch back to the model."""
ASK: Final = "ask_user"
"""The tool by which a model asks a person."""
SUBMIT: Final = "submit_result"
"""The tool by which a model gives the outputs of its agent."""
TEXT: Final = Json.of({"type": "string"})
