"""What a person sees is what a person decides: printed commands, bare runs, several gates at once."""

from __future__ import annotations

import io
import json
import shlex
from dataclasses import replace
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.gates.gate import Gate
from oas_compiler import compile_flow
from oas_compiler.cli.ask import decision
from oas_compiler.cli.ask.batch import _say_in_cell
from oas_compiler.cli.terminal.exits import Exit
from oas_compiler.cli.terminal.streams import console_for
from oas_compiler.cli.view.run_view import find_common, has_plain_view, rest_view, shared_view
from tests.flows import api, end, flow_of, gate, node, port, start, tool

SENDING = flow_of(
    start(port("topic")),
    gate("review", inputs=[port("topic")]),
    gate("send", inputs=[port("topic")], riskClass="send_external_message"),
    end(),
    edges=[("start", "topic", "review", "topic"), ("start", "topic", "send", "topic")],
    name="Sending",
)


def commands(text: str) -> list[str]:
    found = [line.strip() for line in text.splitlines() if line.startswith("  oasflow ")]
    return [line.split("   (")[0] for line in found]


def begin(store: RunStore, *runs: str, by: str = "ann") -> None:
    flow = compile_flow(SENDING)
    for number, run in enumerate(runs, 1):
        store.start(flow, {"topic": f"topic {number}"}, run, by=by)


def deciders(url: str, run: str) -> list[tuple[str, str]]:
    with RunStore.open(url) as store:
        return [(row.gate_id, row.decided_by) for row in store.decisions(run)]


PLAIN = Gate(
    id="review", node="review", visit=1, step=1, risk="read_only", name="Review", renderer="x",
    schema={}, values={}, payload={}, description="Look at it.",
)  # fmt: skip


@pytest.fixture
def waiting(cli: Any, fresh_database: str) -> Any:
    with RunStore.open(fresh_database) as store:
        begin(store, "r1")
    return cli


# ------------------------------------------------------------------ printed commands


def test_a_printed_command_answers_only_the_gate_below_which_it_stands(
    waiting: Any, fresh_database: str
) -> None:
    (printed, *_) = commands(waiting("show", "r1").stdout)
    with RunStore.open(fresh_database) as store:
        shown = store.get("r1").waiting[0].shown[:16]
    assert printed == f"oasflow approve r1/review --shown {shown}"
    assert waiting(*shlex.split(printed)[1:], "--as", "ann").exit_code == 3
    late = waiting(*shlex.split(printed)[1:], "--as", "ben")
    assert late.exit_code == 4
    assert "gate 'review' of run 'r1' was already approved by ann at 20" in late.stderr
    assert "what waits now: oasflow show r1" in late.stderr
    assert deciders(fresh_database, "r1") == [("review", "ann")]


def test_every_printed_command_names_its_gate_and_what_it_shows(
    waiting: Any, fresh_database: str
) -> None:
    with RunStore.open(fresh_database) as store:
        seen = store.get("r1").waiting[0].shown
    about = f"r1/review --shown {seen[:16]}"
    shown = commands(waiting("show", "r1").stdout)
    assert shown == [
        f"oasflow approve {about}",
        f"oasflow reject {about} --reason '…'",
    ]
    assert f"oasflow approve {about}" in waiting("gates").stdout
    record = json.loads(waiting("gates", "--json").stdout)
    assert record["gates"][0]["shown"] == record["needs"][0]["shown"] == seen
    assert record["gates"][0]["command"] == f"oasflow approve {about}"
    assert json.loads(waiting("show", "r1", "--json").stdout)["waiting"][0]["shown"] == seen


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--text", "No. Do not send."), "nothing reads a text here"),
        (("--value", '{"topic": "Wasps"}'), "the values that it shows cannot be changed here"),
    ],
)
def test_no_text_and_no_value_approves_where_nothing_reads_it(
    waiting: Any, fresh_database: str, words: tuple[str, ...], why: str
) -> None:
    refused = waiting("answer", "r1/review", *words)
    assert refused.exit_code == 2
    told = " ".join(refused.stderr.split())
    assert why in told
    # What is advised can be typed: run, gate and what it shows are known.
    with RunStore.open(fresh_database) as store:
        seen = store.get("r1").waiting[0].shown[:16]
    assert f"oasflow approve r1/review --shown {seen}" in told
    assert "RUN/GATE" not in told
    assert "HASH" not in told
    assert "that fits" not in told
    assert deciders(fresh_database, "r1") == []


