"""Over generated worlds, the resolver gives what the contract says, in that order, and no more.

The seed is printed; `OASFLOW_SEED` repeats a run.
"""

from __future__ import annotations

import os
import random
import uuid
from collections.abc import Iterator

import psycopg
import pytest

from cinatra_sdk.context import Actor, AgentContextSlot, InstalledExtensions
from cinatra_sdk.context.candidates import ContextResolution
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.artifacts.selections import ContextPlan
from cinatra_sdk.store.database import Database
from tests.store.context_model import RULES, Pin, Question, World, expected, expected_selection
from tests.store.context_worlds import ARTIFACT, load, without_foreign_keys, world

SEED = int(os.environ.get("OASFLOW_SEED", random.SystemRandom().randrange(2**32)))
TOGETHER = 250
"""Worlds that are loaded at once."""


@pytest.fixture
def empty(
    fresh_database: str, superuser_database: str
) -> Iterator[tuple[ArtifactStore, psycopg.Connection]]:
    database = Database.open(fresh_database)
    with psycopg.connect(superuser_database, options="-c search_path=oasflow") as connection:
        without_foreign_keys(connection)
        yield ArtifactStore(database), connection
    database.close()


def actor_of(asked: Question) -> Actor:
    return Actor(
        org_id=asked.org, principal_id=asked.principal, team_ids=asked.teams,
        project_ids=asked.projects, is_platform_admin=asked.admin,
    )  # fmt: skip


def resolved(store: ArtifactStore, made: World, asked: Question) -> ContextResolution:
    slot = AgentContextSlot(
        slotId="s", acceptedArtifactExtensions=asked.accepted,
        selectionMode="autonomous" if asked.autonomous else "interactive",
        resolutionMode="override" if asked.override else "accumulate", maxItems=asked.max_items,
    )  # fmt: skip
    return store.resolve(actor_of(asked), slot, InstalledExtensions(made.installed), asked.project)


def withdrawn(store: ArtifactStore, asked: Question, offer: ContextResolution) -> tuple[str, ...]:
    if not offer.candidates:
        return ()
    run_id = uuid.uuid4().hex
    store.keep_plan(
        ContextPlan(
            org_id=asked.org, parent_run_id=run_id, parent_package_name="p", slot_id="s",
            refs=offer.candidates,
        )
    )  # fmt: skip
    return store.withdrawn(actor_of(asked), run_id, [ref.triple for ref in offer.candidates])


def pins(refs: tuple) -> list[Pin]:
    return [Pin(*ref.triple) for ref in refs]


def trespasses(made: World, asked: Question, given: list[Pin]) -> list[str]:
    """Ids of what somebody else's organisation, team or project owns: looked up, not resolved."""
    things = {thing.id: thing for thing in made.things}
    found = []
    for pin in given:
        thing = things.get(pin.artifact)
        if thing is None or thing.org != asked.org or thing.deleted or thing.kind != ARTIFACT:
            found.append(pin.artifact)
        elif thing.visibility.startswith("project:"):
            inside = asked.project and thing.visibility == f"project:{asked.project.strip()}"
            if not inside or thing.visibility[8:] not in asked.projects:
                found.append(pin.artifact)
        elif thing.owner != asked.principal and not (
            thing.visibility in {"org", "workspace"}
            or (thing.visibility.startswith("team:") and thing.visibility[5:] in asked.teams)
            or (asked.admin and thing.visibility == "admin")
        ):
            found.append(pin.artifact)
    return found


def agree(store: ArtifactStore, connection: psycopg.Connection, number: int) -> int:
    """Ask all questions about `number` worlds; how many candidates there were."""
    print(f"seed {SEED}, {number} worlds")
    offered = 0
    for begin in range(0, number, TOGETHER):
        some = range(begin, min(begin + TOGETHER, number))
        made = {n: world(SEED, n) for n in some}
        load(connection, [each for each, _ in made.values()])
        for n, (each, questions) in made.items():
            for asked in questions:
                resolution = resolved(store, each, asked)
                given = pins(resolution.candidates)
                place = f"seed {SEED}, world {n}: {asked}"
                assert trespasses(each, asked, given) == [], place
                assert given == expected(each, asked), place
                assert pins(resolution.selected) == expected_selection(each, asked), place
                # What is offered right now is never called withdrawn, in whichever project.
                assert withdrawn(store, asked, resolution) == (), place
                offered += len(given)
    return offered


def test_in_150_worlds_the_resolver_gives_what_the_contract_says(empty):
    # Worlds in which nothing is ever offered would prove nothing.
    assert agree(*empty, 150) > 150


@pytest.mark.long
def test_in_5000_worlds_the_resolver_gives_what_the_contract_says(empty):
    assert agree(*empty, 5_000) > 5_000


def test_every_rule_that_is_left_out_is_caught_by_some_world():
    # Control: 150 worlds tell the contract from one with a rule less, whichever rule it is.
    caught = set()
    for number in range(150):
        each, questions = world(20, number)
        for asked in questions:
            right = expected(each, asked)
            caught |= {rule for rule in RULES if expected(each, asked, without=rule) != right}
    assert caught == set(RULES)


def test_a_resolver_that_forgets_a_rule_trespasses(empty):
    # Control: what is offered by a forgetful statement is found by looking at the rows.
    store, connection = empty
    load(connection, [world(20, number)[0] for number in range(60)])
    forgotten = {"object of the organisation", "ownership", "project refinement", "not deleted"}
    for rule in forgotten:
        assert any(
            trespasses(each, asked, expected(each, asked, without=rule))
            for each, questions in (world(20, number) for number in range(60))
            for asked in questions
        ), rule
    each, questions = world(20, 1)
    assert [pins(resolved(store, each, asked).candidates) for asked in questions] == [
        expected(each, asked) for asked in questions
    ]


def test_a_world_is_the_same_whenever_it_is_made():
    assert world(1, 7) == world(1, 7)
    assert world(1, 7) != world(2, 7)
