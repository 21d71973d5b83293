"""Which headers an author may set: the runtime's own list (`cinatra_sdk.header_names`).

Loads no package: the checker runs without LangGraph and without an HTTP client.
"""

from __future__ import annotations

from cinatra_sdk.header_names import refusal

__all__ = ["refusal"]
