r"""What servers and agents say, as it may be shown: plain letters, and none of the secrets.

tell_problem("\x1b[2Jno key 9f3a-secret", ["9f3a-secret"])    "[2Jno key [redacted]"
plain_value({"description": "a\x1b[31mb"})                     {"description": "a[31mb"}
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from cinatra_sdk.governed.secret_forms import SHORTEST_SECRET
from cinatra_sdk.platform.response import safe_line
from cinatra_sdk.text.header_names import folded

_TELLS: Final = re.compile(r"auth|key|token|secret|cookie|password|session|credential")
"""Parts of names of headers that hold secrets."""
_LINES: Final = frozenset("\n\t")


def tell_problem(text: str, secrets: Iterable[str]) -> str:
    """A problem in the words of a server, as one line of an error."""
    return safe_line(text, [one for one in secrets if len(one) >= SHORTEST_SECRET])


def plain_text(text: str) -> str:
    """The text without letters that nobody sees, such as those that steer a terminal."""
    if text.isascii() and text.isprintable():
        return text
    from cinatra_sdk.first_turn.unseen import drop_unseen  # late: few texts need it

    return "".join(one for one in drop_unseen(text) if one.isprintable() or one in _LINES)


def plain_value(value: Any) -> Any:
    """The value with plain texts and names."""
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, dict):
        return {plain_text(name): plain_value(one) for name, one in value.items()}
    return [plain_value(one) for one in value] if isinstance(value, list) else value


def list_header_secrets(headers: Mapping[str, str]) -> tuple[str, ...]:
    """The values of headers whose names tell of a secret, with and without the scheme before it."""
    held = [value for name, value in headers.items() if _TELLS.search(folded(name))]
    held += [value.partition(" ")[2].strip() for value in held]
    return tuple(one for one in held if len(one) >= SHORTEST_SECRET)
