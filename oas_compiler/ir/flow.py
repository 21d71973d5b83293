"""One flow: its nodes, control edges and data edges, arranged for lookup."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, TypeVar

from cinatra_sdk.data.author_json import NOTHING, NOTHING_SEALED, Json, SealedJson
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.ir.port import Place, Port

# ----------------------------------------------------------------------------
# The nodes of a flow; one class per component type.


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """The facts about sends and approvals of the tool or agent that a node runs."""

    risk_class: str = ""
    """`metadata.cinatra.riskClass` of the tool or agent; empty where the author gave none."""
    asks_person: bool = False
    """Whether a person is asked before it works: the tool requires confirmation, or the agent
    approval.  Also true of a tool that could not be read, which may be such a tool.
    """


NO_BEHIND = Behind()


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """The common fields of every node.  `id` is the author's own id, never renamed."""

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
    """Members that the author wrote and no run reads; comparing two versions of a flow reads them
    too.
    """
    place: Place = Place()

    @property
    def subflows(self) -> tuple[FlowIR, ...]:
        """The flows that the node runs inside; most nodes run none."""
        return ()

    @property
    def effect(self) -> str:
        """Whether the effect of the node may be repeated; empty: it may, under the same key."""
        return ""

    @property
    def behind(self) -> Behind:
        """The tool or agent that the node runs; most nodes run none."""
        return NO_BEHIND


