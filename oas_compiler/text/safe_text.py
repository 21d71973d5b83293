r"""A name as an author wrote it in, text for one line of a screen or picture out.

safe("a\x1b[31mb") -> "a␛[31mb"
"""

from __future__ import annotations

import re
from typing import Final

# ----------------------------------------------------------------------------
# Makes text visible: a picture for every character that commands, reorders or is invisible.
#
#     visible("a\x1b[31m")    ->  "a␛[31m"        visible("paid\u200b")  ->  "paid\ufffd"
#
# Every character stays one character, so that columns stay right.  All code that shows foreign text
# (terminals, reports, pictures) uses this module, and treats line breaks itself.


_HIDDEN: Final = re.compile(
    r"(?<![\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])\u200d"  # a joiner that joins no pictures
    r"|\u200d(?![\u2190-\u2bff\U0001f000-\U0001faff])"
    r"|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufeff\uffa0"
    r"\ufff0-\ufffc\ufffe\uffff\U00013441\U00013442\U00016fe4\U0001bca0-\U0001bca3"
    r"\U0001d159\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Controls but for tab and line breaks, marks of direction, separators of lines and paragraphs,
letters of no width, halves of pairs, tags."""
_PICTURES: Final = 0x2400
_DELETE: Final = "\x7f"


def visible(text: str) -> str:
    """`text` with a picture for every letter that is not one; tabs and line breaks stay."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(_make_character_visible, text)


def _make_character_visible(found: re.Match[str]) -> str:
    character = found[0]
    if character < " ":
        return chr(_PICTURES + ord(character))
    return "\u2421" if character == _DELETE else "\ufffd"


# ----------------------------------------------------------------------------
# Text that neither commands a terminal nor reorders what is read, for reports that people see.
#
# plain("a\x1b[31m")    ->    "a␛[31m"          line breaks stay


def plain(text: str) -> str:
    """`text` with a visible picture for every character that is none."""
    return visible(text)


# ----------------------------------------------------------------------------
# A credential of a well-known shape as its kind and stars, in everything that is shown.
#
#     without_secrets('"key": "sk-live0123456789abcdef"')    ->    '"key": "sk-********************"'
#     without_secrets("https://bob:hunter2@host/x")          ->    "https://bob:*******@host/x"
#
# Every character keeps its position, so that columns and underlines stay right.


_WORD: Final = r"[A-Za-z0-9_\-./+=]"
_PLAIN: Final = r"(?=[A-Za-z]{0,40}[0-9])(?=[A-Za-z0-9]{12})"
"""Letters and digits only: behind a beginning that names of variables have, too."""
SERVICES: Final = (
    (rf"[sr]k_(?:live|test|prod)_{_PLAIN}", "k_", "an API key (?k_live_…)"),
    (r"gl(?:pat|ptt|dt|rt|oas|cbt|soat|ft|imt|agent)-", "gl", "a GitLab token (gl…-…)"),
    (r"xapp-", "xapp-", "a Slack token (xapp-…)"),
    (r"AIza", "AIza", "a Google API key (AIza…)"),
    (r"GOCSPX-", "GOCSPX-", "a Google client secret (GOCSPX-…)"),
    (r"whsec_", "whsec_", "a webhook secret (whsec_…)"),
    (rf"npm_{_PLAIN}", "npm_", "an npm token (npm_…)"),
    (r"pypi-", "pypi-", "a PyPI token (pypi-…)"),
    (r"dckr_(?:pat|oat)_", "dckr_", "a Docker token (dckr_…)"),
    (rf"hf_{_PLAIN}", "hf_", "a Hugging Face token (hf_…)"),
    (rf"(?:gsk|r8|lsv2_pt|lsv2_sk|lin_api|ntn|sntrys|sntryu|glsa|shippo_live)_{_PLAIN}", "_",
     "an API key"),
    (rf"(?:pplx|tvly|nvapi|pul|PMAK)-{_PLAIN}", "-", "an API key"),
    (r"(?:figd|sbp)_", "_", "an API key"),
    (r"AT[AC]TT3", "TT3", "an Atlassian token (AT?TT3…)"),
    (r"do[opr]_v1_", "_v1_", "a DigitalOcean token (do?_v1_…)"),
    (r"shp(?:at|ss|ca|pa)_", "shp", "a Shopify token (shp…_…)"),
    (r"SG\.", "SG.", "a SendGrid key (SG.…)"),
    (r"xkeysib-", "xkeysib-", "a Brevo key (xkeysib-…)"),
    (r"hv[sbr]\.", "hv", "a Vault token (hv?.…)"),
    (r"AGE-SECRET-KEY-", "AGE-", "an age key (AGE-SECRET-KEY-…)"),
)  # fmt: skip
"""Services: what their credentials begin with, a text that every one has in it, and its kind."""
_SERVICE: Final = "|".join(start for start, _, _ in SERVICES)
AFTER_SERVICE: Final = r"(?=[A-Za-z_+/=.-]{0,40}[0-9])[A-Za-z0-9_+/=.-]{12}"
"""What follows such a beginning, with a digit: `npm_config_registry` and `hf_your_token` are none."""
_SECRET: Final = re.compile(
    # `sk-` ends ordinary words, too: `task-list-of-the-week` is none.
    # and so do the others: `keyJournal` is none
    rf"(?P<kind>(?<![A-Za-z0-9])(?:sk-(?={_WORD}{{12}})"
    rf"|(?:gh[a-z]_|github_pat_|ya29\.|xox[a-z]-|AKIA|ASIA|eyJ)(?={_WORD}{{8}})"
    rf"|(?<![A-Za-z0-9_])(?:{_SERVICE})(?={AFTER_SERVICE})"
    # a bot of Telegram: its number may be shown
    rf"|(?:bot)?[0-9]{{8,10}}:AA(?={_WORD}{{16}}))){_WORD}+"
)
"""What the credentials of well-known services begin with, and what follows."""
_USER: Final = re.compile(
    r"""(?:(?<=://)|(?<=:\\/\\/))(?P<user>[^\s"'<>@/\\?\#:\[]*):"""
    r"""(?P<password>[^\s"'<>/\\?\#]*@|[^\s"'<>@/\\?\#]*)"""
)
"""What stands before the host of a URL, whose slashes may be escaped as in JSON."""
_PORT: Final = re.compile(r"\d{0,5}(?:[^\w%~!$&*+=-][^@]*)?")
"""A port, and what a sentence goes on with: a bracket, a comma, another address."""
_LATER: Final = re.compile(r"\{\{[^{}]*(?:\}\})?|\{\w*\}|\$\{[^{}]*\}|\$[A-Z_][A-Z0-9_]*", re.ASCII)
"""What stands for a value that comes later."""
_HALF: Final = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair: no text in UTF-8 has one."""


def without_secrets(text: str) -> str:
    """`text`, in which credentials of well-known shapes, and passwords of URLs, are starred."""
    if ":" in text and "/" in text:
        text = _USER.sub(_without_password, text)
    return _SECRET.sub(lambda found: found["kind"].ljust(len(found[0]), "*"), text)


def pointer_without_secrets(pointer: str) -> str:
    """A JSON Pointer in which no key is a credential, fit to be written as UTF-8.

    The other keys stay as they are; half of a surrogate pair is shown as U+FFFD.
    """
    safe = "/".join(map(_safe_key, pointer.split("/")))
    return safe if safe.isascii() else _HALF.sub("\ufffd", safe)


def _safe_key(key: str) -> str:
    plain = key.replace("~1", "/").replace("~0", "~")
    safe = without_secrets(plain)
    return key if safe == plain else safe.replace("~", "~0").replace("/", "~1")


def _without_password(found: re.Match[str]) -> str:
    password = found["password"]
    word = password.removesuffix("@")
    # Without the `@` it may be a text that was cut: no host has a port that is no number.
    if _LATER.fullmatch(word) or (word == password and _PORT.fullmatch(word)):
        return found[0]
    return f"{found['user']}:{'*' * len(word)}{password[len(word) :]}"


def kind_of_secret(value: str) -> range:
    """The beginning of a credential that names its kind and may be shown; else empty."""
    secret = _SECRET.search(value)
    return range(*secret.span("kind")) if secret else range(0)


_BLANKS = re.compile("[\n\t\r\u2028\u2029]")


def safe(text: str) -> str:
    """`text` on one line without a credential, or a character that XML forbids or that reorders."""
    text = without_secrets(text)
    return visible(_BLANKS.sub(" ", text))
