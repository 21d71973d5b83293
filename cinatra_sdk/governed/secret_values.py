"""Finding credentials where they must not be: payloads, answers, error texts.

In: a JSON value or a text.  Out: the place of a credential (never its value), or the text with
every secret replaced by `[redacted]`.

    find_secret({"bearer_token": "abc"})  ->  "the key 'bearer_token'"
"""

from __future__ import annotations

import base64
import functools
import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, Final
from urllib.parse import unquote

from pydantic import JsonValue

from cinatra_sdk.light_imports.records import dataclass

# ----------------------------------------------------------------------------
# Finds secrets in their various spellings and cuts them out of a text.
#
# In: the secrets of a run.  Out: every spelling that is cheap to search for; a text without them.
#
#     forms_of(("tok-1234",))                  tok-1234, its base64, its hex, 4321-kot
#     cut_from("got TOK-1234", forms)          "got [redacted]"
#
# A secret is found in any case: literally, with any letters escaped as in a url, in JSON or in HTML,
# in base64 (also inside a longer text, as in `Basic …`), in hex, and backwards.  A secret that is
# split, cut short, encrypted, compressed or encoded twice is not found: see `HttpPlatform(opaque=…)`.


REDACTED: Final = "[redacted]"
SHORTEST_SECRET: Final = 4
"""Shorter secrets are not searched for: they would blank out ordinary words, and can be guessed."""
_ESCAPED: Final = re.compile(r"[%&\\+]")
_JSON_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-f]{4})|(.))")
_SHORTEST_FORM: Final = 8
"""Shorter encoded forms occur in ordinary text by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """The spellings to search for; false where there is none."""

    secrets: tuple[str, ...] = field(repr=False)
    """The secrets, in lower case like all spellings."""
    plain: tuple[str, ...] = field(repr=False)
    """The secrets and their encoded forms."""

    shortest: int = 0
    longest: int = 0

    def __bool__(self) -> bool:
        return bool(self.secrets)


@functools.lru_cache(maxsize=256)
def forms_of(secrets: tuple[str, ...]) -> Forms:
    """Every spelling of the secrets."""
    known = tuple(dict.fromkeys(_fold_case(one) for one in secrets if len(one) >= SHORTEST_SECRET))
    found = dict.fromkeys(known)
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            encoded = (_fold_case(form) for form in _list_encoded_forms(secret))
            found.update(dict.fromkeys(form for form in encoded if len(form) >= _SHORTEST_FORM))
    lengths = [len(form) for form in found] or [0]
    return Forms(secrets=known, plain=tuple(found), shortest=min(lengths), longest=max(lengths))


def long_enough(name: str, secret: str | None) -> str:
    """`secret`, or an empty text for None.

    Raises: `ValueError` for a secret that is too short to be cut out of answers.
    """
    if secret and len(secret) < SHORTEST_SECRET:
        raise ValueError(
            f"{name} has fewer than {SHORTEST_SECRET} characters: it could not be found in an answer"
        )
    return secret or ""


def _list_encoded_forms(secret: str) -> Iterator[str]:
    raw = secret.encode("utf-8", "surrogatepass")
    yield raw.hex()
    for between in (" ", ":", "-"):
        yield raw.hex(between)
    yield secret[::-1]
    for before in range(3):
        yield from _list_base64_forms(raw, before)


def _list_base64_forms(raw: bytes, before: int) -> Iterator[str]:
    """The base64 of `raw` at each offset inside a longer text, without characters that depend on
    the bytes around it.
    """
    padded = bytes(before) + raw
    whole = len(padded) // 3 * 3
    first = {0: 0, 1: 2, 2: 3}[before]
    kept = len(base64.b64encode(padded[:whole])) + {0: 0, 1: 1, 2: 2}[len(padded) - whole]
    yield base64.b64encode(padded).decode()[first:kept]
    yield base64.urlsafe_b64encode(padded).decode()[first:kept]


def cut_from(text: str, forms: Forms) -> str:
    """`text` with every spelling of a secret replaced; overlapping ones are replaced together."""
    if not forms or len(text) < forms.shortest:
        return text
    folded = _fold_case(text)
    stretches = [
        found for form in forms.plain if form in folded for found in _find_stretches(folded, form)
    ]
    if _ESCAPED.search(folded):
        stretches += _escaped_stretches(folded, forms.secrets)
    if not stretches:
        return text
    pieces: list[str] = []
    end = 0
    for start, stop in _merge_stretches(sorted(stretches)):
        pieces += (text[end:start], REDACTED)
        end = stop
    return "".join([*pieces, text[end:]])


def _escaped_stretches(text: str, secrets: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Where a secret stands with some of its letters escaped, in any mixture."""
    bare = _without_escapes(text)
    for secret in secrets:
        if any(secret in one for one in bare):
            yield from (found.span() for found in _compile_escaped_pattern(secret).finditer(text))


