"""The keys of `metadata.cinatra` that are probably misspelt.  Not a rule itself.

    InputMessageNode {"riskclass": "read_only"}                       ->   riskclass is riskClass
    InputMessageNode {"riskclass": …, "riskClass": "read_only"}       ->   nothing: the key is there
    InputMessageNode {"team": "sales"}                                ->   nothing: metadata is free

Rules about a missing key ask this module first, so that one slip makes one finding.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

from cinatra_sdk.text.spelling import plain
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.schema.cinatra import OTHER_KEYS, keys_of

_OTHERS: Final = frozenset(OTHER_KEYS)
_AND_THESE: Final = frozenset({"type", "llm", "name"})
"""Keys of real files that are not misspelt."""
SHORTEST: Final = 5
LONGEST: Final = 40
"""Characters of the longest key that is compared."""
CUTOFF: Final = 0.85
MAX_KEYS: Final = 300
"""Different unknown keys of a file that are compared, because comparing is slow."""


def known_keys(component_type: str) -> frozenset[str]:
    """The keys of a component that the host and this compiler read, and that can be missing
    unnoticed.
    """
    keys = keys_of(component_type)
    # Without the `type` of a flow: OAS102 reports a missing type.
    return _OTHERS if keys is None else frozenset(keys) - {"type"}


def misspelt(component: Written) -> dict[str, str]:
    """Written key → the missing key that is probably meant."""
    known = known_keys(component.type)
    return misspelt_keys(component.cinatra, known) if component.cinatra else {}


def misspelt_keys(written: Collection[str], known: frozenset[str]) -> dict[str, str]:
    """The same for any object with known keys."""
    found: dict[str, str] = {}
    unknown = [key for key in written if key not in known and key not in _AND_THESE]
    for key in unknown[:MAX_KEYS]:
        meant = nearest_key(key, known)
        if meant and meant not in written:
            found[key] = meant
    return found


def meant_keys(subject: Subject) -> frozenset[tuple[str, str]]:
    """(pointer of a component, key that it has in a wrong spelling), as in OAS133."""
    return frozenset(
        (component.pointer, meant)
        for component, slips in components_with_slips(subject)
        for meant in slips.values()
    )


def components_with_slips(subject: Subject) -> Iterator[tuple[Written, dict[str, str]]]:
    """Each component with misspelt keys; in a huge file only the first components are checked."""
    compared: set[tuple[str, str]] = set()
    for component in subject.components:
        if not component.cinatra or len(compared) > MAX_KEYS:
            continue
        known = known_keys(component.type)
        unknown = {key for key in component.cinatra if key not in known}
        if unknown:
            compared |= {(component.type, key) for key in list(unknown)[:MAX_KEYS]}
            found = misspelt(component)
            if found:
                yield component, found


@lru_cache(maxsize=8192)
def nearest_key(key: str, known: frozenset[str]) -> str:
    """The known key that is probably meant; empty where no key is near."""
    known_plain = {plain(one): one for one in sorted(known)}
    word = plain(key[: LONGEST + 1])
    if word in known_plain:
        return known_plain[word]
    if not SHORTEST <= len(key) <= LONGEST:
        return ""
    close = get_close_matches(word, known_plain, n=1, cutoff=CUTOFF)
    return known_plain[close[0]] if close else ""