def test_a_gate_in_another_spelling_is_told_with_the_right_one(waiting: Any) -> None:
    refused = waiting("approve", "r1/Review")
    assert refused.exit_code == 4
    assert 'did you mean "review"? what waits now: oasflow show r1' in refused.stderr


def test_a_command_that_lacks_something_is_repeated_with_what_was_seen(
    cli: Any, flow_file: Any, fresh_database: str
) -> None:
    asks = flow_of(start(), gate("ok"), api("x", url="https://{{CRM}}/x"), end())
    assert cli("run", flow_file(asks), "--env", "CRM=a.example", "--run-id", "r1", "--base-url", "http://127.0.0.1:1").exit_code == 3  # fmt: skip
    with RunStore.open(fresh_database) as store:
        seen = store.get("r1").waiting[0].shown[:16]
    refused = cli("approve", "r1", "--json")
    assert refused.exit_code == 2
    repeated = json.loads(refused.stdout)["error"]["command"]
    assert repeated.startswith(f"oasflow approve r1/ok --shown {seen} ")


# ------------------------------------------------------------------ a run alone


def test_a_run_alone_is_taken_once_and_never_guessed_after_that(
    waiting: Any, fresh_database: str
) -> None:
    assert waiting("approve", "r1", "--as", "ann").exit_code == 3
    for words in (("approve", "r1"), ("answer", "r1", "--text", "x"), ("deny", "r1")):
        late = waiting(*words, "--as", "ben", "--json")
        assert late.exit_code == 4
        error = json.loads(late.stdout)["error"]
        assert error["code"] == "gate_unnamed"
        assert "gate 'review' was already approved by ann at 20" in error["message"]
    assert deciders(fresh_database, "r1") == [("review", "ann")]
    told = waiting("approve", "r1")
    (now, *_) = commands(told.stderr)
    assert now.startswith("oasflow approve r1/send --shown ")
    assert error["waiting"] == [
        {"gate": "send", "shown": error["waiting"][0]["shown"], "command": now}
    ]
    assert waiting(*shlex.split(now)[1:], "--as", "ben").exit_code == 0


def test_a_run_alone_can_be_rejected_whichever_gate_waits(
    waiting: Any, fresh_database: str
) -> None:
    waiting("approve", "r1", "--as", "ann")
    assert waiting("reject", "r1", "--as", "ben").exit_code == 5
    assert deciders(fresh_database, "r1") == [("review", "ann"), ("send", "ben")]


def test_what_would_be_called_is_told_of_no_decision_that_comes_too_late(
    waiting: Any, fresh_database: str
) -> None:
    for command in ("reject", "approve", "deny"):
        late = waiting(command, "r1/review", "--shown", "0" * 16)
        assert late.exit_code == 4
        assert "calls" not in late.stderr
        assert "rejected" not in late.stderr
    assert deciders(fresh_database, "r1") == []


@pytest.mark.parametrize(
    ("problem", "cell"),
    [
        ({"message": "it moved; what waits now:", "waiting": [{"gate": "send"}, {"gate": "b"}]},
         "it moved; what waits now: send, b"),
        ({"message": "it moved; what waits now:"}, "it moved"),
        ({"message": "settle with:"}, "settle with"),
        ({"message": "the gate is closed"}, "the gate is closed"),
    ],
)  # fmt: skip
def test_the_cell_of_a_refused_target_announces_nothing_that_stands_elsewhere(
    problem: Any, cell: str
) -> None:
    assert _say_in_cell(problem) == cell


