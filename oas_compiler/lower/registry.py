"""Finds the function that lowers a kind of node; defines its input.

    kind.lowering "oas_compiler.lower.nodes.api:lower_api"    ->    lower_api(LoweringSite(…)) -> NodeBody(…)

A kind names its function by text, so that nothing below here imports LangGraph.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

from cinatra_sdk.engine.lineage import Effects
from cinatra_sdk.errors import KindRefused
from cinatra_sdk.flow.body import NodeBody
from cinatra_sdk.flow.frame import Frame
from cinatra_sdk.lending.host_parts import HostParts
from cinatra_sdk.platform.protocol import Platform
from oas_compiler.control.approval import Approval
from oas_compiler.ir import FlowIR, Node
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.kinds.packages import describe_error, refuse
from oas_compiler.kinds.registry import kind_of, name_package_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """The host's settings for the compiled flow; the same for every node at every depth."""

    host: HostParts
    approval: Approval
    digest: str
    max_steps: int
    effects: Effects = "line"
    fuse: bool = True
    """Whether nodes that only compute run in the superstep of the node before them."""
    max_parallel: int | None = None
    """How many branches of one node run at a time; None: as many as the engine lets."""

    @property
    def platform(self) -> Platform:
        assert self.host.platform is not None  # as in `Flow`
        return self.host.platform

    @property
    def tools(self) -> Mapping[str, Callable[..., Any]]:
        return self.host.tools

    @property
    def env(self) -> Mapping[str, str]:
        """Values of placeholders, by name: secrets of the run."""
        return self.host.env


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweringSite:
    """The place of a node that is body."""

    node: Node
    flow: FlowIR
    frame: Frame
    wiring: Wiring
    depth: int
    """0 in the outermost flow."""
    inline: bool = False
    """Whether the flow runs as a plain function, without a graph."""


Lowering: TypeAlias = Callable[[LoweringSite], NodeBody]


def lower_node(site: LoweringSite) -> NodeBody:
    """The LangGraph node of any node, by the function that its kind names.

    Raises:
        KindRefused: for a function of a package that fails, and for a node that acts although its
            kind says that it does not: a FlowNode around it would not ask the host either.

    """
    kind = kind_of(site.node)
    body = _call_lowering(kind, load_lowering(kind), site)
    if body.acts and not kind.acts and not kind.flows:
        raise _refuse_lowering(kind, "its record says that it does not act, and it does")
    if body.acts and body.computes:
        raise _refuse_lowering(kind, "it says that it acts, and that it only computes")
    return replace(body, chooses=body.chooses or site.node.branches not in (("next",), ()))


@cache
def load_lowering(kind: NodeKind) -> Lowering:
    """The function behind `kind.lowering`.

    Raises:
        KindRefused: when there is no such function; of a kind that an installed package adds.

    """
    module, _, name = kind.lowering.partition(":")
    if not module or not name:
        raise _refuse_lowering(
            kind, f'its lowering is "{kind.lowering}", and not of the form package.module:function'
        )
    try:
        found = import_module(module)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a package may do anything at import
        why = f"{module} cannot be imported: {describe_error(error)}"
        raise _refuse_lowering(kind, why) from None
    function: Lowering | None = getattr(found, name, None)
    if not callable(function):
        raise _refuse_lowering(kind, f'there is no function "{name}" in {module}')
    return function


def _call_lowering(kind: NodeKind, lower: Lowering, site: LoweringSite) -> NodeBody:
    if name_package_of(kind) is None:
        return lower(site)
    try:
        body = lower(site)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the border to a package's own code
        why = f"{kind.lowering} fails with {describe_error(error)}"
        raise _refuse_lowering(kind, why) from None
    if not isinstance(body, NodeBody):
        made = type(body).__name__
        raise _refuse_lowering(kind, f"{kind.lowering} returns no NodeBody, but a {made}")
    return body


def _refuse_lowering(kind: NodeKind, why: str) -> KindRefused:
    package = name_package_of(kind) or ""
    refusal = refuse(kind.component_type, package, why, mend="its lowering")
    return KindRefused(refusal.message, hint=refusal.hint)