def _without_escapes(text: str) -> tuple[str, ...]:
    """`text` after undoing one kind of escapes, or several kinds one after the other."""
    percent = _fold_case(unquote(text))
    entities = _fold_case(html.unescape(text))
    slashes = _JSON_ESCAPE.sub(_decode_escape, text)
    again = _JSON_ESCAPE.sub(_decode_escape, slashes)
    every = _fold_case(html.unescape(unquote(again)))
    plus = (one.replace("+", " ") for one in (text, percent, every))
    return tuple(dict.fromkeys((percent, entities, slashes, again, every, *plus)))


def _decode_escape(found: re.Match[str]) -> str:
    code, letter = found.groups()
    if code is not None:
        return _fold_case(chr(int(code, 16)))
    return {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}.get(letter, letter)


@functools.lru_cache(maxsize=256)
def _compile_escaped_pattern(secret: str) -> re.Pattern[str]:
    """`secret` in lower case, each letter as it is or escaped."""
    return re.compile("".join(map(_build_letter_pattern, secret)))


def _build_letter_pattern(letter: str) -> str:
    spelt = [re.escape(letter)]
    for one in {letter, letter.upper()}:
        raw = one.encode("utf-8", "surrogatepass")
        spelt.append("".join(f"%{byte:02x}" for byte in raw))
        spelt += [f"&#0{{0,6}}{ord(char)};|&#x0{{0,6}}{ord(char):x};" for char in one]
        spelt += [rf"\\{{1,8}}u{ord(char):04x}" for char in one if ord(char) < 0x10000]
    named = html.escape(letter)
    if named != letter:
        spelt.append(re.escape(named))
    if letter == "'":
        spelt.append("&apos;")
    if letter == " ":
        spelt.append(r"\+")
    short = {"\n": "n", "\t": "t", "\r": "r", "\b": "b", "\f": "f"}.get(letter, re.escape(letter))
    if not letter.isalnum():
        spelt.append(rf"\\{{1,8}}{short}")
    return f"(?:{'|'.join(spelt)})"


def _find_stretches(text: str, form: str) -> Iterator[tuple[int, int]]:
    start = text.find(form)
    while start >= 0:
        stop, following = start + len(form), text.find(form, start + 1)
        while 0 <= following <= stop:
            stop, following = following + len(form), text.find(form, following + 1)
        yield start, stop
        start = following


def _merge_stretches(stretches: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    start, stop = stretches[0]
    for further, end in stretches[1:]:
        if further <= stop:
            stop = max(stop, end)
        else:
            yield start, stop
            start, stop = further, end
    yield start, stop


def _fold_case(text: str) -> str:
    """`text` in lower case, letter for letter: U+0130 alone would become two."""
    return text.replace("\u0130", "I").lower()


SECRET_KEYS: Final = frozenset(
    {
        "bearer_token", "api_key", "apikey", "a2a_bearer_token", "mcp_server_url", "password",
        "secret", "token", "access_token", "refresh_token", "client_secret", "private_key",
        "authorization", "run_token", "__cinatra_run_token__", "bridge_token",
    }
)  # fmt: skip
"""Keys whose non-empty value is a credential (Cinatra's list, and the carriers of run tokens)."""

_SHORTEST_ATTESTATION: Final = 70
_LARGEST: Final = 2**1000
_ATTESTATION: Final = re.compile(
    r"(?i)(?<![a-z0-9])(?:s1|v2)(?::|%3a)[0-9]{9,11}(?::|%3a)[0-9a-f]{64}(?![0-9a-f])"
)
"""Signatures of `HttpPlatform`: valid for minutes, for any holder and for other calls too."""

_PATTERNS: Final = (
    _ATTESTATION,
    re.compile(r"\bsk-[A-Za-z0-9_-]{16,}"),
    re.compile(r"\bgh[opars]_[A-Za-z0-9]{20,}"),
    re.compile(r"\bya29\.[A-Za-z0-9_-]{16,}"),
    re.compile(r"\bxox[bpars]-[A-Za-z0-9-]{10,}"),
    re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"\beyJ[A-Za-z0-9_-]{8,512}\.eyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{4,1024}"),
    re.compile(r"(?i:\bBearer)\s+[A-Za-z0-9._~+/-]{16,}"),
)
"""Shapes of well-known credentials; each is linear in the length of the text."""


