"""Recognises literal credentials in texts.

In: a text.  Out: the kind of credential in it, never the credential itself.

    "Bearer sk-proj-4f0…"      ->  "an API key (sk-…)"
    "{{ api_key }}", "<KEY>"   ->  "", but "<sk-proj-4f0…>" and "{{ 'sk-proj-4f0…' }}" are
    "postgres://app:s3cr3t-pw@db.internal/app"   ->  "an address with its password"

Linear in the length of the text: every pattern begins with a fixed text, and none repeats a
repetition.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from oas_compiler.checks.subject import Subject
from oas_compiler.document.scope import DEFINITIONS
from oas_compiler.ir import JsonValue
from oas_compiler.text.safe_text import AFTER_SERVICE, SERVICES

_SCHEMES: Final = (
    "postgres", "postgresql", "mysql", "mariadb", "mongodb", r"mongodb\+srv", "redis", "rediss",
    "amqp", "amqps", "mssql", "ftp", "psycopg", "psycopg2", "asyncpg", "pymysql",
)  # fmt: skip
"""Schemes of addresses that are used with a password; the last ones as in `postgresql+asyncpg`."""
_SHAPES: Final = (
    ("sk-", "an API key (sk-…)", r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{16,}"),
    ("gh", "a GitHub token (gh?_…)", r"(?<![A-Za-z0-9])gh[opusr]_[A-Za-z0-9]{20,}"),
    (
        "github_pat_",
        "a GitHub token (github_pat_…)",
        r"(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{20,}",
    ),
    ("ya29.", "a Google access token (ya29.…)", r"ya29\.[A-Za-z0-9_-]{8,}"),
    ("xox", "a Slack token (xox?-…)", r"xox[a-z]-[A-Za-z0-9-]{8,}"),
    ("AKIA", "an AWS access key (AKIA…)", r"(?<![A-Za-z0-9])AKIA[0-9A-Z]{16}"),
    ("ASIA", "an AWS access key (ASIA…)", r"(?<![A-Za-z0-9])ASIA[0-9A-Z]{16}"),
    # look-behind, so that a run of characters is searched from its beginning only
    (
        "eyJ",
        "a JSON web token (eyJ…)",
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]+\.(?:eyJ[A-Za-z0-9_-]+|[A-Za-z0-9_-]{16,})\.[A-Za-z0-9_-]+",
    ),
    *(
        (part, kind, rf"(?<![A-Za-z0-9_])(?:{start}){AFTER_SERVICE}[A-Za-z0-9_+/=.-]*")
        for start, part, kind in SERVICES
    ),
    (":AA", "a Telegram token (…:AA…)", r"(?<![0-9])[0-9]{8,10}:AA[A-Za-z0-9_-]{16,}"),
    (
        "/api/webhooks/",
        "a Discord webhook address",
        r"/api/webhooks/[0-9]{10,25}/(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20,}",
    ),
    (
        "Key=",
        "an Azure account key",
        r"(?:Account|SharedAccess)Key=(?=[A-Za-z+/]{0,60}[0-9])[A-Za-z0-9+/]{20,}={0,2}",
    ),
    (
        "-----BEGIN ",
        "a private key (PEM)",
        (
            r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
            r"[\\rn\s\"'+,]{0,60}(?:[A-Za-z0-9+/=]{8}|Proc-Type:|Version:)"
        ),
    ),
    (
        "hooks.slack.com/",
        "a Slack webhook address",
        # with X alone it is the example in Slack's documents
        (
            r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9]{6,40}/[A-Za-z0-9]{6,40}/"
            r"(?![Xx]{8})[A-Za-z0-9]{16,}"
        ),
    ),
    (
        "://",
        "an address with its password",
        # with a digit, and not on an example host: examples in documents have neither
        # the schemes are looked back for, so that the search begins with a fixed text
        r"://(?:" + "|".join(rf"(?<={scheme}://)" for scheme in _SCHEMES) + ")"
        r"[^\s:/@\"'{}$<>]{0,80}:"
        r"(?=[^\s@]{0,120}[0-9])[^\s@/\"'{}$<>*]{6,120}@"
        r"(?!localhost|127\.|0\.0\.0\.0|\[::1\]|host\.docker\.|example\.|host[:/])",
    ),
)
"""A text that each credential of a kind has in it, its kind, and its pattern."""
_KNOWN: Final = tuple((part, kind, re.compile(pattern)) for part, kind, pattern in _SHAPES)
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


def is_user_and_password(value: str) -> bool:
    """Whether a text is what stands behind `Basic`: a user and a password in Base64."""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in plain and plain.isascii()


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


# ----------------------------------------------------------------------------
# Recognises names of credentials, and literal credentials under such names.
#
#     "X-Api-Key", "access_token", "clientSecret"          names of credentials
#     "max_tokens", "next_page_token", "token_count"       none
#     "Bearer abcdef123456", "hunter2-very-secret"         written out
#     "Bearer {{ token }}", "<key>", "env:KEY", "count"    stands for one, or is a word
#
# Linear in the length of name and value.


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
_SHORTEST_NAME: Final = 6
_NAMED_SCHEMES: Final = ("basic", "bearer", "token", "apikey", "digest")
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
    if len(value) < _SHORTEST_NAME or "://" in value or any(map(str.isspace, value)):
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
    return rest.strip() if scheme.casefold() in _NAMED_SCHEMES else value


def _names_one(value: str) -> bool:
    """Whether the value is only the name of a credential: "x-api-key", "my-password"."""
    plain = value.replace("-", "").casefold()
    return any(word in plain for word in ("key", "token", "secret", "password", "auth"))


# ----------------------------------------------------------------------------
# Credentials among the arguments of a program that is an MCP server.
#
# In: a `Subject`.  Out: each argument that is named like a credential and has its value written out.
#
#     "args": ["--token", "hunter2", "--api-key=d41d8cd9…", "--header", "X-Api-Key: d41d8cd9…"]
#         ->  "--token", "--api-key", "X-Api-Key"
#     "args": ["--token", "{{ token }}", "--max-tokens", "200", "--token-file", "/run/token"]
#         ->  none


_PROGRAMS: Final = ("StdioTransport", "PluginStdioTransport")
_PAIR: Final = re.compile(r"(-{0,2}\w[\w-]{0,80})(?:=|:\s*)(.+)", re.DOTALL)
"""Name and value in one argument."""


class ProgramArgument(NamedTuple):
    """A credential that a program is started with."""

    name: str
    """With its dashes: `--token`."""
    value: str
    whole: str
    """The argument as written, which may begin with the name."""
    position: int
    """Its place among the arguments."""
    pointer: str = ""


def find_argument_credentials(subject: Subject) -> Iterator[ProgramArgument]:
    """The credentials of all programs, in file order."""
    for program in subject.of_type(*_PROGRAMS):
        for argument in find_listed_credentials(program.items("args")):
            yield argument._replace(pointer=program.at("args", argument.position))


def find_listed_credentials(arguments: Sequence[JsonValue]) -> Iterator[ProgramArgument]:
    """The credentials among the arguments of one program, each once."""
    last = -1
    for argument in _read_arguments(arguments):
        name = argument.name.lstrip("-")
        # a program takes words too, so that a value counts as in a header
        if (
            argument.position != last
            and is_credential_name(name)
            and looks_written(name, argument.value, in_header=True)
        ):
            last = argument.position
            yield argument


def _read_arguments(arguments: Sequence[JsonValue]) -> Iterator[ProgramArgument]:
    """The arguments that have a name; where two names are possible, the argument twice."""
    before: JsonValue = ""
    for index, item in enumerate(arguments):
        if isinstance(item, str) and isinstance(before, str):
            pair = _PAIR.fullmatch(item)
            if before.startswith("-") and "=" not in before and not item.startswith("--"):
                yield ProgramArgument(before, item, item, index)
            if pair is not None:
                yield ProgramArgument(pair[1], pair[2], item, index)
        before = item
