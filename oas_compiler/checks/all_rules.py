"""Every rule of the checker."""

from __future__ import annotations

from oas_compiler.checks.cinatra.rules import RULES as CINATRA
from oas_compiler.checks.context.rules import RULES as CONTEXT
from oas_compiler.checks.guide.rules import RULES as GUIDE
from oas_compiler.checks.safety.rules import RULES as SAFETY
from oas_compiler.checks.sense.rules import RULES as SENSE
from oas_compiler.checks.structure.rules import RULES as STRUCTURE
from oas_compiler.findings.rule import CheckRule

RULES: tuple[CheckRule, ...] = (
    *STRUCTURE,
    *CINATRA,
    *CONTEXT,
    *GUIDE,
    *SAFETY,
    *SENSE,
)
"""Every rule, in reading order; findings are sorted by place afterwards."""
