"""Changes of which it is known what they come to: the campaign must see through them.

Three were alive when somebody looked for such errors by hand; the last one changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.code_mutants.operators import Change, Operator

CAUGHT: tuple[tuple[str, Operator, str], ...] = (
    (
        "cinatra_sdk/gates/hitl.py", "operand",
        'state.get("rejected_at") or was_sent() → ((was_sent()))',
    ),
    ("cinatra_sdk/outside/effects/permits.py", "raise", 'code="policy_refused") → pass'),
    ("cinatra_sdk/governance/packs/pack_policy.py", "negate", "verdict.at_least → "),
)  # fmt: skip
"""Module, operator and a part of what is shown: a gate that asks after a rejection, a refusal of the host
that is not obeyed, and a rule that counts where nobody knows whether it holds."""


def harmful(every: Sequence[Change]) -> list[Change]:
    """Those that must be caught.  Raises: ValueError, where the code has changed and one is gone."""
    found = []
    for module, operator, text in CAUGHT:
        for each in every:
            if (each.module, each.operator) == (module, operator) and text in each.shown:
                found.append(each)
                break
        else:
            raise ValueError(
                f"no {operator} of {text} in {module}: mend tests/code_mutants/controls.py"
            )
    return found


def harmless(every: Sequence[Change]) -> Change:
    """One that must be alive, else trials fail by themselves."""
    like = harmful(every)[1]
    return replace(like, after=like.before, function=f"{like.function} (nothing changed)")
