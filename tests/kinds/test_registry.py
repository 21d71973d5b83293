"""The kinds of nodes: every record leads to what it names, and a kind that cannot be taken is refused."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from importlib import metadata
from importlib.metadata import EntryPoint
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cinatra_sdk.errors import KindRefused
from cinatra_sdk.flow.plan.frame import NodeBody
from oas_compiler import CompileError, check, compile_ir
from oas_compiler.component_facts.component import NODE_FIELDS, SUBFLOW, Field, Site, common
from oas_compiler.ir import FlowIR, Node, PluginTemplateNode
from oas_compiler.kinds import registry
from oas_compiler.kinds.flow import FLOW
from oas_compiler.kinds.kind import NodeKind
from oas_compiler.kinds.plugin_template import PLUGIN_TEMPLATE
from oas_compiler.kinds.registry import (
    BUILT_IN,
    all_kinds,
    find_kind,
    find_refusal,
    kind_of,
    refuse,
)
from oas_compiler.lower.node_functions import PlanSite, load_lowering, plan_work
from tests.flows import api, end, flow_of, gate, node, start, tool


@dataclass(frozen=True, slots=True, kw_only=True)
class EchoNode(Node):
    pass


ECHO = replace(PLUGIN_TEMPLATE, component_type="EchoNode", node=EchoNode)
OTHER_ECHO = replace(ECHO)
SHOUT = replace(ECHO, component_type="ShoutNode")
TEMPLATE_AGAIN = replace(ECHO, component_type="PluginTemplateNode")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxNode(Node):
    subflows: tuple[FlowIR, ...] = ()


def build_box(site: Site) -> Node:
    return BoxNode(**common(site), subflows=site.subflows)


BOX = NodeKind(
    component_type="BoxNode",
    node=BoxNode,
    build=build_box,
    words="Runs a flow.",
    fields={**NODE_FIELDS, "subflow": SUBFLOW},
    flows=("subflow",),
    acts=False,
)
WHOLE_BOX = replace(BOX, passage="flow")


def lower_acting(_site: Any) -> NodeBody:
    return NodeBody(run=lambda _state, _runtime: {}, acts=True)


ACTS_UNTOLD = replace(ECHO, lowering=f"{__name__}:lower_acting")
ACTS = replace(ACTS_UNTOLD, acts=True)


def __getattr__(name: str) -> Any:
    """A module that fails in its own way when a kind is taken from it."""
    if name == "BROKEN":
        raise ValueError("half of it is missing")
    if name == "LEAVING":
        sys.exit(0)
    raise AttributeError(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatNode(Node):
    """Runs a flow, and does not say so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRepeatNode(Node):
    subflow: FlowIR

    @property
    def subflows(self) -> tuple[FlowIR, ...]:
        return (self.subflow,)


def build_hiding(site: Site) -> Node:
    return RepeatNode(**common(site), branches=("next",))


def build_showing(site: Site) -> Node:
    return OpenRepeatNode(**common(site), branches=("next",), subflow=site.subflows[0])


NOTHING: Any = None
HIDING = replace(
    FLOW, component_type="RepeatNode", node=RepeatNode, build=build_hiding, metadata=None
)
SHOWING = replace(HIDING, node=OpenRepeatNode, build=build_showing)
MADE_BY_ANOTHER = replace(SHOWING, build=build_hiding)
NOT_MADE = replace(SHOWING, build=lambda _site: NOTHING)


def build_raising(_site: Site) -> Node:
    raise ValueError("no such thing")


def build_nameless(_site: Site) -> Node:
    return EchoNode(id="", name="")


def build_listing(site: Site) -> Node:
    ports: Any = ["text"]
    return EchoNode(**common(site), outputs=ports)


RAISING = replace(ECHO, build=build_raising)
ENDING = replace(ECHO, build=lambda _site: sys.exit(3))
NAMELESS = replace(ECHO, build=build_nameless)
ENDLESS = replace(ECHO, build=lambda site: EchoNode(**common(site), branches=()))
LISTING = replace(ECHO, build=build_listing)
AGENT = replace(ECHO, component_type="Agent")
OF_TEMPLATE = replace(ECHO, node=PluginTemplateNode)
WHOLE_ECHO = replace(ECHO, build=lambda site: EchoNode(**common(site)))
HIDING_TOOL = replace(
    WHOLE_ECHO, behind="tool", fields={**NODE_FIELDS, "tool": Field("component", "What it runs.")}
)
NO_CLASS = replace(ECHO, node=NOTHING)
NO_BUILDER = replace(ECHO, build=NOTHING)
NO_FIELD = replace(ECHO, flows=("subflow",))

BY_FORM = {kind.component_type: kind for kind in BUILT_IN}


