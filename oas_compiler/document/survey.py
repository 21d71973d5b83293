"""Findings about a document that need no flow: names, versions and types of its components.

In: a `Document`.  Out: findings about every component of the file, used or not.

    {"component_type": "StartNod", …}        ->  OAS026 did you mean "StartNode"?
    {"component_type": "FooNode", …}         ->  OAS055 the package that adds it is broken
    {"agentspec_version": "20.99.99", …}     ->  OAS025
    {"agentspec_version": "27.1.0", …}       ->  OAS019 newer than what is known here
    {"air_version": "25.3.1", …}             ->  read as "25.4.1"
    a CatchExceptionNode in a "26.1.0" file  ->  OAS032
    two components with one id that differ   ->  OAS017 (in a Cinatra file every flow has its own ids)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.document.component_types import is_known, is_plugin_type, known_types
from oas_compiler.document.scope import DEFINITIONS, Document, Located, is_reference
from oas_compiler.findings.finding import nearest
from oas_compiler.ir import JsonValue
from oas_compiler.kinds.kind import DRAFT, Version
from oas_compiler.kinds.registry import find_kind, find_refusal
from oas_compiler.text.marks import child

# ----------------------------------------------------------------------------
# The version of Agent Spec that introduced each component type and field.
#
#     missing_features({"component_type": "CatchExceptionNode", …}, (26, 1, 0))
#         ->  "CatchExceptionNode" is there since "26.1.2"
#
# Compared as numbers, never by a list of versions: "26.2.0" has everything that "26.1.2" has.
# What was published in 26.1.0 counts since its drafts, which say "25.4.2".
# Source: Agent Spec, changes between versions.


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


OLDEST = (25, 4, 1)
NEWEST = (26, 4)
"""Versions of Agent Spec that are known: from OLDEST up to, not including, NEWEST.  A newer one is
read with a warning.
"""
_LEGACY = ((25, 3), (25, 4, 0))
"""How versions before the first one begin; their files are read as files of the first."""
_OLD_NAME = "air_version"
"""The key of the version in files of the first."""

_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?")


def survey(document: Document) -> None:
    """Report what is wrong with components as such, wherever they stand."""
    version = _document_version(document)
    numbers = None if _is_foreign(document) else _parse_version(version)
    waiting = [document.top]
    blocks: dict[str, str] = {}
    ids: dict[str, Located] = {}
    while waiting:
        found = document.enter(waiting.pop())
        value = found.value
        if isinstance(value, list):
            waiting.extend(reversed(list(_iterate_elements(found))))
            continue
        if not isinstance(value, dict):
            continue
        if is_reference(value):
            document.locate(found)
        elif "component_type" in value:
            _check_type(document, found)
            if numbers is not None:
                _check_features(document, found, numbers)
            if not document.is_cinatra:
                _check_ids(document, found, ids)
        if "agentspec_version" in value and found.pointer:
            _check_nested_version(document, found, version)
        waiting.extend(reversed(list(_iterate_members(found))))
        if not document.is_cinatra:
            _check_names(document, found, blocks)


def _is_foreign(document: Document) -> bool:
    """Whether another runtime wrote the file: for its own types it gives the first version."""
    root = document.root.value if document.root is not None else None
    return isinstance(root, dict) and "component_plugin_name" in root


def _iterate_elements(found: Located) -> Iterator[Located]:
    assert isinstance(found.value, list)
    for index, element in enumerate(found.value):
        if isinstance(element, (dict, list)):
            yield Located(element, f"{found.pointer}/{index}", found.scope)


def _iterate_members(found: Located) -> Iterator[Located]:
    """Fields that may be or hold components, and the definitions of a block.

    `metadata` and plain objects (request bodies, defaults, schemas) are the author's own:
    nothing in them is a reference.
    """
    assert isinstance(found.value, dict)
    for name, member in found.value.items():
        pointer = child(found.pointer, name)
        if name == DEFINITIONS and isinstance(member, dict):
            for key, definition in member.items():
                yield Located(definition, child(pointer, key), found.scope)
        elif name in {"metadata", "inputs", "outputs", "branches", "default"}:
            continue
        elif isinstance(member, list) or is_component(member):
            yield Located(member, pointer, found.scope)


def is_component(value: JsonValue) -> bool:
    return isinstance(value, dict) and ("component_type" in value or is_reference(value))


def _check_type(document: Document, found: Located) -> None:
    kind = found.component_type
    assert isinstance(found.value, dict)
    if not kind or is_known(kind):
        return
    place = document.source.place(f"{found.pointer}/component_type")
    refusal = find_refusal(kind)
    if refusal is not None:
        document.findings.error("OAS055", refusal.message, place, hint=refusal.hint)
    elif "component_plugin_name" not in found.value and not is_plugin_type(kind):
        document.findings.error(
            "OAS026",
            f'"{kind}" is not a component type of Agent Spec',
            place,
            hint=nearest(kind, known_types(), document.findings),
        )


def _check_names(document: Document, found: Located, blocks: dict[str, str]) -> None:
    block = found.value.get(DEFINITIONS) if isinstance(found.value, dict) else None
    if not isinstance(block, dict):
        return
    for name in block:
        pointer = child(f"{found.pointer}/{DEFINITIONS}", name)
        first = blocks.setdefault(name, pointer)
        if first != pointer:
            line = document.source.place(first).line
            document.findings.error(
                "OAS012",
                f'"{name}" is defined twice in this document'
                + (f", first at line {line}" if line else ""),
                document.source.place(pointer),
                hint="give one of the two another name, or refer to the first",
            )


def _check_ids(document: Document, found: Located, ids: dict[str, Located]) -> None:
    """Agent Spec: what is used twice is a reference, so one id is one component.

    Copies that say the same are let through, as SDKs write them.
    """
    assert isinstance(found.value, dict)
    name = found.value.get("id")
    if not isinstance(name, str) or not name:
        return
    first = ids.setdefault(name, found)
    # two definitions under one name are OAS012's
    if first.value != found.value and _read_entry_name(first) != _read_entry_name(found):
        line = document.source.place(first.pointer).line
        document.findings.error(
            "OAS017",
            f'two different components have the id "{name[:80]}"'
            + (f", the first at line {line}" if line else ""),
            document.source.place(f"{found.pointer}/id"),
            hint="give one of the two another id, or refer to the first",
        )


def _read_entry_name(found: Located) -> str:
    """The name under which something is defined in a block; its pointer when it is not."""
    above, _, name = found.pointer.rpartition("/")
    return name if above.endswith(f"/{DEFINITIONS}") else found.pointer


def _check_features(document: Document, found: Located, version: Version) -> None:
    assert isinstance(found.value, dict)
    for missing in missing_features(found.value, version):
        since = published(missing.since)
        document.findings.error(
            "OAS032",
            f'{missing.what} exists since Agent Spec "{since}", the document is written for '
            f'"{".".join(map(str, version))}"',
            document.source.place(f"{found.pointer}/{missing.field}"),
            hint=f'write "agentspec_version": "{since}", or do without it',
        )


def _parse_version(version: str | None) -> Version | None:
    match = _VERSION.fullmatch(version) if version is not None else None
    if match is None:
        return None
    major, minor, patch = (int(part or 0) for part in match.groups())
    return max((major, minor, patch), OLDEST)


def _document_version(document: Document) -> str | None:
    """The version the file claims, after checking it."""
    claimed: str | None = None
    for located in (document.top, document.root):
        value = located.value if located is not None else None
        if located is None or not isinstance(value, dict):
            continue
        key = next((key for key in ("agentspec_version", _OLD_NAME) if key in value), "")
        if not key:
            continue
        version = value[key]
        if located is document.root and located is not document.top and located.pointer:
            continue  # met again, and compared, by the walk
        if _is_readable(document, version, f"{located.pointer}/{key}"):
            claimed = str(version)
        break
    return claimed


def _check_nested_version(document: Document, found: Located, outer: str | None) -> None:
    assert isinstance(found.value, dict)
    version = found.value["agentspec_version"]
    pointer = f"{found.pointer}/agentspec_version"
    if _is_readable(document, version, pointer) and outer is not None and version != outer:
        document.findings.error(
            "OAS025",
            f'this component is written for Agent Spec "{version}", the document for "{outer}"',
            document.source.place(pointer),
            hint="one document has one version: remove this one",
        )


def _is_readable(document: Document, version: JsonValue, pointer: str) -> bool:
    if version is None:
        return False
    match = _VERSION.fullmatch(version) if isinstance(version, str) else None
    numbers = tuple(int(part or 0) for part in match.groups()) if match else ()
    if numbers >= NEWEST:
        document.findings.warning(
            "OAS019",
            f'Agent Spec version "{version}" is newer than what is known here; what it adds is unknown',
            document.source.place(pointer),
            hint="update oasflow where the file uses what that version adds",
        )
        return True
    if numbers >= OLDEST or numbers[:2] == _LEGACY[0] or numbers == _LEGACY[1]:
        return True
    hint = 'versions from "25.4.1" on are read'
    problem = f'Agent Spec version "{version}" is not known here'
    if not isinstance(version, str):
        problem = "agentspec_version is not a string"
        hint = f'quote it and write all its parts, such as "26.1.0"; {hint}'
    document.findings.error("OAS025", problem, document.source.place(pointer), hint=hint)
    return False


# ----------------------------------------------------------------------------
# The components that a document uses: everything that its root leads to.
#
# root Flow -> nodes, edges, subflows, tools, agents, models, each once
# a definition that no reference names      ->  not among them


def list_used(document: Document) -> Iterator[Located]:
    """Every component that the root uses, itself first, each once."""
    waiting = [document.root] if document.root is not None else []
    seen: set[str] = set()
    while waiting:
        found = document.locate(waiting.pop())
        if found is None or found.pointer in seen:
            continue
        seen.add(found.pointer)
        found = document.enter(found)
        if found.component_type:
            yield found
        waiting.extend(_list_members(found))


def _list_members(found: Located) -> Iterator[Located]:
    if isinstance(found.value, list):
        for index, element in enumerate(found.value):
            if isinstance(element, list) or is_component(element):
                yield Located(element, f"{found.pointer}/{index}", found.scope)
    elif isinstance(found.value, dict):
        for name, member in found.value.items():
            if name in {"metadata", DEFINITIONS}:
                continue
            if isinstance(member, list) or is_component(member):
                yield Located(member, child(found.pointer, name), found.scope)
