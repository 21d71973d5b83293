"""The spellings under which a secret comes back, and cutting them out of a text.

In: the secrets of a run.  Out: every spelling that is cheap to look for; a text without them.

    forms_of(("tok-1234",))                  tok-1234, tok%2d1234 …, its base64, its hex, 4321-kot
    cut_from("got TOK-1234", forms)          "got [redacted]"

Looked for without regard to case: as it is, percent-encoded, escaped as JSON or HTML, in base64
(also inside a longer text, as in `Basic …`), in hex, and backwards.  What is split, encrypted,
compressed or encoded twice is beyond this: see `HttpPlatform(opaque=…)`.
"""

from __future__ import annotations

import base64
import functools
import html
import json
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, quote_plus

REDACTED: Final = "[redacted]"
SHORTEST_SECRET: Final = 4
"""Shorter ones are not looked for: they would blank out ordinary words, and can be guessed."""
_SHORTEST_FORM: Final = 8
"""An encoded form that is shorter stands in ordinary text by chance."""


@functools.lru_cache(maxsize=256)
def forms_of(secrets: tuple[str, ...]) -> tuple[str, ...]:
    """Every spelling of the secrets, in lower case; empty where there is none to look for."""
    found: dict[str, None] = {}
    for secret in secrets:
        if len(secret) >= SHORTEST_SECRET:
            found.setdefault(_folded(secret))
            encoded = (_folded(form) for form in _encoded(secret))
            found.update(dict.fromkeys(form for form in encoded if len(form) >= _SHORTEST_FORM))
    return tuple(found)


def long_enough(name: str, secret: str | None) -> str:
    """`secret`, or nothing where there is none.

    Raises: `ValueError` for one that could not be cut out of answers.
    """
    if secret and len(secret) < SHORTEST_SECRET:
        raise ValueError(
            f"{name} has fewer than {SHORTEST_SECRET} characters: it could not be found in an answer"
        )
    return secret or ""


def _encoded(secret: str) -> Iterator[str]:
    raw = secret.encode("utf-8", "surrogatepass")
    yield quote(raw)
    yield quote(raw, safe="")
    yield quote_plus(raw)
    yield "".join(f"%{byte:02x}" for byte in raw)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret)[1:-1].replace("/", "\\/")
    yield json.dumps(json.dumps(secret)[1:-1])[1:-1]
    yield html.escape(secret)
    yield raw.hex()
    for between in (" ", ":", "-"):
        yield raw.hex(between)
    yield secret[::-1]
    for before in range(3):
        yield from _base64(raw, before)


def _base64(raw: bytes, before: int) -> Iterator[str]:
    """What base64 makes of `raw` behind so many other bytes, without what depends on those around."""
    padded = bytes(before) + raw
    whole = len(padded) // 3 * 3
    first = {0: 0, 1: 2, 2: 3}[before]
    kept = len(base64.b64encode(padded[:whole])) + {0: 0, 1: 1, 2: 2}[len(padded) - whole]
    yield base64.b64encode(padded).decode()[first:kept]
    yield base64.urlsafe_b64encode(padded).decode()[first:kept]


def cut_from(text: str, forms: tuple[str, ...]) -> str:
    """`text` with every stretch that spells a secret replaced; overlapping ones together."""
    if not forms:
        return text
    folded = _folded(text)
    stretches = [found for form in forms if form in folded for found in _stretches(folded, form)]
    if not stretches:
        return text
    pieces: list[str] = []
    end = 0
    for start, stop in _joined(sorted(stretches)):
        pieces += (text[end:start], REDACTED)
        end = stop
    return "".join([*pieces, text[end:]])


def _stretches(text: str, form: str) -> Iterator[tuple[int, int]]:
    start = text.find(form)
    while start >= 0:
        stop, following = start + len(form), text.find(form, start + 1)
        while 0 <= following <= stop:
            stop, following = following + len(form), text.find(form, following + 1)
        yield start, stop
        start = following


def _joined(stretches: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    start, stop = stretches[0]
    for further, end in stretches[1:]:
        if further <= stop:
            stop = max(stop, end)
        else:
            yield start, stop
            start, stop = further, end
    yield start, stop


def _folded(text: str) -> str:
    """`text` in lower case, letter for letter: U+0130 alone would become two."""
    return text.replace("\u0130", "I").lower()