def test_a_run_alone_that_has_ended_says_what_was_decided_last(waiting: Any) -> None:
    waiting("reject", "r1", "--as", "ann")
    late = waiting("approve", "r1", "--as", "ben")
    assert late.exit_code == 4
    assert "it is rejected; gate 'review' was already rejected by ann at 20" in late.stderr


def test_two_operators_at_one_gate(screen: Any, waiting: Any, fresh_database: str) -> None:
    ann = screen("answer", "r1", "--as", "ann")
    ann.wait_for("leave waiting [q]: ")
    (printed, *_) = commands(waiting("show", "r1").stdout)
    assert waiting(*shlex.split(printed)[1:], "--as", "ben").exit_code == 3
    ann.type("a")
    ann.wait_for("was already approved by ben")
    assert ann.ended() == 4
    assert deciders(fresh_database, "r1") == [("review", "ben")]


# ------------------------------------------------------------------ several gates


def hashes(url: str, *runs: str) -> list[str]:
    with RunStore.open(url) as store:
        return [store.get(run).waiting[0].shown[:16] for run in runs]


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_twenty_gates_are_approved_after_each_was_shown(
    screen: Any, fresh_database: str, columns: str
) -> None:
    runs = [f"letter-{number}" for number in range(1, 21)]
    with RunStore.open(fresh_database) as store:
        begin(store, *runs)
    seen = screen("approve", *runs, "--as", "ann", COLUMNS=columns)
    head = seen.wait_for("approve these 20 gates [Enter], leave them waiting [q]: ")
    for number, run in enumerate(runs, 1):
        assert f"{number} of 20 · run {run} · waiting · Sending\n  topic  topic {number}\n" in head
    assert head.count("◆ The review   step 1") == 1, "what all of them show is shown once"
    assert deciders(fresh_database, runs[0]) == []
    seen.type("")
    assert seen.ended() == 3
    for run in runs:
        assert deciders(fresh_database, run) == [("review", "ann")]
        assert f"{run}/review" in seen.text.rpartition("OUTCOME")[2]
    assert max(map(len, seen.text.rpartition("OUTCOME")[2].splitlines())) <= int(columns)
    with RunStore.open(fresh_database) as store:
        assert {store.get(run).waiting[0].id for run in runs} == {"send"}


@pytest.mark.parametrize(("key", "code"), [("q", 3), ("^D", 3), ("no", 3)])
def test_several_gates_that_nobody_confirms_wait_as_before(
    screen: Any, fresh_database: str, key: str, code: int
) -> None:
    with RunStore.open(fresh_database) as store:
        begin(store, "r1", "r2")
    seen = screen("approve", "r1", "r2/review")
    seen.wait_for("leave them waiting [q]: ")
    if key == "^D":
        seen.press("D")
    else:
        seen.type(key)
    if key == "no":  # it may be meant as a rejection
        seen.wait_for("Two keys are known here")
        seen.wait_for("leave them waiting [q]: ")
        seen.type("q")
    assert seen.ended() == code
    assert deciders(fresh_database, "r1") == deciders(fresh_database, "r2") == []


def test_a_gate_that_moves_on_while_several_are_shown_is_not_decided(
    screen: Any, fresh_database: str, cli: Any
) -> None:
    with RunStore.open(fresh_database) as store:
        begin(store, "r1", "r2")
    seen = screen("approve", "r1", "r2", "--as", "ann")
    seen.wait_for("leave them waiting [q]: ")
    assert cli("approve", "r1/review", "--as", "ben").exit_code == 3
    seen.type("yes")
    assert seen.ended() == 4
    assert "already approved by ben" in " ".join(seen.text.split())
    assert deciders(fresh_database, "r1") == [("review", "ben")]
    assert deciders(fresh_database, "r2") == [("review", "ann")]


