"""A check reports the scripts that it could not read.

a script of 600 kB, one that is no UTF-8, one that is no valid Python   ->   OAS187
"""

from __future__ import annotations

from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import Place


@rule(
    code="OAS187",
    name="scripts-not-read",
    severity="warning",
    summary="A script of the package was not looked at, or only in part.",
    fix="Keep scripts small, as UTF-8 text that parses, and leave out what is built.",
    source="agent guide, rules 8, 9 and 14",
    needs="package",
    also=("guide-rule-8", "guide-rule-9", "guide-rule-14"),
    bad="scripts/send.py:  def send(:",
    good="scripts/send.py:  def send():\n                      return 1",
)
def scripts_not_read(subject: Subject, report: Report) -> None:
    package = subject.agent
    if package is None:
        return
    for file in package.unread_scripts:
        _report_file(
            report,
            f"{file} was not looked at: it is no UTF-8 text, or too large",
            package.name_of(file),
        )
    for script in package.scripts:
        if script.language == "python" and not script.nodes and script.text.strip():
            why = "does not parse" if script.may_parse else "is too large to parse"
            message = f"{script.file} {why} as Python: only its imports were looked at"
            _report_file(report, message, package.name_of(script.file))
    if package.is_cut:
        message = f"only {len(package.files)} files of the package were looked at"
        _report_file(report, message, package.manifest_file)


def _report_file(report: Report, message: str, file: str) -> None:
    report(message, Place("", 1, 1), file=file)
