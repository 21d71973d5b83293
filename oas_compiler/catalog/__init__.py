"""The card of every rule by code, name or alias, for `oasflow rule` and docs/diagnostics.md.

front_cards.py       cards of findings while a document is read, resolved and built: OAS001 to OAS083
dependency_cards.py  cards of findings of `oasflow deps`: DEP001 to DEP011

    find("OAS044"), find("one-edge-per-branch")     -> the card of that rule
    find("V17")                                     -> the card of the rule that has this alias

Rules of checks/ carry their card themselves.  Findings that are recorded while a file is read,
loaded or built have their cards in the tables beside this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from oas_compiler.catalog.dependency_cards import DEPENDENCIES
from oas_compiler.catalog.front_cards import BUILDING, FIELDS, READING, REFERENCES
from oas_compiler.checks.all_rules import RULES
from oas_compiler.checks.rule_packs import GROUP, OWN, RulePacks, read_rule_packs
from oas_compiler.findings.rule import CheckRule, Rule

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["all_rules", "find"]

READER_RULES: tuple[Rule, ...] = (*READING, *REFERENCES, *FIELDS, *BUILDING)
"""Cards of the findings that are not recorded by a rule of checks/."""


@cache
def load_rule_packs() -> RulePacks:
    """The packs of the installed packages; those of oasflow are among `RULES`."""
    cards = (*READER_RULES, *DEPENDENCIES, *(rule.card for rule in RULES))
    return read_rule_packs(_list_entries(), cards)


def _list_entries() -> Iterable[EntryPoint]:
    """What other packages register; empty where none does, as mostly.

    Every check looks: `entry_points` parses what each installed package registers, which takes three times
    as long as reading it and parsing where the group is named.
    """
    from importlib.metadata import distributions, entry_points

    foreign = any(
        OWN.get(entry.name) != entry.value
        for installed in distributions()
        if GROUP in (installed.read_text("entry_points.txt") or "")
        for entry in installed.entry_points.select(group=GROUP)
    )
    # Of several installations under one name the first on the path counts, which `entry_points` knows.
    return entry_points(group=GROUP) if foreign else ()


def list_applied_rules() -> tuple[CheckRule, ...]:
    """All rules that a check applies: those of oasflow, then those of the installed packages."""
    return (*RULES, *load_rule_packs().rules)


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every card, by code: those of installed packages too; those of `oasflow deps` stand last."""
    return (
        *own_rules()[: -len(DEPENDENCIES)],
        *list_pack_cards(),
        *own_rules()[-len(DEPENDENCIES) :],
    )


@cache
def list_pack_cards() -> tuple[Rule, ...]:
    """The cards of the rules that installed packages add, by code."""
    cards = (rule.card for rule in load_rule_packs().rules)
    return tuple(sorted(cards, key=lambda card: card.code))


@cache
def own_rules() -> tuple[Rule, ...]:
    """Every card of oasflow itself, by code; those of `oasflow deps` stand last."""
    cards = (*READER_RULES, *(rule.card for rule in RULES))
    children = sorted(DEPENDENCIES, key=lambda card: card.code)
    return (*sorted(cards, key=lambda card: card.code), *children)


def find(name: str) -> Rule | None:
    """The rule with this code, name or alias, whatever its case."""
    return _by_name().get(name.casefold())


@cache
def _by_name() -> dict[str, Rule]:
    return {name.casefold(): card for card in reversed(all_rules()) for name in card.names}
