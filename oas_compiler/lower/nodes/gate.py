"""InputMessageNode: a gate.

The compiler adds the policy step, the values to show, the limit of visits, and the next node after
an approval.
"""

from __future__ import annotations

from cinatra_sdk.flow.nodes.gate import HumanGate
from oas_compiler.control.gates import is_selector
from oas_compiler.control.questions import asks_question, is_read
from oas_compiler.control.shown import shown_at
from oas_compiler.ir import InputMessageNode, Json
from oas_compiler.lower.registry import PlanSite
from oas_compiler.lower.reopening import leading_back_to


def lower_gate(site: PlanSite) -> HumanGate:
    node = site.node
    assert isinstance(node, InputMessageNode)
    spec = site.approval.gate(site.path)
    return HumanGate(
        step=spec.step,
        name=spec.name,
        renderer=spec.renderer,
        risk_class=spec.risk_class,
        description=spec.description or _read_description(node),
        message=node.message,
        schema=node.answer_schema,
        document=_find_document_schema(node),
        is_question=asks_question(site.flow, node, spec),
        is_unread=not (is_read(site.flow, node) or site.is_heard or is_selector(spec.renderer)),
        shows=tuple(shown_at(site.flow, node.id)),
        again=leading_back_to(site.flow, node.id),
        max_visits=node.max_visits,
    )


def _read_description(node: InputMessageNode) -> str:
    """The `description` of the node's `metadata.cinatra`; empty where it has none."""
    value = node.cinatra.mapping().get("description")
    return value if isinstance(value, str) else ""


def _find_document_schema(node: InputMessageNode) -> Json | None:
    """The schema of the document that a text output carries, where the author gave one."""
    schema = node.answer_schema.mapping() if node.answer_schema is not None else {}
    inner = node.cinatra.mapping().get("formSchema")
    if schema.get("x-envelope") == "json-string":
        shape = schema.get("x-envelope-shape")
        inner = {"type": "object", "properties": shape} if isinstance(shape, dict) else inner
    return Json.of(inner) if isinstance(inner, dict) else None
