"""BranchingNode, and the two plugin nodes that real flows decide with.

mapping: {"send": "send"}         ->  branches ("send", "default")
PluginRegexNode, first match only ->  a string, else a list of strings
"""

from __future__ import annotations

from oas_compiler import ir
from oas_compiler.build.nodes.calls import build_unknown
from oas_compiler.build.nodes.inference import (
    checked_branches,
    exactly_one,
    next_only,
    none_declared,
    template_inputs,
)
from oas_compiler.build.nodes.site import Site, common
from oas_compiler.build.patterns import pattern_flaw
from oas_compiler.ir import Port
from oas_compiler.ir.type_names import shown
from oas_compiler.text.bounds import MAX_PATTERN
from oas_compiler.text.marks import child
from oas_compiler.types.casting import castable


def build_branching(site: Site) -> ir.Node:
    if "mapping" in site.component.unread:
        return build_unknown(site)  # its branches are not known, which has its finding
    mapping: list[tuple[str, str]] = []
    for key, branch in site.component.mapping("mapping").items():
        if isinstance(branch, str):
            mapping.append((key, branch))
        else:
            pointer = child(site.component.at("mapping"), key)
            site.findings.error(
                "OAS039",
                f'the branch for "{key}" must be a string',
                site.place(pointer),
                hint="quote the name of the branch",
            )
    if len(mapping) < len(site.component.mapping("mapping")):
        return build_unknown(site)
    real = tuple(dict.fromkeys([*(branch for _, branch in mapping), "default"]))
    inputs = site.declared("inputs")
    if inputs is None:
        inputs = (Port(title="branching_mapping_key", type=ir.STRING, place=site.place()),)
    return ir.BranchingNode(
        **common(site),
        inputs=exactly_one(site, inputs, "inputs", "input, the value to branch on"),
        outputs=none_declared(site, "outputs"),
        branches=checked_branches(site, real),
        mapping=tuple(mapping),
    )


def build_regex(site: Site) -> ir.Node:
    text = Port(title="text", type=ir.STRING, place=site.place())
    first_only = site.component.flag("return_first_match_only", default=True)
    found: ir.Type = ir.STRING if first_only else ir.ArrayType(ir.STRING)
    output = Port(title="output", type=found, place=site.place())
    inputs, outputs = site.declared("inputs"), site.declared("outputs")
    inputs = exactly_one(site, (text,) if inputs is None else inputs, "inputs", "input, the text")
    outputs = exactly_one(site, (output,) if outputs is None else outputs, "outputs", "output")
    for port in outputs:
        if not castable(found, port.type):
            site.findings.error(
                "OAS036",
                f"{site.label} finds {shown(found)}, its output is {shown(port.type)}",
                port.place,
                hint="return_first_match_only decides between a string and a list of strings",
            )
    pattern = site.component.text("regex_pattern")
    _check_pattern(site, pattern)
    return ir.RegexNode(
        **common(site),
        inputs=inputs,
        outputs=outputs,
        branches=next_only(site),
        pattern=pattern,
        first_only=first_only,
    )


def _check_pattern(site: Site, pattern: str) -> None:
    if len(pattern) > MAX_PATTERN:
        message = f"the pattern has {len(pattern):,} characters, at most {MAX_PATTERN:,} are read"
        site.error("OAS033", message, "regex_pattern")
        return
    flawed = pattern_flaw(pattern)
    if flawed is not None:
        message = f"the pattern is not a regular expression: {flawed.detail or flawed}"
        site.error("OAS033", message, "regex_pattern")


def build_template(site: Site) -> ir.Node:
    outputs = site.declared("outputs")
    output = Port(title="output", type=ir.STRING, place=site.place())
    return ir.TemplateNode(
        **common(site),
        inputs=template_inputs(site, "template"),
        outputs=exactly_one(site, (output,) if outputs is None else outputs, "outputs", "output"),
        branches=next_only(site),
        template=site.component.text("template"),
    )
