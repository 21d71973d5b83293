"""Finds secrets in their various spellings and cuts them out of a text.

In: the secrets of a run.  Out: every spelling that is cheap to search for; a text without them.

    forms_of(("tok-1234",))                  tok-1234, its base64, its hex, 4321-kot
    cut_from("got TOK-1234", forms)          "got [redacted]"

A secret is found in any case: literally, with any letters escaped as in a url, in JSON or in HTML,
in base64 (also inside a longer text, as in `Basic …`), in hex, and backwards.  A secret that is
split, cut short, encrypted, compressed or encoded twice is not found: see `HttpPlatform(opaque=…)`.
"""

from __future__ import annotations

import base64
import functools
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote

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
