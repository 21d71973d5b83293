"""Proposals of runs to remember something, and the words of their reviewers.

memory = MemoryProposals(store.database)
memory.list_open(tenant="acme")                       no context contains an open proposal
memory.review("mp_1f…", promoted=True, by="ann")      the first word counts
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from cinatra_sdk.errors import AnswerInvalid, GateClosed
from cinatra_sdk.governance.contracts.decision_record import MemoryProposal, MemoryReview
from cinatra_sdk.governance.records.record_maker import format_time
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.postgres.connection import every, one
from cinatra_sdk.store.arguments import check_arguments, check_names, check_reason, read_actor
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.pages import Page, read_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredProposal:
    """A proposal, and its review where there is one."""

    run_id: str
    tenant: str
    proposal: MemoryProposal
    proposed_at: datetime
    review: MemoryReview | None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        review = None
        if row["verdict"] is not None:
            review = MemoryReview.read(
                {
                    "proposal_id": row["proposal_id"],
                    "verdict": row["verdict"],
                    "reviewed_by": "_".join(row["reviewed_by"].split()),
                    "reviewed_at": format_time(row["reviewed_at"]),
                    "reason": row["reason"],
                }
            )
        return cls(
            run_id=row["run_id"],
            tenant=row["tenant"],
            proposal=MemoryProposal.read_json_text(row["proposal"]),
            proposed_at=row["proposed_at"],
            review=review,
        )


@check_arguments
class MemoryProposals:
    """Safe to share between threads."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_open(self, *, tenant: str | None = None, limit: int = 100) -> list[StoredProposal]:
        """The proposals without a review, the oldest first; `page` names the unreadable rows too."""
        return [*self.page(tenant=tenant, limit=limit).items]

    def list_every(self, *, tenant: str | None = None, limit: int = 100) -> list[StoredProposal]:
        return [*self.page(tenant=tenant, limit=limit, is_open=False).items]

    def page(
        self, *, tenant: str | None = None, limit: int = 100, is_open: bool = True
    ) -> Page[StoredProposal]:
        """The oldest first.  A row that is no proposal is no item, and is named in `unreadable`.

        is_open: only those that nobody has reviewed.
        """
        asked = {"tenant": tenant, "limit": limit, "open": is_open}
        with self._database.connection() as connection:
            rows = every(connection, "list_memory_proposals", asked)
        items, unreadable = read_rows(
            rows, StoredProposal.of, lambda row: f"proposal {row['proposal_id']}"
        )
        return Page(items=items, unreadable=unreadable, next="")

    def review(
        self,
        proposal_id: str,
        *,
        promoted: bool,
        by: str,
        reason: str = "",
        tenant: str | None = None,
    ) -> None:
        """A reviewer's word.

        Raises: `GateClosed` where it was reviewed before, or is not there; `AnswerInvalid` without a
        name.
        """
        who = read_actor(by)
        check_names(proposal_id=proposal_id, tenant=tenant)
        if not who.strip():
            raise AnswerInvalid(
                "the review does not say whose it is", hint="name them: --as NAME", in_python="by=…"
            )
        said = {
            "proposal_id": proposal_id,
            "verdict": "promoted" if promoted else "declined",
            "reviewed_by": who,
            "reason": check_reason(reason),
            "tenant": tenant,
        }
        with self._database.connection() as connection:
            if one(connection, "insert_memory_review", said) is None:
                raise GateClosed(
                    f"the proposal '{proposal_id}' was reviewed before, or is not there",
                    hint="see oasflow memory list --all",
                )
