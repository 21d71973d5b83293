"""What was offered and is chosen after it was deleted, hidden or reclassified: the gate stays open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from oasflow_process import Ended
from oasflow_screen import Screen

from tests.wired_flows import GATE, alone, artifact, context

Do = Callable[[str], None]
PROMPT = "leave waiting [q]: "
WITHDRAWALS = {
    "deleted": "update objects set deleted_at = now() where id = 'house'",
    "hidden": "update objects set visibility = 'team:other', owner_id = 'bob' where id = 'house'",
    "of another kind": "update objects set type = '@x/other:object' where id = 'house'",
    "moved into a project": "update objects set visibility = 'project:spring' where id = 'house'",
    "classification taken back": "update semantic_assertions set eligibility = 'archived' where artifact_id = 'house'",
}
HARMLESS = {
    "revised": "insert into representations (id, org_id, artifact_id, revision, content)"
               " values ('r9', 'acme', 'house', 9, 'new words')",
    "another one deleted": "update objects set deleted_at = now() where id = 'old'",
    "shown to more": "update objects set visibility = 'workspace' where id = 'house'",
    "renamed": "update objects set name = 'Home' where id = 'house'",
}  # fmt: skip


@pytest.fixture
def do(owner_database: str) -> Do:
    """What happens while the gate waits."""

    def statement(text: str) -> None:
        with psycopg.connect(owner_database, options="-c search_path=oasflow") as connection:
            assert connection.execute(text).rowcount == 1  # type: ignore[arg-type]

    return statement


@pytest.fixture
def waiting(here: Any, flow_file: Any, context_file: Any) -> Callable[..., Ended]:
    """A run whose gate offers `house` and `old`."""
    path = context_file(context(artifact("house", ownerId="bob"), artifact("old")))
    begun = here("run", flow_file(alone()), "--context", path, "--set", "topic=x", "--run-id", "r1")
    assert begun.code == 3, begun.err
    called: Callable[..., Ended] = here
    return called


def decisions(here: Any) -> list[tuple[str, str]]:
    shown = here("show", "r1", "--json").json
    return [(one["gate"], one["decision"]) for one in shown["decisions"]]


def selected(here: Any) -> list[str | None]:
    shown = here("show", "r1", "--json").json
    return [one["artifact"] for one in shown["context_selections"]]


@pytest.mark.parametrize("statement", WITHDRAWALS.values(), ids=list(WITHDRAWALS))
def test_what_was_withdrawn_is_refused_while_another_choice_is_still_possible(
    waiting: Any, do: Do, statement: str
) -> None:
    do(statement)
    refused = waiting("answer", "r1", "--select", "house", "--select", "old")
    assert refused.code == 2
    assert '"house" can be chosen no more: deleted, hidden,' in refused.err
    assert "choose others of the candidates, or reject" in refused.err
    assert (waiting("show", "r1", "--json").json["status"], decisions(waiting)) == ("waiting", [])
    assert waiting("answer", "r1", "--select", "old").code == 3
    assert (decisions(waiting), selected(waiting)) == ([(GATE, "approved")], ["old"])


@pytest.mark.parametrize("statement", HARMLESS.values(), ids=list(HARMLESS))
def test_what_can_be_chosen_still_is_taken(waiting: Any, do: Do, statement: str) -> None:
    do(statement)
    taken = waiting("answer", "r1", "--select", "house")
    assert taken.code == 3, taken.err
    assert selected(waiting) == ["house"]


def test_choosing_nothing_is_possible_whatever_is_gone(waiting: Any, do: Do) -> None:
    do(WITHDRAWALS["deleted"])
    assert waiting("answer", "r1", "--select-none").code == 3
    assert selected(waiting) == [None]


def test_a_rejection_is_taken_when_everything_is_gone(waiting: Any, do: Do) -> None:
    do(WITHDRAWALS["deleted"])
    do(HARMLESS["another one deleted"])
    assert waiting("reject", "r1", "--reason", "nothing fits").code == 5
    assert decisions(waiting) == [(GATE, "rejected")]


def test_a_refused_choice_keeps_its_other_ticks_and_marks_what_is_gone(
    here: Any, flow_file: Any, context_file: Any, do: Do, screen: Any
) -> None:
    offered = (artifact("house"), artifact("old"), artifact("third"))
    path = context_file(context(*offered))
    here("run", flow_file(alone()), "--context", path, "--set", "topic=x", "--run-id", "r1")
    seen = screen("answer", "r1", "--as", "ann")
    seen.wait_for(PROMPT)
    seen.type("1 2")
    seen.wait_for(PROMPT)
    do(WITHDRAWALS["deleted"])
    seen.type("a")
    seen.wait_for("can be chosen no more")
    shown = seen.wait_for(PROMPT)
    assert "[!] 1  house" in shown
    assert "[x] 2  old" in shown
    assert "[ ] 3  third" in shown
    seen.type("1")
    assert "1 can be chosen no more" in seen.wait_for(PROMPT)
    seen.type("a")
    seen.wait_for("oasflow reject r1")
    assert seen.ended() == 3
    assert selected(here) == ["old"]


def choose_too_late(seen: Screen, do: Do) -> None:
    """A person ticks `house`, which is deleted before they approve, and is asked again."""
    seen.wait_for(PROMPT)
    seen.type("1")
    seen.wait_for(PROMPT)
    do(WITHDRAWALS["deleted"])
    seen.type("a")
    seen.wait_for("can be chosen no more")
    seen.wait_for(PROMPT)


def test_a_person_at_the_list_is_told_and_asked_again(waiting: Any, do: Do, screen: Any) -> None:
    seen = screen("answer", "r1", "--as", "ann")
    choose_too_late(seen, do)
    seen.type("2")
    seen.wait_for(PROMPT)
    seen.type("a")
    seen.wait_for("oasflow reject r1")
    assert seen.ended() == 3
    assert selected(waiting) == ["old"]


def test_a_person_in_a_run_of_their_own_is_asked_again_too(
    here: Any, flow_file: Any, context_file: Any, do: Do, screen: Any
) -> None:
    path = context_file(context(artifact("house"), artifact("old")))
    command = ("run", flow_file(alone()), "--context", path, "--set", "topic=x", "--run-id", "r1")
    seen = screen(*command)
    choose_too_late(seen, do)
    seen.type("q")
    assert seen.ended() == 3
    assert decisions(here) == []
