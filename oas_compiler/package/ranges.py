"""npm version ranges: the shared reading of `cinatra_sdk.values.version_ranges`."""

from __future__ import annotations

from cinatra_sdk.values.version_ranges import (
    highest,
    in_order,
    is_range,
    is_version,
    refusal,
    satisfies,
)

__all__ = ["highest", "in_order", "is_range", "is_version", "refusal", "satisfies"]
