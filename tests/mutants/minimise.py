"""The smallest mutant that still fails in the same way.

    minimise(made, fails)  ->  a mutant whose files are as small as `fails` lets them be

First whole files go, then members and elements of a JSON document, largest first, then spans of
its text.  The number of attempts is bounded: small enough to read is enough.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from tests.mutants.mutations import Mutant

ATTEMPTS: Final = 400


class _Tries:
    """Asks whether a smaller one still fails, until there have been enough."""

    def __init__(self, fails: Callable[[Mutant], bool], attempts: int) -> None:
        self._fails = fails
        self.left = attempts

    def __call__(self, made: Mutant) -> bool:
        self.left -= 1
        return self.left >= 0 and self._fails(made)


def minimise(made: Mutant, fails: Callable[[Mutant], bool], *, attempts: int = ATTEMPTS) -> Mutant:
    """`made` must fail itself; so does what comes back."""
    tries = _Tries(fails, attempts)
    for name in list(made.files):
        kept = {other: raw for other, raw in made.files.items() if other != name}
        if name != made.document and tries(replace(made, files=kept)):
            made = replace(made, files=kept)
    for name in list(made.files):
        made = _smaller_value(made, name, tries)
        if made.given != "mapping":
            made = _smaller_text(made, name, tries)
    return made


def _with(made: Mutant, name: str, raw: bytes) -> Mutant:
    return replace(made, files={**made.files, name: raw})


def _smaller_value(made: Mutant, name: str, tries: _Tries) -> Mutant:
    try:
        value = json.loads(made.files[name])
    except (ValueError, RecursionError):
        return made
    if not tries(_with(made, name, json.dumps(value).encode())):
        return made  # it fails for its text, not for what it says
    changed = True
    while changed and tries.left > 0:
        changed = False
        for smaller in _without_one(value):
            attempt = _with(made, name, json.dumps(smaller).encode())
            if tries(attempt):
                made, value, changed = attempt, smaller, True
                break
    return made


def _without_one(value: Any) -> Iterator[Any]:
    """Copies without one member or element, the largest part first."""
    places: list[tuple[int, tuple[str | int, ...]]] = []
    waiting: list[tuple[Any, tuple[str | int, ...]]] = [(value, ())]
    while waiting:
        current, path = waiting.pop()
        if path:
            places.append((len(json.dumps(current)), path))
        if isinstance(current, dict):
            waiting += [(member, (*path, key)) for key, member in current.items()]
        elif isinstance(current, list):
            waiting += [(item, (*path, index)) for index, item in enumerate(current)]
    for _, path in sorted(places, key=lambda place: -place[0]):
        copy = json.loads(json.dumps(value))
        container = copy
        for key in path[:-1]:
            container = container[key]
        del container[path[-1]]
        yield copy


def _smaller_text(made: Mutant, name: str, tries: _Tries) -> Mutant:
    raw = made.files[name]
    size = len(raw) // 2
    while size and tries.left > 0:
        at = 0
        while at < len(raw):
            shorter = raw[:at] + raw[at + size :]
            if tries(_with(made, name, shorter)):
                raw = shorter
            else:
                at += size
        size //= 2
    return _with(made, name, raw)
