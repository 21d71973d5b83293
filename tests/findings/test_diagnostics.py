"""What is recorded of a run: short texts, a bounded number of them."""

from __future__ import annotations

import json

from oas_compiler import check
from oas_compiler.findings.finding import MAX_PER_CODE, Findings
from oas_compiler.ir import Place
from tests.flows import end, flow_of, gate, start


def test_a_name_of_any_length_is_cut_and_the_message_stays_one_line():
    findings = Findings()
    findings.error("OAS010", f'no component "{"x" * 5_000}" is defined here', hint="a\nb")
    (finding,) = findings
    assert finding.message == f'no component "{"x" * 100}…" is defined here'
    assert finding.hint == "a b"


def test_a_usual_message_is_kept_as_it_is():
    findings = Findings()
    findings.warning("OAS048", 'no path leads to "a"', Place("/a", 1, 1))
    assert findings.findings[0].message == 'no path leads to "a"'


def test_more_findings_of_one_code_than_anybody_reads_are_one_more():
    findings = Findings()
    for number in range(MAX_PER_CODE + 50):
        findings.error("OAS061", f"number {number}")
    findings.error("OAS062", "another kind")
    listed = [finding.code for finding in findings]
    assert listed.count("OAS061") == MAX_PER_CODE + 1
    assert listed.count("OAS062") == 1
    assert findings.findings[MAX_PER_CODE].message == (
        f"there are more than {MAX_PER_CODE} findings of this kind"
    )


def test_many_findings_of_the_same_words_are_one_with_the_lines_of_the_others():
    made = flow_of(start(), *(gate(f"g{i}") for i in range(8)), end())
    for edge in made["control_flow_connections"]:
        del edge["name"]
    found = [one for one in check(json.dumps(made, indent=1).encode()) if one.code == "OAS101"]
    (finding,) = found
    assert finding.pointer == "/control_flow_connections/0"
    assert finding.message.startswith("a ControlFlowEdge has no name (9 times: also line ")
    assert finding.message.endswith(" and 3 more)")


def test_a_few_findings_of_the_same_words_stay_apart():
    made = flow_of(start(), gate("a"), end())
    for edge in made["control_flow_connections"]:
        del edge["name"]
    found = [one for one in check(json.dumps(made, indent=1).encode()) if one.code == "OAS101"]
    assert len(found) == 2


def test_a_missing_path_says_how_far_it_is_there(tmp_path):
    (finding,) = check(tmp_path / "agents" / "mail" / "cinatra" / "oas.json")
    assert finding.code == "OAS001"
    assert finding.hint == f"there is no agents in the folder {tmp_path}: correct the path"
