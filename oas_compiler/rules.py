"""The names for a package that adds rules to `oasflow check` (docs/adding-rules.md).

from oas_compiler.rules import Report, RulePack, Subject, rule
"""

from __future__ import annotations

from oas_compiler.checks.rule_packs import RulePack
from oas_compiler.checks.subject import Subject
from oas_compiler.findings.rule import Report, rule

__all__ = ["Report", "RulePack", "Subject", "rule"]
