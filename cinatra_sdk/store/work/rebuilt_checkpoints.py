"""Checkpoints that are made again in memory, and then stored in place of a run's own, all or none.

rebuilt = RebuiltCheckpoints()
graph = flow.graph(rebuilt)                        an ordinary checkpointer, in memory
rebuilt.replace(connection, claim, lowering=4)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata
from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk.events import RunEvent
from cinatra_sdk.langgraph_internals.postgres_saver import OpenedSaver, knows_statements
from cinatra_sdk.langgraph_threads.serializer import STRICT_SERIALIZER
from cinatra_sdk.postgres.connection import Rows, one
from cinatra_sdk.store.work.checkpoint_damage import count_values
from cinatra_sdk.store.work.claims import Claim, build_fence_error
from cinatra_sdk.store.work.event_rows import list_event_columns, list_gate_columns
from cinatra_sdk.store.work.statement import Gathered, UnknownWrites


class _Gatherer(OpenedSaver):
    """LangGraph's Postgres saver, whose writes wait."""

    def __init__(self) -> None:
        super().__init__(None, serde=STRICT_SERIALIZER)  # type: ignore[arg-type]  # it only writes
        self.gathered: Gathered | UnknownWrites = (
            Gathered() if knows_statements() else UnknownWrites()
        )

    @contextmanager
    def gather_writes(self) -> Iterator[Any]:
        yield self.gathered


class RebuiltCheckpoints(InMemorySaver):
    """A checkpointer in memory; every write is encoded for the database as it is made."""

    def __init__(self) -> None:
        super().__init__(serde=STRICT_SERIALIZER)
        self._gatherer = _Gatherer()
        self.newest = ""
        """Id of the newest checkpoint."""

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        counted = count_values(checkpoint, metadata)
        self._gatherer.put(config, checkpoint, counted, new_versions)
        self.newest = max(self.newest, checkpoint["id"])
        return super().put(config, checkpoint, counted, new_versions)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        self._gatherer.put_writes(config, writes, task_id, task_path)
        super().put_writes(config, writes, task_id, task_path)

    def replace(
        self, connection: Rows, claim: Claim, *, lowering: int, events: Sequence[RunEvent] = ()
    ) -> None:
        """Store these in place of the claimed run's checkpoints, with the events that tell of it.

        lowering: the layout that they are in.

        Raises: `FenceLost` where another worker has the run, or somebody ended it.
        """
        gathered = self._gatherer.gathered
        waiting = gathered if isinstance(gathered, Gathered) else Gathered()
        about = {"run_id": claim.run_id, "fence": claim.fence}
        with connection.transaction():
            cleared = one(connection, "clear_checkpoints", {**about, "lowering": lowering})
            if cleared is None or not cleared["cleared"]:
                raise build_fence_error(claim.run_id)
            if isinstance(gathered, UnknownWrites):
                with connection.cursor() as cursor:
                    gathered.carry_out(cursor)
            parameters = {
                **about, "tenant": claim.row["tenant"], "policy_sha256": "", **waiting.columns(),
                **list_event_columns(events), **list_gate_columns(()),
            }  # fmt: skip
            if one(connection, "write_work", parameters) is None:
                raise build_fence_error(claim.run_id)
