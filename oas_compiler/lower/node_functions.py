"""The function that lowers a kind of node, found by its name; and the input of such a function.

    kind.lowering "oas_compiler.lower.plain_nodes:lower_api"    ->    lower_api(PlanSite(…)) -> ApiCall(…)

A kind names its function by text, so that nothing below here imports LangGraph.  The function of a
kind of oasflow returns the work of the node, as plain data; the function of an installed package makes
the function of the node itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib import import_module
from typing import Any

from cinatra_sdk.data.ports import TypedPort
from cinatra_sdk.errors import KindRefused
from cinatra_sdk.flow.plan.frame import CompareOutputs, Frame, NodeBody
from cinatra_sdk.flow.plan.plan import FlowPlan, NodeSite, NodeWork, Wiring
from cinatra_sdk.flow.visit.governance_gate import WayBack
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.permits import refusing_effects
from oas_compiler.control.approval import Approval
from oas_compiler.control.context_slots import FINALIZE, RESOLVE
from oas_compiler.ir import ApiNode, FlowIR, InputMessageNode, Node, Path, Port
from oas_compiler.ir.printout import contrast
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.kinds.registry import describe_error, kind_of, name_package_of, refuse
from oas_compiler.port_types import is_of_type, type_of

# ----------------------------------------------------------------------------
# Compares the outputs of a node of an installed package with its declaration.


def require_outputs(frame: Frame, record: dict[str, Any]) -> None:
    """Compare the outputs in a record with the node's; a default fills in for a missing output.

    Raises: `NodeFailed` naming the output, the wanted and the given type.
    """
    out, ports = dict(record["out"]), {port.title: port for port in frame.outputs}
    for title, port in ports.items():
        if title not in out and port.default is not None:
            out[title] = port.default.value()
    if out.keys() != ports.keys():
        raise frame.failed(
            f"its outputs are {_join_names(ports)}, and its function gives {_join_names(out)}",
            hint="frame.finish takes a value for each output, under its title",
        )
    for title, port in ports.items():
        if not is_of_type(out[title], port.type):
            wanted, given = contrast(port.type, type_of(out[title]))
            raise frame.failed(
                f"its output '{title}' is declared as {wanted}, and its function gives {given}"
            )
    record["out"] = out


def _join_names(titles: Mapping[str, Any]) -> str:
    return ", ".join(f"'{title}'" for title in titles) or "none"


# ----------------------------------------------------------------------------
# A node of a kind that an installed package adds: its function is made by the package itself.
#
# lower_slug(LoweringSite(node=SlugNode(…), frame=…, …))   ->   NodeBody(run=…)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweringSite:
    """The place of a node, for the function of a package."""

    node: Node
    flow: FlowIR
    frame: Frame
    wiring: Wiring
    depth: int
    """0 in the outermost flow."""
    inline: bool = False
    """Whether the flow runs as a plain function, without a graph."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageWork(NodeWork):
    """A node of a package; where its kind or its function says that it acts, it does."""

    component: NodeKind
    node: Node
    flow: FlowIR
    function: Callable[[LoweringSite], Any]

    @property
    def kind(self) -> str:  # type: ignore[override]  # each class of a package is a kind
        return type(self.node).__name__

    @property
    def acts(self) -> bool:  # type: ignore[override]  # as its record says
        return self.component.acts

    @property
    def compare(self) -> CompareOutputs | None:
        return require_outputs

    @property
    def asks_person(self) -> bool:
        return self.node.behind.asks_person

    def make_body(self, site: NodeSite) -> NodeBody:
        """Raises: `KindRefused` for a function that fails, and for a node that acts although its kind
        says that it does not: a FlowNode around it would not ask the host either.
        """
        place = LoweringSite(
            node=self.node,
            flow=self.flow,
            frame=site.frame,
            wiring=site.wiring,
            depth=site.depth,
            inline=site.inline,
        )
        body = self._call(place)
        kind = self.component
        _require_consistent(kind, body, is_ruled=site.wiring.rules is not None)
        if body.contains:
            return body
        if kind.acts:
            return replace(body, acts=True)  # whatever its function says
        return _keep_quiet(body)

    def _call(self, place: LoweringSite) -> NodeBody:
        kind = self.component
        try:
            body = self.function(place)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the border to a package's own code
            why = f"{kind.lowering} fails with {describe_error(error)}"
            raise refuse_lowering(kind, why) from None
        if not isinstance(body, NodeBody):
            made = type(body).__name__
            raise refuse_lowering(kind, f"{kind.lowering} returns no NodeBody, but a {made}")
        return body


