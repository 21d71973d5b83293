"""The context file: what it may say, and what is told about one that does not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.context import Actor
from cinatra_sdk.host.context_file import (
    MAX_BYTES,
    ContextFile,
    ContextFileError,
    read_context_file,
)
from cinatra_sdk.host.host_settings import read_settings
from cinatra_sdk.store.artifacts.artifacts import LoadedArtifact
from tests.slot_flows import slot
from tests.wired_flows import artifact, context

WHOLE = """
actor: {orgId: acme, principalId: ann, teamIds: [design], projectIds: [spring], isPlatformAdmin: true}
projectId: spring
selectsForOtherRuns: true
extensions:
  "@acme/house-voice-artifact": ["@acme/brand-voice-artifact"]
packages:
  "@acme/child":
    - {slotId: tone, acceptedArtifactExtensions: ["@acme/tone"], selectionMode: autonomous, resolutionMode: override}
artifacts:
  - id: house-voice
    name: House voice
    ownerId: bob
    visibility: org
    extensions: ["@acme/house-voice-artifact"]
    content: Plain words.
  - {id: other, orgId: other-org, ownerLevel: team, visibility: "team:design", extensions: [x, y], content: ""}
"""


@pytest.fixture
def read(tmp_path: Path) -> Any:
    def read_text(content: Any, name: str = "context.json") -> ContextFile:
        path = tmp_path / name
        raw = content if isinstance(content, (str, bytes)) else json.dumps(content)
        path.write_bytes(raw if isinstance(raw, bytes) else raw.encode())
        return read_context_file(path)

    return read_text


def problems(read: Any, content: Any, name: str = "context.json") -> list[str]:
    """The lines of the error, without the file's name, which each has to begin with."""
    with pytest.raises(ContextFileError) as raised:
        read(content, name)
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None
    found = []
    for line in str(raised.value).split("\n"):
        file, _, problem = line.partition(f"{name}: ")
        assert file.endswith("/")
        found.append(problem)
    return found


def test_a_whole_file_is_read_as_it_says(read) -> None:
    file = read(WHOLE, "context.yaml")
    assert file.owner == Actor(
        org_id="acme", principal_id="ann", team_ids=frozenset({"design"}),
        project_ids=frozenset({"spring"}), is_platform_admin=True,
    )  # fmt: skip
    assert file.project_id == "spring"
    assert file.selects_for_other_runs is True
    assert file.registry.installed() == {
        "@acme/house-voice-artifact": ("@acme/brand-voice-artifact",)
    }
    assert [(name, [one.slot_id for one in slots]) for name, slots in file.packages.items()] == [
        ("@acme/child", ["tone"])
    ]
    assert file.loaded == (
        LoadedArtifact(
            id="house-voice", name="House voice", org_id="acme", owner_id="bob", visibility="org",
            extensions=("@acme/house-voice-artifact",), content="Plain words.",
        ),
        LoadedArtifact(
            id="other", org_id="other-org", owner_id="ann", owner_level="team",
            visibility="team:design", extensions=("x", "y"), content="",
        ),
    )  # fmt: skip


def test_json_says_the_same_as_yaml_and_a_file_may_have_no_artifacts(read) -> None:
    assert read(context(artifact("a"))) == read(json.dumps(context(artifact("a"))), "c.yml")
    assert read({"actor": {"orgId": "acme", "principalId": "ann"}}).artifacts == ()


def test_what_a_description_keeps_is_read_back_as_the_same(read) -> None:
    file = read(WHOLE, "context.yaml")
    written = file.settings.written()
    assert json.loads(json.dumps(written)) == written
    assert sorted(written) == [
        "actor", "extensions", "packages", "projectId", "selectsForOtherRuns",
    ]  # fmt: skip
    assert read_settings({"kind": "local", **written, "beyond": None}) == file.settings
    assert read_settings(written).written() == written


