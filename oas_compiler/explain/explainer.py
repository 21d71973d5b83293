"""A flow file in, its `Explanation` out.

In: the arguments of `compile_ir`.  Out: every node with its reads and writes, every gate with the
sends that it guards, and the data that a host derives.  Nothing is run, and neither LangGraph nor a
database is needed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path as FilePath
from typing import Final

from cinatra_sdk.contract import (
    BASE_URL,
    BASE_URL_MARK,
    FALLBACK_RENDERER,
    RUN_ID_INPUTS,
    SEND_SUFFIXES,
)
from cinatra_sdk.data.templates.placeholders import ENVIRONMENT_PLACEHOLDER
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler import ir
from oas_compiler.checks.credentials.credential_cover import Labels
from oas_compiler.control.approval import Approval, visible_required
from oas_compiler.control.flow_control import FlowControl
from oas_compiler.control.gates import GateSpec
from oas_compiler.control.graph import ControlGraph
from oas_compiler.document.scope import Document
from oas_compiler.explain.explanation import (
    Derived,
    Explanation,
    FlowWiring,
    GateFacts,
    InnerFlow,
    NodeFacts,
    Placeholder,
    Role,
    RunInput,
    Send,
    Write,
    call_of,
)
from oas_compiler.findings.finding import Finding, Findings
from oas_compiler.ir import (
    FlowIR,
    InputMessageNode,
    Json,
    JsonValue,
    Node,
    Path,
    StartNode,
    open_flows,
    walk,
)
from oas_compiler.ir.printout import shown
from oas_compiler.kinds.registry import kind_of
from oas_compiler.package.dependencies import wanted
from oas_compiler.package.package import Package, find_package
from oas_compiler.pipeline import USUAL_LOADING, Loading, PreparedFile, compile_prepared, prepare
from oas_compiler.schema.flow_schemas import end_schema, input_schema
from oas_compiler.templates import strings
from oas_compiler.text.file_access import first_of
from oas_compiler.text.source import Source, SourceInput, read_below

# ----------------------------------------------------------------------------
# Records of gates and of the sends that they guard: no way reaches a guarded send without its
# gate.
#
# start → gate → send        gate guards send;  send is guarded, always by gate
# start → check ─a→ gate → send, check ─b→ send
#                            gate comes before send on some ways;  send is not guarded


MAX_GUARDS = 50
"""The nearest gates that are named for one send."""
MAX_WALKS = 200
"""Sends for which gates on only some ways are searched; each search walks the whole flow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Guarded:
    path: Path
    risk_class: str
    guarded: bool
    always: tuple[Path, ...]
    sometimes: tuple[Path, ...]


def sends_of(guarding: FlowControl) -> tuple[_Guarded, ...]:
    """Every node of a send class, with the gates before it."""
    graph, asking = guarding.graph, guarding.asking
    found: list[_Guarded] = []
    for path, node in walk(guarding.flow):
        if path not in guarding.sends or not guarding.acts(path):
            continue
        acts = graph.done(path)
        gates = (above for above in graph.always_before(acts) if above in asking)
        always = tuple(islice(gates, MAX_GUARDS))
        before = asking.intersection(graph.sometimes_before(acts)) if len(found) < MAX_WALKS else ()
        found.append(
            _Guarded(
                path=path,
                risk_class=node.risk_class,
                guarded=not guarding.is_open(path),
                always=always,
                sometimes=tuple(sorted({*before} - {*always})[:MAX_GUARDS]),
            )
        )
    return tuple(found)


def send_records(found: Sequence[_Guarded]) -> tuple[Send, ...]:
    return tuple(
        Send(
            path="/".join(one.path),
            risk_class=one.risk_class,
            guarded=one.guarded,
            always=_join_paths(one.always),
            sometimes=_join_paths(one.sometimes),
        )
        for one in found
    )


def gate_records(
    guarding: FlowControl, wirings: dict[Path, FlowWiring], sends: Sequence[_Guarded]
) -> dict[Path, GateFacts]:
    """Every gate, by path, in the order of the policy's steps."""
    guards: dict[Path, list[Path]] = {}
    before: dict[Path, list[Path]] = {}
    for one in sends:
        for gate in one.always:
            guards.setdefault(gate, []).append(one.path)
        for gate in one.sometimes:
            before.setdefault(gate, []).append(one.path)
    facts = {}
    for spec in guarding.gates.values():
        made = _build_gate_facts(spec, wirings[spec.path[:-1]], asks=spec.path in guarding.asking)
        facts[spec.path] = replace(
            made,
            guards=_join_paths(guards.get(spec.path, ())),
            also_before=_join_paths(before.get(spec.path, ())),
        )
    return facts


def _build_gate_facts(spec: GateSpec, wiring: FlowWiring, *, asks: bool) -> GateFacts:
    node = wiring.flow.by_id[spec.node]
    assert isinstance(node, InputMessageNode)
    start = wiring.flow.start_node()
    return GateFacts(
        path="/".join(spec.path),
        step=spec.step,
        name=spec.name,
        risk_class=spec.risk_class,
        renderer=spec.renderer or FALLBACK_RENDERER,
        asks=asks,
        answer=node.outputs[0].title,
        answer_schema=node.answer_schema,
        shows=tuple(port.title for port in node.inputs),
        shows_inputs=tuple(port.title for port in start.outputs if port.title not in start.hidden),
        shows_message=bool(node.message),
        shows_after=wiring.shown_before(node),
        max_visits=node.max_visits,
    )


