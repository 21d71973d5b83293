r"""What servers and agents say, as it may be shown: plain letters, and none of the secrets.

tell_problem("\x1b[2Jno key 9f3a-secret", ["9f3a-secret"])    "[2Jno key [redacted]"
plain_value({"description": "a\x1b[31mb"})                     {"description": "a[31mb"}
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from cinatra_sdk.governed.secret_forms import SHORTEST_SECRET
from cinatra_sdk.platform.response import safe_line
from cinatra_sdk.text.header_names import folded

_TELLS: Final = re.compile(r"auth|key|token|secret|cookie|password|session|credential")
"""Parts of names that hold secrets: of headers, of members of a query, of options of a program."""
_SCHEME: Final = re.compile(
    r"(?i)(?:bearer|basic|token|api-?key|digest|negotiate|dpop|hmac|signature)\s+\S"
)
"""How a header begins that logs in, whatever its name is."""
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
    """The values of headers that tell of a secret by their names or by the scheme before it, whole and in
    the parts that a server may repeat: without the scheme, read from base64, cookie by cookie.
    """
    found: list[str] = []
    for name, value in headers.items():
        if not (_TELLS.search(folded(name)) or _SCHEME.match(value)):
            continue
        scheme, _, rest = value.partition(" ")
        found += (value, rest.strip())
        if scheme.lower() == "basic":
            found += _read_basic(rest)
        if "cookie" in folded(name):
            found += (one.partition("=")[2].strip() for one in value.split(";"))
    return _keep_long(found)


def list_address_secrets(address: str) -> tuple[str, ...]:
    """The user and password of an address, and what its query says under names that tell of a secret."""
    try:
        parts = urlsplit(address)
        query = parse_qsl(parts.query)
    except ValueError:  # a template that is filled later, or no address
        return ()
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    found = [password or user, unquote(password or user)]
    return _keep_long(found + [value for name, value in query if _TELLS.search(folded(name))])


def list_argument_secrets(arguments: Sequence[str]) -> tuple[str, ...]:
    """What a program is started with under names that tell of a secret: `--token=…`, `--api-key …`,
    `--header "Authorization: Bearer …"`.
    """
    found: list[str] = []
    before = ""
    for one in arguments:
        name, is_named, value = one.partition("=")
        if is_named and name.startswith("-") and _TELLS.search(folded(name)):
            found.append(value)
        if before.startswith("-") and "=" not in before and _TELLS.search(folded(before)):
            found.append(one)
        header, _, sent = (value if is_named and name.startswith("-") else one).partition(":")
        found += list_header_secrets({header.strip(): sent.strip()})
        before = one
    return _keep_long(found)


def _read_basic(text: str) -> list[str]:
    """The user with the password, and the password, of a header `Basic …`."""
    try:
        told = base64.b64decode(text, validate=True).decode("utf-8")
    except ValueError:
        return []
    return [told, told.partition(":")[2]]


def _keep_long(texts: Iterable[str]) -> tuple[str, ...]:
    """Those that are long enough to be searched for, each once."""
    return tuple(dict.fromkeys(one for one in texts if len(one) >= SHORTEST_SECRET))
