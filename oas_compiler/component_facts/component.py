"""A component with its fields, as the reader of a document opens it; and the input of its builder.

component.text("url")              ->  "https://…"   (its kind has been checked)
with_article("ApiNode")            ->  "an ApiNode"
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, Final, Literal, Protocol

from cinatra_sdk.contract import QUESTION_TOOL
from cinatra_sdk.data.json_paths import parse_path
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler import ir
from oas_compiler.component_facts.port_reader import PortReader
from oas_compiler.findings.finding import Findings
from oas_compiler.ir import NO_BEHIND, NOTHING, Behind, Json, JsonValue, Place, Port
from oas_compiler.templates import TemplateReader
from oas_compiler.text.source import Source

_VOWELS = ("A", "E", "I", "O", "Llm", "MCP", "MTls", "SSE")
"""How names of types begin that are spoken with a vowel."""


def with_article(component_type: str) -> str:
    """`an ApiNode`, `a FlowNode`: as the name is spoken."""
    return f"{'an' if component_type.startswith(_VOWELS) else 'a'} {component_type}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Component:
    """One component of the file; its fields have the kinds that `FIELDS` declares.

    A field of the wrong kind was reported and is absent here, so the accessors never fail.
    """

    type: str
    id: str
    name: str
    pointer: str
    """Where the component is defined; two references to one component share it."""
    fields: Mapping[str, JsonValue]
    """References are resolved in the field itself, not inside its value."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Pointer of a field's value where it stands behind a reference."""
    unread: frozenset[str] = frozenset()
    """Fields with an error: missing, misspelt, of the wrong kind, a reference to nothing."""

    def has(self, name: str) -> bool:
        """Whether the field is there and is not null."""
        return self.fields.get(name) is not None

    def at(self, name: str) -> str:
        """Pointer of a field."""
        return self.places.get(name, f"{self.pointer}/{name}")

    def text(self, name: str, default: str = "") -> str:
        value = self.fields.get(name)
        return value if isinstance(value, str) else default

    def flag(self, name: str, *, default: bool) -> bool:
        value = self.fields.get(name)
        return value if isinstance(value, bool) else default

    def mapping(self, name: str) -> dict[str, JsonValue]:
        value = self.fields.get(name)
        return value if isinstance(value, dict) else {}

    def items(self, name: str) -> list[JsonValue] | None:
        """The list, or `None` when the field is absent or null."""
        value = self.fields.get(name)
        return value if isinstance(value, list) else None

    @property
    def cinatra(self) -> dict[str, JsonValue]:
        """`metadata.cinatra`; empty where there is none."""
        value = self.mapping("metadata").get("cinatra")
        return value if isinstance(value, dict) else {}


# ----------------------------------------------------------------------------
# The fields of component types: the kind and meaning of each, and whether it is read.
#
#     `Field("text", "The Jinja template.", required=True, template=True)`
#
# In: nothing.  Out: `Field`, and the fields that every component and every node has.


Kind = Literal["text", "flag", "list", "object", "any", "component"]
"""`component` is a component or a reference to one; `list` may hold either."""

SHAPES: Mapping[Kind, tuple[type, str]] = {
    "text": (str, "a string"),
    "flag": (bool, "true or false"),
    "list": (list, "a list"),
    "object": (dict, "an object"),
    "component": (dict, "a component or a $component_ref"),
}
"""Kind of field → Python types of its values, and its name in messages; `any` is any value."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a component type; null counts as absent unless the kind is `any`."""

    kind: Kind
    words: str
    """What it means, in a sentence for editors."""
    required: bool = False
    template: bool = False
    """Whether its strings are templates, from whose names inputs follow."""
    is_read: bool = True
    """Whether the IR holds the field; fields that no run reads are kept in the node's `unread`."""
    refused: Callable[[JsonValue], bool | str] | None = None
    """Whether a value asks for a feature that does not run yet (OAS090); a text says why."""


def is_used(value: JsonValue) -> bool:
    """Whether a value has any content."""
    return bool(value)


def renames(value: JsonValue) -> bool:
    """Whether a mapping of names gives a name another one."""
    return isinstance(value, dict) and any(key != name for key, name in value.items())


COMPONENT_FIELDS: Final[Mapping[str, Field]] = {
    "component_type": Field("text", "What kind of component this is.", required=True),
    "id": Field("text", "The identifier of the component; of a node it is never renamed."),
    "name": Field("text", "What people see."),
    "description": Field("text", "What it is for, in words."),
    "metadata": Field(
        "object", "Further facts; `cinatra` holds those that Cinatra and the gates use."
    ),
    # survey.py checks it
    "agentspec_version": Field(
        "any", "The version of Agent Spec that the document is written for, at its top."
    ),
    "air_version": Field("any", "The older name of `agentspec_version`."),
    "component_plugin_name": Field(
        "text", "The plugin that adds this component type.", is_read=False
    ),
    "component_plugin_version": Field("text", "Version of that plugin.", is_read=False),
    "$referenced_components": Field(
        "object", "The components that `$component_ref` can name, by their names."
    ),
}
"""Of every component."""

PORT_FIELDS: Final[Mapping[str, Field]] = {
    "inputs": Field("list", "Inputs, each with a title that edges and templates use."),
    "outputs": Field("list", "Outputs, each with a title that edges use."),
}

