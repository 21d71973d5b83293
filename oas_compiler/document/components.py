"""One located component -> a `Component`, with its fields checked; the tools and models of nodes.

    {"component_type": "ApiNode", "id": "a", "url": 7, "note": ""}
        ->  OAS022 for "url", OAS024 for "note", OAS023 for the missing "http_method",
            and a Component(type="ApiNode", id="a") without them

A component is opened once, however many references lead to it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from cinatra_sdk.data.ports import REFERENCE
from oas_compiler.component_facts.component import SHAPES, Component, Field, Kind, with_article
from oas_compiler.component_facts.model_fields import MODEL_TYPES
from oas_compiler.component_facts.requests import TRANSPORT_FIELDS
from oas_compiler.document.component_types import (
    fields_of,
    is_known,
    is_misspelt,
    is_plugin_type,
    report_wrong_type,
)
from oas_compiler.document.scope import (
    DEFINITIONS,
    SENSITIVE_FIELDS,
    Document,
    Located,
    Scope,
    is_exported,
    is_reference,
    keep_name,
    read_cinatra,
)
from oas_compiler.findings.finding import describe, nearest
from oas_compiler.ir import NO_BEHIND, Behind, JsonValue
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.kinds.registry import AGENTS, BUILT_IN, RUNNERS, TOOLS, find_kind
from oas_compiler.templates import find_wider, write_templates
from oas_compiler.text.marks import child
from oas_compiler.text.safe_text import safe

_NOT_RESOLVED = frozenset({"metadata", DEFINITIONS})
LEGACY_FIELDS: Final = frozenset(
    {
        "formatVersion", "executionMode", "approvalPolicy", "compiledPlan", "inputSchema",
        "outputSchema", "prompt", "taskSpec",
    }
)  # fmt: skip
"""What older formats of Cinatra kept at the flow, or in its metadata, and nothing reads now."""


class ComponentReader:
    """Opens the components of one document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._findings = document.findings
        self._components: dict[str, Component] = {}

    def read(self, located: Located) -> Component:
        """Open a component and report what is wrong with its fields, once."""
        if located.pointer not in self._components:
            self._components[located.pointer] = self._open(located)
        return self._components[located.pointer]

    def _open(self, located: Located) -> Component:
        value = located.value
        assert isinstance(value, dict)
        table = fields_of(located.component_type)
        fields: dict[str, JsonValue] = {}
        places: dict[str, str] = {}
        unread: set[str] = set()
        missing = _list_missing_fields(value, table or {})
        for name, member in value.items():
            pointer = child(located.pointer, name)
            if table is not None and name not in table:
                self._unknown_field(located, name)
                continue
            if name not in _NOT_RESOLVED and is_reference(member):
                target = self._document.locate(Located(member, pointer, located.scope))
                kept = _keep_secret(member, pointer, table, name)
                if target is None and kept is None:
                    unread.add(name)
                    continue
                if target is None:
                    fields[name] = kept
                    continue
                member, places[name] = target.value, target.pointer  # noqa: PLW2901 - resolved
            else:
                target = Located(member, pointer, located.scope)
            read = self._read_entries(target, _find_entries(table, name))
            if read is not None and self._has_shape(located, name, read, table):
                is_template = table is not None and table[name].template and _is_own(located)
                fields[name] = self._read_template(read, pointer) if is_template else read
            elif member is not None:
                unread.add(name)
        for name in missing:
            self._report_missing_field(located, name, _read_definition_name(located))
        return Component(
            type=located.component_type,
            id=_read_text(fields.get("id")),
            name=_read_text(fields.get("name")) or _read_text(fields.get("id")),
            pointer=located.pointer,
            fields=fields,
            places=places,
            unread=frozenset(unread.union(missing)),
        )

    def _read_entries(self, field: Located, kind: Kind) -> JsonValue:
        """The value of a field, with the plain values that references in it stand for.

        `None` where a reference leads nowhere, which is reported.  References to components are left
        to whoever reads the list; nothing in a field of any value (a request's body) is a reference.
        """
        value = field.value
        if kind == "list" and isinstance(value, list):
            found = {str(index): entry for index, entry in enumerate(value)}
        elif kind == "object" and isinstance(value, dict):
            found = value
        else:
            return value
        meant: dict[str, JsonValue] = {}
        for key, entry in found.items():
            if not is_reference(entry):
                continue
            target = self._document.locate(Located(entry, child(field.pointer, key), field.scope))
            if target is not None and not _is_component(target.value):
                meant[key] = target.value
            elif target is None and kind == "object":
                return None
        if not meant:
            return value
        read = {**found, **meant}
        return list(read.values()) if kind == "list" else read

    def _read_template(self, member: JsonValue, pointer: str) -> JsonValue:
        """Templates as the document's language means them."""
        written = write_templates(member)
        if written == member or not self._document.is_plain:
            return member
        wider = find_wider(member)
        if wider:
            self._findings.warning(
                "OAS083",
                f"{safe(wider)[:80]} is no placeholder of Agent Spec, and stays as it is",
                self._document.source.place(pointer),
                hint="write {{ name }} with the title of an input, and shape its value in a node "
                "before this one",
            )
        return written

    def _has_shape(
        self, located: Located, name: str, member: JsonValue, table: Mapping[str, Field] | None
    ) -> bool:
        kind: Kind = table[name].kind if table is not None else "any"
        if kind == "any":
            return True
        shape, wanted = SHAPES[kind]
        if isinstance(member, shape):
            return True
        self._findings.error(
            "OAS022",
            f'"{name}" of {with_article(located.component_type)} must be {wanted}, '
            f"not {describe(member)}",
            self._document.source.place(child(located.pointer, name)),
            hint=self._format_value_hint(located, kind, member),
        )
        return False

    def _format_value_hint(self, located: Located, kind: Kind, member: JsonValue) -> str:
        """How a value of the wrong kind is written rightly, where that is known."""
        if kind == "component" and isinstance(member, str):
            return reference_hint(member, located.scope)
        if kind == "text" and isinstance(member, (int, float)):
            return f'quote it: "{str(member).lower() if isinstance(member, bool) else member}"'
        if kind == "flag" and isinstance(member, str) and member.casefold() in {"true", "false"}:
            return f"write {member.casefold()} without quotes"
        if kind == "list" and isinstance(member, (dict, str)):
            return "put it between [ and ]"
        return ""

    def _report_missing_field(self, located: Located, name: str, key: str) -> None:
        assert isinstance(located.value, dict)
        label = located.value.get("id") or located.value.get("name")
        of = (
            f'the {located.component_type} "{label}"'
            if isinstance(label, str)
            else with_article(located.component_type)
        )
        self._findings.error(
            "OAS023",
            f'{of} has no "{name}"',
            self._document.source.place(located.pointer),
            hint=_to_add(name, key),
        )

    def _unknown_field(self, located: Located, name: str) -> None:
        root = self._document.root
        if (
            name == "componentType"
            and self._document.is_cinatra
            and located.value is (root.value if root is not None else None)
        ):
            return  # an error of Cinatra's own (V1)
        self._findings.warning(
            "OAS024",
            f'{with_article(located.component_type)} has no field "{name[:80]}"; it is ignored',
            self._document.source.place(child(located.pointer, name)),
            hint=self._format_field_hint(located, name[:80]),
        )

    def _format_field_hint(self, located: Located, name: str) -> str:
        if located.component_type == "Flow" and name in LEGACY_FIELDS:
            return "a legacy key of older agent formats: what it said now follows from the nodes; remove it"
        return nearest(name, fields_of(located.component_type) or {}, self._findings)


