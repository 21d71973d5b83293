"""MCPTools and MCPToolBoxes: over processes, over HTTP, and over servers that the host lends."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from mcp.server.mcpserver import MCPServer

from cinatra_sdk import Decision, HostParts
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.testing import adrive, drive
from oas_compiler import compile_flow
from oas_compiler.pipeline import check
from oas_compiler.report.diagnostics import CompileError
from tests.agents.agent_flows import TEXT, agent, agent_flow
from tests.agents.test_agent import asks_for
from tests.flows import end, flow_of, node, port, start
from tests.mcp.shop_server import make_server

ROOT = Path(__file__).parents[2]
NOWHERE = HttpPlatform(None)
OPEN = HostParts(blocked_components=())
"""Programs of the file may be started."""
STDIO = {
    "component_type": "StdioTransport", "id": "shop", "name": "shop", "command": sys.executable,
    "args": ["-m", "tests.mcp.shop_server"], "cwd": str(ROOT),
}  # fmt: skip
NUMBERS = {"title": "found", "type": "array", "items": {"type": "string"}}


def mcp_tool(name: str, inputs: Any, outputs: Any, transport: Any = STDIO, **more: Any) -> Any:
    return {
        "component_type": "MCPTool", "id": f"{name}-tool", "name": name, "client_transport": transport,
        "inputs": inputs, "outputs": outputs, **more,
    }  # fmt: skip


SEARCH = mcp_tool("search", [port("query"), port("most", "integer", default=2)], [NUMBERS])
SEND = mcp_tool("send", [port("to")], [port("said")])


def tool_flow(tool: Any, **more: Any) -> Any:
    """start → call → end."""
    made = flow_of(
        start(*tool["inputs"]), node("ToolNode", "call", tool=tool, **more), end(*tool["outputs"]),
        edges=[
            *(("start", given["title"], "call", given["title"]) for given in tool["inputs"]),
            *(("call", out["title"], "end", out["title"]) for out in tool["outputs"]),
        ],
    )  # fmt: skip
    return {**made, "agentspec_version": "26.3.1"}


def box(**more: Any) -> Any:
    return {
        "component_type": "MCPToolBox", "id": "shop-box", "name": "Shop", "client_transport": STDIO, **more,
    }  # fmt: skip


def spec(name: str, *inputs: Any, outputs: Any = (), **more: Any) -> Any:
    return {
        "component_type": "MCPToolSpec", "id": f"{name}-spec", "name": name, "inputs": list(inputs),
        "outputs": list(outputs), **more,
    }  # fmt: skip


def run(flow: Any, inputs: Any, **more: Any) -> Any:
    """With a server of this process."""
    made: list[Any] = []
    compiled = compile_flow(flow, mcp={"shop": make_server(made)}, host=OPEN, **more)
    return compiled, made, inputs


def run_agent(own: Any, script: Any, *, outputs: Any = (), **more: Any) -> Any:
    made: list[Any] = []
    model = ScriptedModel(script)
    whole = {**agent_flow(own, outputs), "agentspec_version": "26.3.1"}
    flow = compile_flow(whole, models={"*": model}, mcp={"shop": make_server(made)}, host=OPEN)
    return drive(flow, {"topic": "bees"}, **more), model, made


def told(model: ScriptedModel) -> list[str]:
    return [str(one.content) for one in model.asked[-1].messages if isinstance(one, ToolMessage)]


def names(model: ScriptedModel) -> list[str]:
    return [one["function"]["name"] for one in model.asked[0].tools]


# ------------------------------------------------------------------------ ToolNode


def test_a_process_is_asked() -> None:
    ran = drive(compile_flow(tool_flow(SEARCH), host=OPEN), {"query": "bee"}, platform=NOWHERE)
    assert (ran.status, ran.outputs) == ("completed", {"found": ["bee 0", "bee 1"]})


@pytest.fixture
def address() -> Iterator[str]:
    with served("streamable-http", "mcp") as found:
        yield found


@contextmanager
def served(transport: str, path: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    command = [sys.executable, "-m", "tests.mcp.shop_server", transport, str(number)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 30
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", number)) == 0:
                    break
            assert time.monotonic() < deadline, "the server does not start"
            time.sleep(0.05)
        yield f"http://127.0.0.1:{number}/{path}"
        process.terminate()


def test_an_older_server_is_asked_at_the_path_that_it_names() -> None:
    with served("sse", "sse") as address:
        transport = {"component_type": "SSETransport", "id": "web", "name": "web", "url": address}
        flow = tool_flow({**SEARCH, "client_transport": transport})
        lent = HostParts(allow=[address])
        ran = drive(compile_flow(flow, host=lent), {"query": "bee"}, platform=NOWHERE)
    assert ran.outputs == {"found": ["bee 0", "bee 1"]}, ran.error


def test_an_address_is_asked_where_the_operator_opens_it(address: str) -> None:
    transport = {
        "component_type": "StreamableHTTPTransport", "id": "web", "name": "web", "url": "{{SHOP_URL}}",
        "sensitive_headers": {"Authorization": "Bearer {{SHOP_KEY}}"},
    }  # fmt: skip
    flow = tool_flow({**SEARCH, "client_transport": transport})
    env = {"SHOP_URL": address, "SHOP_KEY": "s3cret-of-the-shop"}
    closed = drive(compile_flow(flow, env=env), {"query": "bee"}, platform=NOWHERE)
    assert closed.status == "failed"
    assert "does not open" in str(closed.error)
    for lent, platform in (
        (HostParts(env=env), HttpPlatform(None, allow=[address])),
        (HostParts(allow=[address], env=env), NOWHERE),
    ):
        opened = drive(compile_flow(flow, host=lent), {"query": "bee"}, platform=platform)
        assert opened.outputs == {"found": ["bee 0", "bee 1"]}, opened.error
        assert "s3cret-of-the-shop" not in str(opened)


def test_a_key_goes_along_and_is_the_same_after_a_repeat() -> None:
    flow, made, _ = run(tool_flow(SEND), {})
    assert drive(flow, {"to": "ada"}).outputs == {"said": "sent to ada"}
    ((_, _, key),) = made
    assert key


def test_an_event_loop_gives_the_same() -> None:
    flow, _, _ = run(tool_flow(SEARCH), {})
    ran = asyncio.run(adrive(flow, {"query": "bee"}))
    assert ran.outputs == {"found": ["bee 0", "bee 1"]}
    again = asyncio.run(_in_a_loop(flow))
    assert again.outputs == ran.outputs


async def _in_a_loop(flow: Any) -> Any:
    """The blocking way, in a thread whose loop runs."""
    return drive(flow, {"query": "bee"})


def test_several_outputs_are_the_members_of_the_result() -> None:
    tool = mcp_tool("describe", [port("name")], [port("name"), port("price", "integer")])
    flow, _, _ = run(tool_flow(tool), {})
    assert drive(flow, {"name": "hive"}).outputs == {"name": "hive", "price": 7}


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (port("said"), '{"name": "hive", "price": 7}'),
        (port("said", "object"), {"name": "hive", "price": 7}),
        (port("price", "integer"), 7),
    ],
)
def test_one_output_takes_a_result_of_several_members_as_a_whole_else_its_own_member(
    output: Any, expected: Any
) -> None:
    flow, _, _ = run(tool_flow(mcp_tool("describe", [port("name")], [output])), {})
    assert drive(flow, {"name": "hive"}).outputs == {output["title"]: expected}


def test_a_result_that_is_not_of_the_type_is_told_with_its_members() -> None:
    wanted = mcp_tool("describe", [port("name")], [{**NUMBERS, "title": "said"}])
    ran = drive(run(tool_flow(wanted), {})[0], {"name": "hive"})
    assert "'said': an object cannot become an array" in str(ran.error)
    assert "name the output after it: 'name', 'price'" in str(ran.error)


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        (mcp_tool("fail", [port("query")], []), "fail"),
        (mcp_tool("nothing", [port("query")], []), "nothing"),
        (mcp_tool("search", [port("query")], [port("n", "integer")]), "'n'"),
        (mcp_tool("search", [port("query")], [port("a"), port("b")]), "the output 'a'"),
    ],
)
def test_a_call_that_fails_fails_the_run(tool: Any, words: str) -> None:
    flow, _, _ = run(tool_flow(tool), {})
    ran = drive(flow, {"query": "bee"})
    assert ran.status == "failed"
    assert words in str(ran.error)
    assert "MCP server 'shop'" in str(ran.error)


RUBBISH = "print('hello', flush=True)\nfor line in __import__('sys').stdin: print('{\"jsonrpc\": 7}', flush=True)"


def test_rubbish_of_a_server_is_no_traceback() -> None:
    """In a process of its own: pytest has handlers for what a package logs."""
    transport = {
        **STDIO,
        "args": ["-c", RUBBISH],
        "session_parameters": {"read_timeout_seconds": 1.0},
    }
    tool = {**SEARCH, "client_transport": transport, "retry_policy": {"max_attempts": 0}}
    program = f"""
