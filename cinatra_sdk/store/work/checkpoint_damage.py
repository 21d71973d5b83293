"""Whether the checkpoints of a run are whole, as far as the rows themselves tell.

    count_values(checkpoint, metadata)   ->  the metadata, with the number of values that belong to it
    require_whole(tuple_)                ->  the checkpoint; `CheckpointDamaged` where it lacks a value
    find_damage(saver, "r1")             ->  "a checkpoint cannot be decoded (KeyError)"; empty: none is found

LangGraph keeps each value of a state in a row of its own, and takes a missing row for an empty channel: a
run that lost one would go on without the value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import psycopg

from cinatra_sdk.errors import CheckpointsUnusable, FenceLost

if TYPE_CHECKING:
    from langgraph.checkpoint.base import Checkpoint, CheckpointMetadata, CheckpointTuple

COUNT: Final = "values"
"""Member of the metadata of a checkpoint: how many channels have a value."""


class CheckpointDamaged(CheckpointsUnusable):
    """A checkpoint is not as it was written."""


def count_values(checkpoint: Checkpoint, metadata: CheckpointMetadata) -> CheckpointMetadata:
    counted: CheckpointMetadata = {**metadata, COUNT: _count(checkpoint, metadata)}  # type: ignore[typeddict-unknown-key]  # a checkpointer may add members
    return counted


def _count(checkpoint: Checkpoint, metadata: object) -> int:
    """Values that lie whole in the rows of the checkpoint; a list that grows lies in several."""
    # Imported late: listing runs must not load the engine.
    from cinatra_sdk.langgraph_internals.channels import list_growing_channels

    # What has no version is written nowhere.
    written = checkpoint["channel_values"].keys() & checkpoint["channel_versions"].keys()
    return len(written - list_growing_channels(metadata))


def require_whole(found: CheckpointTuple) -> CheckpointTuple:
    """Raises: `CheckpointDamaged`."""
    metadata: Any = found.metadata
    if not isinstance(metadata, dict):
        raise CheckpointDamaged("the metadata of a checkpoint of the run are no object")
    if found.checkpoint.get("id") != found.config["configurable"].get("checkpoint_id"):
        raise CheckpointDamaged("a checkpoint of the run has the id of none, or of another")
    written = metadata.get(COUNT)  # none of a checkpoint that an earlier version wrote
    if written is not None and written != _count(found.checkpoint, metadata):
        raise CheckpointDamaged(
            "a checkpoint of the run lacks a value of its state",
            hint="resume the run: its checkpoints are made again from its evidence",
        )
    return found


def find_damage(saver: Any, run_id: str) -> str:
    """saver: with the checkpoints of the run; each is read and decoded."""
    # Imported late: listing runs must not load the engine.
    from cinatra_sdk.langgraph_internals.checkpoint_ids import config_of

    parents: dict[tuple[str, str], str] = {}
    try:
        for found in saver.list(config_of(run_id)):
            about = require_whole(found).config["configurable"]
            parent = (found.parent_config or {}).get("configurable", {}).get("checkpoint_id", "")
            parents[about.get("checkpoint_ns", ""), about["checkpoint_id"]] = parent
    except (psycopg.Error, FenceLost):
        raise
    except Exception as error:  # noqa: BLE001 - a decoder raises anything of bytes that are not its own
        return f"a checkpoint cannot be read ({type(error).__name__})"
    if any(parent and (ns, parent) not in parents for (ns, _), parent in parents.items()):
        return "a checkpoint is gone that a later one follows"
    return ""
