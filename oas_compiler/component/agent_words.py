"""Ids, branches and names of tools that every agent's flow has."""

from __future__ import annotations

from typing import Final

from cinatra_sdk.contract import QUESTION_TOOL
from oas_compiler.ir import Json

START: Final = "start"
MODEL: Final = "model"
SHORTEN: Final = "shorten"
CALLS: Final = "calls"
END: Final = "end"
AGAIN: Final = "again"
"""The branch back to the model."""
ASK: Final = QUESTION_TOOL
"""The tool by which a model asks a person, and the node of it."""
SUBMIT: Final = "submit_result"
"""The tool by which a model gives the outputs of its agent."""
TEXT: Final = Json.of({"type": "string"})
