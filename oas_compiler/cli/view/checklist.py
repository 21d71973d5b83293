"""The checklist of a context slot: the candidates, and the ticks of one person.

In: the `Selector` of a gate, then line after line that a person types.
Out: the next `Checklist`; in the end the `userResponse` envelope of the ticked refs.

    Checklist.of(selector).after("1 3")         1 and 3 are ticked
                          .after("2")           CannotTick: at most 2 may be chosen, …
                          .after("1 2")         2 and 3 are ticked
                          .envelope()           {"slotId": "brand", …, "selectedRefs": [ref, ref]}

In a slot that accumulates, unticked rows are disabled once `maxItems` rows are ticked, as
Cinatra's ContextSelector does.  A slot that overrides takes one ref: there a new number replaces
the ticked one.
No input and output here: `ask/gate_dialogue.py` reads the keyboard, `checklist_view` makes the text.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Final

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.text import Text

from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.terminal.printable_text import clean, cut
from oas_compiler.cli.view.values import Extent

if TYPE_CHECKING:
    from cinatra_sdk.context.selector import Candidate, Selector
    from cinatra_sdk.errors import ChoiceGone
    from cinatra_sdk.gates.forms.answer_form import AnswerForm


PAGE: Final = 50
"""Rows of one page."""
MAX_CELL: Final = 60
"""Characters of a name or an id in a list and in an error."""
_WHAT_TO_TYPE: Final = "type the numbers to tick or untick, or one of the letters"


class CannotTick(ValueError):
    """The typed line chooses nothing that may be chosen; the message says what to type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checklist:
    """One slot's candidates with the ticks of one person."""

    selector: Selector
    order: tuple[int, ...]
    """Position of each numbered row among the candidates: row 1 is `order[0]`."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Artifact id → its name in the run's own store, where the artifact has a name."""
    ticked: frozenset[int] = frozenset()
    """The ticked numbers, from 1."""
    page: int = 0
    words: str = ""
    """Only rows with this text are shown; rows keep their numbers."""
    gone: frozenset[int] = frozenset()
    """Numbers of rows whose artifacts went away after the list was made."""

    @classmethod
    def of(cls, selector: Selector, names: Mapping[str, str] | None = None) -> Checklist:
        """A new checklist; only preselected refs are ticked, or the refs of a choice that was
        refused.
        """
        order = tuple(position for _, positions in selector.groups for position in positions)
        before = frozenset(selector.preselected) | frozenset(selector.refused)
        ticked = (n for n, at in enumerate(order, 1) if selector.candidates[at].triple in before)
        return cls(selector=selector, order=order, names=names or {}, ticked=frozenset(ticked))

    @property
    def is_full(self) -> bool:
        """Whether the rows that are not ticked are at cap."""
        return self.selector.is_full(len(self.ticked))

    @property
    def replaces(self) -> bool:
        """Whether a new number replaces the ticked number, as with radio buttons."""
        return self.selector.rules.resolution_mode == "override"

    @property
    def missing(self) -> tuple[str, ...]:
        """Ids of artifacts of the refused choice that are no longer offered unchanged."""
        there = {one.triple for one in self.selector.candidates}
        return tuple(one.artifact_id for one in self.selector.refused if one not in there)

    def refused(self, error: ChoiceGone) -> Checklist:
        """The checklist after a choice with artifacts that are gone: these are unticked, the other
        ticks stay.
        """
        numbers = range(1, len(self.order) + 1)
        chosen = {n for n in numbers if self.candidate(n).triple in error.chosen}
        gone = {n for n in numbers if self.candidate(n).triple.artifact_id in error.artifacts}
        return replace(self, ticked=frozenset(chosen - gone), gone=self.gone | gone)

    def candidate(self, number: int) -> Candidate:
        return self.selector.candidates[self.order[number - 1]]

    def cells(self, number: int) -> tuple[str, ...]:
        """Name or id, extension, owner, and the id if there is a name, else an empty text; not
        shortened.
        """
        one = self.candidate(number)
        id_, name = one.triple.artifact_id, self._name(one)
        texts = (name or id_, one.extension, one.owner_id, id_ if name else "")
        return tuple(map(clean, texts))

    def _name(self, one: Candidate) -> str:
        """The name in the run's own store, else the platform's name."""
        return self.names.get(one.triple.artifact_id, "") or one.display_name

    def envelope(self) -> dict[str, Any]:
        """The `userResponse` that chooses the ticked refs, in the order of the list."""
        return self.selector.envelope(self.candidate(one).triple for one in sorted(self.ticked))

    def refusal(self) -> str:
        """Why the ticked refs cannot be confirmed; empty where they can."""
        from cinatra_sdk.context.selection_errors import ContextError

        try:
            self.selector.check(json.dumps(self.envelope()))
        except ContextError as error:
            return str(error)
        return ""

    # ---------------------------------------------------------------- typed lines

    def after(self, typed: str) -> Checklist:
        """The checklist after `1 3`, `2-4`, `/text`, `n` or `p`.

        Raises: `CannotTick`; then the whole line is ignored.
        """
        if typed.startswith("/"):
            return self._found(typed[1:].strip())
        if typed.lower() in {"n", "p"}:
            return self._turn_page(1 if typed.lower() == "n" else -1)
        return self._toggle_numbers(read_numbers(typed, len(self.order)))

    def _toggle_numbers(self, numbers: frozenset[int]) -> Checklist:
        gone = sorted(numbers & self.gone)
        if gone:
            raise CannotTick(f"{listed(gone)} can be chosen no more")
        # The line counts as a whole: "1 3" unticks 1 for 3 where only one row may be ticked.
        added = numbers - self.ticked
        ticked = added if self.replaces and added else self.ticked ^ numbers
        cap = self.selector.rules.cap
        if cap is None or not added or len(ticked) <= cap:
            return replace(self, ticked=ticked)
        most = f"at most {cap} may be chosen, and this would be {len(ticked)}"
        if self.ticked and not self.replaces:
            already = listed(sorted(self.ticked))
            most = f"{most}: untick one of {already} first; the same line will do"
        raise CannotTick(most)

    def _found(self, words: str) -> Checklist:
        found = replace(self, words=words, page=0)
        if not found.shown():
            raise CannotTick(f'nothing here has "{words}" in it')
        return found

    def _turn_page(self, step: int) -> Checklist:
        page = self.page + step
        if not 0 <= page < self.pages():
            raise CannotTick(f"there is no {'next' if step > 0 else 'previous'} page")
        return replace(self, page=page)

    # ------------------------------------------------------------------------ pages

    def shown(self) -> tuple[int, ...]:
        """The numbers of all rows that contain the words."""
        words = self.words.casefold()
        return tuple(
            number
            for number in range(1, len(self.order) + 1)
            if any(words in text.casefold() for text in self._texts(number))
        )

    def pages(self) -> int:
        return max(1, -(-len(self.shown()) // PAGE))

    def on_page(self) -> tuple[int, ...]:
        return self.shown()[self.page * PAGE : (self.page + 1) * PAGE]

    def _texts(self, number: int) -> tuple[str, ...]:
        return (*self.cells(number), self.candidate(number).scope)


def read_numbers(typed: str, most: int) -> frozenset[int]:
    """`1 3`, `1, 3` and `2-4` as numbers.

    Raises: `CannotTick` for anything else, and for a number that no row has.
    """
    numbers: set[int] = set()
    for part in typed.replace(",", " ").split():
        first, dash, last = part.partition("-")
        low = _parse_number(first, most)
        high = _parse_number(last, most) if dash else low
        if high < low:
            raise CannotTick(f"{low}-{high} goes backwards: type {high}-{low}")
        numbers |= set(range(low, high + 1))
    if not numbers:
        raise CannotTick(_WHAT_TO_TYPE)
    return frozenset(numbers)


def _parse_number(text: str, most: int) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise CannotTick(_WHAT_TO_TYPE)
    if most == 0:
        raise CannotTick("there is nothing to tick")
    # By length first: Python refuses to read a number of thousands of digits.
    number = int(text) if len(text) <= len(str(most)) + 3 else 0
    if not 1 <= number <= most:
        rows = "the only number is 1" if most == 1 else f"the numbers go from 1 to {most}"
        raise CannotTick(f"there is no {cut(text, 12)}: {rows}")
    return number


def listed(numbers: Sequence[int]) -> str:
    """The first names, and the number of further names."""
    told = ", ".join(str(number) for number in numbers[:20])
    return told + (f" and {len(numbers) - 20} more" if len(numbers) > 20 else "")


# ----------------------------------------------------------------------------
# A checklist as people see it.
#
# In: a `Checklist`.  Out: something rich prints, down to 40 columns.
#
#     Context for "brand": choose up to 2, at least 1
#     Team
#       [x] 1  House voice     @acme/voice-artifact   ann
#       [-] 2  Older voice     @acme/voice-artifact   ann
#     Workspace
#       [x] 3  Company facts   @acme/facts-artifact   bob
#     2 of 2 chosen; untick one to choose another
#
# A row `[-]` cannot be ticked now.  A row `[!]` can never be ticked again: its artifact went away
# after the list was made.  Where only one ref may be chosen, rows show `( )` and `(x)`, and no row is
# disabled.


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


# ----------------------------------------------------------------------------
# A context selection without a checklist: artifacts named by their ids on a command line.
#
# In: the `Selector` of a gate and the ids of `--select`.  Out: the `userResponse` envelope.
#
#     chosen_by_id(selector, ["a1f", "b2"])  ->  {"slotId": "brand", …, "selectedRefs": [ref, ref]}
#     options_for(selector)                  ->  ["--select", "a1f09c"]


_ON_THE_SCREEN: Final = frozenset(
    {
        "candidates", "plannedRefs", "selectedRefs", "slotMeta", "selector", "allocationToken",
        "refused",
    }
)  # fmt: skip
"""Values of a gate that the checklist shows, or that are not for people."""
_TOLD: Final = 10
MAX_ID: Final = 200
"""Characters of an id in a command for copying."""


def chosen_by_id(selector: Selector, ids: Sequence[str]) -> dict[str, Any]:
    """The envelope that chooses the artifacts with these ids, or with ids that begin with them.

    Raises: `CannotTick`, which names the candidates.
    """
    return selector.envelope(dict.fromkeys(_by_id(selector, id_).triple for id_ in ids))


def options_for(selector: Selector) -> list[str] | None:
    """Options of `oasflow answer` for an example that fits; None where ids cannot express the
    choice.
    """
    offered = [candidate.triple.artifact_id for candidate in selector.candidates]
    if not offered or selector.is_full(0):
        return ["--select-none"]
    times = Counter(offered)
    # A shortened or escaped id would no longer be the id.
    alone = [id_ for id_ in offered if times[id_] == 1 and cut(clean(id_), MAX_ID) == id_]
    number = max(1, selector.rules.min_items)
    chosen = [word for id_ in alone[:number] for word in ("--select", id_)]
    return chosen if len(alone) >= number else None


def options_of_form(form: AnswerForm) -> list[str] | None:
    """The same for the form of a gate; None also for a form that asks for no selection."""
    from cinatra_sdk.gates.forms.selection_form import SelectionForm

    return options_for(form.selector) if isinstance(form, SelectionForm) else None


def is_envelope(value: Any) -> bool:
    """Whether a value is a `userResponse` envelope, as an object or as its text."""
    return slot_chosen(value) is not None


def slot_chosen(value: Any) -> str | None:
    """The slot that a `userResponse` envelope, an object or its text, chooses for; else None."""
    from oas_compiler.cli.terminal.argument_values import decoded

    found = decoded(value) if isinstance(value, str) else value
    is_one = isinstance(found, Mapping) and {"slotId", "selectedRefs"} <= found.keys()
    return str(found["slotId"]) if is_one else None


def other_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a gate besides its candidates."""
    return {name: value for name, value in values.items() if name not in _ON_THE_SCREEN}


def offered_in(message: Any) -> Selector | None:
    """The candidates in a message that is only the payload of a selection gate."""
    from cinatra_sdk.context.selector import read_selector
    from oas_compiler.cli.terminal.argument_values import decoded

    payload = decoded(message) if isinstance(message, str) and '"slotMeta"' in message else None
    if not isinstance(payload, Mapping) or not payload.keys() <= _ON_THE_SCREEN:
        return None
    return read_selector(payload)


def _by_id(selector: Selector, id_: str) -> Candidate:
    offered = selector.candidates
    exact = [one for one in offered if one.triple.artifact_id == id_]
    found = exact or [one for one in offered if id_ and one.triple.artifact_id.startswith(id_)]
    if len({one.triple for one in found}) == 1:
        return found[0]
    slot = f'the slot "{clean(selector.slot_id)}"'
    given = f'"{cut(clean(id_), MAX_CELL)}"'
    if not found:
        there = f"there are {_format_candidates(offered)}" if offered else "there are none"
        raise CannotTick(f"{given} is no candidate of {slot}; {there}")
    clear = "give the envelope with --value" if exact else "write more of the id"
    raise CannotTick(
        f"{given} is {len(found)} candidates of {slot}, {_format_candidates(found)}: {clear}"
    )


def _format_candidates(candidates: Sequence[Candidate]) -> str:
    told = [
        f"{cut(clean(one.triple.artifact_id), MAX_CELL)} ({cut(clean(one.extension), MAX_CELL)})"
        for one in candidates[:_TOLD]
    ]
    more = len(candidates) - _TOLD
    return ", ".join(told) + (f" and {more} more" if more > 0 else "")
