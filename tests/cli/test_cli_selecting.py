"""A context selection at a real terminal, and from other processes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from oasflow_process import Oasflow
from printed import hashed
from selection_flow import RENDERER, THREE, envelope, ref, selection_flow, values

from tests.flows import end, flow_of, gate, message, port, start
from tests.slot_flows import declared
from tests.wired_flows import wired

HOUSE, OLD, FACTS = THREE
PROMPT = "numbers tick, approve [a], paste JSON [j], reject [r], leave waiting [q]: "


def chosen(here: Any, run: str = "r1") -> Any:
    """The envelope that the gate put out."""
    record = here("show", run, "--json").json
    assert record["status"] == "completed"
    return json.loads(record["outputs"]["userResponse"])


@pytest.fixture
def waiting(here: Any, flow_file: Any) -> Any:
    """A run that waits at its selection; gives what asks about it in this process."""

    def begin(*refs: Any, **meta: Any) -> Any:
        path = flow_file(selection_flow(*refs, **meta))
        assert here("run", path, "--detach", "--run-id", "r1").code == 3
        return here

    return begin


# ------------------------------------------------------------------------ at a terminal


def test_a_person_ticks_meets_the_cap_unticks_and_approves(
    screen: Any, flow_file: Any, here: Any
) -> None:
    path = flow_file(selection_flow(minItems=1))
    seen = screen("run", path, "--run-id", "r1", "--as", "ann")
    shown = seen.wait_for(PROMPT)
    assert 'Context for "brand": choose up to 2, at least 1' in shown
    assert "\n    [ ] 1  house-voice" in shown
    assert "slotMeta" not in shown
    seen.type("a")
    seen.wait_for('error: the slot "brand" needs at least 1, 0 were chosen of 3')
    seen.wait_for(PROMPT)
    seen.type("1 3")
    shown = seen.wait_for(PROMPT)
    assert "\n    [x] 1  house-voice" in shown
    assert "[-] 2  old-voice" in shown
    seen.type("2")
    seen.wait_for("at most 2 may be chosen, and this would be 3: untick one of 1, 3 first")
    seen.wait_for(PROMPT)
    seen.type("1")
    assert "[ ] 2  old-voice" in seen.wait_for(PROMPT)
    seen.type("2")
    assert "[-] 1  house-voice" in seen.wait_for(PROMPT)
    seen.type("a as agreed")
    seen.wait_for("run r1  completed")
    assert seen.ended() == 0
    assert chosen(here) == envelope(OLD, FACTS)
    decision = here("show", "r1", "--json").json["decisions"][0]
    assert (decision["by"], decision["reason"]) == ("ann", "as agreed")


def test_the_envelope_may_be_pasted_and_a_wrong_one_is_asked_again(
    screen: Any, flow_file: Any, here: Any
) -> None:
    seen = screen("run", flow_file(selection_flow()), "--run-id", "r1")
    seen.wait_for(PROMPT)
    for pasted, words in (
        (envelope(*THREE), 'the slot "brand" takes at most 2, 3 were chosen'),
        (envelope(ref("elsewhere")), "is no candidate of the slot"),
        (envelope(HOUSE, slotId="voice"), 'is for the slot "voice", not "brand"'),
        ({"chosen": []}, "slotId: Field required"),
    ):
        seen.type("j")
        seen.wait_for("Paste the JSON value")
        seen.type(json.dumps(pasted))
        seen.wait_for(words)
        seen.wait_for(PROMPT)
    seen.type("j")
    seen.wait_for("Paste the JSON value")
    for line in json.dumps(envelope(FACTS), indent=1).splitlines():
        seen.type(line)
    seen.wait_for("run r1  completed")
    assert seen.ended() == 0
    assert chosen(here) == envelope(FACTS)


def test_a_person_rejects_a_selection(screen: Any, flow_file: Any, here: Any) -> None:
    seen = screen("run", flow_file(selection_flow()), "--run-id", "r1")
    seen.wait_for(PROMPT)
    seen.type("1")
    seen.wait_for(PROMPT)
    seen.type("r none fits")
    seen.wait_for("run r1  rejected")
    assert seen.ended() == 5
    decision = here("show", "r1", "--json").json["decisions"][0]
    assert (decision["decision"], decision["reason"]) == ("rejected", "none fits")


def test_leaving_keeps_no_tick(screen: Any, flow_file: Any, here: Any) -> None:
    seen = screen("run", flow_file(selection_flow()), "--run-id", "r1")
    seen.wait_for(PROMPT)
    seen.type("1")
    seen.wait_for(PROMPT)
    seen.press("D")
    seen.wait_for("the run is kept: oasflow resume r1")
    assert seen.ended() == 130
    again = screen("resume", "r1")
    assert "[ ] 1  house-voice" in again.wait_for(PROMPT)
    again.type("what")
    again.wait_for("type the numbers to tick or untick, or one of the letters")
    again.wait_for(PROMPT)
    again.type("q")
    assert again.ended() == 3
    assert "oasflow answer r1/context_select_gate --shown HASH --select house-voice\n" in hashed(
        again.text
    )


def test_answer_at_a_terminal_shows_the_gate_and_asks(screen: Any, waiting: Any) -> None:
    here = waiting(*THREE, resolutionMode="override", maxItems=None, readableOnly=True)
    seen = screen("answer", "r1", "--as", "bo")
    shown = seen.wait_for(PROMPT)
    assert "readable only" in shown
    assert "( ) 1  house-voice" in shown
    seen.type("1")
    seen.wait_for("(x) 1  house-voice")
    seen.wait_for(PROMPT)
    seen.type("2")
    seen.wait_for("(x) 2  old-voice")
    seen.wait_for(PROMPT)
    seen.type("a")
    seen.wait_for("run r1  completed")
    assert seen.ended() == 0
    assert chosen(here) == envelope(OLD, resolutionMode="override")


def test_answer_at_a_terminal_asks_at_any_gate_and_leaves_the_next_one(
    screen: Any, flow_file: Any, here: Any
) -> None:
    assert here("run", flow_file(), "--simulate", "--detach", "--run-id", "r1").code == 3
    seen = screen("answer", "r1/first")
    seen.wait_for("approve [a], reject [r], leave waiting [q]: ")
    seen.type("q")
    assert seen.ended() == 3
    seen = screen("answer", "r1/first")
    seen.wait_for("approve [a], reject [r], leave waiting [q]: ")
    seen.type("a fine")
    seen.wait_for("oasflow approve r1")
    assert seen.ended() == 3
    assert [gate["id"] for gate in here("show", "r1", "--json").json["waiting"]] == ["second"]
    seen = screen("answer", "r1/second")
    seen.wait_for("leave waiting [q]: ")
    seen.press("C")
    seen.wait_for("the run is kept: oasflow resume r1")
    assert seen.ended() == 130
    late = screen("answer", "r1/first")
    late.wait_for("already approved by")
    assert late.ended() == 4


def test_of_two_people_who_choose_at_once_the_first_counts_and_the_second_is_told(
    screen: Any, waiting: Any
) -> None:
    here = waiting()
    ann, bo = screen("answer", "r1", "--as", "ann"), screen("answer", "r1", "--as", "bo")
    for one, number in ((ann, "1"), (bo, "2")):
        one.wait_for(PROMPT)
        one.type(number)
        one.wait_for(PROMPT)
    ann.type("a")
    ann.wait_for("run r1  completed")
    bo.type("a")
    bo.wait_for("already approved by ann")
    assert (ann.ended(), bo.ended()) == (0, 4)
    assert chosen(here) == envelope(HOUSE)
    assert len(here("show", "r1", "--json").json["decisions"]) == 1


@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_no_color_and_a_narrow_terminal_keep_every_word(
    screen: Any, flow_file: Any, term: str
) -> None:
    path = flow_file(selection_flow(maxItems=1))
    seen = screen("run", path, "--run-id", "r1", NO_COLOR="1", COLUMNS="40", TERM=term)
    seen.wait_for("leave waiting [q]: ")
    seen.type("2")
    shown = seen.wait_for("leave waiting [q]: ")
    assert "[-] 1  house-voice" in shown
    assert "[x] 2  old-voice" in shown
    seen.type("q")
    assert seen.ended() == 3
    # To edit a line takes moves of the cursor, where the terminal knows any, and no style.
    assert set(re.findall(r"\x1b\[[0-9;]*m", seen.raw)) <= {"\x1b[0m"}
    assert term != "dumb" or "\x1b" not in seen.raw


@pytest.mark.parametrize(
    "broken", [{"slotMeta": {"slotId": "brand"}}, {"candidates": [{"artifactId": "a"}]}]
)
def test_where_the_candidates_cannot_be_offered_the_gate_is_an_ordinary_one(
    screen: Any, flow_file: Any, here: Any, broken: Any
) -> None:
    path = flow_file(selection_flow(more=broken))
    seen = screen("run", path, "--run-id", "r1")
    assert "slotMeta" in seen.wait_for("approve [a], reject [r], leave waiting [q]: ")
    seen.type("a any words")
    seen.wait_for("run r1  completed")
    assert seen.ended() == 0
    kept = here("show", "r1", "--json").json
    assert kept["outputs"] == {"userResponse": "[Approved by operator]"}
    assert [decided["reason"] for decided in kept["decisions"]] == ["any words"]


def test_what_else_the_gate_shows_stands_above_the_list(waiting: Any) -> None:
    shown = waiting(more={"topic": "Spring tea"})("show", "r1").out.split("◆")[1]
    assert shown.index("Spring tea") < shown.index('Context for "brand"')
    assert "[ ] 3  facts" in shown
    assert "semanticAssertionId" not in shown


# ------------------------------------------------------------------ from other processes


@pytest.mark.parametrize(
    ("options", "refs"),
    [
        (("--select", "facts", "--select", "hou"), (FACTS, HOUSE)),
        (("--select-none",), ()),
        pytest.param(("--value", json.dumps(envelope(OLD))), (OLD,), marks=pytest.mark.long),
        pytest.param(("--text", json.dumps(envelope(OLD))), (OLD,), marks=pytest.mark.long),
    ],
)
def test_a_selection_is_answered_from_another_process(
    waiting: Any, oasflow: Oasflow, options: tuple[str, ...], refs: tuple[Any, ...]
) -> None:
    here = waiting()
    assert oasflow("answer", "r1/pick", *options, "--reason", "fits").code == 0
    assert chosen(here) == envelope(*refs)
    assert here("show", "r1", "--json").json["decisions"][0]["reason"] == "fits"
    late = here("answer", "r1/pick", *options)
    assert late.code == 4
    assert "already approved by" in late.err


WAYS = "give one of --select, --select-none, --value, --value-file and --text"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--select", "nope"), '"nope" is no candidate of the slot "brand"; there are house-voice'),
        (("--select", "house-voice", "--select", "old", "--select", "facts"), "takes at most 2, 3"),
        (("--select-none",), "needs at least 1, 0 were chosen of 3"),
        (("--select", "facts", "--select-none"), WAYS),
        (("--select", "facts", "--value", "1"), WAYS),
        ((), WAYS),
        (("--reason", "fits"), WAYS),
    ],
)
def test_a_selection_that_does_not_fit_leaves_the_gate_open(
    waiting: Any, options: tuple[str, ...], words: str
) -> None:
    here = waiting(minItems=1)
    refused = here("answer", "r1", *options)
    assert refused.code == 2
    assert words in refused.err
    assert here("show", "r1", "--json").json["status"] == "waiting"


@pytest.mark.parametrize("option", [("--select", "facts"), ("--select-none",)])
def test_select_at_a_gate_that_selects_nothing_is_refused(
    here: Any, flow_file: Any, option: tuple[str, ...]
) -> None:
    assert here("run", flow_file(), "--simulate", "--detach", "--run-id", "r1").code == 3
    refused = here("answer", "r1", *option)
    assert refused.code == 2
    assert "gate 'first' does not ask for a context selection" in refused.err
    assert here("show", "r1", "--json").json["decisions"] == []
    early = here("answer", "r1/second", *option)
    assert early.code == 4
    assert "gate 'second' is not waiting in run 'r1'; waiting: first" in early.err


def test_the_command_that_is_printed_for_a_selection_answers_it(waiting: Any) -> None:
    here = waiting(minItems=2)
    told = here("show", "r1").out
    line = next(line.strip() for line in told.splitlines() if "oasflow answer" in line)
    assert (
        hashed(line)
        == "oasflow answer r1/pick --shown HASH --select house-voice --select old-voice"
    )
    assert here(*line.split()[1:]).code == 0
    assert chosen(here) == envelope(HOUSE, OLD)


def test_yes_chooses_as_many_as_must_be(here: Any, flow_file: Any) -> None:
    path = flow_file(selection_flow(minItems=2))
    assert here("run", path, "--simulate", "--yes", "--run-id", "r1").code == 0
    assert chosen(here) == envelope(HOUSE, OLD)


def test_a_gate_with_a_schema_of_its_own_takes_the_checklist_too(
    screen: Any, flow_file: Any, here: Any
) -> None:
    titled = {"type": "object", "properties": {"userResponse": {"type": "string"}}, "required": ["userResponse"]}  # fmt: skip
    flow = selection_flow()
    about = flow["$referenced_components"]["pick"]["metadata"]["cinatra"]
    about["inputMessageSchema"] = titled
    seen = screen("run", flow_file(flow), "--run-id", "r1")
    seen.wait_for(PROMPT)
    seen.type("3")
    seen.wait_for(PROMPT)
    seen.type("a")
    seen.wait_for("run r1  completed")
    assert chosen(here) == envelope(FACTS)


def test_a_selector_without_a_message_before_it_is_an_ordinary_gate(
    here: Any, flow_file: Any
) -> None:
    """The renderer alone asks nothing that a checklist could show."""
    flow = flow_of(start(), gate("pick", renderer=RENDERER), end(port("userResponse")),
                   edges=[("pick", "userResponse", "end", "userResponse")])  # fmt: skip
    assert here("run", flow_file(flow), "--detach", "--run-id", "r1").code == 3
    assert here("approve", "r1", "--reason", "go on").code == 0


def two_gates() -> Any:
    """A selection, and a plain gate after it."""
    text = json.dumps(values(*THREE))
    return flow_of(
        start(),
        message("emit", text),
        gate("pick", renderer=RENDERER),
        gate("confirm"),
        end(port("userResponse")),
        edges=[("pick", "userResponse", "end", "userResponse")],
    )


def test_a_selection_sent_again_does_not_approve_the_gate_after_its_own(
    here: Any, flow_file: Any
) -> None:
    assert here("run", flow_file(two_gates()), "--detach", "--run-id", "r1").code == 3
    plain = here("approve", "r1")
    assert plain.code == 2
    assert "use oasflow answer with --select ID or --select-none" in plain.err
    text = json.dumps(envelope(HOUSE))
    assert here("answer", "r1", "--value", text).code == 3
    for option in ("--value", "--text"):
        again = here("answer", "r1/confirm", option, text)
        assert again.code == 2
        assert "gate 'confirm' does not ask for a context selection" in again.err
    assert [row["gate"] for row in here("show", "r1", "--json").json["decisions"]] == ["pick"]
    assert here("approve", "r1/confirm").code == 0


def test_numbers_after_the_approval_are_no_reason(screen: Any, flow_file: Any) -> None:
    seen = screen("run", flow_file(selection_flow()), "--run-id", "r1", "--as", "ann")
    seen.wait_for(PROMPT)
    seen.type("a 1 3")
    seen.wait_for("type 1 3 alone to tick, then a to approve")
    seen.wait_for(PROMPT)
    seen.type("q")
    seen.wait_for("oasflow answer r1")


def test_a_run_is_resumed_with_its_own_file_and_with_no_other(here: Any, flow_file: Any) -> None:
    own, other = flow_file(two_gates()), flow_file(name="other.json")
    assert here("run", own, "--detach", "--run-id", "r1").code == 3
    assert here("resume", "r1", "--flow", own).code == 3
    refused = here("resume", "r1", "--flow", other, "--detach")
    assert refused.code != 3
    assert "was started with flow" in refused.err


def test_a_simulation_says_that_it_makes_up_what_a_slot_may_take(here: Any, flow_file: Any) -> None:
    wired_file = flow_file(wired(declared()))
    told = here("run", wired_file, "--simulate", "--detach", "--run-id", "r1").err
    assert "--context FILE fills them from artifacts" in told
    plain = here("run", flow_file(), "--simulate", "--detach", "--run-id", "r2").err
    assert "--context" not in plain