def wirings_of(
    flow: FlowIR, graph: ControlGraph, around: Path = (), outer: tuple[Node, ...] = ()
) -> Iterator[tuple[Path, FlowWiring]]:
    """The flow and every subflow, each at each of its places; `outer`: the nodes around the flow."""
    yield around, FlowWiring(flow=flow, around=around, outer=outer, graph=graph)
    for node in flow.nodes:
        for inside, subflow in open_flows(node, (*around, node.id)):
            yield from wirings_of(subflow, graph, inside, (*outer, node))


def _join_paths(paths: Sequence[Path]) -> tuple[str, ...]:
    return tuple("/".join(path) for path in paths)


# ----------------------------------------------------------------------------
# The data that Cinatra's compiler would derive from a flow and its package.
#
# In: the IR, the package around the file, the document as written.  Out: `Derived`.
#
#     a step that reads start.topic and the output x of the node right before it and y of a third
#         ->  inputMapping {"topic": "{{input_params.topic}}", "x": "{{child_output.x}}",
#                           "y": "{{third_output.y}}"}
#
# Source of the rules: Cinatra's compile rules 3, 5, 6, 9, 10 and 11.


SETTINGS: Final = "cinatra.json"
FULL_RUNTIMES: Final = frozenset({"wayflow", "cinatra-linear", "langgraph"})
"""Runtimes that can hold back a single step: Cinatra's two, and this project's, whose gates are per
step.
"""


def derive(
    flow: FlowIR,
    approval: Approval,
    *,
    package: Package | None,
    document: Document | None,
    file: str,
    findings: Findings,
) -> Derived:
    """All data that Cinatra stores beside a flow."""
    dependencies: dict[str, JsonValue] = {
        one.name: one.range for one in wanted(package.cinatra if package is not None else {})
    }
    results = end_schema(flow)
    settings = _read_host_settings(package, file, findings)
    return Derived(
        approval_policy=Json.of(approval.policy()),
        input_schema=Json.of(input_schema(flow)),
        output_schema=Json.of(results) if results is not None else None,
        input_mapping=tuple(_input_mapping(flow, approval)),
        agent_dependencies=Json.of(dependencies),
        limits=Json.of(settings) if settings is not None else None,
        trigger_mode=_trigger_mode(flow),
        gated_steps=tuple(_gated_steps(flow, approval)),
        produces_object_types=_object_types(document),
    )


def _input_mapping(flow: FlowIR, approval: Approval) -> Iterator[tuple[int, str, Json]]:
    position = {node.id: index for index, node in enumerate(flow.in_order())}
    for step in approval.steps:
        mapping: dict[str, JsonValue] = {}
        for edge in flow.data_edges_into(step.node_id):
            if edge.source == flow.start:
                text = f"{{{{input_params.{edge.output}}}}}"
            elif position[edge.source] == position[step.node_id] - 1:
                text = f"{{{{child_output.{edge.output}}}}}"
            else:
                text = f"{{{{{edge.source}_output.{edge.output}}}}}"
            mapping[edge.input] = text
        if mapping:
            yield step.number, step.node_id, Json.of(mapping)


def _trigger_mode(flow: FlowIR) -> str:
    runtime = flow.cinatra.mapping().get("runtime")
    return "full" if runtime is None or runtime in FULL_RUNTIMES else "start-only"


def _gated_steps(flow: FlowIR, approval: Approval) -> Iterator[int]:
    """The gated steps; a step of a node that runs flows counts only if the author declares side effects."""
    for step in approval.steps:
        node = flow.by_id[step.node_id]
        said = node.cinatra.mapping().get("sideEffects") is True
        if said or (step.risk_class.endswith(SEND_SUFFIXES) and not node.subflows):
            yield step.number


def _object_types(document: Document | None) -> tuple[str, ...] | None:
    """The object types that the root flow's outputs declare."""
    root = document.root.value if document is not None and document.root is not None else None
    outputs = root.get("outputs") if isinstance(root, dict) else None
    found = []
    for output in outputs if isinstance(outputs, list) else ():
        said = output.get("cinatra") if isinstance(output, dict) else None
        kind = said.get("object_type") if isinstance(said, dict) else None
        if isinstance(kind, str) and kind:
            found.append(kind)
    return tuple(dict.fromkeys(found)) or None


def _read_host_settings(
    package: Package | None, file: str, findings: Findings
) -> dict[str, JsonValue] | None:
    """The parts of cinatra.json that a host reads; the file lies beside package.json or the
    flow.
    """
    folders = [package.root] if package is not None else []
    if file:
        folders.append(FilePath(file).parent)
    for folder in folders:
        if first_of(folder, (SETTINGS,)) is None:
            continue
        source = read_below(folder, SETTINGS, findings)
        value = source.value if source is not None else None
        known = ("limits", "requiredConnections", "defaults")
        return {key: value[key] for key in known if key in value} if isinstance(value, dict) else {}
    return None


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
    prepared = prepare(source, tools=tools, env_names=tuple(env or ()), loading=loading)
    return explain_prepared(prepared, env=env)


def explain_prepared(
    prepared: PreparedFile, *, env: Mapping[str, str] | None = None
) -> Explanation:
    """As `explain`, of a file that was read already.

    Raises:
        CompileError: the flow has errors.

    """
    compiled = compile_prepared(prepared, conceal=Labels())
    findings = Findings()
    written = prepared.written
    document = None if written is None else Document(written, written.value, Findings())
    package = find_package(compiled.file, findings) if compiled.file else None
    placed = _Explaining(compiled.control)
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

    def __init__(self, guarding: FlowControl) -> None:
        self.flow = flow = guarding.flow
        self.guarding = guarding
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