from tests.mcp.test_mcp_tools import *
ran = drive(compile_flow({tool_flow(tool)!r}, host=OPEN), {{"query": "bee"}}, platform=NOWHERE)
print(ran.error)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "MCP server 'shop' failed" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("transport", "words"),
    [
        ({**STDIO, "command": "no-such-program"}, "no-such-program"),
        ({**STDIO, "args": ["-c", "raise SystemExit(3)"]}, "shop"),
    ],
)
def test_a_server_that_does_not_start_is_named(transport: Any, words: str) -> None:
    tool = {**SEARCH, "client_transport": transport, "retry_policy": {"max_attempts": 0}}
    ran = drive(compile_flow(tool_flow(tool), host=OPEN), {"query": "bee"}, platform=NOWHERE)
    assert ran.status == "failed"
    assert words in str(ran.error)
    assert "ExceptionGroup" not in str(ran.error)


def test_variables_of_the_process_are_those_of_the_file() -> None:
    transport = {**STDIO, "env": {"SHOP_KEY": "{{SHOP_KEY}}"}}
    tool = mcp_tool("read_variable", [port("name")], [port("value")], transport)
    flow = compile_flow(
        tool_flow(tool), host=OPEN.with_parts(env={"SHOP_KEY": "s3cret-of-the-shop"})
    )
    ran = drive(flow, {"name": "SHOP_KEY"}, platform=NOWHERE)
    assert ran.outputs == {"value": "[redacted]"}
    ran = drive(flow, {"name": "DATABASE_URL"}, platform=NOWHERE)
    assert ran.outputs == {"value": ""}


