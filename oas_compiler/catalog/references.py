"""Cards of the findings while references are followed: OAS010 to OAS019."""

from __future__ import annotations

from oas_compiler.findings.rules import Rule

REFERENCES: tuple[Rule, ...] = (
    Rule(
        code="OAS010",
        name="unknown-reference",
        severity="error",
        summary="A `$component_ref` names a component that is not defined around it.",
        fix="Write the name of a component; in Cinatra files one of the flow's own "
        "`$referenced_components`.",
        source="Agent Spec, component model; Cinatra V13",
        aliases=("V13",),
        bad='"start_node": {"$component_ref": "strat"}',
        good='"start_node": {"$component_ref": "start"}',
    ),
    Rule(
        code="OAS011",
        name="circular-reference",
        severity="error",
        summary="References lead in a circle and never to a component.",
        fix="Define the component itself under one of the names.",
        source="Agent Spec, component model",
        bad='"a": {"$component_ref": "b"}, "b": {"$component_ref": "a"}',
        good='"a": {"$component_ref": "b"}, "b": {"component_type": "EndNode", …}',
    ),
    Rule(
        code="OAS012",
        name="defined-twice",
        severity="error",
        summary="A plain Agent Spec document defines one name in two `$referenced_components`.",
        fix="Rename one of the two. (In Cinatra files every flow has its own names.)",
        source="Agent Spec, component model",
        bad='two `$referenced_components`, both with   "write": {…}',
        good='one with   "write": {…}   and one with   "rewrite": {…}',
    ),
    Rule(
        code="OAS013",
        name="reference-not-text",
        severity="error",
        summary="A `$component_ref` is not a string.",
        fix="Quote the name.",
        source="Agent Spec, component model",
        also=("S6", "S7", "S8"),
        bad='{"$component_ref": 7}',
        good='{"$component_ref": "7"}',
    ),
    Rule(
        code="OAS014",
        name="wrong-kind-of-component",
        severity="error",
        summary="A reference or inline component is of the wrong kind.",
        fix="Refer to a component of the kind that belongs there: `subflow` leads to a `Flow`.",
        source="Agent Spec, component model",
        also=("S6", "S7", "S8"),
        bad='"subflow": {"$component_ref": "write"}   where write is an ApiNode',
        good='"subflow": {"$component_ref": "writing"}   where writing is a Flow',
        fixable=True,
    ),
    Rule(
        code="OAS015",
        name="flow-runs-itself",
        severity="error",
        summary="A flow runs itself, directly or through other flows.",
        fix="Use a loop of control edges instead.",
        source="Agent Spec, component model",
        bad='flow "a" with a FlowNode whose subflow is "a"',
        good='flow "a" whose last node leads back to an earlier one by a branch',
    ),
    Rule(
        code="OAS016",
        name="flows-too-deep",
        severity="error",
        summary="Flows stand inside each other deeper than 64 levels.",
        fix="Flatten the innermost flows.",
        source="oasflow, bounds",
        bad="a flow in a flow in a flow … (65 levels)",
        good="the nodes of the innermost flows in one flow",
    ),
    Rule(
        code="OAS017",
        name="one-id-two-components",
        severity="error",
        summary="Two different components of a plain Agent Spec document have one id.",
        fix="Give one of the two another id, or refer to the first. (In Cinatra files every flow "
        "has its own ids.)",
        source="Agent Spec, component model",
        bad='"llm_config": {"id": "llm", "model_id": "a", …}   and elsewhere   '
        '"llm_config": {"id": "llm", "model_id": "b", …}',
        good='"llm_config": {"$component_ref": "llm"}   in both places',
    ),
)
