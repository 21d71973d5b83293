"""The names of members that hold credentials, by how certain that is; one-time codes and PINs by theirs.

    judge_name("X-Api-Key", is_sent=True), judge_name("jwtSecret", is_sent=False)   ->  "clear"
    judge_name("pwd", is_sent=False), judge_name("X-Auth", is_sent=True)            ->  "probable"
    judge_name("key", is_sent=False), judge_name("code", is_sent=False)             ->  "possible"
    judge_name("max_tokens", is_sent=False)                                         ->  ""

    find_code_kind("user_otp")     ->  "code"      also `oneTimeCode`, `passcode`, `cvv`, `recovery_codes`
    find_code_kind("card_pin")     ->  "pin"
    find_code_kind("otp_length")   ->  ""          says something about a code; so do `zip_code`, `pinned`
    is_code("482913", "code"), is_code("4829", "pin")          a code
    is_code("sms", "code"), is_code("art_1234", "pin")         none: a word, what is pinned

The more certain the name, the less its value must look like a credential (`credential_literals.py`).
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final, Literal, TypeAlias
from urllib.parse import unquote

from oas_compiler.checks.credentials.value_shapes import is_credential_name

Certainty = Literal["clear", "probable", "possible", ""]
"""How certain it is that a name is that of a credential."""


def set_of(words: str) -> frozenset[str]:
    """`"a b"` as a set: long lists of names stay readable."""
    return frozenset(words.split())


_SEPARATE: Final = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_LONGEST_NAME: Final = 80


def split_name(name: str) -> list[str]:
    """`X-Api_keyOf` as `x`, `api`, `key`, `of`."""
    return [word for word in _SEPARATE.sub(" ", name).casefold().split() if word]


_CLEAR_LAST: Final = frozenset({"token", "secret", "password", "passwd", "passphrase", "apikey"})
"""Last words of names such as `slack_token`, `jwtSecret`."""
_PLURALS: Final = frozenset({"tokens", "secrets", "keys"})
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
_CLEAR_BEFORE_PLURAL: Final = set_of(
    "api access refresh auth bearer bot session id secret private client user service slack github"
)
"""What stands before "tokens", "secrets" or "keys" where these are no counts or names."""
_PROBABLE: Final = frozenset({"pw", "pwd", "pass", "psw", "passcode", "tokens", "secrets"})
ALL_OF_A_PASSWORD: Final = frozenset({"pw", "pwd", "pass", "psw", "passcode", "pin"})
"""Short names of a password, in an object that is about a login."""
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


def write_plain(name: str) -> str:
    """`Mot-de-Passe` as `motdepasse`, `contraseña` as `contrasena`."""
    apart = unicodedata.normalize("NFKD", name).casefold()
    return "".join(one for one in apart if one.isalnum()).rstrip("0123456789")


_PASSWORD_ENDINGS: Final = (
    "password", "passwd", "passphrase", "passwort", "kennwort", "losungswort", "motdepasse", "contrasena",
    "contrasenya", "wachtwoord", "losenord", "adgangskode", "adgangskod", "passord", "salasana",
    "passwords", "passphrases", "passworter", "passwoerter", "kennworter", "kennwoerter", "motsdepasse",
    "contrasenas", "wachtwoorden",
)  # fmt: skip
_PASSWORDS: Final = frozenset(
    map(write_plain, ("senha", "senhas", "palavrapasse", "parola", "şifre", "haslo", "hasło", "heslo",
                       "jelszó", "lozinka", "пароль", "пароли", "密码", "密碼", "パスワード", "비밀번호"))
)  # fmt: skip


@lru_cache(maxsize=4096)
def is_password_name(name: str) -> bool:
    """Whether the name means a password and nothing else, in any of some languages."""
    if not name or len(name) > _LONGEST_NAME:
        return False
    plain = write_plain(unquote(name))
    return plain.endswith(_PASSWORD_ENDINGS) or plain in _PASSWORDS


@lru_cache(maxsize=4096)
def is_about_a_login(key: str) -> bool:
    """Whether an object of that name is about one login: `auth`, `credentials`, `api_key`."""
    words = split_name(key)
    return bool(words) and (
        words[-1] in {"auth", "credential", "credentials", "creds", "authorization", "authentication",
                      "secrets", "login", "passwords", "tokens", "cookies"}
        or is_credential_name(key)
    )  # fmt: skip


@lru_cache(maxsize=4096)
def judge_name(name: str, *, is_sent: bool) -> Certainty:
    """is_sent: whether the member is a header's or a parameter's."""
    name = unquote(name) if "%" in name else name
    if not name or len(name) > _LONGEST_NAME:
        return ""
    if is_credential_name(name) or is_password_name(name):
        return "clear"
    words = split_name(name)
    if not words:
        return ""
    last, before = words[-1], words[-2] if len(words) > 1 else ""
    if last in _CLEAR_LAST:
        return "" if before in _OTHER_TOKENS else "clear"
    if last == "key" and before in _CLEAR_BEFORE_KEY:
        return "clear"
    if last in _PLURALS and before in _CLEAR_BEFORE_PLURAL:
        return "clear"
    if last in _PROBABLE and (last not in _PLURALS or not before):
        return "probable"
    if is_sent and not _OTHER_HEADERS.intersection(words) and _SENT_WORDS.intersection(words):
        is_about = last in _NAMES_NO_VALUE and not _IDS_OF_SESSIONS.intersection(words)
        if not is_about and name.casefold() not in _SENT_POSSIBLE:
            return "probable"
    return "possible" if "".join(words) in _POSSIBLE or (is_sent and last in _POSSIBLE) else ""


def is_clear_plural(name: str) -> bool:
    """Whether the name means several credentials: `api_keys`, `accessTokens`."""
    words = split_name(name)
    return len(words) > 1 and words[-1] in _PLURALS and words[-2] in _CLEAR_BEFORE_PLURAL


# ---------------------------------------------------------------------------- one-time codes and PINs

CodeKind: TypeAlias = Literal["code", "pin", ""]

_LAST_WORDS: Final = frozenset(
    {"otp", "totp", "hotp", "passcode", "cvv", "cvc", "cvv2", "cvc2", "puk", "mfa", "2fa"}
)
"""Last words of such names."""
_CODE_ENDINGS: Final = (
    "otpcode", "totpcode", "onetimecode", "onetimepin", "onetimekey", "pincode", "passcode", "verificationcode",
    "securitycode", "mfacode", "factorcode", "2facode", "smscode", "authcode", "authenticationcode",
    "authorizationcode", "accesscode", "unlockcode", "recoverycode", "backupcode", "logincode",
)  # fmt: skip
"""Ends of such names, without what stands between their words."""
_CODE: Final = re.compile(r"[A-Za-z0-9]{1,64}(?:[ -][A-Za-z0-9]{1,64}){0,7}")
_PIN: Final = re.compile(r"[0-9]{4,12}")
_SHORTEST_CODE: Final = 4
_LONGEST_CODE: Final = 200


@lru_cache(maxsize=4096)
def find_code_kind(name: str) -> CodeKind:
    """What a name says that its value is; empty: no code."""
    words = split_name(name) if len(name) <= _LONGEST_NAME else []
    if not words:
        return ""
    joined = "".join(words).removesuffix("s")
    if words[-1].removesuffix("s") in _LAST_WORDS or joined.endswith(_CODE_ENDINGS):
        return "code"
    return "pin" if words[-1] == "pin" else ""


def is_code(value: str, kind: CodeKind) -> bool:
    """Whether a value has the form of a code: a PIN is digits alone, another code has one of them."""
    if kind == "pin":
        return _PIN.fullmatch(value) is not None
    if kind != "code" or not _SHORTEST_CODE <= len(value) <= _LONGEST_CODE:
        return False
    return any(map(str.isdigit, value)) and _CODE.fullmatch(value) is not None