def test_a_confirmed_tool_asks_first() -> None:
    flow, made, _ = run(tool_flow({**SEND, "requires_confirmation": True}), {})
    ran = drive(flow, {"to": "ada"}, answers=[True])
    assert ran.outputs == {"said": "sent to ada"}
    assert ran.gates[0].payload["values"]["arguments"] == {"to": "ada"}
    assert drive(flow, {"to": "ada"}, answers=[False]).status == "rejected"
    assert len(made) == 1


EDIT = Decision.approve(by="ann", value={"to": "bob"})


def test_a_confirmed_tool_is_asked_once_with_the_arguments_that_a_person_edited() -> None:
    flow, made, _ = run(tool_flow({**SEND, "requires_confirmation": True}), {})
    ran = drive(flow, {"to": "ada"}, answers=[EDIT])
    assert (ran.status, ran.outputs) == ("completed", {"said": "sent to bob"}), ran.error
    assert [one[:2] for one in made] == [("send", "bob")]
    (decided,) = ran.decisions
    assert decided["edited"] == {"before": {"to": "ada"}, "after": {"to": "bob"}}


@pytest.mark.parametrize("value", [{"to": 5}, {"to": "bob", "copies": 2}, {}, "bob"], ids=str)
def test_an_edit_that_the_tool_does_not_take_asks_no_server(value: Any) -> None:
    flow, made, _ = run(tool_flow({**SEND, "requires_confirmation": True}), {})
    with pytest.raises(AnswerInvalid, match="the edited arguments"):
        drive(flow, {"to": "ada"}, answers=[Decision.approve(by="ann", value=value)])
    assert made == []


def test_an_agent_is_told_of_the_arguments_that_a_person_edited() -> None:
    tools = ["search", spec("send", port("to"), requires_confirmation=True)]
    script = [asks_for(("send", {"to": "ada"})), "Done."]
    ran, model, made = run_agent(agent(toolboxes=[box(tool_filter=tools)]), script, answers=[EDIT])
    assert ran.status == "completed", ran.error
    assert [one[:2] for one in made] == [("send", "bob")]
    assert any("bob" in said for said in told(model))


def test_a_simulation_answers_for_a_server() -> None:
    ran = drive(compile_flow(tool_flow(SEND), host=OPEN), {"to": "ada"})
    assert ran.status == "completed"
    assert [call.method for call in ran.calls] == ["MCP"]


# ------------------------------------------------------------------------ agents


def test_an_agent_has_the_tools_of_a_server() -> None:
    script = [
        asks_for(("search", {"query": "a", "most": 1}), ("describe", {"name": "hive"})),
        asks_for(("fail", {"why": "reason"}), ("find", {}), ("send", {"to": []})),
        "Done.",
    ]
    ran, model, made = run_agent(agent(toolboxes=[box()], outputs=TEXT), script, outputs=TEXT)
    assert (ran.status, ran.outputs) == ("completed", {"report": "Done."}), ran.error
    assert names(model) == ["search", "send", "describe", "fail", "read_variable"]
    assert made == [("search", "a", 1)]
    first, second, third, fourth, fifth = told(model)
    assert first == '["a 0"]'
    assert '"price": 7' in second
    assert "fail" in third
    assert fourth.startswith("there is no tool 'find'; the tools are: search, send")
    assert "to" in fifth


