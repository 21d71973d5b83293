"""A gate shows no credential to a person.

    a gate input "bearer_token", an edge from "api_key" into a gate,
    an OutputMessageNode with "{{ access_token }}"                     ->  OAS211

The values of a gate go to a browser, into events and into the record of the decision.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import FlowIR, InputMessageNode, Node, OutputMessageNode, Place

SECRET_NAMES = frozenset(
    {
        "bearertoken", "apikey", "a2abearertoken", "mcpserverurl", "password", "secret", "token",
        "accesstoken", "refreshtoken", "clientsecret", "privatekey", "authorization", "runtoken",
        "cinatraruntoken", "bridgetoken",
    }
)  # fmt: skip
"""Cinatra's credential keys and the carriers of run tokens, without case, `_` and `-`."""
_WORD = re.compile(r"[A-Za-z0-9_-]+")


@rule(
    code="OAS211",
    name="secret-at-gate",
    severity="error",
    summary="A credential is shown to the person at a gate.",
    fix="Remove it from the gate's inputs and messages; the runtime adds credentials to calls itself.",
    source="agent guide, pitfall P2; Cinatra, credential keys",
    needs="flow",
    aliases=("P2-payload",),
    bad='"gate": {"component_type": "InputMessageNode", "inputs": [{"title": "bearer_token"}]}',
    good='"gate": {"component_type": "InputMessageNode", "inputs": [{"title": "draft"}]}',
)
def secret_at_gate(subject: Subject, report: Report) -> None:
    for flow in subject.flows:
        # by id: nodes that share one (OAS027) have the same edges, and are looked at once
        for node in flow.by_id.values():
            if isinstance(node, (InputMessageNode, OutputMessageNode)):
                for name, place in _find_shown_secrets(flow, node, subject):
                    report(
                        f'"{name[:80]}" is a credential and "{node.id[:80]}" shows it to a person',
                        place,
                        hint="remove it; the runtime adds credentials to the calls that need them",
                    )


def is_secret_name(name: str) -> bool:
    return name.replace("_", "").replace("-", "").lower() in SECRET_NAMES


def _find_shown_secrets(
    flow: FlowIR, node: InputMessageNode | OutputMessageNode, subject: Subject
) -> Iterator[tuple[str, Place]]:
    """Names of credentials that reach the person, each with its place."""
    titles = {port.title for port in node.inputs if is_secret_name(port.title)}
    for port in node.inputs:
        if port.title in titles:
            yield port.title, port.place
    for edge in flow.data_edges_into(node.id):
        if is_secret_name(edge.output) and edge.input not in titles:
            yield edge.output, edge.place
    for word in sorted(_collect_placeholder_words(node.message or "") - titles):
        if is_secret_name(word):
            yield word, _message_place(node, subject)


def _message_place(node: Node, subject: Subject) -> Place:
    return subject.place(f"{node.place.pointer}/message")


def _collect_placeholder_words(template: str) -> set[str]:
    """Every word inside the placeholders of a template: also `key` of `{{ account.key }}`."""
    words: set[str] = set()
    at = 0
    while (start := template.find("{{", at)) >= 0:
        stop = template.find("}}", start)
        stop = stop if stop >= 0 else len(template)
        words.update(_WORD.findall(template[start:stop]))
        at = stop
    return words
