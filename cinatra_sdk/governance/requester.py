"""Whoever asked for a call, whom a gate may demand that its approver is not.

    find_requester_problem(["ann"], "Ann ")   ->  "is not for whoever asked for the call"
    find_requester_problem(["ann"], "bob")    ->  ""

In: the names that the host gives.  Out: why a person may not approve; empty where they may.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Final

from cinatra_sdk.governance.contracts.run_context import STARTED_BY, RunContext

NOT_REQUESTER: Final = "not_requester"
"""What a gate of a pack says in `approver`."""


def list_requesters(run: RunContext, started_by: str = "") -> list[str]:
    """Whoever started the run, and the person for whom it acts; empty where the host names nobody.

    started_by: as the store has it, for a run of a release whose runs did not say it themselves.
    """
    started = str(run.metadata.get(STARTED_BY, started_by) or "")
    return [started, run.user.user_id] if started else []


def find_requester_problem(requesters: Iterable[str], person: str) -> str:
    """One person has one name here, in capital letters and with blanks around it, too."""
    known = {fold_name(one) for one in requesters if one.strip()}
    if not known:
        return "is not for whoever asked for the call, and nobody says who that was: start runs with by=…"
    if not person.strip():
        return "is not for whoever asked for the call, and the approval has no name"
    return "is not for whoever asked for the call" if fold_name(person) in known else ""


def fold_name(name: str) -> str:
    """As two spellings of a name are compared; records have no blanks in names."""
    return "_".join(unicodedata.normalize("NFKC", name).casefold().split())
