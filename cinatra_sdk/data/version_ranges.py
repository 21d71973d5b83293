"""npm version ranges: recognises ranges, and the versions that they admit.

    is_range("^0.1.0")                          ->  True
    satisfies("0.2.0", "^0.1.0")                ->  False: below 1.0.0 the minor number must stay
    highest(["1.2.0", "1.3.0-rc.1"], ">=1")     ->  "1.2.0": a prerelease is never taken unasked
    refusal("workspace:*")                      ->  'a place ("workspace:"), not a version range'

The rules are those of npm's `semver` package without its loose mode and without
`includePrerelease`.  The library node-semver applies them, and is imported on first use.  Texts
that it accepts but npm refuses are refused here first, and none of its exceptions leaves this
module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cmp_to_key, lru_cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence


MAX_LENGTH: Final = 256
"""Characters of a version or a range; npm's own limit, and what keeps matching fast."""
_LARGEST: Final = 2**53 - 1
"""Largest number in a version: npm counts in doubles."""
_USUAL: Final = re.compile(r"[~^]?(?:0|[1-9][0-9]{0,8})(?:\.(?:0|[1-9][0-9]{0,8})){2}")
"""What nearly every range looks like; that it is one needs no library."""
_THREE_NUMBERS: Final = re.compile(r"(?:0|[1-9][0-9]{0,8})(?:\.(?:0|[1-9][0-9]{0,8})){2}")
_FOREIGN: Final = re.compile(r"[^\t\n\r -~]")
"""npm's digits and blanks are ASCII; Python's patterns would take others for them."""
_NUMBER: Final = re.compile(r"[0-9]+")
_AFTER_WILDCARD: Final = re.compile(r"(?:^|[\s.v=<>])[xX*](?:\.[xX*])*\.[0-9]")
"""`1.x.3`: a number that would have no effect; npm reads it after `^` and `~` and in `1 - 2` only."""
_TOLERANT: Final = re.compile(r"(?:~>?|\^)\s*\S+|\S+\s+-\s+\S+")
_PLACE: Final = re.compile(r"([a-z][a-z+]{1,9}):", re.IGNORECASE)
_TAG: Final = re.compile(r"[a-wy-z][a-z0-9_-]*|x[a-z0-9_-]+", re.IGNORECASE)
_BUILD: Final = re.compile(r"(?<=[0-9xX*])\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*")


def is_range(text: object) -> bool:
    """Whether this is a version range of npm; tags (`latest`) and places (`file:…`) are none."""
    return isinstance(text, str) and (
        bool(_USUAL.fullmatch(text)) or _parse_range(text) is not None
    )


def is_version(text: object) -> bool:
    """Whether this is one exact version, `1.2.3`, `1.2.3-rc.1` or `1.2.3+build`."""
    return isinstance(text, str) and (
        bool(_THREE_NUMBERS.fullmatch(text)) or _parse_version(text) is not None
    )


def satisfies(version: str, text: str) -> bool:
    """Whether the range admits the version; False where one of the two cannot be read."""
    found, wanted = _parse_version(version), _parse_range(text)
    return found is not None and wanted is not None and bool(wanted.test(found))


def highest(versions: Iterable[str], text: str) -> str | None:
    """The highest of `versions` that the range admits; `None` where there is none."""
    fitting = [version for version in versions if satisfies(version, text)]
    return in_order(fitting)[-1] if fitting else None


def in_order(versions: Iterable[str]) -> list[str]:
    """From the lowest to the highest; what is no version stands before all others."""

    def compare(one: str, other: str) -> int:
        first, second = _parse_version(one), _parse_version(other)
        if first is None or second is None:
            return (first is not None) - (second is not None) or (one > other) - (one < other)
        return int(first.compare(second)) or (one > other) - (one < other)

    return sorted(versions, key=cmp_to_key(compare))


def refusal(text: object) -> str:
    """What `text` is instead of a range, for a message; empty for a range."""
    if not isinstance(text, str):
        return "no text"
    if is_range(text):
        return ""
    word = text.strip()
    if len(text) > MAX_LENGTH:
        return f"longer than {MAX_LENGTH} characters"
    place = _PLACE.match(word)
    if place:
        return f'a place ("{place[1].lower()}:"), not a version range'
    if _TAG.fullmatch(word):
        return "a name that only a registry could resolve, not a version range"
    if "/" in word:
        return "a place, not a version range"
    return "not a version range of npm"


@lru_cache(maxsize=4096)
def _parse_range(text: str) -> Any:
    """node-semver's own object; `None` when npm would refuse the text."""
    if not _is_plain(text):
        return None
    if any(_AFTER_WILDCARD.search(_TOLERANT.sub("", part)) for part in text.split("||")):
        return None
    import nodesemver

    try:
        # Build metadata has no part in a comparison, and the library refuses it in `~1.2+b`.
        made = nodesemver.make_range(_BUILD.sub("", text.strip()), False)
    except (ValueError, TypeError, AttributeError, IndexError):
        return None
    _widest_alone(made, nodesemver.ANY)
    return made


def _widest_alone(made: Any, anything: object) -> None:
    """`* || ^2.0.0-rc` is `*` to npm: an alternative that admits everything stands alone."""
    alternatives: Sequence[Sequence[Any]] = made.set
    for comparators in alternatives:
        if all(one.semver is anything for one in comparators):
            made.set = [comparators]
            return


@lru_cache(maxsize=4096)
def _parse_version(text: str) -> Any:
    if not _is_plain(text):
        return None
    import nodesemver

    try:
        return nodesemver.make_semver(text.strip(), False)
    except (ValueError, TypeError, AttributeError, IndexError):
        return None


def _is_plain(text: str) -> bool:
    if len(text) > MAX_LENGTH or _FOREIGN.search(text):
        return False
    return all(len(digits) < 17 and int(digits) <= _LARGEST for digits in _NUMBER.findall(text))
