"""The kinds of nodes: those of this folder, and those that installed packages add.

    find_kind("ApiNode")        ->  kinds.api.API
    find_kind("EchoNode")       ->  the record of the entry point `EchoNode`, else None
    find_refusal("FooNode")     ->  why the entry point `FooNode` gives no kind, else None
    kind_of(ApiNode(…))         ->  kinds.api.API

Every module of this folder that holds a `NodeKind` adds a kind; nothing else lists the modules.
A package adds a kind by an entry point of the group `oasflow.kind` whose name is the component type
and whose object is a `NodeKind`.  It is loaded when a file first names a type that is not known here.
A package's kind that cannot be used is refused alone: `find_refusal` says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint
from pkgutil import iter_modules
from typing import Any, Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler import kinds
from oas_compiler.component_facts.component import Site
from oas_compiler.component_facts.metadata import refuse_effect
from oas_compiler.ir import Node, Port, UnknownNode
from oas_compiler.kinds.kind import UNKNOWN, NodeKind, Passage
from oas_compiler.text.safe_text import safe

# ----------------------------------------------------------------------------
# The component types of Agent Spec that are no nodes.
#
# "Agent" in AGENT_TYPES    ->  an AgentNode may run it
# "VllmConfig" in NO_NODES  ->  known, and no kind of node: no installed package is asked for it


AGENT_TYPES: Final = frozenset(
    {
        "A2AAgent",
        "Agent",
        "ExtendedAgent",
        "ManagerWorkers",
        "OciAgent",
        "OpenAiAgent",
        "RemoteAgent",
        "SpecializedAgent",
        "Swarm",
    }
)
"""What an AgentNode may run, besides a Flow."""

TOOLS: Final = frozenset({"BuiltinTool", "ServerTool", "RemoteTool", "ClientTool", "MCPTool"})
"""The tools that a ToolNode runs."""

AGENTS: Final = frozenset(
    {"A2AAgent", "Agent", "ExtendedAgent", "ManagerWorkers", "SpecializedAgent", "Swarm"}
)
"""The agents that run."""

RUNNERS: Final = AGENT_TYPES - AGENTS
"""Component types, other than nodes, that would act at run time, which is not implemented."""

REASONS: Final = {
    "OciAgent": "its service has no public description",
    "OpenAiAgent": "its service has no public description in Agent Spec",
    "RemoteAgent": "it is abstract: an A2AAgent runs",
}
"""Why a runner does not run."""

FOREIGN_REASONS: Final = (
    (
        "Plugin",
        "ContextProvider",
        "a value that is fetched whenever it is read; let a node give it",
    ),
    (
        "PluginDatastore",
        "Node",
        "datastores are not reached from here; call a tool that reaches one",
    ),
    ("Plugin", "OutputParser", "the text of a model is not parsed; let it give several outputs"),
    ("Plugin", "EmbeddingConfig", "there is no search here; call a tool that searches"),
    ("PluginSearch", "", "there is no search here; call a tool that searches"),
    ("PluginVector", "", "there is no search here; call a tool that searches"),
    ("Plugin", "Datastore", "datastores are not reached from here"),
    ("PluginToolFromToolBox", "", "a tool is taken from its server by an MCPTool"),
    ("PluginToolBox", "", "it is abstract: an MCPToolBox runs"),
    ("Plugin", "Transform", "messages reach the model as its provider takes them"),
)
"""(how a type of WayFlow begins, how it ends, why it does not run)."""

TRANSFORMS: Final = frozenset(
    {"ConversationSummarizationTransform", "MessageSummarizationTransform"}
)
"""What shortens the conversation for the model of an agent."""

_PARTS: Final = frozenset(
    {
        "A2AConnectionConfig",
        "AgentSpecializationParameters",
        "DbmsVectorChainLlmConfig",
        "GeminiAIStudioAuthConfig",
        "GeminiConfig",
        "GeminiVertexAIAuthConfig",
        "InMemoryCollectionDatastore",
        "LlmConfig",
        "MCPToolBox",
        "MCPToolSpec",
        "MTlsOracleDatabaseConnectionConfig",
        "OAuthClientConfig",
        "OAuthConfig",
        "OciClientConfigWithApiKey",
        "OciClientConfigWithInstancePrincipal",
        "OciClientConfigWithResourcePrincipal",
        "OciClientConfigWithSecurityToken",
        "OciGenAiConfig",
        "OllamaConfig",
        "OpenAiCompatibleConfig",
        "OpenAiConfig",
        "OracleDatabaseDatastore",
        "PKCEPolicy",
        "PluginCoalesceSystemMessagesTransform",
        "PluginPromptTemplate",
        "PluginRemoveEmptyNonUserMessageTransform",
        "PostgresDatabaseDatastore",
        "RemoteTransport",
        "RetryPolicy",
        "SSETransport",
        "SSEmTLSTransport",
        "StdioTransport",
        "StreamableHTTPTransport",
        "StreamableHTTPmTLSTransport",
        "TlsOracleDatabaseConnectionConfig",
        "TlsPostgresDatabaseConnectionConfig",
        "VllmConfig",
    }
)
"""Known component types that only configure one of those above, or an LlmNode."""

NO_NODES: Final = (
    frozenset({"Flow", "ControlFlowEdge", "DataFlowEdge"})
    | TOOLS
    | AGENTS
    | RUNNERS
    | TRANSFORMS
    | _PARTS
)
"""All of them; the first three and the tools are read (document/component_types.py)."""


# ----------------------------------------------------------------------------
# The kinds of nodes that installed packages add, and why a package's kind is refused.
#
#     SlugNode = "oasflow_slug.kind:SLUG"    ->  kinds {"SlugNode": SLUG}, package "oasflow-slug"
#     FooNode = "nowhere:FOO"                ->  refused {"FooNode": Refusal(…)}, and no other kind
#
# In: the entry points of the group, and the built-in kinds.  A package that cannot be used takes
# nothing but its own type away: files that do not name the type are checked as if it were not there.


GROUP: Final = "oasflow.kind"
"""The group of entry points."""
_MOST_TOLD: Final = 200
"""Characters of another program's error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a kind of a package cannot be used; names the kind and the package."""

    message: str
    hint: str
    """The way out."""

    def __post_init__(self) -> None:
        # Names of entry points, records and errors are the package's own words.
        object.__setattr__(self, "message", safe(" ".join(self.message.split())))
        object.__setattr__(self, "hint", safe(" ".join(self.hint.split())))


