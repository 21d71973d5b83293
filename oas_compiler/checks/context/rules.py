"""The rules of this group, in reading order."""

from __future__ import annotations

from oas_compiler.checks.context.context_bindings_from_start import context_bindings_from_start
from oas_compiler.checks.context.context_dependency_unused import context_dependency_unused
from oas_compiler.checks.context.context_marker_unknown import context_marker_unknown
from oas_compiler.checks.context.context_package_version import context_package_version
from oas_compiler.checks.context.context_selection_shared import context_selection_shared
from oas_compiler.checks.context.context_slot_both_names import context_slot_both_names
from oas_compiler.checks.context.context_slot_dependency import context_slot_dependency
from oas_compiler.checks.context.context_slot_duplicate import context_slot_duplicate
from oas_compiler.checks.context.context_slot_given import context_slot_given
from oas_compiler.checks.context.context_slot_inputs import context_slot_inputs
from oas_compiler.checks.context.context_slot_listed_late import context_slot_listed_late
from oas_compiler.checks.context.context_slot_name import context_slot_name
from oas_compiler.checks.context.context_slot_order import context_slot_order
from oas_compiler.checks.context.context_slot_prompt_only import context_slot_prompt_only
from oas_compiler.checks.context.context_slot_shape import context_slot_shape
from oas_compiler.checks.context.context_slot_unbound import context_slot_unbound
from oas_compiler.checks.context.context_slot_unresolved import context_slot_unresolved
from oas_compiler.checks.context.context_slots_share_input import context_slots_share_input
from oas_compiler.findings.rule import CheckRule

RULES: tuple[CheckRule, ...] = (
    context_slot_shape,
    context_slot_duplicate,
    context_slot_name,
    context_slot_dependency,
    context_slot_unresolved,
    context_slot_inputs,
    context_slot_unbound,
    context_slot_prompt_only,
    context_slots_share_input,
    context_slot_both_names,
    context_slot_order,
    context_slot_listed_late,
    context_bindings_from_start,
    context_selection_shared,
    context_dependency_unused,
    context_package_version,
    context_marker_unknown,
    context_slot_given,
)
