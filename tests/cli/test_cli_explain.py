"""`oasflow explain`: what people see, at 80 columns too, and the document of --json."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from oasflow_screen import Screen

from oas_compiler.explain import explain
from tests.flows import api, branching, end, flow_node, flow_of, gate, node, port, start

ROOT = Path(__file__).resolve().parents[2]
OUTREACH = ROOT / "../shared/corpus/cinatra/email-outreach-agent"
INNER = flow_of(start(), gate("ask", renderer="@x/y:z"), end(), id_="sub")
FLOW = flow_of(
    start(port("topic"), port("tone", default="kind"), required=["topic"]),
    api("write", inputs=[port("topic")], data={"user": "{{ topic }}"}, outputs=[port("text")]),
    flow_node("review", INNER, packageName="@x/reviewer"),
    api("send", inputs=[port("text")], data={"text": "{{ text }}"}, risk="email_send"),
    end(port("text")),
    edges=[("start", "topic", "write", "topic"), ("write", "text", "send", "text"),
           ("write", "text", "end", "text")],
)  # fmt: skip


def shown(offline: Any, *arguments: str) -> list[str]:
    result = offline("explain", *arguments)
    assert result.exit_code == 0, result.output
    return [line.rstrip() for line in result.stdout.splitlines()]


def test_an_input_that_may_be_missing_is_told_without_a_default(
    offline: Any, flow_file: Any
) -> None:
    flow = flow_of(start(port("slug"), port("tone", default="kind"), required=[]), end())
    text = "\n".join(shown(offline, flow_file(flow)))
    assert "  slug   string  optional, no default\n" in text
    assert '  tone   string  optional, default "kind"\n' in text


def test_nodes_gates_sends_and_calls_are_told_in_order(offline: Any, flow_file: Any) -> None:
    lines = shown(offline, flow_file(FLOW))
    assert lines[0] == "The test-flow"
    assert "7 nodes" not in lines[2]
    assert lines[2] == "8 nodes · 1 gate · 2 calls · 1 send"
    text = "\n".join(lines)
    expected = (
        "  ● write  ApiNode  read_only\n"
        "      calls  POST {{CINATRA_BASE_URL}}/api/write\n"
        "      then   review\n"
        "      reads  topic  start\n"
        "      gives  text   send, end\n"
        "  ● review  FlowNode  step 1\n"
        "      child  @x/reviewer\n"
        "      then   send\n"
        "  ├── ● start  StartNode\n"
        "  │       then   ask\n"
        "  ├── ◆ ask  InputMessageNode  step 1 · read_only\n"
    )
    assert expected in text
    assert "  ● send  ApiNode  email_send\n" in text
    assert "gates\n   1  review/ask  read_only\n" in text
    assert "screen  @x/y:z" in text
    assert "guards  send" in text
    assert "sends\n  send  email_send\n      always  review/ask\n" in text
    assert "inputs\n  topic  string  asked before the run\n" in text
    assert '  tone   string  optional, default "kind"\n' in text
    assert "environment\n  {{CINATRA_BASE_URL}}  2 times, first in line 1\n" in text
    titles = ["inputs", "nodes", "gates", "sends", "calls", "results", "environment"]
    at = [lines.index(title) for title in [*titles, "what a host derives"]]
    assert at == sorted(at)


def test_branches_show_where_they_lead_and_for_which_values(offline: Any, flow_file: Any) -> None:
    flow = flow_of(
        start(port("mode"), required=["mode"]), branching("choose", port("mode"), {"x": "go"}),
        gate("ask"), end(),
        routes=[("start", None, "choose"), ("choose", "go", "end"), ("choose", "default", "ask"),
                ("ask", None, "end")],
        edges=[("start", "mode", "choose", "mode")],
    )  # fmt: skip
    lines = shown(offline, flow_file(flow))
    assert "      on     go       end  for x" in lines
    assert "      on     default  ask" in lines


def test_a_send_without_a_gate_is_told(offline: Any, flow_file: Any) -> None:
    flow = flow_of(start(), api("send", risk="email_send"), end())
    assert "      guard  none on at least one way" in shown(offline, flow_file(flow))


def test_one_node_is_told_with_its_templates_and_its_form(offline: Any, flow_file: Any) -> None:
    path = flow_file(FLOW)
    lines = shown(offline, path, "--node", "write")
    assert lines[0] == "● write  ApiNode  read_only"
    assert "    reads  topic  start  in data/user" in lines
    lines = shown(offline, path, "--node", "review/ask")
    assert lines[0].startswith("◆ review/ask  InputMessageNode  step 1")
    assert "    guards  send" in lines
    outer = shown(offline, path, "--node", "end")
    assert [line for line in outer if line.startswith("● ")] == ["● end  EndNode"]


def test_a_node_that_is_not_there_is_exit_2_with_the_nearest_name(
    offline: Any, flow_file: Any
) -> None:
    result = offline("explain", flow_file(FLOW), "--node", "wrte", "--json")
    assert result.exit_code == 2
    error = json.loads(result.stdout)["error"]
    assert error["message"] == "there is no node 'wrte' in this flow; did you mean \"write\"?"


def test_the_document_is_the_librarys(offline: Any, flow_file: Any) -> None:
    path = flow_file(FLOW)
    result = offline("explain", path, "--json")
    assert json.loads(result.stdout) == explain(path).to_json()
    document = json.loads(offline("explain", path, "--node", "ask", "--json").stdout)
    assert [node["path"] for node in document["nodes"]] == ["review/ask"]


def test_a_flow_with_errors_gives_its_findings_and_exit_1(offline: Any, flow_file: Any) -> None:
    broken = json.dumps(FLOW).replace('"EndNode"', '"EnNode"')
    result = offline("explain", flow_file(broken), "--json")
    assert result.exit_code == 1
    assert "OAS026" in {f["code"] for f in json.loads(result.stdout)["error"]["findings"]}
    assert offline("explain", flow_file("{")).exit_code == 2
    assert offline("explain", flow_file("[]")).exit_code == 1
    assert offline("explain", "nowhere").exit_code == 2


def test_warnings_are_told_on_stderr_and_do_not_fail(offline: Any, flow_file: Any) -> None:
    flow = flow_of(
        start(), api("lonely"), end(), routes=[("start", None, "end"), ("lonely", None, "end")]
    )
    result = offline("explain", flow_file(flow))
    assert result.exit_code == 0
    assert "OAS048" in result.stderr
    assert "OAS048" not in result.stdout
    assert "● lonely  ApiNode  read_only  never runs" in result.stdout


def test_errors_that_do_not_stop_it_are_told_on_stderr(offline: Any, flow_file: Any) -> None:
    open_ = flow_file(flow_of(start(), api("send", risk="email_send"), end()))
    for options in ((), ("--json",)):
        result = offline("explain", open_, *options)
        assert result.exit_code == 0
        assert f"check finds 1 error in this file (oasflow check {open_})" in result.stderr
        assert "check finds" not in result.stdout
    assert "check finds" not in offline("explain", flow_file(FLOW)).stderr


def test_a_gate_of_a_send_class_is_not_counted_or_listed_as_a_send(
    offline: Any, flow_file: Any
) -> None:
    risky = {"riskClass": "send_external_message"}
    both = flow_of(start(), gate("review", **risky), api("send", risk="email_send"), end())
    lines = shown(offline, flow_file(both))
    assert "4 nodes · 1 gate · 1 call · 1 send" in lines
    text = "\n".join(lines)
    assert "sends\n  send  email_send\n      always  review\n\ncalls" in text
    assert "   1  review  send_external_message\n" in text
    alone = "\n".join(shown(offline, flow_file(flow_of(start(), gate("review", **risky), end()))))
    assert "0 sends" in alone
    assert "guards  nothing that sends, in spite of its class" in alone
    assert "in spite" not in text


def test_no_gated_steps_beside_gates_is_explained(offline: Any, flow_file: Any) -> None:
    def gated(*nodes: Any) -> str:
        lines = shown(offline, flow_file(flow_of(start(), *nodes, end())))
        return next(line for line in lines if "gatedSteps" in line)

    reason = "no step has side effects of its own, and the gates ask all the same"
    assert reason in gated(gate("review"))
    assert gated().split() == ["gatedSteps", "none"]
    assert gated(gate("review", riskClass="x_post")).split() == ["gatedSteps", "1"]


def test_credentials_are_starred_in_what_people_read(offline: Any, flow_file: Any) -> None:
    flow = flow_of(
        start(port("key", default="sk-live0123456789abcdef")),
        api("work", url="https://host.example/sk-live0123456789abcdef?key=hidden"), end(),
    )  # fmt: skip
    for arguments in ((), ("--node", "work"), ("--node", "start")):
        text = offline("explain", flow_file(flow), *arguments).stdout
        assert "0123456789" not in text
        assert "hidden" not in text


def test_control_characters_of_a_flow_become_pictures(offline: Any, flow_file: Any) -> None:
    text = (
        json.dumps(FLOW)
        .replace("The test-flow", "The\\u001b[2J flow")
        .replace('"@x/y:z"', '"@x/\\u009by"')
    )
    for arguments in ((), ("--node", "ask")):
        result = offline("explain", flow_file(text), *arguments)
        assert result.exit_code == 0
        assert "\x1b" not in result.output
        assert "\x9b" not in result.output


@pytest.mark.parametrize("colour", [True, False])
@pytest.mark.parametrize("agent", ["examples/onboarding-agent", str(OUTREACH)])
def test_at_a_terminal_of_80_columns_nothing_is_cut_and_no_line_is_longer(
    agent: str, colour: bool
) -> None:
    if not (ROOT / agent).is_dir():
        pytest.skip("the folder of real input is absent")
    program = Path(sys.executable).with_name("oasflow")
    if not program.exists():
        pytest.skip("the program oasflow is not installed beside this Python")
    env = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    env |= {"COLUMNS": "80"} | ({} if colour else {"NO_COLOR": "1"})
    screen = Screen([str(program), "explain", str(ROOT / agent)], env)
    try:
        assert screen.ended() == 0
    finally:
        screen.close()
    assert ("\x1b[" in screen.raw) is colour
    lines = screen.text.splitlines()
    # the screen reads in pieces: a character that two of them share comes as several
    assert max(len(line) for line in lines if "\ufffd" not in line) <= 80
    explained = explain(ROOT / agent)
    words = {word.strip(",") for line in lines for word in line.split()}
    assert {node.id for node in explained.nodes} <= words
    assert {gate.renderer for gate in explained.gates} <= words


def test_a_question_to_a_model_is_counted_and_listed_as_a_call(
    offline: Any, flow_file: Any
) -> None:
    config = {"component_type": "OpenAiConfig", "id": "gpt", "name": "Writer", "model_id": "gpt-5"}
    ask = node(
        "LlmNode", "write", llm_config=config, prompt_template="Write.", outputs=[port("text")]
    )
    told = offline("explain", str(flow_file(flow_of(start(), ask, end())))).stdout
    assert "3 nodes · 0 gates · 1 call · 0 sends" in told
    assert "calls  the model gpt-5" in told
    assert "  model gpt-5\n      write\n" in told