@dataclass(frozen=True, slots=True, kw_only=True)
class Packages:
    """What the installed packages add, by component type."""

    kinds: dict[str, NodeKind] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    """The name of the package that adds the kind, as it is installed."""
    refused: dict[str, Refusal] = field(default_factory=dict)
    """Types that a package registers wrongly; none of them is in `kinds`."""


def read_packages(entries: Iterable[EntryPoint], built_in: Iterable[NodeKind]) -> Packages:
    """Load every entry point; a wrong entry is noted in `refused`, and raises nothing."""
    taken = {kind.component_type: kind for kind in built_in}
    found = Packages()
    by_type: dict[str, list[EntryPoint]] = {}
    for entry in sorted(entries, key=lambda entry: (entry.name, entry.value)):
        by_type.setdefault(entry.name, []).append(entry)
    misnamed: dict[str, Refusal] = {}
    for name, rivals in by_type.items():
        kind = _find_kind(rivals, taken, misnamed)
        if isinstance(kind, Refusal):
            found.refused[name] = kind
        else:
            found.kinds[name] = kind
            found.names[name] = name_package(rivals[0])
    for name, refusal in misnamed.items():
        if name not in found.kinds:
            found.refused.setdefault(name, refusal)
    _refuse_shared_classes(found, taken)
    return found


def name_package(entry: EntryPoint) -> str:
    """The name under which the entry point's package is installed; empty where it is not known."""
    return entry.dist.name if entry.dist is not None else ""


def refuse(what: str, package: str, why: str, *, mend: str) -> Refusal:
    """The refusal of a kind: what cannot be used, of which package, why, and the way out."""
    named = f' of the package "{package}"' if package else " of an installed package"
    other = f"uninstall {package}" if package else "uninstall the package"
    return Refusal(message=f"{what}{named} cannot be used: {why}", hint=f"{other}, or mend {mend}")


def describe_error(error: BaseException) -> str:
    """A package's own error in one line, shortened."""
    try:
        text = " ".join(safe(str(error)).split())
    except Exception:  # noqa: BLE001 - a stranger's __str__ may do anything
        text = ""
    name = type(error).__name__
    return f"{name}: {text[:_MOST_TOLD]}" if text else name


