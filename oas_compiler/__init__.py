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

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from oas_compiler.findings.finding import Finding
    from oas_compiler.lower.compile import compile_flow
    from oas_compiler.lower.flow import Flow
    from oas_compiler.pipeline import Compiled, check, compile_ir
    from oas_compiler.report.diagnostics import CompileError, Diagnostics

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

_LATER: Final = {
    "compile_flow": "lower.compile",
    "Flow": "lower.flow",
    "check": "pipeline",
    "compile_ir": "pipeline",
    "Compiled": "pipeline",
    "CompileError": "report.diagnostics",
    "Diagnostics": "report.diagnostics",
    "Finding": "findings.finding",
}


def __getattr__(name: str) -> Any:
    # Imported by whoever uses it: checking a file must not pay for LangGraph, which lowering
    # imports, and looking at runs not for the rules.
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"oas_compiler.{_LATER[name]}"), name)
