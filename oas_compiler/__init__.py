"""Open Agent Specification flows, compiled to LangGraph.

A file goes through these stages, each a module or folder of its own:

    source    bytes           -> text, value, place of every pointer
    load      source          -> the wire model, references resolved in scope
    build     wire model      -> the IR (`ir.py`), frozen and plain
    checks/   IR              -> every finding of the file at once
    lower/    checked IR      -> a LangGraph StateGraph
    cli/      all of it at the terminal

Everything up to and including checks runs without LangGraph and without a database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from oas_compiler.diagnostics import CompileError, Diagnostics, Finding
from oas_compiler.pipeline import Compiled, check, compile_ir

if TYPE_CHECKING:
    from oas_compiler.lower.compile import compile_flow
    from oas_compiler.lower.flow import Flow

__all__ = [
    "compile_flow",
    "Flow",
    "check",
    "compile_ir",
    "Compiled",
    "CompileError",
    "Diagnostics",
    "Finding",
]


def __getattr__(name: str) -> Any:
    # Lowering imports LangGraph, which checking a file must not pay for.
    if name == "compile_flow":
        from oas_compiler.lower.compile import compile_flow

        return compile_flow
    if name == "Flow":
        from oas_compiler.lower.flow import Flow

        return Flow
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
