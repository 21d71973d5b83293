"""The run that a person means by a shortened id.

In: the typed text and the candidate runs, an exact match first.
Out: one run id, or `RunNotFound`.

    "3f2a" among 3f2a91bc77d0            3f2a91bc77d0
    "mail" among mail, mail-2            mail: a whole id wins
    "mail" among mail-2, to be approved  RunNotFound: an id that a person chose cannot be shortened
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from cinatra_sdk.errors import RunNotFound

_MADE_UP: Final = re.compile(r"[0-9a-f][0-9a-f-]{11,}")
"""The form of ids that the store and the command line make; people choose other ids."""
SHORTEST: Final = 4
"""Fewest characters of a made-up id that name a run for an action."""


def the_one_meant(
    typed: str, rows: Sequence[Mapping[str, Any]], *, tenant: str | None, to_act: bool
) -> str:
    """The run that a person means by a shortened id.

    Raises: `RunNotFound` when no run fits, or several do.
    """
    if not typed:
        raise RunNotFound("the run id is empty", hint="see oasflow runs")
    if not rows:
        hint = "see oasflow runs"
        if tenant is None:
            hint += "; the run of a tenant is named whole, or with its tenant (--tenant)"
        raise RunNotFound(f"no run begins with '{typed}'", hint=hint)
    first = str(rows[0]["run_id"])
    whole = first == typed
    # Another person may have chosen an id that is the beginning of a longer id.
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
