"""How much a random or sweeping test tries: a spread by default, all of it with the long tests.

@settings(max_examples=tries(40, 300))
"""

from __future__ import annotations

import os
from typing import Final

LONG: Final = "OASFLOW_TEST_LONG"
"""Set to 1 by `./scripts/test --long`."""


def tries(default: int, whole: int) -> int:
    """`default`, or `whole` where the long tests were asked for."""
    return whole if os.environ.get(LONG) == "1" else default
