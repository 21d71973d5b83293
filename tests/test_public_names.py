"""The public names of the SDK and of the graphs, pinned literally: a change of one shows here."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

EXPORTED = {
    "cinatra_sdk": [
        "AnswerInvalid",
        "ContextMismatch",
        "Decision",
        "EngineUnsupported",
        "FlowChanged",
        "FlowError",
        "Gate",
        "GateClosed",
        "GovernedState",
        "HostContext",
        "HostParts",
        "HttpPlatform",
        "InputInvalid",
        "KindRefused",
        "LimitExceeded",
        "NodeFailed",
        "NotConfigured",
        "PlaceholderRefused",
        "Platform",
        "PlatformError",
        "PolicyInvalid",
        "Run",
        "RunBusy",
        "RunEnded",
        "RunNotCompleted",
        "RunNotFound",
        "RunStore",
        "SimulatedPlatform",
        "StoreError",
        "ValueRefused",
        "build_hitl_gate",
        "graph_flow",
        "host_context",
    ],
    "cinatra_sdk.attachments": [
        "AnswerRule",
        "AsyncAttachmentPorts",
        "AttachedMessages",
        "AttachmentPorts",
        "AttachmentRef",
        "AttachmentRefInvalid",
        "BridgeCall",
        "CachedFile",
        "CapabilityRule",
        "ChatTurn",
        "FilePart",
        "MAX_REFS",
        "NO_PORTS",
        "NotReadable",
        "PreparedTurn",
        "PreparedTurns",
        "RULES",
        "Resolved",
        "ResumedAnswer",
        "UnreadableFile",
        "UserEnvelope",
        "UserEnvelopeInvalid",
        "aattach_files",
        "aprepare_turns",
        "aresolve_attachments",
        "attach_files",
        "find_answer_rules",
        "find_capability",
        "find_provider",
        "join_blocks",
        "list_betas",
        "model_arguments",
        "place_manifest",
        "prepare_turns",
        "read_ref",
        "read_refs",
        "read_resume",
        "read_user_envelope",
        "resolve_attachments",
        "strip_resolved",
        "wrap_answer",
        "wrap_resume",
        "write_blocks",
        "write_content",
        "write_file_blocks",
        "write_manifest",
    ],
    "cinatra_sdk.host.bridge": [
        "BridgeTool",
        "LlmBridge",
        "Offer",
        "OfferedModel",
        "ScriptFile",
        "Toolbox",
    ],
    "cinatra_sdk.context": [
        "Actor",
        "AgentContextSlot",
        "ContextError",
        "ContextResolution",
        "ContextSelection",
        "ExtensionRegistry",
        "InstalledExtensions",
        "PinnedTriple",
        "ResolvedContextRef",
        "expanded",
        "read_slots",
        "slot_named",
    ],
    "cinatra_sdk.outside.effects": [
        "Begun",
        "Differs",
        "Door",
        "Effect",
        "EffectFailure",
        "EffectNews",
        "EffectResult",
        "Entry",
        "Ledger",
        "MemoryLedger",
        "Stored",
        "Unknown",
        "Usage",
        "Verdict",
        "aadmit",
        "admit",
        "aperform",
        "current_key",
        "key_at",
        "perform",
        "read_failure",
    ],
    "cinatra_sdk.first_turn": [
        "FirstTurn",
        "ImageNotFound",
        "first_turn_text",
        "make_tools",
        "read_context",
        "read_full_notes",
        "to_json",
    ],
    "cinatra_sdk.host": [
        "BearerIdentity",
        "FixedRuns",
        "LocalPlatform",
        "LocalSettings",
        "ParentSelection",
        "RunDirectory",
        "RunScope",
        "StoredRuns",
        "context_resolve",
        "local_app",
        "read_context_file",
        "standalone",
    ],
    "cinatra_sdk.outside.models": [
        "ModelConfig",
        "ModelUsage",
        "Models",
        "NodeUsage",
        "RecordingModel",
        "ReplayingModel",
        "ScriptedModel",
        "ScriptedReply",
        "connect_model",
    ],
    "cinatra_sdk.outside.models.uploads": [
        "AnthropicFiles",
        "FileToUpload",
        "GeminiFiles",
        "OpenAiFiles",
        "ProviderFiles",
        "UploadFailed",
        "open_provider_files",
    ],
    "cinatra_sdk.host.passthrough": ["ChildAgents", "NamedCall", "NamedTool", "Passthrough"],
    "cinatra_sdk.outside.platform": [
        "BASE_URL_PLACEHOLDER",
        "Credentials",
        "DeclaredOutput",
        "HttpPlatform",
        "KeepsArtifacts",
        "Platform",
        "PlatformCall",
        "PlatformError",
        "PlatformOutputError",
        "PlatformRefused",
        "PlatformResponseError",
        "PlatformUnreachable",
        "RecordedCall",
        "SimulatedPlatform",
        "StubError",
        "WrappedPlatform",
        "declared_outputs",
        "platform_from",
    ],
    "cinatra_sdk.outside.remote": ["RemoteBounds"],
    "cinatra_sdk.outside.routes": [
        "Handler",
        "RouteCall",
        "RouteError",
        "RoutedPlatform",
        "RunOwner",
    ],
    "cinatra_sdk.store": ["RunStore"],
    "cinatra_sdk.testing": [
        "AnswerLike",
        "Answers",
        "DrivableFlow",
        "RememberedUploads",
        "Result",
        "adrive",
        "drive",
        "sampled_inputs",
        "simulation",
    ],
}
"""Every folder of the SDK with an `__all__`, and the names in it."""

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


def list_exporting_folders() -> list[str]:
    """Every package of the SDK that has an `__all__`, by its dotted name."""
    packages = [
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in sorted((ROOT / "cinatra_sdk").rglob("__init__.py"))
    ]
    return [name for name in packages if hasattr(importlib.import_module(name), "__all__")]


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


def test_these_folders_of_the_sdk_export_names():
    assert list_exporting_folders() == sorted(EXPORTED)


@pytest.mark.parametrize("package", EXPORTED)
def test_a_folder_of_the_sdk_exports_these_names(package: str):
    module = importlib.import_module(package)
    assert sorted(module.__all__) == EXPORTED[package]
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_the_sdk_imports_late_exactly_what_it_exports():
    import cinatra_sdk

    assert sorted(cinatra_sdk._LATER) == sorted(cinatra_sdk.__all__)


def test_a_gate_is_imported_as_the_agent_guide_writes_it():
    import cinatra_sdk
    from cinatra_sdk import hitl

    assert hitl.__all__ == ["build_hitl_gate"]
    assert hitl.build_hitl_gate is cinatra_sdk.build_hitl_gate


def test_the_graphs_define_these_names():
    found = {
        path.stem: list_defined_names(path)
        for path in sorted((ROOT / "graphs").glob("*.py"))
        if path.stem != "__init__"
    }
    assert found == DEFINED
