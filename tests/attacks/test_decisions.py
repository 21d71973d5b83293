"""Decisions that are about something else than what waits: stale printed commands, wrong hashes, bare
runs, two people at once, gates that were asked again, and arguments that are none.

In every database wait: `r1` of a flow with two gates, a review and a send; `r2` of the same flow with
another topic; and `r3`, a graph with two gates beside each other, one of which shows something else
each time that it is asked.  `{first}`, `{now}`, `{other}` in a row stand for hashes: of what the
review of `r1` showed, of what its run waits at now, of what the review of `r2` shows.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import threading
from collections.abc import Iterator
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from cinatra_sdk import Decision, FlowError, HostParts, RunStore
from cinatra_sdk.data.text import person_texts
from cinatra_sdk.gates import gate as gates
from cinatra_sdk.gates import hitl
from cinatra_sdk.gates.gate import gates_of
from cinatra_sdk.store.decisions import decision_entry, decision_rows
from cinatra_sdk.store.runs import lists
from oas_compiler import compile_flow
from oas_compiler.cli.ask import batch
from tests.attacks import families
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place
from tests.attacks.trust_runs import command
from tests.flows import end, flow_of, gate, port, start
from tests.store.reasking import flow as reasking

FILE = flow_of(
    start(port("topic")),
    gate("review", inputs=[port("topic")]),
    gate("send", inputs=[port("topic")], riskClass="send_external_message"),
    end(),
    edges=[("start", "topic", "review", "topic"), ("start", "topic", "send", "topic")],
)
BAD = {
    "number": 5, "bytes": b"x", "list": ["a"], "NUL": "a\0b", "surrogate": "\ud800",
    "megabyte": "x" * 1_000_000, "long": "x" * 11_000, "true": True, "none": None,
}  # fmt: skip


def attempt(attack: Attack, place: Place) -> str:
    value = attack.value
    if "resume" in value:
        return _resumed(value["resume"])
    with RunStore.open(place.database, host=HostParts(graphs=[reasking])) as store:
        world = _World(store, place)
        if value.get("decided", True):
            store.answer("r1", world.first, Decision.approve(by="ann"))
        before = _count(store)
        if "both" in value:
            came = world.both(value["both"])
        elif "cli" in value:
            came = world.command(value["cli"])
        else:
            came = world.call(value)
        return f"{came}, {_count(store) - before} recorded"


def _count(store: RunStore) -> int:
    return sum(len(store.decisions(run)) for run in ("r1", "r2", "r3"))


class _World:
    def __init__(self, store: RunStore, place: Place) -> None:
        self.store, self.place = store, place
        flow = compile_flow(FILE)
        self.first = store.start(flow, {"topic": "Bees"}, "r1").waiting[0]
        self.other = store.start(flow, {"topic": "Wasps"}, "r2").waiting[0]
        run = store.start(reasking, {}, "r3")
        self.draft = next(one for one in run.waiting if one.id == "draft")
        place.monkeypatch.setenv("DATABASE_URL", place.database)

    def asked_again(self) -> None:
        self.store.answer("r3", "plain", Decision.approve(by="ann"))

    def fill(self, word: str) -> str:
        """`{first}`, `{first:7}` and `{first:whole}`: a hash, or the beginning of one."""
        waiting = self.store.get("r1").waiting
        known = {
            "first": self.first.shown, "other": self.other.shown, "draft": self.draft.shown,
            "now": waiting[0].shown if waiting else "", "long": "x" * 10_001, "half": "\udcff",
        }  # fmt: skip

        def found(match: re.Match[str]) -> str:
            text, most = known[match[1]], match[2]
            whole = most == "whole" or match[1] in {"long", "half"}
            return text if whole else text[: int(most or 16)]

        return re.sub(r"\{(\w+)(?::(\w+))?\}", found, word)

    def command(self, words: str) -> str:
        if "r3" in words:
            self.asked_again()
        before = _count(self.store)
        lent = ("--host", "tests.store.reasking:lend") if "r3" in words else ()
        done = command(*(self.fill(word) for word in words.split(" ")), *lent, "--json")
        told = json.loads(done.stdout)
        if "targets" in told:
            codes = [(one["error"] or {"code": one["outcome"]})["code"] for one in told["targets"]]
            return f"exit {done.exit_code} {' '.join(codes)}"
        made = _count(self.store) - before
        code = (told.get("error") or {}).get("code", "approved" if made else "nothing")
        return f"exit {done.exit_code} {code}"

    def call(self, value: Any) -> str:
        run, gate_id = value.get("run", "r1"), value.get("gate", "send")
        if run == "r3" and value.get("again", True):
            self.asked_again()
        about: dict[str, Any] = {"by": "eve"}
        if "shown" in value:
            about["shown"] = self.fill(value["shown"])
        if "bad" in value:
            about[value["bad"]] = BAD[value["is"]]
        named: Any = {"first": self.first, "other": self.other, "draft": self.draft}.get(
            value.get("object", ""), gate_id
        )
        if value.get("race"):
            self._race()
        try:
            decision = getattr(Decision, value.get("make", "approve"))(**about)
            do = getattr(self.store, value["call"])
            came = do(run, {named: decision}) if value.get("several") else do(run, named, decision)
            if asyncio.iscoroutine(came):
                asyncio.run(_awaited(came))
        except FlowError as error:
            return f"{type(error).__name__} {error.code}"
        return "taken"

    def _race(self) -> None:
        original = decision_entry.refuse_withdrawn

        def moved_on(*args: Any) -> None:
            self.place.monkeypatch.setattr(decision_entry, "refuse_withdrawn", original)
            self.asked_again()

        self.place.monkeypatch.setattr(decision_entry, "refuse_withdrawn", moved_on)

    def both(self, kinds: list[str]) -> str:
        """Two people decide what they both see, at once."""
        seen, start_ = self.store.get("r1").waiting[0], threading.Barrier(2)
        came: list[str] = []

        def act(who: str, kind: str) -> None:
            decision = getattr(Decision, kind)(by=who)
            start_.wait()
            try:
                self.store.decide("r1", seen, decision)
                came.append("taken")
            except FlowError as error:
                came.append(error.code)

        threads = [
            threading.Thread(target=act, args=(who, kind))
            for who, kind in zip(("ann", "ben"), kinds, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return " ".join(sorted(came))


async def _awaited(work: Any) -> Any:
    return await work


def _resumed(answer: dict[str, Any]) -> str:
    """The answer, given to a graph that no store keeps."""
    built = compile_flow(FILE)
    graph, config = built.graph(InMemorySaver()), built.config(run_id="m1")
    context = built.context(run_id="m1")
    graph.invoke(built.input({"topic": "Bees"}), config, context=context)
    (waiting,) = gates_of(graph.get_state(config).interrupts)
    filled = {
        key: said.replace("{now}", waiting.shown[:16]).replace("{now:whole}", waiting.shown)
        if isinstance(said, str)
        else said
        for key, said in answer.items()
    }
    with contextlib.suppress(Exception):  # the engine's own class
        graph.invoke(Command(resume={waiting.interrupt: filled}), config, context=context)
    left = gates_of(graph.get_state(config).interrupts)
    return "waits as before" if [one.id for one in left] == ["review"] else "taken"


# ----------------------------------------------------------------------------- controls


@contextlib.contextmanager
def _nobody_compares(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        for module in (decision_entry, decision_rows):
            patch.setattr(module, "refuse_changed", lambda *_: None)
        patch.setattr(gates, "refuse_other_payload", lambda *_, **__: None)
        yield


@contextlib.contextmanager
def _a_gate_asked_again_is_as_before(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(decision_entry, "refuse_other_question", lambda *_: None)
        yield


@contextlib.contextmanager
def _nobody_looks_again(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(decision_entry, "refuse_changed", lambda *_: None)
        patch.setattr(gates, "refuse_other_payload", lambda *_, **__: None)
        yield


@contextlib.contextmanager
def _every_run_has_asked_once(place: Place) -> Iterator[None]:
    once = lists.Questions(asked=1, last="")
    with place.monkeypatch.context() as patch:
        patch.setattr(lists.RunReader, "questions", lambda *_, **__: once)
        yield


@contextlib.contextmanager
def _a_graph_does_not_compare(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(hitl, "refuse_other_payload", lambda *_, **__: None)
        yield


@contextlib.contextmanager
def _several_need_no_names(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(batch, "_require_named", lambda _targets: None)
        yield


@contextlib.contextmanager
def _a_reason_has_no_bound(place: Place) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(person_texts, "MAX_REASON", 10**9)
        yield


CONTROLS = {
    "nobody compares": Control(open=_nobody_compares, row="answer-the_hash_of_the_gate_before"),
    "nobody compares a gate": Control(
        open=_nobody_compares, row="a_gate_asked_again-the_gate_asked_before"
    ),
    "nobody compares a command": Control(
        open=_nobody_compares, row="printed_command_at_the_next_gate-approve"
    ),
    "a gate asked again is as before": Control(
        open=_a_gate_asked_again_is_as_before, row="a_gate_asked_again-approve"
    ),
    "nobody looks again": Control(
        open=_nobody_looks_again, row="asked_again_while_it_is_recorded-approve"
    ),
    "every run has asked once": Control(open=_every_run_has_asked_once, row="bare_run-approve"),
    "a graph does not compare": Control(
        open=_a_graph_does_not_compare, row="answer_without_a_store-a_wrong_hash"
    ),
    "several need no names": Control(
        open=_several_need_no_names, row="several_without_a_terminal-no_hashes"
    ),
    "a reason has no bound": Control(
        open=_a_reason_has_no_bound, row="bad_reason-eleven_thousand_letters"
    ),
}

test_attack, test_twin, test_control = families.tests_of("decisions", attempt, CONTROLS)