NODE_FIELDS: Final[Mapping[str, Field]] = {
    **COMPONENT_FIELDS,
    **PORT_FIELDS,
    "id": Field(
        "text",
        "The identifier of the component; of a node it is never renamed.",
        required=True,
    ),
    "branches": Field(
        "list", "The ways out of this node; they follow from the node and may be left out."
    ),
}
"""Of every node."""

PLUGIN_FIELDS: Final[Mapping[str, Field]] = {
    **NODE_FIELDS,
    "input_mapping": Field(
        "object", "Renames inputs of the plugin's node.", is_read=False, refused=renames
    ),
    "output_mapping": Field(
        "object", "Renames outputs of the plugin's node.", is_read=False, refused=renames
    ),
}
"""Of the nodes of Agent Spec's own plugins."""

SUBFLOW: Final = Field("component", "The flow that is run.", required=True)


# ----------------------------------------------------------------------------
# Fields whose values are ways into a JSON value, in the part of jq's language that is read.
#
# {"name": ".user.name"}       ->  (("name", ".user.name"),)
# {"count": ".items | length"} ->  refused: the value "count" needs jq


def needs_jq(ways: JsonValue) -> str:
    """Why such a field is refused; empty: it is not, or it is no object."""
    for name, way in ways.items() if isinstance(ways, dict) else ():
        if isinstance(way, str) and parse_path(way) is None:
            return f'"{name[:80]}" needs jq, of which only paths are read: .name, .items[0]'
    return ""


def read_ways(ways: Mapping[str, JsonValue]) -> tuple[tuple[str, str], ...]:
    """(name, way) of those that can be read."""
    return tuple(
        (name, way)
        for name, way in ways.items()
        if isinstance(way, str) and parse_path(way) is not None
    )


# ----------------------------------------------------------------------------
# Agents of the file with their references resolved, as the reader of a document opens them.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedTool:
    """A tool of an agent."""

    component: Component
    facts: Behind


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedToolbox:
    """An MCPToolBox of an agent, with its transport in the field `client_transport`."""

    component: Component
    facts: Behind
    names: tuple[str, ...] | None = None
    """Tools that the file only names; `None`: all of the server."""
    described: tuple[LoadedTool, ...] = ()
    """Tools that the file describes, each as an MCPTool."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LoadedTransform:
    """What shortens the conversation for the model of an agent."""

    component: Component
    model: Component | None
    """`None` where it is missing or wrong, which was reported."""


class LoadedFlowTool(Protocol):
    """A flow that an agent may run, as the reader of the document opens flows."""

    @property
    def component(self) -> Component: ...

    @property
    def nodes(self) -> tuple[Component, ...]: ...


_NODES_OF_ITS_OWN: Final = 5
"""Start, model, calls, the question to a person, end."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadedAgent:
    """An Agent, with everything that it refers to."""

    component: Component
    """The Agent itself; of a SpecializedAgent the agent that is specialized."""
    special: Component | None = None
    """The parameters of a SpecializedAgent."""
    model: Component | None
    """`None` where it is missing or wrong, which was reported."""
    tools: tuple[LoadedTool, ...] = ()
    toolboxes: tuple[LoadedToolbox, ...] = ()
    transforms: tuple[LoadedTransform, ...] = ()
    shown: Component
    """What the agent is called: itself, a SpecializedAgent, or a group."""
    workers: tuple[Loaded, ...] = ()
    """The agents that it may give work to: those of a ManagerWorkers, or others of its Swarm."""
    flows: tuple[LoadedFlowTool, ...] = ()
    """The flows that it may run, which only WayFlow's agents have."""

    @cached_property
    def size(self) -> int:
        """How many nodes its flow has, with the flows of its workers."""
        boxes = sum(2 + len(one.described) for one in self.toolboxes)
        workers = sum(1 + one.size for one in self.workers)
        flows = sum(1 + len(one.nodes) for one in self.flows)
        own = len(self.tools) + len(self.transforms)
        return _NODES_OF_ITS_OWN + own + boxes + workers + flows


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadedSwarm:
    """A Swarm whose agents hand over to each other; the first of them begins."""

    shown: Component
    members: tuple[LoadedAgent, ...]
    handovers: tuple[tuple[int, ...], ...]
    """For each member those, by their index, to which it may hand over."""

    @cached_property
    def size(self) -> int:
        return sum(one.size for one in self.members)


@dataclass(frozen=True, kw_only=True, eq=False)
class LoadedRemoteAgent:
    """An A2AAgent, with its connection in the field `connection_config`."""

    shown: Component

    @property
    def size(self) -> int:
        return 4


Loaded = LoadedAgent | LoadedSwarm | LoadedRemoteAgent


# ----------------------------------------------------------------------------
# Ids, branches and names of tools that every agent's flow has.


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


# ----------------------------------------------------------------------------
# The input of a builder: one component, its surroundings, and the collection of findings.
#
# In: a component and its flow.  Out: the pieces that every node type reads the same way.
#
#     site.declared("inputs")              ->  (Port(title="topic", …),), or None to infer them
#     site.subflows[0].outputs             ->  of a FlowNode, what its flow gives


_SAME: Final[Mapping[str, str]] = {"StartNode": "inputs", "EndNode": "outputs"}
"""The ports of the flow that a node repeats: a flaw of an equal one is said at the flow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One component, with everything that its builder needs."""

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
