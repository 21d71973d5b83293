"""The mark by which LangGraph leaves a pause open whose answer did not fit."""

from __future__ import annotations

from langgraph.errors import is_invalid_resume

__all__ = ["copy_mark", "is_invalid_resume"]


def copy_mark(error: BaseException, onto: BaseException) -> None:
    """Let LangGraph treat `onto` as it treats `error`: the pause stays open, and what runs beside it
    goes on.
    """
    onto.__dict__.update(vars(error))