def test_a_run_alone_that_has_asked_before_is_guessed_among_several_as_little_as_alone(
    screen: Any, fresh_database: str
) -> None:
    with RunStore.open(fresh_database) as store:
        begin(store, "r1", "r2")
        store.answer("r1", "review", Decision.approve(by="ben"))
    seen = screen("approve", "r1", "r2", "--as", "ann")
    head = seen.wait_for("approve this gate [Enter], leave it waiting [q]: ")
    told = " ".join(head.split())
    assert "1 of 2 · refused: r1 run 'r1' has asked more than once" in told
    assert "already approved by ben" in told
    assert "oasflow approve r1/send --shown " in told
    seen.type("")
    assert seen.ended() == 4
    assert deciders(fresh_database, "r1") == [("review", "ben")]
    assert deciders(fresh_database, "r2") == [("review", "ann")]


@pytest.mark.parametrize("command", ["approve", "reject"])
def test_a_gate_that_opens_after_the_others_were_shown_is_not_decided(
    screen: Any, fresh_database: str, command: str
) -> None:
    with RunStore.open(fresh_database) as store:
        begin(store, "r1", "r2")
    seen = screen(command, "r1/review", "r1/send", "r2/send", "--as", "ann")
    head = seen.wait_for("[Enter], leave it waiting [q]: ")
    assert f"{command} this gate [Enter]" in head
    assert head.count(" · waiting · Sending") == 1
    assert "2 of 3 · refused: r1/send\n  gate 'send' is not waiting in run 'r1'" in head
    seen.type("")
    assert seen.ended() == 4
    assert deciders(fresh_database, "r1") == [("review", "ann")]
    assert deciders(fresh_database, "r2") == []
    told = " ".join(seen.text.rpartition("OUTCOME")[2].split())
    assert "gate 'send' is not waiting in run 'r1'" in told


def test_without_a_terminal_a_gate_that_opens_during_the_command_is_not_decided(
    cli: Any, fresh_database: str
) -> None:
    with RunStore.open(fresh_database) as store:
        begin(store, "r1", "r2")
        store.answer("r2", "review", Decision.approve(by="ann"))
    review, send = hashes(fresh_database, "r1", "r2")
    shown = ("--shown", review, "--shown", send)
    done = cli("approve", "r1/review", "r1/send", *shown, "--as", "ann", "--json")
    assert done.exit_code == 4
    codes = [(each["error"] or {}).get("code") for each in json.loads(done.stdout)["targets"]]
    assert codes == [None, "gate_closed"]
    assert deciders(fresh_database, "r1") == [("review", "ann")]


