"""MapNode: a flow for each element of a list, one after the other.

subflow input "x": number    ->  "iterated_x": number | array<number>
subflow output "y": number   ->  "collected_y": array<number>, with {"y": "sum"} a number
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from oas_compiler import ir
from oas_compiler.component_facts.component import NODE_FIELDS, SUBFLOW, Field, Site, common
from oas_compiler.component_facts.inference import next_only, specialised
from oas_compiler.component_facts.metadata import NODE_KEYS, Schema, cinatra_error
from oas_compiler.findings.finding import nearest
from oas_compiler.ir import ArrayType, Port, ScalarType
from oas_compiler.ir.printout import brief
from oas_compiler.kinds.kind import NodeKind, build_unknown
from oas_compiler.port_types import castable, union
from oas_compiler.text.marks import child

ERRORS: Final = "collected_errors"
"""The output that lists what failed, where the author declares it."""
_POLICY, _FAIL, _COLLECT = "onItemError", "fail", "collect"
_TEXTS_OR_NULL: Final = ArrayType(union([ir.STRING, ScalarType("null")]))
MAP_KEYS: Final[Mapping[str, Schema]] = {**NODE_KEYS, _POLICY: {"enum": [_FAIL, _COLLECT]}}
_APPEND: Final = "append"
_REDUCERS: Final = (_APPEND, "sum", "average", "max", "min")


def build_map(site: Site) -> ir.Node:
    if not site.subflows_are_whole:
        return build_unknown(site)
    subflow = site.subflows[0]
    inputs = tuple(
        replace(
            port,
            title=f"iterated_{port.title}",
            type=union([port.type, ArrayType(port.type)]),
            schema=ir.NOTHING,
        )
        for port in subflow.inputs
    )
    reducers = _read_reducers(site, subflow.outputs)
    collects = _reads_collect(site)
    collected = _list_collected_ports(subflow.outputs, reducers)
    if collects and _declares_errors(site) and all(port.title != ERRORS for port in collected):
        collected = (*collected, Port(title=ERRORS, type=_TEXTS_OR_NULL, place=site.place()))
    kind = ir.ParallelMapNode if site.component.type == "ParallelMapNode" else ir.MapNode
    return kind(
        **common(site),
        inputs=specialised(site, "inputs", inputs, "subflow"),
        outputs=specialised(site, "outputs", collected, "subflow"),
        branches=next_only(site),
        subflow=subflow,
        reducers=tuple(reducers.items()),
        on_item_error=_COLLECT if collects else "",
    )


def _reads_collect(site: Site) -> bool:
    value = site.component.cinatra.get(_POLICY)
    if value not in (None, _FAIL, _COLLECT):
        cinatra_error(site, _POLICY, f'"{_FAIL}" or "{_COLLECT}"')
    return value == _COLLECT


def _declares_errors(site: Site) -> bool:
    items = site.component.items("outputs") or ()
    return any(isinstance(item, dict) and item.get("title") == ERRORS for item in items)


def _read_reducers(site: Site, outputs: tuple[Port, ...]) -> dict[str, str]:
    """How each output of the subflow is collected, or each that has a reducer where any is given.

    A way that does not exist is reported, and "" here.
    """
    known = {port.title: port for port in outputs}
    if not site.component.has("reducers"):
        return dict.fromkeys(known, _APPEND)
    reducers: dict[str, str] = {}
    for title, method in site.component.mapping("reducers").items():
        port = known.get(title)
        if port is None:
            message = f'{site.label} reduces "{title}", which is no output of its subflow'
            _report_bad_reducer(site, title, message, nearest(title, known, site.findings))
        elif not isinstance(method, str) or method not in _REDUCERS:
            what = f'"{method[:80]}"' if isinstance(method, str) else "this"
            hint = nearest(method, _REDUCERS, site.findings) if isinstance(method, str) else ""
            hint = hint or f"one of {', '.join(_REDUCERS)}"
            _report_bad_reducer(site, title, f'{what} is not a way to reduce "{title}"', hint)
            reducers[title] = ""
        else:
            if method != _APPEND and not castable(port.type, ScalarType("number")):
                message = f'"{method}" reduces numbers, "{title}" is {brief(port.type)}'
                _report_bad_reducer(site, title, message, 'use "append", which makes a list')
            reducers[title] = method
    return reducers


def _list_collected_ports(
    outputs: tuple[Port, ...], reducers: Mapping[str, str]
) -> tuple[Port, ...]:
    """The outputs of the node: what is collected of the subflow's, in the order of `reducers`."""
    known = {port.title: port for port in outputs}
    return tuple(_make_reduced_port(known[title], method) for title, method in reducers.items())


def _make_reduced_port(port: Port, method: str) -> Port:
    kinds: dict[str, ir.Type] = {"": ir.ANY, _APPEND: ArrayType(port.type)}
    kind = kinds.get(method, port.type)
    title = f"collected_{port.title}"
    return replace(port, title=title, type=kind, schema=ir.NOTHING, default=None)


def _report_bad_reducer(site: Site, title: str, message: str, hint: str) -> None:
    place = site.place(child(site.component.at("reducers"), title))
    site.findings.error("OAS075", message, place, hint=hint)


MAP_FIELDS: Final[Mapping[str, Field]] = {
    **NODE_FIELDS,
    "subflow": SUBFLOW,
    "reducers": Field("object", "Output → how the results of all rounds become one."),
}


MAP = NodeKind(
    component_type="MapNode",
    node=ir.MapNode,
    build=build_map,
    words="Runs a flow once for each element of a list, one after the other.",
    fields=MAP_FIELDS,
    flows=("subflow",),
    acts=False,
    metadata=MAP_KEYS,
    lowering="oas_compiler.lower.plain_nodes:lower_map",
)
