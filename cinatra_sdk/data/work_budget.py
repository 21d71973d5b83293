"""A counted budget of work, for one check or one rendering.

    work = Work(1_000)
    work.spend(900)
    work.spend(200)     ->  TooMuchWork: "it takes more than 1,000 steps"

All work on an author's text takes from one budget: rules of a schema, steps of a pattern, characters and
members that are compared.  A count is the same on every machine, so the same input is refused everywhere.
"""

from __future__ import annotations


class TooMuchWork(Exception):
    """The budget is used up; the text names the rule, and never a value."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.path: list[str | int] = []
        """Where in the value that happened, innermost first; filled in on the way out."""


class Work:
    """A budget of steps; a step is about what one rule of a schema costs on a small value."""

    __slots__ = ("_limit", "left")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.left = limit

    def spend(self, steps: int) -> None:
        """Raises: `TooMuchWork`."""
        self.left -= steps
        if self.left < 0:
            raise TooMuchWork(f"it takes more than {self._limit:,} steps")
