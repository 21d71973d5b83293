"""An agent of the file in, the agent with its model and tools out.

{"component_type": "Agent", "llm_config": {"$component_ref": "gpt"}, "tools": […], …}
    ->  spec.LoadedAgent(component=…, model=Component(type="OpenAiConfig", …), tools=(…))
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.component.agent import LoadedAgent, LoadedTool
from oas_compiler.component.component import Component
from oas_compiler.document.behind import BehindReader
from oas_compiler.document.components import ComponentReader
from oas_compiler.document.inside import read_facts
from oas_compiler.document.scope import Document, Located
from oas_compiler.document.wrong_type import report_wrong_type
from oas_compiler.text.descriptions import describe


class AgentReader:
    """Opens the agents of one document."""

    def __init__(
        self, document: Document, components: ComponentReader, behind: BehindReader
    ) -> None:
        self._document = document
        self._components = components
        self._behind = behind
        self._agents: dict[str, LoadedAgent | None] = {}

    def read(self, target: Located) -> LoadedAgent | None:
        """The agent at `target`; `None` where it cannot be read, which was reported."""
        if target.pointer not in self._agents:
            inside = self._document.enter(target)
            special = target.component_type == "SpecializedAgent"
            self._agents[target.pointer] = (
                self._read_special(inside) if special else self._read_agent(inside)
            )
        return self._agents[target.pointer]

    def _read_agent(self, at: Located) -> LoadedAgent:
        component = self._components.read(at)
        return LoadedAgent(
            component=component,
            model=self._behind.load_model(component, at),
            tools=tuple(self._read_tools(component, "tools", at)),
        )

    def _read_special(self, at: Located) -> LoadedAgent | None:
        component = self._components.read(at)
        base = self._locate(component, "agent", "Agent", at)
        parameters = self._locate(
            component, "agent_specialization_parameters", "AgentSpecializationParameters", at
        )
        if base is None or parameters is None:
            return None
        agent = self._read_agent(self._document.enter(base))
        inside = self._document.enter(parameters)
        special = self._components.read(inside)
        more = tuple(self._read_tools(special, "additional_tools", inside))
        return LoadedAgent(
            component=agent.component,
            special=special,
            model=agent.model,
            tools=(*agent.tools, *more),
        )

    def _locate(
        self, component: Component, name: str, component_type: str, at: Located
    ) -> Located | None:
        target = self._behind.locate(component, name, at)
        pointer = f"{component.pointer}/{name}"
        if target is not None and target.component_type != component_type:
            wanted = f"an {component_type}"
            report_wrong_type(self._document, pointer, f'"{name}"', wanted, target)
            return None
        return target

    def _read_tools(self, component: Component, name: str, at: Located) -> Iterator[LoadedTool]:
        for index, entry in enumerate(component.items(name) or ()):
            pointer = f"{component.at(name)}/{index}"
            if not isinstance(entry, dict):
                self._document.findings.error(
                    "OAS022",
                    f"an entry of {name} must be a tool or a $component_ref, not {describe(entry)}",
                    self._document.source.place(pointer),
                )
                continue
            target = self._document.locate(Located(entry, pointer, at.scope))
            if target is None:
                continue
            tool = self._behind.open_tool(target, pointer)
            if tool is not None:
                yield LoadedTool(component=tool, facts=read_facts(target))
