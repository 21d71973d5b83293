"""The rules that compiling applies, and how rules are applied.  Imports no other rule."""

from __future__ import annotations

from collections.abc import Iterable

from oas_compiler.checks.context.context_slot_duplicate import context_slot_duplicate
from oas_compiler.checks.context.context_slot_shape import context_slot_shape
from oas_compiler.checks.context.context_slot_unresolved import context_slot_unresolved
from oas_compiler.checks.safety.placeholder_not_filled import placeholder_not_filled
from oas_compiler.checks.structure.allowed_components import allowed_components
from oas_compiler.checks.structure.rules import RULES
from oas_compiler.checks.structure.supported_kinds import refuse_root, supported_kinds
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.finding import Findings
from oas_compiler.findings.rule import CheckRule

STRUCTURE: tuple[CheckRule, ...] = RULES
"""The rules that keep a flow from compiling."""

READING: tuple[CheckRule, ...] = (
    CheckRule(supported_kinds.card, "document", refuse_root),
    *(rule for rule in STRUCTURE if rule not in {supported_kinds, allowed_components}),
)
"""The rules for a flow that is only shown; kinds of nodes that cannot run are allowed, and so are
component types that the host blocks.
"""

RUNNING: tuple[CheckRule, ...] = (
    *STRUCTURE,
    context_slot_shape,
    context_slot_duplicate,
    context_slot_unresolved,
    placeholder_not_filled,
)
"""The rules that a flow must pass to run: without them, a flow could run without the context it
asks for.
"""


def run_rules(subject: Subject, findings: Findings, rules: Iterable[CheckRule]) -> None:
    """Apply each rule whose precondition the subject meets."""
    there = {
        "document": True,
        "flow": subject.flow is not None,
        "cinatra": subject.is_cinatra,
        "package": subject.package is not None,
    }
    for rule in rules:
        if not there[rule.needs]:
            continue
        if rule.package:
            from oas_compiler.checks.rule_packs import apply_foreign_rule  # few have any

            apply_foreign_rule(rule, subject, findings)
        else:
            rule(subject, findings)
