"""Which entries a `url_allow_list` may have: the runtime's own reading.

The SDK is loaded where the first entry is looked at: most flows have none.
"""

from __future__ import annotations


def entry_flaw(text: str) -> str:
    """Why an entry covers nothing; an empty string where it can be read."""
    from cinatra_sdk.platform.origin import AllowEntry, RefusalError

    try:
        AllowEntry.parse(text)
    except RefusalError as refusal:
        return str(refusal)
    return ""
