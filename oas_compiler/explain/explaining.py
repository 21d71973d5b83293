"""A flow file in, its `Explanation` out.

In: the arguments of `compile_ir`.  Out: every node with its reads and writes, every gate with the
sends that it guards, and the data that a host derives.  Nothing is run, and neither LangGraph nor a
database is needed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from cinatra_sdk.contract import BASE_URL, BASE_URL_MARK, RUN_ID_INPUTS
from cinatra_sdk.templates.environment import ENVIRONMENT_PLACEHOLDER
from oas_compiler import ir
from oas_compiler.checks.concealed import Labels
from oas_compiler.control.approval import visible_required
from oas_compiler.control.guarding import Guarding
from oas_compiler.document.scope import Document
from oas_compiler.explain.guarding import gate_records, send_records, sends_of, wirings_of
from oas_compiler.explain.host import derive
from oas_compiler.explain.records import (
    Explanation,
    GateFacts,
    InnerFlow,
    NodeFacts,
    Placeholder,
    Role,
    RunInput,
    Write,
)
from oas_compiler.explain.wiring import FlowWiring, call_of
from oas_compiler.findings.finding import Finding, Findings
from oas_compiler.ir import FlowIR, Node, Path, StartNode, open_flows, walk
from oas_compiler.ir.type_names import shown
from oas_compiler.kinds.registry import kind_of
from oas_compiler.package.package import Package, find_package
from oas_compiler.pipeline import USUAL_LOADING, Loading, compile_ir
from oas_compiler.templates.reading import strings
from oas_compiler.text.source import Source, SourceInput, read_source

_PLATFORM = re.compile(BASE_URL_MARK)


def explain(
    source: SourceInput,
    *,
    env: Mapping[str, str] | None = None,
    tools: Collection[str] | None = None,
    loading: Loading = USUAL_LOADING,
) -> Explanation:
    """Explain one flow; with its package.json and cinatra.json where it has them.

    Args:
        source: as for `compile_ir`.
        env: the `{{UPPER_CASE}}` placeholders that will have a value; no value is shown.
        tools: names of the registered server tools; `None` does not check them.
        loading: as for `compile_ir`.

    Raises:
        CompileError: the flow has errors.

    """
    labels = Labels()
    compiled = compile_ir(
        source, tools=tools, env_names=tuple(env or ()), conceal=labels, loading=loading
    )
    findings = Findings()
    written = read_source(source, Findings())
    document = None if written is None else Document(written, written.value, Findings())
    package = find_package(compiled.file, findings) if compiled.file else None
    placed = _Explaining(compiled.ir)
    about = placed.flow.cinatra.mapping()
    return Explanation(
        id=placed.flow.id,
        name=placed.flow.name,
        description=placed.flow.description,
        package=placed.flow.package_name or _read_manifest_text(package, "name"),
        version=_read_manifest_text(package, "version"),
        type=kind if isinstance(kind := about.get("type"), str) else "",
        file=compiled.file,
        digest=compiled.digest,
        inputs=tuple(_run_inputs(placed.flow)),
        outputs=placed.outputs(),
        nodes=tuple(placed.nodes()),
        gates=tuple(placed.gates.values()),
        sends=send_records(placed.sends),
        environment=tuple(_list_placeholders(written, env or {})),
        context_slots=tuple(_list_slot_ids(placed.flow)),
        derived=derive(
            placed.flow,
            placed.approval,
            package=package,
            document=document,
            file=compiled.file,
            findings=findings,
        ),
        findings=(*compiled.warnings, *_as_warnings(findings)),
    )


def _as_warnings(findings: Findings) -> Iterator[Finding]:
    """Findings about the files around the flow become warnings: the flow itself can still be
    explained.
    """
    for finding in findings:
        yield replace(finding, severity="warning")


class _Explaining:
    """One flow, with facts that are computed once for all its nodes."""

    def __init__(self, flow: FlowIR) -> None:
        self.flow = flow
        self.guarding = Guarding(flow=flow)
        self.approval = self.guarding.approval
        self.sends = sends_of(self.guarding)
        self.wirings: dict[Path, FlowWiring] = dict(wirings_of(flow, self.guarding.graph))
        self.gates: dict[Path, GateFacts] = gate_records(self.guarding, self.wirings, self.sends)
        self._steps: dict[str, list[int]] = {}
        for step in self.approval.steps:
            self._steps.setdefault(step.node_id, []).append(step.number)

    def nodes(self) -> Iterator[NodeFacts]:
        reached = self.guarding.reached
        for path, node in walk(self.flow):
            facts = self._build_node_facts(path, node)
            yield facts if path in reached else replace(facts, reached=False)

    def _build_node_facts(self, path: Path, node: Node) -> NodeFacts:
        wiring = self.wirings[path[:-1]]
        return NodeFacts(
            path="/".join(path),
            id=node.id,
            name=node.name,
            type=kind_of(node).component_type,
            description=node.description,
            depth=len(wiring.outer),
            risk_class=node.risk_class,
            reached=True,
            reads=wiring.reads(node),
            writes=wiring.writes(node),
            ways=wiring.ways(node),
            call=call_of(node),
            gate=self.gates.get(path),
            steps=tuple(self._steps.get(node.id, ())) if len(path) == 1 else (),
            package=node.package_name if isinstance(node, ir.FlowNode) else "",
            flows=_list_inner_flows(node, path),
            role=_describe_role(node),
            confirmed=node.behind.asks_person,
            prompt=_find_prompt(node),
            told=tuple(_list_told(node)),
        )

    def outputs(self) -> tuple[Write, ...]:
        """The declared results, with the EndNodes that give them."""
        ends = [node for node in self.flow.in_order() if isinstance(node, ir.EndNode)]
        return tuple(
            Write(
                output=port.title,
                type=shown(port.type),
                readers=tuple(
                    end.id for end in ends if any(port.title == own.title for own in end.outputs)
                ),
                leaves_as="result",
            )
            for port in self.flow.outputs
        )


def _list_inner_flows(node: Node, path: Path) -> tuple[InnerFlow, ...]:
    if len(node.subflows) < 2:
        return ()
    return tuple(
        InnerFlow(path="/".join(around), id=flow.id, name=flow.name)
        for around, flow in open_flows(node, path)
    )


def _run_inputs(flow: FlowIR) -> Iterator[RunInput]:
    start = flow.start_node()
    renderers = dict(start.renderers)
    for port in start.inputs:
        described = port.schema.mapping().get("description")
        yield RunInput(
            title=port.title,
            type=shown(port.type),
            role=_classify_input(port.title, start),
            hidden=port.title in start.hidden,
            default=port.default,
            renderer=renderers.get(port.title, ""),
            description=described if isinstance(described, str) else "",
        )


def _classify_input(title: str, start: StartNode) -> Role:
    if title in RUN_ID_INPUTS:
        return "host"
    if title in visible_required(start):
        return "asked"
    has_default = any(port.title == title and port.default is not None for port in start.inputs)
    return "caller" if title in start.required and not has_default else "optional"


def _list_placeholders(source: Source | None, env: Mapping[str, str]) -> Iterator[Placeholder]:
    """Every `{{NAME}}` of the file as written, by name."""
    found: dict[str, list[str]] = {}
    for text, pointer in strings(source.value, "") if source is not None else ():
        usual = _PLATFORM.sub("{{" + BASE_URL + "}}", text)
        for name in ENVIRONMENT_PLACEHOLDER.findall(usual):
            found.setdefault(name, []).append(pointer)
    for name, pointers in sorted(found.items()):
        assert source is not None
        line = min(source.place(pointer).line for pointer in pointers)
        yield Placeholder(name=name, count=len(pointers), line=line, given=name in env)


def _list_slot_ids(flow: FlowIR) -> Iterator[str]:
    slots = flow.cinatra.mapping().get("contextSlots")
    for slot in slots if isinstance(slots, list) else ():
        name = slot.get("slotId") if isinstance(slot, dict) else None
        if isinstance(name, str):
            yield name


def _read_manifest_text(package: Package | None, key: str) -> str:
    value = package.manifest.get(key) if package is not None else None
    return value if isinstance(value, str) else ""


def _describe_role(node: Node) -> str:
    """What a node does in the flow of an agent; empty for a node that stands in the file."""
    kind = kind_of(node)
    if type(node) is kind.node or kind.node is not ir.AgentNode or not callable(kind.caption):
        return ""
    return kind.caption(node)


def _find_prompt(node: Node) -> str:
    if isinstance(node, ir.AgentModelNode):
        return node.system_prompt
    return node.prompt_template if isinstance(node, ir.LlmNode) else ""


def _list_told(node: Node) -> Iterator[str]:
    """What the model of a node gets beside its prompt."""
    if not isinstance(node, ir.AgentModelNode | ir.LlmNode):
        return
    if node.first_turn is not None:
        image, workspace = node.first_turn
        where = f", workspace {workspace}" if workspace else ""
        yield f'the first turn of "{image}"{where}'
    if node.attached:
        yield f'the files of "{node.attached}"'