ACTOR = context()["actor"]
BAD: dict[str, tuple[Any, Any, str]] = {
    "an unknown key": (
        context(extentions={}), context(extensions={}),
        'extentions: no such key; did you mean "extensions"?',
    ),
    "an unknown key of the actor": (
        context(actor=ACTOR | {"orgID": "x"}), context(),
        'actor.orgID: no such key; did you mean "orgId"?',
    ),
    "an unknown key of an artifact": (
        context(artifact("a", owner="bob")), context(artifact("a", ownerId="bob")),
        'artifacts[0].owner: no such key; did you mean "ownerId"?',
    ),
    "an unknown key of a slot": (
        context(packages={"@x/c": [slot() | {"zzz": 1}]}), context(packages={"@x/c": [slot()]}),
        ("packages.@x/c[0].zzz: no such key; there are acceptedArtifactExtensions, maxItems, "
        "minItems, readableOnly, resolutionMode, selectionMode, slotId"),
    ),
    "no actor": ({"artifacts": []}, context(), "actor: is missing"),
    "no principal": (
        context(actor={"orgId": "acme"}), context(), "actor.principalId: is missing",
    ),
    "no content": (context(artifact("a", content=...)), context(artifact("a")), "artifacts[0].content: is missing"),
    "a number for an id": (
        context(artifact(7)), context(artifact("7")),  # type: ignore[arg-type]
        "artifacts[0].id: must be text, in quotes where YAML would read something else",
    ),
    "a text for a list": (
        context(artifact("a", extensions="@x/brand")), context(artifact("a", extensions=["@x/brand"])),
        "artifacts[0].extensions: must be a list",
    ),
    "no extension": (
        context(artifact("a", extensions=[])), context(artifact("a")),
        "artifacts[0].extensions: must have at least one entry",
    ),
    "an empty id": (
        context(artifact("")), context(artifact("a")),
        "artifacts[0].id: String should have at least 1 character",
    ),
    "an id with a space around it": (
        context(artifact("a ")), context(artifact("a b")),
        "artifacts[0].id: an id is printable text without spaces around it",
    ),
    "an id with a NUL": (
        context(artifact("a\x00", content="")), context(artifact("a")),
        "artifacts[0].id: an id is printable text without spaces around it",
    ),
    "a content with a NUL": (
        context(artifact("a", content="\x00")), context(artifact("a", content="\t\n")),
        "artifacts[0].content: holds a character that no database takes",
    ),
    "half a character": (
        context(artifact("a", content="\ud800")), context(artifact("a", content="ä\U0001f600")),
        "artifacts[0].content: holds a character that no database takes",
    ),
    "a visibility that there is not": (
        context(artifact("a", visibility="everyone")), context(artifact("a", visibility="workspace")),
        "artifacts[0].visibility: write private, org, workspace, admin, team:ID or project:ID",
    ),
    "a team without an id": (
        context(artifact("a", visibility="team:")), context(artifact("a", visibility="team:design")),
        "artifacts[0].visibility: write private, org, workspace, admin, team:ID or project:ID",
    ),
    "an owner level that there is not": (
        context(artifact("a", ownerLevel="org")), context(artifact("a", ownerLevel="organization")),
        "artifacts[0].ownerLevel: Input should be 'user', 'team', 'organization' or 'workspace'",
    ),
    "two artifacts of one id": (
        context(artifact("a"), artifact("b"), artifact("a")), context(artifact("a"), artifact("b")),
        'artifacts[2].id: "a" is that of artifacts[0]; give each artifact an id of its own',
    ),
    "a project that is not the actor's": (
        context(projectId="summer"), context(projectId="spring"),
        ('projectId "summer" is not one of the actor\'s projects: add it to actor.projectIds, or '
        "leave projectId out"),
    ),
    "a slot that is declared twice": (
        context(packages={"@x/c": [slot(), slot()]}), context(packages={"@x/c": [slot(), slot("voice")]}),
        'packages: "@x/c" declares the slot "brand" twice',
    ),
    "half a character in the id of a slot": (
        context(packages={"@x/c": [slot("a\ud800")]}), context(packages={"@x/c": [slot("ä\U0001f600")]}),
        "packages.@x/c[0].slotId: holds a character that no database takes",
    ),
    "half a character in the name of a package": (
        context(packages={"@x/\ud800": [slot()]}), context(packages={"@x/ä": [slot()]}),
        "packages.@x/\ufffd\ufffd\ufffd: holds a character that no database takes",
    ),
    "half a character in a key": (
        context() | {"\ud800": 1}, context(),
        "holds a character that no database takes",
    ),
    "a NUL in the id of a slot": (
        context(packages={"@x/c": [slot("a\x00")]}), context(packages={"@x/c": [slot("a b")]}),
        'packages: a slot of "@x/c" holds a character that no database takes',
    ),
    "a NUL in an extension of a slot": (
        context(packages={"@x/c": [slot(acceptedArtifactExtensions=["a\x00"])]}),
        context(packages={"@x/c": [slot(acceptedArtifactExtensions=["a"])]}),
        'packages: a slot of "@x/c" holds a character that no database takes',
    ),
    "a word for yes": (
        context(selectsForOtherRuns="yes"), context(selectsForOtherRuns=True),
        "selectsForOtherRuns: Input should be a valid boolean",
    ),
    "a slot that asks for more than it takes": (
        context(packages={"@x/c": [slot(minItems=3, maxItems=2)]}),
        context(packages={"@x/c": [slot(minItems=2, maxItems=2)]}),
        "packages.@x/c[0]: minItems 3 is more than maxItems 2",
    ),
    "no object": ([], context(), "must be an object of keys and values"),
}  # fmt: skip


@pytest.mark.parametrize(("bad", "good", "problem"), BAD.values(), ids=BAD)
def test_what_does_not_fit_is_told_with_its_place(read, bad, good, problem) -> None:
    assert problems(read, bad) == [problem]
    assert isinstance(read(good), ContextFile)


def test_everything_that_does_not_fit_is_told_at_once_up_to_a_bound(read) -> None:
    three = context(artifact("a", visibility="all"), artifact("b", content=...), zzz=1)
    assert [one.partition(":")[0] for one in problems(read, three)] == [
        "artifacts[0].visibility", "artifacts[1].content", "zzz",
    ]  # fmt: skip
    many = problems(read, context(*(artifact(str(i), visibility="all") for i in range(23))))
    assert len(many) == 21
    assert many[-1] == "and 3 more"


