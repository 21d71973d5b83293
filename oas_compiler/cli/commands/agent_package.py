"""`oasflow deps`: the package of each child agent, and the lock file; `oasflow wire-context`.

In: a `Resolution`.  Out: a line per child agent, or their tree; then the findings.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text
from rich.tree import Tree

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.ask.fix_dialogue import NOT_WRITTEN, Mender
from oas_compiler.cli.host import options
from oas_compiler.cli.terminal.exits import Exit, Halt, error_document
from oas_compiler.cli.terminal.findings_view import exit_of_findings, view_of_findings
from oas_compiler.cli.terminal.printable_text import clean, cut
from oas_compiler.cli.terminal.streams import Terminal
from oas_compiler.deps import Link, Resolution, resolve
from oas_compiler.deps.agent_packages import AgentPackage
from oas_compiler.deps.lock import lock_of, lock_path, verify_lock, write_lock
from oas_compiler.edit.file_fixes import FileChange, unified
from oas_compiler.edit.slot_flow import node_id
from oas_compiler.edit.slot_wires import RANGE, CannotWire, WirePlan, manifest_edits, plan_wiring
from oas_compiler.findings.finding import Edit, Finding, Findings
from oas_compiler.package.dependencies import is_range
from oas_compiler.package.package import Package, find_package
from oas_compiler.pipeline import check
from oas_compiler.report.diagnostics import CompileError, Diagnostics
from oas_compiler.report.formats import json_report, record
from oas_compiler.text.source import Source, read_source
from oas_compiler.text_edits.editable_text import is_yaml_file
from oas_compiler.text_edits.json_edits import CannotEdit, rewritten

MAX_TREE_DEPTH = 32
_STYLES = {"ok": "green", "missing": "bold red", "mismatch": "bold red", "invalid": "bold red"}


def deps(  # noqa: PLR0917 - typer reads the options from the signature
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="The folder of an agent, or one with many.")
    ],
    tree: Annotated[
        bool, typer.Option("--tree", help="Show the child agents of child agents too.")
    ] = False,
    lock: Annotated[
        bool, typer.Option("--lock", help="Write oasflow-lock.json, or compare with the one there.")
    ] = False,
    update: Annotated[
        bool, typer.Option("--update", help="With --lock: write it anew where it differs.")
    ] = False,
    root: Annotated[
        list[str] | None,
        typer.Option(metavar="DIR", help="Take child agents from here; may be repeated."),
    ] = None,
    as_json: options.Json = False,
) -> Exit:
    """Resolve the child agents of a package over a tree of packages.

    Exit code 0: all are there; 1: findings, or the lock file differs; 2: nothing could be read.
    """
    terminal = Terminal.open(as_json=as_json)
    if update and not lock:
        raise Halt("--update goes with --lock")
    resolution = resolve(path, roots=root or [])
    findings = list(resolution.findings)
    record: dict[str, Any] = {}
    if lock:
        record, more = _update_lock_file(resolution, update=update)
        findings += more
    for package in resolution.roots:
        terminal.show(
            _build_tree(resolution, package) if tree else _format_list(resolution, package)
        )
    if findings:
        terminal.show(view_of_findings(findings))
    if record.get("note"):
        terminal.say(clean(record["note"]))
    if as_json:
        every = json_report(findings)
        terminal.data({**resolution.to_json(), **every, **({"lock": record} if lock else {})})
    return Exit(exit_of_findings(findings))


# ------------------------------------------------------------------------ lock file


def _update_lock_file(
    resolution: Resolution, *, update: bool
) -> tuple[dict[str, Any], list[Finding]]:
    """Update or compare the lock file; returns the outcome and the differences."""
    path = lock_path(resolution)
    record: dict[str, Any] = {"file": path.as_posix(), "written": False}
    if resolution.findings.errors:
        return {**record, "note": "no lock file is written while there are errors"}, []
    made = lock_of(resolution)
    differences = list(verify_lock(path, made)) if path.exists() else []
    if path.exists() and not update:
        note = "" if differences else f"{path} is up to date"
        return {**record, "note": note}, differences
    if differences or not path.exists():
        write_lock(path, made)
        changed = [finding.message for finding in differences]
        return {**record, "written": True, "changes": changed, "note": f"written: {path}"}, []
    return {**record, "note": f"{path} is up to date"}, []


# ------------------------------------------------------------------------ output


def _format_list(resolution: Resolution, package: AgentPackage) -> Text:
    """The package, and one line per child agent."""
    links = resolution.by_dependent.get(package, ())
    view = _format_title(package)
    if not links:
        view.append("  no child agents", "dim")
        return view
    name = max(len(_format_name(link)) for link in links)
    asked = max(len(_format_range(link)) for link in links)
    for link in links:
        line = Text.assemble("\n  ", (_format_name(link).ljust(name), "bold"), "  ")
        line.append(_format_range(link).ljust(asked), "cyan")
        line.append("  ")
        line.append_text(_format_outcome(link))
        if link.chosen is not None:
            line.append(f"  {clean(_format_relative_folder(link.chosen, package))}", "dim")
        view.append_text(line)
    return view


def _build_tree(resolution: Resolution, package: AgentPackage) -> Tree:
    """The package with its nested child agents; children that were shown before are not
    repeated.
    """
    shown: set[AgentPackage] = {package}
    top = Tree(_format_title(package), guide_style="dim")

    def grow(branch: Tree, of: AgentPackage, around: tuple[AgentPackage, ...]) -> None:
        for link in resolution.by_dependent.get(of, ()):
            line = Text.assemble(
                (_format_name(link), "bold"), " ", (_format_range(link), "cyan"), " "
            )
            line.append_text(_format_outcome(link))
            chosen = link.chosen
            if chosen is None:
                branch.add(line)
            elif chosen in around:
                branch.add(line.append("  (circle)", "bold red"))
            elif chosen in shown or len(around) >= MAX_TREE_DEPTH:
                more = bool(resolution.by_dependent.get(chosen))
                branch.add(line.append("  (above)" if more else "", "dim"))
            else:
                shown.add(chosen)
                grow(branch.add(line), chosen, (*around, chosen))

    grow(top, package, (package,))
    return top


def _format_title(package: AgentPackage) -> Text:
    named = clean(package.name or str(package.folder))
    return Text.assemble((named, "bold"), f" {clean(package.version)}")


def _format_name(link: Link) -> str:
    return cut(clean(link.wanted.name), 80)


def _format_range(link: Link) -> str:
    return cut(clean(link.wanted.text), 40) or '""'


def _format_outcome(link: Link) -> Text:
    if link.chosen is not None:
        return Text.assemble("→ ", (clean(link.chosen.version), _STYLES["ok"]))
    if link.wanted.optional and link.status == "missing":
        return Text("not there, and not needed", "dim")
    words = {"missing": "missing", "mismatch": "no such version", "invalid": "not a range"}
    there = f" (there is {', '.join(clean(v) for v in link.versions)})" if link.versions else ""
    return Text.assemble((words[link.status], _STYLES[link.status]), there)


def _format_relative_folder(package: AgentPackage, seen_from: AgentPackage) -> str:
    """The folder, relative to the package that needs it."""
    try:
        relative = os.path.relpath(package.folder.resolve(), seen_from.folder.resolve())
    except (OSError, ValueError):
        return package.folder.as_posix()
    return Path(relative).as_posix()


# ----------------------------------------------------------------------------
# `oasflow wire-context`: FlowNode and edges for context slots that are only declared.
#
# In: a flow file with `contextSlots`.  Out: the diff of the file and of its package.json; written
# after a question, or with `--yes`.  Never at run time: a run follows the author's file.


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
        wiring = plan_wiring(source, only=slot, package_name=_read_package_name(package))
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
        else:
            applied, refused = self.mender.write(changes)
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
            document |= {NOT_WRITTEN: refused, **error_document(NOT_WRITTEN, refused, Exit.USAGE)}
        self.terminal.data(document)


def _count_errors(findings: Sequence[Finding]) -> Counter[tuple[str, str]]:
    # Not by place: the wiring moves lines.
    return Counter((one.file, one.code) for one in findings if one.severity == "error")
