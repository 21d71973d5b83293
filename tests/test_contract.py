"""The words that both packages obey."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from cinatra_sdk import contract
from cinatra_sdk.contract import ENDED, RUN_ID_INPUTS, TERMINAL, is_send_class
from cinatra_sdk.governance.records import verifier
from tests.sources import ROOT, parse


@pytest.mark.parametrize(
    "risk_class",
    ["email_send", "x_publish", "x_post", "x_delete", "send_external_message", "send", "delete"],
)
def test_a_class_that_acts_on_the_world_is_a_send(risk_class: str) -> None:
    assert is_send_class(risk_class)


@pytest.mark.parametrize(
    "risk_class", ["", "read_only", "approval", "sender", "_sent", "post_draft"]
)
def test_any_other_class_is_none(risk_class: str) -> None:
    assert not is_send_class(risk_class)


def test_a_failed_run_has_stopped_and_can_be_tried_again() -> None:
    assert set(TERMINAL) - set(ENDED) == {"failed"}
    assert RUN_ID_INPUTS == ("cinatra_run_id", "agent_run_id")


# ------------------------------------------------------------------ each word stands once

LISTS = {
    frozenset(value): name
    for name, value in vars(contract).items()
    if isinstance(value, (tuple, frozenset))
}
WORDS = {value: name for name, value in vars(contract).items() if name.isupper() and isinstance(value, str)}  # fmt: skip


def written_again(tree: ast.Module) -> Iterator[str]:
    """The names of the contract's words that a module writes out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from filter(None, [WORDS.get(node.value)])
        elif isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            values = [one.value for one in node.elts if isinstance(one, ast.Constant)]
            if len(values) == len(node.elts):
                yield from filter(None, [LISTS.get(frozenset(values))])


@pytest.mark.parametrize("package", ["cinatra_sdk", "oas_compiler", "graphs"])
def test_no_other_module_writes_the_words_of_the_contract_again(package: str) -> None:
    again = {
        path.relative_to(ROOT).as_posix(): sorted(set(written_again(parse(path))))
        for path in (ROOT / package).rglob("*.py")
        if path != ROOT / "cinatra_sdk" / "contract.py"
    }
    # The verifier of exports runs with the standard library alone, and writes one again.
    alone = again.pop("cinatra_sdk/governance/records/run_evidence.py", [])
    assert alone == (["ENDED"] if package == "cinatra_sdk" else [])
    assert {path: names for path, names in again.items() if names} == {}


def test_the_verifier_writes_the_word_as_the_contract_does() -> None:
    assert verifier.ENDED == contract.ENDED


def test_a_word_that_is_written_again_is_found() -> None:
    assert [*written_again(ast.parse('A = {"agent_run_id", "cinatra_run_id"}'))] == [
        "RUN_ID_INPUTS"
    ]
    assert [*written_again(ast.parse('import os; os.environ["CINATRA_BASE_URL"]'))] == ["BASE_URL"]
    assert [*written_again(ast.parse('A = ("agent_run_id",)'))] == []
