"""Worlds of artifacts, small and unlikely, and questions about them.

In: a seed and a number.  Out: a `World` and some `Question`s, the same ones every time; and
`load`, which writes many worlds into one database at once.

Every world has organisations of its own, so worlds do not see each other unless the resolver is
wrong.  Rows that the tables' foreign keys refuse are among them (a revision of one organisation
for an artifact of another, or of nobody): the statement has to hold without those keys.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import psycopg

from tests.store.context_model import Assertion, Question, Revision, Thing, World

ARTIFACT = "@cinatra-ai/artifact:object"
EXTENSIONS = ("@x/voice", "@x/house-voice", "@x/icp", "@y/icp", "@x/voice2")
PEOPLE = ("ann", "bob", "svc")
TEAMS = ("t1", "t2", "t10")
PROJECTS = ("p1", "p2", "p10")
PLAIN = (
    "private", "org", "workspace", "admin",
    *(f"team:{id_}" for id_ in TEAMS), *(f"project:{id_}" for id_ in PROJECTS),
)  # fmt: skip
ODD = (
    "team:", "project:", "TEAM:t1", "Project:p1", "team:t1 ", " team:t1", "team", "project",
    "team:%", "project:%", "team:t_", "project:p1/x", "team:t1,t2", "team:team:t1", "project:team:t1",
    "team_t1", "projectXp1", "ORG", "org ", "organization", "public", "workspaces", "Admin", "",
)  # fmt: skip
KINDS = ("@cinatra-ai/task:object", "@cinatra-ai/artifact:object2", "@CINATRA-AI/artifact:object")
LEVELS = ("user", "user", "team", "organization", "workspace", "org", "", "Team")
BEGINNINGS = ("A", "a", "b", "_", "ä", "Z", "-")
"""First characters of ids, which collations and code points order differently."""


def world(seed: int, number: int) -> tuple[World, list[Question]]:
    """World `number` of a seed, with four questions about it."""
    dice = random.Random(f"{seed}/{number}")
    orgs = (f"w{number}-o1", f"w{number}-o2")
    things, revisions, assertions = [], [], []
    for place in range(dice.randint(4, 16)):
        thing = _thing(dice, f"{dice.choice(BEGINNINGS)}{number}-{place}", orgs)
        things.append(thing)
        revisions += _revisions(dice, thing, orgs)
        assertions += _assertions(dice, thing, orgs)
    installed = {
        name: tuple(dice.sample(EXTENSIONS, dice.choice((0, 0, 1, 1, 2))))
        for name in dice.sample(EXTENSIONS, dice.randint(1, len(EXTENSIONS)))
    }
    made = World(
        things=tuple(things), revisions=tuple(revisions), assertions=tuple(assertions),
        installed=installed,
    )  # fmt: skip
    return made, [_question(dice, orgs) for _ in range(4)]


def load(connection: psycopg.Connection, worlds: Sequence[World]) -> None:
    """Write all rows of the worlds, past the foreign keys, and gather statistics."""
    with connection.cursor() as cursor:
        with cursor.copy(
            "copy objects (id, org_id, type, owner_id, owner_level, visibility, deleted_at)"
            " from stdin"
        ) as copy:
            for thing in (thing for made in worlds for thing in made.things):
                copy.write_row(
                    (
                        thing.id, thing.org, thing.kind, thing.owner, thing.owner_level,
                        thing.visibility, "2026-01-01" if thing.deleted else None,
                    )
                )  # fmt: skip
        with cursor.copy(
            "copy representations (id, org_id, artifact_id, revision) from stdin"
        ) as copy:
            for row in (row for made in worlds for row in made.revisions):
                copy.write_row((row.id, row.org, row.artifact, row.number))
        with cursor.copy(
            "copy semantic_assertions (id, org_id, artifact_id, extension, asserted_by, eligibility)"
            " from stdin"
        ) as copy:
            for said in (said for made in worlds for said in made.assertions):
                copy.write_row(
                    (said.id, said.org, said.artifact, said.extension, said.by, said.eligibility)
                )
    connection.commit()
    connection.execute("analyze objects, representations, semantic_assertions")
    connection.commit()


def without_foreign_keys(connection: psycopg.Connection) -> None:
    """Let the tables take what the worlds hold."""
    found = connection.execute(
        "select conrelid::regclass::text, conname from pg_constraint"
        " where contype = 'f' and conparentid = 0 and conrelid::regclass::text in"
        " ('representations', 'semantic_assertions', 'run_context_selections')"
    ).fetchall()
    assert found, "the tables have lost their foreign keys"
    for table, name in found:
        connection.execute(f'alter table {table} drop constraint "{name}"')
    connection.commit()


def _thing(dice: random.Random, id_: str, orgs: tuple[str, str]) -> Thing:
    return Thing(
        id=id_,
        org=dice.choices((*orgs, None), (75, 15, 10))[0],
        kind=ARTIFACT if dice.random() < 0.9 else dice.choice(KINDS),
        owner=dice.choice(PEOPLE),
        owner_level=dice.choice(LEVELS),
        visibility=dice.choice(PLAIN if dice.random() < 0.75 else ODD),
        deleted=dice.random() < 0.1,
    )


def _revisions(dice: random.Random, thing: Thing, orgs: tuple[str, str]) -> list[Revision]:
    made = []
    numbers = dice.sample(range(1, 6), dice.choice((0, 1, 1, 2, 3)))
    for number in numbers:  # in any order, under ids in any order
        org = thing.org if thing.org and dice.random() < 0.85 else dice.choice(orgs)
        id_ = f"{dice.randrange(16**6):06x}-{thing.id}-{number}"
        made.append(Revision(id=id_, org=org, artifact=thing.id, number=number))
    return made


def _assertions(dice: random.Random, thing: Thing, orgs: tuple[str, str]) -> list[Assertion]:
    made = []
    for extension in dice.sample(EXTENSIONS, dice.choice((0, 1, 1, 1, 2, 3))):
        org = thing.org if thing.org and dice.random() < 0.85 else dice.choice(orgs)
        active = dice.choices(("eligible", "draft", "archived"), (80, 10, 10))[0]
        # An archived one may be beside the active one, never a second active one.
        states = [active, "archived"] if dice.random() < 0.2 else [active]
        for place, state in enumerate(states):
            people = ("user", "authoring_skill", "agent")
            by = dice.choice(people if state == "eligible" else (*people, "matcher"))
            id_ = f"{dice.randrange(16**6):06x}-{thing.id}-{extension}-{place}"
            made.append(
                Assertion(
                    id=id_, org=org, artifact=thing.id, extension=extension, by=by,
                    eligibility=state,
                )
            )  # fmt: skip
    return made


def _question(dice: random.Random, orgs: tuple[str, str]) -> Question:
    projects = frozenset(dice.sample(PROJECTS, dice.randint(0, 3)))
    given = dice.choices(
        (None, "", "  ", *PROJECTS, " p1 ", "%", "p9", "p1/x"), (8, 1, 1, 2, 2, 1, 1, 1, 1, 1)
    )[0]
    return Question(
        org=dice.choices(orgs, (80, 20))[0],
        principal=dice.choice(PEOPLE),
        teams=frozenset(dice.sample(TEAMS, dice.randint(0, 3))),
        projects=projects,
        admin=dice.random() < 0.3,
        accepted=tuple(dice.sample(EXTENSIONS, dice.randint(1, 3))),
        override=dice.random() < 0.35,
        autonomous=dice.random() < 0.5,
        max_items=dice.choice((None, None, None, 1, 2, 4)),
        project=given,
    )
