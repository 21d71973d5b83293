"""Cards of rules as JSON, in groups: what `oasflow rule` shows.

card_record(find("V17"))  ->  {"code": "OAS2…", "name": …, "group": "safety", "fixable": False}
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from oas_compiler.catalog.dependencies import DEPENDENCIES
from oas_compiler.checks.all_rules import RULES
from oas_compiler.findings.rules import CheckRule, Rule
from oas_compiler.ir import JsonValue

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
"""Groups in the order in which they are listed."""
_FIRST_AFTER_READING: Final = "OAS010"


def group_of(card: Rule) -> str:
    """One of `GROUPS`."""
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
