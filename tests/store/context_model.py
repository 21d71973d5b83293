"""What a slot may take, by the words of the contract and nothing of the store.

In: a world (plain records), an actor, a slot, what is installed, perhaps a project.
Out: triples in order, as Cinatra's contracts (section 6) describe them.

    expected(world, question)                        ->  [Pin("a1", "r2", "s1"), …]
    expected(world, question, without="not deleted") ->  the same with one rule forgotten

Written from the text of the contract, row by row and without SQL, so that the two can disagree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Pin(NamedTuple):
    """The three keys of one candidate."""

    artifact: str
    revision: str
    assertion: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """A row of `objects`."""

    id: str
    org: str | None
    kind: str
    owner: str
    owner_level: str
    visibility: str
    deleted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A row of `representations`."""

    id: str
    org: str
    artifact: str
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """A row of `semantic_assertions`."""

    id: str
    org: str
    artifact: str
    extension: str
    by: str
    eligibility: str


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Everything that is there."""

    things: tuple[Thing, ...]
    revisions: tuple[Revision, ...]
    assertions: tuple[Assertion, ...]
    installed: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Who asks, for which slot, and within which project."""

    org: str
    principal: str
    teams: frozenset[str]
    projects: frozenset[str]
    admin: bool
    accepted: tuple[str, ...]
    override: bool
    autonomous: bool
    max_items: int | None
    project: str | None


def expected(world: World, question: Question, without: str = "") -> list[Pin]:
    """The candidates in order; `without` names one of RULES that is left out."""
    project = (question.project or "").strip()
    if project and project not in question.projects and without != "project is the actor's":
        return []
    wanted = _extensions(world, question, without)
    things = {thing.id: thing for thing in world.things}
    found: list[tuple[int, str, str, str, Pin]] = []
    for assertion in world.assertions:
        thing = things[assertion.artifact]
        latest = _latest(world, assertion, question.org, without)
        rules = {
            "object of the organisation": thing.org == question.org,
            "assertion of the organisation": assertion.org == question.org,
            "artifact type": thing.kind == "@cinatra-ai/artifact:object",
            "not deleted": not thing.deleted,
            "ownership": _may_see(thing, question, without),
            "project refinement": (
                thing.visibility == "project:" + project
                if project
                else not thing.visibility.startswith("project:")
            ),
            "eligible": assertion.eligibility == "eligible",
            "extension": assertion.extension in wanted,
        }
        if latest is not None and all(holds or name == without for name, holds in rules.items()):
            pin = Pin(thing.id, latest, assertion.id)
            width = _WIDTH[_scope(thing, without)]
            if without == "scope order":
                width = 0
            found.append((width, thing.id, assertion.extension, assertion.id, pin))
    found.sort()
    if question.override and found and without != "override":
        found = [row for row in found if row[0] == found[0][0]]
    return [row[-1] for row in found]


def expected_selection(world: World, question: Question) -> list[Pin]:
    """What is taken without a person: only this is cut to what the slot takes."""
    if not question.autonomous:
        return []
    candidates = expected(world, question)
    return candidates[: 1 if question.override else question.max_items]


RULES = (
    "project is the actor's",
    "object of the organisation",
    "assertion of the organisation",
    "revision of the organisation",
    "latest revision",
    "artifact type",
    "not deleted",
    "ownership",
    "own",
    "org",
    "workspace",
    "team",
    "admin",
    "admin is for administrators",
    "project refinement",
    "eligible",
    "extension",
    "satisfies",
    "owner level",
    "scope order",
    "override",
)
"""Everything that can be forgotten.  A project's own rule of ownership is not among them: the
project has been checked to be the actor's when it is reached."""

_WIDTH = {"project": 0, "user": 1, "team": 2, "organization": 3, "workspace": 4}


def _extensions(world: World, question: Question, without: str) -> set[str]:
    direct = set(question.accepted)
    satisfying = {
        name for name, satisfies in world.installed.items() if direct.intersection(satisfies)
    }
    return direct if without == "satisfies" else direct | satisfying


def _may_see(thing: Thing, question: Question, without: str) -> bool:
    word, colon, which = thing.visibility.partition(":")
    ways = {
        "own": thing.owner == question.principal,
        "org": thing.visibility == "org",
        "workspace": thing.visibility == "workspace",
        "team": bool(colon) and word == "team" and which in question.teams,
        "project": bool(colon) and word == "project" and which in question.projects,
        "admin": thing.visibility == "admin"
        and (question.admin or without == "admin is for administrators"),
    }
    return any(open_ for name, open_ in ways.items() if name != without)


def _latest(world: World, assertion: Assertion, org: str, without: str) -> str | None:
    of_it = [
        revision
        for revision in world.revisions
        if revision.artifact == assertion.artifact
        and (revision.org == org or without == "revision of the organisation")
    ]
    if not of_it:
        return None
    choose = min if without == "latest revision" else max
    return choose(of_it, key=lambda revision: revision.number).id


def _scope(thing: Thing, without: str) -> str:
    if thing.visibility.startswith("project:"):
        return "project"
    if thing.visibility.startswith("team:"):
        return "team"
    if thing.visibility in {"workspace", "org"}:
        return {"workspace": "workspace", "org": "organization"}[thing.visibility]
    levels = _WIDTH.keys() - {"project"}
    known = thing.owner_level in levels and without != "owner level"
    return thing.owner_level if known else "user"
