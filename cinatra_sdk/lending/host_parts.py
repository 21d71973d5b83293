"""`HostParts`: everything that this process lends to flows and runs, in one record.

    parts = HostParts(platform=HttpPlatform("https://cinatra.example"), tools={"look_up": look_up})
    flow = compile_flow("agents/shop", host=parts)
    store = RunStore.open(host=parts)

A new part is a field here and its one use: whoever passes parts on passes the record.
Nothing here comes from a file or from the database, and nothing of it is stored.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeAlias, TypedDict

from cinatra_sdk.governed.placeholders import refuse_runtime_names
from cinatra_sdk.lending.langchain_tools import as_function
from cinatra_sdk.remote.bounds import USUAL, RemoteBounds

if TYPE_CHECKING:
    from cinatra_sdk.attachments import AsyncAttachmentPorts, AttachmentPorts
    from cinatra_sdk.effects.door import Verdict
    from cinatra_sdk.effects.effect import Effect, Usage
    from cinatra_sdk.effects.ledger import Ledger
    from cinatra_sdk.first_turn import FirstTurn
    from cinatra_sdk.models.choosing import ApiKeyFor, Models
    from cinatra_sdk.models.config import ModelConfig
    from cinatra_sdk.models.totals import Price
    from cinatra_sdk.platform.protocol import Credentials, Platform


FirstTurnReader: TypeAlias = "Callable[[str], FirstTurn]"
"""From an image's id to the context of a first turn, such as `read_context` with its workspace."""
FirstTurnReaders: TypeAlias = "FirstTurnReader | Mapping[str, FirstTurnReader]"
AttachmentsFor: TypeAlias = (
    "Callable[[RunIdentity, ModelConfig], AttachmentPorts | AsyncAttachmentPorts | None]"
)
"""From a run and the model that it asks to the ports for the run's files; None: it has none."""


class LentFlow(Protocol):
    """A flow that a module makes; a stored run names it, and never imports it."""

    @property
    def label(self) -> str:
        """`module:name`, which a stored run holds."""
        ...

    @property
    def source(self) -> bytes:
        """The label and the text of the module; a run is pinned to it."""
        ...

    def lent(self, host: HostParts) -> Any:
        """The same flow with other parts; with `require_parts()`, which raises `NotConfigured` where
        they are too few.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RunIdentity:
    """Which run asks for credentials or a ledger."""

    id: str
    tenant: str = ""
    flow: str = ""
    """The flow's name."""
    digest: str = ""
    """sha256 (hex) of the flow's bytes."""
    started_by: str = ""
    """The person who started the run; empty where no name was given."""


class FlowGovernance(Protocol):
    """Packs, planner and ports of governed runs: `cinatra_sdk.governance.governance.Governance`."""

    @property
    def governs_flows(self) -> bool:
        """Whether every flow of the host stands under its packs."""
        ...

    @property
    def ports(self) -> Any:
        """What the host lends besides its packs: `cinatra_sdk.governance.ports.GovernancePorts`."""
        ...

    def make_rules(self, flow: str) -> Any:
        """The rules for a compiled flow of this name."""
        ...

    def make_loop_recorder(self) -> Any:
        """Writes the decision records of the canonical loop."""
        ...


