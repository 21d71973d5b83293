"""What the processes of the context tests do: select in a run and die, go on with it, race.

    until(point, world, run)    starts a run, answers its selection gate, and kills itself at
        "committing"    all rows of the selection are written, and not yet committed
        "finalized"     the finalize call has returned, and no checkpoint says so
        "consuming"     the consumer's call has reached the platform, and is not answered
        an int          before that many writes of the checkpointer
    on(world, run)              goes on with a run whose process died
    race(racer)                 sends one finalize after another, each at the same time as others

Each is the target of a process and says what it saw through a pipe or a file.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from langgraph.checkpoint.postgres import PostgresSaver

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.context import AgentContextSlot
from cinatra_sdk.host import FixedRuns, LocalPlatform, RunScope
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.outside.http_calls.protocol import Platform, PlatformCall
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.artifacts import selections as store_module
from cinatra_sdk.store.artifacts.artifacts import ArtifactStore
from cinatra_sdk.store.database import Database
from oas_compiler import compile_flow
from tests.lower.context_shelf import ANN, ORG, registry
from tests.store.recorder import stop_before

Json = dict[str, Any]
PACKAGE, SLOT, BRAND = "@test/agent", "brand", "@x/brand-artifact"
"""Of the flow `tests.slot_flows.declared()`."""
PICKED = ("style", "team")
"""What is selected: two of six candidates, in this order."""


def scope() -> RunScope:
    slot = AgentContextSlot(
        slotId=SLOT, acceptedArtifactExtensions=(BRAND,), selectionMode="interactive",
        resolutionMode="accumulate",
    )  # fmt: skip
    return RunScope(org_id=ORG, actor=ANN, package_name=PACKAGE, slots=(slot,))


class AnyRun(FixedRuns):
    """Every run is Ann's."""

    def scope(self, run_id: str) -> RunScope | None:
        return scope()


def envelope(refs: Any) -> str:
    pinned = ("artifactId", "representationRevisionId", "semanticAssertionId")
    chosen = [{key: ref[key] for key in pinned} for ref in refs]
    return json.dumps({"slotId": SLOT, "resolutionMode": "accumulate", "selectedRefs": chosen})


@dataclass(frozen=True)
class World:
    """Where the processes of one test meet."""

    dsn: str
    file: str
    """The flow."""
    record: str
    """A line for each call beyond the context routes."""

    def platform(self, database: Database) -> LocalPlatform:
        beyond = SimulatedPlatform({"write": {"text": "Hello"}}, record=self.record)
        return LocalPlatform(ArtifactStore(database), registry(BRAND), AnyRun(), beyond=beyond)

    def consumed(self, run_id: str) -> list[Json]:
        """The calls of the consumer in a run."""
        path = Path(self.record)
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
        calls = [json.loads(line) for line in lines]
        return [call for call in calls if (call["node"], call["run_id"]) == ("write", run_id)]


class Deadly:
    """A platform whose caller dies once `node` has been answered: the answer never arrives."""

    def __init__(self, inner: Platform, node: str) -> None:
        self.inner, self.node = inner, node

    def call(self, call: PlatformCall) -> Any:
        answer = self.inner.call(call)
        if call.node == self.node:
            die()
        return answer

    async def acall(self, call: PlatformCall) -> Any:
        return self.call(call)

    def describe(self) -> Json:
        return self.inner.describe()


def until(point: str | int, world: World, run_id: str) -> None:
    """Ends with 0 where the run was over before the point came."""
    database = Database.open(world.dsn)
    platform: Platform = world.platform(database)
    if point == "committing":
        stop_before(len(PICKED) + 1, len(PICKED), "kill")
    elif point == "finalized":
        platform = Deadly(platform, f"ctx-{SLOT}-finalize_interactive")
    elif point == "consuming":
        platform = Deadly(platform, "write")
    elif isinstance(point, int):
        before_checkpoint(point)
    store = RunStore(database)
    flow = compile_flow(world.file, platform=platform)
    run = store.start(flow, {"topic": "tides"}, run_id)
    while run.waiting:
        (gate,) = run.waiting
        offered = {ref["artifactId"]: ref for ref in gate.values["candidates"]}
        text = envelope(offered[id_] for id_ in PICKED)
        run = store.answer(run_id, gate.id, Decision.approve(by="ann", value=text))
    assert run.status == "completed", run.error
    database.close()


