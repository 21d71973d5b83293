"""A schema that no value can be checked against is refused before a run meets it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.checks.rule_case import findings
from tests.flows import end, flow_of, plain, port, start, tool

CASES = [
    ({"minLength": "one"}, "/minLength", {"minLength": 1}),
    ({"pattern": "("}, "/pattern", {"pattern": "()"}),
    ({"enum": "a"}, "/enum", {"enum": ["a"]}),
    ({"multipleOf": 0}, "/multipleOf", {"multipleOf": 2}),
]


def flow(schema: Any, where: str) -> Any:
    kind = "integer" if "multipleOf" in schema else "string"
    flawed, sound = port("a", kind, **schema), port("a", kind)
    at_start, at_tool = (flawed, sound) if where == "start" else (sound, flawed)
    return flow_of(
        start(at_start), tool("work", "t", [at_tool], [port("b")]), end(port("b")),
        edges=[("start", "a", "work", "a"), ("work", "b", "end", "b")],
    )  # fmt: skip


@pytest.mark.parametrize(("broken", "place", "sound"), CASES)
@pytest.mark.parametrize("where", ["start", "tool"])
def test_a_broken_keyword_is_found_where_it_stands_and_its_twin_is_fine(
    broken: Any, place: str, sound: Any, where: str
) -> None:
    (found,) = findings(plain(flow(broken, where)), "OAS079")
    assert found.place.pointer.endswith(f"puts/0{place}")
    assert place[1:] in found.message
    assert not findings(plain(flow(sound, where)), "OAS079")


def test_of_a_cinatra_file_only_the_inputs_of_the_run_are_looked_at() -> None:
    broken = CASES[0][0]
    assert len(findings(flow(broken, "start"), "OAS079")) == 1
    assert not findings(flow(broken, "tool"), "OAS079")


def test_a_keyword_below_json_schema_is_found_there() -> None:
    document = flow({}, "start")
    title = document["$referenced_components"]["start"]["inputs"][0]
    title["json_schema"] = {"minLength": "one"}
    (found,) = findings(document, "OAS079")
    assert found.place.pointer.endswith("/inputs/0/json_schema/minLength")
    title["minLength"] = "two"
    (found,) = findings(document, "OAS079")
    assert found.place.pointer.endswith("/inputs/0/minLength"), "the outer keyword is the one read"


@pytest.mark.parametrize("broken", [{"type": []}, {"description": 3}])
def test_of_a_plain_file_the_usual_keywords_are_looked_at_too(broken: Any) -> None:
    document = flow_of(start({**port("a"), **broken}), end(), edges=[])
    (found,) = findings(plain(document), "OAS079")
    assert found.place.pointer.endswith(f"inputs/0/{next(iter(broken))}")
    assert not findings(
        plain(flow_of(start({**port("a"), "description": None}), end(), edges=[])), "OAS079"
    )