def _require_governance(given: object) -> None:
    if given is not None and not hasattr(given, "governs_flows"):
        raise TypeError(
            f"governance is a {type(given).__name__}: give Governance(…), or Governance.of(pack)"
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HostParts:
    """The parts that this process lends; each may be left out.  Prints no value of a variable.

    Raises: `PlaceholderRefused` for a name in `env` that the runtime reads itself; `TypeError` for
    a tool that cannot be called.
    """

    platform: Platform | None = None
    """Makes the HTTP calls.  None: a new flow is simulated, and a stored run gets the platform that
    its row describes, as far as `settings` and `allow` permit.
    """
    tools: Mapping[str, Callable[..., Any]] = field(default_factory=dict, repr=False)
    """Python functions, or tools of LangChain, for ToolNodes, by name."""
    models: Models = field(default=None, repr=False)
    """Chat models for LlmNodes: by id, name or model of their `llm_config`, `*` for every other; or a
    function that gets the `ModelConfig`.  Where none is lent, the provider's own is connected; in a
    simulation its answer is made up.
    """
    api_key_for: ApiKeyFor = field(default=None, repr=False)
    """Gives the key for a `ModelConfig`; empty: the key in the file, or of the environment."""
    mcp: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Servers in place of those of MCPTools and MCPToolBoxes, by the id or name of their transport,
    `*` for every other: anything that `mcp.Client` takes, such as a server of this process.
    """
    remote_bounds: RemoteBounds = USUAL
    """How much MCP servers, agents elsewhere and models may send, list and ask for."""
    first_turn: FirstTurnReaders | None = field(default=None, repr=False)
    """Reads what a model is told before its prompt, where a file asks for it (`metadata.cinatra.firstTurn`):
    a function, or functions by the workspace that the file names, `*` for every other.  The host
    decides which folder a workspace is.
    """
    attachments_for: AttachmentsFor | None = field(default=None, repr=False)
    """Lends what is needed to send a run's files to its model (`metadata.cinatra.attachments`, and what
    callers of the bridge attach).  Its ports read the files of the run's own tenant and no others.  A
    stored run without a tenant, and a caller of the bridge without one, get none; a compiled graph that
    is invoked without a tenant asks with an empty one.  None: of a stored run the files that
    `AttachmentStore` has, else none, and the model is told of each file that it cannot read.
    """
    media_size: Callable[[str], int | None] | None = field(default=None, repr=False)
    """Bytes behind the web address of an audio or a video that a caller of the local platform's bridge
    sends: more than `MOST_MEDIA` are refused.  None, also as an answer: nobody can tell, and nothing is
    refused.
    """
    toolboxes: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """What the models of the local platform's bridge may call, by the id of a toolbox: a function, a
    tool of LangChain, an MCP server (anything that `mcp.Client` takes), or a list of these.
    """
    passthrough: Mapping[str, Callable[..., Any]] = field(default_factory=dict, repr=False)
    """Tools that flows call by name through the local platform; each gets a `NamedCall` of
    `cinatra_sdk.passthrough` and gives an object.
    """
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Values of placeholders that flows and runs may read, by name.  Values may be secrets, so the
    database keeps only the names.
    """
    secrets: Mapping[str, Any] | None = field(default_factory=dict, repr=False)
    """Values of the sensitive fields of a file that only names them, by `<id>.<field>`: a text, or an
    object for `sensitive_headers`.  None: nothing will be called, so that none is needed.
    """
    allowed_components: Collection[str] | None = None
    """Component types that flow files may use, with those below them; None: all but the blocked."""
    blocked_components: Collection[str] | None = None
    """Component types that they may not use; None: `StdioTransport`, which starts programs."""
    settings: Mapping[str, str] | None = field(default=None, repr=False)
    """Addresses and secrets for the calls of stored runs, as `platform_from` reads them; None: the
    environment.
    """
    record: str | os.PathLike[str] | None = None
    """The file to which simulated calls of stored runs are appended."""
    allow: Sequence[str] = ()
    """Addresses that stored runs may call in addition to those they were started with."""
    graphs: Sequence[LentFlow] = field(default=(), repr=False)
    """Hand-written graphs (`graph_flow`) and flows of modules (`written_flow`) whose stored runs this
    process goes on with.
    """
    ledger_for: Callable[[RunIdentity], Ledger] | None = field(default=None, repr=False)
    """Called for each activation of a run: what is known of the run's earlier effects."""
    allow_effect: Callable[[Effect], Verdict] | None = field(default=None, repr=False)
    """The policy, asked before every effect; see `cinatra_sdk.effects.Door`."""
    spend: Callable[[Effect], None] | None = field(default=None, repr=False)
    """The budget: raises where nothing is left for an effect."""
    spent: Callable[[Effect, Usage], None] | None = field(default=None, repr=False)
    """Told what an effect used up."""
    price: Price = field(default=None, repr=False)
    """Money for what a model (`openai/gpt-5`) used up, for totals of a run."""
    governance: FlowGovernance | None = field(default=None, repr=False)
    """Packs, planner and ports of governed runs: see `cinatra_sdk.governance`."""
    credentials_for: Callable[[RunIdentity], Credentials] | None = field(default=None, repr=False)
    """The tokens of a run that is driven without a context of its own: by a worker, or by whoever
    goes on with it.
    """

    def __post_init__(self) -> None:
        refuse_runtime_names(self.env)
        functions: dict[str, Callable[..., Any]] = {}
        for name, tool in self.tools.items():
            function = as_function(tool)
            if function is None:
                raise TypeError(f"the tool '{name}' is a {type(tool).__name__}, not a function")
            functions[name] = function
        object.__setattr__(self, "tools", functions)
        if hasattr(self.models, "invoke"):
            raise TypeError("models is one chat model: give a mapping, such as {'*': model}")
        if self.models is not None and not callable(self.models):
            object.__setattr__(self, "models", MappingProxyType(dict(self.models)))
        if self.secrets is not None:
            object.__setattr__(self, "secrets", MappingProxyType(dict(self.secrets)))
        for name in ("tools", "env", "mcp", "toolboxes", "passthrough"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))
        for name in ("allow", "graphs"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        _require_governance(self.governance)
        labels = [graph.label for graph in self.graphs]
        for label in labels:
            if labels.count(label) > 1:
                raise ValueError(f"two graphs have the label '{label}': give one another name=")

    def with_parts(self, **parts: Any) -> Self:
        """The same parts but for those named here."""
        return replace(self, **parts)

    def gives(self, name: str) -> bool:
        """Whether the part `name` is lent."""
        return bool(getattr(self, name) != getattr(NO_PARTS, name))


NO_PARTS: Final = HostParts()
"""Of a process that lends nothing."""


class FlowParts(TypedDict, total=False):
    """The parts that a call about one flow takes by themselves: the short form of `host=`."""

    platform: Platform | None
    tools: Mapping[str, Callable[..., Any]] | None
    models: Models
    mcp: Mapping[str, Any] | None
    env: Mapping[str, str] | None


class Parts(FlowParts, total=False):
    """The parts that a store takes by themselves; they are described at `HostParts`."""

    settings: Mapping[str, str] | None
    record: str | os.PathLike[str] | None
    allow: Sequence[str] | None


def join_parts(host: HostParts | None, given: Mapping[str, Any], of: str) -> HostParts:
    """`host` with the parts that a call named by themselves, its short form.

    given: parts by name; None stands for a part that is not given.  of: the call, for errors.

    Raises: `TypeError` for a name that is no part, and for a part that is given both ways.
    """
    known = {part.name for part in fields(HostParts)}
    for name in given:
        if name not in known:
            raise TypeError(f"{of} got an unexpected keyword argument '{name}'")
    named = {name: value for name, value in given.items() if value is not None}
    if host is None:
        return HostParts(**named)
    if not isinstance(host, HostParts):
        raise TypeError(f"{of}: host is a {type(host).__name__}, and not HostParts")
    for name in named:
        if host.gives(name):
            raise TypeError(f"{of} got '{name}' twice: in host=… and by itself; leave out one")
    return host.with_parts(**named) if named else host
