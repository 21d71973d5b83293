"""The pick list of upstream cases, rows 37 and 38: configurations in several files, sensitive fields."""

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
from oas_compiler import CompileError, check, compile_flow
from tests.agent_spec.documents import around, node, parts, port, ref

MODEL = node("VllmConfig", "the_model", model_id="m", url="http://model.example")
SECRET = "canary-of-the-pick-list"


def asking(model: Any, prompt: Any = "Say {{topic}}") -> Any:
    one = node(
        "LlmNode", "ask", llm_config=model, prompt_template=prompt, inputs=[port("topic")],
        outputs=[port("told")],
    )  # fmt: skip
    return around(one, [port("topic")], [port("told")])


def test_row_37_a_component_is_taken_from_another_file(tmp_path: Path) -> None:
    file = tmp_path / "components.json"
    file.write_text(json.dumps({"$referenced_components": {"the_model": MODEL}}), "utf-8")
    model = ScriptedModel(["Hi"])
    flow = compile_flow(asking(ref("the_model")), components=file, models={"the_model": model})
    assert drive(flow, {"topic": "bees"}).outputs == {"told": "Hi"}
    assert "Say bees" in model.asked[0].text


def test_row_37_a_reference_stands_for_a_value_too() -> None:
    model = ScriptedModel(["Hi"])
    components = {"the_model": MODEL, "the_prompt": "Speak of {{topic}}"}
    document = asking(ref("the_model"), ref("the_prompt"))
    flow = compile_flow(document, components=components, models={"*": model})
    assert drive(flow, {"topic": "bees"}).outputs == {"told": "Hi"}
    assert "Speak of bees" in model.asked[0].text


def test_row_37_what_is_nowhere_is_named() -> None:
    with pytest.raises(CompileError, match='no component "the_model" is defined'):
        compile_flow(asking(ref("the_model")))
    with pytest.raises(CompileError, match='no component "the_model" is defined'):
        compile_flow(asking(ref("the_model")), components={"another": MODEL})


def test_row_37_a_file_of_components_alone_is_no_flow_and_a_type_has_to_fit() -> None:
    assert [one.code for one in check({"$referenced_components": {"m": MODEL}}).errors] == ["OAS020"]  # fmt: skip
    tool = node("ServerTool", "the_model", description="", inputs=[], outputs=[])
    with pytest.raises(CompileError, match="OAS014"):
        compile_flow(asking(ref("the_model")), components={"the_model": tool})


def calling(headers: Any) -> Any:
    one = node(
        "ApiNode", "call", url="https://h.example/x", http_method="GET", headers={"X-Open": "1"},
        sensitive_headers=headers, outputs=[port("told")],
    )  # fmt: skip
    return around(one, [], [port("told")])


class Heard:
    """A platform that keeps the headers it is given."""

    def __init__(self) -> None:
        self.headers: list[Any] = []

    def call(self, call: PlatformCall) -> Any:
        self.headers.append({**call.headers, **call.sensitive_headers})
        return {"told": "ok"}

    async def acall(self, call: PlatformCall) -> Any:
        return self.call(call)


REFERENCE = {"$component_ref": "call.sensitive_headers"}


def test_row_38_a_sensitive_field_is_a_reference_whose_value_the_host_lends() -> None:
    heard: Any = Heard()
    secrets = {"call.sensitive_headers": {"Authorization": SECRET}}
    flow = compile_flow(calling(REFERENCE), platform=heard, host=HostParts(secrets=secrets))
    ran = drive(flow, platform=heard)
    assert ran.outputs == {"told": "ok"}
    assert heard.headers == [{"X-Open": "1", "Authorization": SECRET}]
    assert SECRET not in repr(flow.ir)
    assert SECRET not in json.dumps(parts(calling(REFERENCE)))


def test_row_38_its_value_may_stand_in_the_components_or_in_the_file() -> None:
    heard: Any = Heard()
    given = {"Authorization": SECRET}
    for document, more in (
        (calling(REFERENCE), {"components": {"call.sensitive_headers": given}}),
        (calling(given), {}),
    ):
        flow = compile_flow(document, platform=heard, **more)  # type: ignore[arg-type]
        assert drive(flow, platform=heard).outputs == {"told": "ok"}
        assert heard.headers.pop()["Authorization"] == SECRET


def test_row_38_without_its_value_nothing_is_called() -> None:
    heard: Any = Heard()
    with pytest.raises((CompileError, NotConfigured), match=r"call\.sensitive_headers"):
        compile_flow(calling(REFERENCE), platform=heard).graph()
    assert heard.headers == []


def test_row_38_the_key_of_a_model_is_lent_in_the_same_way() -> None:
    asked: list[str | None] = []

    def lend(config: ModelConfig) -> Any:
        asked.append(config.api_key)
        return ScriptedModel(["Hi"])

    config = node(
        "OpenAiConfig", "gpt", model_id="gpt-5", api_key={"$component_ref": "gpt.api_key"}
    )
    host = HostParts(models=lend, secrets={"gpt.api_key": SECRET})
    flow = compile_flow(asking(config), host=host)
    assert drive(flow, {"topic": "x"}).outputs == {"told": "Hi"}
    assert asked == [SECRET]
