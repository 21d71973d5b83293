"""`to_json()`: counts, and a record for each finding that JSON can hold."""

from __future__ import annotations

import json

from oas_compiler import Diagnostics, check
from oas_compiler.findings.finding import Edit, Finding
from oas_compiler.ir import Place

LEGACY = Finding(
    code="OAS107",
    severity="error",
    message="old",
    hint="remove it",
    file="a.json",
    place=Place("/prompt", 3, 5),
    fix=(Edit(pointer="/prompt", value=None),),
)


def test_a_record_says_which_rule_found_what_and_where() -> None:
    warning = Finding(code="OAS999", severity="warning", message="?")
    report = Diagnostics([LEGACY, warning]).to_json()
    assert report == {
        "errors": 1,
        "warnings": 1,
        "findings": [
            {
                "code": "OAS107", "rule": "legacy-key", "severity": "error", "message": "old",
                "hint": "remove it", "file": "a.json", "line": 3, "column": 5,
                "pointer": "/prompt", "aliases": [f"V{n}" for n in range(1, 10)], "fixable": True,
            },
            {
                "code": "OAS999", "rule": "", "severity": "warning", "message": "?", "hint": "",
                "file": "", "line": 0, "column": 0, "pointer": "", "aliases": [], "fixable": False,
            },
        ],
    }  # fmt: skip


def test_a_finding_in_yaml_is_fixable_as_one_in_json_is() -> None:
    yaml = Finding(code="OAS107", severity="error", message="", file="a.YAML", fix=LEGACY.fix)
    report = Diagnostics([LEGACY, yaml]).to_json()
    assert [record["fixable"] for record in report["findings"]] == [True, True]  # type: ignore[union-attr, index, call-overload]


def test_the_report_of_a_real_check_is_json() -> None:
    report = json.loads(json.dumps(check(b'{"component_type": "Flo"}').to_json()))
    assert report["errors"] == len(report["findings"]) > 0
