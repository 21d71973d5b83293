"""As `bait`, and being imported counts already."""

from __future__ import annotations

from tests.attacks.bait import MADE, Bait

MADE.append("imported")
__all__ = ["Bait"]