@pytest.mark.parametrize(
    "words", [("approve",), ("reject",), ("deny",), ("answer", "--text", "Yes")]
)
def test_a_gate_that_opens_after_one_command_has_looked_is_not_decided(
    waiting: Any, fresh_database: str, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    refuse = decision._refuse_absent

    def opened_meanwhile(store: RunStore, *about: Any) -> None:
        with RunStore.open(fresh_database) as another:
            another.answer("r1", "review", Decision.approve(by="ben"))
        refuse(store, *about)

    monkeypatch.setattr(decision, "_refuse_absent", opened_meanwhile)
    done = waiting(words[0], "r1/send", *words[1:], "--as", "ann", "--json")
    assert done.exit_code == 4
    told = json.loads(done.stdout)["error"]
    assert (told["code"], "nobody has seen" in told["message"]) == ("gate_changed", True)
    assert deciders(fresh_database, "r1") == [("review", "ben")]


def test_several_gates_without_a_terminal_need_their_names_and_hashes(
    cli: Any, fresh_database: str
) -> None:
    with RunStore.open(fresh_database) as store:
        begin(store, "r1", "r2")
    one, two = hashes(fresh_database, "r1", "r2")
    for words in (
        ("r1", "r2"),
        ("r1/review", "r2/review"),
        ("r1/review", "r2/review", "--shown", one),
        ("r1", "r2/review", "--shown", one, "--shown", two),
        ("r1/review", "r1/review", "--shown", one, "--shown", one),
    ):
        assert cli("approve", *words).exit_code == 2
        assert cli("reject", *words).exit_code == 2
    assert deciders(fresh_database, "r1") == deciders(fresh_database, "r2") == []
    done = cli("approve", "r1/review", "r2/review", "--shown", one, "--shown", two, "--json")
    assert done.exit_code == 3
    assert [one["outcome"] for one in json.loads(done.stdout)["targets"]] == ["approved"] * 2


def test_one_of_several_that_is_refused_keeps_no_other_from_being_decided(
    cli: Any, fresh_database: str
) -> None:
    with RunStore.open(fresh_database) as store:
        begin(store, "r1", "r2", "r3")
    one, two, three = hashes(fresh_database, "r1", "r2", "r3")
    words = ("r1/review", "r2/review", "none/review", "r3/review")
    shown = [word for seen in (one, three, one, three) for word in ("--shown", seen)]
    done = cli("reject", *words, *shown, "--as", "ann", "--json")
    assert done.exit_code == 4
    told = json.loads(done.stdout)
    assert [each["outcome"] for each in told["targets"]] == [
        "rejected", "refused", "refused", "rejected",
    ]  # fmt: skip
    assert [(each["error"] or {}).get("code") for each in told["targets"]] == [
        None, "gate_changed", "run_not_found", None,
    ]  # fmt: skip
    assert (told["exit"], told["targets"][0]["run"]["status"]) == (4, "rejected")
    assert deciders(fresh_database, "r2") == []
    again = cli("reject", *words, *shown, "--as", "ben")
    assert again.exit_code == 4
    assert deciders(fresh_database, "r1") == [("review", "ann")]
    assert two not in done.stdout.split("targets")[0]


def test_what_several_gates_show_alike_is_shown_once_and_nothing_else_is() -> None:
    one, two = (
        replace(PLAIN, values={"a": 1, "b": shown, "c": shown == "x"}) for shown in ("x", "y")
    )
    assert find_common([one, two]) == {"a": 1}
    assert find_common([one, replace(one, values={"a": True, "b": "x"})]) == {"b": "x"}
    assert has_plain_view(one)
    assert not has_plain_view(replace(one, said=({"role": "user", "content": "Hi"},)))
    assert not has_plain_view(replace(one, step=0))
    told = io.StringIO()
    console_for(told).print(
        shared_view([one, two]), rest_view(two, {"a": 1}), rest_view(one, one.values)
    )
    lines = [line.rstrip() for line in told.getvalue().splitlines()]
    assert lines == [
        "◆ Review   step 1 · risk read_only · review", "  Look at it.", "  the same at all 2:",
        "    a  1", "  b  y", "  c  false", "  as above",
    ]  # fmt: skip


def test_a_question_among_several_is_refused_with_the_command_that_answers_it(
    cli: Any, fresh_database: str
) -> None:
    asking = flow_of(
        start(), node("InputMessageNode", "ask", message="Which?", outputs=[port("said")]),
        end(port("said")), edges=[("ask", "said", "end", "said")],
    )  # fmt: skip
    with RunStore.open(fresh_database) as store:
        begin(store, "r1")
        seen = store.start(compile_flow(asking), {}, "r2", by="ann").waiting[0].shown[:16]
    (one,) = hashes(fresh_database, "r1")
    words = ("approve", "r1/review", "r2/ask", "--shown", one, "--shown", seen)
    done = cli(*words, "--json")
    command = json.loads(done.stdout)["targets"][1]["error"]["command"]
    assert command.startswith("oasflow answer r2/ask --shown ")
    assert "2 of 2 · refused: r2/ask" in done.stderr
    assert command in done.stderr


def test_several_runs_are_stopped_after_each_was_shown(
    cli: Any, screen: Any, fresh_database: str
) -> None:
    with RunStore.open(fresh_database) as store:
        begin(store, "r1", "r2", "r3")
    seen = screen("stop", "r1", "r2", "--as", "ann", "--reason", "too late")
    head = seen.wait_for("stop these 2 runs [Enter], leave them [q]: ")
    assert "1 of 2 · run r1 · waiting · Sending\n" in head
    assert "  topic  topic 2\n" in head
    seen.type("")
    assert seen.ended() == 0
    unseen = cli("stop", "r2", "r3")
    assert (unseen.exit_code, "--yes stops these 2 runs" in unseen.stderr) == (2, True)
    done = cli("stop", "r2", "r3", "gone", "r3", "--yes", "--json")
    assert done.exit_code == 4 or done.exit_code == 2
    told = json.loads(done.stdout)["targets"]
    assert [each["outcome"] for each in told] == ["stopped", "stopped", "refused", "refused"]
    with RunStore.open(fresh_database) as store:
        assert [store.get(run).status for run in ("r1", "r2", "r3")] == ["stopped"] * 3
        assert store.get("r2").stop_reason == "too late"


# ------------------------------------------------------------------ what needs a person


def fail(x: str) -> str:
    raise RuntimeError("the line went dead")


@pytest.fixture
def three(cli: Any, fresh_database: str) -> Any:
    """A gate, a call to settle, and a failed run."""
    with RunStore.open(fresh_database) as store:
        begin(store, "r1")
        for run, effect in (("r2", "at_most_once"), ("r3", "")):
            act = tool("post", "post", [port("x")], [port("y")])
            if effect:
                act.setdefault("metadata", {}).setdefault("cinatra", {})["effect"] = effect
            document = flow_of(
                start(port("x", default="1")), act, end(), edges=[("start", "x", "post", "x")]
            )
            store.start(compile_flow(document, tools={"post": fail}), run_id=run, by="ben")
    return cli


def test_a_call_to_settle_and_a_failed_run_stand_among_the_gates(three: Any) -> None:
    listed = three("gates")
    assert "what needs a person" in listed.stderr
    rows = [row for row in listed.stdout.splitlines() if not row.startswith("  oasflow ")]
    assert [row.split()[:2] for row in rows[1:]] == [
        ["r1", "decision"], ["r2", "settling"], ["r3", "resuming"],
    ]  # fmt: skip
    record = json.loads(three("gates", "--json").stdout)
    assert [need["kind"] for need in record["needs"]] == ["gate", "call", "failed"]
    key = record["needs"][1]["name"]
    host = " --host MODULE:FACTORY"
    happened = f"""oasflow settle r2 {key} --happened --value '{{"…": "…"}}'{host}"""
    assert record["needs"][1]["command"] == happened
    assert record["needs"][1]["commands"] == [
        happened,
        f"oasflow settle r2 {key} --did-not-happen{host}",
    ]
    assert record["needs"][2]["command"] == "oasflow resume r3 --host MODULE:FACTORY"
    assert [one["run"] for one in record["gates"]] == ["r1"]
    three("settle", "r2", key, "--happened", "--value", '{"y": "1"}')
    assert "settling" not in three("gates").stdout


def test_a_word_on_a_call_counts_where_the_command_cannot_go_on_with_the_run(
    three: Any, fresh_database: str
) -> None:
    (call,) = [
        n for n in json.loads(three("gates", "--json").stdout)["needs"] if n["kind"] == "call"
    ]
    settled = three("settle", "r2", call["name"], "--happened", "--value", '{"y": "1"}', "--json")
    assert settled.exit_code == Exit.WAITING
    assert "settled; to go on with the run, this command lacks" in settled.stderr
    assert "nothing was done" not in settled.stderr
    assert json.loads(settled.stdout)["id"] == "r2"
    with RunStore.open(fresh_database) as store:
        assert [word.happened for word in store.settlements("r2")] == [True]


def test_runs_says_what_each_run_waits_for(three: Any) -> None:
    waits = {row.split()[0]: row for row in three("runs").stdout.splitlines()[1:]}
    assert "review" in waits["r1"]
    assert "(settle " in waits["r2"]
    assert "(resume: " in waits["r3"]
    listed = json.loads(three("runs", "--json").stdout)["runs"]
    kinds = {run["id"]: [need["kind"] for need in run["needs"]] for run in listed}
    assert kinds == {"r1": ["gate"], "r2": ["call"], "r3": ["failed"]}


def test_doctor_finds_what_needs_a_person(three: Any, cli: Any) -> None:
    found = three("doctor")
    assert found.exit_code == 1
    assert "nothing needs doing" not in found.stdout
    for words in (
        "1 gate waits for a decision",
        "--did-not-happen --host MODULE:FACTORY",
        "oasflow resume r3 --host MODULE:FACTORY",
    ):
        assert words in found.stdout
    record = json.loads(three("doctor", "--json").stdout)
    assert (record["gates"]["total"], record["calls"]["total"]) == (1, 1)
    assert record["calls"]["oldest"][0]["id"] == "r2"


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        (("--text", "TOPIC 1"), ["r1"]),
        (("--text", "no such word"), []),
        (("--risk", "send_external_message"), []),
        (("--risk", "read_only"), ["r1"]),
        (("--step", "1"), ["r1"]),
        (("--step", "7"), []),
        (("--started-by", "ben"), ["r2", "r3"]),
        (("--started-by", "ben", "--text", "went dead"), ["r2", "r3"]),
        (("--started-by", "ann", "--text", "went dead"), []),
    ],
)
def test_gates_leaves_what_fits_a_filter(three: Any, words: Any, runs: list[str]) -> None:
    found = json.loads(three("gates", *words, "--json").stdout)["needs"]
    assert [need["run"] for need in found] == runs


