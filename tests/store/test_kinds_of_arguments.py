"""A public method of the store that is given an argument of a wrong kind says which one, and how."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from cinatra_sdk import Decision, FlowError, InputInvalid, RunStore
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from cinatra_sdk.store.evidence.memory_proposals import MemoryProposals
from cinatra_sdk.store.lists.list_filters import GateFilter, NeedFilter, RunFilter
from cinatra_sdk.store.runs.creation import NewRun
from cinatra_sdk.store.work.sweep import SweepOptions
from cinatra_sdk.testing import adrive, drive
from oas_compiler import compile_flow
from tests.flows import end, flow_of, gate, start

FLOW = compile_flow(flow_of(start(), gate("ok"), end()))
WRONG: tuple[Any, ...] = ("x", 5, 2.5, float("nan"), 10**40, -1, True, b"x", [], {"a": 1}, object())
FAR_ZONE = timezone(timedelta(hours=23, minutes=59))
EXTREME: tuple[Any, ...] = (
    2**31, 2**40, 2**63, -(2**63), 10**400, 10**5000, -(10**5000), 1e308, float("inf"),
    timedelta.max, timedelta.min, timedelta(-1), datetime.max, datetime.min,  # noqa: DTZ901 - without a zone, too
    datetime.max.replace(tzinfo=UTC), datetime.min.replace(tzinfo=UTC),
    datetime.max.replace(tzinfo=FAR_ZONE), datetime.min.replace(tzinfo=FAR_ZONE),
)  # fmt: skip
"""Of the right kind for some argument, and beyond what the database or Python can count to."""
COUNTED = {
    "limit", "after", "older_than", "newer_than", "step", "deadline", "wait", "workers", "grace",
}  # fmt: skip
GIVEN: dict[str, Any] = {
    "run_id": "r1", "gate_id": "ok", "decision": Decision.approve(by="a"), "flow": FLOW,
    "prefix": "r1", "record_id": "dr_r1_1", "proposal_id": "m", "key": "k", "happened": True,
    "by": "a", "promoted": True, "reason": "b", "signer": None,
    "runs": (),
}  # fmt: skip
BESIDE: dict[str, type] = {
    "create": NewRun, "start": NewRun, "sweep": SweepOptions, "list": RunFilter, "page": RunFilter,
    "gates": GateFilter, "needs": NeedFilter,
}  # fmt: skip
"""The record behind `**` of a method."""
ANY_FLOW: Any = FLOW
ANY_STORE: Any = RunStore
ANY_DRIVE: Any = drive
ANY_TEXT: Any = "x"
CLOSING = {"close", "aclose", "open", "aopen"}


def _show(value: object) -> str:
    """Python refuses to write the longest numbers."""
    is_long = isinstance(value, int) and abs(value) > 10**100
    return "a long number" if is_long else repr(value)


def list_methods(store: type) -> list[str]:
    return [
        name
        for name, method in inspect.getmembers(store, inspect.isfunction)
        if not name.startswith("_") and name not in CLOSING
    ]


@pytest.fixture(scope="module")
def store(databases: Any) -> Iterator[RunStore]:
    dsn = databases.take()
    with RunStore.open(dsn) as opened:
        opened.start(FLOW, run_id="r1")
        yield opened
    databases.give_back(dsn)


def call(method: Callable[..., Any], needed: dict[str, Any], given: dict[str, Any]) -> None:
    async def wait(made: Any) -> None:
        if inspect.isasyncgen(made):
            async for _ in made:
                return
        else:
            await made

    made = method(**{**needed, **given})
    if inspect.isasyncgen(made) or inspect.isawaitable(made):
        asyncio.run(wait(made))
    elif inspect.isgenerator(made):
        next(made, None)


@pytest.mark.parametrize("kind", [RunStore, DecisionRecords, MemoryProposals])
def test_no_argument_of_a_wrong_kind_ends_in_an_error_of_another_library(
    store: RunStore, kind: type
) -> None:
    """Some values are right for some arguments: then the call goes on, and may find nothing."""
    owner = store if kind is RunStore else kind(store.database)
    tried: set[str] = set()
    for name in list_methods(kind):
        method = getattr(owner, name)
        own = inspect.signature(method).parameters
        needed = {
            one.name: GIVEN[one.name]
            for one in own.values()
            if one.default is inspect.Parameter.empty and one.kind is not one.VAR_KEYWORD
        }
        if "decision" in own:
            needed["decision"] = GIVEN["decision"]
        beside = BESIDE.get(name.removeprefix("a") if name not in BESIDE else name)
        names = [one.name for one in own.values() if one.kind is not one.VAR_KEYWORD]
        if kind is RunStore and beside is not None:
            names += list(beside.__annotations__)
        for argument in names:
            # An asynchronous twin runs the same method: two values show that it does.
            twin = inspect.iscoroutinefunction(method)
            far = EXTREME if argument in COUNTED else ()
            for value in WRONG[:2] if twin else (*WRONG, *far):
                try:
                    call(method, needed, {argument: value})
                except FlowError as error:
                    if str(error).startswith("the database "):
                        pytest.fail(f"{name}({argument}={_show(value)}): {error}")
                    tried.add(f"{name}({argument})")
                except Exception as error:
                    pytest.fail(
                        f"{name}({argument}={_show(value)}): {type(error).__name__}: {error}"
                    )
    if kind is RunStore:
        wanted = {
            "archive(older_than)", "effects(limit)", "answer(wait)", "start(flow)", "start(params)",
            "events(after)", "sweep(workers)", "aarchive(limit)", "agates(newer_than)",
        }  # fmt: skip
        assert wanted <= tried


@pytest.mark.parametrize(
    ("act", "says"),
    [
        (lambda s: s.archive(older_than=5), "'older_than' is 5, not an age .give a timedelta"),
        (lambda s: s.needs(older_than=timedelta.max), "'older_than' is 999999999 days, .* to 1,000,000"),
        (lambda s: s.list(newer_than=timedelta.min), "'newer_than' is -999999999 days, .*, not an age"),
        (lambda s: s.needs(step=2**40), "'step' is 1099511627776, and no policy has such a step"),
        (lambda s: s.gates(step=-(10**5000)), "'step' is a number of many digits, and no policy has"),
        (lambda s: s.archive(older_than=timedelta(1), limit=0), "'limit' is 0, not a whole number"),
        (lambda s: s.effects("r1", limit="x"), "'limit' is a str, not a whole number from 1"),
        (lambda s: s.page(limit=None), "a page has a limit"),
        (lambda s: s.answer("r1", "ok", Decision.approve(by="a"), wait="x"), "'wait' is a str"),
        (lambda s: s.start("flow.json", {}), "'flow' is a str, not a flow .compile the file first"),
        (lambda s: s.start(FLOW, []), "'params' is a list, not an object .give the inputs by name"),
        (lambda s: s.work("r1", flow="x"), "'flow' is a str, not a flow"),
        (lambda _: ANY_STORE.open(lease="x"), "'lease' is a str"),
        (lambda _: ANY_STORE.open(workers=0), "'workers' is 0"),
        (lambda _: ANY_STORE.open(5), "'dsn' is a int, not a text"),
        (lambda s: s.lend_signer("x"), "'signer' is a str, not a signer"),
        (lambda _: ANY_DRIVE("flow.json"), "'flow' is a str, not a flow .compile the file first"),
        (lambda _: ANY_DRIVE(FLOW, []), "'params' is a list, not an object"),
        (lambda _: asyncio.run(adrive(ANY_FLOW, ANY_TEXT)), "'params' is a str, not an object"),
        (lambda _: ANY_FLOW.input([]), "the inputs are a list, not an object .give them by name"),
    ],
)  # fmt: skip
def test_a_wrong_kind_is_named_with_what_to_give(
    store: RunStore, act: Callable[[Any], Any], says: str
) -> None:
    with pytest.raises(InputInvalid, match=says):
        act(store)
    assert store.get("r1").status in ("waiting", "completed", "stopped")
