"""The version of Agent Spec that introduced each component type and field.

    missing_features({"component_type": "CatchExceptionNode", …}, (26, 1, 0))
        ->  "CatchExceptionNode" is there since "26.1.2"

Compared as numbers, never by a list of versions: "26.2.0" has everything that "26.1.2" has.
What was published in 26.1.0 counts since its drafts, which say "25.4.2".
Source: Agent Spec, changes between versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from oas_compiler.ir import JsonValue
from oas_compiler.kinds.kind import DRAFT, Version
from oas_compiler.kinds.registry import find_kind

_2612: Final = (26, 1, 2)
_2631: Final = (26, 3, 1)

_TYPES: Final[Mapping[str, Version]] = {
    **dict.fromkeys(
        (
            "A2AAgent",
            "A2AConnectionConfig",
            "AgentSpecializationParameters",
            "BuiltinTool",
            "MCPToolBox",
            "MCPToolSpec",
            "ManagerWorkers",
            "SpecializedAgent",
            "Swarm",
        ),
        DRAFT,
    ),
    **dict.fromkeys(
        (
            "ConversationSummarizationTransform",
            "GeminiAIStudioAuthConfig",
            "GeminiConfig",
            "GeminiVertexAIAuthConfig",
            "InMemoryCollectionDatastore",
            "LlmConfig",
            "MTlsOracleDatabaseConnectionConfig",
            "MessageSummarizationTransform",
            "OAuthClientConfig",
            "OAuthConfig",
            "OracleDatabaseDatastore",
            "PKCEPolicy",
            "PostgresDatabaseDatastore",
            "RetryPolicy",
            "TlsOracleDatabaseConnectionConfig",
            "TlsPostgresDatabaseConnectionConfig",
        ),
        _2612,
    ),
    "DbmsVectorChainLlmConfig": _2631,
}
"""Of components that are no nodes; those of Agent Spec's first version are left out."""


def _is_used(value: JsonValue) -> bool:
    """Whether a field says anything; SDKs write out what is empty."""
    return value is not None and value is not False and value not in ([], {}, "")


def _is_off(value: JsonValue) -> bool:
    return value is False


def _is_structured(value: JsonValue) -> bool:
    """Whether outputs of an LlmNode ask for more than one text."""
    if not isinstance(value, list) or not value:
        return False
    first = value[0]
    return len(value) > 1 or (isinstance(first, dict) and first.get("type", "string") != "string")


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    since: Version
    types: frozenset[str] = frozenset()
    """Component types that it is new for; empty for all."""
    counts: Callable[[JsonValue], bool] = _is_used


_MCP: Final = frozenset({"MCPTool", "MCPToolBox"})
_FIELDS: Final = (
    _Field("sensitive_headers", DRAFT),
    _Field("requires_confirmation", _2612, frozenset({"MCPToolBox"})),
    _Field("requires_confirmation", DRAFT),
    _Field("toolboxes", DRAFT, frozenset({"Agent"})),
    _Field("human_in_the_loop", DRAFT, frozenset({"Agent"}), _is_off),
    _Field("outputs", DRAFT, frozenset({"LlmNode"}), _is_structured),
    _Field("transforms", _2612, frozenset({"Agent"})),
    _Field("url_allow_list", _2612),
    _Field("retry_policy", _2631, _MCP),
    _Field("retry_policy", _2612),
)
"""Of several for one name the first that fits the component decides."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A type or field that a component uses but the declared version lacks."""

    what: str
    field: str
    """Its field; `component_type` when it is the component itself."""
    since: Version


def missing_features(component: Mapping[str, JsonValue], version: Version) -> Iterator[Missing]:
    """The types and fields that `component` uses but `version` lacks."""
    kind = component.get("component_type")
    if not isinstance(kind, str):
        return
    known = find_kind(kind) if kind not in _TYPES else None
    since = known.since if known is not None else _TYPES.get(kind)
    if since is not None and since > version:
        yield Missing(kind, "component_type", since)
        return
    seen: set[str] = set()
    for field in _FIELDS:
        if field.name not in component or field.name in seen:
            continue
        if field.types and kind not in field.types:
            continue
        seen.add(field.name)
        if field.since > version and field.counts(component[field.name]):
            yield Missing(f"{field.name} of {_add_article(kind)}", field.name, field.since)


def published(version: Version) -> str:
    """The version to write; a draft is named by its published version."""
    return "26.1.0" if version == DRAFT else ".".join(map(str, version))


def _add_article(kind: str) -> str:
    return f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind[:80]}" if kind else "a component"