def test_a_database_that_does_not_answer_is_named_without_its_password(offline: Any) -> None:
    for words in (("runs",), ("gates",), ("doctor",), ("approve", "r1")):
        refused = offline(*words)
        assert refused.exit_code == 7
        assert "none at 127.0.0.1:1 failed" in refused.stderr
        assert "with --db or in DATABASE_URL" in refused.stderr
        assert "hidden-word" not in refused.output


def test_one_gate_is_shown_as_it_was_asked_before_and_after_its_decision(
    waiting: Any, fresh_database: str
) -> None:
    open_ = waiting("gates", "r1/review", "--json")
    assert open_.exit_code == 0
    assert (json.loads(open_.stdout)["state"], json.loads(open_.stdout)["decision"]) == (
        "open",
        None,
    )
    with RunStore.open(fresh_database) as store:
        store.answer("r1", "review", Decision.approve(by="ann", reason="fine"))
    after = waiting("gates", "r1/review", "--shown", json.loads(open_.stdout)["shown"], "--json")
    assert json.loads(after.stdout)["state"] == "decided"
    assert (
        json.loads(after.stdout)["decision"]["by"],
        json.loads(after.stdout)["decision"]["reason"],
    ) == ("ann", "fine")
    assert (
        json.loads(after.stdout)["values"]
        == json.loads(open_.stdout)["values"]
        == {"topic": "topic 1"}
    )
    told = waiting("gates", "r1/review").stdout
    assert "topic 1" in told
    assert "ann" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("r1/nowhere",), "asked nothing at a gate 'nowhere'"),
        (("r1/review", "--shown", ""), "--shown is empty"),
        (("r1/review", "--risk", "read_only"), "leave out what filters gates"),
        (("r1", "--shown", "0" * 16), "--shown goes with RUN/GATE"),
        (("/review",), "RUN/GATE"),
    ],
)
def test_a_gate_that_cannot_be_shown_is_refused_by_name(
    waiting: Any, words: tuple[str, ...], told: str
) -> None:
    refused = waiting("gates", *words)
    assert refused.exit_code != 0
    assert told in refused.stderr
