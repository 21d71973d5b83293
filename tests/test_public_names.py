"""The public import paths and their names, pinned literally: a change of one shows here.

Docs, examples, the graphs of `graphs/` and emitted modules import from these paths alone; each name
has one path, and the names that most programs need also stand at the top of their package.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cinatra_sdk
from cinatra_sdk.flow.plan.plan import NodeWork
from oas_compiler.emit.python_module import emit_module
from tests.emit.modules import compile_whole
from tests.sources import ROOT

PACKAGES = ("cinatra_sdk", "oas_compiler", "graphs")

PUBLIC = {
    "cinatra_sdk": """
        AnswerInvalid CheckpointsUnusable ChildWaits ChoiceGone ContextMismatch Decision EffectDiffers
        EffectRefused EffectSettled EffectUnknown EngineUnsupported FenceLost FlowChanged
        FlowError ForkRefused Gate GateChanged GateClosed GateNotFound GateUnreadable GovernedState
        HostContext HostParts HostRefused HttpPlatform InputInvalid KindRefused LimitExceeded
        NodeFailed NotAdopted NotAllowed NotConfigured NotReplicated PlaceholderRefused Platform PlatformError PolicyInvalid ProcessEnding Run
        RunBusy RunEnded RunExists RunNotCompleted RunNotEnded RunNotFound RunStore ShownDiffers
        SimulatedPlatform StoreError StoreUnreachable ValueRefused build_hitl_gate graph_flow
        host_context
    """,
    "cinatra_sdk.api": """
        ACTIONS API_VERSION Action ActionSubject AskedGateJson CallJson ChosenJson
        CountJson DecisionJson DecisionPageJson ErrorJson EventJson EventListJson EvidenceLineJson
        ExportEndJson FeedItemJson FeedPageJson GateJson HTTP_ERRORS HttpError MayPolicy MayRule ModelUsageJson
        NeedJson NeedPageJson OpenGateJson PageEndJson Person PersonJson PersonRecord Proof
        RecordLineJson RunJson RunPageJson RunSummaryJson SHAPES SettlementJson StretchJson
        WaitJson WholeRunJson make_asked_gate make_call make_chosen make_count make_decision
        make_decision_page make_error make_event make_event_list make_feed_item
        make_feed_page make_gate make_need
        make_need_page make_open_gate make_page_end make_run make_run_page make_run_summary
        make_settlement make_stretch make_usage make_wait make_whole_run may schema_of
        status_of
    """,
    "cinatra_sdk.attachments": """
        AnswerRule AsyncAttachmentPorts AttachedMessages AttachmentPorts AttachmentRef
        AttachmentRefInvalid BridgeCall CachedFile CapabilityRule ChatTurn FilePart MAX_REFS
        NO_PORTS NotReadable PreparedTurn PreparedTurns RULES Resolved ResumedAnswer
        UnreadableFile UserEnvelope UserEnvelopeInvalid aattach_files aprepare_turns
        aresolve_attachments attach_files find_answer_rules find_capability find_provider
        join_blocks list_betas model_arguments place_manifest prepare_turns read_ref read_refs
        read_resume read_user_envelope resolve_attachments strip_resolved wrap_answer
        wrap_resume write_blocks write_content write_file_blocks write_manifest
    """,
    "cinatra_sdk.blocks": """
        Appended Effects GateNode HostOnly Latest NodeRunnable Outcome PlatformStep
        STRICT_SERIALIZER StateKeyMissing Step Stop advance build_proposing_graph child_agent
        context_of end_of ending gate_id gate_of gate_once gate_visit has_ended keep_decision
        llm_step node_of on_own_threads propose_and_confirm seal seal_host_fields subgraph
        terminal_node was_sent with_strict_serializer
    """,
    "cinatra_sdk.bridge": """
        BridgeTool LlmBridge Offer OfferedModel ScriptFile Toolbox make_routes modelled owned_by
        read_models
    """,
    "cinatra_sdk.context": """
        Actor AgentContextSlot ContextError ContextResolution ContextSelection ExtensionRegistry
        InstalledExtensions PinnedTriple ResolvedContextRef expanded read_slots slot_named
    """,
    "cinatra_sdk.effects": """
        Begun Differs Door Effect EffectFailure EffectNews EffectResult Entry Ledger
        MemoryLedger Stored TRANSIENT_ERRORS Unknown Usage Verdict aadmit admit aperform current_key key_at
        perform read_failure
    """,
    "cinatra_sdk.errors": """
        AnswerInvalid CheckpointsUnusable ChildWaits ChoiceGone ContextMismatch EffectDiffers EffectRefused
        EffectSettled EffectUnknown EngineUnsupported FenceLost FlowChanged FlowError
        ForkRefused GateChanged GateClosed GateNotFound GateUnreadable HostRefused
        InputInvalid KindRefused LimitExceeded NodeFailed NotAdopted NotAllowed
        NotConfigured NotReplicated PlaceholderRefused PolicyInvalid ProcessEnding RunBusy
        RunEnded RunExists
        RunNotCompleted RunNotEnded RunNotFound ShownDiffers StoreError StoreUnreachable
        ValueRefused
    """,
    "cinatra_sdk.events": "RunEvent split_path",
    "cinatra_sdk.first_turn": """
        Confirmed FirstTurn ImageNotFound Places Proposal ProposalInvalid ProposalNotFound
        ProposalUnwritten Proposals confirm first_turn_text make_tools propose_note
        propose_taste read_context read_full_notes to_json
    """,
    "cinatra_sdk.flow": """
        ANY Agent AgentCalls AgentStep AgentSummary ApiCall ApprovedAgent ArrayType BOOLEAN
        Branching CallRetryPolicy Catch CatchNamed ChatHistory ClientTool Constants End
        FlowGraph HumanGate INTEGER Json JsonExtraction LlmMessages LlmQuestion Map McpToolCall
        McpToolList McpWay Message MessageWithOutput ModelChoice NULL NUMBER NodeBody ObjectType
        OfferedTool OfferedToolbox ParallelFlows ParallelMap Regex RemoteAgentTalk
        RemoteAgentWay RemoteToolCall Renderer Repeat STRING SealedJson Signature Start Subflow
        TemplateError TextTemplate ToolCall UnionType UnpackedMap UnpackedParallelMap Variables
        WayBack port read_conversation written_flow
    """,
    "cinatra_sdk.governance": """
        AgentIdentity ChatPlanner ContextPack CurrentCall DecisionCatalog DecisionRecord
        Evidence FolderRegistry Governance GovernancePorts GovernanceRefused HostWord
        IdentityClaim InvokeAgent MemoryRegistry PackRegistry Plan PlanRequest PlanStep Replayed
        ScriptedPlanner Signer ToolOutput UserClaims UserDelegation current_call find_problems
        make_claim narrow replay
    """,
    "cinatra_sdk.hitl": "build_hitl_gate",
    "cinatra_sdk.host": """
        BearerIdentity FixedRuns LocalPlatform LocalSettings ParentSelection RunDirectory
        RunScope StoredRuns context_resolve local_app read_context_file standalone
    """,
    "cinatra_sdk.local_postgres": "LocalServer LocalServerError LocalStatus",
    "cinatra_sdk.models": """
        AnthropicFiles AskedModel FileToUpload GeminiFiles ModelConfig ModelUsage Models
        NodeUsage OpenAiFiles ProviderFiles RecordingModel ReplayingModel ScriptedModel
        ScriptedReply UploadFailed connect_model open_provider_files
    """,
    "cinatra_sdk.passthrough": "ChildAgents NamedCall NamedTool Passthrough",
    "cinatra_sdk.platform": """
        BASE_URL_PLACEHOLDER Credentials DeclaredOutput Handler HttpPlatform KeepsArtifacts
        Platform PlatformCall PlatformError PlatformOutputError PlatformRefused
        PlatformResponseError PlatformUnreachable RecordedCall RemoteBounds RouteCall RouteError
        RoutedPlatform RunOwner SimulatedPlatform StubError WrappedPlatform declared_outputs
        platform_from
    """,
    "cinatra_sdk.store": """
        Archived ArtifactStore AskedGate AttachmentStore Database DecisionRecords
        Disagreement EffectRecord Erasure FeedItem FeedPage GateDecision MemoryProposals OpenGate Page
        PersonStore Receipt Reconciliation RetryPolicy RunStore StoredPacks StoredParent
        Stretch SweptRun erase_person list_receipts migrate read_receipts stored_evidence
    """,
    "cinatra_sdk.testing": """
        AnswerLike Answers DrivableFlow RememberedUploads Result adrive drive sampled_inputs
        simulation
    """,
    "graphs.context_selection": "build_graph context_selection graph",
    "graphs.from_oas": "DEFAULT_FLOW flow_path graph_of make_graph",
    "graphs.governed_run": "INPUTS build build_graph flow",
    "graphs.orchestrator_v1": """
        INPUTS POLICY SAMPLES build_durable build_graph flow graph lend
    """,
    "oas_compiler": """
        CompileError Compiled Diagnostics Finding Flow check compile_flow compile_ir
    """,
    "oas_compiler.catalog": "all_rules find",
    "oas_compiler.deps": "Link Resolution highest is_range refusal resolve satisfies",
    "oas_compiler.diff": "Change Difference diff",
    "oas_compiler.draw": """
        DrawingError ExtraMissing Picture PictureTooLarge Theme html_page lay_out mermaid_text
        png_bytes svg_text
    """,
    "oas_compiler.edit": """
        CannotWire Findings Source WirePlan plan_wiring read_source rewritten
    """,
    "oas_compiler.explain": "Explanation explain",
    "oas_compiler.ir": """
        ANY AT_LEAST_ONCE AT_MOST_ONCE AgentCallsNode AgentModelNode AgentNode AgentShortenNode
        AgentTool AgentToolbox ApiNode ArrayType Behind BranchingNode CallRetryPolicy
        CatchExceptionNode ClientToolNode DataEdge EndNode ExtendedLlmNode ExtendedMapNode
        ExtendedParallelMapNode FlowIR FlowNode Gap GateStep InputMessageNode Json JsonValue
        LlmNode MapNode McpListNode McpToolNode McpTransport NOTHING NOTHING_SEALED NO_BEHIND
        Node ObjectType OutputMessageNode ParallelFlowNode ParallelMapNode Path Place
        PluginCatchExceptionNode PluginOutputMessageNode PluginRegexNode PluginRetryNode
        PluginTemplateNode Port RemoteAgentNode RemoteToolNode Route SEALED STRING Scalar
        ScalarType SealedJson StartNode ToolNode Type UnionType UnknownNode find_tool_names
        open_flows walk
    """,
    "oas_compiler.kinds": """
        Field NODE_FIELDS NodeKind Site build_unknown checked_branches common exactly_one
        next_only template_inputs
    """,
    "oas_compiler.lower": "LoweringSite",
    "oas_compiler.rules": "Report RulePack Subject rule",
}
"""Each public path, and its `__all__`."""

OWN_ROOMS = {
    "graphs/context_selection.py": {"cinatra_sdk.context.selector", "cinatra_sdk.context.candidates"},
    "graphs/governed_run.py": {
        "cinatra_sdk.governance.loop.loop_nodes",
        "cinatra_sdk.governance.loop.loop_state",
    },
    "graphs/from_oas.py": {
        "cinatra_sdk.data.text.author_files",
        "cinatra_sdk.data.text.message_words",
        "cinatra_sdk.host_parts.factory",
        "cinatra_sdk.host_parts.host_parts",
        "oas_compiler.text.flow_files",
        "oas_compiler.text.source",
    },
    "graphs/platform.py": {"cinatra_sdk.contract"},
    "graphs/selection_words.py": {"cinatra_sdk.contract"},
}  # fmt: skip
"""Rooms that graphs of ours open although nobody else should: these graphs are a part of the product."""

DEFINED = {
    "context_selection": [
        "Bindings",
        "Input",
        "InsideInput",
        "Object",
        "Output",
        "State",
        "build_graph",
        "context_selection",
        "graph",
    ],
    "governed_run": ["HOST_NODE", "INPUTS", "build", "build_graph", "flow"],
    "from_oas": ["DEFAULT_FLOW", "flow_path", "graph_of", "make_graph"],
    "orchestrator_v1": [
        "AGENT",
        "DRAFTS",
        "GUARDS",
        "INPUTS",
        "Input",
        "NODES",
        "Object",
        "Output",
        "POLICY",
        "RECIPIENTS",
        "SAMPLES",
        "State",
        "build_durable",
        "build_graph",
        "flow",
        "graph",
        "lend",
    ],
    "platform": ["effects_of", "platform_of"],
    "selection_words": [
        "FINALIZED",
        "FINALIZE_URL",
        "GATE",
        "INPUTS",
        "NODES",
        "OF_ONE_CHOICE",
        "PINNED",
        "POLICY",
        "REFS",
        "RESOLVED",
        "RESOLVE_URL",
        "SAMPLES",
        "SAMPLE_REF",
        "STEP",
    ],
}
"""Every module of `graphs`, and the public names that it defines: it has no `__all__`."""


# ------------------------------------------------------------------ the list


def list_exporting_folders() -> set[str]:
    """Every package of ours that has an `__all__`, by its dotted name."""
    return {
        ".".join(path.parent.relative_to(ROOT).parts)
        for package in PACKAGES
        for path in (ROOT / package).rglob("__init__.py")
        if find_all(ast.parse(path.read_text("utf-8"))) is not None
    }


def find_all(tree: ast.Module) -> list[str] | None:
    """The literal `__all__` of a module; None: it has none."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            found: list[str] = ast.literal_eval(node.value)
            return found
    return None


