"""Finds the function that lowers a kind of node; defines its input and its result.

    kind.lowering "oas_compiler.lower.nodes.api:lower_api"    ->    lower_api(LoweringSite(…)) -> Lowered(…)

A kind names its function by text, so that nothing below here imports LangGraph.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

from cinatra_sdk.engine.lineage import Effects
from cinatra_sdk.errors import KindRefused
from cinatra_sdk.platform.protocol import Platform
from oas_compiler.control.approval import Approval
from oas_compiler.ir import FlowIR, Node
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.kinds.packages import describe_error, refuse
from oas_compiler.kinds.registry import kind_of, name_package_of
from oas_compiler.lower.frame import Frame

NodeFunction: TypeAlias = Callable[..., Any]
AsyncNodeFunction: TypeAlias = Callable[..., Awaitable[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """The host's settings for the compiled flow; the same for every node at every depth."""

    platform: Platform
    tools: Mapping[str, Callable[..., Any]]
    approval: Approval
    digest: str
    max_steps: int
    effects: Effects = "line"
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Values of placeholders, by name: secrets of the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoweringSite:
    """The place of a node that is lowered."""

    node: Node
    flow: FlowIR
    frame: Frame
    wiring: Wiring
    depth: int
    """0 in the outermost flow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lowered:
    """One LangGraph node."""

    run: NodeFunction
    """`(state, runtime) -> update`."""
    arun: AsyncNodeFunction | None = None
    """The asynchronous form; None where the node only computes."""
    reads: tuple[str, ...] = ()
    """State keys that the node reads beyond its frame's."""
    takes_turns: bool = True
    """Whether it runs in its turn only; a StartNode decides for itself."""
    acts: bool = False
    """Whether it, or a node inside it, does something outside the run: the host is asked before."""
    performs: bool = False
    """Whether its body goes through `cinatra_sdk.effects.perform` itself; else the host is asked before
    the body runs, and nothing of it can be replayed.
    """
    bare: bool = False
    """The engine must see the function itself, because it looks for a subgraph in it."""
    chooses: bool = False
    """Whether it can go on elsewhere than its one branch leads: a gate that ends the run, for one.

    A node with other branches than `next` alone chooses in any case.
    """


Lowering: TypeAlias = Callable[[LoweringSite], Lowered]


def lower_node(site: LoweringSite) -> Lowered:
    """The LangGraph node of any node, by the function that its kind names.

    Raises:
        KindRefused: for a function of a package that fails, and for a node that acts although its
            kind says that it does not: a FlowNode around it would not ask the host either.

    """
    kind = kind_of(site.node)
    lowered = _call_lowering(kind, load_lowering(kind), site)
    if lowered.acts and not kind.acts and not kind.flows:
        raise _refuse_lowering(kind, "its record says that it does not act, and it does")
    return replace(lowered, chooses=lowered.chooses or site.node.branches not in (("next",), ()))


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


def _call_lowering(kind: NodeKind, lower: Lowering, site: LoweringSite) -> Lowered:
    if name_package_of(kind) is None:
        return lower(site)
    try:
        lowered = lower(site)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the border to a package's own code
        why = f"{kind.lowering} fails with {describe_error(error)}"
        raise _refuse_lowering(kind, why) from None
    if not isinstance(lowered, Lowered):
        made = type(lowered).__name__
        raise _refuse_lowering(kind, f"{kind.lowering} returns no Lowered, but a {made}")
    return lowered


def _refuse_lowering(kind: NodeKind, why: str) -> KindRefused:
    package = name_package_of(kind) or ""
    refusal = refuse(kind.component_type, package, why, mend="its lowering")
    return KindRefused(refusal.message, hint=refusal.hint)
