"""The intermediate representation: one frozen description of a checked flow.

In: nothing but the standard library.  Out: `FlowIR`, which `build.py` makes from the
wire model, `checks/` examines and `lower/` turns into a LangGraph graph.

Before (wire form)                          After (IR)
    {"component_type": "StartNode",             StartNode(id="start", name="Inputs",
     "id": "start", "name": "Inputs",                     inputs=(Port(title="topic", …),),
     "inputs": [{"title": "topic", …}]}                   required=("topic",), hidden=())

Every value is immutable and comparable.  A piece of JSON that the author wrote (a default,
a request body, a JSON Schema) is kept as `Json`: its text, decoded afresh by whoever reads
it, so that no two readers can ever share and change one object.
"""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Literal, TypeAlias, TypeVar

K = TypeVar("K")
T = TypeVar("T")
JsonValue: TypeAlias = "None | bool | int | float | str | list[JsonValue] | dict[str, JsonValue]"


@dataclass(frozen=True, slots=True)
class Json:
    """One JSON value as canonical text (object keys keep the author's order)."""

    text: str

    @classmethod
    def of(cls, value: object) -> Json:
        """Freeze `value`; raises `ValueError` for NaN and infinities, which are not JSON."""
        return cls(json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")))

    def value(self) -> JsonValue:
        """A fresh, unshared copy of the value."""
        decoded: JsonValue = json.loads(self.text)
        return decoded

    def mapping(self) -> dict[str, JsonValue]:
        """The value where it is known to be an object; an empty dict otherwise."""
        decoded = self.value()
        return decoded if isinstance(decoded, dict) else {}


NOTHING = Json("{}")
"""The empty object, the default of every optional JSON piece."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the source file."""

    pointer: str = ""
    """JSON Pointer (RFC 6901) from the document's root."""
    line: int = 0
    """1-based; 0 when the input had no text (a Python dict)."""
    column: int = 0
    """1-based, in characters; 0 when the input had no text."""


# ---------------------------------------------------------------------------- types

Scalar = Literal["any", "string", "integer", "number", "boolean", "null"]


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A type without parts; `any` accepts every JSON value."""

    kind: Scalar


@dataclass(frozen=True, slots=True)
class ArrayType:
    """A list whose elements all have the type `items`."""

    items: Type


@dataclass(frozen=True, slots=True)
class ObjectType:
    """An object; `additional` is the type of undeclared members, `None` forbids them."""

    properties: tuple[tuple[str, Type], ...] = ()
    additional: Type | None = ScalarType("any")
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UnionType:
    """`anyOf`, `oneOf` or a list of types: a value of one of the `options`."""

    options: tuple[Type, ...]


Type: TypeAlias = "ScalarType | ArrayType | ObjectType | UnionType"

ANY = ScalarType("any")
STRING = ScalarType("string")


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """One input or output of a node or flow (a Property in Agent Spec)."""

    title: str
    """The identifier that edges and templates use."""
    type: Type = ANY
    schema: Json = NOTHING
    """The property as JSON Schema, without Agent Spec's own wrapping (`json_schema` is merged in)."""
    default: Json | None = None
    """`None` means that there is no default; a default of null is `Json("null")`."""
    cinatra: Json = field(default=NOTHING, compare=False)
    """What the author wrote under `cinatra`: what the value is for a host, no part of its type."""
    place: Place = Place()


# ---------------------------------------------------------------------------- nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """What every node has.  `id` is the author's own id, never renamed."""

    id: str
    name: str
    description: str = ""
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    branches: tuple[str, ...] = ("next",)
    """The ways out of this node; empty for an EndNode."""
    cinatra: Json = NOTHING
    """The author's `metadata.cinatra`, as written."""
    risk_class: str = ""
    """`metadata.cinatra.riskClass`; empty where the author gave none."""
    unread: Json = NOTHING
    """What the author wrote and no run reads; two versions of a flow are compared by it, too."""
    place: Place = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class StartNode(Node):
    required: tuple[str, ...] = ()
    """Inputs the run cannot begin without, in the order in which they are asked."""
    hidden: tuple[str, ...] = ()
    """Inputs that only the caller supplies; a person is never asked for them."""
    renderers: tuple[tuple[str, str], ...] = ()
    """(input title, renderer id): `inputRenderers`, and `x-renderer` of the property."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EndNode(Node):
    branch_name: str = "next"
    """The branch of an enclosing FlowNode that this end leaves by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiNode(Node):
    url: str
    method: str = "POST"
    data: Json | None = None
    """The body template: nested JSON whose strings are Jinja templates; `None` sends no body."""
    headers: Json = NOTHING
    query: Json = NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class InputMessageNode(Node):
    message: str | None = None
    answer_schema: Json | None = None
    """`inputMessageSchema`: JSON Schema of the answer a person gives; `None` asks for approval or text."""
    renderer: str = ""
    """`renderer` or `inputRenderers[output]`; empty means the field fallback."""
    max_visits: int | None = None
    """`maxGateVisits`; `None` means the runtime's own ceiling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputMessageNode(Node):
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchingNode(Node):
    mapping: tuple[tuple[str, str], ...] = ()
    """(JSON text of the value without string quotes, branch); anything else leaves by `default`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateStep:
    """One entry of a FlowNode's `gateSteps`: how the parent shows a gate of its subflow."""

    name: str = ""
    description: str = ""
    renderer: str = ""
    risk_class: str = ""
    requires_approval: bool | None = None
    hitl_owned_by: str = ""
    gate_count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowNode(Node):
    subflow: FlowIR
    gate_steps: tuple[GateStep, ...] = ()
    package_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegexNode(Node):
    """PluginRegexNode: `output` is a list of matches, or the first match (a string)."""

    pattern: str
    first_only: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateNode(Node):
    """PluginTemplateNode: `output` is the rendered Jinja template."""

    template: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolNode(Node):
    """A ServerTool: a Python function that the host registers under `tool_name`."""

    tool_name: str


# ---------------------------------------------------------------------------- flows


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A control edge: leaving `source` by `branch` runs `target` next."""

    source: str
    branch: str
    target: str
    place: Place = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class DataEdge:
    """An output that feeds an input; of several into one input, the source that ran last wins."""

    source: str
    output: str
    target: str
    input: str
    place: Place = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """Something of the file that could not be read, which an error says; an empty id is unknown.

    What a gap hides is not missing: rules about something that is absent keep silent about it.
    """

    kind: Literal["node", "route", "data", "ports"]
    """A node of `nodes`, a control edge, a data edge, or inputs or outputs.

    Of a "node" that is listed but of an unknown type, `source` is the id.  Of "ports" it is the
    id of the node that has them; empty means the flow's own.
    """
    source: str = ""
    branch: str = ""
    target: str = ""
    input: str = ""


_NO_ROUTES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class FlowIR:
    """One flow, checked or not; subflows hang below their `FlowNode`.

    Without slots, so that it can keep what it has arranged for lookup; none of that is a field.
    """

    id: str
    name: str
    description: str = ""
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    start: str
    """Id of the StartNode."""
    nodes: tuple[Node, ...]
    """In the author's order of `nodes`; ids are unique within the flow."""
    routes: tuple[Route, ...] = ()
    data_edges: tuple[DataEdge, ...] = ()
    cinatra: Json = NOTHING
    package_name: str = ""
    place: Place = Place()
    gaps: tuple[Gap, ...] = field(default=(), compare=False)
    """What could not be read of it; empty in every flow that compiles."""

    @cached_property
    def by_id(self) -> Mapping[str, Node]:
        """Node id → node; of two with one id the first."""
        return MappingProxyType({node.id: node for node in reversed(self.nodes)})

    @cached_property
    def routes_by_source(self) -> Mapping[str, Mapping[str, str]]:
        """Node id → branch → id of the node that runs next."""
        found: dict[str, dict[str, str]] = {}
        for route in self.routes:
            found.setdefault(route.source, {})[route.branch] = route.target
        return MappingProxyType({key: MappingProxyType(routes) for key, routes in found.items()})

    @cached_property
    def sources_by_target(self) -> Mapping[str, tuple[str, ...]]:
        """Node id → ids of the nodes that control can come from."""
        return _grouped((route.target, route.source) for route in self.routes)

    @cached_property
    def data_edges_by_target(self) -> Mapping[str, tuple[DataEdge, ...]]:
        """Node id → the data edges into it, in order."""
        return _grouped((edge.target, edge) for edge in self.data_edges)

    @cached_property
    def feeds(self) -> Mapping[tuple[str, str], tuple[DataEdge, ...]]:
        """(node id, input) → the data edges into it, in order."""
        return _grouped(((edge.target, edge.input), edge) for edge in self.data_edges)

    @cached_property
    def readers(self) -> Mapping[tuple[str, str], tuple[DataEdge, ...]]:
        """(node id, output) → the data edges that take it, in order."""
        return _grouped(((edge.source, edge.output), edge) for edge in self.data_edges)

    @property
    def lacks_nodes(self) -> bool:
        """Whether an entry of its nodes could not be read."""
        return any(gap.kind == "node" for gap in self.gaps)

    @cached_property
    def unread_ports(self) -> frozenset[str]:
        """Ids of the nodes whose inputs or outputs could not all be read; "" for the flow's own."""
        return frozenset(gap.source for gap in self.gaps if gap.kind == "ports")

    @cached_property
    def doubled(self) -> frozenset[str]:
        """Ids that more than one node has: which of them an edge means is not known."""
        times = Counter(node.id for node in self.nodes)
        return frozenset(node_id for node_id, count in times.items() if count > 1)

    @property
    def start_is_unread(self) -> bool:
        """Whether what `start` names could not be read: nothing can be said about the StartNode."""
        if not self.start:
            return True
        broken = {gap.source for gap in self.gaps if gap.kind == "node"}
        return self.start in broken or (self.start not in self.by_id and self.lacks_nodes)

    @property
    def is_whole(self) -> bool:
        """Whether its inputs, outputs and branches are known: every node, a way in and a way out."""
        kinds = {type(node) for node in self.nodes}
        ends = {node.id for node in self.nodes if isinstance(node, (StartNode, EndNode))}
        unread = not self.unread_ports.isdisjoint({"", *ends})
        return kinds >= {StartNode, EndNode} and not self.lacks_nodes and not unread

    def __getstate__(self) -> dict[str, object]:
        # A copy arranges its own lookups; read-only mappings cannot be pickled.
        return {member.name: getattr(self, member.name) for member in fields(self)}

    def node(self, node_id: str) -> Node:
        """The node with this id; `KeyError` if there is none."""
        return self.by_id[node_id]

    def start_node(self) -> StartNode:
        node = self.node(self.start)
        assert isinstance(node, StartNode)
        return node

    def routes_of(self, node_id: str) -> Mapping[str, str]:
        """Branch → id of the node that runs next."""
        return self.routes_by_source.get(node_id, _NO_ROUTES)

    def sources_of(self, node_id: str) -> tuple[str, ...]:
        """Ids of the nodes that control can come from."""
        return self.sources_by_target.get(node_id, ())

    def data_edges_into(self, node_id: str) -> tuple[DataEdge, ...]:
        """The data edges that feed a node."""
        return self.data_edges_by_target.get(node_id, ())

    def in_order(self) -> Iterator[Node]:
        """Nodes breadth first along the control edges, then those never reached, in author's order.

        Source of the rule: Cinatra's compile order, on which step numbers depend.
        """
        following = _grouped((route.source, route.target) for route in self.routes)
        queue = deque([self.start])
        seen = {self.start}
        while queue:
            current = queue.popleft()
            if current in self.by_id:
                yield self.by_id[current]
            for target in following.get(current, ()):
                if target not in seen:
                    seen.add(target)
                    queue.append(target)
        for node in self.nodes:
            if node.id not in seen:
                yield node


def _grouped(pairs: Iterable[tuple[K, T]]) -> Mapping[K, tuple[T, ...]]:
    """Each key with its different values, in the order of their first appearance."""
    found: dict[K, dict[T, None]] = {}
    for key, value in pairs:
        found.setdefault(key, {})[value] = None
    return MappingProxyType({key: tuple(values) for key, values in found.items()})
