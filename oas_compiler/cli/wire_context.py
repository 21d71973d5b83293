"""`oasflow wire-context`: FlowNode and edges for context slots that are only declared.

In: a flow file with `contextSlots`.  Out: the diff of the file and of its package.json; written
after a question, or with `--yes`.  Never at run time: what runs is what the author's file says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from oas_compiler.cli import options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.findings import view_of_findings
from oas_compiler.cli.mend import NOT_WRITTEN, Mender, written
from oas_compiler.cli.safe import clean
from oas_compiler.cli.terminal import Terminal
from oas_compiler.edit.fix.planning import FileChange
from oas_compiler.edit.unified import unified
from oas_compiler.edit.wire.dependency import RANGE, manifest_edits
from oas_compiler.edit.wire.planning import CannotWire, WirePlan, plan
from oas_compiler.edit.wire.template import node_id
from oas_compiler.findings.finding import Edit, Finding, Findings
from oas_compiler.package.package import Package, find_package
from oas_compiler.package.ranges import is_range
from oas_compiler.pipeline import check
from oas_compiler.report.diagnostics import CompileError, Diagnostics
from oas_compiler.report.json_report import record
from oas_compiler.rewriting.rewriting import CannotEdit, rewritten
from oas_compiler.rewriting.texts import is_yaml_file
from oas_compiler.text.source import Source, read_source

_OF_SLOTS = ("OAS15", "OAS16")
"""How the codes of the rules about context slots begin."""


def wire_context(
    path: options.FlowPath,
    slot: Annotated[
        str, typer.Option("--slot", metavar="ID", help="Only this slot; default: all of them.")
    ] = "",
    range: Annotated[  # noqa: A002 - the option's name
        str,
        typer.Option("--range", metavar="RANGE", help="Of the selection agent, in package.json."),
    ] = RANGE,
    yes: Annotated[bool, typer.Option("--yes", help="Write without asking.")] = False,
    as_json: options.Json = False,
) -> Exit:
    """Write the FlowNode of each context slot into the flow file: shows a diff, then asks.

    Exit code 0: written, or nothing to do; 1: not written, so that slots stay unwired, or a slot
    cannot be wired; 2: a file could not be read or written.
    """
    terminal = Terminal.open(as_json=as_json)
    if not path:
        raise Halt("PATH is empty")
    if not is_range(range):
        raise Halt(f'"{range[:80]}" is no version range; "{RANGE}" is one')
    source = _load_source(path)
    package = find_package(source.file, Findings())
    try:
        wiring = plan(source, only=slot, package_name=_read_package_name(package))
    except CannotWire as reason:
        raise Halt(str(reason), exit=Exit.FINDINGS, code="cannot_wire") from None
    changes = _make_changes(source, package, wiring, range)
    mender = Mender(terminal=terminal, yes=yes, diff_is_the_result=not as_json)
    return _Wiring(terminal, mender, source.file, wiring).go(changes)


def _load_source(path: str) -> Source:
    findings = Diagnostics()
    source = read_source(path, findings)
    if source is None:
        raise CompileError(findings)
    if is_yaml_file(source.file) or not isinstance(source.value, dict):
        raise Halt(f"{source.file} is no JSON object; wire-context changes JSON only")
    return source


def _read_package_name(package: Package | None) -> str:
    name = package.manifest.get("name") if package is not None else None
    return name if isinstance(name, str) else ""


def _make_changes(
    source: Source, package: Package | None, wiring: WirePlan, wanted: str
) -> list[FileChange]:
    """What becomes of the flow file and of package.json; files that stay are left out."""
    files: list[tuple[str, bytes, Sequence[Edit]]] = [(source.file, source.raw, wiring.edits)]
    if package is not None and package.source is not None:
        edits = manifest_edits(
            package.source, wanted, selects=wiring.root_has_slots, asks=wiring.asks
        )
        files.append((package.manifest_file, package.source.raw, edits))
    try:
        made = [
            FileChange(file=file, before=raw, after=rewritten(raw, edits))
            for file, raw, edits in files
        ]
    except CannotEdit as reason:
        raise Halt(f"the text cannot be changed: {reason}", code="cannot_wire") from None
    return [change for change in made if change.before != change.after]


@dataclass(frozen=True, slots=True)
class _Wiring:
    """One call of the command, from the changes to its exit code."""

    terminal: Terminal
    mender: Mender
    file: str
    plan: WirePlan

    def go(self, changes: Sequence[FileChange]) -> Exit:
        before, after = self._findings(changes)
        diffs = {change.file: unified(change, before, after) for change in changes}
        for lines in diffs.values():
            self.mender.show_diff(lines)
        self._refuse_worse(before, after)
        remaining = [one for one in after if one.code.startswith(_OF_SLOTS)]
        if remaining:
            self.terminal.say(view_of_findings(remaining))
        self._mention_package()
        applied, refused = False, ""
        if not changes:
            self.terminal.show("nothing to wire")
        elif self.mender.may_write(len(changes)):
            refused = written(changes)
            applied = not refused
        if refused:
            self.terminal.error(refused)
        for change in changes if applied else ():
            self.terminal.say(f"written: {clean(change.file)}")
        if applied:
            self.terminal.say("raise the version of the package: a host reads no change without")
        self._report(diffs, remaining, applied=applied, refused=refused)
        if refused:
            return Exit.USAGE
        return Exit.OK if applied or not changes else Exit.FINDINGS

    def _findings(self, changes: Sequence[FileChange]) -> tuple[list[Finding], list[Finding]]:
        before = list(check(self.file))
        unsaved = {change.file: change.after for change in changes}
        return before, list(check(self.file, unsaved=unsaved)) if changes else before

    def _refuse_worse(self, before: Sequence[Finding], after: Sequence[Finding]) -> None:
        """Errors that the file has not now are a sign that the author has to look first."""
        more = _count_errors(after) - _count_errors(before)
        codes = {code for _, code in more}
        worse = [one for one in after if one.code in codes]
        if worse:
            self.terminal.say(view_of_findings(worse))
            raise Halt(
                f"the wired flow would have errors that it has not now: "
                f"{', '.join(sorted(codes))}; nothing was written",
                exit=Exit.FINDINGS,
                code="cannot_wire",
            )

    def _mention_package(self) -> None:
        if self.plan.wired and find_package(self.file, Findings()) is None:
            self.terminal.note("there is no package.json here: add the dependency entry to it")

    def _report(
        self,
        diffs: dict[str, list[str]],
        remaining: Sequence[Finding],
        *,
        applied: bool,
        refused: str,
    ) -> None:
        document: dict[str, Any] = {
            "applied": applied,
            "slots": [
                {
                    "slot": one.slot,
                    "flow": one.flow,
                    "node": node_id(one.slot),
                    "consumers": [{"node": node, "input": port} for node, port in one.consumers],
                }
                for one in self.plan.wired
            ],
            "files": [{"file": file, "diff": "\n".join(lines)} for file, lines in diffs.items()],
            "remaining": [record(one) for one in remaining],
        }
        if refused:
            error = {"code": NOT_WRITTEN, "message": refused, "exit": int(Exit.USAGE)}
            document |= {NOT_WRITTEN: refused, "error": error}
        self.terminal.data(document)


def _count_errors(findings: Sequence[Finding]) -> Counter[tuple[str, str]]:
    # Not by place: the wiring moves lines.
    return Counter((one.file, one.code) for one in findings if one.severity == "error")
