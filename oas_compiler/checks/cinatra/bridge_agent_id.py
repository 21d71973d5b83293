"""A call of the model bridge says which agent it is for.

data: {"user": "…"}                     ->   OAS112
data: {"agent_id": "mail", "user": …}   ->   fine; `body` and `config` count as well
"""

from __future__ import annotations

from collections.abc import Iterator

from oas_compiler.checks.lookup.api_calls import BODIES, BRIDGE, bridge_nodes
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue


@rule(
    code="OAS112",
    name="bridge-agent-id",
    severity="error",
    summary="A bridge call of the root flow has no agent_id.",
    fix='Add "agent_id": the name of the agent package, to data.',
    source="Cinatra V19",
    needs="cinatra",
    aliases=("V19", "llm_bridge_missing_agent_id"),
    bad='"url": "{{CINATRA_BASE_URL}}/api/llm-bridge", "data": {"user": "…"}',
    good='"url": "{{CINATRA_BASE_URL}}/api/llm-bridge", "data": {"agent_id": "mail-agent", "user": "…"}',
)
def bridge_agent_id(subject: Subject, report: Report) -> None:
    for node in bridge_nodes(subject):
        if node.depth != 0 or any(_is_name(value) for _, value in _agent_ids(node)):
            continue
        if isinstance(node.value.get("data"), str):
            report(
                f'{node.label} calls {BRIDGE} with a text for data, which has no "agent_id"',
                subject.place(node.at("data")),
                hint='write it as an object, without the quotes around it: {"agent_id": "…", …}',
            )
            continue
        empty = next((pointer for pointer, _ in _agent_ids(node)), "")
        report(
            f'{node.label} calls {BRIDGE} without an "agent_id"',
            subject.place(empty or node.pointer),
            hint='give data an "agent_id", the name of the agent: the host refuses a call without one',
        )


def _agent_ids(node: Written) -> Iterator[tuple[str, JsonValue]]:
    """Pointer and value of every `agent_id`, wherever the node keeps its body."""
    for field in BODIES:
        body = node.value.get(field)
        if isinstance(body, dict) and "agent_id" in body:
            yield node.at(field, "agent_id"), body["agent_id"]


def _is_name(value: JsonValue) -> bool:
    return isinstance(value, str) and bool(value.strip())
