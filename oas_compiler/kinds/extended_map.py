"""ExtendedMapNode: WayFlow's map, which unpacks each element of one list.

unpack_input: {"user": ".name"}, subflow inputs "user", "day"    ->  inputs "iterated_input", "day"
outputs: [{"title": "said", "type": "array"}]                    ->  the list of the subflow's "said"

Source: WayFlow's `ExtendedMapNode`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from oas_compiler import ir
from oas_compiler.component_facts.component import (
    PLUGIN_FIELDS,
    SUBFLOW,
    Field,
    Site,
    common,
    needs_jq,
    read_ways,
)
from oas_compiler.component_facts.inference import next_only, specialised
from oas_compiler.findings.finding import nearest
from oas_compiler.ir import ANY, ArrayType, Port
from oas_compiler.kinds.kind import NodeKind, build_unknown
from oas_compiler.text.marks import child

ITERATED: Final = "iterated_input"
"""The input that is gone through."""


def build_extended_map(site: Site) -> ir.Node:
    if not site.subflows_are_whole:
        return build_unknown(site)
    subflow = site.subflows[0]
    unpack = _read_unpack(site, subflow)
    taken = {title for title, _ in unpack}
    iterated = Port(title=ITERATED, type=ANY, place=site.place())
    others = tuple(port for port in subflow.inputs if port.title not in taken)
    parallel = site.component.type == "ExtendedParallelMapNode"
    kind = ir.ExtendedParallelMapNode if parallel else ir.ExtendedMapNode
    return kind(
        **common(site),
        inputs=specialised(site, "inputs", (iterated, *others), "flow"),
        outputs=_read_outputs(site, subflow),
        branches=next_only(site),
        subflow=subflow,
        unpack=unpack,
        is_parallel=parallel or site.component.flag("parallel_execution", default=False),
        max_workers=_read_workers(site),
    )


def _read_unpack(site: Site, subflow: ir.FlowIR) -> tuple[tuple[str, str], ...]:
    known = {port.title for port in subflow.inputs}
    given = site.component.mapping("unpack_input")
    for title in given.keys() - known:
        place = site.place(child(site.component.at("unpack_input"), title))
        message = f'the part "{title[:80]}" that {site.label} takes is no input of its flow'
        hint = nearest(title, known, site.findings)
        site.findings.error("OAS022", message, place, hint=hint)
    ways = dict(read_ways(given))
    # what needs jq was reported, and never runs
    return tuple((title, ways.get(title, ".")) for title in given if title in known)


def _read_outputs(site: Site, subflow: ir.FlowIR) -> tuple[Port, ...]:
    """Those that the author lists; WayFlow collects no others."""
    known = {port.title: port for port in subflow.outputs}
    found = site.declared("outputs") or ()
    for port in found:
        if port.title not in known:
            message = f'"{port.title}" is no output of the flow that {site.label} runs'
            hint = nearest(port.title, known, site.findings)
            site.findings.error("OAS067", message, port.place, hint=hint)
        elif port.type != ANY and not isinstance(port.type, ArrayType):
            message = f'the output "{port.title}" of {site.label} must be a list'
            site.findings.error("OAS036", message, port.place, hint='write "type": "array"')
    return tuple(port for port in found if port.title in known)


def _read_workers(site: Site) -> int | None:
    value = site.component.fields.get("max_workers")
    if value is None or (type(value) is int and value >= 1):
        return value if isinstance(value, int) else None
    site.error(
        "OAS022", f"max_workers of {site.label} must be a whole number from 1", "max_workers"
    )
    return None


MAP_FIELDS: Final[Mapping[str, Field]] = {
    **PLUGIN_FIELDS,
    "flow": SUBFLOW,
    "unpack_input": Field(
        "object", "Input of the flow → the way from an element to its value.", refused=needs_jq
    ),
    "max_workers": Field("any", "Rounds at a time, at most."),
}

EXTENDED_MAP = NodeKind(
    component_type="ExtendedMapNode",
    node=ir.ExtendedMapNode,
    build=build_extended_map,
    words="Runs a flow once for each element of a list, with parts of the element.",
    fields={
        **MAP_FIELDS,
        "parallel_execution": Field("flag", "Whether the rounds run at the same time."),
    },
    flows=("flow",),
    acts=False,
    lowering="oas_compiler.lower.plain_nodes:lower_extended_map",
)
