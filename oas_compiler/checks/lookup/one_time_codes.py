"""One-time codes, PINs and the codes of cards, by the names that they are written under.

find_code_kind("user_otp")     ->  "code"      also `oneTimeCode`, `passcode`, `cvv`, `recovery_codes`
find_code_kind("card_pin")     ->  "pin"
find_code_kind("otp_length")   ->  ""          says something about a code; so do `zip_code`, `pinned`
is_code("482913", "code"), is_code("4829", "pin")          a code
is_code("sms", "code"), is_code("art_1234", "pin")         none: a word, what is pinned
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, Literal, TypeAlias

CodeKind: TypeAlias = Literal["code", "pin", ""]

_SEPARATE: Final = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")
_LAST: Final = frozenset(
    {"otp", "totp", "hotp", "passcode", "cvv", "cvc", "cvv2", "cvc2", "puk", "mfa", "2fa"}
)
"""Last words of such names."""
_ENDS: Final = (
    "otpcode", "totpcode", "onetimecode", "onetimepin", "onetimekey", "pincode", "passcode", "verificationcode",
    "securitycode", "mfacode", "factorcode", "2facode", "smscode", "authcode", "authenticationcode",
    "authorizationcode", "accesscode", "unlockcode", "recoverycode", "backupcode", "logincode",
)  # fmt: skip
"""Ends of such names, without what stands between their words."""
_LONGEST_NAME: Final = 80
_CODE: Final = re.compile(r"[A-Za-z0-9]{1,64}(?:[ -][A-Za-z0-9]{1,64}){0,7}")
_PIN: Final = re.compile(r"[0-9]{4,12}")
_SHORTEST: Final = 4
_LONGEST: Final = 200


@lru_cache(maxsize=4096)
def find_code_kind(name: str) -> CodeKind:
    """What a name says that its value is; empty: no code."""
    words = split_name(name) if len(name) <= _LONGEST_NAME else []
    if not words:
        return ""
    joined = "".join(words).removesuffix("s")
    if words[-1].removesuffix("s") in _LAST or joined.endswith(_ENDS):
        return "code"
    return "pin" if words[-1] == "pin" else ""


def is_code(value: str, kind: CodeKind) -> bool:
    """Whether a value has the form of a code: a PIN is digits alone, another code has one of them."""
    if kind == "pin":
        return _PIN.fullmatch(value) is not None
    if kind != "code" or not _SHORTEST <= len(value) <= _LONGEST:
        return False
    return any(map(str.isdigit, value)) and _CODE.fullmatch(value) is not None


def split_name(name: str) -> list[str]:
    """`X-Api_keyOf` as `x`, `api`, `key`, `of`."""
    return [word for word in _SEPARATE.sub(" ", name).casefold().split() if word]
