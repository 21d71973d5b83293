"""What is said of every sample, example and public flow is what the goldens hold."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from oas_compiler.checks.compile_rules import READING
from oas_compiler.ir import Node
from oas_compiler.kinds.registry import BUILT_IN, type_of
from oas_compiler.pipeline import compile_ir
from tests.flows import end, flow_of, gate, port, start
from tests.golden.goldens import (
    CORPUS,
    DIGESTS,
    all_told,
    digests_of,
    ir_text,
    samples,
    subjects,
)


@cache
def kept() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(DIGESTS.read_text(encoding="utf-8"))
    return found


@cache
def told() -> dict[str, dict[str, str]]:
    return digests_of(all_told(subjects()))


@pytest.mark.parametrize("path", samples(), ids=lambda path: path.stem)
def test_the_ir_of_a_sample_is_its_golden(path: Path) -> None:
    assert ir_text(path) == path.with_suffix(".ir.txt").read_text(encoding="utf-8")


def test_no_golden_is_without_its_sample() -> None:
    texts = {path.name.removesuffix(".ir.txt") for path in DIGESTS.parent.glob("*.ir.txt")}
    assert texts == {path.stem for path in samples()}


@pytest.mark.parametrize("name", sorted(kept()))
def test_what_is_said_of_a_flow_is_as_it_was(name: str) -> None:
    if name.startswith("corpus/") and not CORPUS.exists():
        pytest.skip("the corpus of public flows is not beside the project")
    # `scripts/goldens --tell DIR` writes the texts behind the digests.
    assert told()[name] == kept()[name]


def test_every_flow_has_its_digests() -> None:
    here = {name for name in kept() if CORPUS.exists() or not name.startswith("corpus/")}
    assert set(subjects()) == here


def test_every_kind_of_node_has_a_golden() -> None:
    seen = {type_of(node) for path in samples() for node in _nodes(path)}
    assert seen >= {kind.component_type for kind in BUILT_IN}


def _nodes(path: Path) -> list[Node]:
    from oas_compiler import CompileError

    try:
        return list(compile_ir(path, rules=READING).ir.nodes)
    except CompileError:
        return []


def test_a_change_is_noticed(tmp_path: Path) -> None:
    """The control: another input and another title of a gate change all that is said of a flow."""
    flow = flow_of(start(port("topic")), gate("review"), end())
    other = flow_of(start(port("topics", "integer"), port("unused")), gate("review"), end())
    other["$referenced_components"]["review"]["name"] = "The other"
    other["$referenced_components"]["review"]["metadata"]["cinatra"]["riskclass"] = "approval"
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    first.write_text(json.dumps(flow))
    second.write_text(json.dumps(other))
    told_both = digests_of(all_told({"a": first, "b": second}))
    for what in told_both["a"]:
        assert told_both["a"][what] != told_both["b"][what], what
    assert set(told_both["b"]) - set(told_both["a"]) == {"diff"}
