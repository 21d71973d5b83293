"""Every rule of oasflow itself.

The rules of Cinatra's host and of the agent guide are packs, as those of other packages are
(`rule_packs.py`).
"""

from __future__ import annotations

from oas_compiler.checks.cinatra.rules import RULES as CINATRA
from oas_compiler.checks.context.rules import RULES as CONTEXT
from oas_compiler.checks.rule_packs import load_own_pack
from oas_compiler.checks.safety.rules import RULES as SAFETY
from oas_compiler.checks.sense.rules import RULES as SENSE
from oas_compiler.checks.structure.rules import RULES as STRUCTURE
from oas_compiler.findings.rule import CheckRule

RULES: tuple[CheckRule, ...] = (
    *STRUCTURE,
    *CINATRA,
    *load_own_pack("cinatra-host").rules,
    *CONTEXT,
    *load_own_pack("guide").rules,
    *SAFETY,
    *SENSE,
)
"""The rules of oasflow, in reading order; findings are sorted by place afterwards."""
