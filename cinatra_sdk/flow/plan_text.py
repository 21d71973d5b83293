"""A plan as one text: the same for plans that say the same, and for no others.

Of it come the hash to which the runs of a module are pinned, and the names of the placeholders that
a flow reads.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from cinatra_sdk.flow.plan import FlowPlan
from cinatra_sdk.values.json_text import Json


def write_plan(plan: FlowPlan) -> str:
    """JSON with everything that the plan says, values of sensitive fields too: nobody shows it."""
    return json.dumps(_encode(plan), ensure_ascii=False)


def hash_plan(plan: FlowPlan) -> str:
    """sha256, in hex."""
    return hashlib.sha256(write_plan(plan).encode("utf-8", "surrogatepass")).hexdigest()


def _encode(value: Any) -> Any:
    if isinstance(value, Json):
        return [type(value).__name__, value.text]
    if is_dataclass(value):
        members = {one.name: _encode(getattr(value, one.name)) for one in fields(value)}
        return {"": type(value).__qualname__, **members}
    if isinstance(value, Mapping):
        return {str(key): _encode(one) for key, one in value.items()}
    if isinstance(value, frozenset):
        return sorted(map(str, value))
    if isinstance(value, (tuple, list)):
        return [_encode(one) for one in value]
    return value
