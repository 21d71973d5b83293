"""Configurations in several files, values of sensitive fields elsewhere, and types that are blocked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import HostParts
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.outside.http_calls.protocol import PlatformCall
from cinatra_sdk.outside.models.config import ModelConfig
from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from oas_compiler.checks.credentials.credential_cover import Labels
from oas_compiler.diff.comparison import diff
from oas_compiler.document.component_types import ABOVE, LoaderPolicy, known_types, node_types
from oas_compiler.ir import ApiNode
from oas_compiler.ir.printout import ir_to_json, print_ir
from oas_compiler.pipeline import Loading, check, compile_ir
from oas_compiler.report.diagnostics import CompileError
from tests.agents.agent_flows import TEXT
from tests.flows import end, flow_of, node, port, start

CANARY = "canary-4711-of-the-tests"
MODEL = {
    "component_type": "OpenAiConfig", "id": "gpt", "name": "gpt", "model_id": "gpt-5", "api_key": CANARY,
}  # fmt: skip


def asking(config: Any, prompt: Any = "Say {{ topic }}") -> Any:
    return flow_of(
        start(port("topic")),
        node("LlmNode", "ask", llm_config=config, prompt_template=prompt, inputs=[port("topic")], outputs=TEXT),
        end(*TEXT),
        edges=[("start", "topic", "ask", "topic"), ("ask", "report", "end", "report")],
    )  # fmt: skip


def calling(headers: Any, **more: Any) -> Any:
    return flow_of(
        start(port("topic")),
        node("ApiNode", "call", url="https://h.example/x", http_method="POST", sensitive_headers=headers,
             outputs=[port("id")], **more),
        end(port("id")),
        edges=[("call", "id", "end", "id")],
    )  # fmt: skip


def ref(name: str) -> dict[str, str]:
    return {"$component_ref": name}


def block(**parts: Any) -> dict[str, Any]:
    return {"$referenced_components": parts}


# ------------------------------------------------------------------------ files


@pytest.mark.parametrize("form", ["mapping", "block", "json", "yaml", "bytes", "files"])
def test_a_component_is_taken_from_elsewhere(form: str, tmp_path: Path) -> None:
    given: Any = {"gpt": MODEL}
    text = json.dumps(block(gpt=MODEL))
    if form == "block":
        given = block(gpt=MODEL)
    elif form == "bytes":
        given = text.encode()
    elif form != "mapping":
        name = tmp_path / ("parts.yaml" if form == "yaml" else "parts.json")
        name.write_text(text, "utf-8")
        other = tmp_path / "other.json"
        other.write_text(json.dumps(block(spare=MODEL)), "utf-8")
        given = [other, name] if form == "files" else name
    flow = compile_flow(asking(ref("gpt")), components=given, models={"gpt": ScriptedModel(["Hi"])})
    assert drive(flow, {"topic": "x"}).outputs == {"report": "Hi"}


def test_a_value_is_taken_from_elsewhere() -> None:
    model = ScriptedModel(["Hi"])
    flow = compile_flow(
        asking(ref("gpt"), prompt=ref("the_prompt")),
        components={"gpt": MODEL, "the_prompt": "Speak of {{ topic }}"}, models={"*": model},
    )  # fmt: skip
    assert drive(flow, {"topic": "bees"}).outputs == {"report": "Hi"}
    assert "Speak of bees" in str(model.asked[0].messages)


def test_a_property_and_a_header_are_taken_from_elsewhere() -> None:
    document = flow_of(
        start(port("topic")),
        node("ApiNode", "call", url="https://h.example/x", http_method="POST", headers={"X-Kind": ref("kind")},
             data={"note": ref("kind")}, outputs=[ref("the_id")]),
        end(port("id")),
        edges=[("call", "id", "end", "id")],
    )  # fmt: skip
    document["inputs"] = [ref("the_topic")]
    given = {"kind": "bees", "the_id": port("id"), "the_topic": port("topic")}
    flow = compile_flow(document, components=given)
    ran = drive(flow, {"topic": "x"}, stubs={"call": {"id": "7"}})
    assert ran.outputs == {"id": "7"}
    # a body is the author's own: nothing in it is a reference
    assert ran.calls[0].body == {"note": ref("kind")}
    call = flow.ir.by_id["call"]
    assert isinstance(call, ApiNode)
    assert call.headers.value() == {"X-Kind": "bees"}
    with pytest.raises(CompileError, match='no component "kind" is defined'):
        compile_flow(document, components={name: given[name] for name in ("the_id", "the_topic")})


def test_components_refer_to_each_other() -> None:
    parts = {
        "chosen": ref("gpt"),
        "gpt": {**MODEL, "default_generation_parameters": ref("cool")},
        "cool": {"temperature": 0},
    }
    flow = compile_flow(
        asking(ref("chosen")), components=parts, models={"gpt": ScriptedModel(["Hi"])}
    )
    assert drive(flow, {"topic": "x"}).outputs == {"report": "Hi"}


def test_a_component_that_is_nowhere_is_named() -> None:
    with pytest.raises(CompileError, match='no component "gpt" is defined'):
        compile_flow(asking(ref("gpt")), components={"other": MODEL})
    with pytest.raises(CompileError, match='no component "gone" is defined'):
        compile_flow(
            asking(ref("gpt")),
            components={"gpt": {**MODEL, "default_generation_parameters": ref("gone")}},
        )


def test_a_component_of_another_type_than_is_wanted_is_refused() -> None:
    tool = {"component_type": "ServerTool", "id": "t", "name": "t"}
    with pytest.raises(CompileError, match="LlmConfig"):
        compile_flow(asking(ref("gpt")), components={"gpt": tool})


def test_a_circle_through_the_components_is_refused() -> None:
    with pytest.raises(CompileError, match="leads back to itself"):
        compile_flow(asking(ref("a")), components={"a": ref("b"), "b": ref("a")})


def test_one_name_in_the_file_and_in_the_components_is_refused() -> None:
    flow = asking(ref("gpt"))
    flow["$referenced_components"]["gpt"] = MODEL
    with pytest.raises(CompileError, match="in this document and in the components"):
        compile_flow(flow, components={"gpt": {**MODEL, "model_id": "other"}})
    compile_flow(flow, components={"spare": MODEL})


@pytest.mark.parametrize("text", ["{}", "[]", '{"component_type": "Flow"}', "{", ""])
def test_a_file_that_holds_no_components_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "parts.json"
    file.write_text(text, "utf-8")
    with pytest.raises(CompileError, match=r"parts\.json"):
        compile_flow(asking(MODEL), components=file)
    for absent in (tmp_path / "gone.json", tmp_path):
        with pytest.raises(CompileError):
            compile_flow(asking(MODEL), components=absent)


def test_a_file_of_components_is_no_flow() -> None:
    found = next(one for one in check(block(gpt=MODEL)).errors if one.code == "OAS020")
    assert "components" in found.message + found.hint


def test_what_is_stored_with_a_run_has_the_components() -> None:
    compiled = compile_ir(
        asking(ref("gpt")), loading=Loading(components={"gpt": MODEL, "spare": MODEL})
    )
    stored = json.loads(compiled.source_bytes)
    assert stored["$referenced_components"]["gpt"]["model_id"] == "gpt-5"
    assert "spare" not in stored["$referenced_components"]
    again = compile_ir(compiled.source_bytes)
    assert again.ir.by_id["ask"] == compiled.ir.by_id["ask"] or again.digest == compiled.digest
    other = {**MODEL, "model_id": "gpt-6"}
    assert (
        compile_ir(asking(ref("gpt")), loading=Loading(components={"gpt": other})).digest
        != compiled.digest
    )


# ------------------------------------------------------------------------ sensitive fields


def test_a_key_of_the_components_is_lent_and_never_stored() -> None:
    keys: list[str] = []
    compiled = compile_flow(asking(ref("gpt")), components={"gpt": MODEL})
    assert CANARY not in compiled.compiled.source_bytes.decode()
    assert compiled.host.secrets == {"gpt.api_key": CANARY}

    def watch(config: ModelConfig) -> Any:
        keys.append(config.api_key)
        return ScriptedModel([f"Hi {CANARY}"])

    flow = compile_flow(asking(ref("gpt")), components={"gpt": MODEL}, models=watch)
    assert drive(flow, {"topic": "x"}).outputs == {"report": "Hi [redacted]"}
    assert keys[-1] == CANARY


def test_a_key_under_a_name_of_its_own_is_lent_and_never_stored() -> None:
    named = {**MODEL, "api_key": ref("my_key")}
    for document, given in (
        (asking(named), {"my_key": CANARY}),
        (asking(ref("gpt")), {"gpt": named, "my_key": CANARY}),
    ):
        compiled = compile_flow(document, components=given)
        assert CANARY not in compiled.compiled.source_bytes.decode()
        assert CANARY not in repr(compiled.ir)
        assert compiled.host.secrets == {"my_key.api_key": CANARY}


@pytest.mark.parametrize("inline", [True, False])
def test_a_member_of_sensitive_headers_may_be_named(inline: bool) -> None:
    calls = calling({"X-Key": ref("my_key")})
    given: Any = {"my_key": CANARY}
    if not inline:
        given["call"] = calls["$referenced_components"].pop("call")
    flow = compile_flow(calls, components=given)
    assert CANARY not in flow.compiled.source_bytes.decode()
    sent: list[PlatformCall] = []

    class Answers:
        def call(self, call: PlatformCall) -> Any:
            sent.append(call)
            return {"id": "1"}

        async def acall(self, call: PlatformCall) -> Any:
            return self.call(call)

    assert drive(flow, {"topic": "x"}, platform=Answers()).outputs == {"id": "1"}
    assert sent[0].sensitive_headers == {"X-Key": CANARY}


def test_headers_that_are_named_are_lent() -> None:
    flow = compile_flow(
        calling(ref("call.sensitive_headers")),
        host=HostParts(secrets={"call.sensitive_headers": {"X-Key": CANARY, "X-Name": "{{NAME}}"}}),
        env={"NAME": "ada-of-the-tests"},
    )  # fmt: skip
    sent: list[PlatformCall] = []

    class Answers:
        def call(self, call: PlatformCall) -> Any:
            sent.append(call)
            return {"id": f"got {CANARY}"}

        async def acall(self, call: PlatformCall) -> Any:
            return self.call(call)

        def describe(self) -> Any:
            return {"kind": "answers"}

    ran = drive(flow, {"topic": "x"}, platform=Answers())
    assert sent[0].sensitive_headers == {"X-Key": CANARY, "X-Name": "ada-of-the-tests"}
    assert ran.outputs == {"id": "got [redacted]"}
    assert CANARY not in repr(sent[0])


def test_headers_without_a_value_are_told() -> None:
    compile_flow(calling(ref("call.sensitive_headers")), secrets={"call.sensitive_headers": {}})
    with pytest.raises(NotConfigured, match=r"'call\.sensitive_headers' without its value"):
        drive(compile_flow(calling(ref("call.sensitive_headers"))), {"topic": "x"})


SEALED = [
    asking(MODEL),
    asking({**MODEL, "component_type": "GeminiConfig", "api_key": None,
            "auth": {"component_type": "GeminiAIStudioAuthConfig", "id": "a", "name": "a", "api_key": CANARY}}),
    calling({"X-Key": CANARY}),
    flow_of(start(), node("ToolNode", "call", tool={
        "component_type": "MCPTool", "id": "t", "name": "t", "inputs": [], "outputs": [],
        "client_transport": {"component_type": "StreamableHTTPTransport", "id": "w", "name": "w",
                             "url": "https://h.example", "sensitive_headers": {"X-Key": CANARY}},
    }), end()),
    flow_of(start(), node("ToolNode", "call", tool={
        "component_type": "MCPTool", "id": "t", "name": "t", "inputs": [], "outputs": [],
        "client_transport": {"component_type": "StdioTransport", "id": "w", "name": "w", "command": "x",
                             "env": {"KEY": CANARY}},
    }), end()),
    flow_of(start(), node("AgentNode", "call", agent={
        "component_type": "A2AAgent", "id": "t", "name": "t", "agent_url": "https://h.example", "inputs": [], "outputs": [],
        "connection_config": {"component_type": "A2AConnectionConfig", "id": "w", "name": "w",
                              "headers": {"X-Key": CANARY}},
    }), end()),
]  # fmt: skip


@pytest.mark.parametrize("flow", SEALED, ids=range(len(SEALED)))
def test_a_value_that_stands_in_the_file_is_not_shown(flow: Any) -> None:
    policy = Loading(policy=LoaderPolicy(blocked=()))
    flow = {**flow, "agentspec_version": "26.3.1"}
    compiled = compile_ir(flow, conceal=Labels(), loading=policy)
    assert CANARY not in print_ir(compiled.ir)
    assert CANARY not in json.dumps(ir_to_json(compiled.ir))
    assert CANARY not in repr(compiled.ir)
    other = json.loads(json.dumps(flow).replace(CANARY, CANARY[::-1]))
    labels = Labels()
    first = compile_ir(flow, conceal=labels, loading=policy)
    second = compile_ir(other, conceal=labels, loading=policy)
    told = repr(diff(first.ir, second.ir))
    assert CANARY not in told
    assert CANARY[::-1] not in told
    assert CANARY not in str(check(flow))


# ------------------------------------------------------------------------ types


@pytest.mark.parametrize(
    ("allowed", "blocked", "kind", "passes"),
    [
        (None, None, "StdioTransport", False),
        (None, None, "ServerTool", True),
        (None, (), "StdioTransport", True),
        (None, ["Tool"], "ServerTool", False),
        (None, ["LlmConfig"], "VllmConfig", False),
        (["Component"], ["LlmConfig"], "OllamaConfig", False),
        (["Component", "OpenAiCompatibleConfig"], ["LlmConfig"], "OllamaConfig", True),
        (["Component", "OpenAiCompatibleConfig"], ["LlmConfig"], "OpenAiConfig", False),
        (["OllamaConfig"], ["OllamaConfig"], "OllamaConfig", False),
        (["Flow"], None, "ServerTool", False),
        (["Component", "StdioTransport"], None, "StdioTransport", True),
        (["Component"], None, "NobodysNode", False),
        (["NobodysNode"], None, "NobodysNode", True),
    ],
)
def test_the_nearest_entry_decides(allowed: Any, blocked: Any, kind: str, passes: bool) -> None:
    assert (LoaderPolicy.of(allowed, blocked).find_problem(kind) == "") is passes


def test_every_type_of_the_language_has_its_place() -> None:
    assert known_types() - node_types() - ABOVE.keys() == set()
    assert LoaderPolicy.of(blocked=["Node"]).find_problem("PluginRegexNode") == "is blocked"


def test_a_blocked_type_is_refused_with_its_place() -> None:
    with pytest.raises(CompileError, match="OAS094 the component type OpenAiConfig is blocked"):
        compile_flow(asking(MODEL), host=HostParts(blocked_components=["LlmConfig"]))
    with pytest.raises(CompileError, match="OAS094"):
        compile_flow(asking(MODEL), blocked_components=["LlmConfig"])
    with pytest.raises(CompileError, match="is not among the allowed types"):
        compile_flow(asking(MODEL), allowed_components=["Flow", "Node"])
    with pytest.raises(TypeError, match="as a list"):
        compile_flow(asking(MODEL), host=HostParts(blocked_components="LlmConfig"))