def _find_kind(
    rivals: list[EntryPoint], taken: Mapping[str, NodeKind], misnamed: dict[str, Refusal]
) -> NodeKind | Refusal:
    """The kind of all entries of one name."""
    name = rivals[0].name
    if name in NO_NODES:
        return _refuse_entry(rivals[0], f"{name} is a component of Agent Spec that is no node")
    if name in taken:
        return _refuse_entry(rivals[0], f"there is a kind of node {name} in oasflow already")
    made = [_load(entry, misnamed) for entry in rivals]
    refusal = next((one for one in made if isinstance(one, Refusal)), None)
    if refusal is None and any(kind is not made[0] for kind in made):
        refusal = _refuse_rivals(rivals)
    return refusal or made[0]


def _refuse_entry(entry: EntryPoint, why: str) -> Refusal:
    return refuse(entry.name, name_package(entry), why, mend="its entry point")


def _refuse_rivals(rivals: list[EntryPoint]) -> Refusal:
    named = " and ".join(
        f"{entry.value} (package {name_package(entry) or 'unknown'})" for entry in rivals
    )
    return Refusal(
        message=f"{rivals[0].name} cannot be used: several packages register a kind of this name: "
        f"{named}",
        hint="uninstall all of them but one",
    )


def _load(entry: EntryPoint, misnamed: dict[str, Refusal]) -> NodeKind | Refusal:
    """The record behind the entry; a record of another name is noted under that name, too."""
    try:
        kind = entry.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a package may do anything at import
        return _refuse_entry(entry, f"{entry.value} cannot be imported: {describe_error(error)}")
    if not isinstance(kind, NodeKind):
        made = type(kind).__name__
        return _refuse_entry(entry, f"{entry.value} is no NodeKind, but of the class {made}")
    if kind.component_type != entry.name:
        refusal = _refuse_entry(
            entry,
            f"its entry point has the name {entry.name}, and the record {entry.value} has the "
            f'component_type "{kind.component_type}"; the two must be equal',
        )
        misnamed[kind.component_type] = refusal
        return refusal
    flaw = _find_flaw(kind)
    return _refuse_entry(entry, f"the record {entry.value} is wrong: {flaw}") if flaw else kind


def _find_flaw(kind: NodeKind) -> str:
    """What of a record does not fit together; empty for a record that does."""
    node: Any = kind.node
    if not isinstance(node, type) or not issubclass(node, Node):
        return "`node` must be a subclass of oas_compiler.ir.Node"
    if not callable(kind.build):
        return "`build` must be a function"
    used = (*kind.flows, *((kind.behind,) if kind.behind else ()))
    missing = [name for name in used if name not in (kind.fields or {})]
    return f'"{missing[0]}" must be one of its `fields`' if missing else ""


def _refuse_shared_classes(found: Packages, taken: Mapping[str, NodeKind]) -> None:
    """Refuse kinds with the same class in the IR: the kind of a node would be ambiguous."""
    users: dict[type[Node], list[str]] = {UnknownNode: ["UnknownNode"]}
    for name, kind in (*taken.items(), *found.kinds.items()):
        users.setdefault(kind.node, []).append(name)
    for node, names in users.items():
        for name in names if len(names) > 1 else ():
            if name in found.kinds:
                others = " and ".join(other for other in names if other != name)
                del found.kinds[name]
                found.refused[name] = refuse(
                    name,
                    found.names.pop(name),
                    f"{name} and {others} have one class, {node.__name__}",
                    mend="its record",
                )


def find_kind(component_type: str) -> NodeKind | None:
    """The kind with this name; `None` for a type that nobody has registered, or not rightly."""
    if component_type in _BY_TYPE or component_type in NO_NODES:
        return _BY_TYPE.get(component_type)
    return load_plugins().kinds.get(component_type)


def find_refusal(component_type: str) -> Refusal | None:
    """Why the kind that an installed package registers under this type cannot be used.

    None for types of Agent Spec, whatever packages register, and for types that nobody registers.
    """
    if component_type in _BY_TYPE or component_type in NO_NODES:
        return None
    return load_plugins().refused.get(component_type)


def list_refusals() -> tuple[Refusal, ...]:
    """Every kind of an installed package that cannot be used, also of types that no file asks for."""
    return tuple(load_plugins().refused.values())


