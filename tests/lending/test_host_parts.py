"""`HostParts`: one record for whatever a process lends, and the short forms beside it."""

from __future__ import annotations

from typing import Any

import pytest

from cinatra_sdk import HostParts, NotConfigured, PlaceholderRefused, RunStore, host_context
from cinatra_sdk.host_parts.host_parts import NO_PARTS, RunIdentity, join_parts, lend_context
from cinatra_sdk.outside.effects.door import Door, Verdict
from cinatra_sdk.outside.effects.memory_ledgers import MemoryLedger
from cinatra_sdk.outside.http_calls.protocol import Credentials
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
from cinatra_sdk.store.flows.flow_protocol import load_flow
from oas_compiler import compile_flow
from oas_compiler.lower.flow import flow_from_store
from tests.flows import api, end, flow_of, port, start

FLOW = flow_of(
    start(),
    api("work", outputs=[port("done")]),
    end(port("done")),
    edges=[("work", "done", "end", "done")],
)
RUN = RunIdentity(id="r1", tenant="acme", flow="f", digest="d", started_by="ann")
TOKEN = "run-token-of-r1-only"


def allow(_effect: Any) -> Verdict:
    return Verdict.allow()


def refuse(_effect: Any) -> Verdict:
    return Verdict.refuse("no")


# ------------------------------------------------------------------ the record


def test_values_of_variables_and_settings_are_not_printed() -> None:
    parts = HostParts(env={"CRM_KEY": "hidden-1"}, settings={"CINATRA_BRIDGE_TOKEN": "hidden-2"})
    assert "hidden" not in repr(parts)


def test_a_record_does_not_change_with_the_dict_it_was_made_from() -> None:
    env = {"CRM": "a"}
    parts = HostParts(env=env)
    env["CRM"] = "b"
    assert parts.env == {"CRM": "a"}
    with pytest.raises(TypeError):
        parts.env["CRM"] = "c"  # type: ignore[index]


def test_a_variable_of_the_runtime_and_a_tool_that_is_none_are_refused() -> None:
    with pytest.raises(PlaceholderRefused, match="DATABASE_URL"):
        HostParts(env={"DATABASE_URL": "x"})
    with pytest.raises(TypeError, match="the tool 'look_up' is a str, not a function"):
        HostParts(tools={"look_up": "x"})  # type: ignore[dict-item]


# ------------------------------------------------------------------ short forms


def test_parts_beside_the_record_join_it() -> None:
    platform = SimulatedPlatform()
    joined = join_parts(HostParts(env={"CRM": "a"}), {"platform": platform, "tools": None}, "f()")
    assert (joined.platform, joined.env) == (platform, {"CRM": "a"})


def test_a_part_that_is_given_both_ways_is_named() -> None:
    with pytest.raises(TypeError, match=r"f\(\) got 'env' twice"):
        join_parts(HostParts(env={"CRM": "a"}), {"env": {"CRM": "a"}}, "f()")


@pytest.mark.parametrize(
    "call",
    [
        lambda given: compile_flow(FLOW, **given),
        lambda given: RunStore.open("postgresql://nobody@127.0.0.1:1/none", **given),
        lambda given: flow_from_store(b"{}", **given),
        lambda given: load_flow(b"{}", digest="", **given),
    ],
    ids=["compile_flow", "RunStore.open", "flow_from_store", "load_flow"],
)
def test_every_call_that_takes_parts_refuses_a_part_given_twice_and_a_host_that_is_none(
    call: Any,
) -> None:
    both = {"host": HostParts(tools={"dict": dict}), "tools": {"dict": dict}}
    with pytest.raises(TypeError, match="'tools' twice"):
        call(both)
    with pytest.raises(TypeError, match="host is a dict, and not HostParts"):
        call({"host": {}})


def test_a_flow_is_compiled_with_the_parts_of_the_record() -> None:
    platform = SimulatedPlatform({"work": {"done": "yes"}})
    flow = compile_flow(FLOW, host=HostParts(platform=platform, tools={"dict": dict}))
    assert (flow.platform, flow.tools, flow.platform_given) == (platform, {"dict": dict}, True)
    assert not compile_flow(FLOW, host=HostParts(env={"CRM": "a"})).platform_given


def test_a_flow_gets_the_variables_of_the_record_that_its_file_names() -> None:
    node = api("work", url="{{CRM_URL}}/work", outputs=[port("done")])
    reading = flow_of(start(), node, end(port("done")), edges=[("work", "done", "end", "done")])
    lent = {"CRM_URL": "https://crm.example", "OTHER": "x"}
    assert compile_flow(reading, host=HostParts(env=lent)).env == {"CRM_URL": lent["CRM_URL"]}
    assert compile_flow(reading, env=lent).env == lent, "named for this flow"


# ------------------------------------------------------------------ contexts


def test_the_context_of_a_flow_asks_the_policy_that_the_flow_was_compiled_with() -> None:
    ledger = MemoryLedger()
    parts = HostParts(allow_effect=allow, ledger_for=lambda _run: ledger)
    door = compile_flow(FLOW, host=parts).context(run_id="r1").door
    assert (door.allow, door.ledger) == (allow, ledger)


def test_what_a_context_says_itself_comes_before_the_parts_and_the_first_parts_before_the_others() -> (
    None
):
    own = lend_context(host_context(allow=refuse), RUN, HostParts(allow_effect=allow))
    assert own.door.allow is refuse
    both = lend_context(None, RUN, HostParts(allow_effect=refuse), HostParts(allow_effect=allow))
    assert both.door.allow is refuse


def test_tokens_are_asked_for_where_there_is_no_context_and_not_beside_one() -> None:
    asked: list[RunIdentity] = []

    def tokens(run: RunIdentity) -> Credentials:
        asked.append(run)
        return Credentials(run_token=TOKEN)

    parts = HostParts(credentials_for=tokens)
    made = lend_context(None, RUN, parts)
    assert (made.credentials.run_token, made.tenant, asked) == (TOKEN, "acme", [RUN])
    assert lend_context(host_context(), RUN, parts).credentials == Credentials()
    assert lend_context(None, RUN, NO_PARTS).door == Door()
    assert asked == [RUN]


@pytest.mark.parametrize(
    ("gives", "told"),
    [
        (lambda _run: 1 / 0, "gives ZeroDivisionError"),
        (lambda _run: TOKEN, "gives a str, no Credentials"),
        (lambda _run: Credentials(run_token="x"), "too few characters"),
    ],
)
def test_a_function_for_tokens_that_fails_is_named_without_its_words(gives: Any, told: str) -> None:
    with pytest.raises(NotConfigured, match=told) as refused:
        lend_context(None, RUN, HostParts(credentials_for=gives))
    assert "credentials_for" in str(refused.value)
    assert TOKEN not in str(refused.value)


def test_a_context_that_the_host_did_not_make_gets_nothing() -> None:
    class Forged:
        door = Door()

    forged: Any = Forged()
    assert lend_context(forged, RUN, HostParts(allow_effect=allow)) is forged
