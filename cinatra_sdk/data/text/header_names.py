"""The headers that the author of a flow may set; every other header is refused.

In: a header as a flow declares it, and whether the call goes to the platform's own origin.
Out: why the header cannot be sent, or nothing.

    refusal("X-Team", "7", to_platform=True)                 ""
    refusal("Authorization", "Bearer …", to_platform=False)  ""
    refusal("Authorization", "Bearer …", to_platform=True)   "only the host sets …"
    refusal("X_Cinatra_Run_Token", "…", to_platform=False)   "only the host sets …"

A declared header is never left out in silence: the flow would call without it.
The checker and the runtime ask the same function, so a flow that passes is not refused later.
"""

from __future__ import annotations

import re
from typing import Final

IDENTITY: Final = "identity"
"""The one encoding of answers that is asked for: an answer is bounded while it is read."""

_FRAMING: Final = frozenset(
    {
        "connection", "content-length", "expect", "host", "keep-alive", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    }
)  # fmt: skip
"""Headers of the connection itself: an author who sets them splits or redirects requests."""


_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""A name of a header (RFC 9110, section 5.6.2)."""


def folded(name: str) -> str:
    """The name as servers compare it: servers that pass headers on as variables read `_` as `-`."""
    return name.lower().replace("_", "-")


def is_reserved(name: str) -> bool:
    """Whether a header belongs to the connection or to Cinatra, for an author and a host alike."""
    read_as = folded(name)
    return read_as in _FRAMING or read_as.startswith("x-cinatra-")


def refusal(name: str, value: str, *, to_platform: bool) -> str:
    """Why an author's header cannot be sent; an empty string where it is sent as declared."""
    read_as = folded(name)
    if not _TOKEN.fullmatch(name):
        return f'"{name}" is no name of a header: letters, digits and - only'
    if read_as in _FRAMING:
        return f'a flow cannot set the header "{name}": it belongs to the connection'
    if read_as.startswith("x-cinatra-"):
        return f'only the host sets the header "{name}": leave it out of the flow'
    if read_as == "authorization" and to_platform:
        return (
            f'only the host sets the header "{name}" of calls to the platform: '
            "leave it out of the flow"
        )
    if read_as == "idempotency-key":
        return (
            f'a flow cannot set the header "{name}": the runtime sends one, the same after a crash; '
            "leave it out of the flow"
        )
    if read_as == "accept-encoding" and value.strip().lower() != IDENTITY:
        return (
            f'the header "{name}" can only be "{IDENTITY}": an answer is bounded while it is read'
        )
    return ""
