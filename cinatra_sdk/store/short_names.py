"""Which run a person means by a shortened id.

In: what was typed and the runs that come into question, the whole id first.
Out: one run id, or `RunNotFound`.

    "3f2a" among 3f2a91bc77d0            3f2a91bc77d0
    "mail" among mail, mail-2            mail: a whole id wins
    "mail" among mail-2, to be approved  RunNotFound: nobody shortens an id that somebody gave
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from cinatra_sdk.errors import RunNotFound

_MADE_UP: Final = re.compile(r"[0-9a-f][0-9a-f-]{11,}")
"""An id as the store and the command line make them; people give others."""
SHORTEST: Final = 4
"""Characters of a made-up id that say which run is to be acted on."""


def the_one_meant(
    typed: str, rows: Sequence[Mapping[str, Any]], *, tenant: str | None, to_act: bool
) -> str:
    """Raises: `RunNotFound` when no run is meant, or it cannot be said which."""
    if not typed:
        raise RunNotFound("the run id is empty", hint="see oasflow runs")
    if not rows:
        hint = "see oasflow runs"
        if tenant is None:
            hint += "; the run of a tenant is named whole, or with its tenant (--tenant)"
        raise RunNotFound(f"no run begins with '{typed}'", hint=hint)
    first = str(rows[0]["run_id"])
    whole = first == typed
    # Somebody else may have given their run the name by which a longer one is called for short.
    strangers = whole and len({row["tenant"] for row in rows}) > 1
    if strangers or (not whole and len(rows) > 1):
        hint = "name the run's tenant" if strangers else "see oasflow runs"
        raise RunNotFound(f"several runs begin with '{typed}'", hint=hint)
    if to_act and not whole and not (_MADE_UP.fullmatch(first) and len(typed) >= SHORTEST):
        raise RunNotFound(
            f"there is no run '{typed}'",
            hint=f"'{first}' begins so: to act on a run, write the whole of an id that was given to "
            f"it, and at least {SHORTEST} characters of another",
        )
    return first
