"""The tools and models that nodes and agents run.

{"component_type": "ToolNode", "tool": {"$component_ref": "search"}}  ->  Component(type="ServerTool", …)
"""

from __future__ import annotations

from dataclasses import replace

from oas_compiler.component.component import Component
from oas_compiler.component.mcp import TRANSPORT_FIELDS
from oas_compiler.component.model_fields import MODEL_TYPES
from oas_compiler.document.components import ComponentReader
from oas_compiler.document.scope import Document, Located
from oas_compiler.document.types import is_known, is_plugin_type
from oas_compiler.document.wrong_type import report_wrong_type
from oas_compiler.ir import JsonValue
from oas_compiler.kinds.no_nodes import RUNNERS, TOOLS
from oas_compiler.kinds.registry import find_kind


class BehindReader:
    """Opens the tools and models of one document."""

    def __init__(self, document: Document, components: ComponentReader) -> None:
        self._document = document
        self._components = components

    def load_tool(self, node: Component, at: Located) -> Component | None:
        target = self.locate(node, "tool", at)
        return None if target is None else self.open_tool(target, f"{node.pointer}/tool")

    def open_tool(self, target: Located, pointer: str) -> Component | None:
        """A tool; pointer: of the field that leads to it, for errors."""
        kind = target.component_type
        if kind in TOOLS:
            tool = self._components.read(target)
            return self.open_transport(tool, target) if kind == "MCPTool" else tool
        node_kind = find_kind(kind)
        runs_not = kind in RUNNERS or (node_kind is not None and not node_kind.runs)
        if not runs_not and not is_plugin_type(kind):
            report_wrong_type(
                self._document,
                pointer,
                "a tool",
                "a ServerTool, a RemoteTool, a ClientTool or an MCPTool",
                target,
            )
        return None

    def open_transport(self, tool: Component, at: Located) -> Component | None:
        """The MCPTool or MCPToolBox with the fields of its transport; `None` without one."""
        inside = self._document.enter(at)
        target = self.locate(tool, "client_transport", inside)
        if target is None:
            return None
        if target.component_type not in TRANSPORT_FIELDS:
            if is_known(target.component_type) or not target.component_type:
                place = f"{tool.pointer}/client_transport"
                report_wrong_type(
                    self._document, place, "a transport", "a StreamableHTTPTransport", target
                )
            return None
        transport = self._components.read(self._document.enter(target))
        fields = {"component_type": transport.type, **transport.fields}
        login = self._open_login(transport, self._document.enter(target))
        fields = {name: part for name, part in fields.items() if name != "auth"}
        fields |= {"auth": login} if login is not None else {}
        return replace(
            tool,
            fields={**tool.fields, "client_transport": fields},
            places={**tool.places, "client_transport": transport.pointer},
        )

    def _open_login(self, transport: Component, at: Located) -> dict[str, JsonValue] | None:
        """The login by OAuth of a transport, with its client; `None` without one."""
        opened = self._open_part(transport, "auth", "OAuthConfig", at)
        if opened is None:
            return None
        config, inside = opened
        client = self._open_part(config, "client", "OAuthClientConfig", inside)
        return {**config.fields, "client": dict(client[0].fields) if client is not None else {}}

    def _open_part(
        self, owner: Component, field: str, component_type: str, at: Located
    ) -> tuple[Component, Located] | None:
        target = self.locate(owner, field, at)
        if target is None:
            return None
        if target.component_type != component_type:
            pointer = f"{owner.pointer}/{field}"
            wanted = f"an {component_type}"
            report_wrong_type(self._document, pointer, f'"{field}"', wanted, target)
            return None
        inside = self._document.enter(target)
        return self._components.read(inside), inside

    def load_model(
        self, node: Component, at: Located, field: str = "llm_config"
    ) -> Component | None:
        """The model in a field of a node, an agent or a transform."""
        target = self.locate(node, field, at)
        if target is None:
            return None
        if target.component_type in MODEL_TYPES:
            return self._components.read(self._document.enter(target))
        if is_known(target.component_type) or not target.component_type:
            place = f"{node.pointer}/{field}"
            report_wrong_type(self._document, place, "a model", "an LlmConfig", target)
        return None

    def locate(self, component: Component, name: str, at: Located) -> Located | None:
        """What the component field `name` leads to; `None` when that was reported."""
        value = at.value.get(name) if isinstance(at.value, dict) else None
        if not component.has(name):
            return None
        return self._document.locate(Located(value, f"{component.pointer}/{name}", at.scope))
