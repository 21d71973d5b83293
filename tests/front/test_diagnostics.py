"""What is recorded of a run: short texts, a bounded number of them."""

from __future__ import annotations

from oas_compiler.diagnostics import MAX_PER_CODE, Diagnostics
from oas_compiler.ir import Place


def test_a_name_of_any_length_is_cut_and_the_message_stays_one_line():
    findings = Diagnostics()
    findings.error("OAS010", f'no component "{"x" * 5_000}" is defined here', hint="a\nb")
    (finding,) = findings
    assert finding.message == f'no component "{"x" * 100}…" is defined here'
    assert finding.hint == "a b"


def test_a_usual_message_is_kept_as_it_is():
    findings = Diagnostics()
    findings.warning("OAS048", 'no path leads to "a"', Place("/a", 1, 1))
    assert findings.findings[0].message == 'no path leads to "a"'


def test_more_findings_of_one_code_than_anybody_reads_are_one_more():
    findings = Diagnostics()
    for number in range(MAX_PER_CODE + 50):
        findings.error("OAS061", f"number {number}")
    findings.error("OAS062", "another kind")
    listed = [finding.code for finding in findings]
    assert listed.count("OAS061") == MAX_PER_CODE + 1
    assert listed.count("OAS062") == 1
    assert findings.findings[MAX_PER_CODE].message == (
        f"there are more than {MAX_PER_CODE} findings of this kind"
    )