def test_a_filter_leaves_out_tools_and_asks_where_a_tool_is_described_so() -> None:
    own = agent(
        toolboxes=[
            box(tool_filter=["search", spec("send", port("to"), requires_confirmation=True)])
        ]
    )
    script = [asks_for(("send", {"to": "ada"})), asks_for(("search", {"query": "a"})), "Done."]
    ran, model, made = run_agent(own, script, answers=[True])
    assert ran.status == "completed", ran.error
    assert sorted(names(model)) == ["search", "send"]
    assert [gate.id for gate in ran.gates] == ["work/send"]
    assert [one[0] for one in made] == ["send", "search"]


def test_a_toolbox_that_asks_asks_for_every_tool() -> None:
    own = agent(
        toolboxes=[
            box(requires_confirmation=True, tool_filter=["search", spec("send", port("to"))])
        ]
    )
    script = [asks_for(("search", {"query": "a"}), ("send", {"to": "ada"})), "Done."]
    ran, _, made = run_agent(own, script, answers=[True, True])
    assert [gate.id for gate in ran.gates] == ["work/shop-box.call", "work/send"]
    assert len(made) == 2
    denied, _, made = run_agent(own, script, answers=[False])
    assert (denied.status, made) == ("rejected", [])


@pytest.mark.parametrize(
    ("offered", "words"),
    [
        (["nothing"], "no tool 'nothing'"),
        ([spec("nothing")], "no tool 'nothing'"),
        ([spec("send")], "needs 'to'"),
        ([spec("send", port("to"), port("copies"))], "takes no 'copies'"),
    ],
)
def test_a_server_without_what_the_file_names_is_told(offered: Any, words: str) -> None:
    ran, model, _ = run_agent(agent(toolboxes=[box(tool_filter=offered)]), ["Done."])
    assert ran.status == "failed"
    assert words in str(ran.error)
    assert not model.asked


def test_two_tools_of_one_name_are_told() -> None:
    own = agent(toolboxes=[box(), box(id="other")])
    ran, _, _ = run_agent(own, ["Done."])
    assert "tools with the name 'search'" in str(ran.error)


def test_an_mcp_tool_of_an_agent_is_a_step_of_its_own() -> None:
    ran, model, made = run_agent(agent(SEARCH), [asks_for(("search", {"query": "a"})), "Done."])
    assert (ran.status, made) == ("completed", [("search", "a", 2)])
    assert told(model) == ['["a 0", "a 1"]']


# ------------------------------------------------------------------------ files


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ({**SEARCH, "client_transport": None}, "client_transport"),
        ({**SEARCH, "client_transport": {"component_type": "VllmConfig", "id": "x"}}, "transport"),
        ({**SEARCH, "client_transport": {**STDIO, "command": 7}}, "command"),
        ({**SEARCH, "retry_policy": {"max_attempts": "often"}}, "max_attempts"),
    ],
)
def test_a_tool_that_means_nothing_is_refused(tool: Any, words: str) -> None:
    assert any(words in one.message for one in check(tool_flow(tool)).errors)


@pytest.mark.parametrize("entry", [7, {"component_type": "ServerTool", "id": "s", "name": "s"}])
def test_a_filter_that_means_nothing_is_refused(entry: Any) -> None:
    found = check(agent_flow(agent(toolboxes=[box(tool_filter=[entry])])))
    assert any("tool_filter" in one.message for one in found.errors)


def test_a_program_is_started_only_where_the_host_lets_it() -> None:
    assert "OAS094" in {one.code for one in check(tool_flow(SEARCH)).errors}
    with pytest.raises(CompileError, match="StdioTransport is blocked"):
        compile_flow(tool_flow(SEARCH))
    compile_flow(
        tool_flow(SEARCH), host=HostParts(allowed_components=["Component", "StdioTransport"])
    )


@pytest.mark.parametrize("outputs", [TEXT, [port("brand"), port("hp", "integer")]])
def test_a_tool_of_a_server_with_the_name_of_the_result_is_refused_by_its_name(
    outputs: Any,
) -> None:
    made: list[Any] = []
    server = MCPServer("shop")

    @server.tool()
    def submit_result(report: str) -> str:
        """Files the report."""
        made.append(report)
        return "filed"

    model = ScriptedModel([asks_for(("submit_result", {"report": "x"})), "Done"])
    flow = {**agent_flow(agent(outputs=outputs, toolboxes=[box()]), outputs), "agentspec_version": "26.3.1"}  # fmt: skip
    done = drive(
        compile_flow(flow, models={"*": model}, mcp={"shop": server}, host=OPEN),
        {"topic": "bees"},
    )
    assert done.status == "failed"
    assert done.error is not None
    assert "a server has a tool with the name 'submit_result'" in str(done.error)
    assert (made, len(model.asked)) == ([], 0)
