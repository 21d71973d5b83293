"""The error for a component that stands where another type is wanted.

a Flow among the edges   ->  OAS014 "an entry of data_flow_connections must be a DataFlowEdge, …"
{"component_ref": "x"}   ->  OAS014, with the fix to `$component_ref`
"""

from __future__ import annotations

from typing import Final

from cinatra_sdk.text.spelling import did_you_mean
from cinatra_sdk.values.references import REFERENCE
from oas_compiler.component.component import with_article
from oas_compiler.document.scope import DEFINITIONS, Document, Located
from oas_compiler.document.types import is_known, is_plugin_type
from oas_compiler.findings.finding import Edit
from oas_compiler.text.marks import child

_EDGE_LISTS: Final = {
    "ControlFlowEdge": "control_flow_connections",
    "DataFlowEdge": "data_flow_connections",
}


def report_wrong_type(
    document: Document, pointer: str, what: str, wanted: str, found: Located, *, edge: str = ""
) -> None:
    """Record the error at `pointer`; `edge`: the type of the list's edges, where it is such a list."""
    kind = found.component_type
    if kind and not is_plugin_type(kind) and not is_known(kind):
        return  # OAS026 says so
    slip = "" if edge or kind else _misspelt_reference(found)
    document.findings.error(
        "OAS014",
        f"{what} must be {wanted}, not {with_article(kind) if kind else 'a plain object'}",
        document.source.place(pointer),
        hint=_format_correction(found, edge),
        fix=(Edit(pointer=child(found.pointer, slip), key=REFERENCE),) if slip else (),
    )


def _format_correction(found: Located, edge: str) -> str:
    """How a component of the wrong kind, or none, is written rightly."""
    value = found.value if isinstance(found.value, dict) else {}
    if edge:
        fitting = _EDGE_LISTS.get(found.component_type)
        moved = f", or move it to {fitting}" if fitting else ""
        return f'write "component_type": "{edge}"{moved}'
    slip = _misspelt_reference(found)
    if slip:
        return f'write {{"$component_ref": "{str(value[slip])[:80]}"}}'
    if not found.component_type:
        return 'name a node: {"$component_ref": "…"}'
    return "refer to a component of that kind"


def _misspelt_reference(found: Located) -> str:
    """The only key of an object that is no component, where it was meant to be `$component_ref`."""
    value = found.value if isinstance(found.value, dict) else {}
    if found.component_type or len(value) != 1:
        return ""
    key, name = next(iter(value.items()))
    is_slip = isinstance(name, str) and (key == "$ref" or did_you_mean(key, [REFERENCE]))
    return key if is_slip else ""


def report_no_component(document: Document, root: Located) -> None:
    """The document itself is no component; it may be one of components for other documents."""
    message = "the document is not an Agent Spec component: it has no component_type"
    hint = 'a flow begins with "component_type": "Flow"'
    if isinstance(root.value, dict) and DEFINITIONS in root.value:
        message = "the document has components for other documents, and no component of its own"
        hint = "give it with the flow that refers to them: components=, --components FILE"
    document.findings.error("OAS020", message, document.source.place(root.pointer), hint=hint)
