"""The selection of findings, `--select OAS15,V17 --ignore OAS044`; the cards of rules as JSON and as a page.

    Selection.of(select=["OAS15"], ignore=["unreachable-node"]).wants(finding)

A word is a code, the beginning of a code (`OAS15`), the name of a rule, an alias, or the name of a
rule pack (`guide`); only for packs does case matter.  Several rules may find cases of one alias (`V25`:
OAS118, and OAS080 among others): selecting the alias selects all these rules, but ignoring it ignores only
the rule that has the alias, because the other rules find other cases too.  Ignoring wins over selecting.
Findings about unreadable files are always selected: a run that could not read a file must not look clean.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from cinatra_sdk.data.text.message_words import did_you_mean
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.catalog import all_rules, find, load_rule_packs, own_rules
from oas_compiler.catalog.dependency_cards import DEPENDENCIES
from oas_compiler.checks.all_rules import RULES
from oas_compiler.checks.rule_packs import OWN, PREFIX, load_own_pack
from oas_compiler.findings.finding import Finding
from oas_compiler.findings.rule import CheckRule, Rule
from oas_compiler.ir import JsonValue
from oas_compiler.text.safe_text import safe

_CODE: Final = re.compile(r"(?i:oas)?[-_ ]?([0-9]{1,9})")
"""A code in any spelling."""
FIRST_IGNORABLE: Final = "OAS010"
"""Smaller codes are about reading a file and cannot be ignored."""
REFUSED_RULES: Final = "OAS056"
"""Rules of a package are missing: told whatever is selected, unless it is ignored by name."""


def is_about_reading(code: str) -> bool:
    """Whether a code is about reading a file: always selected, never ignored."""
    return code.startswith("OAS") and code < FIRST_IGNORABLE


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
            if card is not None and is_about_reading(card.code):
                raise UnknownRule(f"{card.code} cannot be ignored: the file could not be read")
        return cls(
            selected=_select_codes(selected) if selected else None,
            ignored=_select_codes(ignored, all_cases=False),
        )

    def wants(self, finding: Finding) -> bool:
        if is_about_reading(finding.code):
            return True
        is_told = finding.code == REFUSED_RULES or self.selected is None
        if not is_told and finding.code not in (self.selected or ()):
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
    if not PREFIX.fullmatch(word):
        return ()
    return tuple(card for card in all_rules() if card.code.startswith(word.upper()))


def list_pack_cards(word: str) -> tuple[Rule, ...]:
    """The cards of the rule pack of this name; empty where there is none."""
    pack = load_own_pack(word) if word in OWN else load_rule_packs().packs.get(word)
    return () if pack is None else tuple(rule.card for rule in pack.rules)


def nearest_rule(word: str) -> str:
    """`did you mean "OAS044"?`, or nothing.

    A number is like many others, so that a wrong code has no nearest one.
    """
    if (number := _CODE.fullmatch(word)) is not None:
        codes = [card.code for card in own_rules() if int(card.code[3:]) == int(number[1])]
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
        cards = rules_called(word) or begins_with(word) or list_pack_cards(word)
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


# ----------------------------------------------------------------------------
# Cards of rules as JSON, in groups: what `oasflow rule` shows.
#
# card_record(find("V17"))  ->  {"code": "OAS2…", "name": …, "group": "safety", "fixable": False}


GROUPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "reading": "Reading a file",
        "building": "References, fields, types and templates",
        "structure": "Structure: what a flow needs to run",
        "cinatra": "Cinatra: what its own validators refuse",
        "context": "Context slots",
        "guide": "Agent guide: the package around a flow",
        "safety": "Safety: sends, credentials, foreign addresses, endless loops",
        "sense": "Sense: what nobody can have meant",
        "deps": "Child agents: what `oasflow deps` finds",
    }
)
"""Groups of oasflow itself, in the order in which they are listed."""
_FIRST_AFTER_READING: Final = "OAS010"


def list_groups() -> dict[str, str]:
    """`GROUPS`, then a group for each pack of an installed package: its name and title."""
    packs = load_rule_packs().packs
    return {**GROUPS, **{name: safe(pack.title) for name, pack in packs.items()}}


def group_of(card: Rule) -> str:
    """One of `list_groups`."""
    for name, pack in load_rule_packs().packs.items():
        if any(rule.card is card for rule in pack.rules):
            return name
    rule = _map_rules_by_code().get(card.code)
    if rule is not None:
        return rule.look.__module__.split(".")[-2]
    if card in DEPENDENCIES:
        return "deps"
    return "reading" if card.code < _FIRST_AFTER_READING else "building"


def card_record(card: Rule) -> dict[str, JsonValue]:
    """Everything about one rule."""
    return {
        "code": card.code,
        "name": card.name,
        "severity": card.severity,
        "group": group_of(card),
        "aliases": list(card.aliases),
        "also": list(card.also),
        "summary": card.summary,
        "fix": card.fix,
        "source": card.source,
        "bad": card.bad,
        "good": card.good,
        "fixable": card.fixable,
    }


@cache
def _map_rules_by_code() -> dict[str, CheckRule]:
    return {rule.card.code: rule for rule in RULES}


# ----------------------------------------------------------------------------
# docs/diagnostics.md, made of the cards: `rules_document()` -> its whole text.
#
#     Rule(code="OAS044", name="one-edge-per-branch", …)
#         ->  | OAS044 | error | one-edge-per-branch | Two control edges … | Choose … | Agent Spec … |
#
# Written by `scripts/rules-doc`.


_INTRODUCTION: Final = """\
# Diagnostics

