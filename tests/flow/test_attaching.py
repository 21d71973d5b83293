"""A node whose file names an input of refs sends its model the files, or names what it cannot read."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain_core.messages import SystemMessage

from cinatra_sdk import HostParts
from cinatra_sdk.outside.models.model_scripts import ScriptedModel, ScriptedReply
from cinatra_sdk.testing import adrive, drive
from oas_compiler import check, compile_flow
from oas_compiler.explain import explain
from tests.agents.agent_flows import SEARCH, TEXT, agent, agent_flow
from tests.attachments.samples import RecordingPorts, ref
from tests.flow.test_opening import LLM
from tests.flow.test_opening import llm_flow as opened_flow
from tests.flows import end, flow_of, node, port, start
from tests.models.llm_flows import ask_flow

REF: Any = ref().wire()
PARAMS: Any = {"topic": "bees", "files": [REF]}
FILE = {"type": "file", "file_id": "file-1", "mime_type": "application/pdf"}


def metadata(use: Any) -> dict[str, Any]:
    return {"metadata": {"cinatra": {"attachments": use}}}


def llm_flow(use: Any = "files", *, outputs: Any = None, llm: Any = LLM) -> dict[str, Any]:
    given = outputs or [port("text")]
    ask = node(
        "LlmNode", "ask", llm_config=llm, prompt_template="About {{ topic }}",
        inputs=[port("topic"), {"title": "files"}], outputs=given, **metadata(use),
    )  # fmt: skip
    return flow_of(
        start(port("topic"), {"title": "files", "default": None}), ask, end(*given),
        edges=[("start", "topic", "ask", "topic"), ("start", "files", "ask", "files"),
               *(("ask", one["title"], "end", one["title"]) for one in given)],
    )  # fmt: skip


def own_agent(**more: Any) -> dict[str, Any]:
    return {
        **agent(SEARCH, outputs=TEXT),
        "inputs": [port("topic"), {"title": "image_id"}],
        **more,
    }


class Host:
    """Lends ports, and remembers to whom."""

    def __init__(self, ports: Any = None) -> None:
        self.ports = ports if ports is not None else RecordingPorts(uploads={"a1": "file-1"})
        self.asked: list[tuple[str, str, str]] = []

    def __call__(self, run: Any, config: Any) -> Any:
        self.asked.append((run.id, run.tenant, config.model))
        return self.ports


def run(flow: Any, lent: Any, script: Any = ("ok",), params: Any = PARAMS) -> Any:
    model = ScriptedModel(list(script))
    found: Any = {"search": lambda query: f"{query}!"}
    parts = HostParts(models={"*": model}, attachments_for=lent, tools=found)
    return drive(compile_flow(flow, host=parts), params), model


def test_the_prompt_carries_the_files() -> None:
    ran, model = run(llm_flow(), Host())
    assert ran.outputs == {"text": "ok"}
    (prompt,) = model.asked[0].messages
    assert prompt.content == [{"type": "text", "text": "About bees"}, FILE]


def test_on_an_event_loop_ports_may_be_awaited() -> None:
    class Awaited:
        async def cache_get(self, _ref: Any, _provider: str) -> None:
            return None

        async def provider_upload(self, _ref: Any, _provider: str, _rule: Any) -> str:
            return "file-1"

        async def cache_put(self, *_given: Any) -> None:
            return None

    model = ScriptedModel(["ok"])
    parts = HostParts(models={"*": model}, attachments_for=lambda _run, _model: Awaited())
    asyncio.run(adrive(compile_flow(llm_flow(), host=parts), PARAMS))
    assert model.asked[0].messages[0].content[1] == FILE
    ran, _ = run(llm_flow(), lambda _run, _model: Awaited())
    assert "these ports have to be awaited" in str(ran.error)


@pytest.mark.parametrize("files", [None, []])
def test_without_files_the_request_is_what_it_was_and_nobody_is_asked(files: Any) -> None:
    lent = Host()
    _, model = run(llm_flow(), lent, params={"topic": "bees", "files": files})
    _, plain = run(ask_flow(), lent, params={"topic": "bees"})
    assert [one.content for one in model.asked[0].messages] == ["About bees"]
    assert model.asked[0].arguments == plain.asked[0].arguments
    assert lent.asked == []
    assert lent.ports.calls == []


def test_without_ports_every_file_is_named_with_its_reason() -> None:
    for lent in (None, lambda _run, _model: None):
        ran, model = run(llm_flow(), lent)
        assert ran.status == "completed"
        note, prompt = model.asked[0].messages
        assert isinstance(note, SystemMessage)
        assert note.text.startswith("[ATTACHMENTS")
        assert "resolver unavailable for this run" in note.text
        assert prompt.content == "About bees"


def test_an_object_by_schema_is_asked_with_the_files_too_and_mended_with_them() -> None:
    outputs = [port("text"), {"title": "count", "type": "integer"}]
    _, model = run(llm_flow(outputs=outputs), Host(), [{"text": "a"}, {"text": "a", "count": 2}])
    assert len(model.asked) == 2
    for asked in model.asked:
        assert asked.messages[0].content[1] == FILE


def test_anthropic_is_told_what_it_has_to_be_told_beside_the_messages() -> None:
    claude = {
        "component_type": "LlmConfig", "id": "c", "name": "c", "model_id": "claude-opus-4",
        "api_provider": "anthropic",
    }  # fmt: skip
    flow = {**llm_flow(llm=claude), "agentspec_version": "26.2.0"}
    _, model = run(flow, Host())
    assert model.asked[0].arguments["betas"] == ["files-api-2025-04-14"]


@pytest.mark.parametrize("at", ["agent", "node"])
def test_an_agent_is_sent_the_files_at_every_step(at: str) -> None:
    own = own_agent(**(metadata("image_id") if at == "agent" else {}))
    flow = agent_flow(own, TEXT)
    if at == "node":
        (outer,) = [one for one in flow["$referenced_components"].values() if one.get("agent")]
        outer.update(metadata("image_id"))
    call = ScriptedReply(tool_calls=({"name": "search", "args": {"query": "a"}},))
    params: Any = {"topic": "bees", "image_id": [REF]}
    ran, model = run(flow, Host(), [call, "Found."], params)
    assert ran.outputs == {"report": "Found."}
    assert len(model.asked) == 2
    for asked in model.asked:
        blocks = [b for one in asked.messages if isinstance(one.content, list) for b in one.content]
        notes = [one for one in asked.messages if "[ATTACHMENTS" in one.text]
        assert FILE in blocks or notes, "a file is sent or named, and never dropped"


def test_the_refs_are_part_of_the_effect_and_what_the_provider_has_is_not() -> None:
    effects: list[Any] = []
    other = {**REF, "representationRevisionId": "rev_2"}
    for files in ([REF], [REF], [other]):
        parts = HostParts(
            models={"*": ScriptedModel(["ok"])}, attachments_for=Host(), spend=effects.append
        )
        drive(compile_flow(llm_flow(), host=parts), {"topic": "bees", "files": files})
    first, again, changed = (one.request_sha256 for one in effects)
    assert first == again != changed
    assert "file-1" not in str(effects[0].arguments)


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ("a text", "files is no array"),
        ([{"artifactId": "a"}], "files[0]."),
        ([{**REF, "bytes": "AAAA"}], "files[0].bytes"),
        ([REF] * 21, "files has 21 files, and 20 may be at most"),
    ],
)
def test_what_is_no_list_of_refs_fails_before_the_model_is_asked(files: Any, told: str) -> None:
    ran, model = run(llm_flow(), Host(), params={"topic": "bees", "files": files})
    assert ran.status == "failed"
    assert told in str(ran.error)
    assert model.asked == []


def test_what_the_host_raises_is_not_shown() -> None:
    def broken(_run: Any, _config: Any) -> Any:
        raise OSError("no access to /srv/secret")

    ran, _ = run(llm_flow(), broken)
    assert "the host's attachments_for raised OSError" in str(ran.error)
    assert "/srv/secret" not in str(ran.error)


@pytest.mark.parametrize(
    ("use", "told"),
    [
        (["files"], "must be a text"),
        ("filse", 'names "filse", which is no input of it'),
        ("topic", 'names the input "topic", which holds no list'),
    ],
)
def test_what_is_written_wrong_is_found(use: Any, told: str) -> None:
    found = [one for one in check(llm_flow(use)) if one.code == "OAS038"]
    assert [told in one.message for one in found] == [True]


def test_what_a_model_gets_beside_its_prompt_is_explained() -> None:
    (ask,) = [one for one in explain(llm_flow()).nodes if one.type == "LlmNode"]
    assert ask.told == ('the files of "files"',)
    (ask,) = [one for one in explain(opened_flow()).nodes if one.type == "LlmNode"]
    assert ask.told == ('the first turn of "image_id", workspace photos',)


def test_files_that_only_the_model_is_sent_are_no_unused_input() -> None:
    assert [one.code for one in check(llm_flow()) if one.code in {"OAS082", "OAS133"}] == []
    assert "OAS082" in [one.code for one in check(llm_flow(None))], "the control"
