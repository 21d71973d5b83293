"""Recognises literal credentials in texts.

In: a text.  Out: the kind of credential in it, never the credential itself.

    "Bearer sk-proj-4f0…"      ->  "an API key (sk-…)"
    "{{ api_key }}", "<KEY>"   ->  "", but "<sk-proj-4f0…>" and "{{ 'sk-proj-4f0…' }}" are
    "postgres://app:s3cr3t-pw@db.internal/app"   ->  "an address with its password"

Linear in the length of the text: every pattern begins with a fixed text, and none repeats a
repetition.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from oas_compiler.text.secrets import AFTER_SERVICE, SERVICES

_SCHEMES: Final = (
    "postgres", "postgresql", "mysql", "mariadb", "mongodb", r"mongodb\+srv", "redis", "rediss",
    "amqp", "amqps", "mssql", "ftp", "psycopg", "psycopg2", "asyncpg", "pymysql",
)  # fmt: skip
"""Schemes of addresses that are used with a password; the last ones as in `postgresql+asyncpg`."""
_KNOWN: Final = (
    ("sk-", "an API key (sk-…)", re.compile(r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}")),
    ("gh", "a GitHub token (gh?_…)", re.compile(r"(?<![A-Za-z0-9])gh[opusr]_[A-Za-z0-9]{20,}")),
    (
        "github_pat_",
        "a GitHub token (github_pat_…)",
        re.compile(r"(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{20,}"),
    ),
    ("ya29.", "a Google access token (ya29.…)", re.compile(r"ya29\.[A-Za-z0-9_-]{8,}")),
    ("xox", "a Slack token (xox?-…)", re.compile(r"xox[a-z]-[A-Za-z0-9-]{8,}")),
    ("AKIA", "an AWS access key (AKIA…)", re.compile(r"(?<![A-Za-z0-9])AKIA[0-9A-Z]{16}")),
    ("ASIA", "an AWS access key (ASIA…)", re.compile(r"(?<![A-Za-z0-9])ASIA[0-9A-Z]{16}")),
    # look-behind, so that a run of characters is searched from its beginning only
    (
        "eyJ",
        "a JSON web token (eyJ…)",
        re.compile(
            r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]+\.(?:eyJ[A-Za-z0-9_-]+|[A-Za-z0-9_-]{16,})\.[A-Za-z0-9_-]+"
        ),
    ),
    *(
        (part, kind, re.compile(rf"(?<![A-Za-z0-9_])(?:{start}){AFTER_SERVICE}[A-Za-z0-9_+/=.-]*"))
        for start, part, kind in SERVICES
    ),
    (
        ":AA",
        "a Telegram token (…:AA…)",
        re.compile(r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{16,}"),
    ),
    (
        "/api/webhooks/",
        "a Discord webhook address",
        re.compile(r"/api/webhooks/[0-9]{10,25}/(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20,}"),
    ),
    (
        "Key=",
        "an Azure account key",
        re.compile(
            r"(?:Account|SharedAccess)Key=(?=[A-Za-z+/]{0,60}[0-9])[A-Za-z0-9+/]{20,}={0,2}"
        ),
    ),
    (
        "-----BEGIN ",
        "a private key (PEM)",
        re.compile(
            r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
            r"[\\rn\s\"'+,]{0,60}(?:[A-Za-z0-9+/=]{8}|Proc-Type:|Version:)"
        ),
    ),
    (
        "hooks.slack.com/",
        "a Slack webhook address",
        # with X alone it is the example in Slack's documents
        re.compile(
            r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9]{6,40}/[A-Za-z0-9]{6,40}/"
            r"(?![Xx]{8})[A-Za-z0-9]{16,}"
        ),
    ),
    (
        "://",
        "an address with its password",
        # with a digit, and not on an example host: examples in documents have neither
        re.compile(
            # the schemes are looked back for, so that the search begins with a fixed text
            r"://(?:" + "|".join(rf"(?<={scheme}://)" for scheme in _SCHEMES) + ")"
            r"[^\s:/@\"'{}$<>]{0,80}:"
            r"(?=[^\s@]{0,120}[0-9])[^\s@/\"'{}$<>*]{6,120}@"
            r"(?!localhost|127\.|0\.0\.0\.0|\[::1\]|host\.docker\.|example\.|host[:/])",
        ),
    ),
)
_CONSTANT = re.compile(r"'([^']*)'|\"([^\"]*)\"")
"""A text that is written out inside a placeholder."""
_SHORTEST = 13
"""Characters of the shortest text that any pattern can match."""
_RUN = re.compile(r"[A-Za-z0-9+/=_-]+")
_STAND_INS = ("example", "redacted", "placeholder")
_LONGEST_STAND_IN = 200
_MIN_LENGTH: Final = 24
_MIN_ENTROPY: Final = 4.5
"""Bits per character (Shannon)."""


def find_known(text: str) -> Iterator[str]:
    """Every credential of a well-known shape, as far as its shape says."""
    if len(text) < _SHORTEST:
        return
    for prefix, _, pattern in _KNOWN:
        if prefix in text:
            yield from (found[0] for found in pattern.finditer(text))


def known_credential(text: str) -> tuple[str, int]:
    """The kind and the offset of the first credential of a well-known shape; `("", 0)` without
    one.
    """
    if len(text) < _SHORTEST:
        return "", 0
    hits = (
        (found.start(), kind)
        for prefix, kind, pattern in _KNOWN
        if prefix in text and (found := pattern.search(text)) is not None
    )
    start, kind = min(hits, default=(0, ""))
    return kind, start


def credential(text: str) -> str:
    """The kind of credential, by its shape or its randomness; empty for no credential (Cinatra
    V17).
    """
    if len(text) < _SHORTEST:
        return ""
    kind, start = known_credential(text)
    if is_stand_in(text):
        # "<sk-live0123…>" is a key in brackets, "<sk-your-api-key-goes-here>" is words
        if kind and any(map(str.isdigit, text[start:])):
            return kind
        return _find_constant_credential(text) if text.lstrip().startswith("{{") else ""
    return kind or random_text(text)


def _find_constant_credential(text: str) -> str:
    """The kind of credential that a text inside the placeholder is: `{{ 'sk-…' }}`."""
    kinds = (
        known_credential(constant)[0] or random_text(constant)
        for found in _CONSTANT.finditer(text)
        for constant in found.groups("")
    )
    return next(filter(None, kinds), "")


def is_stand_in(text: str) -> bool:
    """Whether the whole text is a placeholder: `{{ key }}`, `${KEY}`, `<KEY>`."""
    text = text.strip()
    if text.startswith("{{") and text.find("}}") == len(text) - 2:
        return True
    if len(text) > _LONGEST_STAND_IN:
        return False
    inner = text.removeprefix("$").removeprefix("{").removesuffix("}")
    if text.startswith("$") and inner.isidentifier():
        return True
    in_brackets = text.startswith("<") and text.find(">") == len(text) - 1
    return in_brackets or text.upper() == "REDACTED" or (bool(text) and not text.strip("*"))


def random_text(text: str) -> str:
    """A description of a part that looks random; empty where no part does."""
    for found in _RUN.finditer(text):
        word = found[0]
        if len(word) < _MIN_LENGTH or any(name in word.lower() for name in _STAND_INS):
            continue
        if _measure_entropy(word) >= _MIN_ENTROPY:
            return f"a random text of {len(word)} characters"
    return ""


def _measure_entropy(word: str) -> float:
    total = len(word)
    return -sum(n / total * math.log2(n / total) for n in Counter(word).values())
