"""A node of a kind that an installed package adds: its function is made by the package itself.

lower_slug(LoweringSite(node=SlugNode(…), frame=…, …))   ->   NodeBody(run=…)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from cinatra_sdk.effects.quiet import refusing_effects
from cinatra_sdk.errors import KindRefused
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.flow.plan import NodeWork
from cinatra_sdk.flow.site import NodeSite, Wiring
from cinatra_sdk.flow.updates import CompareOutputs
from oas_compiler.ir import FlowIR, Node
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.kinds.packages import describe_error, refuse
from oas_compiler.kinds.registry import name_package_of
from oas_compiler.lower.outputs import require_outputs


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
