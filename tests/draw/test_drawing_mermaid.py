"""Mermaid text: golden for a flow with every kind of thing, and safe for any name."""

from __future__ import annotations

import re

import pytest

from oas_compiler.draw.mermaid import mermaid_text
from oas_compiler.pipeline import compile_ir
from tests.flows import api, branching, end, flow_node, flow_of, gate, message, node, port, start
from tests.samples import agent, needs_corpus

GOLDEN = """\
flowchart TD
  n_start(["The start"])
  n_ask{{"The ask<br>step 1 · approval"}}:::gate
  n_choose{"The choose"}:::branch
  subgraph n_sub["The sub"]
    direction TB
    n_sub__start(["The start"])
    n_sub__check{{"The check<br>step 2 · read_only"}}:::gate
    n_sub__send[["The send<br>sends: email_send"]]:::send
    n_sub__end(["The end"])
    n_sub__start --> n_sub__check
    n_sub__check --> n_sub__send
    n_sub__send --> n_sub__end
  end
  n_say>"The say"]
  n_end(["The end"])
  n_start --> n_ask
  n_ask --> n_choose
  n_choose -->|"go"| n_sub
  n_choose -.->|"default"| n_ask
  n_sub --> n_say
  n_say --> n_end
  classDef gate fill:#fff1c2,stroke:#b7791f,stroke-width:2px,color:#4a3200
  classDef branch fill:#e4eafc,stroke:#4c63b6,color:#1c2a63
  classDef send fill:#ffe3e1,stroke:#c22727,stroke-width:3px,color:#5c0b0b
"""


def test_gates_branches_subflows_sends_and_loops_are_all_there() -> None:
    inner = flow_of(
        node("StartNode", "start", inputs=[]),
        gate("check"),
        api("send", risk="email_send"),
        end(),
        id_="inner",
    )
    flow = flow_of(
        start(),
        gate("ask", output=port("said"), riskClass="approval"),
        branching("choose", port("value"), {"go": "go"}),
        flow_node("sub", inner),
        message("say", "done"),
        end(),
        edges=[("ask", "said", "choose", "value")],
        routes=[
            ("start", None, "ask"), ("ask", None, "choose"), ("choose", "go", "sub"),
            ("choose", "default", "ask"), ("sub", None, "say"), ("say", None, "end"),
        ],
    )  # fmt: skip
    assert mermaid_text(compile_ir(flow).ir) == GOLDEN


def test_a_gate_of_a_send_class_stays_a_gate_and_a_subflow_can_be_a_send() -> None:
    inner = flow_of(node("StartNode", "start", inputs=[]), end(), id_="inner")
    flow = flow_of(
        start(), gate("ask", riskClass="email_send"),
        flow_node("sub", inner, riskClass="x_publish"), end(),
    )  # fmt: skip
    text = mermaid_text(compile_ir(flow).ir)
    assert 'n_ask{{"The ask<br>step 1 · email_send"}}:::gate' in text
    assert 'subgraph n_sub["The sub<br>sends: x_publish"]' in text
    assert "\n  class n_sub send\n" in text
    assert text.count("sends:") == 1
    alone = mermaid_text(
        compile_ir(flow_of(start(), gate("ask", riskClass="email_send"), end())).ir
    )
    assert "classDef send" not in alone


def test_a_credential_in_a_name_is_starred() -> None:
    named = {**gate("ask"), "name": "Use sk-live0123456789abcdef"}
    assert "Use sk-*****" in mermaid_text(compile_ir(flow_of(start(), named, end())).ir)


@pytest.mark.parametrize("name", ['"]; click x', "a<script>b", "end", "```", "a\nb", "#quot;&"])
def test_no_name_ends_its_own_quotes(name: str) -> None:
    flow = compile_ir(flow_of(start(), {**gate("ask"), "name": name}, end())).ir
    line = next(line for line in mermaid_text(flow).split("\n") if "n_ask{{" in line)
    assert re.fullmatch(r'  n_ask\{\{"[^"`\n]*<br>[^"<>`\n]*"\}\}:::gate', line)
    assert "<script" not in line


def test_ids_that_mermaid_reserves_or_cannot_read_are_made_harmless() -> None:
    text = mermaid_text(compile_ir(flow_of(start(), gate("end "), gate("ä/b"), end())).ir)
    assert "n_end_20_{{" in text
    assert "n__e4__2f_b{{" in text


@needs_corpus
def test_the_loop_of_a_real_flow_is_dashed() -> None:
    text = mermaid_text(compile_ir(agent("email-test-delivery-agent")).ir)
    dashed = [line.strip() for line in text.split("\n") if "-.->" in line]
    assert dashed == ["n_perform_5f_test_5f_send -.-> n_test_5f_form_5f_gate"]
