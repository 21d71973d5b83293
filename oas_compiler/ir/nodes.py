"""The nodes of a flow; one class per component type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cinatra_sdk.values.json_text import NOTHING, NOTHING_SEALED, Json, SealedJson
from cinatra_sdk.values.retry_policy import CallRetryPolicy
from oas_compiler.ir.types import Port
from oas_compiler.ir.values import Place

if TYPE_CHECKING:
    from oas_compiler.ir.flow import FlowIR


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
        """Whether what the node does may be repeated; empty: it may, under the same key."""
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
    """An LlmNode that may tell its model more before the prompt, and say the answer."""

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
