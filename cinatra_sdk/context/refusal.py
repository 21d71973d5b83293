"""A choice that was right when it was made, and can be recorded no more.

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
"""Codes of a finalize that another resolve may do away with."""
MOST_ASKED: Final = 25
"""Times in a row that a person is asked again; Cinatra's own bound on visits of a gate."""
MOST_ALONE: Final = 3
"""Times in a row that an autonomous slot is resolved again."""
REFUSED_KEY: Final = "refused"
"""Where a gate's values carry what `refusal_of` gives."""


def refusal_of(code: str, body: JsonValue) -> dict[str, JsonValue]:
    """What a gate tells of the finalize with this body that was refused with `code`."""
    text = body.get("userResponse") if isinstance(body, Mapping) else None
    chosen: tuple[PinnedTriple, ...] = ()
    with suppress(ContextError):  # a flow that makes up its own envelope: nothing can be shown
        chosen = ContextSelection.parse(text).triples
    return {"code": code, "selectedRefs": [triple.wire() for triple in chosen]}
