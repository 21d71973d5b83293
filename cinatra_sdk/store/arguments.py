"""Arguments of the store's methods that people and programs hand on: ids, tenants, names of gates.

check_names(run_id="r1", tenant=None)     taken
check_names(run_id=b"r1")                 InputInvalid: 'run_id' is a bytes, not a text

A driver's error would name neither the argument nor the rule.
"""

from __future__ import annotations

from typing import Final

from cinatra_sdk.errors import InputInvalid
from cinatra_sdk.text.people import UNKEEPABLE

LONGEST: Final = 2_000
"""Characters of an argument; the longest ids are paths of gates."""


def check_names(most: int = LONGEST, /, **names: object) -> None:
    """Refuse arguments that no database takes, and longer ones than `most` characters; None is no
    argument.

    Raises: `InputInvalid`, which names the argument.
    """
    for name, given in names.items():
        problem = _find_problem(given, most)
        if problem:
            raise InputInvalid(f"'{name}' {problem}", hint="give a text as the store lists it")


def _find_problem(given: object, most: int) -> str:
    if given is None:
        return ""
    if not isinstance(given, str):
        return f"is a {type(given).__name__}, not a text"
    if len(given) > most:
        return f"has more than {most:,} characters"
    found = UNKEEPABLE.search(given)
    return f"holds U+{ord(found[0]):04X}, which no database takes" if found else ""
