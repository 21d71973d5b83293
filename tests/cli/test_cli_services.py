"""Models, MCP servers and agents elsewhere are named before a run asks them, and what proves who asks."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk import HostParts
from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from oas_compiler.cli.host.run_resources import list_services
from oas_compiler.pipeline import compile_ir
from tests.flows import end, flow_of, gate, node, port, start


def model(kind: str = "OpenAiConfig", **fields: Any) -> dict[str, Any]:
    return {
        "component_type": kind, "id": "gpt", "name": "Writer", "model_id": "gpt-5", **fields,
    }  # fmt: skip


def asking(config: Any, **more: Any) -> Any:
    llm = node(
        "LlmNode", "write", llm_config=config, prompt_template="Write.", outputs=[port("text")]
    )
    return flow_of(start(), gate("ok"), llm, end(), **more)


def services(flow: Any, **parts: Any) -> list[str]:
    return list_services(compile_ir(flow).ir, HostParts(**parts))


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (model(), "model openai/gpt-5 with OPENAI_API_KEY"),
        (
            model(api_key={"$component_ref": "gpt.api_key"}),
            "model openai/gpt-5 with gpt.api_key or OPENAI_API_KEY",
        ),
        (model(api_key="word-in-the-file"), "model openai/gpt-5 with the key of its file"),
        (
            model("VllmConfig", url="http://me:s3cret@10.0.0.4:8000/v1?key=s3cret"),
            "model vllm/gpt-5 at http://10.0.0.4:8000/v1 without a key",
        ),
        (
            model("OpenAiCompatibleConfig", url="https://llm.example.com",
                  api_key={"$component_ref": "gpt.api_key"}),
            "model openai_compatible/gpt-5 at https://llm.example.com with gpt.api_key",
        ),
    ],
)  # fmt: skip
def test_a_model_is_named_with_its_address_and_the_name_of_its_key(
    config: Any, expected: str
) -> None:
    assert services(asking(config)) == [expected]


def test_what_the_host_lends_is_named_as_lent() -> None:
    lent = ["model openai/gpt-5 that --host lends"]
    assert services(asking(model()), models={"Writer": ScriptedModel(["x"])}) == lent
    assert services(asking(model()), models={"*": ScriptedModel(["x"])}) == lent
    given = ["model openai/gpt-5 with what --host gives or OPENAI_API_KEY"]
    assert services(asking(model()), api_key_for=lambda _config: "k" * 9) == given


def test_servers_and_agents_elsewhere_are_named_the_same_way() -> None:
    web = {
        "component_type": "StreamableHTTPTransport", "id": "shop", "name": "shop",
        "url": "https://shop.example.com/mcp", "sensitive_headers": {"X-Key": "{{SHOP_KEY}}"},
    }  # fmt: skip
    tool = {"component_type": "MCPTool", "id": "find", "name": "find", "client_transport": web}
    agent = {
        "component_type": "A2AAgent", "id": "travel", "name": "Travel",
        "agent_url": "https://travel.example",
        "connection_config": {
            "component_type": "A2AConnectionConfig", "id": "way", "name": "way",
            "headers": {"X-Key": "{{TRAVEL_KEY}}"},
        },
    }  # fmt: skip
    flow = flow_of(
        start(), node("ToolNode", "one", tool=tool), node("ToolNode", "two", tool=tool),
        node("AgentNode", "ask", agent=agent), end(),
    )  # fmt: skip
    flow["agentspec_version"] = "26.3.1"
    assert services(flow) == [
        "MCP server shop at https://shop.example.com/mcp with SHOP_KEY",
        "agent Travel at https://travel.example with TRAVEL_KEY",
    ]
    assert services(flow, mcp={"shop": object()})[0] == "MCP server shop that --host lends"


def test_the_commands_on_a_run_say_whom_it_asks(
    cli: Any, flow_file: Any, fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    begun = cli("run", flow_file(asking(model())), "--detach", "--run-id", "r1")
    assert begun.exit_code == 3, begun.output
    told = "asks model openai/gpt-5 with OPENAI_API_KEY"
    assert f"\n  {told}\n" in begun.stderr
    shown = cli("show", "r1").stdout
    lent = f"{told}, unless --host lends it"
    assert ["asks", *lent.split()[1:]] in [line.split() for line in shown.splitlines()]
    assert "calls nothing" not in " ".join(shown.split())
    resumed = cli("resume", "r1", "--detach")
    assert f"\n  {told}\n" in resumed.stderr
    assert "calls nothing" not in resumed.stderr
    assert "sk-of-the-environment" not in begun.output + shown + resumed.output
    assert "asks model" not in cli("reject", "r1").stderr


def test_a_simulation_asks_nobody(cli: Any, flow_file: Any) -> None:
    begun = cli("run", flow_file(asking(model())), "--simulate", "--detach", "--run-id", "r1")
    assert "asks model" not in begun.output + cli("show", "r1").output
    assert "calls no address: its platform is simulated" in cli("approve", "r1").stderr


def test_a_script_is_named_in_place_of_the_models(cli: Any, flow_file: Any, tmp_path: Any) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"write": "Hello"}', encoding="utf-8")
    made = cli("run", flow_file(asking(model())), "--model", f"scripted:{script}", "--run-id", "r1")
    done = cli("approve", "r1")
    for told in (made.output, done.output):
        assert "in place of model openai/gpt-5" in " ".join(told.split())
        assert "OPENAI_API_KEY" not in told
    assert done.exit_code == 0, done.output
