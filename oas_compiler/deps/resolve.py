"""Resolves each declared child agent to its package, with findings.

In: a package folder (or a folder with many), and the folders to take child agents from.
Out: `Resolution`: the links, and a finding for every unresolved child agent.

    @x/a 1.0.0  wants @x/b ^1.0.0;  there are @x/b 1.2.0, 1.3.0-rc.1 and 2.0.0
        ->  Link(dependent=@x/a@1.0.0, wanted=@x/b ^1.0.0, chosen=@x/b@1.2.0)

Nothing is downloaded or installed: a child agent is one that is already on disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Literal

from oas_compiler.deps.copies import different_copies
from oas_compiler.deps.flaws import cycles, doubles, flaws_of, used_undeclared
from oas_compiler.deps.packages import AgentPackage, Shelf, open_package, stock
from oas_compiler.findings.finding import Findings
from oas_compiler.ir import JsonValue
from oas_compiler.package.declared import WantedChild
from oas_compiler.package.ranges import in_order, refusal, satisfies
from oas_compiler.report.json_report import json_report
from oas_compiler.text.files import (
    explain_unreachable,
    has_manifest,
    require_no_link_out,
    shown_name,
)

Status = Literal["ok", "missing", "mismatch", "invalid"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Link:
    """One declared child agent and the package that it resolves to."""

    dependent: AgentPackage
    wanted: WantedChild
    chosen: AgentPackage | None
    """`None` unless the status is `ok`."""
    status: Status
    versions: tuple[str, ...]
    """The versions that exist, lowest first."""

    def to_json(self) -> dict[str, JsonValue]:
        chosen = self.chosen
        return {
            "name": self.wanted.name,
            "range": self.wanted.range,
            "optional": self.wanted.optional,
            "status": self.status,
            "version": chosen.version if chosen else None,
            "path": chosen.folder.as_posix() if chosen else None,
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class Resolution:
    """The child agents of some packages, and their child agents in turn."""

    folder: Path
    """The package, or the folder with many."""
    roots: tuple[AgentPackage, ...]
    """The packages that were asked about."""
    links: tuple[Link, ...]
    """Of every package that can be reached from the roots, in that order."""
    findings: Findings

    @cached_property
    def by_dependent(self) -> Mapping[AgentPackage, tuple[Link, ...]]:
        """The links of each package; empty for a package without child agents."""
        found: dict[AgentPackage, list[Link]] = {}
        for link in self.links:
            found.setdefault(link.dependent, []).append(link)
        return {package: tuple(links) for package, links in found.items()}

    @cached_property
    def packages(self) -> tuple[AgentPackage, ...]:
        """The roots, then every package that was chosen; each once."""
        chosen = (link.chosen for link in self.links if link.chosen is not None)
        return tuple(dict.fromkeys((*self.roots, *chosen)))

    def to_json(self) -> dict[str, JsonValue]:
        """`{"packages": […], "errors": 0, "warnings": 0, "findings": […]}`, ready for JSON."""
        return {"packages": [*self._described()], **json_report(self.findings.findings)}

    def _described(self) -> Iterator[dict[str, JsonValue]]:
        for package in self.packages:
            links: list[JsonValue] = [link.to_json() for link in self.by_dependent.get(package, ())]
            yield {
                "name": package.name,
                "version": package.version,
                "path": package.folder.as_posix(),
                "root": package in self.roots,
                "dependencies": links,
            }


def resolve(
    path: str | os.PathLike[str], *, roots: Sequence[str | os.PathLike[str]] = ()
) -> Resolution:
    """Resolve the child agents of the package at `path`; never raises.

    Args:
        path: a package folder, a file in it (its flow, its package.json), or a folder with many
            packages, which are then all resolved.
        roots: folders to take child agents from; default the folder around the package, or the
            folder with many packages itself.

    """
    findings = Findings()
    given = Path(path)
    try:
        return _resolve_packages(given, [Path(root) for root in roots], findings)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not a file name"
        _report_unreadable(given, f"cannot read {given}: {why}", findings)
        return Resolution(folder=given, roots=(), links=(), findings=findings)


def _resolve_packages(given: Path, roots: Sequence[Path], findings: Findings) -> Resolution:
    folder, package = _find_subject(given, findings)
    for root in roots:
        why = explain_unreachable(root)
        if why or not root.is_dir():
            why = why or "it is not a folder"
            _report_unreadable(root, f"cannot read {shown_name(str(root))}: {why}", findings)
    if findings.errors or folder is None:
        return Resolution(folder=given, roots=(), links=(), findings=findings)
    around = Path(os.path.normpath(folder / "..")) if package else folder
    shelf = stock([*(roots or [around]), folder], findings)
    if package is None:
        subjects = shelf.packages if not roots else _select_packages_below(folder, shelf)
    else:
        own = shelf.at(folder)
        subjects = (own,) if own is not None else ()
    if not subjects:
        hint = 'an agent package has a package.json with a "cinatra" object'
        _report_unreadable(given, f"{given} holds no agent package", findings, hint)
    return _build_closure(folder, subjects, shelf, findings)


def _report_unreadable(path: Path, message: str, findings: Findings, hint: str = "") -> None:
    own = Findings()
    own.error("OAS001", message, hint=hint)
    findings.findings += [finding.in_file(str(path)) for finding in own]


def _find_subject(given: Path, findings: Findings) -> tuple[Path | None, AgentPackage | None]:
    """The package folder with its package; for a folder with many the folder alone."""
    if why := explain_unreachable(given):
        _report_unreadable(given, f"cannot read {shown_name(str(given))}: {why}", findings)
        return None, None
    if given.is_dir():
        require_no_link_out(given)
    start = given if given.is_dir() else given.parent
    candidates = [start]
    if start.absolute().name == "cinatra":
        candidates.append(Path(os.path.normpath(start / "..")))
    for folder in candidates:
        if has_manifest(folder):
            package = open_package(folder, findings)
            if package is not None or findings.errors:
                return folder, package
    return start, None


def _select_packages_below(folder: Path, shelf: Shelf) -> tuple[AgentPackage, ...]:
    real = folder.resolve()
    return tuple(one for one in shelf.packages if one.folder.resolve().is_relative_to(real))


def _build_closure(
    folder: Path, subjects: tuple[AgentPackage, ...], shelf: Shelf, findings: Findings
) -> Resolution:
    links: list[Link] = []
    waiting = list(subjects)
    seen = set(waiting)
    for package in waiting:  # grows while it is walked: breadth first
        for asked in package.wanted:
            link = _resolve_link(package, asked, shelf, findings)
            links.append(link)
            if link.chosen is not None and link.chosen not in seen:
                seen.add(link.chosen)
                waiting.append(link.chosen)
    following = {
        package: [link.chosen for link in group if link.chosen is not None]
        for package, group in _group_links(links)
    }
    for package in waiting:
        flaws_of(package, findings)
        used_undeclared(package, findings)
        different_copies(package, following.get(package, ()), findings)
    doubles((link.chosen for link in links if link.chosen is not None), shelf, findings)
    cycles(subjects, following, findings)
    return Resolution(folder=folder, roots=subjects, links=tuple(links), findings=findings)


def _group_links(links: Iterable[Link]) -> Iterator[tuple[AgentPackage, list[Link]]]:
    found: dict[AgentPackage, list[Link]] = {}
    for link in links:
        found.setdefault(link.dependent, []).append(link)
    yield from found.items()


def _resolve_link(
    package: AgentPackage, asked: WantedChild, shelf: Shelf, findings: Findings
) -> Link:
    present = shelf.by_name.get(asked.name, ())
    versions = in_order({one.version for one in present if one.version})

    def link(status: Status, chosen: AgentPackage | None = None) -> Link:
        return Link(
            dependent=package,
            wanted=asked,
            chosen=chosen,
            status=status,
            versions=tuple(versions),
        )

    why = refusal(asked.range)
    if why:
        _report_range(package, asked, why, findings)
        return link("invalid")
    if not present:
        if not asked.optional:
            _report_missing(package, asked, shelf, findings)
        return link("missing")
    fitting = [version for version in versions if satisfies(version, asked.text)]
    if not fitting:
        _report_mismatch(package, asked, versions, findings)
        return link("mismatch")
    return link("ok", next(one for one in present if one.version == fitting[-1]))


def _report_range(package: AgentPackage, asked: WantedChild, why: str, findings: Findings) -> None:
    shown = f'"{asked.text[:80]}"' if isinstance(asked.range, str) else "what is given"
    findings.findings.append(
        package.finding(
            "DEP005",
            f'the range of "{asked.name}" is not one: {shown} is {why}',
            asked.pointer,
            hint='write a version range such as "^1.2.0"',
        )
    )


def _report_missing(
    package: AgentPackage, asked: WantedChild, shelf: Shelf, findings: Findings
) -> None:
    findings.findings.append(
        package.finding(
            "DEP001",
            f'the child agent "{asked.name}" ({asked.text}) is not in any folder looked at',
            asked.pointer,
            hint=_suggest_name(asked.name, shelf) or "name the folder it is in with --root",
        )
    )


def _suggest_name(name: str, shelf: Shelf) -> str:
    """Names of agents are much alike: only what is probably a slip is offered."""
    known = {known.rpartition("/")[2]: known for known in shelf.by_name if known}
    close = get_close_matches(name.rpartition("/")[2], sorted(known)[:2_000], n=1, cutoff=0.92)
    return f'did you mean "{known[close[0]]}"?' if close else ""


def _report_mismatch(
    package: AgentPackage, asked: WantedChild, versions: Sequence[str], findings: Findings
) -> None:
    there = ", ".join(versions) or "none that can be read"
    # The same numbers without the prerelease would fit: then the range only fails to name it.
    unasked = [v for v in versions if "-" in v and satisfies(v.partition("-")[0], asked.text)]
    hint = f"{unasked[-1]} is a prerelease: a range admits it only by naming it" if unasked else ""
    findings.findings.append(
        package.finding(
            "DEP011" if asked.optional else "DEP002",
            f'no version of "{asked.name}" is in the range {asked.text or "(empty)"}; there is {there}',
            asked.pointer,
            hint=hint,
            severity="warning" if asked.optional else "error",
        )
    )
