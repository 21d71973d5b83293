"""BranchingNode: a value chooses the branch.

mapping: {"send": "send"}         ->  branches ("send", "default")
"""

from __future__ import annotations

from oas_compiler import ir
from oas_compiler.component_facts.component import NODE_FIELDS, Field, Site, common
from oas_compiler.component_facts.inference import checked_branches, exactly_one, none_declared
from oas_compiler.ir import Port
from oas_compiler.kinds.kind import NodeKind, build_unknown
from oas_compiler.text.marks import child


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


BRANCHING = NodeKind(
    component_type="BranchingNode",
    node=ir.BranchingNode,
    build=build_branching,
    words="Chooses the way on by the value of its one input.",
    fields={
        **NODE_FIELDS,
        "inputs": Field("list", "Exactly one input: the value to branch on."),
        "mapping": Field(
            "object", "Value → branch; any other value leaves by `default`.", required=True
        ),
    },
    acts=False,
    shape="branch",
    caption="",
    lowering="oas_compiler.lower.plain_nodes:lower_branching",
)
