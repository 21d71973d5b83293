"""A choice is shown to the run's platform before it is recorded, and refused where that knows better."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, Run, RunStore, SimulatedPlatform
from cinatra_sdk.context import PinnedTriple
from cinatra_sdk.context.selector import RENDERER
from cinatra_sdk.errors import AnswerInvalid, StoreError
from cinatra_sdk.outside.http_calls.protocol import KeepsArtifacts
from oas_compiler import Flow, compile_flow
from tests.flows import end, flow_of, gate, message, port, start

REFS = [
    {
        "artifactId": f"a{number}", "representationRevisionId": f"r{number}",
        "semanticAssertionId": f"s{number}", "extension": "@x/voice", "sourceScope": "team",
        "ownerId": "ann",
    }
    for number in range(6)
]  # fmt: skip
SHOWN = {"candidates": REFS, "slotMeta": {"slotId": "brand", "resolutionMode": "accumulate"}}


class Knowing(SimulatedPlatform):
    """Another host's platform, which knows what is gone."""

    def __init__(self, *gone: str, fails: bool = False) -> None:
        super().__init__()
        self.gone, self.fails = gone, fails
        self.asked: list[tuple[str, list[str]]] = []

    def withdrawn(self, run_id: str, triples: Sequence[PinnedTriple]) -> Sequence[str]:
        self.asked.append((run_id, [triple.artifact_id for triple in triples]))
        if self.fails:
            raise StoreError("the artifacts cannot be reached")
        return [triple.artifact_id for triple in triples if triple.artifact_id in self.gone]


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        yield opened


def selecting(platform: SimulatedPlatform, tmp_path: Path, output: Any = None) -> Flow:
    put_out = output or port("userResponse")
    flow = flow_of(
        start(),
        message("emit", json.dumps(SHOWN)),
        gate("pick", renderer=RENDERER, output=put_out),
        gate("confirm"),
        end(put_out),
        edges=[("pick", "userResponse", "end", "userResponse")],
    )
    file = tmp_path / "oas.json"
    file.write_text(json.dumps(flow), "utf-8")
    return compile_flow(str(file), platform=platform)


def chosen(*numbers: int) -> Any:
    keys = ("artifactId", "representationRevisionId", "semanticAssertionId")
    refs = [{key: REFS[number][key] for key in keys} for number in numbers]
    return {"slotId": "brand", "resolutionMode": "accumulate", "selectedRefs": refs}


def begun(store: RunStore, flow: Flow) -> Run:
    run = store.start(flow, run_id="r1")
    assert [waiting.id for waiting in run.waiting] == ["pick"]
    return run


def decide(value: Any) -> Decision:
    return Decision.approve(by="ann", value=value)


def check_open(store: RunStore) -> None:
    assert store.decisions("r1") == []
    assert [waiting.id for waiting in store.get("r1").waiting] == ["pick"]


OBJECT = port("userResponse", "object", json_schema={"title": "userResponse", "type": "object"})


@pytest.mark.parametrize("output", [None, OBJECT], ids=["text", "object"])
def test_what_the_platform_calls_gone_is_refused_and_the_gate_stays_open(
    store: RunStore, tmp_path: Path, output: Any
) -> None:
    platform = Knowing("a1")
    begun(store, selecting(platform, tmp_path, output))
    with pytest.raises(AnswerInvalid, match='"a1" can be chosen no more') as refused:
        store.answer("r1", "pick", decide(chosen(0, 1)))
    assert "a0" not in str(refused.value)
    check_open(store)
    after = store.answer("r1", "pick", decide(chosen(0)))
    assert [waiting.id for waiting in after.waiting] == ["confirm"]
    assert platform.asked == [("r1", ["a0", "a1"]), ("r1", ["a0"])]


def test_many_that_are_gone_are_not_all_named(store: RunStore, tmp_path: Path) -> None:
    begun(store, selecting(Knowing("a0", "a1", "a2", "a3", "a4"), tmp_path))
    with pytest.raises(AnswerInvalid, match='"a0", "a1", "a2" and 2 more can be'):
        store.answer("r1", "pick", decide(chosen(0, 1, 2, 3, 4, 5)))


def test_a_platform_that_cannot_be_asked_leaves_the_gate_open(
    store: RunStore, tmp_path: Path
) -> None:
    begun(store, selecting(Knowing(fails=True), tmp_path))
    with pytest.raises(StoreError, match="cannot be reached"):
        store.answer("r1", "pick", decide(chosen(0)))
    check_open(store)


def test_it_is_asked_about_approved_selections_alone(store: RunStore, tmp_path: Path) -> None:
    platform = Knowing("a0")
    begun(store, selecting(platform, tmp_path))
    store.answer("r1", "pick", decide(chosen()))
    assert platform.asked == [("r1", [])]
    store.answer("r1", "confirm", Decision.approve(by="ann"))
    rejected = store.start(selecting(platform, tmp_path), run_id="r2")
    assert (
        store.answer("r2", rejected.waiting[0].id, Decision.reject(by="ann")).status == "rejected"
    )
    assert platform.asked == [("r1", [])]


def test_a_platform_that_knows_nothing_of_artifacts_is_not_asked(
    store: RunStore, tmp_path: Path
) -> None:
    platform = SimulatedPlatform()
    assert not isinstance(platform, KeepsArtifacts)
    begun(store, selecting(platform, tmp_path))
    assert store.answer("r1", "pick", decide(chosen(0))).waiting[0].id == "confirm"


def test_the_async_twin_refuses_too(fresh_database: str, tmp_path: Path) -> None:
    async def answered() -> None:
        async with await RunStore.aopen(fresh_database) as store:
            await store.astart(selecting(Knowing("a1"), tmp_path), run_id="r1")
            with pytest.raises(AnswerInvalid, match="can be chosen no more"):
                await store.aanswer("r1", "pick", decide(chosen(1)))
            check_open(store)
            assert (await store.aanswer("r1", "pick", decide(chosen(0)))).waiting[0].id == "confirm"

    asyncio.run(answered())
