"""`HostParts`: everything that this process lends to flows and runs, in one record.

    parts = HostParts(platform=HttpPlatform("https://cinatra.example"), tools={"look_up": look_up})
    flow = compile_flow("agents/shop", host=parts)
    store = RunStore.open(host=parts)

A new part is a field here and its one use: whoever passes parts on passes the record.
Nothing here comes from a file or from the database, and nothing of it is stored.

`first_turn=` is one reader of the context of a first turn, or readers by workspace:

    find_reader({"photos": read_photo, "*": read_any}, "photos")   ->  read_photo
    read_text(read_photo, "img-7")                        ->  ("# Context of the first turn …", "")
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field, fields, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeAlias, TypedDict

from cinatra_sdk.errors import FlowError, NotConfigured
from cinatra_sdk.governed.host_keys import refuse_runtime_names
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of, host_context
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.door import Door
from cinatra_sdk.outside.http_calls.protocol import Credentials
from cinatra_sdk.outside.remote_answers.remote_bounds import USUAL, RemoteBounds

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from cinatra_sdk.api.permission import MayPolicy
    from cinatra_sdk.attachments import AsyncAttachmentPorts, AttachmentPorts
    from cinatra_sdk.first_turn import FirstTurn
    from cinatra_sdk.outside.effects.door import Ledger, Verdict
    from cinatra_sdk.outside.effects.effect import Effect, Usage
    from cinatra_sdk.outside.http_calls.protocol import Platform
    from cinatra_sdk.outside.models.clients import ApiKeyFor, Models
    from cinatra_sdk.outside.models.config import ModelConfig
    from cinatra_sdk.outside.models.totals import Price


FirstTurnReader: TypeAlias = "Callable[[str], FirstTurn]"
"""From an image's id to the context of a first turn, such as `read_context` with its workspace."""
FirstTurnReaders: TypeAlias = "FirstTurnReader | Mapping[str, FirstTurnReader]"

ANY_WORKSPACE: Final = "*"


def find_reader(readers: FirstTurnReaders, workspace: object) -> FirstTurnReader | None:
    """The reader for a workspace; None where the host lends none for it."""
    if callable(readers):
        return readers
    found = readers.get(workspace) if isinstance(workspace, str) else None
    return found or readers.get(ANY_WORKSPACE)


def read_text(reader: FirstTurnReader, image_id: str) -> tuple[str, str]:
    """The text for an image, and what went wrong in its place; names no folder of the host."""
    from cinatra_sdk.first_turn import FirstTurn, first_turn_text

    try:
        turn: object = reader(image_id)
    except FlowError as error:
        return "", str(error)
    except Exception as error:  # noqa: BLE001 - a function of the host raises anything
        return "", f"its reader raised {type(error).__name__}"
    if not isinstance(turn, FirstTurn):
        return "", f"its reader gave a {type(turn).__name__}, and no FirstTurn"
    return first_turn_text(turn), ""


# ----------------------------------------------------------------------------
# A tool of LangChain as the Python function that a ToolNode calls.
#
#     HostParts(tools={"look_up": look_up_tool})     look_up_tool is a BaseTool, made with @tool
#
# A tool with a plain function is called by `invoke`, one that is only asynchronous by `ainvoke`.  The
# arguments are checked by the tool's own schema too.


def as_function(tool: Any) -> Callable[..., Any] | None:
    """The function that calls `tool`; None for what cannot be called."""
    # Whoever lends such a tool has imported LangChain; nobody else needs it here.
    tools = sys.modules.get("langchain_core.tools")
    if tools is not None and isinstance(tool, tools.BaseTool):
        return _make_function(tool)
    return tool if callable(tool) else None


