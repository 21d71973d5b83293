"""A stored run keeps a conversation that is longer than its checkpoints are."""

from __future__ import annotations

import os
import signal
from typing import Any

import psycopg
import pytest
from langchain_core.messages import AIMessage, HumanMessage

from cinatra_sdk import Decision, RunStore
from oas_compiler import compile_flow
from tests.flow.test_conversation import long_talk
from tests.flows import end, flow_node, flow_of, message, start
from tests.warm import FORKED

ROUNDS = 12
TALKING = flow_of(start(), flow_node("sub", long_talk()), message("done", "done"), end())


def answer_rounds(store: RunStore, rounds: int) -> Any:
    run = store.get("r1")
    for _ in range(rounds):
        (gate,) = run.waiting
        word = "again" if gate.visit < ROUNDS else "on"
        run = store.answer("r1", gate.id, Decision.approve(by="ann", value=word))
    return run


def answer_and_die(dsn: str) -> None:
    """What another process does: it goes on with the conversation, and dies in its middle."""
    with RunStore.open(dsn) as store:
        answer_rounds(store, 2)
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.parametrize("fuse", [True, False])
def test_a_long_conversation_is_gone_on_with_by_another_process(
    fresh_database: str, fuse: bool
) -> None:
    with RunStore.open(fresh_database) as store:
        store.start(compile_flow(TALKING, fuse=fuse), {}, "r1")
        answer_rounds(store, 8)
    other = FORKED.Process(target=answer_and_die, args=(fresh_database,))
    other.start()
    other.join()
    assert other.exitcode == -signal.SIGKILL
    with RunStore.open(fresh_database) as store:
        answer_rounds(store, ROUNDS - 10)
        (last,) = store.get("r1").waiting
        run = store.answer("r1", last.id, Decision.approve(by="ann"))
        assert run.status == "completed", run.error
        rounds = [one for _ in range(ROUNDS - 1) for one in ("round", "The more", "again")]
        expected = [
            *rounds,
            "round",
            "The more",
            "on",
            "The last",
            "[Approved by operator]",
            "done",
        ]
        assert [said["content"] for said in run.messages] == expected
        assert len({said["id"] for said in run.messages}) == len(expected)
        talk = run.conversation()
        assert [type(said) for said in talk[-3:]] == [AIMessage, HumanMessage, AIMessage]
        assert talk[-2].additional_kwargs["by"] == "ann"


def test_bytes_of_a_stored_run_grow_with_its_conversation(fresh_database: str) -> None:
    def weigh(words: int) -> int:
        said = [message(f"say{number}", "word " * 50) for number in range(words)]
        flow = compile_flow(flow_of(start(), *said, end(), id_=f"f{words}"), fuse=False)
        with RunStore.open(fresh_database) as store:
            assert store.start(flow, {}, f"r{words}").status == "completed"
        with psycopg.connect(fresh_database, options="-c search_path=oasflow") as connection:
            row = connection.execute(
                "select sum(octet_length(blob)) from checkpoint_blobs"
                " where thread_id = %s and channel = 'messages'",
                [f"r{words}"],
            ).fetchone()
        assert row is not None
        return int(row[0])

    fifty, two_hundred = weigh(50), weigh(200)
    print(fifty, two_hundred)
    assert two_hundred < 4 * fifty
