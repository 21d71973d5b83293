"""The values of an output can become values of the input that it feeds.

a string into an integer               ->   OAS064
"green" or "blue" into "red" or "white"   ->   OAS064
an object into one with the member "id"   ->   OAS064 in a plain Agent Spec document
"""

from __future__ import annotations

from typing import Final

from oas_compiler.checks.lookup.edges import Titles, input_of
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import ANY, ArrayType, Port, UnionType
from oas_compiler.ir.printout import brief, contrast
from oas_compiler.port_types import Choices, Pairs, breadth, castable, choices_meet, choices_of

_MOST_WORK: Final = 1_000_000
"""Parts of types that are compared in one document; beyond, edges are cast unchecked at run time.

A flow that people wrote needs a hundredth of it.
"""


@rule(
    code="OAS064",
    name="castable-edges",
    severity="error",
    summary="An output feeds an input that could never take its values.",
    fix="Change one of the two types so that the values agree.",
    source="Agent Spec, type castability",
    needs="flow",
    bad='{"title": "count", "type": "string"}   feeds   {"title": "limit", "type": "integer"}',
    good='{"title": "count", "type": "integer"}   feeds   {"title": "limit", "type": "integer"}',
)
def castable_edges(subject: Subject, report: Report) -> None:
    pairs = Pairs(_MOST_WORK)
    for flow in subject.flows:
        titles, known = Titles(flow), _Known()
        for edge in flow.data_edges:
            source, target = flow.by_id.get(edge.source), flow.by_id.get(edge.target)
            if source is None or target is None:
                continue
            output = titles.outputs(source).get(edge.output)
            into = titles.inputs(target).get(edge.input)
            if output is None or into is None or pairs.left <= 0:
                continue
            pairs.left -= known.size(output) + known.size(into)
            names = f'"{source.id}.{output.title}"', f'"{target.id}.{into.title}"'
            if not castable(output.type, into.type, pairs, strict=subject.document.is_plain):
                types = contrast(output.type, into.type)
                message = f"{names[0]} is {types[0]}, {names[1]} takes {types[1]}"
                hint = _format_hint(output, into, names)
            elif not choices_meet(known.choices(output), known.choices(into)):
                message = f"{names[0]} and {names[1]} have no allowed value in common"
                hint = f"give the enum of {names[1]} a value that {names[0]} may have"
            else:
                continue
            report(message, input_of(subject, flow, edge), hint=hint)


def _format_hint(output: Port, into: Port, names: tuple[str, str]) -> str:
    if output.type == ANY and into.type != ANY:
        return f'declare the type of the output "{output.title}": {brief(into.type)}'
    if isinstance(output.type, ArrayType) and not isinstance(into.type, (ArrayType, UnionType)):
        return "take one of its items in a node between the two, or make the input an array"
    if isinstance(into.type, ArrayType) and not isinstance(output.type, (ArrayType, UnionType)):
        return f'make the output "{output.title}" an array, or take one value'
    return f"give {names[0]} and {names[1]} one type"


class _Known:
    """What is asked of a port again for each of its edges."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}
        self._choices: dict[int, Choices] = {}

    def size(self, port: Port) -> int:
        if id(port) not in self._sizes:
            self._sizes[id(port)] = breadth(port.type)
        return self._sizes[id(port)]

    def choices(self, port: Port) -> Choices:
        if id(port) not in self._choices:
            self._choices[id(port)] = choices_of(port.schema)
        return self._choices[id(port)]
