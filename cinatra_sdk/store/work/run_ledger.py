"""The ledger of a stored run: the table `effects`, written only while this worker has the run.

    ledger = RunLedger(database, run_id="r1", fence=7)
    ledger.begin(effect)      one statement: the run goes on, it is ours, and the effect is begun
    ledger.finish(effect, EffectResult(value={"id": "m-1"}))

A result that arrives after another worker took the run over is not recorded, not even as a note at the
row.  The other worker may be making the same effect at this moment, under the same key, and its checkpoint
has to agree with its own record.  A receiver that knows the key answers both workers alike; an effect that
is at most once is `unknown` to the other worker, and a person settles it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

from psycopg.types.json import Json
from pydantic import JsonValue

from cinatra_sdk.contract import ENDED, is_send_class
from cinatra_sdk.errors import RunBusy, RunEnded, StoreError, StoreUnreachable
from cinatra_sdk.outside.effects.door import Begun, Differs, Entry, Stored, Unknown
from cinatra_sdk.outside.effects.effect import Effect, EffectFailure, EffectResult, read_usage
from cinatra_sdk.postgres.connection import Row, one
from cinatra_sdk.store.database import Database
from cinatra_sdk.store.work.brakes import PAUSED, Brake, make_drained
from cinatra_sdk.store.work.claims import build_fence_error

LOOKS: Final = 10
"""Times that a row is looked at which others write at the same moment."""
CUT_OFF: Final[Mapping[str, JsonValue]] = {
    "code": "cut_off",
    "message": "an earlier attempt was cut off",
}

RAISED: Final = "raised"
"""Member of the recorded error of a call: the error itself, as `recorded_errors` describes it."""


class RunLedger:
    """Implements `Ledger` for one activation."""

    asks_run = True

    def __init__(
        self,
        database: Database,
        *,
        run_id: str,
        fence: int,
        brake: Brake | None = None,
        ends_nodes: bool = False,
    ) -> None:
        """brake: of the activation; once it is pulled, no effect is begun.  ends_nodes: whether a node that
        has begun makes its further effects all the same, where the process ends: nobody knows what else it
        would do again.
        """
        self._database = database
        self._run_id = run_id
        self._fence = fence
        self._brake = Brake() if brake is None else brake
        self._ends_nodes = ends_nodes
        self.unreachable: StoreUnreachable | None = None
        """Why the database could not be asked, or told, of an effect: no failure of the run."""
        self.on_admitted: Callable[[], None] = lambda: None
        """Called when a node is about to make an effect by itself, of which no row will tell."""
        self.before_call: Callable[[], None] = lambda: None
        """Called before each effect is begun: stores what a stop in the middle of it would lose."""

    def begin(self, effect: Effect) -> Entry:
        """Raises: `GraphDrained` where the run is paused, or the process ends."""
        self._refuse_braked()
        self.before_call()
        asked = {**self._about(effect), **_list_columns(effect), "cut_off": Json(dict(CUT_OFF))}
        for _ in range(LOOKS):
            row = self._ask_database("begin_effect", asked)
            entry = self._read_row(effect, row)
            if entry is not None:
                return entry
        raise _build_busy_error(effect)

    def finish(self, effect: Effect, result: EffectResult) -> None:
        self._end(effect, "done", result=list_result(result), usage=Json(result.usage.to_json()))

    def fail(self, effect: Effect, failure: EffectFailure) -> None:
        told: dict[str, Any] = {"code": failure.code, "message": failure.message}
        if failure.raised:
            told[RAISED] = dict(failure.raised)
        if not failure.reached:
            told["reached"] = False
        used = None if failure.usage is None else Json(failure.usage.to_json())
        status = "unknown" if effect.once and failure.reached else "failed"
        self._end(effect, status, error=Json(told), usage=used)

    async def abegin(self, effect: Effect) -> Entry:
        return await asyncio.to_thread(self.begin, effect)

    async def afinish(self, effect: Effect, result: EffectResult) -> None:
        await asyncio.to_thread(self.finish, effect, result)

    async def afail(self, effect: Effect, failure: EffectFailure) -> None:
        await asyncio.to_thread(self.fail, effect, failure)

    def _about(self, effect: Effect) -> dict[str, Any]:
        return {"run_id": self._run_id, "fence": self._fence, "key": effect.key}

    def _end(self, effect: Effect, status: str, **ending: Any) -> None:
        nothing = {"result": None, "usage": None, "error": None}
        about = {**self._about(effect), "once": effect.once}
        asked = {**about, "status": status, **nothing, **ending}
        row = self._ask_database("end_effect", asked)
        if row is None:
            raise build_fence_error(self._run_id)
        if row["ended"] is None:
            raise RunBusy(f"the effect of node '{effect.path}' was not begun by this activation")

    def _ask_database(self, query: str, asked: Row) -> Row | None:
        try:
            with self._database.connection() as connection:
                return one(connection, query, asked)
        except StoreUnreachable as error:
            self.unreachable = error
            raise

    def _refuse_braked(self) -> None:
        reason = self._brake.reason
        if reason == PAUSED or (reason is not None and not self._ends_nodes):
            raise make_drained(reason)

    def _read_row(self, effect: Effect, row: Row | None) -> Entry | None:
        """None where somebody wrote the row while it was read, so that it has to be read again.

        Raises: `RunBusy`, `RunEnded`, `StoreError`.
        """
        if row is None:
            raise StoreError(f"run '{self._run_id}' is not there any more")
        self.refuse_standing(row)
        if row["made"] is not None:
            return Unknown() if row["made"] == "unknown" else Begun(attempt=row["attempts"])
        if row["known"] in {None, "failed"}:
            return None
        if row["request_sha256"] != effect.request_sha256:
            return Differs()
        if row["known"] == "done":
            return Stored(result=read_result(row["result"], row["usage"]))
        if row["known"] == "unknown":
            return Unknown(_read_message(row["known_error"]))
        if row["known_fence"] == self._fence:
            raise _build_busy_error(effect)
        return None

    def refuse_standing(self, row: Row) -> None:
        """Raise where the run makes no further call: it was rejected, has ended, is another worker's, or
        is paused (`GraphDrained`).

        row: with its `status`, the gate of its rejection, its fence and `paused`.  The decisions are read too,
        because a tampered checkpoint may lead past a rejection.
        """
        if row["rejected_at_gate"]:
            raise RunEnded(
                f"run '{self._run_id}' was rejected at gate '{row['rejected_at_gate']}'",
                hint="no further call is made",
            )
        if row["status"] in ENDED:
            raise RunEnded(
                f"run '{self._run_id}' is {row['status']}", hint="no further call is made"
            )
        if row["fence"] != self._fence:
            raise build_fence_error(self._run_id)
        if row["paused"]:
            self._brake.pull(PAUSED)
            raise make_drained(PAUSED)

    def ask(self, _effect: Effect) -> None:
        """As `begin` asks, for an effect that has no row of its own."""
        self._refuse_braked()
        self.before_call()
        row = self._ask_database("load_standing", {"run_id": self._run_id})
        if row is not None:
            self.refuse_standing(row)
        self.on_admitted()


def _list_columns(effect: Effect) -> dict[str, Any]:
    return {
        "kind": effect.kind,
        "capability": effect.capability,
        "path": effect.place or effect.path,
        "visit": effect.visit,
        "item": effect.item,
        "risk": effect.risk,
        "request_sha256": effect.request_sha256,
        "shown_sha256": effect.shown_sha256,
        "once": effect.once,
        "lasts": effect.once or is_send_class(effect.risk),
        "governed": None if effect.governed is None else Json(effect.governed),
    }


def list_result(result: EffectResult) -> Json:
    """The result as its column keeps it."""
    return Json({"value": result.value, "artifacts": list(result.artifacts)})


def _read_message(error: object) -> str:
    """The message of a recorded error; empty where the attempt was cut off, or none can be read."""
    if not isinstance(error, Mapping) or error == CUT_OFF:
        return ""
    message = error.get("message")
    return message if isinstance(message, str) else ""


def read_result(kept: Mapping[str, Any], usage: Mapping[str, Any]) -> EffectResult:
    return EffectResult(
        value=kept["value"],
        artifacts=tuple(kept["artifacts"]),
        usage=read_usage(usage),
        status="replayed",
    )


def _build_busy_error(effect: Effect) -> RunBusy:
    return RunBusy(
        f"the effect of node '{effect.path}' is being made at this moment",
        hint="try again when it has ended",
    )