def name_package_of(kind: NodeKind) -> str | None:
    """The installed package that adds a kind; empty where its name is not known, `None` for a kind
    of oasflow itself.
    """
    if kind is UNKNOWN or _BY_TYPE.get(kind.component_type) is kind:
        return None
    return load_plugins().names.get(kind.component_type, "")


def kind_of(node: Node) -> NodeKind:
    """The kind of an IR node.

    Raises:
        LookupError: for a class that no kind has; no builder makes such a node.

    """
    found = _BY_NODE.get(type(node))
    if found is None:
        added = (kind for kind in load_plugins().kinds.values() if kind.node is type(node))
        found = next(added, None)
    if found is None:
        raise LookupError(f"no kind of node has the class {type(node).__name__}")
    return found


def build_node(kind: NodeKind, site: Site) -> Node | Refusal:
    """The IR node of a component, by the builder of its kind.

    A builder of a package is refused that fails, or that makes a node which rules about gates and
    sends could not see through.
    """
    if "effect" not in (kind.metadata or {}):
        refuse_effect(site)
    package = name_package_of(kind)
    if package is None:
        return kind.build(site)
    try:
        node = kind.build(site)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the border to a package's own code
        why = f"its builder fails with {describe_error(error)}"
        return refuse(kind.component_type, package, why, mend="its builder")
    flaw = _find_node_flaw(kind, node, site)
    if flaw:
        return refuse(kind.component_type, package, flaw, mend="its builder")
    return node


def _find_node_flaw(kind: NodeKind, node: Node, site: Site) -> str:
    """What is wrong with a node that a package's builder made; empty for a right one."""
    if isinstance(node, UnknownNode):
        return ""
    if type(node) is not kind.node:
        return f"its builder makes {type(node).__name__}, not {kind.node.__name__}"
    if node.id != site.component.id:
        return "its builder leaves out the id of the component: give the node **common(site)"
    for name, wanted in (("inputs", Port), ("outputs", Port), ("branches", str)):
        value = getattr(node, name)
        if not isinstance(value, tuple) or not all(isinstance(part, wanted) for part in value):
            return f"its builder makes {name} that are not a tuple of {wanted.__name__}"
    if not node.branches and not kind.flows:
        return "its builder makes no branches, and only an EndNode ends a flow"
    if site.subflows and not node.subflows:
        return f"{kind.node.__name__}.subflows does not give the flows that the node runs"
    if kind.behind and node.behind != site.facts_behind:
        return (
            f"{kind.node.__name__}.behind does not give the facts of the {kind.behind} that it runs"
        )
    return ""


def type_of(node: Node) -> str:
    """The component type of an IR node, as its file has it."""
    return node.component_type if isinstance(node, UnknownNode) else kind_of(node).component_type


def passage_of(node: Node) -> Passage:
    """How control goes through the flows that a node runs."""
    name = type_of(node)
    kind = find_kind(name)
    if kind is not None:
        return kind.passage
    return "all" if name.endswith("ParallelFlowNode") else "any"  # plugins call theirs so, too


def all_kinds() -> tuple[NodeKind, ...]:
    """Every kind, those of packages last."""
    return (*BUILT_IN, *load_plugins().kinds.values())


@cache
def load_plugins() -> Packages:
    """The kinds that installed packages register, and those that are refused."""
    # Looking at what is installed takes as long as checking a small file, and few files need it.
    from importlib.metadata import entry_points

    return read_packages(entry_points(group=GROUP), BUILT_IN)


def _load_built_in() -> tuple[NodeKind, ...]:
    """The record of every module of this folder, in the order of the modules' names."""
    names = sorted(module.name for module in iter_modules(kinds.__path__))
    modules = [import_module(f"{kinds.__name__}.{name}") for name in names if name != "registry"]
    found = [value for module in modules for value in vars(module).values()]
    records = (value for value in found if isinstance(value, NodeKind) and value is not UNKNOWN)
    return tuple(dict.fromkeys(records))


BUILT_IN: Final[tuple[NodeKind, ...]] = _load_built_in()
"""The kinds of this folder."""
_BY_TYPE: Final = {kind.component_type: kind for kind in BUILT_IN}
_BY_NODE: Final = {
    made: kind for kind in (*BUILT_IN, UNKNOWN) for made in (kind.node, *kind.variants)
}
