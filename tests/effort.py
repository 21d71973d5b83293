"""How much a random or sweeping test tries: a spread by default, all of it with the long tests.

@settings(max_examples=tries(40, 300))
@pytest.mark.parametrize("row", spread(ROWS, family=lambda row: row.code, every=4))
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final, TypeVar

T = TypeVar("T")

LONG: Final = "OASFLOW_TEST_LONG"
"""Set to 1 by `./scripts/test --long`."""


def tries(default: int, whole: int) -> int:
    """`default`, or `whole` where the long tests were asked for."""
    return whole if os.environ.get(LONG) == "1" else default


def spread(cases: Sequence[T], *, family: Callable[[T], Hashable], every: int) -> list[Any]:
    """All cases, as parameters: by default the first of each family is tried and each `every`-th."""
    import pytest  # `tries` is also for processes that a test starts: it would be most of their start

    met: Counter[Hashable] = Counter()
    marked = []
    for case in cases:
        of = family(case)
        marks = [] if met[of] % every == 0 else [pytest.mark.long]
        marked.append(pytest.param(case, marks=marks))
        met[of] += 1
    return marked
