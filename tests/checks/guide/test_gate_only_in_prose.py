from __future__ import annotations

import pytest

from tests.checks.guide.guide_case import SKILL, agent, flow, gated, only, told
from tests.checks.rule_case import findings, found
from tests.flows import end, flow_node, node, port, start

CODE = "OAS175"
PROMISE = "Writes a mail. Sends it after the user approves it."


def described(text, *nodes):
    return {**flow(*nodes), "description": text}


def test_a_promise_without_a_gate_is_told_and_with_a_gate_it_is_kept():
    assert found(described(PROMISE), CODE) == ["/description"]
    assert found({**gated(), "description": PROMISE}, CODE) == []


@pytest.mark.parametrize(
    "text",
    [
        "Waits for the user.",
        "It pauses until somebody has confirmed the list.",
        "Requires human approval before sending.",
        "Asks the user to confirm the audience.",
        "A person approves the drafts.",
        "Uses HITL.",
        "Has a human-in-the-loop step.",
        "Stops at the approval gate.",
        "Only once approved, the mail is sent.",
        "Awaiting confirmation, it keeps the draft.",
    ],
)
def test_a_promise_has_many_wordings(text):
    assert found(described(text), CODE) == ["/description"]


@pytest.mark.parametrize(
    "text",
    [
        "No HITL, no tool calls.",
        "Runs without approval.",
        "Never waits for the user.",
        "It doesn't ask the user to confirm.",
        "The orchestrator asks for approval before.",
        "Takes the list that the user already approved.",
        "Summarises approval mails and their confirmations.",
        "Writes drafts for a human audience.",
        "Lists what people wait for.",
        "",
    ],
)
def test_a_denial_and_other_talk_are_no_promise(text):
    assert found(described(text), CODE) == []


def test_the_message_says_which_words_promise_it():
    (finding,) = findings(described(PROMISE), CODE)
    assert finding.message == (
        'the description promises "after the user approves", and the flow has no gate'
    )


def test_a_task_spec_and_the_description_of_the_package_are_read(tmp_path):
    made = flow(about={"taskSpec": PROMISE})
    assert found(made, CODE) == ["/metadata/cinatra/taskSpec"]
    finding = only(agent(tmp_path, manifest={"description": PROMISE}), CODE)
    assert (finding.file.endswith("package.json"), finding.pointer) == (True, "/description")


def test_skill_md_is_read_and_the_line_and_column_are_those_of_the_promise(tmp_path):
    spoken = SKILL.replace("Reads the topic.", "Reads the topic.\nThen: wait for human approval.")
    # line 1 is the opening ---, line 7 the added one; "wait" is its seventh character
    assert told(agent(tmp_path, skill=spoken), CODE) == [("SKILL.md", 7, 7)]
    assert told(agent(tmp_path, gated(), skill=spoken), CODE) == []
    assert told(agent(tmp_path), CODE) == []


def test_a_gate_inside_of_a_subflow_keeps_the_promise():
    inner = flow(start(), node("InputMessageNode", "ask", outputs=[port("a")]), end(), id_="inner")
    assert found(described(PROMISE, start(), flow_node("sub", inner), end()), CODE) == []
    empty = flow(start(), end(), id_="inner")
    made = described(PROMISE, start(), flow_node("sub", empty), end())
    assert found(made, CODE) == ["/description"]


def test_a_context_slot_brings_a_gate_of_the_host():
    made = described(PROMISE)
    made["metadata"]["cinatra"]["contextSlots"] = [{"slotId": "a"}]
    assert found(made, CODE) == []


@pytest.mark.parametrize(
    "text",
    [
        "There is no gate in this agent.", "The agent runs without\nasking for approval.",
        "There is no\napproval gate here.", "Lacks an approval gate.", "It skips the approval gate.",
        "Human-in-the-loop: none.", "The confirmation gate was removed.",
        "Sends rather than waiting for the user.", "Runs unattended: nothing waits for a person.",
    ],
)  # fmt: skip
def test_prose_that_says_a_gate_is_absent_promises_none(tmp_path, text):
    skill = SKILL.replace("Reads the topic.", text)
    assert told(agent(tmp_path, skill=skill), CODE) == []


def test_a_promise_over_two_lines_is_one_at_its_place(tmp_path):
    skill = SKILL.replace(
        "Reads the topic.", "- No mail.\n- Waits until the user\n  approves the text."
    )
    (finding,) = findings(agent(tmp_path, skill=skill), CODE)
    assert finding.line == 7
