"""Every server tool of the flow is registered with the host.

a ToolNode over "get_wether", registered is "get_weather"   ->   OAS092 did you mean …?

Skipped where the host's tools are not known.
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import ToolNode


@rule(
    code="OAS092",
    name="tools-are-registered",
    severity="error",
    summary="A ToolNode calls a tool that the host has not registered.",
    fix="Pass the function in tools= (at the command line, --host), or correct the tool's name.",
    source="Agent Spec, ServerTool",
    needs="flow",
    bad='{"component_type": "ServerTool", "name": "get_wether"}   with   tools={"get_weather": …}',
    good='{"component_type": "ServerTool", "name": "get_weather"}   with   tools={"get_weather": …}',
)
def tools_are_registered(subject: Subject, report: Report) -> None:
    tools = subject.tools
    if tools is None:
        return
    for flow in subject.flows:
        for node in flow.nodes:
            if isinstance(node, ToolNode) and node.tool_name not in tools:
                report(
                    f'the tool "{node.tool_name}" of "{node.id}" is not registered',
                    node.place,
                    hint=report.nearest(node.tool_name, tools)
                    or f'pass it: tools={{"{node.tool_name}": …}}; at the command line, '
                    "--host MODULE:FACTORY, also beside --simulate",
                )
