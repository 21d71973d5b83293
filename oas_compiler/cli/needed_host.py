"""What a run needs that only Python of the operator's own lends, by `--host`.

In: a run, its stored flow, and what the command lends already.  Out: the reasons, in words.

    list_host_needs(run, source, None)  ->  ["the tools that it calls: look_up_order, refund_order"]

The flow is read and not compiled: looking at a run loads no engine.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from cinatra_sdk.lending.host_parts import HostParts
    from cinatra_sdk.runs import Run

_MADE_AGAIN: Final = frozenset({"http", "simulated"})
"""Kinds of platforms that every process can make again from a run's row."""
_MOST_NAMED: Final = 10
"""Tools that are named."""


def list_host_needs(run: Run, source: bytes, lent: HostParts | None) -> list[str]:
    """lent: what `--host` gave; None: there was none."""
    from cinatra_sdk.lending.host_factory import HOST_VARIABLE

    if lent is None and os.environ.get(HOST_VARIABLE):
        return []  # nothing is imported for looking; what goes on with the run does
    return [*_describe_flow_needs(source, lent), *_describe_platform_needs(run.platform, lent)]


def _describe_flow_needs(source: bytes, lent: HostParts | None) -> Iterator[str]:
    from cinatra_sdk.errors import StoreError
    from cinatra_sdk.store.flow_kinds import OAS, split_source

    try:
        kind, header = split_source(source)
    except StoreError:
        return  # whoever goes on with the run is told
    if kind != OAS:
        name = str(header.get("name", ""))
        if name not in {graph.label for graph in (() if lent is None else lent.graphs)}:
            yield f"the hand-written graph {name}"
        return
    known = frozenset() if lent is None else frozenset(lent.tools)
    missing = sorted(_read_tools(source) - known)
    if missing:
        more = "" if len(missing) <= _MOST_NAMED else f" and {len(missing) - _MOST_NAMED} more"
        yield f"the tools that it calls: {', '.join(missing[:_MOST_NAMED])}{more}"


def _read_tools(source: bytes) -> frozenset[str]:
    """Names of the Python functions that the flow calls; empty where it cannot be read."""
    if b"ServerTool" not in source:
        return frozenset()
    from oas_compiler.ir import find_tool_names
    from oas_compiler.pipeline import compile_ir
    from oas_compiler.report.diagnostics import CompileError

    try:
        flow = compile_ir(source).ir
    except CompileError:
        return frozenset()
    return find_tool_names(flow)


def _describe_platform_needs(
    description: Mapping[str, Any], lent: HostParts | None
) -> Iterator[str]:
    from cinatra_sdk.store.flows import PLATFORMS

    if lent is not None and lent.platform is not None:
        return
    kind = description.get("kind")
    known = isinstance(kind, str) and (
        kind in _MADE_AGAIN
        or bool(tuple(importlib.metadata.entry_points(group=PLATFORMS, name=kind)))
    )
    if not known:
        yield f"a platform of the kind '{kind}', which only its host can make"
    beyond = description.get("beyond")
    for part in (description, beyond if isinstance(beyond, Mapping) else {}):
        if part.get("headers_for"):
            yield f"a platform with its host's headers for {', '.join(map(str, part['headers_for']))}"