def _require_consistent(kind: NodeKind, body: NodeBody, *, is_ruled: bool) -> None:
    if body.acts and not kind.acts and not body.contains:
        raise refuse_lowering(kind, "its record says that it does not act, and it does")
    if kind.acts and body.contains and is_ruled:
        why = "it acts itself and runs flows, and rules of packs are asked before one or the other"
        raise refuse_lowering(kind, why)
    if (body.acts or kind.acts) and body.computes:
        raise refuse_lowering(kind, "it says that it acts, and that it only computes")


def _keep_quiet(body: NodeBody) -> NodeBody:
    """A function of which its kind says that it does not act: an effect that it makes is refused."""

    def run(*given: Any) -> Any:
        with refusing_effects():
            return body.run(*given)

    asynchronous = body.arun
    if asynchronous is None:
        return replace(body, run=run)

    async def arun(*given: Any) -> Any:
        with refusing_effects():
            return await asynchronous(*given)

    return replace(body, run=run, arun=arun)


def refuse_lowering(kind: NodeKind, why: str) -> KindRefused:
    package = name_package_of(kind) or ""
    refusal = refuse(kind.component_type, package, why, mend="its lowering")
    return KindRefused(refusal.message, hint=refusal.hint)


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
    """Whether a later node may hear what is said at this one; see `oas_compiler.control.gates`."""


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


# ----------------------------------------------------------------------------
# The node to which a finalize of a context selection goes back (`cinatra_sdk.flow.visit.governance_gate`).
#
# In: one flow and a node of it.  Out: the way back, if there is one.


def way_back(flow: FlowIR, node: ApiNode) -> WayBack | None:
    """None for a node that finalizes nothing, and where no node, or several, resolved its slot."""
    if not _is_call_to(node, FINALIZE):
        return None
    resolves: set[str] = set()
    gates: set[str] = set()
    seen = {node.id}
    stack = [node.id]
    while stack:
        for source in flow.sources_of(stack.pop()):
            if source in seen:
                continue
            seen.add(source)
            if _is_call_to(flow.by_id[source], RESOLVE):
                resolves.add(source)
                continue
            if isinstance(flow.by_id[source], InputMessageNode):
                gates.add(source)
            stack.append(source)
    if len(resolves) != 1:
        return None
    return WayBack(resolve=resolves.pop(), gates=frozenset(gates))


def leading_back_to(flow: FlowIR, gate: str) -> tuple[str, ...]:
    """The finalizes that ask this gate again."""
    found = []
    for node in flow.nodes:
        back = way_back(flow, node) if isinstance(node, ApiNode) else None
        if back is not None and gate in back.gates:
            found.append(node.id)
    return tuple(found)


def returning_to(flow: FlowIR, node: Node) -> tuple[str, ...]:
    """The finalizes that pass the turn back to this node, which resolved their slot."""
    if not _is_call_to(node, RESOLVE):
        return ()
    ways = ((one.id, way_back(flow, one)) for one in flow.nodes if isinstance(one, ApiNode))
    return tuple(name for name, way in ways if way is not None and way.resolve == node.id)


def _is_call_to(node: Node, path: str) -> bool:
    return isinstance(node, ApiNode) and node.url.rstrip("/").endswith(path)
