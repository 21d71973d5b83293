"""The catalogs of decisions of a run's packs: which intents a request may have.

    require_intent(book, "support.refunds")    GovernanceRefused (INTENT_UNKNOWN): … did you mean "support.refund"?

A rule that names an intent holds for that very intent.  So a request may have no other than those of the
catalogs: one letter more, and the rule would not apply.  A pack without a catalog takes every intent, and
has to say so (`"decision_layer": {"catalog": "none"}`).
"""

from __future__ import annotations

from cinatra_sdk.governance.contracts.packs import ContextPack
from cinatra_sdk.governance.refusals import GovernanceRefused
from cinatra_sdk.governance.rulebook import ANY, Rulebook
from cinatra_sdk.text.spelling import did_you_mean

_MOST_NAMED = 5


def require_intent(book: Rulebook, intent: str) -> None:
    """Raises: `GovernanceRefused`: INTENT_UNKNOWN; PACK_INVALID for a pack without a catalog that does
    not say so, and for a rule about an intent that no catalog has: nobody could tell when it holds.
    """
    _require_catalog(book)
    if book.decisions and intent not in book.intents:
        raise GovernanceRefused(
            "INTENT_UNKNOWN",
            f"no catalog has the intent '{intent[:100]}'",
            hint=did_you_mean(intent, book.intents)
            or f"the catalogs have: {', '.join(sorted(book.intents)[:_MOST_NAMED])}",
        )


def _require_catalog(book: Rulebook) -> None:
    full = [one for one in book.packs if isinstance(one, ContextPack)]
    silent = [one.ref for one in full if one.decision_layer.catalog is None]
    if not book.decisions and silent:
        raise GovernanceRefused(
            "PACK_INVALID",
            f"'{silent[0]}' has no catalog of decisions, and does not say so",
            hint="name its catalog beside it (decision-catalog.NAME@1.2.3), or write "
            '"decision_layer": {"catalog": "none"}',
        )
    for one in book.rules:
        named = one.rule.applies_to.intent
        if named not in (ANY, *book.intents):
            raise GovernanceRefused(
                "PACK_INVALID",
                f"rule '{one.rule.rule_id}' is about the intent '{named[:100]}', which no catalog has",
                hint=did_you_mean(named, book.intents)
                or "add a decision for the intent, or let the rule be about every one",
            )