def on(world: World, run_id: str, said: Connection, *, forgetful: bool = False) -> None:
    """Says the run's status, the code and the message of its error."""
    database = Database.open(world.dsn)
    if forgetful:
        forget_pins()
    run = RunStore(database, platform=world.platform(database)).resume(run_id)
    error = run.error or {}
    said.send((run.status, error.get("code"), error.get("message")))
    database.close()


def before_checkpoint(number: int) -> None:
    left = [number]

    def tapped(original: Callable[..., Any]) -> Callable[..., Any]:
        def tap(*args: Any, **kwargs: Any) -> Any:
            left[0] -= 1
            if left[0] == 0:
                die()
            return original(*args, **kwargs)

        return tap

    for name in ("put", "put_writes"):
        setattr(PostgresSaver, name, tapped(getattr(PostgresSaver, name)))


def forget_pins() -> None:
    """What must be caught: a recorded selection is answered with the artifacts as they are now."""

    def pinned(store: ArtifactStore, choice: Any, triples: Any) -> Any:
        now = store.resolve(ANN, choice.slot, registry(BRAND)).candidates
        wanted = [triple.artifact_id for triple in triples]
        return tuple(ref for id_ in wanted for ref in now if ref.artifact_id == id_)

    ArtifactStore.pinned = pinned  # type: ignore[method-assign]


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


# ------------------------------------------------------------------------------- racing


@dataclass(frozen=True)
class Racer:
    """One of two processes that finalize at the same time."""

    world: World
    base_url: str
    """Where the routes are served, which then make the two meet; empty: in this process."""
    rounds: tuple[str, ...]
    """The envelopes, one after another."""
    salt: str = ""
    """What must be caught: a process whose keys are its own."""


def race(racer: Racer, barrier: Any, said: Connection) -> None:
    """Says what each round was answered."""
    database = Database.open(racer.world.dsn)
    if racer.salt:
        salt_keys(racer.salt)
    if racer.base_url:
        platform: Platform = HttpPlatform(racer.base_url, retries=0)
    else:
        platform = racer.world.platform(database)
        meet_before_writing(barrier, setattr)
    said.send([platform.call(finalizing(text)) for text in racer.rounds])
    database.close()


def finalizing(text: str) -> PlatformCall:
    body = {
        "parentRunId": "r1", "parentPackageName": PACKAGE, "slotId": SLOT, "projectId": "",
        "selectionMode": "interactive", "userResponse": text,
    }  # fmt: skip
    return PlatformCall(
        node=f"ctx-{SLOT}-finalize_interactive", path="", method="POST", run_id="r1",
        url="{{CINATRA_BASE_URL}}/api/context-finalize", body=body, context_id="c1",
    )  # fmt: skip


def meet_before_writing(barrier: Any, replace: Callable[[Any, str, Any], object]) -> None:
    """Whoever records a selection waits for the other: past every check, before the first row."""
    original = store_module.one

    def tapped(connection: Any, query: str, parameters: Any = None) -> Any:
        if query == "insert_selection" and parameters["id"].endswith(":0"):
            barrier.wait()
        return original(connection, query, parameters)

    replace(store_module, "one", tapped)


def salt_keys(salt: str) -> None:
    original = store_module.selection_key

    def salted(**about: Any) -> str:
        return original(**about | {"slot_id": about["slot_id"] + salt})

    store_module.selection_key = salted