def _make_function(tool: BaseTool) -> Callable[..., Any]:
    def call(**values: Any) -> Any:
        return tool.invoke(values)

    async def acall(**values: Any) -> Any:
        return await tool.ainvoke(values)

    is_async_only = getattr(tool, "func", call) is None
    return acall if is_async_only else call


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
        """What the host lends besides its packs: `cinatra_sdk.governance.run.host_ports.GovernancePorts`."""
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
    `cinatra_sdk.host.passthrough` and gives an object.
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
    may: MayPolicy | None = field(default=None, repr=False)
    """The policy on people, asked before a person sees, starts, answers, settles, stops or archives;
    see `cinatra_sdk.api.may`.  It can only take away: whoever is of another tenant is refused before.
    """
    ledger_for: Callable[[RunIdentity], Ledger] | None = field(default=None, repr=False)
    """Called for each activation of a run: what is known of the run's earlier effects."""
    allow_effect: Callable[[Effect], Verdict] | None = field(default=None, repr=False)
    """The policy, asked before every effect; see `cinatra_sdk.outside.effects.Door`."""
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


# ----------------------------------------------------------------------------
# The host's context of one activation, completed by the parts of the process.
#
# In: the context that a caller gave, or None, and the parts.  Out: the context with a ledger, a policy
# and a budget, and with credentials where the caller gave no context.
#
#     `lend_context(None, RunIdentity(id="r1"), HostParts(credentials_for=tokens_of))`
#     -> host_context(run_token=…, bearer_token=…)
#
# A value of the context wins over a part: the context was made for this run.


def lend_context(given: HostContext | None, run: RunIdentity, *lent: HostParts) -> HostContext:
    """`given`, completed by the parts, the first of which come first; unchanged where the host did
    not make it, so that whoever binds it to its run refuses it.

    Raises: `NotConfigured` where `credentials_for` or `ledger_for` fails.
    """
    host = _make_context(run, lent) if given is None else given
    if context_of(host) is not host:
        return host
    door = host.door
    for parts in lent:
        door = lend_door(door, parts, run)
    files = host.files or _lend_files(run, lent)
    if door is host.door and files is host.files:
        return host
    return replace(host, door=door, files=files)


def _lend_files(run: RunIdentity, lent: Sequence[HostParts]) -> Any:
    """From the model that a node asks to the ports for the run's files; None where nobody lends any."""
    own = next((parts.attachments_for for parts in lent if parts.attachments_for), None)
    return None if own is None else partial(own, run)


def lend_door(door: Door, parts: HostParts, run: RunIdentity) -> Door:
    """`door` with the parts of the process where it has none of its own."""
    lent = {"allow": parts.allow_effect, "spend": parts.spend, "spent": parts.spent}
    missing: dict[str, Any] = {
        name: part
        for name, part in lent.items()
        if part is not None and getattr(door, name) is None
    }
    if door.ledger is None and parts.ledger_for is not None:
        try:
            missing["ledger"] = parts.ledger_for(run)
        except Exception as error:
            raise _refuse_part("ledger_for", run, type(error).__name__) from error
    return replace(door, **missing) if missing else door


def _make_context(run: RunIdentity, lent: Sequence[HostParts]) -> HostContext:
    ask = next((parts.credentials_for for parts in lent if parts.credentials_for), None)
    if ask is None:
        return host_context()
    try:
        tokens = ask(run)
    except Exception as error:
        # Its words are not repeated: they may name the credentials.
        raise _refuse_part("credentials_for", run, type(error).__name__) from error
    if not isinstance(tokens, Credentials):
        raise _refuse_part("credentials_for", run, f"a {type(tokens).__name__}, no Credentials")
    try:
        return host_context(
            tenant=run.tenant, run_token=tokens.run_token, bearer_token=tokens.bearer_token
        )
    except (TypeError, ValueError):
        raise _refuse_part("credentials_for", run, "a token of too few characters") from None


def _refuse_part(name: str, run: RunIdentity, what: str) -> NotConfigured:
    return NotConfigured(
        f"the host's {name} gives {what} for run '{run.id}'", hint=f"mend {name} in its HostParts"
    )
