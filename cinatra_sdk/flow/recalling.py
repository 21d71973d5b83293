"""What branches of one node have made already, for those that begin again in the same activation.

    with recall.effects("each[3]") as runtime:      what nodes make with this runtime is remembered
        ...                                         until the block has ended without an error

A branch that pauses where it has no task begins again as one; see `cinatra_sdk.effects.unkept`.
There are only as many memories as branches that run or pause: making one takes a tenth of a branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from langgraph.runtime import Runtime

from cinatra_sdk.effects.unkept import Remembered
from cinatra_sdk.engine.runtime_context import HostContext, context_of, remembering

_Memory: TypeAlias = tuple[Remembered, Runtime[HostContext]]


@dataclass(frozen=True, slots=True)
class Recall:
    """The memories of the branches of one run of a node; safe to share between threads."""

    runtime: Runtime[HostContext]
    """Of the node."""
    is_on: bool
    _held: dict[str, _Memory] = field(default_factory=dict)
    """By the labels of branches that did not end."""
    _free: list[_Memory] = field(default_factory=list)

    @contextmanager
    def effects(self, label: str) -> Iterator[Runtime[HostContext]]:
        """Within, one run of the branch; the runtime for its nodes."""
        if not self.is_on:
            yield self.runtime
            return
        memory = self._held.pop(label, None) or self._take()
        try:
            yield memory[1]
        except BaseException:
            self._held[label] = memory
            raise
        memory[0].forget()
        self._free.append(memory)

    def _take(self) -> _Memory:
        try:
            return self._free.pop()
        except IndexError:
            remembered = Remembered()
            host = remembering(context_of(self.runtime.context), remembered)
            return remembered, self.runtime.override(context=host)
