"""`oasflow check`: every finding of every file, without a network and without a database."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any, TypeAlias

import typer
from rich.text import Text

from cinatra_sdk.data.text.message_words import did_you_mean, say_number
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.catalog import all_rules
from oas_compiler.cli.ask.fix_dialogue import NOT_WRITTEN, Mender
from oas_compiler.cli.host import options
from oas_compiler.cli.host.options import FileOptions
from oas_compiler.cli.host.resources import loading
from oas_compiler.cli.terminal.exits import Exit, Halt, error_document
from oas_compiler.cli.terminal.findings_view import UNREADABLE, exit_of_findings, view_of_findings
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.cli.terminal.streams import Terminal
from oas_compiler.edit.file_fixes import Mending
from oas_compiler.findings.finding import Finding
from oas_compiler.findings.rule import Rule
from oas_compiler.pipeline import check as findings_of
from oas_compiler.report.diagnostics import Diagnostics
from oas_compiler.report.formats import counts, github, is_fixable, record, sarif
from oas_compiler.report.rule_cards import (
    Selection,
    UnknownRule,
    begins_with,
    card_record,
    group_of,
    list_groups,
    nearest_rule,
    rules_called,
)
from oas_compiler.text.flow_files import Found, flows_of


class ReportFormat(StrEnum):
    """The format of a report."""

    text = "text"
    json = "json"
    sarif = "sarif"
    github = "github"


Select = Annotated[
    list[str] | None,
    typer.Option(
        "--select",
        metavar="RULES",
        help="Only these rules: codes, beginnings (OAS15), names, aliases or packs (guide), with commas.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="RULES", help="All rules but these; as --select."),
]


def check(  # noqa: PLR0917 - typer reads the options from the signature
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH…", help="Flow files, folders of agents, or whole trees."),
    ],
    format: Annotated[  # noqa: A002 - the option's name
        str,
        typer.Option(metavar=f"[{'|'.join(ReportFormat)}]", help="How to report; default: text."),
    ] = "",
    select: Select = None,
    ignore: Ignore = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend what is safe to mend: shows a diff, then asks.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --fix: do not ask.")] = False,
    *,
    file: FileOptions,
) -> Exit:
    """Say everything that is wrong with flow files.

    Exit code 0: no errors (there may be warnings); 1: errors; 2: a file could not be read, or
    there is no flow in a folder.
    """
    chosen = _choose_format(format.strip().lower(), as_json=file.as_json)
    terminal = Terminal.open(as_json=chosen is ReportFormat.json)
    try:
        _refuse_bad_options(paths, fix=fix, yes=yes)
        wanted = _parse_selection(select or (), ignore or ())
        run = _Run(terminal=terminal, format=chosen, selection=wanted, env=file.read_env())
        return run.check(paths, fix=fix, yes=yes)
    except Halt as halt:
        if not file.as_json:
            # As with --json: with --format json, too, an error is a document on stdout.
            terminal.data(error_document(halt.code, str(halt), halt.exit))
        raise


def _choose_format(chosen: str, *, as_json: bool) -> ReportFormat:
    if chosen and chosen not in set(ReportFormat):
        advice = did_you_mean(chosen[:80], ReportFormat) or f"there are {', '.join(ReportFormat)}"
        raise Halt(f'there is no format "{chosen[:80]}"; {advice}')
    if as_json and chosen not in {"", ReportFormat.json}:
        raise Halt("--json and --format name different formats")
    return ReportFormat.json if as_json else ReportFormat(chosen or ReportFormat.text)


def _refuse_bad_options(paths: Sequence[str], *, fix: bool, yes: bool) -> None:
    if yes and not fix:
        raise Halt("--yes goes with --fix")
    if not all(paths):
        raise Halt("a PATH is empty")


def _parse_selection(select: Sequence[str], ignore: Sequence[str]) -> Selection:
    if not all(text.strip() for text in (*select, *ignore)):
        raise Halt("--select or --ignore is empty: give the names of rules, or leave it out")
    try:
        return Selection.of(select, ignore)
    except UnknownRule as error:
        raise Halt(str(error), code="unknown_rule") from None


Same: TypeAlias = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Checked:
    file: str
    findings: list[Finding]
    """The selected findings that were not reported before."""
    known: list[Finding]
    """All findings of the file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One run over all paths."""

    terminal: Terminal
    format: ReportFormat
    selection: Selection
    env: dict[str, str]

    def check(self, paths: Sequence[str], *, fix: bool, yes: bool) -> Exit:
        found = flows_of(paths)
        fixed: dict[str, Any] = {}
        left: frozenset[Same] = frozenset()
        refused = ""
        if fix:
            shown = self.format is ReportFormat.text
            mender = Mender(terminal=self.terminal, yes=yes, diff_is_the_result=shown)
            work = Mending(env=self.env, wanted=self.selection.wants, roots=found.roots)
            fixed = {"fix": mender.mend(work, found.files)}
            refused = fixed["fix"].get(NOT_WRITTEN)
            left = frozenset(_make_finding_key(one.finding) for one in work.left_out)
        checked = self._check_files(found, left)
        for folder in found.unreadable:
            self.terminal.error(f"the folder {folder} cannot be read")
        for file in found.passed_over:
            why = "it cannot be read, or is a link that leads out of the folder, a pipe or a device"
            self.terminal.note(f"passed over: {clean(file)}: {why}")
        unreadable = dict.fromkeys((*found.unreadable, *_list_unreadable_files(checked)))
        if refused:
            # The report is still printed: the findings of the other files still hold.
            fixed |= error_document(NOT_WRITTEN, refused, Exit.USAGE)
        self._report(checked, {**fixed, "unreadable": list(unreadable)})
        codes = [exit_of_findings(one.findings) for one in checked]
        return Exit.USAGE if found.unreadable or refused else Exit(max(codes, default=0))

    def _check_files(self, found: Found, left: frozenset[Same]) -> list[_Checked]:
        """`left`: findings whose fix was tried and did not help; the fix is not offered again."""
        checked, seen = [], set[Finding]()
        for file in found.files:
            # Two flows of one package share the findings of its package.json.
            within = found.roots.get(file, "")
            known = list(findings_of(file, env=self.env, loading=loading(), within=within))
            wanted = [one for one in known if one not in seen and self.selection.wants(one)]
            seen.update(known)
            wanted = [
                replace(one, fix=()) if _make_finding_key(one) in left else one for one in wanted
            ]
            checked.append(_Checked(file, wanted, known))
        return checked

    def _report(self, checked: list[_Checked], more: dict[str, Any]) -> None:
        every = [finding for one in checked for finding in one.findings]
        match self.format:
            case ReportFormat.json:
                files = [_make_file_record(one) for one in checked]
                self.terminal.data({**counts(every), "files": files, **more})
            case ReportFormat.sarif:
                Terminal(self.terminal.out, self.terminal.err, as_json=True).data(sarif(every))
            case ReportFormat.github:
                if every:
                    self.terminal.annotate(github(every).rstrip("\n").split("\n"))
            case ReportFormat.text:
                for one in checked:
                    view = view_of_findings(one.findings, known=one.known)
                    self.terminal.show(view if one.findings else f"{clean(one.file)}: ok")
        if self.format is not ReportFormat.json and (every or len(checked) > 1):
            self.terminal.say(_format_summary(every, len(checked)))


def _make_finding_key(finding: Finding) -> Same:
    """The part of a finding that stays the same when the file around it changes."""
    return finding.file, finding.code, finding.message


def _list_unreadable_files(checked: Sequence[_Checked]) -> list[str]:
    """The named files, and files of their packages, that could not be read at all."""
    return [
        finding.file or one.file
        for one in checked
        for finding in one.known
        if finding.severity == "error" and finding.code in UNREADABLE
    ]


def _make_file_record(one: _Checked) -> dict[str, Any]:
    numbers = counts(one.findings)
    return {
        "path": one.file,
        "ok": not numbers["errors"],
        **numbers,
        "findings": [record(finding) for finding in one.findings],
    }


def _format_summary(every: list[Finding], files: int) -> str:
    if not every:
        return f"no findings in {say_number(files, 'file')}"
    errors = sum(finding.severity == "error" for finding in every)
    said = (
        f"{say_number(errors, 'error')} and {say_number(len(every) - errors, 'warning')} "
        f"in {say_number(files, 'file')}"
    )
    fixable = sum(map(is_fixable, every))
    return f"{said}; {fixable} can be fixed with --fix" if fixable else said


def tell_errors(terminal: Terminal, path: str, file: str, found: Diagnostics) -> None:
    """Say on stderr that a flow has errors of `oasflow check`.

    A flow is explained and runs even if rules beyond its structure forbid it.
    """
    errors = sum(finding.file == file for finding in found.errors)
    if errors:
        told = say_number(errors, "error")
        terminal.note(f"check finds {told} in this file (oasflow check {shlex.quote(path)})")


# ----------------------------------------------------------------------------
# `oasflow rule`: what a rule asks for, with an example; without a name, all rules.


_COLOURS = {"error": "red", "warning": "yellow"}


def rule(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[RULE]",
            help="A code, the name of a rule, or one of its aliases; default: all.",
        ),
    ] = "",
    as_json: options.Json = False,
) -> Exit:
    """Explain a rule of `oasflow check`, with example and source; or list all rules."""
    terminal = Terminal.open(as_json=as_json)
    if not name.strip():
        cards = [card for group in list_groups() for card in _list_group_rules(group)]
        terminal.data({"rules": [card_record(card) for card in cards]})
        terminal.show(Text("\n").join(_format_rule_list()))
        return Exit.OK
    called = rules_called(name.strip())
    if not called:
        raise Halt(
            f'no rule is called "{name}"; {_suggest_rule(name.strip())}', code="unknown_rule"
        )
    terminal.data({**card_record(called[0]), "others": [card.code for card in called[1:]]})
    terminal.show(Text("\n").join(_format_rule_card(called[0])))
    for card in called[1:]:
        terminal.show(f"\n{card.code} {card.name} finds other cases of {name.strip()}")
    return Exit.OK


def _suggest_rule(name: str) -> str:
    codes = [card.code for card in begins_with(name)]
    if not codes:
        return nearest_rule(name) or "`oasflow rule` lists all"
    shown = ", ".join(codes[:10]) + (", …" if len(codes) > 10 else "")
    return f"it is the beginning of {shown}"


def _list_group_rules(group: str) -> list[Rule]:
    return [card for card in all_rules() if group_of(card) == group]


def _format_rule_list() -> Iterator[Text]:
    widest = max((len(card.name) for card in all_rules()), default=0)
    for group, title in list_groups().items():
        cards = _list_group_rules(group)
        if cards:
            yield Text(title, "bold")
        for card in cards:
            yield Text.assemble(
                f"  {card.code}  ",
                (f"{card.severity:7}", _COLOURS[card.severity]),
                f"  {card.name:{widest}}  ",
                (", ".join(card.aliases[:1]), "dim"),
            )
        if cards:
            yield Text("")
    yield Text("oasflow rule CODE explains one of them")


def _format_rule_card(card: Rule) -> Iterator[Text]:
    colour = f"bold {_COLOURS[card.severity]}"
    yield Text.assemble((f"{card.code} {card.name}", "bold"), "  ", (card.severity, colour))
    yield Text(card.summary)
    yield Text("")
    yield _format_row("fix", card.fix)
    mends = "mends what is safe to mend" if card.fixable else "cannot mend it"
    yield _format_row("--fix", mends)
    yield _format_row("source", card.source)
    if card.aliases:
        yield _format_row("also called", ", ".join(card.aliases))
    if card.also:
        yield _format_row("also finds", f"cases of {', '.join(card.also)}")
    for title, text in (("bad", card.bad), ("good", card.good)):
        if text:
            yield Text("")
            yield Text(title, "bold red" if title == "bad" else "bold green")
            yield Text("\n").join(Text(f"    {clean(line)}") for line in text.split("\n"))


def _format_row(title: str, text: str) -> Text:
    return Text.assemble((f"{title:12}", "bold"), clean(text))
