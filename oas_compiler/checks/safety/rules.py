"""The rules of this group, in reading order."""

from __future__ import annotations

from oas_compiler.checks.safety.approval_after_send import approval_after_send
from oas_compiler.checks.safety.approval_as_text import approval_as_text
from oas_compiler.checks.safety.approval_without_gate import approval_without_gate
from oas_compiler.checks.safety.credential_by_name import credential_by_name
from oas_compiler.checks.safety.endless_loop import endless_loop
from oas_compiler.checks.safety.foreign_host import foreign_host
from oas_compiler.checks.safety.gate_asks_anyway import gate_asks_anyway
from oas_compiler.checks.safety.gate_output_unread import gate_output_unread
from oas_compiler.checks.safety.gate_steps_count import gate_steps_count
from oas_compiler.checks.safety.gate_waiver_type import gate_waiver_type
from oas_compiler.checks.safety.gate_without_limit import gate_without_limit
from oas_compiler.checks.safety.literal_credential import literal_credential
from oas_compiler.checks.safety.package_not_fully_read import package_not_fully_read
from oas_compiler.checks.safety.packaged_credential import packaged_credential
from oas_compiler.checks.safety.placeholder_not_filled import placeholder_not_filled
from oas_compiler.checks.safety.plain_http import plain_http
from oas_compiler.checks.safety.risk_class_type import risk_class_type
from oas_compiler.checks.safety.secret_at_gate import secret_at_gate
from oas_compiler.checks.safety.send_not_shown import send_not_shown
from oas_compiler.checks.safety.send_under_lesser_class import send_under_lesser_class
from oas_compiler.checks.safety.sensitive_literal import sensitive_literal
from oas_compiler.checks.safety.stray_credential import stray_credential
from oas_compiler.checks.safety.templated_host import templated_host
from oas_compiler.checks.safety.ungated_loop import ungated_loop
from oas_compiler.checks.safety.ungated_send import ungated_send
from oas_compiler.checks.safety.unknown_risk_class import unknown_risk_class
from oas_compiler.checks.safety.untrusted_url import untrusted_url
from oas_compiler.findings.rule import CheckRule

RULES: tuple[CheckRule, ...] = (
    ungated_send,
    approval_after_send,
    approval_without_gate,
    gate_asks_anyway,
    send_under_lesser_class,
    unknown_risk_class,
    risk_class_type,
    gate_waiver_type,
    gate_steps_count,
    endless_loop,
    ungated_loop,
    gate_without_limit,
    literal_credential,
    stray_credential,
    packaged_credential,
    package_not_fully_read,
    credential_by_name,
    sensitive_literal,
    untrusted_url,
    foreign_host,
    plain_http,
    templated_host,
    secret_at_gate,
    approval_as_text,
    send_not_shown,
    gate_output_unread,
    placeholder_not_filled,
)