<!-- Written by scripts/rules-doc from the cards of the rules; change those. -->

Every finding has a code, a severity, a place (line and column, or a JSON Pointer when the input was a Python mapping) and usually a hint.
An error with a code below OAS100 keeps the flow from compiling; a warning does not.
The rules from OAS100 on say what a host or a reviewer refuses: `oasflow check` applies them, and compiling does not.
All findings of a file come in one run, in file order.
One mistake makes one finding: its consequences are not reported again.
Codes OAS001 to OAS009 mean that the document could not be read.
If there is no document at all (OAS001 to OAS004), the command line exits with 2; for all other errors it exits with 1.
A code stands for one rule and is never reused for another rule.
`oasflow rule CODE` shows a rule with an example; it also takes the name of the rule and the aliases in the last column.
"""

SECTIONS: Final[tuple[tuple[str, int, int], ...]] = (
    ("Reading", 1, 9),
    ("References", 10, 19),
    ("Structure and fields", 20, 39),
    ("Control flow", 40, 59),
    ("Data flow and types", 60, 79),
    ("Templates", 80, 89),
    ("Unsupported and policy", 90, 99),
    ("Cinatra", 100, 149),
    ("Context slots", 150, 169),
    ("Agent guide", 170, 199),
    ("Safety", 200, 234),
    ("Sense", 235, 299),
)
"""Title, first and last number of each group of codes."""
CHILD_AGENTS: Final = ("Child agents", 1, 99)
"""The codes DEP…, which `oasflow deps` finds."""

_HEAD: Final = """\
| code | severity | name | meaning | correction | source and aliases |
|---|---|---|---|---|---|"""


def rules_document() -> str:
    """The text of docs/diagnostics.md; raises `LookupError` for a code of no section."""
    cards = own_rules()
    sections = [(*section, "OAS") for section in SECTIONS] + [(*CHILD_AGENTS, "DEP")]
    homeless = [card.code for card in cards if not any(_is_in(card, *s[1:]) for s in sections)]
    if homeless:
        raise LookupError(f"no section has {', '.join(homeless)}: see SECTIONS")
    parts = [_INTRODUCTION]
    for title, first, last, letters in sections:
        rows = [_format_rule_row(card) for card in cards if _is_in(card, first, last, letters)]
        if rows:
            head = f"## {title} ({letters}{first:03} to {letters}{last:03})"
            parts.append("\n".join((head, "", _HEAD, *rows)) + "\n")
    return "\n".join(parts)


def _is_in(card: Rule, first: int, last: int, letters: str) -> bool:
    number = card.code.removeprefix(letters)
    return number != card.code and first <= int(number) <= last


def _format_rule_row(card: Rule) -> str:
    names = ", ".join(f"`{name}`" for name in card.aliases)
    source = f"{card.source} ({names})" if names else card.source
    return _format_cells((card.code, card.severity, card.name, card.summary, card.fix, source))


def _format_cells(texts: Iterable[str]) -> str:
    shown = (" ".join(text.split()).replace("|", "\\|") for text in texts)
    return f"| {' | '.join(shown)} |"
