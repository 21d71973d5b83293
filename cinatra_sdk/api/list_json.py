"""What a surface tells of many runs at once, beyond pages of them: how many there are.

make_count(store.count(status="waiting"))  ->  {"count": 14}
"""

from __future__ import annotations

from pydantic import with_config
from typing_extensions import TypedDict

from cinatra_sdk.api.gate_json import DESCRIBED


@with_config(DESCRIBED)
class CountJson(TypedDict):
    """How many runs, or open gates, fit."""

    count: int


def make_count(number: int) -> CountJson:
    return {"count": number}
