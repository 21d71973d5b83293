"""MapNode and ParallelMapNode: not run yet, but their ports are known, so that edges can be checked.

subflow input "x": number    ->  "iterated_x": number | array<number>
subflow output "y": number   ->  "collected_y": array<number>, with {"y": "sum"} a number
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from oas_compiler import ir
from oas_compiler.build.nodes.calls import build_unsupported
from oas_compiler.build.nodes.inference import next_only, specialised
from oas_compiler.build.nodes.site import Site, common
from oas_compiler.document.unsupported import UnsupportedNode
from oas_compiler.findings.spelling import nearest
from oas_compiler.ir import ArrayType, Port, ScalarType
from oas_compiler.ir.type_names import brief
from oas_compiler.text.marks import child
from oas_compiler.types.casting import castable
from oas_compiler.types.type_algebra import union

_APPEND: Final = "append"
_REDUCERS: Final = (_APPEND, "sum", "average", "max", "min")


def build_map(site: Site) -> ir.Node:
    if not site.subflows_are_whole:
        return build_unsupported(site)
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
    return UnsupportedNode(
        **common(site),
        inputs=specialised(site, "inputs", inputs, "subflow"),
        outputs=specialised(site, "outputs", _collected(site, subflow.outputs), "subflow"),
        branches=next_only(site),
        inferred=True,
        subflows=site.subflows,
    )


def _collected(site: Site, outputs: tuple[Port, ...]) -> tuple[Port, ...]:
    """One output for each of the subflow's, or for those that have a reducer where any is given."""
    known = {port.title: port for port in outputs}
    if not site.component.has("reducers"):
        return tuple(_reduced(port, _APPEND) for port in outputs)
    ports: list[Port] = []
    for title, method in site.component.mapping("reducers").items():
        port = known.get(title)
        if port is None:
            _refuse(
                site,
                title,
                f'{site.label} reduces "{title}", which is no output of its subflow',
                nearest(title, known, site.findings),
            )
        elif not isinstance(method, str) or method not in _REDUCERS:
            what = f'"{method[:80]}"' if isinstance(method, str) else "this"
            hint = nearest(method, _REDUCERS, site.findings) if isinstance(method, str) else ""
            hint = hint or f"one of {', '.join(_REDUCERS)}"
            _refuse(site, title, f'{what} is not a way to reduce "{title}"', hint)
            ports.append(replace(_reduced(port, _APPEND), type=ir.ANY))
        else:
            if method != _APPEND and not castable(port.type, ScalarType("number")):
                message = f'"{method}" reduces numbers, "{title}" is {brief(port.type)}'
                _refuse(site, title, message, 'use "append", which makes a list')
            ports.append(_reduced(port, method))
    return tuple(ports)


def _reduced(port: Port, method: str) -> Port:
    kind = ArrayType(port.type) if method == _APPEND else port.type
    title = f"collected_{port.title}"
    return replace(port, title=title, type=kind, schema=ir.NOTHING, default=None)


def _refuse(site: Site, title: str, message: str, hint: str) -> None:
    place = site.place(child(site.component.at("reducers"), title))
    site.findings.error("OAS075", message, place, hint=hint)
