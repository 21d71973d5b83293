"""Open Agent Specification flows, compiled to LangGraph.

The folders, in the order in which a file meets them; each imports only those above it here:

    ir           a checked flow as frozen, plain data; the text and JSON of `oasflow ir`
    findings     findings about a file, and how rules make them
    text         bytes -> text, value and the place of every part; files
    port_types   types of ports: compared, joined, cast
    templates    placeholders and Jinja templates
    component_facts  one component as its author wrote it, and facts derived from it
    kinds        the kinds of nodes: one record each
    document     the wire form: components, references in their scopes
    build        wire form -> IR
    package      the files beside a flow file: manifest, skills, scripts
    control      the order in which nodes run, policy, gates, context slots
    facts        facts about a stored flow, for a host
    schema       JSON Schemas of files, inputs and outputs
    text_edits   values changed in place in a text
    checks       every rule of `oasflow check`;  catalog  their cards and documentation
    rules        the names for a package that adds rules
    report       findings as JSON, SARIF, annotations
    pipeline.py  read -> document -> build -> check, as two functions
    draw         pictures
    lower        checked IR -> the plan of a graph, which the SDK makes
    emit         the plan as a Python module
    explain diff deps edit    one folder per question; edit is `check --fix` and `wire-context`
    cli          all of it at the terminal

Everything but `lower`, `emit` and `cli` runs without LangGraph and without a database.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from cinatra_sdk.light_imports.public_names import import_on_use

if TYPE_CHECKING:
    from oas_compiler.findings.finding import Finding
    from oas_compiler.lower.flow import Flow, compile_flow
    from oas_compiler.pipeline import Compiled, check, compile_ir
    from oas_compiler.report.diagnostics import CompileError, Diagnostics

FLOORS: Final = (
    "ir", "findings", "text", "port_types", "templates", "component_facts", "kinds", "document",
    "build", "package", "control", "facts",
    "schema", "text_edits", "checks", "rules", "catalog", "report", "pipeline", "draw", "lower", "emit", "explain",
    "diff", "deps", "edit", "cli",
)  # fmt: skip
"""From the ground up: a folder imports only those before it (tests/test_layers.py)."""

_LATER: Final = {
    "compile_flow": "lower.flow",
    "Flow": "lower.flow",
    "check": "pipeline",
    "compile_ir": "pipeline",
    "Compiled": "pipeline",
    "CompileError": "report.diagnostics",
    "Diagnostics": "report.diagnostics",
    "Finding": "findings.finding",
}

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

if not TYPE_CHECKING:
    __getattr__, __dir__ = import_on_use(__name__, _LATER)