def _make_entry(name: str, value: str, package: str) -> EntryPoint:
    """An entry point of a package with that name; `value` is of this module, or names another."""
    value = value if ":" in value else f"{__name__}:{value}"
    entry = EntryPoint(name, value, registry.GROUP)
    vars(entry)["dist"] = SimpleNamespace(name=package)
    return entry


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pretend that packages with these entry points are installed: `installed(EchoNode="ECHO")`."""

    def install(**values: str) -> None:
        found = [
            _make_entry(name.removesuffix("_"), value, "oasflow-test" + "-2" * name.endswith("_"))
            for name, value in values.items()
        ]
        monkeypatch.setattr(metadata, "entry_points", lambda group: found)
        registry.load_plugins.cache_clear()

    yield install
    registry.load_plugins.cache_clear()


@pytest.mark.parametrize("kind", BUILT_IN, ids=lambda kind: kind.component_type)
def test_a_kind_is_found_by_its_type_and_says_what_it_does(kind: NodeKind) -> None:
    assert find_kind(kind.component_type) is kind
    assert kind.words.endswith(".")
    assert kind.fields is None or kind.fields.keys() >= NODE_FIELDS.keys()
    assert set(kind.flows) <= set(kind.fields or ())
    assert not kind.behind or kind.behind in (kind.fields or ())


def test_each_module_of_the_folder_adds_its_kind_and_no_two_have_one_type() -> None:
    modules = {path.stem for path in Path(registry.__file__).parent.glob("*.py")}
    others = {"__init__", "extended", "kind", "registry", "packages", "no_nodes", "unknown"}
    assert len(BUILT_IN) == len(modules - others)
    assert len({kind.component_type for kind in BUILT_IN}) == len(BUILT_IN)


@pytest.mark.parametrize("kind", [kind for kind in BUILT_IN if kind.runs], ids=lambda kind: kind.component_type)  # fmt: skip
def test_a_kind_that_runs_names_the_function_that_lowers_it(kind: NodeKind) -> None:
    assert callable(load_lowering(kind))


def test_a_node_that_acts_although_its_kind_does_not_is_refused(installed: Any) -> None:
    nothing: Any = None
    site = PlanSite(node=EchoNode(id="a", name="a"), flow=nothing, path=("a",), approval=nothing)
    place: Any = SimpleNamespace(
        frame=None, wiring=SimpleNamespace(rules=None), depth=0, inline=False
    )
    installed(EchoNode="ACTS_UNTOLD")
    untold = plan_work(site)
    with pytest.raises(KindRefused, match=r"EchoNode of .* its record says that it does not act"):
        untold.make_body(place)
    installed(EchoNode="ACTS")
    assert plan_work(site).make_body(place).acts


def flow_with_a_send_inside() -> dict[str, Any]:
    def wrap(name: str, node: dict[str, Any]) -> dict[str, Any]:
        start = {"component_type": "StartNode", "id": f"{name}_start", "name": "s"}
        end = {"component_type": "EndNode", "id": f"{name}_end", "name": "e"}
        ids = [start["id"], node["id"], end["id"]]
        return {
            "component_type": "Flow", "id": name, "name": name,
            "start_node": {"$component_ref": ids[0]},
            "nodes": [{"$component_ref": one} for one in ids],
            "control_flow_connections": [
                {"component_type": "ControlFlowEdge", "name": one,
                 "from_node": {"$component_ref": one}, "to_node": {"$component_ref": other}}
                for one, other in pairwise(ids)
            ],
            "data_flow_connections": [],
            "$referenced_components": {one["id"]: one for one in (start, node, end)},
        }  # fmt: skip

    send = {
        "component_type": "ApiNode", "id": "send", "name": "Send", "http_method": "POST",
        "url": "https://example.org/send", "metadata": {"cinatra": {"riskClass": "email_send"}},
    }  # fmt: skip
    inner = wrap("inner", send)
    repeat = {"component_type": "RepeatNode", "id": "twice", "name": "Twice", "subflow": inner}
    return {"agentspec_version": "26.1.0", **wrap("outer", repeat)}


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("HIDING", "RepeatNode.subflows does not give the flows"),
        ("MADE_BY_ANOTHER", "its builder makes RepeatNode, not OpenRepeatNode"),
        ("NOT_MADE", "its builder makes NoneType, not OpenRepeatNode"),
    ],
)
def test_a_kind_whose_builder_would_hide_a_send_is_refused(
    installed: Any, kind: str, told: str
) -> None:
    installed(RepeatNode=kind)
    (refused,) = (one for one in check(flow_with_a_send_inside()) if one.code == "OAS055")
    assert told in refused.message
    assert 'the package "oasflow-test" cannot be used' in refused.message
    assert refused.hint == "uninstall oasflow-test, or mend its builder"
    with pytest.raises(CompileError):
        compile_ir(flow_with_a_send_inside())


def test_a_send_in_a_flow_that_a_kind_of_a_package_runs_is_found(installed: Any) -> None:
    installed(RepeatNode="SHOWING")
    assert "OAS200" in {finding.code for finding in check(flow_with_a_send_inside()).findings}


def test_a_kind_that_hides_the_facts_of_its_tool_is_refused(installed: Any) -> None:
    installed(EchoNode="HIDING_TOOL")
    echo = {**tool("one", "send", [], []), "component_type": "EchoNode", "template": "x"}
    echo["tool"] |= {"requires_confirmation": True}
    found = {finding.code: finding for finding in check(flow_of(start(), echo, end()))}
    assert ".behind does not give the facts of the tool that it runs" in found["OAS055"].message


def test_a_kind_acts_itself_where_it_runs_no_flows() -> None:
    assert {kind.component_type for kind in BUILT_IN if kind.acts} == {
        "ApiNode", "ToolNode", "LlmNode", "AgentNode", "TriggerWaitNode",
        "ExtendedAgentNode", "ExtendedLlmNode", "PluginChoiceNode",
    }  # fmt: skip


def test_these_kinds_do_not_run_yet() -> None:
    assert {kind.component_type for kind in BUILT_IN if not kind.runs} == {
        "TriggerWaitNode",
    }


def test_a_kind_says_how_control_goes_through_its_flows(installed: Any) -> None:
    def sends_open(*inside: Any, unread: bool = False) -> bool:
        subflow = flow_of(start(), *inside, end(), id_="inner")
        ports = {"inputs": [7]} if unread else {}
        box = node("BoxNode", "box", subflow=subflow, **ports)
        flow = flow_of(start(), box, api("send", risk="email_send"), end())
        return "OAS200" in {finding.code for finding in check(flow)}

    installed(BoxNode="BOX")
    assert sends_open(gate("ask"))  # it may run nothing, as a map over an empty list
    installed(BoxNode="WHOLE_BOX")
    assert not sends_open(gate("ask"))
    assert not sends_open(gate("ask"), unread=True)
    assert sends_open()


def test_a_type_that_nobody_registers_has_no_kind(installed: Any) -> None:
    installed()
    assert find_kind("EchoNode") is None
    assert find_kind("Flow") is None


def test_what_is_installed_is_not_looked_at_for_a_file_of_agent_spec(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def look(**_: str) -> None:
        pytest.fail("looked at what is installed")

    monkeypatch.setattr(metadata, "entry_points", look)
    registry.load_plugins.cache_clear()
    flow = Path(__file__).parents[1] / "golden" / "kind_agent.json"
    assert not check(flow).findings


def test_a_kind_of_an_installed_package_is_found_by_type_and_by_class(installed: Any) -> None:
    installed(EchoNode="ECHO")
    assert find_kind("EchoNode") is ECHO
    assert kind_of(EchoNode(id="a", name="a")) is ECHO
    assert kind_of(PluginTemplateNode(id="t", name="t", template="")) is PLUGIN_TEMPLATE


@pytest.mark.parametrize(
    ("entry_points", "type_", "told"),
    [
        ({"EchoNode": "BY_FORM"}, "EchoNode", ":BY_FORM is no NodeKind, but of the class dict"),
        ({"EchoNode": "NO_SUCH"}, "EchoNode", "NO_SUCH cannot be imported: AttributeError: NO_SUCH"),
        ({"EchoNode": "nowhere:AT"}, "EchoNode", "nowhere:AT cannot be imported: ModuleNotFoundError: No module named 'nowhere'"),
        ({"EchoNode": "BROKEN"}, "EchoNode", "BROKEN cannot be imported: ValueError: half of it is missing"),
        ({"EchoNode": "LEAVING"}, "EchoNode", "LEAVING cannot be imported: SystemExit: 0"),
        ({"OtherNode": "ECHO"}, "OtherNode", "its entry point has the name OtherNode, and the record"),
        ({"OtherNode": "ECHO"}, "EchoNode", 'has the component_type "EchoNode"; the two must be equal'),
        ({"PluginTemplateNode": "TEMPLATE_AGAIN"}, "", "a kind of node PluginTemplateNode in oasflow already"),
        ({"Agent": "AGENT"}, "", "Agent is a component of Agent Spec that is no node"),
        ({"EchoNode": "ECHO", "EchoNode_": "OTHER_ECHO"}, "EchoNode", ":OTHER_ECHO (package oasflow-test-2)"),
        ({"EchoNode": "ECHO", "ShoutNode": "SHOUT"}, "EchoNode", "EchoNode and ShoutNode have one class, EchoNode"),
        ({"EchoNode": "ECHO", "ShoutNode": "SHOUT"}, "ShoutNode", "ShoutNode and EchoNode have one class, EchoNode"),
        ({"EchoNode": "OF_TEMPLATE"}, "EchoNode", "EchoNode and PluginTemplateNode have one class, PluginTemplateNode"),
        ({"EchoNode": "NO_CLASS"}, "EchoNode", "`node` must be a subclass of oas_compiler.ir.Node"),
        ({"EchoNode": "NO_BUILDER"}, "EchoNode", "`build` must be a function"),
        ({"EchoNode": "NO_FIELD"}, "EchoNode", '"subflow" must be one of its `fields`'),
    ],
)  # fmt: skip
def test_an_entry_point_that_leads_to_no_kind_of_its_own_is_refused(
    installed: Any, entry_points: dict[str, str], type_: str, told: str
) -> None:
    installed(**entry_points)
    refusals = registry.load_plugins().refused
    refusal = refusals[type_ or next(iter(entry_points))]
    assert told in refusal.message
    assert "oasflow-test" in refusal.message
    assert "uninstall " in refusal.hint
    assert find_refusal(type_) is (refusal if type_ else None)
    assert all_kinds() == BUILT_IN


def test_a_refused_kind_takes_no_other_kind_away(installed: Any) -> None:
    installed(EchoNode="ECHO", FooNode="nowhere:FOO")
    assert find_kind("EchoNode") is ECHO
    assert find_kind("FooNode") is None


def flow_with(type_: str, **fields: Any) -> dict[str, Any]:
    return flow_of(start(), node(type_, "one", **fields), end())


@pytest.mark.parametrize("type_", ["FooNode", "PluginFooNode"])
def test_a_file_that_names_a_refused_kind_has_one_finding(installed: Any, type_: str) -> None:
    installed(**{type_: "nowhere:FOO"})
    (finding,) = check(flow_with(type_))
    assert finding.code == "OAS055"
    assert finding.message == (
        f'{type_} of the package "oasflow-test" cannot be used: nowhere:FOO cannot be imported: '
        "ModuleNotFoundError: No module named 'nowhere'"
    )
    assert finding.hint == "uninstall oasflow-test, or mend its entry point"
    assert finding.place.pointer.endswith("/component_type")


def test_a_file_that_does_not_name_the_refused_kind_is_checked_as_ever(installed: Any) -> None:
    echo = flow_with("EchoNode", template="x")
    installed(EchoNode="WHOLE_ECHO", FooNode="nowhere:FOO")
    assert check(echo).findings == []


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("RAISING", "its builder fails with ValueError: no such thing"),
        ("ENDING", "its builder fails with SystemExit: 3"),
        ("NAMELESS", "leaves out the id of the component"),
        ("ENDLESS", "its builder makes no branches, and only an EndNode ends a flow"),
        ("LISTING", "its builder makes outputs that are not a tuple of Port"),
    ],
)
def test_a_builder_that_fails_is_a_finding_at_the_component(
    installed: Any, kind: str, told: str
) -> None:
    installed(EchoNode=kind)
    (finding,) = check(flow_with("EchoNode", template="x"))
    assert (finding.code, finding.place.pointer.endswith("/one")) == ("OAS055", True)
    assert finding.message.startswith('EchoNode of the package "oasflow-test" cannot be used: ')
    assert told in finding.message


def test_a_node_of_a_class_that_no_kind_has_is_refused(installed: Any) -> None:
    installed()
    with pytest.raises(LookupError, match="no kind of node has the class EchoNode"):
        kind_of(EchoNode(id="a", name="a"))


@pytest.mark.parametrize(
    ("lowering", "told"),
    [
        ("nowhere:f", "nowhere cannot be imported: ModuleNotFoundError: No module named 'nowhere'"),
        ("json:nothing", 'there is no function "nothing" in json'),
        ("json", 'its lowering is "json", and not of the form package.module:function'),
        (":dumps", 'its lowering is ":dumps", and not of the form package.module:function'),
    ],
)
def test_a_function_that_is_not_there_is_told_with_the_kind_and_the_package(
    installed: Any, lowering: str, told: str
) -> None:
    installed(EchoNode="ECHO")
    with pytest.raises(KindRefused) as refused:
        load_lowering(replace(ECHO, lowering=lowering))
    assert refused.value.message == f'EchoNode of the package "oasflow-test" cannot be used: {told}'
    assert refused.value.hint == "uninstall oasflow-test, or mend its lowering"


def test_a_package_commands_no_terminal_by_its_names() -> None:
    told = refuse("Foo\x1b[31m\nNode", "bad\u202epackage", "it\x07 fails", mend="its\nrecord")
    assert told.message.isprintable()
    assert told.hint.isprintable()
