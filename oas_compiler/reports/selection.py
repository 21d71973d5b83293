"""Which findings are wanted: `--select OAS15,V17 --ignore OAS044`.

    Selection.of(select=["OAS15"], ignore=["unreachable-node"]).wants(finding)

A word is a code, the beginning of one (`OAS15`), the name of a rule, or one of its aliases; case
does not matter.  What is ignored is ignored, selected or not.  Findings that say that a file could
not be read are always wanted: a run that was blind to a file must not look like a clean one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from oas_compiler.catalog import all_rules, find
from oas_compiler.diagnostics import Finding, did_you_mean

_PREFIX: Final = re.compile(r"OAS\d{0,3}", re.IGNORECASE)
FIRST_IGNORABLE: Final = "OAS010"
"""Codes below are about reading a file at all."""


class UnknownRule(ValueError):
    """A word that names no rule, or one that cannot be ignored; the message is for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The codes that were asked for."""

    selected: frozenset[str] | None = None
    """`None`: all."""
    ignored: frozenset[str] = frozenset()

    @classmethod
    def of(cls, select: Iterable[str] = (), ignore: Iterable[str] = ()) -> Selection:
        """From words, several of which may stand in one text, separated by commas.

        Raises:
            UnknownRule: with the nearest spelling.

        """
        selected, ignored = _words(select), _words(ignore)
        for word in ignored:
            card = find(word)
            if card is not None and card.code < FIRST_IGNORABLE:
                raise UnknownRule(f"{card.code} cannot be ignored: the file could not be read")
        return cls(
            selected=_codes(selected) if selected else None,
            ignored=_codes(ignored),
        )

    def wants(self, finding: Finding) -> bool:
        if finding.code < FIRST_IGNORABLE:
            return True
        if self.selected is not None and finding.code not in self.selected:
            return False
        return finding.code not in self.ignored


def nearest_rule(word: str) -> str:
    """`did you mean "OAS044"?`, or nothing."""
    known = {name.casefold(): name for card in all_rules() for name in card.names}
    return re.sub(
        r'"(.*)"', lambda found: f'"{known[found[1]]}"', did_you_mean(word.casefold(), known)
    )


def _words(given: Iterable[str]) -> list[str]:
    return [word for text in given for part in text.split(",") if (word := part.strip())]


def _codes(words: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    for word in words:
        card = find(word)
        codes = {card.code} if card is not None else _beginning_with(word)
        if not codes:
            raise UnknownRule(f'no rule is called "{word}"; {_advice(word)}')
        found |= codes
    return frozenset(found)


def _beginning_with(word: str) -> set[str]:
    if not _PREFIX.fullmatch(word):
        return set()
    return {card.code for card in all_rules() if card.code.startswith(word.upper())}


def _advice(word: str) -> str:
    return nearest_rule(word) or "`oasflow rule` lists all"
