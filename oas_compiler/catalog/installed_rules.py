"""The rules that installed packages add, and all rules that a check applies."""

from __future__ import annotations

from functools import cache

from oas_compiler.catalog.dependency_cards import DEPENDENCIES
from oas_compiler.catalog.front_cards import BUILDING, FIELDS, READING, REFERENCES
from oas_compiler.checks.all_rules import RULES
from oas_compiler.checks.rule_packs import GROUP, RulePacks, read_rule_packs
from oas_compiler.findings.rule import CheckRule


@cache
def load_rule_packs() -> RulePacks:
    """The packs of the installed packages; those of oasflow are among `RULES`."""
    # Looking at what is installed takes as long as checking a small file.
    from importlib.metadata import entry_points

    own = (*READING, *REFERENCES, *FIELDS, *BUILDING, *DEPENDENCIES)
    cards = (*own, *(rule.card for rule in RULES))
    return read_rule_packs(entry_points(group=GROUP), cards)


def list_applied_rules() -> tuple[CheckRule, ...]:
    """The rules of oasflow, then those of the installed packages."""
    return (*RULES, *load_rule_packs().rules)
