"""Finds the function that lowers a kind of node; defines its input.

    kind.lowering "oas_compiler.lower.nodes.api:lower_api"    ->    lower_api(PlanSite(…)) -> ApiCall(…)

A kind names its function by text, so that nothing below here imports LangGraph.  The function of a
kind of oasflow says what the node does, as plain data; that of an installed package makes the node's
function itself (`packages.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from cinatra_sdk.flow.plan import FlowPlan, NodeWork
from cinatra_sdk.flow.site import Wiring
from cinatra_sdk.values.ports import TypedPort
from oas_compiler.control.approval import Approval
from oas_compiler.ir import FlowIR, Node, Path, Port
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.kinds.packages import describe_error
from oas_compiler.kinds.registry import kind_of, name_package_of
from oas_compiler.lower.packages import LoweringSite, PackageWork, refuse_lowering

__all__ = ["LoweringSite", "PlanSite", "Wiring", "load_lowering", "plain_ports", "plan_work"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanSite:
    """The place of a node whose work is planned."""

    node: Node
    flow: FlowIR
    path: Path
    approval: Approval
    inside: tuple[FlowPlan, ...] = ()
    """The plans of the flows that the node runs."""
    is_heard: bool = False
    """Whether a later node may hear what is said at this one; see `oas_compiler.control.hearing`."""


def plain_ports(ports: Iterable[Port]) -> tuple[TypedPort, ...]:
    """Ports without their places in the file and other facts that no run needs."""
    return tuple(port.plain() for port in ports)


def plan_work(site: PlanSite) -> NodeWork:
    """What any node does, by the function that its kind names.

    Raises: `KindRefused` where the function of an installed package cannot be loaded.
    """
    kind = kind_of(site.node)
    function = load_lowering(kind)
    if name_package_of(kind) is not None:
        return PackageWork(component=kind, node=site.node, flow=site.flow, function=function)
    work: NodeWork = function(site)
    return work


@cache
def load_lowering(kind: NodeKind) -> Callable[..., Any]:
    """The function behind `kind.lowering`.

    Raises:
        KindRefused: when there is no such function; of a kind that an installed package adds.

    """
    module, _, name = kind.lowering.partition(":")
    if not module or not name:
        raise refuse_lowering(
            kind, f'its lowering is "{kind.lowering}", and not of the form package.module:function'
        )
    try:
        found = import_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a package may do anything at import
        why = f"{module} cannot be imported: {describe_error(error)}"
        raise refuse_lowering(kind, why) from None
    function: Callable[..., Any] | None = getattr(found, name, None)
    if not callable(function):
        raise refuse_lowering(kind, f'there is no function "{name}" in {module}')
    return function