UNREADABLE: dict[str, tuple[str, Any, Any, str]] = {
    "YAML that breaks off": ("c.yaml", "actor: {", WHOLE, "is not YAML: "),
    "a control character in YAML": ("c.yaml", "a: \x01", WHOLE, "is not YAML: "),
    "JSON that breaks off": ("c.json", "{", "{}", "is not JSON: Expecting property name"),
    "NaN in JSON": ("c.json", '{"a": NaN}', "{}", "is not JSON: NaN is no number"),
    "a key twice in YAML": ("c.yaml", "actor: 1\nactor: 2", WHOLE, 'is not YAML: the key "actor" is written twice at line 2, column 1'),
    "a key twice in JSON": ("c.json", '{"a": 1, "a": 2}', "{}", 'is not usable: the key "a" is written twice'),
    "an alias": ("c.yaml", "a: &x [1]\nb: *x", WHOLE, "holds an alias, which is refused: write the value out"),
    "a tag": ("c.yaml", "a: !!python/name:os.system", WHOLE, "holds a tag at line 1, which is refused: write a plain value"),
    "a tag of YAML's own": ("c.yaml", "a: 1\nb: !!timestamp x", WHOLE, "holds a tag at line 2, which is refused"),
    "an empty number": ("c.yaml", 'a: !!int ""', WHOLE, "holds a tag at line 1, which is refused"),
    "a day that is none": ("c.yaml", "a: !!timestamp 2024-13-45", WHOLE, "holds a tag at line 1, which is refused"),
    "nesting without end in YAML": ("c.yaml", "[" * 100_000, WHOLE, "is nested too deeply"),
    "nesting of lines": ("c.yaml", "- " * 300_000 + "x", WHOLE, "is nested too deeply"),
    "two documents": ("c.yaml", "a: 1\n---\nb: 1", WHOLE, "is not YAML: "),
    "nesting without end": ("c.json", "[" * 100_000, "{}", "is nested too deeply"),
    "bytes that are no text": ("c.yaml", b"\xff\xfe\xff", WHOLE, "is not UTF-8"),
    "another kind of file": ("c.txt", WHOLE, WHOLE, "a context file ends in .json, .yaml or .yml"),
    "more than is read": ("c.yaml", WHOLE + "#" * MAX_BYTES, WHOLE + "#" * (MAX_BYTES - len(WHOLE)), "a context file has at most 1,048,576 bytes"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "bad", "good", "problem"), UNREADABLE.values(), ids=UNREADABLE)
def test_a_file_that_cannot_be_read_says_why(read, name, bad, good, problem) -> None:
    (found,) = problems(read, bad, name)
    assert found.startswith(problem)
    if good == "{}":
        assert problems(read, good, name) == ["actor: is missing"]
    elif name.endswith("yaml"):
        assert len(read(good, name).artifacts) == 2


def test_what_yaml_takes_for_something_else_than_text_is_refused_and_not_converted(read) -> None:
    as_number = "actor: {orgId: 2026, principalId: ann}"
    told = "actor.orgId: must be text, in quotes where YAML would read something else"
    assert problems(read, as_number, "c.yaml") == [told]
    assert read(as_number.replace("2026", "'2026'"), "c.yaml").owner.org_id == "2026"
    # By YAML 1.2 a date is text, as it is in a flow.
    as_date = as_number.replace("2026", "2026-01-02")
    assert read(as_date, "c.yaml").owner.org_id == "2026-01-02"
    assert problems(read, "1: x", "c.yaml")[0].startswith("actor")


def test_an_id_that_looks_like_a_credential_is_refused_where_it_comes_in(read) -> None:
    secret = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
    assert read(context(artifact("ghp_short"))).artifacts[0].id == "ghp_short"
    with pytest.raises(ContextFileError, match="looks like a credential") as said:
        read(context(artifact(secret)))
    assert secret not in str(said.value)


def test_thousands_of_double_ids_are_told_in_a_few_lines(read) -> None:
    with pytest.raises(ContextFileError) as said:
        read(context(*(artifact("a") for _ in range(3_000))))
    assert "and 2979 more" in str(said.value)
    assert len(str(said.value)) < 5_000


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ContextFileError, match=r"gone\.yaml: cannot be read: No such file"):
        read_context_file(tmp_path / "gone.yaml")
    (tmp_path / "folder.yaml").mkdir()
    with pytest.raises(ContextFileError, match="Is a directory"):
        read_context_file(tmp_path / "folder.yaml")
    with pytest.raises(ContextFileError, match="this is no file name"):
        read_context_file("a\x00.yaml")


def test_a_problem_quotes_no_content(read) -> None:
    told = problems(read, context(artifact("a", content="hidden-word\x00", name=["hidden-word"])))
    assert len(told) == 2
    assert "hidden-word" not in "".join(told)
