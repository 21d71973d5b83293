"""The selection of findings: `--select OAS15,V17 --ignore OAS044`.

    Selection.of(select=["OAS15"], ignore=["unreachable-node"]).wants(finding)

A word is a code, the beginning of a code (`OAS15`), the name of a rule, or an alias; case does not
matter.  Several rules may find cases of one alias (`V25`: OAS118, and OAS080 among others):
selecting the alias selects all these rules, but ignoring it ignores only the rule that has the
alias, because the other rules find other cases too.  Ignoring wins over selecting.  Findings about
unreadable files are always selected: a run that could not read a file must not look clean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from cinatra_sdk.text.spelling import did_you_mean
from oas_compiler.catalog import all_rules, find
from oas_compiler.catalog.dependencies import DEPENDENCIES
from oas_compiler.findings.finding import Finding
from oas_compiler.findings.rules import Rule

_PREFIX: Final = re.compile(r"OAS\d{0,3}", re.IGNORECASE | re.ASCII)
_CODE: Final = re.compile(r"(?i:oas)?[-_ ]?([0-9]{1,9})")
"""A code in any spelling."""
FIRST_IGNORABLE: Final = "OAS010"
"""Smaller codes are about reading a file and cannot be ignored."""


class UnknownRule(ValueError):
    """A word that names no rule, or a rule that cannot be ignored; the message is for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The selected and the ignored codes."""

    selected: frozenset[str] | None = None
    """`None`: all codes."""
    ignored: frozenset[str] = frozenset()

    @classmethod
    def of(cls, select: Iterable[str] = (), ignore: Iterable[str] = ()) -> Selection:
        """The selection of words; a text may hold several words, separated by commas.

        Raises:
            UnknownRule: with the nearest spelling.

        """
        selected, ignored = _split_words(select), _split_words(ignore)
        for word in ignored:
            card = find(word)
            if card is not None and card not in DEPENDENCIES and card.code < FIRST_IGNORABLE:
                raise UnknownRule(f"{card.code} cannot be ignored: the file could not be read")
        return cls(
            selected=_select_codes(selected) if selected else None,
            ignored=_select_codes(ignored, all_cases=False),
        )

    def wants(self, finding: Finding) -> bool:
        if finding.code < FIRST_IGNORABLE:
            return True
        if self.selected is not None and finding.code not in self.selected:
            return False
        return finding.code not in self.ignored


def rules_called(word: str) -> tuple[Rule, ...]:
    """The rule of this code, name or alias, then those that find other cases of that alias."""
    card, folded = find(word), word.casefold()
    also = [one for one in all_rules() if folded in map(str.casefold, one.also)]
    return tuple(dict.fromkeys((*((card,) if card is not None else ()), *also)))


def begins_with(word: str) -> tuple[Rule, ...]:
    """The rules whose codes begin with this word (`OAS15`); empty where the word is not such a
    beginning.
    """
    if not _PREFIX.fullmatch(word):
        return ()
    return tuple(card for card in all_rules() if card.code.startswith(word.upper()))


def nearest_rule(word: str) -> str:
    """`did you mean "OAS044"?`, or nothing.

    A number is like many others, so that a wrong code has no nearest one.
    """
    if (number := _CODE.fullmatch(word)) is not None:
        codes = [card.code for card in all_rules() if int(card.code[3:]) == int(number[1])]
        return f'did you mean "{codes[0]}"?' if codes else ""
    known = {name.casefold(): name for card in all_rules() for name in card.names}
    return re.sub(
        r'"(.*)"', lambda found: f'"{known[found[1]]}"', did_you_mean(word.casefold(), known)
    )


def _split_words(given: Iterable[str]) -> list[str]:
    return [word for text in given for part in text.split(",") if (word := part.strip())]


def _select_codes(words: Iterable[str], *, all_cases: bool = True) -> frozenset[str]:
    """`all_cases`: also the rules that find only some cases of a name."""
    found: set[str] = set()
    for word in words:
        cards = rules_called(word) or begins_with(word)
        if not all_cases and find(word) is not None:
            cards = cards[:1]
        if not cards:
            raise UnknownRule(f'no rule is called "{word}"; {_format_rule_advice(word)}')
        if any(card in DEPENDENCIES for card in cards):
            raise UnknownRule(f'"{word}" is a rule of `oasflow deps`, which `check` does not apply')
        found |= {card.code for card in cards}
    return frozenset(found)


def _format_rule_advice(word: str) -> str:
    return nearest_rule(word) or "`oasflow rule` lists all"
