"""docs/agent-spec.md says what our runtime does now; its other columns are measured by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.differential.cases import Case, list_cases
from benchmarks.differential.compare import format_result, load_ours, run_ours
from benchmarks.differential.documents import list_documents

PAGE = Path(__file__).parents[1] / "docs" / "agent-spec.md"


def read_rows() -> dict[str, list[str]]:
    lines = PAGE.read_text("utf-8").splitlines()
    rows = [line.strip("|").split("|") for line in lines if line.startswith("| ")]
    return {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in rows}


ROWS = read_rows()


@pytest.mark.parametrize("case", list(list_cases()), ids=lambda case: case.name)
def test_a_run_is_as_the_page_says(case: Case) -> None:
    assert ROWS[case.name][0] == format_result(run_ours(case))


@pytest.mark.parametrize(
    ("name", "document"), list(list_documents()), ids=lambda one: str(one)[:40]
)
def test_a_type_loads_as_the_page_says(name: str, document: dict[str, Any]) -> None:
    assert ROWS[name][0] == format_result(load_ours(document))


def test_the_page_has_no_other_rows_and_every_difference_a_reason() -> None:
    known = {case.name for case in list_cases()} | {name for name, _ in list_documents()}
    assert ROWS.keys() - known == {"case", "component"}
    assert "?" not in {cells[-1] for cells in ROWS.values()}
