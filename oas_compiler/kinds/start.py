"""StartNode: where the inputs of a flow enter.

metadata.cinatra.required: ["topic"]    ->  StartNode(required=("topic",))
no metadata.cinatra at all              ->  required = the inputs without default
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from oas_compiler import ir
from oas_compiler.component_facts.component import NODE_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import differ, next_only, same_ports
from oas_compiler.component_facts.metadata import (
    ANY,
    TEXT_MAP,
    TEXTS,
    cinatra_text_map,
    cinatra_texts,
)
from oas_compiler.findings.finding import nearest
from oas_compiler.ir import Json, Port
from oas_compiler.ir.printout import brief
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.port_types import castable
from oas_compiler.text.marks import child


def build_start(site: Site) -> ir.Node:
    flow_inputs = site.declared("inputs", site.flow) or ()
    own = same_ports(site)
    ports = flow_inputs if own is None else own
    lacking = _compare_with_flow(site, ports, flow_inputs)
    defaults = {port.title: port.default for port in flow_inputs}
    titles = _of_inputs(site, "inputTitles", ports, lacking)
    ports = tuple(_start_port(port, defaults, titles) for port in ports)
    if "cinatra" in site.component.mapping("metadata"):
        required = _read_input_names(site, "required", ports, lacking)
    else:
        required = tuple(port.title for port in ports if port.default is None)
    hidden = _read_input_names(site, "hidden", ports, lacking)
    marked = tuple(port.title for port in ports if port.schema.mapping().get("x-hidden") is True)
    renderers = {
        port.title: renderer
        for port in ports
        if isinstance(renderer := port.schema.mapping().get("x-renderer"), str)
    } | _of_inputs(site, "inputRenderers", ports, lacking)
    return ir.StartNode(
        **common(site),
        inputs=ports,
        outputs=ports,
        branches=next_only(site),
        required=required,
        hidden=tuple(dict.fromkeys(hidden + marked)),
        renderers=tuple(renderers.items()),
    )


def _start_port(port: Port, defaults: Mapping[str, Json | None], titles: Mapping[str, str]) -> Port:
    """A StartNode's port with the flow's default and the title that people see."""
    if port.default is None:
        port = replace(port, default=defaults.get(port.title))
    if port.title in titles:
        schema = Json.of({**port.schema.mapping(), "title": titles[port.title]})
        port = replace(port, schema=schema)
    return port


def _compare_with_flow(
    site: Site, ports: tuple[Port, ...], flow: tuple[Port, ...]
) -> frozenset[str]:
    """The inputs of the flow that its StartNode was told to lack; no other finding repeats it."""
    component = site.flow
    unread = site.has_unread_ports or site.is_flawed("inputs", component)
    if unread:
        return frozenset()
    if component.items("inputs") is None or not site.is_start or differ(site):
        return frozenset()
    different = {port.title for port in ports} ^ {port.title for port in flow}
    if different:
        site.findings.error(
            "OAS068",
            f"the inputs of the flow and of its StartNode differ: {', '.join(sorted(different))}",
            site.place(),
            hint="declare the same inputs in both, or in one of them",
        )
    elif site.reader.is_plain:
        _compare_types(site, ports, flow)
    return frozenset(port.title for port in flow if port.title in different)


def _compare_types(site: Site, ports: tuple[Port, ...], flow: tuple[Port, ...]) -> None:
    """Report the inputs of the flow that could never be of the StartNode's types."""
    types = {port.title: port.type for port in flow}
    for port in ports:
        if not castable(types[port.title], port.type, strict=True):
            site.findings.error(
                "OAS068",
                f'the input "{port.title}" of the flow is {brief(types[port.title])}, '
                f"of its StartNode {brief(port.type)}",
                port.place,
                hint="declare the same inputs in both, or in one of them",
            )


def _read_input_names(
    site: Site, key: str, ports: tuple[Port, ...], lacking: Collection[str]
) -> tuple[str, ...]:
    """Names of inputs under `metadata.cinatra`; a name that is no input is dropped."""
    titles = [port.title for port in ports]
    names = cinatra_texts(site, key)
    written = site.component.cinatra.get(key)
    for name in names:
        if name not in titles and name not in lacking and not site.has_unread_ports:
            index = written.index(name) if isinstance(written, list) else 0
            site.findings.warning(
                "OAS034",
                f'metadata.cinatra.{key} names "{name}", which is not an input of {site.label}',
                site.place(f"{site.component.pointer}/metadata/cinatra/{key}/{index}"),
                hint=nearest(name, titles, site.findings),
            )
    return tuple(name for name in names if name in titles)


def _of_inputs(
    site: Site, key: str, ports: tuple[Port, ...], lacking: Collection[str]
) -> dict[str, str]:
    """An object in `metadata.cinatra` by names of inputs; other names are told."""
    titles = {port.title for port in ports}
    named = cinatra_text_map(site, key)
    for name in named:
        if name not in titles and name not in lacking and not site.has_unread_ports:
            site.findings.warning(
                "OAS034",
                f'metadata.cinatra.{key} names "{name}", which is not an input of {site.label}',
                site.place(child(f"{site.component.pointer}/metadata/cinatra/{key}", name)),
                hint=nearest(name, titles, site.findings),
            )
    return named


START = NodeKind(
    component_type="StartNode",
    node=ir.StartNode,
    build=build_start,
    words="Where a flow begins; its inputs are the flow's parameters.",
    fields={**NODE_FIELDS, "inputs": Field("list", "The flow's parameters.")},
    acts=False,
    shows_screens=True,
    shape="start",
    caption="start",
    metadata={
        "required": TEXTS,
        "hidden": TEXTS,
        "inputRenderers": TEXT_MAP,
        "inputTitles": TEXT_MAP,
        "inputDataSources": {"type": "object"},
        "inputContract": ANY,
    },
    lowering="oas_compiler.lower.plain_nodes:lower_start",
)
