"""Which headers an author may set: the runtime's own list.

The SDK is loaded where the first header is looked at: checking a flow without any needs none of it.
"""

from __future__ import annotations


def refusal(name: str, value: str, *, to_platform: bool) -> str:
    """Why an author's header cannot be sent; an empty string where it is sent as declared."""
    from cinatra_sdk.text import header_names

    return header_names.refusal(name, value, to_platform=to_platform)
