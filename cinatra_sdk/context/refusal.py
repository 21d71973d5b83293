"""A choice that was valid when it was made, but cannot be recorded any more.

    refusal_of("ref_not_in_candidates", {"userResponse": "{…}"})
        ->  {"code": "ref_not_in_candidates", "selectedRefs": [{"artifactId": "a1", …}]}

Between a person's decision and its finalize an artifact may be deleted, hidden or classified
otherwise.  The slot is then resolved again, and its gate shows this beside the candidates.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from pydantic import JsonValue

from cinatra_sdk.context.errors import ContextError
from cinatra_sdk.context.refs import ContextSelection, PinnedTriple

OUTDATED: Final = frozenset(
    {"ref_not_in_candidates", "selection_incoherent", "inherited_selection_mismatch"}
)
"""Codes of a refused finalize that another resolve may cure."""
MOST_ASKED: Final = 25
"""How often in a row a person is asked again; Cinatra's own limit of visits of a gate."""
MOST_ALONE: Final = 3
"""How often in a row an autonomous slot is resolved again."""
REFUSED_KEY: Final = "refused"
"""Key of a gate's value that holds the result of `refusal_of`."""


def refusal_of(code: str, body: JsonValue) -> dict[str, JsonValue]:
    """The value that a gate shows about a finalize with this body that was refused with `code`."""
    text = body.get("userResponse") if isinstance(body, Mapping) else None
    chosen: tuple[PinnedTriple, ...] = ()
    with suppress(ContextError):  # a flow that makes up its own envelope: nothing can be shown
        chosen = ContextSelection.parse(text).triples
    return {"code": code, "selectedRefs": [triple.wire() for triple in chosen]}
