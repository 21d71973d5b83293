"""An MCPToolBox of the file in, the box with its transport and the tools that it offers out.

{"component_type": "MCPToolBox", "tool_filter": ["search", {"component_type": "MCPToolSpec", …}], …}
    ->  LoadedToolbox(names=("search",), described=(…,))
"""

from __future__ import annotations

from dataclasses import replace

from oas_compiler.component.agent import LoadedTool, LoadedToolbox
from oas_compiler.component.component import Component
from oas_compiler.document.behind import BehindReader
from oas_compiler.document.components import ComponentReader
from oas_compiler.document.inside import read_facts
from oas_compiler.document.scope import Document, Located
from oas_compiler.document.wrong_type import report_wrong_type
from oas_compiler.ir import Behind
from oas_compiler.text.descriptions import describe


def read_toolbox(
    document: Document, components: ComponentReader, behind: BehindReader, target: Located
) -> LoadedToolbox | None:
    """`None` where it cannot be read, which was reported."""
    inside = document.enter(target)
    box = behind.open_transport(components.read(inside), target)
    if box is None:
        return None
    facts = read_facts(target)
    entries = box.items("tool_filter")
    names: list[str] = []
    described: list[LoadedTool] = []
    for index, entry in enumerate(entries or ()):
        pointer = f"{box.at('tool_filter')}/{index}"
        if isinstance(entry, str):
            names.append(entry)
        elif isinstance(entry, dict):
            spec = document.locate(Located(entry, pointer, inside.scope))
            if spec is None:
                continue
            if spec.component_type != "MCPToolSpec":
                wanted = "a name or an MCPToolSpec"
                report_wrong_type(document, pointer, "an entry of tool_filter", wanted, spec)
                continue
            described.append(_make_tool(components.read(spec), box, facts, read_facts(spec)))
        else:
            document.findings.error(
                "OAS022",
                f"an entry of tool_filter must be a name or an MCPToolSpec, not {describe(entry)}",
                document.source.place(pointer),
            )
    return LoadedToolbox(
        component=box,
        facts=facts,
        names=None if entries is None else tuple(names),
        described=tuple(described),
    )


def _make_tool(spec: Component, box: Component, of_box: Behind, own: Behind) -> LoadedTool:
    """The tool by itself: a box that asks a person asks for each of its tools."""
    shared = {
        name: box.fields[name] for name in ("client_transport", "retry_policy") if box.has(name)
    }
    tool = replace(
        spec,
        type="MCPTool",
        fields={**spec.fields, **shared},
        places={**spec.places, "client_transport": box.at("client_transport")},
    )
    facts = Behind(
        risk_class=own.risk_class or of_box.risk_class,
        asks_person=own.asks_person or of_box.asks_person,
    )
    return LoadedTool(component=tool, facts=facts)
