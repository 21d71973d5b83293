"""The rules of this group, in reading order."""

from __future__ import annotations

from oas_compiler.checks.sense.call_address import call_address
from oas_compiler.checks.sense.component_unused import component_unused
from oas_compiler.checks.sense.default_ignored import default_ignored
from oas_compiler.checks.sense.edge_never_carries import edge_never_carries
from oas_compiler.checks.sense.edge_twice import edge_twice
from oas_compiler.checks.sense.input_fed_too_late import input_fed_too_late
from oas_compiler.checks.sense.key_is_id import key_is_id
from oas_compiler.checks.sense.message_not_json import message_not_json
from oas_compiler.checks.sense.metadata_names import metadata_names
from oas_compiler.checks.sense.pattern_in_slashes import pattern_in_slashes
from oas_compiler.checks.sense.platform_address import platform_address
from oas_compiler.checks.sense.platform_body import platform_body
from oas_compiler.checks.sense.platform_placeholder import platform_placeholder
from oas_compiler.checks.sense.platform_values import platform_values
from oas_compiler.checks.sense.property_key import property_key
from oas_compiler.checks.sense.run_id_unbound import run_id_unbound
from oas_compiler.checks.sense.schema_contradiction import schema_contradiction
from oas_compiler.checks.sense.schema_required_unknown import schema_required_unknown
from oas_compiler.findings.rule import CheckRule

RULES: tuple[CheckRule, ...] = (
    input_fed_too_late,
    edge_never_carries,
    run_id_unbound,
    message_not_json,
    schema_required_unknown,
    component_unused,
    platform_placeholder,
    platform_address,
    property_key,
    platform_body,
    edge_twice,
    metadata_names,
    key_is_id,
    schema_contradiction,
    call_address,
    platform_values,
    default_ignored,
    pattern_in_slashes,
)
