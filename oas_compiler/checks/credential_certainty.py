"""How certain it is that a name is that of a credential, for what is printed.

    "X-Api-Key", "slack_token", "jwtSecret"            clear
    "pwd", "pass"; as a header or parameter "X-Auth"   probable
    "key", "code", "auth", "session"                   possible
    "max_tokens", "sort key", "X-Auth-Provider"        none

The more certain the name, the less its value must look like a credential (`written_credentials.py`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal
from urllib.parse import unquote

from oas_compiler.checks.credential_names import is_credential_name

Certainty = Literal["clear", "probable", "possible", ""]
"""How certain it is that a name is that of a credential."""


def set_of(words: str) -> frozenset[str]:
    """`"a b"` as a set: long lists of names stay readable."""
    return frozenset(words.split())


_SEPARATE: Final = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_CLEAR_LAST: Final = frozenset({"token", "secret", "password", "passwd", "passphrase", "apikey"})
"""Last words of names such as `slack_token`, `jwtSecret`."""
_OTHER_TOKENS: Final = set_of(
    "page next max min cursor continuation sync start end stop begin first last eos bos pad "
    "unk mask sep cls special num per count total cancel cancellation resume delta watch "
    "shard stream current new each trade top"
)
"""What stands before "token" or "secret" where it is none that opens anything."""
_CLEAR_BEFORE_KEY: Final = set_of(
    "api access secret private auth signing encryption master account subscription functions "
    "function shared service deploy webhook client licence license host"
)
"""What stands before "key" in the name of a credential."""
_PROBABLE: Final = frozenset({"pwd", "pass", "psw", "passcode", "passwort"})
_POSSIBLE: Final = set_of(
    "key sig code auth signature session sid jwt bearer credential credentials creds "
    "authentication authorization authtoken secrets tokens passwords keys cookies cookie csrf "
    "xsrf sas hmac login sessionid connectionstring"
)
_SENT_WORDS: Final = set_of(
    "auth authorization authentication token secret key signature sig csrf xsrf session "
    "sessionid sid cookie password passwd pwd pass credential credentials jwt apikey bearer "
    "sas hmac"
)
"""Words of a header's or a query's name that make it a probable one."""
_SENT_POSSIBLE: Final = frozenset({"key", "code"})
"""Whole names that stay possible in a query: keys and codes of many things stand there."""
_OTHER_HEADERS: Final = frozenset({"idempotency", "sort", "surrogate", "cache", "partition", "routing", "group",
                                   "order", "primary", "foreign", "sec", "public"})  # fmt: skip
_NAMES_NO_VALUE: Final = set_of(
    "type provider version mode scheme method policy name url uri expiry expires ttl count "
    "limit size length algorithm alg domain realm required enabled source kind format budget "
    "usage header field endpoint id ref reference"
)
"""Last words of names that say something about a credential."""
_IDS_OF_SESSIONS: Final = frozenset({"session", "sess"})
ORDINARY: Final = set_of(
    "oauth1 oauth2 oauth2.0 auth0 aws4 aws4-hmac-sha256 hmac-sha1 hmac-sha256 hmac-sha512 "
    "sha1 sha256 sha384 sha512 base64 base64url utf8 utf-8 utf16 http2 http/1.1 http/2 x509 "
    "rs256 es256 hs256 ed25519 rsa2048 aes128 aes256 argon2 pbkdf2 es2015 iso8601 iso-8601 "
    "rfc3339 uuid4 uuidv4 base32 base58 base62 gzip2 win32 x86_64 i18n oauth2-bearer"
)
"""Words with a digit that are no credentials under any name."""


@lru_cache(maxsize=4096)
def is_about_a_login(key: str) -> bool:
    """Whether an object of that name is about one login: `auth`, `credentials`, `api_key`."""
    words = _split(key)
    return bool(words) and (
        words[-1] in {"auth", "credential", "credentials", "creds", "authorization", "authentication",
                      "secrets", "login", "passwords", "tokens", "cookies"}
        or is_credential_name(key)
    )  # fmt: skip


@lru_cache(maxsize=4096)
def judge_name(name: str, *, is_sent: bool) -> Certainty:
    name = unquote(name) if "%" in name else name
    if not name or len(name) > 80:
        return ""
    if is_credential_name(name):
        return "clear"
    words = _split(name)
    if not words:
        return ""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in _CLEAR_LAST:
        return "" if before in _OTHER_TOKENS else "clear"
    if last == "key" and before in _CLEAR_BEFORE_KEY:
        return "clear"
    if last in _PROBABLE:
        return "probable"
    if is_sent and not _OTHER_HEADERS.intersection(words) and _SENT_WORDS.intersection(words):
        is_about = last in _NAMES_NO_VALUE and not _IDS_OF_SESSIONS.intersection(words)
        if not is_about and name.casefold() not in _SENT_POSSIBLE:
            return "probable"
    return "possible" if "".join(words) in _POSSIBLE or (is_sent and last in _POSSIBLE) else ""


def _split(name: str) -> list[str]:
    return [word for word in _SEPARATE.sub(" ", name).casefold().split() if word]
