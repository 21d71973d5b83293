"""One finding for everything in a document that would run but cannot yet.

In: a `Document`.  Out: at most one OAS090 that lists type, id and line of every such component.

    an LlmNode and an AgentNode    ->  OAS090 not supported yet: LlmNode "ask" (line 12), AgentNode …
    a root that is an Agent        ->  OAS090 not supported yet: Agent "helper" (line 1)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from oas_compiler.document.scope import DEFINITIONS, Document, Located
from oas_compiler.document.spec import KNOWN_TYPES, NODE_TYPES, UNSUPPORTED_RUNNERS, is_plugin_type
from oas_compiler.document.survey import is_component
from oas_compiler.ir import FlowIR, JsonValue, Node, Place
from oas_compiler.text.marks import child

_API_FIELDS = ("retry_policy", "sensitive_headers", "url_allow_list", "json_spec_filter")
"""Fields of an ApiNode whose promise would be broken if they were ignored."""


_CURE = (
    "write an ApiNode, a ToolNode over a ServerTool or a FlowNode in its place; "
    "`check` still looks at the rest of the flow"
)


def refuse_unsupported(document: Document) -> None:
    """Report what the root leads to and no part of this compiler can run."""
    if document.root is None:
        return
    listed: list[tuple[Place, str]] = []
    for found in _reachable(document, document.root):
        for label in _labels(found, is_root=found.pointer == document.root.pointer):
            place = document.source.place(found.pointer)
            line = f" (line {place.line})" if place.line else ""
            listed.append((place, f"{label}{line}"))
    if listed:
        listed.sort(key=lambda entry: (entry[0].line, entry[0].column))
        names = ", ".join(label for _, label in listed)
        document.findings.error("OAS090", f"not supported yet: {names}", listed[0][0], hint=_CURE)


def _reachable(document: Document, root: Located) -> Iterator[Located]:
    """Every component that the root uses, itself first, each once."""
    waiting = [root]
    seen: set[str] = set()
    while waiting:
        found = document.locate(waiting.pop())
        if found is None or found.pointer in seen:
            continue
        seen.add(found.pointer)
        found = document.enter(found)
        if found.component_type:
            yield found
        waiting.extend(_members(found))


def _members(found: Located) -> Iterator[Located]:
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


def _labels(found: Located, *, is_root: bool) -> Iterator[str]:
    kind, value = found.component_type, found.value
    assert isinstance(value, dict)
    name = _text(value.get("id")) or _text(value.get("name"))
    label = f'{kind} "{name}"' if name else kind
    foreign = kind not in KNOWN_TYPES and (is_plugin_type(kind) or "component_plugin_name" in value)
    known_root = is_root and kind in KNOWN_TYPES and kind != "Flow"
    if kind in UNSUPPORTED_RUNNERS or foreign or known_root:
        yield label
    elif kind == "ServerTool" and value.get("requires_confirmation") is True:
        yield f"{label} with requires_confirmation"
    elif kind == "ApiNode":
        for field in _API_FIELDS:
            if value.get(field):
                yield f"{label} with {field}"
    elif kind in NODE_TYPES:
        for field in ("input_mapping", "output_mapping"):
            if kind.startswith("Plugin") and not _is_identity(value.get(field)):
                yield f"{label} with {field}"


def _is_identity(mapping: JsonValue) -> bool:
    """Whether a mapping of names renames nothing."""
    return not isinstance(mapping, dict) or all(key == name for key, name in mapping.items())


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnsupportedNode(Node):
    """Stands for a node that cannot be built, so that the rest of its flow can be checked.

    Never lowered: the finding that put it here is an error.
    """

    inferred: bool = False
    """Whether ports and branches are those that the node would have, and not just declared ones."""
    subflows: tuple[FlowIR, ...] = ()
    """The flows that it would run; empty where they are not known."""
