"""`oasflow deps`: resolves each child agent to its package, and writes or checks the lock file.

In: a `Resolution`.  Out: a line per child agent, or their tree; then the findings.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text
from rich.tree import Tree

from oas_compiler.cli import options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.findings import exit_of_findings, view_of_findings
from oas_compiler.cli.safe import clean, cut
from oas_compiler.cli.terminal import Terminal
from oas_compiler.deps import Link, Resolution, resolve
from oas_compiler.deps.lock import lock_of, lock_path, verify_lock, write_lock
from oas_compiler.deps.packages import AgentPackage
from oas_compiler.findings.finding import Finding
from oas_compiler.report.json_report import json_report

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
