"""`oasflow rule`: what a rule asks for, with an example; without a name, all rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.text import Text

from oas_compiler.catalog import all_rules
from oas_compiler.cli import options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.safe import clean
from oas_compiler.cli.terminal import Terminal
from oas_compiler.findings.rules import Rule
from oas_compiler.report.rule_card import GROUPS, card_record, group_of
from oas_compiler.report.selection import begins_with, nearest_rule, rules_called

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
        cards = [card for group in GROUPS for card in _list_group_rules(group)]
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
    for group, title in GROUPS.items():
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
