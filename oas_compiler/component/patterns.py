r"""Whether an author's regular expression can be used.

    pattern_flaw("(a")      ->  PatternFlawed: "it is no regular expression"

Besides the language of templates, this is the second part of the SDK that the front end uses, so
that a checked pattern also works at run time.  It imports the standard library only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cinatra_sdk.values.patterns.reading import PatternFlawed


def pattern_flaw(pattern: str) -> PatternFlawed | None:
    """Why `pattern` cannot be used; None when it can.  It is read, never compiled."""
    from cinatra_sdk.values.patterns.reading import flaw

    return flaw(pattern)