def list_defined_names(path: Path) -> list[str]:
    """The public names that a module itself defines, without those that it imports."""
    names: set[str] = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(target.id for target in targets if isinstance(target, ast.Name))
    return sorted(name for name in names if not name.startswith("_"))


@pytest.mark.parametrize("path", PUBLIC)
def test_a_public_path_exports_these_names(path: str) -> None:
    module = importlib.import_module(path)
    assert sorted(module.__all__) == PUBLIC[path].split()
    for name in module.__all__:
        assert getattr(module, name) is not None
        # Importing the module `path.name` sets the attribute `name` to the module, and hides it.
        assert find_file(f"{path}.{name}") is None
    with pytest.raises(AttributeError, match="no_such_name"):
        module.no_such_name  # noqa: B018 - asks the module for it


def test_every_folder_that_exports_names_is_public() -> None:
    assert list_exporting_folders() == {path for path in PUBLIC if is_folder(path)}


def is_folder(path: str) -> bool:
    found = find_file(path)
    return found is not None and found.name == "__init__.py"


def find_file(path: str) -> Path | None:
    """Of a module or a package, by its dotted name."""
    place = ROOT.joinpath(*path.split("."))
    return next(
        (one for one in (place / "__init__.py", place.with_suffix(".py")) if one.exists()), None
    )


