"""A checklist as people see it.

In: a `Checklist`.  Out: something rich prints, down to 40 columns.

    Context for "brand": choose up to 2, at least 1
    Team
      [x] 1  House voice     @acme/voice-artifact   ann
      [-] 2  Older voice     @acme/voice-artifact   ann
    Workspace
      [x] 3  Company facts   @acme/facts-artifact   bob
    2 of 2 chosen; untick one to choose another

A row `[-]` cannot be ticked now.  A row `[!]` can never be ticked again: its artifact went away
after the list was made.  Where only one ref may be chosen, rows show `( )` and `(x)`, and no row is
disabled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from oas_compiler.cli.checklist import MAX_CELL, PAGE, Checklist, listed
from oas_compiler.cli.safe import clean
from oas_compiler.cli.values import Extent

_GAP: Final = "   "
MOST_NAMED: Final = 3
"""Withdrawn artifacts that are named one by one."""
_NARROWEST: Final = 8
"""Fewest columns of a text, in any terminal."""


def checklist_view(
    checklist: Checklist, *, asking: bool, extent: Extent | None = None
) -> RenderableType:
    """The open page; all candidates where `extent` leaves nothing out.

    asking: a person can type, and is told the possible inputs.
    """
    extent = extent or Extent()
    if extent.whole:
        checklist = replace(checklist, page=0, words="")
    parts: list[RenderableType] = [_format_heading(checklist, extent)]
    if checklist.selector.readable_only:
        words = "readable only: the slot wants artifacts that the model can read"
        parts.append(Text(words, style="cyan"))
    if checklist.missing:
        parts.append(Text(_asked_again(checklist.missing, extent), style="yellow"))
    if not checklist.order:
        words = "no artifact can be chosen"
        without = "" if checklist.refusal() else "; approving goes on without one"
        return Group(*parts, Text(words + without, style="italic"))
    numbers = checklist.shown() if extent.whole else checklist.on_page()
    return Group(
        *parts,
        *_format_rows(checklist, numbers, extent),
        *_format_footer(checklist, numbers, asking, extent),
    )


def _asked_again(missing: Sequence[str], extent: Extent) -> str:
    most = extent.most(MOST_NAMED)
    named = ", ".join(f'"{extent.cut(clean(id_), MAX_CELL)}"' for id_ in missing[:most])
    more = f" and {len(missing) - most} more" if len(missing) > most else ""
    return f"asked again: {named}{more} was chosen, and is offered no more as it was"


def how_many(at_least: int, at_most: int | None) -> str:
    """The number of refs that a slot demands, in words."""
    if at_most == 0:
        return "nothing may be chosen"
    if at_most is None:
        return f"choose at least {at_least}" if at_least else "choose any number, or none"
    if at_least == at_most:
        return "choose one" if at_most == 1 else f"choose {at_most}"
    if not at_least:
        return "choose one, or none" if at_most == 1 else f"choose up to {at_most}, or none"
    return f"choose up to {at_most}, at least {at_least}"


def _format_heading(checklist: Checklist, extent: Extent) -> Text:
    rules = checklist.selector.rules
    slot = f'"{extent.cut(clean(rules.slot_id), MAX_CELL)}"'
    return Text.assemble(
        "Context for ", (slot, "bold"), f": {how_many(rules.min_items, rules.cap)}"
    )


# ------------------------------------------------------------------------------- rows


def _format_rows(
    checklist: Checklist, numbers: Sequence[int], extent: Extent
) -> Iterator[RenderableType]:
    cells = {
        number: tuple(extent.cut(text, MAX_CELL) for text in checklist.cells(number))
        for number in numbers
    }
    columns = zip(*cells.values(), strict=True)
    widths = tuple(max(cell_len(cell) for cell in column) for column in columns)
    digits = len(str(len(checklist.order)))
    before = None
    for number in numbers:
        scope = checklist.candidate(number).scope
        if scope != before:
            yield Text(extent.cut(clean(scope), MAX_CELL).capitalize(), style="bold")
        before = scope
        mark, style = _choose_mark(checklist, number)
        yield _Row(f"  {mark} {number:>{digits}}  ", cells[number], widths, style)


def _choose_mark(checklist: Checklist, number: int) -> tuple[str, str]:
    if number in checklist.gone:
        return ("(!)" if checklist.replaces else "[!]"), "dim red"
    if number in checklist.ticked:
        return ("(x)" if checklist.replaces else "[x]"), "bold"
    if checklist.replaces:
        return "( )", ""
    return ("[-]", "dim") if checklist.is_full else ("[ ]", "")


@dataclass(frozen=True, slots=True)
class _Row:
    """One candidate: in columns if they fit, else in lines."""

    lead: str
    cells: tuple[str, ...]
    widths: tuple[int, ...]
    """Widths of the columns, the same for all rows of the page."""
    style: str

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> Iterator[Text]:
        used = [column for column, width in enumerate(self.widths) if width]
        needed = len(self.lead) + sum(self.widths[at] + len(_GAP) for at in used) - len(_GAP)
        if needed <= options.max_width:
            line = _GAP.join(set_cell_size(self.cells[at], self.widths[at]) for at in used)
            yield Text((self.lead + line).rstrip(), style=self.style)
            return
        lead = self.lead
        for at in used:
            for piece in _split_by_width(
                self.cells[at], max(_NARROWEST, options.max_width - len(lead))
            ):
                yield Text(lead + piece, style=self.style)
                lead = " " * len(lead)


def _split_by_width(text: str, width: int) -> Iterator[str]:
    while text:
        end = len(text)
        while cell_len(text[:end]) > width:
            end -= 1
        yield text[:end]
        text = text[end:]


# ----------------------------------------------------------------------------- footer


def _format_footer(
    checklist: Checklist, numbers: Sequence[int], asking: bool, extent: Extent
) -> Iterator[Text]:
    if checklist.gone:
        mark = "(!)" if checklist.replaces else "[!]"
        yield Text(f"{mark} can be chosen no more", style="dim red")
    if asking or checklist.ticked:
        yield Text(_format_chosen_count(checklist, asking), style="dim")
    hidden = sorted(checklist.ticked - set(numbers))
    if hidden:
        yield Text(f"also chosen: {listed(hidden)}", style="dim")
    shown, pages = len(checklist.shown()), 1 if extent.whole else checklist.pages()
    if checklist.words:
        found = f'{shown:,} of {len(checklist.order):,} have "{clean(checklist.words)}" in them'
        yield Text(f"{found}; / shows all", style="dim")
    if pages > 1 and asking:
        page = f"page {checklist.page + 1} of {pages}"
        yield Text(f"{page}: next [n], previous [p], find [/text]", style="dim")
    elif pages > 1:
        yield extent.more(shown - PAGE, "more")


def _format_chosen_count(checklist: Checklist, asking: bool) -> str:
    cap, chosen = checklist.selector.rules.cap, len(checklist.ticked)
    told = f"{chosen} chosen" if cap is None else f"{chosen} of {cap} chosen"
    if not (asking and chosen and checklist.is_full):
        return told
    other = "another number replaces it" if checklist.replaces else "untick one to choose another"
    return f"{told}; {other}"
