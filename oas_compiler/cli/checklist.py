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
Pure: `ask` reads the keyboard, `checklist_view` shows it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from oas_compiler.cli.safe import clean, cut

if TYPE_CHECKING:
    from cinatra_sdk.context.selector import Candidate, Selector
    from cinatra_sdk.errors import ChoiceGone

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
        from cinatra_sdk.context.errors import ContextError

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