def test_a_name_has_one_public_path_and_may_stand_at_the_top_too() -> None:
    places: dict[str, list[str]] = {}
    for path, names in PUBLIC.items():
        for name in names.split() if not path.startswith("graphs") else ():
            places.setdefault(name, []).append(path)
    for name, paths in places.items():
        things = {id(getattr(importlib.import_module(path), name)) for path in paths}
        assert len(things) == 1, f"{name} means several things: {paths}"
        homes = {*paths} - {"cinatra_sdk", "oas_compiler"}
        # The types of ports are words of both packages: of files, and of graphs.
        assert len(homes) < 2 or homes == {"cinatra_sdk.flow", "oas_compiler.ir"}, name


def test_what_is_imported_on_use_is_what_type_checkers_see() -> None:
    seen = 0
    for path in PUBLIC:
        module = importlib.import_module(path)
        if not hasattr(module, "_LATER"):
            continue
        seen += 1
        top = path.partition(".")[0]
        assert {name: f"{top}.{place}" for name, place in module._LATER.items()} == {
            alias.name: node.module for node in list_typed_imports(path) for alias in node.names
        }
        assert sorted(module._LATER) == sorted(module.__all__) == dir(module)
    assert seen > 10, "the control: there are such modules"


def list_typed_imports(path: str) -> Iterator[ast.ImportFrom]:
    file = find_file(path)
    assert file is not None
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from (one for one in node.body if isinstance(one, ast.ImportFrom))


