"""`oasflow check`: every finding of every file, without a network and without a database."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from oas_compiler.cli import options
from oas_compiler.cli.exits import Exit
from oas_compiler.cli.findings import exit_of_findings, finding_record, view_of_findings
from oas_compiler.cli.inputs import environment
from oas_compiler.cli.safe import clean
from oas_compiler.cli.terminal import Terminal
from oas_compiler.diagnostics import Finding
from oas_compiler.pipeline import check as findings_of


def check(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH…", help="Flow files, or folders of agents.")
    ],
    env: options.Env = None,
    as_json: options.Json = False,
) -> Exit:
    """Say everything that is wrong with flow files.

    Exit code 0: no errors (there may be warnings); 1: errors; 2: a file could not be read.
    """
    terminal = Terminal.open(as_json=as_json)
    values = environment(env or [])
    checked = [(path, list(findings_of(path, env=values))) for path in paths]
    for path, findings in checked:
        if findings:
            terminal.show(view_of_findings(findings))
        else:
            terminal.show(f"{clean(path)}: ok")
    every = [finding for _, findings in checked for finding in findings]
    terminal.data({**_counts(every), "files": [_file(*pair) for pair in checked]})
    if every and not as_json:
        counts = _counts(every)
        terminal.say(
            f"{_number(counts['errors'], 'error')} and {_number(counts['warnings'], 'warning')} "
            f"in {_number(len(checked), 'file')}"
        )
    return Exit(max((exit_of_findings(findings) for _, findings in checked), default=0))


def _file(path: str, findings: list[Finding]) -> dict[str, Any]:
    counts = _counts(findings)
    return {
        "path": path,
        "ok": not counts["errors"],
        **counts,
        "findings": [finding_record(finding) for finding in findings],
    }


def _counts(findings: list[Finding]) -> dict[str, int]:
    errors = sum(finding.severity == "error" for finding in findings)
    return {"errors": errors, "warnings": len(findings) - errors}


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'s' if count != 1 else ''}"
