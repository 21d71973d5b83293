"""Resolves each declared child agent to its package, with findings.

In: a package folder (or a folder with many), and the folders to take child agents from.
Out: `Resolution`: the links, and a finding for every unresolved child agent.

    @x/a 1.0.0  wants @x/b ^1.0.0;  there are @x/b 1.2.0, 1.3.0-rc.1 and 2.0.0
        ->  Link(dependent=@x/a@1.0.0, wanted=@x/b ^1.0.0, chosen=@x/b@1.2.0)

Nothing is downloaded or installed: a child agent is one that is already on disk.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Literal

from cinatra_sdk.data.ports import REFERENCE
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.deps.agent_packages import AgentPackage, Shelf, open_package, stock
from oas_compiler.document.scope import DEFINITIONS, Document
from oas_compiler.findings.finding import Finding, Findings
from oas_compiler.ir import JsonValue
from oas_compiler.package.dependencies import WantedChild, in_order, is_version, refusal, satisfies
from oas_compiler.report.formats import json_report
from oas_compiler.text.file_access import (
    explain_unreachable,
    has_manifest,
    require_no_link_out,
    shown_name,
)
from oas_compiler.text.marks import child
from oas_compiler.text.source import read_source

# ----------------------------------------------------------------------------
# Problems of packages that depend on each other, other than a missing child.
#
# In: packages and who follows whom.  Out: findings.
#
#     a wants b, b wants a                              ->  DEP003  @x/a@1.0.0 → @x/b@1.0.0 → @x/a@1.0.0
#     @x/b 1.0.0 is taken and in two folders            ->  DEP004
#     a FlowNode with packageName "@x/c", no entry      ->  DEP006
#     map and list name two ranges for one child        ->  DEP007
#     "version": "1.0"                                  ->  DEP008


_CHILD_TYPES = ("FlowNode", "AgentNode", "A2AAgent")
MAX_FOLDERS_TOLD = 5
"""Folders of one package that a finding names."""
MAX_CYCLES = 100
"""Circles that are reported; a tree of hundreds of packages can have any number."""


def flaws_of(package: AgentPackage, findings: Findings) -> None:
    """Report a name or version that cannot be used, and ranges that contradict each other."""
    if not package.name:
        findings.findings.append(
            package.finding("DEP008", f"the package in {package.folder} has no name", "")
        )
    elif not is_version(package.version):
        said = f'"{package.version}" is no version' if package.version else "there is no version"
        findings.findings.append(
            package.finding(
                "DEP008",
                f'{said} of "{package.name}": no range can admit it',
                "/version",
                hint='a version has three numbers, as in "1.2.0"',
            )
        )
    for asked in package.wanted:
        if asked.other_range is not None:
            findings.findings.append(
                package.finding(
                    "DEP007",
                    f'agentDependencies wants "{asked.name}" {_quote_text(asked.range)}, '
                    f"dependencies wants {_quote_text(asked.other_range)}; the first counts",
                    asked.pointer,
                    hint="give both the same range",
                    severity="warning",
                )
            )


def used_undeclared(package: AgentPackage, findings: Findings) -> None:
    """Report child agents that the flow runs and package.json does not declare."""
    if package.flow_file is None:
        return
    declared = {asked.name for asked in package.wanted} | {package.name}
    source = read_source(package.flow_file, Findings())  # `check` says what is wrong with it
    if source is None:
        return
    subject = Subject(document=Document(source, source.value, Findings()))
    reported: set[str] = set()
    for node in subject.of_type(*_CHILD_TYPES):
        name = node.cinatra.get("packageName")
        if isinstance(name, str) and name and name not in declared | reported:
            reported.add(name)
            findings.findings.append(
                Finding(
                    code="DEP006",
                    severity="error",
                    message=f'{node.label} runs "{name}", which package.json does not declare',
                    place=source.place(node.at("metadata", "cinatra", "packageName")),
                    hint=f'add "{name}" with a version range to cinatra.agentDependencies',
                    file=source.file,
                )
            )


def doubles(chosen: Iterable[AgentPackage], shelf: Shelf, findings: Findings) -> None:
    """Report child agents that exist more than once: chance would decide which of them runs.

    One finding for each, with any number of copies; packages that no link uses may exist several
    times.
    """
    for package in dict.fromkeys(chosen):
        others = [
            str(one.folder)
            for one in shelf.by_name.get(package.name, ())
            if one.version == package.version and one is not package
        ]
        if others:
            more = f" and {len(others) - MAX_FOLDERS_TOLD} more" * (len(others) > MAX_FOLDERS_TOLD)
            often = "twice" if len(others) == 1 else f"{len(others) + 1} times"
            findings.findings.append(
                package.finding(
                    "DEP004",
                    f"{package.label} is there {often}, in {package.folder} and in "
                    f"{', '.join(others[:MAX_FOLDERS_TOLD])}{more}",
                    "/name",
                    hint="remove all but one, or give them different versions",
                )
            )


def cycles(
    roots: Iterable[AgentPackage],
    following: Mapping[AgentPackage, Sequence[AgentPackage]],
    findings: Findings,
) -> None:
    """Report packages that need each other in a circle, each circle once."""
    for circle in islice(_find_cycles(roots, following), MAX_CYCLES):
        way = " → ".join(package.label for package in (*circle, circle[0]))
        asked = next((one for one in circle[-1].wanted if one.name == circle[0].name), None)
        findings.findings.append(
            circle[-1].finding(
                "DEP003",
                f"agents need each other in a circle: {way}",
                asked.pointer if asked else "",
            )
        )


def _find_cycles(
    roots: Iterable[AgentPackage], following: Mapping[AgentPackage, Sequence[AgentPackage]]
) -> Iterator[list[AgentPackage]]:
    """One circle per edge that leads back, by a walk in depth without recursion."""
    done: set[AgentPackage] = set()
    for root in roots:
        if root in done:
            continue
        way = [root]
        position = {root: 0}
        waiting = [iter(following.get(root, ()))]
        while waiting:
            package = next(waiting[-1], None)
            if package is None:
                waiting.pop()
                last = way.pop()
                del position[last]
                done.add(last)
            elif package in position:
                yield way[position[package] :]
            elif package not in done:
                position[package] = len(way)
                way.append(package)
                waiting.append(iter(following.get(package, ())))


def _quote_text(value: object) -> str:
    return f'"{value[:80]}"' if isinstance(value, str) else "something that is no text"


# ----------------------------------------------------------------------------
# Whether a flow's copy of a child agent still equals the flow in the child's package.
#
#     FlowNode {"packageName": "@x/mail"} over a subflow without the gate that @x/mail has   ->  DEP012
#
# The comparison covers everything visible from outside: gates with their screens and risk classes,
# calls with their tools, addresses and risk classes, and the outputs.  Ids, names and texts may
# differ. Inputs may differ too, because the parent decides the run of an embedded trigger (agent
# guide, rule 15).


_MOST_NAMED = 3


def different_copies(
    package: AgentPackage, children: Iterable[AgentPackage], findings: Findings
) -> None:
    """Report each FlowNode whose subflow is no copy of the child agent that it names."""
    subject = _load_subject(package)
    if subject is None:
        return
    by_name = {one.name: one for one in children}
    for node in subject.of_type("FlowNode"):
        copy = _find_subflow(subject, node)
        named = node.cinatra.get("packageName") or (copy.cinatra.get("packageName") if copy else "")
        theirs = by_name.get(named) if isinstance(named, str) else None
        original = _load_subject(theirs) if theirs is not None else None
        if copy is None or theirs is None or original is None or original.root is None:
            continue
        difference = _describe_difference(
            _count_parts(subject, copy), _count_parts(original, original.root)
        )
        if difference:
            findings.findings.append(
                Finding(
                    code="DEP012",
                    severity="warning",
                    message=f"{node.label} holds a copy that differs from {theirs.label}: {difference}",
                    place=subject.place(copy.pointer),
                    hint="copy the flow of the package anew, or give the changed one a name of its own",
                    file=subject.document.source.file,
                )
            )


def _load_subject(package: AgentPackage) -> Subject | None:
    if package.flow_file is None:
        return None
    source = read_source(package.flow_file, Findings())  # `check` says what is wrong with it
    if source is None:
        return None
    return Subject(document=Document(source, source.value, Findings()))


def _find_subflow(subject: Subject, node: Written) -> Written | None:
    value = node.value.get("subflow")
    name = value.get(REFERENCE) if isinstance(value, dict) else None
    wanted = (
        child(f"{node.flow}/{DEFINITIONS}", name) if isinstance(name, str) else node.at("subflow")
    )
    return next((one for one in subject.of_type("Flow") if one.pointer == wanted), None)


def _count_parts(subject: Subject, flow: Written) -> Counter[str]:
    """What stands directly in a flow, in words."""
    found = Counter(f'the output "{title[:80]}"' for title in flow.titles("outputs"))
    for node in subject.of_type("InputMessageNode", "ApiNode", "ToolNode"):
        if node.flow == flow.pointer:
            found.update(_describe_node(node))
    return found


def _describe_node(node: Written) -> Iterator[str]:
    risk = node.cinatra.get("riskClass")
    of_class = f" ({risk[:80]})" if isinstance(risk, str) and risk else ""
    if node.type == "InputMessageNode":
        screen = node.cinatra.get("renderer")
        yield (
            f'a gate with the screen "{screen[:120]}"{of_class}'
            if isinstance(screen, str)
            else f"a gate{of_class}"
        )
        return
    data = node.value.get("data")
    tool = data.get("tool") if isinstance(data, dict) else None
    called = tool if isinstance(tool, str) else _strip_credentials(node.text("url")) or node.type
    yield f'a call of "{called[:120]}"{of_class}'


def _strip_credentials(url: str) -> str:
    """Without user, password and query, which may be credentials."""
    return url.partition("?")[0].rpartition("@")[2]


def _describe_difference(copy: Counter[str], original: Counter[str]) -> str:
    lacks, has = list((original - copy).elements()), list((copy - original).elements())
    said = [f"it lacks {_join_parts(lacks)}"] if lacks else []
    said += [f"it has {_join_parts(has)}"] if has else []
    return ", and ".join(said)


def _join_parts(parts: list[str]) -> str:
    more = len(parts) - _MOST_NAMED
    return ", ".join(parts[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


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
