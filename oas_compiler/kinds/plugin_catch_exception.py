"""PluginCatchExceptionNode: WayFlow's flow that may fail.

except_on: {"ValueError": "wrong"}, catch_all_exceptions: true
    ->  the branches of the flow, "wrong" and "default_exception_branch",
        and the outputs "exception_name" and "exception_payload_name"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from oas_compiler import ir
from oas_compiler.component_facts.component import PLUGIN_FIELDS, SUBFLOW, Field, Site, common
from oas_compiler.component_facts.inference import branches_of, checked_branches, specialised
from oas_compiler.ir import Json, JsonValue, Port, ScalarType
from oas_compiler.kinds.kind import NodeKind, build_unknown
from oas_compiler.text.marks import child

DEFAULT_BRANCH: Final = "default_exception_branch"
NAME: Final = "exception_name"
PAYLOAD: Final = "exception_payload_name"
_EMPTY: Final[Mapping[str, JsonValue]] = {
    "string": "", "integer": 0, "number": 0, "boolean": False, "null": None,
}  # fmt: skip


def build_plugin_catch(site: Site) -> ir.Node:
    if not site.subflows_are_whole:
        return build_unknown(site)
    subflow = site.subflows[0]
    catches_all = site.component.flag("catch_all_exceptions", default=False)
    named = _read_branches(site)
    about = tuple(
        Port(title=title, type=ir.STRING, default=Json.of(""), place=site.place())
        for title in (NAME, PAYLOAD)
    )
    outputs = specialised(site, "outputs", (*subflow.outputs, *about), "flow")
    branches = (*branches_of(subflow), *named.values(), *([DEFAULT_BRANCH] if catches_all else []))
    return ir.PluginCatchExceptionNode(
        **common(site),
        inputs=specialised(site, "inputs", subflow.inputs, "flow"),
        outputs=tuple(_give_default(port) for port in outputs),
        branches=checked_branches(site, tuple(dict.fromkeys(branches))),
        subflow=subflow,
        except_on=tuple(named.items()),
        catches_all=catches_all,
    )


def _give_default(port: Port) -> Port:
    """After a failure each output has its default, or what is empty of its type."""
    if port.default is not None:
        return port
    return replace(port, default=Json.of(_make_empty(port.type)))


def _make_empty(kind: ir.Type) -> JsonValue:
    if isinstance(kind, ScalarType):
        return _EMPTY[kind.kind]
    if isinstance(kind, ir.ArrayType):
        return []
    if isinstance(kind, ir.ObjectType):
        return {}
    return None


def _read_branches(site: Site) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, branch in site.component.mapping("except_on").items():
        if isinstance(branch, str):
            found[name] = branch
        else:
            place = site.place(child(site.component.at("except_on"), name))
            message = f'the branch for "{name[:80]}" must be a string'
            site.findings.error("OAS039", message, place, hint="quote the name of the branch")
    return found


PLUGIN_CATCH_EXCEPTION = NodeKind(
    component_type="PluginCatchExceptionNode",
    node=ir.PluginCatchExceptionNode,
    build=build_plugin_catch,
    words="Runs a flow and goes another way when it fails, by the name of the exception.",
    fields={
        **PLUGIN_FIELDS,
        "flow": SUBFLOW,
        "except_on": Field("object", "Class of an exception that a tool raises → branch."),
        "catch_all_exceptions": Field("flag", "Whether other failures are caught, too."),
    },
    flows=("flow",),
    passage="caught",
    acts=False,
    lowering="oas_compiler.lower.plain_nodes:lower_plugin_catch",
)
