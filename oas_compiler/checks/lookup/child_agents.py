"""The child agents that a flow calls, as the author wrote them.  For rules; not a rule itself.

FlowNode metadata.cinatra.packageName "@x/mail"        ->  Called(package="@x/mail", …)
AgentNode over an A2AAgent with that packageName       ->  the same
FlowNode whose subflow has that packageName            ->  Called(package="", subflow="@x/mail")
"""

from __future__ import annotations

from collections.abc import Iterator

from cinatra_sdk.data.ports import REFERENCE
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.document.scope import DEFINITIONS
from oas_compiler.ir import JsonValue
from oas_compiler.kinds.registry import find_kind
from oas_compiler.text.marks import child

CONTEXT = "context-resolution-for-"
"""Part of the `purpose` of a FlowNode that resolves a context slot, and so is no child agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """One node that hands work to another agent, or to a subflow."""

    node: Written
    package: str
    """`packageName` of the node, or of its A2AAgent; empty where both have none."""
    pointer: str
    """Pointer of that packageName, else of the node."""
    copied_from: str = ""
    """`packageName` of the embedded subflow; may be empty."""
    is_remote: bool = False
    """Whether the node calls an A2AAgent, which is always another agent."""


def called_agents(subject: Subject) -> tuple[Called, ...]:
    """Every call of a child agent in every flow, in file order, without those of context slots."""
    by_pointer = {found.pointer: found for found in subject.components}
    types = {component.type for component in subject.components}
    nodes = subject.of_type(*filter(_runs_flows, types))
    return tuple(_read_called_agent(node, by_pointer) for node in nodes if not _is_context(node))


def _runs_flows(component_type: str) -> bool:
    kind = find_kind(component_type)
    return kind is not None and bool(kind.flows)


def own_names(subject: Subject) -> frozenset[str]:
    """The names of the package itself, in package.json and in the flow."""
    root = subject.root
    names = (
        subject.package.manifest.get("name") if subject.package is not None else None,
        root.cinatra.get("packageName") if root is not None else None,
    )
    return frozenset(name for name in names if isinstance(name, str))


def _read_called_agent(node: Written, by_pointer: dict[str, Written]) -> Called:
    field = "agent" if node.type == "AgentNode" else "subflow"
    behind = _find_component_behind(node, field, by_pointer)
    inner = _read_package_name(behind) if behind is not None else ""
    remote = behind is not None and behind.type == "A2AAgent"
    for owner in (node, behind if remote else None):
        package = _read_package_name(owner) if owner is not None else ""
        if owner is not None and package:
            at = owner.at("metadata", "cinatra", "packageName")
            return Called(
                node=node, package=package, pointer=at, copied_from=inner, is_remote=remote
            )
    at = node.pointer
    return Called(node=node, package="", pointer=at, copied_from=inner, is_remote=remote)


def _find_component_behind(
    node: Written, field: str, by_pointer: dict[str, Written]
) -> Written | None:
    """The agent or flow that the node holds, or names among the definitions of its flow."""
    value: JsonValue = node.value.get(field)
    if not isinstance(value, dict):
        return None
    name = value.get(REFERENCE)
    if isinstance(name, str):
        return by_pointer.get(child(f"{node.flow}/{DEFINITIONS}", name))
    return by_pointer.get(node.at(field))


def _read_package_name(component: Written) -> str:
    found = component.cinatra.get("packageName")
    return found.strip() if isinstance(found, str) else ""


def _is_context(node: Written) -> bool:
    purpose = node.cinatra.get("purpose")
    return isinstance(purpose, str) and CONTEXT in purpose


def gates(subject: Subject) -> Iterator[Written]:
    """Nodes at which a run can pause for a person, in any flow; also nodes whose child may have
    gates.
    """
    for component in subject.components:
        about = component.cinatra
        pauses = (
            component.type in {"InputMessageNode", "A2AAgent"}
            or bool(about.get("gateSteps"))
            or (component.type == "AgentNode" and about.get("requiresApproval") is True)
            or component.value.get("requires_confirmation") is True
        )
        if pauses:
            yield component
