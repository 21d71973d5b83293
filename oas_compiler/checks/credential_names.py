"""Recognises names of credentials, and literal credentials under such names.

    "X-Api-Key", "access_token", "clientSecret"          names of credentials
    "max_tokens", "next_page_token", "token_count"       none
    "Bearer abcdef123456", "hunter2-very-secret"         written out
    "Bearer {{ token }}", "<key>", "env:KEY", "count"    stands for one, or is a word

Linear in the length of name and value.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from oas_compiler.checks.credentials import is_stand_in
from oas_compiler.document.scope import DEFINITIONS

_NAMES: Final = frozenset(
    {
        "accesstoken", "apikey", "apisecret", "apitoken", "authorization", "authtoken",
        "bearertoken", "bridgetoken", "clientsecret", "cookie", "idtoken", "passwd", "password",
        "passphrase", "privatekey", "proxyauthorization", "pwd", "refreshtoken", "runtoken", "secret",
        "secretaccesskey", "secretkey", "sessiontoken", "setcookie", "signingsecret", "token",
        "webhooksecret", "xaccesstoken", "xapikey", "xapitoken", "xauth", "xauthtoken", "xauthkey",
    }
)  # fmt: skip
"""Without case, `_` and `-`."""
_ENDINGS: Final = (
    "apikey", "accesstoken", "bearertoken", "refreshtoken", "clientsecret", "privatekey",
    "password", "secretkey", "secretaccesskey", "subscriptionkey", "functionskey", "apitoken",
    "authtoken", "sessiontoken",
)  # fmt: skip
_WEAK: Final = frozenset({"token", "secret", "cookie", "setcookie", "authorization", "idtoken"})
"""Names that have other meanings outside headers: there, a value without a digit is an ordinary
word.
"""
_LONGEST_NAME: Final = 80
_LONGEST_VALUE: Final = 10_000
"""Characters of the longest credential; a longer value is a text."""
_SHORTEST: Final = 6
_SCHEMES: Final = ("basic", "bearer", "token", "apikey", "digest")
_STANDS_FOR: Final = (
    "example", "redacted", "placeholder", "changeme", "change-me", "change_me", "your-", "your_",
    "dummy", "xxxx", "…", "...",
)  # fmt: skip
_REFERENCES: Final = (
    "env:", "env.", "process.env", "os.environ", "secret:", "secrets.", "secrets/", "vault:",
    "ref:", "arn:", "projects/", "op://", "@",
)  # fmt: skip
"""Beginnings of a value that says where the credential is kept."""
_WORD: Final = re.compile(r"[A-Za-z_]*")


def is_credential_name(name: str) -> bool:
    if not name or len(name) > _LONGEST_NAME:
        return False
    plain = name.replace("_", "").replace("-", "").casefold()
    return plain in _NAMES or plain.endswith(_ENDINGS)


def looks_written(name: str, value: str, *, in_header: bool) -> bool:
    """Whether the value under the name of a credential is a literal credential.

    In a header, every value that is no placeholder counts; elsewhere a name such as "token" may be
    an ordinary word of the author.
    """
    plain = name.replace("_", "").replace("-", "").casefold()
    if len(value) > _LONGEST_VALUE or stands_for_another(value):
        return False
    if "-----BEGIN " in value:
        return True
    value = _without_scheme(value)
    if not value or is_stand_in(value):
        return False
    has_digit = any(map(str.isdigit, value))
    if in_header:
        return has_digit or "cookie" not in plain
    if len(value) < _SHORTEST or "://" in value or any(map(str.isspace, value)):
        return False
    if has_digit:
        return True
    return plain not in _WEAK and _WORD.fullmatch(value) is None and not _names_one(value)


def stands_under(keys: Collection[str], members: Collection[str]) -> bool:
    """Whether one of the keys is one of the members; names of definitions do not count."""
    around = ""
    for key in keys:
        if key in members and around != DEFINITIONS:
            return True
        around = key
    return False


def stands_for_another(value: str) -> bool:
    if "{{" in value or "${" in value or is_stand_in(value):
        return True
    folded = value.strip().casefold()
    return folded.startswith(_REFERENCES) or any(part in folded for part in _STANDS_FOR)


def _without_scheme(value: str) -> str:
    """`abc` of `Bearer abc`; a scheme alone is no credential."""
    value = value.strip()
    scheme, _, rest = value.partition(" ")
    return rest.strip() if scheme.casefold() in _SCHEMES else value


def _names_one(value: str) -> bool:
    """Whether the value is only the name of a credential: "x-api-key", "my-password"."""
    plain = value.replace("-", "").casefold()
    return any(word in plain for word in ("key", "token", "secret", "password", "auth"))