AT_MOST_ONCE: Final = "at_most_once"
AT_LEAST_ONCE: Final = "at_least_once"


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
    sensitive_headers: SealedJson = NOTHING_SEALED
    """Sent with `headers`, which has none of these names; never shown or kept."""
    retry: CallRetryPolicy | None = None
    """The author's `retry_policy`; `None` means the rule of the platform."""
    url_allow_list: tuple[str, ...] | None = None
    """Addresses that the node may call; `None` means that the platform alone decides."""
    effect: str = ""
    """`metadata.cinatra.effect`: `at_most_once`, or empty for at least once."""

    @property
    def request_place(self) -> Place:
        """The component that describes the request."""
        return self.place


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
class PluginOutputMessageNode(OutputMessageNode):
    """An OutputMessageNode whose message is an output, too."""


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

    @property
    def subflows(self) -> tuple[FlowIR, ...]:
        return (self.subflow,)


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRegexNode(Node):
    """PluginRegexNode: `output` is a list of matches, or one match (a string)."""

    pattern: str
    first_only: bool = False
    takes_last: bool = False
    """Whether that is the last one, and not the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginTemplateNode(Node):
    """PluginTemplateNode: `output` is the rendered Jinja template."""

    template: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolNode(Node):
    """A ServerTool or BuiltinTool: a Python function that the host registers under `tool_name`."""

    tool_name: str
    configuration: Json = NOTHING
    """Of a BuiltinTool: given to a function that has a parameter of this name."""
    effect: str = ""
    """As of an ApiNode."""
    behind: Behind = NO_BEHIND


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteToolNode(ApiNode):
    """A ToolNode over a RemoteTool: the request of an ApiNode, described by the tool."""

    tool_name: str
    behind: Behind = NO_BEHIND
    request_place: Place = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientToolNode(Node):
    """A ToolNode over a ClientTool: the caller of the flow runs the tool and gives its result."""

    tool_name: str
    behind: Behind = NO_BEHIND


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmNode(Node):
    """One question to a language model; a single string output is its text, other outputs are
    requested by schema.
    """

    prompt_template: str
    llm_config: Json = NOTHING
    """The model and its settings: its component, with the references of its own fields resolved."""
    first_turn: tuple[str, str] | None = None
    """Where the model is told a first turn's context: the input with the image's id, and the
    workspace, which is an input or a word of the host.
    """
    attached: str = ""
    """The input with refs of files that the model is sent; empty: there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendedLlmNode(LlmNode):
    """An LlmNode that may have messages before the prompt, and put its answer into the conversation."""

    before: tuple[tuple[str, str], ...] = ()
    """(`system`, `user` or `assistant`, template), or (`conversation`, "") for what was said."""
    says: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MapNode(Node):
    """Runs the subflow once for each element, one after the other.

    The input `iterated_x` feeds the subflow's `x`: element by element where its source gives a
    list, else the same value in every round.  The output `collected_y` collects the values of `y`.
    """

    subflow: FlowIR
    reducers: tuple[tuple[str, str], ...] = ()
    """(output of the subflow, `append`, `sum`, `average`, `max` or `min`) for each collected
    output.
    """
    on_item_error: str = ""
    """`metadata.cinatra.onItemError`: `collect` (an element that fails gives null), or empty."""

    @property
    def subflows(self) -> tuple[FlowIR, ...]:
        return (self.subflow,)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelMapNode(MapNode):
    """A MapNode whose rounds run at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendedMapNode(Node):
    """Runs the subflow once for each element of `iterated_input`, of which it takes parts.

    Other inputs are the same in every round; an output is the list of the values of the subflow's
    output of the same name.
    """

    subflow: FlowIR
    unpack: tuple[tuple[str, str], ...] = ()
    """(input of the subflow, way from an element to its value)."""
    is_parallel: bool = False
    max_workers: int | None = None
    """Rounds at a time, at most."""

    @property
    def subflows(self) -> tuple[FlowIR, ...]:
        return (self.subflow,)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtendedParallelMapNode(ExtendedMapNode):
    """An ExtendedMapNode whose rounds always run at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelFlowNode(Node):
    """Runs its subflows at the same time."""

    subflows: tuple[FlowIR, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CatchExceptionNode(Node):
    """Runs the subflow and leaves by `caught_exception_branch` where it fails.

    After a failure the outputs have their defaults, and `caught_exception_info` describes the
    error.
    """

    subflow: FlowIR
    tells_message: bool = False
    """Whether that has the text of the error, not only its node and kind."""

    @property
    def subflows(self) -> tuple[FlowIR, ...]:
        return (self.subflow,)


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginCatchExceptionNode(Node):
    """Runs the subflow, and leaves by a branch for the exception that one of its tools raises."""

    subflow: FlowIR
    except_on: tuple[tuple[str, str], ...] = ()
    """(class of the exception, branch)."""
    catches_all: bool = False

    @property
    def subflows(self) -> tuple[FlowIR, ...]:
        return (self.subflow,)


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginRetryNode(Node):
    """Runs the subflow again until its output `success` says so, at most `trials` times."""

    subflow: FlowIR
    success: str
    trials: int = 5

    @property
    def subflows(self) -> tuple[FlowIR, ...]:
        return (self.subflow,)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownNode(Node):
    """Stands for a node that cannot be built, so that the rest of its flow can be examined.

    Its type is unknown or misspelt, or it runs a component that could not be read.  Its ports and
    branches are those that the file declares.  It never runs: an error reports the reason.
    """

    component_type: str
    subflows: tuple[FlowIR, ...] = ()
    """Those of its flows that could be read."""
    behind: Behind = NO_BEHIND


K = TypeVar("K")
T = TypeVar("T")
Path: TypeAlias = tuple[str, ...]
"""Ids of nodes from the outermost flow down to a node; all but the last run flows.

The id of a node that runs several flows is followed by the place of one of them, `[0]`, `[1]`, …
(`open_flows`).
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A control edge: leaving `source` by `branch` runs `target` next."""

    source: str
    branch: str
    target: str
    place: Place = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class DataEdge:
    """An output that feeds an input; if several edges feed one input, the source that ran last
    wins.
    """

    source: str
    output: str
    target: str
    input: str
    place: Place = Place()


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A part of the file that could not be read; an error reports it.  An empty id is unknown.

    A part behind a gap does not count as missing: rules about missing parts do not report it.
    """

    kind: Literal["node", "inside", "route", "data", "ports"]
    """A node of `nodes`, what a node runs, a control edge, a data edge, or inputs or outputs.

    For a listed node of an unknown type, `source` is its id.  For "inside" and "ports",
    `source` is the id of their node; an empty id for "ports" means the flow's own ports.
    """
    source: str = ""
    branch: str = ""
    target: str = ""
    input: str = ""


_NO_ROUTES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class FlowIR:
    """One flow, checked or not; subflows hang below the node that runs them.

    A class without `__slots__`, so that it can cache its lookups, which are not fields.
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
    """The unreadable parts of the flow; empty in every flow that compiles."""

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
        return _group_by_key((route.target, route.source) for route in self.routes)

    @cached_property
    def ways_out(self) -> Mapping[str, tuple[Route, ...]]:
        """Node id → the control edges by which a run goes on; both ends are nodes of the flow.

        A run ends at an EndNode, also where an edge leaves it.
        """
        found: dict[str, list[Route]] = {}
        for route in self.routes:
            source = self.by_id.get(route.source)
            if source is None or isinstance(source, EndNode) or route.target not in self.by_id:
                continue
            found.setdefault(route.source, []).append(route)
        return MappingProxyType({node_id: tuple(routes) for node_id, routes in found.items()})

    @cached_property
    def data_edges_by_target(self) -> Mapping[str, tuple[DataEdge, ...]]:
        """Node id → the data edges into it, in order."""
        return _group_by_key((edge.target, edge) for edge in self.data_edges)

    @cached_property
    def feeds(self) -> Mapping[tuple[str, str], tuple[DataEdge, ...]]:
        """(node id, input) → the data edges into it, in order."""
        return _group_by_key(((edge.target, edge.input), edge) for edge in self.data_edges)

    @cached_property
    def readers(self) -> Mapping[tuple[str, str], tuple[DataEdge, ...]]:
        """(node id, output) → the data edges that take it, in order."""
        return _group_by_key(((edge.source, edge.output), edge) for edge in self.data_edges)

    @property
    def lacks_nodes(self) -> bool:
        """Whether an entry of its nodes could not be read."""
        return any(gap.kind == "node" for gap in self.gaps)

    @cached_property
    def unread_nodes(self) -> frozenset[str]:
        """Ids of the nodes that, or whose insides, could not be read: a gate may be there."""
        return frozenset(gap.source for gap in self.gaps if gap.kind in {"node", "inside"})

    @cached_property
    def unread_ports(self) -> frozenset[str]:
        """Ids of the nodes whose inputs or outputs could not all be read; "" for the flow's own."""
        return frozenset(gap.source for gap in self.gaps if gap.kind == "ports")

    @cached_property
    def doubled(self) -> frozenset[str]:
        """Ids of several nodes: an edge with such an id is ambiguous."""
        times = Counter(node.id for node in self.nodes)
        return frozenset(node_id for node_id, count in times.items() if count > 1)

    @property
    def start_is_unread(self) -> bool:
        """Whether the node that `start` names is unreadable: then the StartNode is unknown."""
        if not self.start:
            return True
        broken = {gap.source for gap in self.gaps if gap.kind == "node"}
        return self.start in broken or (self.start not in self.by_id and self.lacks_nodes)

    @property
    def is_whole(self) -> bool:
        """Whether the flow's inputs, outputs and branches are known: all nodes, a start and an
        end.
        """
        kinds = {type(node) for node in self.nodes}
        ends = {node.id for node in self.nodes if isinstance(node, (StartNode, EndNode))}
        unread = not self.unread_ports.isdisjoint({"", *ends})
        return kinds >= {StartNode, EndNode} and not self.lacks_nodes and not unread

    def __getstate__(self) -> dict[str, object]:
        # A copy builds its own lookups, because read-only mappings cannot be pickled.
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
        following = _group_by_key((route.source, route.target) for route in self.routes)
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


def _group_by_key(pairs: Iterable[tuple[K, T]]) -> Mapping[K, tuple[T, ...]]:
    """Each key with its different values, in the order of their first appearance."""
    found: dict[K, dict[T, None]] = {}
    for key, value in pairs:
        found.setdefault(key, {})[value] = None
    return MappingProxyType({key: tuple(values) for key, values in found.items()})


def open_flows(node: Node, path: Path) -> tuple[tuple[Path, FlowIR], ...]:
    """The flows that the node at `path` runs, each with the path that its nodes' paths begin with.

    A flow alone has the path of its node.  Several flows of one node may have nodes of one id, so
    each has its place in the list as a further element: `("par", "[0]")`, `("par", "[1]")`.
    """
    flows = node.subflows
    if len(flows) < 2:
        return tuple((path, flow) for flow in flows)
    return tuple(((*path, f"[{index}]"), flow) for index, flow in enumerate(flows))


def walk(flow: FlowIR, around: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Every node at every depth with its path; a node that runs flows before what is inside them."""
    for node in flow.in_order():
        path = (*around, node.id)
        yield path, node
        for inside, subflow in open_flows(node, path):
            yield from walk(subflow, inside)


def find_tool_names(flow: FlowIR) -> frozenset[str]:
    """Names of the functions that ToolNodes call, at every depth."""
    return frozenset(node.tool_name for _, node in walk(flow) if isinstance(node, ToolNode))