def find_secret(value: object) -> str:
    """The place of a credential in `value`, in words; empty where there is none."""
    stack: list[tuple[object, str]] = [(value, "")]
    while stack:
        item, pointer = stack.pop()
        if isinstance(item, str):
            if any(pattern.search(item) for pattern in _PATTERNS):
                return f"a credential at '{pointer or '/'}'"
        elif isinstance(item, Mapping):
            for key, child in item.items():
                if str(key).lower() in SECRET_KEYS and isinstance(child, str) and child:
                    return f"the key '{key}'"
                stack.append((child, f"{pointer}/{key}"))
        elif isinstance(item, (list, tuple)):
            stack.extend((child, f"{pointer}/{i}") for i, child in enumerate(item))
    return ""


def without_secrets(values: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The members of `values` that hold no credential."""
    return {key: value for key, value in values.items() if not find_secret({key: value})}


def redact(text: str, known: Iterable[str] = ()) -> str:
    """`text` without the `known` secrets of the run and without well-known shapes of secrets."""
    text = cut_from(text, forms_of(tuple(known)))
    for pattern in _PATTERNS:
        text = pattern.sub(REDACTED, text)
    return text


def cut_out(value: JsonValue, secrets: Iterable[str]) -> JsonValue:
    """`value` with every occurrence of the given secrets in its strings, keys and numbers replaced."""
    forms = forms_of(tuple(secrets))
    return _remove_secrets(value, forms) if forms else value


def _remove_secrets(value: JsonValue, forms: Forms) -> JsonValue:
    if isinstance(value, str):
        # A fast path for every call of a run: most names and words are shorter than any secret.
        if len(value) < forms.shortest and len(value) < _SHORTEST_ATTESTATION:
            return value
        return without_attestations(cut_from(value, forms))
    if isinstance(value, list):
        return [_remove_secrets(item, forms) for item in value]
    if isinstance(value, dict):
        return {
            str(_remove_secrets(key, forms)): _remove_secrets(item, forms)
            for key, item in value.items()
        }
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    # A token of digits may come back as a number.  (No run keeps one of more than 64 bit, and
    # Python does not write one of thousands of digits.)
    digits = repr(value) if 1000 <= abs(value) < _LARGEST else ""
    return REDACTED if cut_from(digits, forms) != digits else value


def without_attestations(text: str) -> str:
    """`text` without signatures of `HttpPlatform`, also those of an earlier call."""
    marked = any(mark in text for mark in ("1:", "2:", "1%3", "2%3"))
    return _ATTESTATION.sub(REDACTED, text) if marked else text


def clean_error(error: BaseException, secrets: Iterable[str]) -> bool:
    """Cut the secrets out of all parts of `error`: text, hint, url, code, cause.

    Returns False where the error still shows a secret, in the name of its class or a computed text.
    """
    known = tuple(secrets)
    error.args = tuple(_clean_part(part, known) for part in error.args)
    for name, held in list(vars(error).items()):
        setattr(error, name, _clean_part(held, known))
    error.__cause__ = error.__context__ = None
    said = f"{type(error).__name__} {error} {error!r}"
    return redact(said, known) == said


def _clean_part(part: Any, known: tuple[str, ...]) -> Any:
    return redact(part, known) if isinstance(part, str) else cut_out(part, known)
