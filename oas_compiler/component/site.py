"""The input of a builder: one component, its surroundings, and the collection of findings.

In: a component and its flow.  Out: the pieces that every node type reads the same way.

    site.declared("inputs")              ->  (Port(title="topic", …),), or None to infer them
    site.subflows[0].outputs             ->  of a FlowNode, what its flow gives
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from oas_compiler import ir
from oas_compiler.component.agent import Loaded
from oas_compiler.component.component import Component
from oas_compiler.component.fields import NODE_FIELDS, Field
from oas_compiler.component.ports import PortReader
from oas_compiler.findings.finding import Findings
from oas_compiler.ir import NO_BEHIND, NOTHING, Json, Place, Port
from oas_compiler.templates.reading import TemplateReader
from oas_compiler.text.source import Source

_SAME: Final[Mapping[str, str]] = {"StartNode": "inputs", "EndNode": "outputs"}
"""The ports of the flow that a node repeats: a flaw of an equal one is said at the flow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One component and everything that is needed to build it."""

    component: Component
    fields: Mapping[str, Field]
    """The fields of its type; empty where the type is not known."""
    flow: Component
    """The flow it stands in."""
    is_start: bool = False
    """Whether the flow begins at this node, or has no readable start."""
    behind: Component | None = None
    """The tool or model that the node runs; `None` where it is missing or unreadable."""
    is_alone: bool = False
    """Whether the component is the whole document: a caller may speak to such an agent."""
    agent: Loaded | None = None
    """The agent that the node runs."""
    facts_behind: ir.Behind = NO_BEHIND
    """What the file says of that tool or agent, whatever its type."""
    subflows: tuple[ir.FlowIR, ...] = ()
    """The flows that the node runs, already built; empty where one of them could not be read."""
    readable_subflows: tuple[ir.FlowIR, ...] = ()
    """Those of its flows that could be read."""
    is_cinatra: bool = False
    """Whether the document is of the Cinatra dialect."""
    build_flow: Callable[[Any], ir.FlowIR] | None = None
    """Builds a flow that an agent may run; `None` where agents have none."""
    reader: PortReader
    unread: set[str]
    """Ids of the nodes of the flow whose ports are not all known; "" for the flow's own."""
    source: Source
    findings: Findings
    templates: TemplateReader

    def place(self, pointer: str = "") -> Place:
        return self.source.place(pointer or self.component.pointer)

    def error(self, code: str, message: str, field: str = "", *, hint: str = "") -> None:
        pointer = self.component.at(field) if field else self.component.pointer
        self.findings.error(code, message, self.source.place(pointer), hint=hint)

    def declared(self, field: str, of: Component | None = None) -> tuple[Port, ...] | None:
        """The ports listed under `field`; `None` when the file leaves them to inference."""
        component = of or self.component
        if self.is_flawed(field, component):
            self._mark_unread(component)
        items = component.items(field)
        if items is None:
            return None
        same = _SAME.get(component.type, "")
        told = self.flow.items(same) or () if same else ()
        ports = self.reader.ports(items, component.at(field), told=told)
        if self.is_flawed(field, component):
            self._mark_unread(component)
        return ports

    def is_flawed(self, field: str, of: Component | None = None) -> bool:
        """Whether the list of ports under `field` could not be read whole, which was reported.

        Of a list that holds flawed entries this is known once it was read.
        """
        component = of or self.component
        return field in component.unread or component.at(field) in self.reader.flawed

    def _mark_unread(self, component: Component) -> None:
        """The ports that this node has are not known."""
        self.unread.add("" if component is self.flow else self.component.id)

    @property
    def has_unread_ports(self) -> bool:
        """Whether some ports of the node, or of the flow or tool that it runs, are unreadable."""
        return self.component.id in self.unread

    @property
    def label(self) -> str:
        return label_of(self.component)

    @property
    def subflows_are_whole(self) -> bool:
        """Whether the ports and branches of what the node runs are known."""
        return bool(self.subflows) and all(flow.is_whole for flow in self.subflows)


def label_of(component: Component) -> str:
    return f'the {component.type} "{component.id}"'


def common(site: Site) -> dict[str, Any]:
    """The fields that every node has."""
    component = site.component
    risk = component.cinatra.get("riskClass")
    return {
        "id": component.id,
        "name": component.name,
        "description": component.text("description"),
        "cinatra": Json.of(component.cinatra),
        "risk_class": risk if isinstance(risk, str) else "",
        "unread": unread_of(site),
        "place": site.place(),
    }


def unread_of(site: Site) -> Json:
    """Members that the author wrote and that no field of the IR holds."""
    component = site.component
    known = {**NODE_FIELDS, **site.fields}
    found = {
        name: value
        for name, value in component.fields.items()
        if name not in known or not known[name].is_read
    }
    metadata = component.fields.get("metadata")
    if isinstance(metadata, dict) and metadata.keys() - {"cinatra"}:
        found["metadata"] = {key: part for key, part in metadata.items() if key != "cinatra"}
    return Json.of(found) if found else NOTHING