def _is_component(value: JsonValue) -> bool:
    """Whether a value is a component, also one that lacks its type."""
    return isinstance(value, dict) and not {"component_type", "id"}.isdisjoint(value)


def _find_entries(table: Mapping[str, Field] | None, name: str) -> Kind:
    """The kind of a field whose entries may be references to values; `any` for all others."""
    if table is None or name in _NOT_RESOLVED or name in SENSITIVE_FIELDS:
        return "any"
    return table[name].kind


def _is_own(located: Located) -> bool:
    """Whether the type is no node of a package, whose templates are of this project's language."""
    kind = find_kind(located.component_type)
    return kind is None or kind in BUILT_IN


def _keep_secret(
    member: JsonValue, pointer: str, table: Mapping[str, Field] | None, name: str
) -> JsonValue:
    """What stands for a sensitive value that the host lends; `None`: it is none."""
    named = member.get(REFERENCE) if isinstance(member, dict) else None
    if not isinstance(named, str) or not is_exported(named, pointer):
        return None
    return keep_name(named, table[name].kind if table is not None else "any")


def _list_missing_fields(value: Mapping[str, JsonValue], table: Mapping[str, Field]) -> list[str]:
    """The required fields that are not there; null counts as absent."""
    # an empty text is a text, but no node can be addressed by an empty id
    return [
        name
        for name, field in table.items()
        if field.required and (value.get(name) is None or (name, value[name]) == ("id", ""))
    ]


def _read_definition_name(located: Located) -> str:
    """The name under which a component is defined; empty for one in a list."""
    name = located.pointer.rpartition("/")[2]
    return "" if name.isdigit() else name.replace("~1", "/").replace("~0", "~")


