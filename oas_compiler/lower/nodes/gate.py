"""InputMessageNode: a gate.

The compiler adds the policy step, the values to show, the limit of visits, and the next node after
an approval.
"""

from __future__ import annotations

import contextlib
import re
from typing import Final

from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.names import channel_of
from cinatra_sdk.flow.nodes.gate import GovernedGate, make_gate
from cinatra_sdk.flow.nodes.shown import ShownValues
from cinatra_sdk.gates.forms.choosing import form_of
from cinatra_sdk.gates.forms.form import AnswerForm
from cinatra_sdk.templates.rendering import Renderer
from cinatra_sdk.values.strict_json import NotStrictJson, read_json
from oas_compiler.control.shown import shown_at
from oas_compiler.ir import STRING, InputMessageNode, Node, OutputMessageNode
from oas_compiler.lower.registry import LoweringSite
from oas_compiler.lower.reopening import leading_back_to

_OPENS: Final = re.compile(r"\{[{%#]")
_CLOSES: Final = {"{{": "}}", "{%": "%}", "{#": "#}"}
_QUOTED: Final = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)', re.DOTALL)
"""A quoted text; an unclosed one goes to the end, so that it is read once."""


def lower_gate(site: LoweringSite) -> NodeBody:
    node, frame = site.node, site.frame
    assert isinstance(node, InputMessageNode)
    spec = site.wiring.approval.gate(frame.path)
    governed = GovernedGate(
        step=spec.step,
        name=spec.name,
        renderer=spec.renderer,
        risk_class=spec.risk_class,
        description=spec.description or _text_of(node, "description"),
    )
    return make_gate(
        frame,
        governed,
        output=node.outputs[0],
        form=answer_form(node),
        schema=node.answer_schema,
        shown=_list_shown_values(site, node),
        max_visits=node.max_visits,
    )


def _text_of(node: InputMessageNode, key: str) -> str:
    """A text of the node's `metadata.cinatra`; empty where it has none of that name."""
    value = node.cinatra.mapping().get(key)
    return value if isinstance(value, str) else ""


def answer_form(node: InputMessageNode) -> AnswerForm:
    """The form of the gate's answers, from the author's schemas."""
    output = node.outputs[0]
    schema = node.answer_schema.mapping() if node.answer_schema is not None else None
    inner = node.cinatra.mapping().get("formSchema")
    if schema is not None and schema.get("x-envelope") == "json-string":
        shape = schema.get("x-envelope-shape")
        inner = {"type": "object", "properties": shape} if isinstance(shape, dict) else inner
    return form_of(
        output=output.title,
        text_output=output.type == STRING,
        answer_schema=schema,
        output_schema=None if output.type == STRING else output.schema.mapping(),
        document_schema=inner if isinstance(inner, dict) else None,
    )


def _list_shown_values(site: LoweringSite, node: InputMessageNode) -> ShownValues:
    flow, start = site.flow, site.flow.start_node()
    return ShownValues(
        frame=site.frame,
        start=channel_of(start.id),
        hidden=frozenset(start.hidden),
        message=None if node.message is None else Renderer(node.message),
        authored=_find_quoted_texts(node.message),
        previous={
            channel_of(source): _find_quoted_texts(_message_of(flow.by_id[source]))
            for source in shown_at(flow, node.id)
        },
        finalizes=tuple(channel_of(id_) for id_ in leading_back_to(flow, node.id)),
    )


def _message_of(node: Node) -> str | None:
    return node.message if isinstance(node, OutputMessageNode) else None


def _find_quoted_texts(message: str | None) -> frozenset[str]:
    """The quoted texts that stand in a message outside of its template language."""
    found = set()
    for quoted in _QUOTED.findall(_without_language(message or "")):
        with contextlib.suppress(NotStrictJson):
            found.add(str(read_json(quoted)))
    return frozenset(found)


def _without_language(message: str) -> str:
    parts, at = [], 0
    while opened := _OPENS.search(message, at):
        end = message.find(_CLOSES[opened[0]], opened.end())
        if end < 0:
            break
        parts.append(message[at : opened.start()])
        at = end + 2
    return "".join(parts) + message[at:]
