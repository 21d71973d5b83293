"""Every component that a flow uses is of a type that the host lets through.

an MCPTool over a StdioTransport     ->   OAS094, unless the host unblocks StdioTransport
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.document.survey import list_used
from oas_compiler.findings.rule import Report, rule


@rule(
    code="OAS094",
    name="allowed-components",
    severity="error",
    summary="The flow uses a component type that this host does not let through.",
    fix="Use another type, or let it through: blocked_components=[] (--unblock-component TYPE).",
    source="Agent Spec, loading of untrusted configurations",
    needs="document",
    bad='"client_transport": {"component_type": "StdioTransport", "command": "mcp-files"}',
    good='"client_transport": {"component_type": "StreamableHTTPTransport", "url": "https://…"}',
)
def allowed_components(subject: Subject, report: Report) -> None:
    seen: set[str] = set()
    for found in list_used(subject.document):
        kind = found.component_type
        problem = subject.policy.find_problem(kind)
        if not problem or kind in seen:
            continue
        seen.add(kind)
        why = ": it starts a program on this machine" if kind == "StdioTransport" else ""
        report(
            f"the component type {kind[:80]} {problem}{why}",
            subject.place(found.pointer),
            hint=f"let it through only for files that you trust: --unblock-component {kind[:80]}",
        )
