"""The journal: results of branches that run without a LangGraph task, stored by the engine all the same.

    journal.read(…)                     entries of earlier runs of the node: {"each[0]": …} is known
    journal.add("each[1]", result)      stored within a hundredth of a second, with other results of that time
    journal.keep(["each[2]"])           stored now, with the note that `each[2]` goes on as a task

An entry is the result of one LangGraph task, which the engine stores with every checkpointer and
durability, also while the node has not ended.  One entry holds many results: a task for each branch
would cost several times what the branch does.

The engine knows a task by its number in the node.  So a node that runs again begins the same tasks in
the same order: it reads entry after entry, and begins the task of a branch where an entry says so.
The first entry that is missing is stored as an empty entry.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import copy_context
from dataclasses import field
from typing import Any, Final, TypeAlias

from langgraph.runtime import Runtime

from cinatra_sdk.flow.branches.branches import BranchNotes
from cinatra_sdk.langgraph_internals.nodes import begin_task
from cinatra_sdk.langgraph_threads.host_context import HostContext, context_of, remembering
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.door import Remembered

_NAME: Final = "kept"
_PAUSE: Final = 0.01
"""Seconds between two entries, at least: what a process that dies may have to do again."""
_SHARE: Final = 20
"""An entry takes longer the more there are; so many times as long nothing is kept after it."""
_PATIENCE: Final = 1.0
"""Seconds to wait for the engine where the host bounds its tasks: the node may have the only turn."""
_LAST: Final = 1.0
"""Seconds that a node whose run is stopped waits at most, to keep what had ended in it."""
Entry = dict[str, Any]


class Journal:
    """The kept results of one visit of a node, and of the nodes inside its branches."""

    def __init__(
        self, *, is_kept: bool, is_bounded: bool, handed: BranchNotes | None = None
    ) -> None:
        """is_kept: whether there are checkpoints.  is_bounded: whether the host bounds tasks.

        handed: what is known already, of a run of the node without a task around it.
        """
        self.notes = BranchNotes() if handed is None else handed.copy()
        self._is_kept = is_kept
        self._patience = _PATIENCE if is_bounded else None
        self._added: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._wake: Callable[[], None] = _nothing
        self._begun: list[Any] = []
        self._pause = _PAUSE
        self._context = copy_context()

    def add(self, place: str, result: Any, inside: Sequence[str] = ()) -> None:
        """Take in a branch that has ended; inside: branches in it, which nobody asks for any more."""
        with self._lock:
            for one in inside:
                self.notes.results.pop(one, None)
                self._added.pop(one, None)
            self.notes.results[place] = result
            if self._is_kept:
                self._added[place] = result
        self._wake()

    def _take_added(self, apart: Sequence[str]) -> Entry | None:
        with self._lock:
            added, self._added = self._added, {}
        return {"results": added, "apart": list(apart)} if added or apart else None

    def _learn(self, entry: Entry) -> list[str]:
        with self._lock:
            self.notes.results.update(entry["results"])
        return list(entry["apart"])

    def _measure(self, since: float) -> None:
        self._pause = max(_PAUSE, (time.monotonic() - since) * _SHARE)

    # ------------------------------------------------------------------ threads

    def read(self, is_enough: Callable[[], bool]) -> list[str]:
        """Read on; the places of branches that now go on as tasks.

        is_enough: whether every branch is known; then nothing more is read.
        """
        apart: list[str] = []
        while self._is_kept and not apart and not is_enough():
            old = self._begin(_make_empty())
            if old is None:
                break
            apart = self._learn(old)
        return apart

    def keep(self, apart: Sequence[str] = ()) -> None:
        """Keep what was added, and which branches go on as tasks."""
        entry = self._take_added(apart)
        if not self._is_kept or entry is None:
            return
        since = time.monotonic()
        while (
            old := self._begin(entry)
        ) is not None:  # its place is taken: a write overtook another
            self._learn(old)
        self._measure(since)

    def settle(self) -> None:
        """Wait until the engine has what is kept: before the node raises anything."""
        concurrent.futures.wait(self._begun, timeout=self._patience)

    @contextmanager
    def keeping(self) -> Iterator[None]:
        """Within, what is added is kept after a while; what is left, where something is raised."""
        if not self._is_kept:
            yield
            return
        try:
            with self._keeping_beside():
                yield
        except BaseException:
            with suppress(Exception):  # what was raised within has to be told
                self.keep()
                concurrent.futures.wait(self._begun, timeout=_LAST)
            raise

    @contextmanager
    def _keeping_beside(self) -> Iterator[None]:
        added, ended = threading.Event(), threading.Event()
        broken: list[BaseException] = []

        def work() -> None:
            try:
                while added.wait() and not ended.wait(self._pause):
                    added.clear()
                    if ended.is_set():  # meanwhile: nobody sets `added` again
                        return
                    self.keep()
            except BaseException as error:  # noqa: BLE001 - raised in the node's own thread
                broken.append(error)

        self._wake = added.set
        thread = threading.Thread(target=work, name="oasflow-kept", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._wake = _nothing
            ended.set()
            added.set()
            thread.join()
        if broken:
            raise broken[0]

    def _begin(self, entry: Entry) -> Entry | None:
        """The entry that was kept in this place before, if any; else this one is."""
        ran = []

        def give() -> Entry:
            ran.append(True)
            return entry

        future = self._context.copy().run(begin_task, _NAME, give)
        if future.done() and not ran:
            old: Entry = future.result()
            return old
        self._begun = [one for one in self._begun if not one.done()]
        self._begun.append(future)
        return None

    # ------------------------------------------------------------------ an event loop

    async def aread(self, is_enough: Callable[[], bool]) -> list[str]:
        """As `read`, for an event loop."""
        apart: list[str] = []
        while self._is_kept and not apart and not is_enough():
            old = await self._abegin(_make_empty())
            if old is None:
                break
            apart = self._learn(old)
        return apart

    async def akeep(self, apart: Sequence[str] = ()) -> None:
        """As `keep`, for an event loop; the engine has it then."""
        entry = self._take_added(apart)
        if not self._is_kept or entry is None:
            return
        since = time.monotonic()
        while (old := await self._abegin(entry)) is not None:
            self._learn(old)
        self._measure(since)

    @asynccontextmanager
    async def akeeping(self) -> AsyncIterator[None]:
        """As `keeping`, for an event loop."""
        if not self._is_kept:
            yield
            return
        added, ended = asyncio.Event(), asyncio.Event()

        async def work() -> None:
            while True:
                await added.wait()
                if await _is_set_within(ended, self._pause):
                    return
                added.clear()
                if ended.is_set():  # meanwhile: nobody sets `added` again
                    return
                await self.akeep()

        self._wake = added.set
        keeper = asyncio.create_task(work())

        def stop() -> None:
            self._wake = _nothing
            ended.set()
            added.set()

        try:
            yield
            stop()
            await asyncio.wait([keeper])
        except BaseException:
            stop()
            await _await_last(keeper)
            await _await_last(asyncio.create_task(self.akeep()))
            raise
        keeper.result()

    async def _abegin(self, entry: Entry) -> Entry | None:
        ran = []

        async def give() -> Entry:
            ran.append(True)
            return entry

        future: asyncio.Future[Entry] = asyncio.ensure_future(begin_task(_NAME, give))
        await asyncio.wait([future], timeout=self._patience)
        return future.result() if future.done() and not ran else None


@dataclass(frozen=True, slots=True)
class Keeper:
    """What a branch that runs without a task has instead, for the nodes inside it."""

    journal: Journal
    ended: list[str] = field(default_factory=list)
    """Branches of those nodes that have ended, by their places."""


def _make_empty() -> Entry:
    return {"results": {}, "apart": []}


def _nothing() -> None:
    """Nobody waits for what is added."""


async def _await_last(task: asyncio.Task[None]) -> None:
    """Wait for a task of a run that is stopped, but not for long, and whatever it raises."""
    await asyncio.wait([task], timeout=_LAST)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    waiting: Awaitable[Any] = event.wait()
    try:
        await asyncio.wait_for(waiting, seconds)
    except TimeoutError:
        return False
    return True


# ----------------------------------------------------------------------------
# What branches of one node have made already, for those that begin again in the same activation.
#
#     with recall.effects("each[3]") as runtime:      what nodes make with this runtime is remembered
#         ...                                         until the block has ended without an error
#
# A branch that pauses where it has no task begins again as one; see `cinatra_sdk.outside.effects.door`.
# There are only as many memories as branches that run or pause: making one takes a tenth of a branch.


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