def _to_add(name: str, key: str) -> str:
    """What to write where a required field is missing."""
    if name in {"id", "name"} and key:
        return f'add "{name}": "{key[:80]}"'
    if name == "id":
        return 'add "id" with a name that no other node of the flow has'
    return f'add "{name}"'


def reference_hint(name: str, scope: Scope) -> str:
    """How a node that was named by a plain string is written."""
    if scope.find(name) is not None:
        return f'write {{"$component_ref": "{name[:80]}"}}'
    return 'write {"$component_ref": "…"} with the name of a component'


def _read_text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


# ----------------------------------------------------------------------------
# The tools and models that nodes and agents run.
#
# {"component_type": "ToolNode", "tool": {"$component_ref": "search"}}  ->  Component(type="ServerTool", …)


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


# ----------------------------------------------------------------------------
# The flows, tools and agents that a node runs, as far as its text says, whatever the node's type.
#
# {"component_type": "ToolNode", "tool": {…, "requires_confirmation": true}}
#     read_behind    ->  Behind(asks_person=True)
# `{"component_type": "MapNode", "subflow": {"$component_ref": "nobody"}}`
#     is_inside_unread   ->  True: what the node runs may hold a gate


USUAL_FLOW_FIELDS: Final = ("subflow", "agent", "subflows")
"""The fields that hold flows in Agent Spec's own nodes; those of other nodes are taken alike."""


def is_inside_unread(document: Document, node: Located) -> bool:
    """Whether something that the node runs could not be read, which an error says.

    A field that nodes of the kind do not have runs nothing (OAS024).
    """
    kind = find_kind(node.component_type)
    names: Sequence[str] = USUAL_FLOW_FIELDS
    if kind is not None and kind.fields is not None:
        names = kind.flows
        if any(_needs_flow(kind, name) and _find_member(node, name) is None for name in names):
            return True
    found = [document.locate(member) for member in list_members(node, names)]
    return any(target is None or is_misspelt(target) for target in found)


def _needs_flow(kind: NodeKind, name: str) -> bool:
    """Whether nodes of the kind have one flow, and nothing else, in this field."""
    assert kind.fields is not None
    field = kind.fields[name]
    return field.required and field.kind != "list" and name != kind.behind


def read_behind(document: Document, node: Located) -> Behind:
    """The facts about the tool or agent that a node runs; about an agent that is a document itself."""
    if node.component_type in AGENTS:
        return _read_agent_facts(node)
    tool = _find_member(node, "tool")
    member = tool or _find_member(node, "agent")
    found = document.locate(member) if member is not None else None
    if found is None and tool is not None:
        return Behind(asks_person=True)
    behind = (read_cinatra(found.value) if found is not None else None) or {}
    asks = _read(found, "requires_confirmation") is True
    if node.component_type in ("AgentNode", "ExtendedAgentNode"):
        own = read_cinatra(node.value) or {}
        asks = asks or own.get("requiresApproval", behind.get("requiresApproval")) is True
    risk = behind.get("riskClass")
    risk = risk if isinstance(risk, str) else ""
    return Behind(risk_class=risk, asks_person=asks) if risk or asks else NO_BEHIND


def _read_agent_facts(agent: Located) -> Behind:
    """The facts about an agent that is a document by itself."""
    own = read_cinatra(agent.value) or {}
    risk = own.get("riskClass")
    asks = own.get("requiresApproval") is True
    return Behind(risk_class=risk if isinstance(risk, str) else "", asks_person=asks)


def read_facts(tool: Located) -> Behind:
    """The facts about a tool of an agent."""
    risk = (read_cinatra(tool.value) or {}).get("riskClass")
    asks = _read(tool, "requires_confirmation") is True
    return Behind(risk_class=risk if isinstance(risk, str) else "", asks_person=asks)


def list_members(node: Located, names: Sequence[str]) -> list[Located]:
    """The components in some members of a node, each a component or a list of components."""
    found: list[Located] = []
    for name in names:
        value = _read(node, name)
        if isinstance(value, dict):
            found.append(Located(value, child(node.pointer, name), node.scope))
        elif isinstance(value, list):
            found += [
                Located(item, f"{node.pointer}/{name}/{index}", node.scope)
                for index, item in enumerate(value)
                if isinstance(item, dict)
            ]
    return found


def _find_member(node: Located, name: str) -> Located | None:
    value = _read(node, name)
    return (
        Located(value, child(node.pointer, name), node.scope) if isinstance(value, dict) else None
    )


def _read(located: Located | None, name: str) -> JsonValue:
    value = located.value if located is not None else None
    return value.get(name) if isinstance(value, dict) else None
