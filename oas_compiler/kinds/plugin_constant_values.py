"""PluginConstantValuesNode: fixed values, each of which is an output.

constant_values: {"limit": 3, "greeting": "Hello"}    ->  outputs "limit" (integer), "greeting"

Source: WayFlow's `PluginConstantValuesNode`, whose values are texts, numbers and booleans.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.component_facts.component import PLUGIN_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import next_only, none_declared, specialised
from oas_compiler.findings.finding import describe
from oas_compiler.ir import STRING, Json, JsonValue, Node, Port, ScalarType
from oas_compiler.ir.printout import shown
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.port_types import castable
from oas_compiler.text.marks import child


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginConstantValuesNode(Node):
    """In the IR: the outputs and their values."""

    constant_values: tuple[tuple[str, Json], ...] = ()


def build_constant_values(site: Site) -> Node:
    values = site.component.mapping("constant_values")
    inferred = tuple(_infer_output(site, title, value) for title, value in values.items())
    outputs = specialised(site, "outputs", inferred, "constant_values")
    for port, declared in zip(inferred, outputs, strict=True):
        if not castable(port.type, declared.type):
            site.findings.error(
                "OAS036",
                f'the constant value "{port.title}" of {site.label} is {shown(port.type)}, '
                f"its output is {shown(declared.type)}",
                declared.place,
                hint="declare the type of the value, or leave outputs out",
            )
    return PluginConstantValuesNode(
        **common(site),
        inputs=none_declared(site, "inputs"),
        outputs=outputs,
        branches=next_only(site),
        constant_values=tuple((title, Json.of(value)) for title, value in values.items()),
    )


def _infer_output(site: Site, title: str, value: JsonValue) -> Port:
    place = site.place(child(site.component.at("constant_values"), title))
    kind = _TYPES.get(type(value))
    if kind is None:
        site.findings.error(
            "OAS022",
            f'the constant value "{title}" of {site.label} must be a text, a number or a boolean, '
            f"not {describe(value)}",
            place,
        )
        return Port(title=title, place=place)
    return Port(title=title, type=kind, schema=Json.of({"type": kind.kind}), place=place)


_TYPES: Final[Mapping[type, ScalarType]] = {
    str: STRING,
    bool: ScalarType("boolean"),
    int: ScalarType("integer"),
    float: ScalarType("number"),
}
"""The types of constant values, and those of their outputs."""

PLUGIN_CONSTANT_VALUES = NodeKind(
    component_type="PluginConstantValuesNode",
    node=PluginConstantValuesNode,
    build=build_constant_values,
    words="Gives fixed values.",
    fields={
        **PLUGIN_FIELDS,
        "constant_values": Field("object", "Output → its value.", required=True),
    },
    acts=False,
    caption="constant values",
    lowering="oas_compiler.lower.plain_nodes:lower_constant_values",
)