def test_importing_every_front_loads_no_room_behind_it() -> None:
    fronts = [path for path in PUBLIC if hasattr(importlib.import_module(path), "_LATER")]
    heavy = ("langgraph", "langchain_core", "psycopg", "httpx2", "jsonschema", "pydantic", "typer")
    code = (
        f"import sys, {', '.join(fronts)}; print(sorted({heavy!r} & sys.modules.keys()))".replace(
            repr(heavy), repr(set(heavy))
        )
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_error_of_the_tree_stands_at_the_top() -> None:
    defined = set(list_defined_names(ROOT / "cinatra_sdk" / "errors.py"))
    errors = {*PUBLIC["cinatra_sdk.errors"].split()}
    assert defined - errors == {"ChosenArtifact"}, "a protocol, which nobody catches"
    assert errors <= {*PUBLIC["cinatra_sdk"].split()}
    assert {"ChoiceGone", "EffectUnknown", "FenceLost", "ForkRefused"} <= errors


def test_the_version_is_that_of_the_distribution() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert cinatra_sdk.__version__ == project["version"]


def test_a_gate_is_imported_as_the_agent_guide_writes_it() -> None:
    from cinatra_sdk import hitl

    assert hitl.build_hitl_gate is cinatra_sdk.build_hitl_gate


def test_the_graphs_define_these_names() -> None:
    found = {
        path.stem: list_defined_names(path)
        for path in sorted((ROOT / "graphs").glob("*.py"))
        if path.stem != "__init__"
    }
    assert found == DEFINED


# ------------------------------------------------------------------ who imports from it

IMPORT = re.compile(
    r"^[ \t>]*from[ \t]+((?:cinatra_sdk|oas_compiler|graphs)[\w.]*)[ \t]+import[ \t]+"
    r"(\([^)]*\)|[^\n(]+)",
    re.MULTILINE,
)
WHOLE = re.compile(r"^[ \t>]*import[ \t]+((?:cinatra_sdk|oas_compiler|graphs)[\w.]*)", re.MULTILINE)
MENTION = re.compile(r"`((?:cinatra_sdk|oas_compiler|graphs)\.[\w.]+)[^`\n]*`")
ON_THE_INSIDE = {"architecture.md", "decisions.md"}
"""Pages about how the house is built, not about what it offers."""


def list_imports(text: str) -> Iterator[tuple[str, str]]:
    """Path and name of every import of ours, also in programs that are abridged; `""`: the path alone."""
    for path in WHOLE.findall(text):
        yield path, ""
    for path, names in IMPORT.findall(text):
        for name in re.sub(r"#.*", "", names).strip("() \n").split(","):
            if name.strip():
                yield path, name.split()[0]


def find_foreign(text: str, rooms: frozenset[str] | set[str] = frozenset()) -> list[str]:
    """What the text imports of ours from another place than the public one."""
    found = []
    for path, name in list_imports(text):
        top = path.partition(".")[0]
        public = PUBLIC.get(path, "").split()
        if path in rooms or f"{path}.{name}" in PUBLIC or (path in PUBLIC and not name):
            continue
        if name not in public:
            found.append(f"{path}.{name}".rstrip("."))
        elif path not in {top, "cinatra_sdk.hitl"} and name in PUBLIC.get(top, "").split():
            found.append(f"{path}.{name}: it stands at the top")
    return sorted(found)


def list_texts() -> list[Path]:
    """What users read and copy; the packages of others below the examples are theirs."""
    found = [ROOT / "README.md"]
    for folder in ("docs", "examples"):
        found += [*(ROOT / folder).rglob("*.md"), *(ROOT / folder).rglob("*.py")]
    return sorted(path for path in found if path.name not in ON_THE_INSIDE)


@pytest.mark.parametrize("text", list_texts(), ids=lambda path: str(path.relative_to(ROOT)))
def test_what_users_read_imports_from_public_paths_alone(text: Path) -> None:
    said = text.read_text("utf-8")
    assert find_foreign(said) == []
    if text.suffix == ".md":
        assert [one for one in MENTION.findall(said) if not is_public(one)] == []


def is_public(mention: str) -> bool:
    """A public path, or a name of one, or what that name has."""
    words = mention.rstrip(".").split(".")
    for cut in range(len(words), 0, -1):
        path = ".".join(words[:cut])
        if path in PUBLIC:
            return cut == len(words) or words[cut] in PUBLIC[path].split()
    return mention == "cinatra_sdk.__version__"


@pytest.mark.parametrize("path", sorted((ROOT / "graphs").glob("*.py")), ids=lambda path: path.stem)
def test_our_graphs_import_from_public_paths_but_for_their_own_rooms(path: Path) -> None:
    rooms = OWN_ROOMS.get(f"graphs/{path.name}", set())
    # These two are parts of the graphs beside them.
    assert (
        find_foreign(path.read_text("utf-8"), rooms | {"graphs.platform", "graphs.selection_words"})
        == []
    )


def test_another_path_is_noticed() -> None:
    assert find_foreign("from cinatra_sdk.gates.hitl import build_hitl_gate\n") == [
        "cinatra_sdk.gates.hitl.build_hitl_gate"
    ]
    assert find_foreign(
        "    from cinatra_sdk.store import (\n    Database,  # …\n    rows,\n)\n"
    ) == ["cinatra_sdk.store.rows"]
    assert find_foreign("from cinatra_sdk.platform import HttpPlatform\n") == [
        "cinatra_sdk.platform.HttpPlatform: it stands at the top"
    ]
    assert find_foreign("import cinatra_sdk.data\nfrom cinatra_sdk import Run, testing\n…") == [
        "cinatra_sdk.data"
    ]
    assert not is_public("cinatra_sdk.gates.gate.Gate")
    assert not is_public("cinatra_sdk.store.database")
    assert is_public("cinatra_sdk.store.RunStore.open")


def test_the_page_of_the_python_api_lists_every_public_path() -> None:
    page = (ROOT / "docs" / "python-api.md").read_text("utf-8")
    table = page.partition("## Import paths")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^\| `([\w.]+)` \|", table, re.MULTILINE)) == sorted(PUBLIC)


def test_messages_name_public_paths_alone() -> None:
    """A hint that names a room sends its reader to a place that the next move takes away."""
    path = re.compile(
        r"""["'](?=[^"'\n]* )[^"'\n]*\b((?:cinatra_sdk|oas_compiler|graphs)\.[\w.]+)"""
    )
    found = [
        f"{file.relative_to(ROOT)}: {one}"
        for package in PACKAGES
        for file in sorted((ROOT / package).rglob("*.py"))
        for one in path.findall(without_docstrings(file.read_text("utf-8")))
        if not is_public(one)
    ]
    assert found == []
    assert path.findall('hint="see cinatra_sdk.langgraph_threads.x"') == [
        "cinatra_sdk.langgraph_threads.x"
    ], "the control"


def without_docstrings(text: str) -> str:
    """Without texts in three quotes, which are for whoever changes the house, and without comments."""
    return re.sub(r'""".*?"""|#[^\n]*', "", text, flags=re.DOTALL)


# ------------------------------------------------------------------ emitted modules

PLANS = {
    "FlowPlan",
    "NodePlan",
    "PlannedFeed",
    "PlannedRoute",
    "ScalarType",
    "TypedPort",
    "TellsErrors",
}
"""What the calls of `FlowGraph` and `port` make, constants, and a base: no module writes them."""


def list_records() -> set[str]:
    """Every record that a node of an emitted module can be made of, by the types of its fields."""
    for package in ("cinatra_sdk.flow.nodes", "cinatra_sdk.agents"):
        for module in pkgutil.iter_modules(importlib.import_module(package).__path__):
            importlib.import_module(f"{package}.{module.name}")
    waiting: list[Any] = list_subclasses(NodeWork)
    found: dict[str, type] = {}
    while waiting:
        kind = waiting.pop()
        waiting += typing.get_args(kind)
        if not isinstance(kind, type) or not dataclasses.is_dataclass(kind):
            continue
        if kind.__name__ in found or not kind.__module__.startswith("cinatra_sdk."):
            continue
        found[kind.__name__] = kind
        if kind.__name__ not in PLANS and kind.__module__ != "cinatra_sdk.data.ports":
            waiting += typing.get_type_hints(kind).values()
    return {*found} - PLANS


def list_subclasses(kind: type) -> list[type]:
    own: list[type] = kind.__subclasses__()
    return own + [found for one in own for found in list_subclasses(one)]


def test_every_record_of_an_emitted_module_has_the_public_path() -> None:
    records = list_records()
    assert {"HumanGate", "McpWay", "OfferedToolbox", "RemoteAgentWay"} <= records, "the control"
    assert records <= {*PUBLIC["cinatra_sdk.flow"].split()}


@pytest.mark.parametrize(
    "agent", ["newsletter-agent", "tools-agent", "complaint-agent", "shop-desk"]
)
def test_an_emitted_module_imports_from_public_paths_alone(agent: str) -> None:
    text = emit_module(compile_whole(ROOT / "examples" / agent)).text
    paths = {path for path, _ in list_imports(text)}
    assert paths == {"cinatra_sdk", "cinatra_sdk.flow"}
    assert find_foreign(text) == []
