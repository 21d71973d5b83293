"""Problems of packages that depend on each other, other than a missing child.

In: packages and who follows whom.  Out: findings.

    a wants b, b wants a                              ->  DEP003  @x/a@1.0.0 → @x/b@1.0.0 → @x/a@1.0.0
    @x/b 1.0.0 is taken and in two folders            ->  DEP004
    a FlowNode with packageName "@x/c", no entry      ->  DEP006
    map and list name two ranges for one child        ->  DEP007
    "version": "1.0"                                  ->  DEP008
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from oas_compiler.checks.subject import Subject
from oas_compiler.deps.packages import AgentPackage, Shelf
from oas_compiler.document.scope import Document
from oas_compiler.findings.finding import Finding, Findings
from oas_compiler.package.ranges import is_version
from oas_compiler.text.source import read_source

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
