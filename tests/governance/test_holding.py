"""The budget is held while a person is asked: nobody spends meanwhile what the call will take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel

from cinatra_sdk import Decision, RunStore, SimulatedPlatform
from cinatra_sdk.errors import EffectRefused
from cinatra_sdk.governance.call_governor import reserve_for
from cinatra_sdk.governance.contracts.context_pack import ContextPack
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.run.budgets import Allowance, RunUsage, Used, Wanted
from cinatra_sdk.governance.run.host_ports import estimate_tokens
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.outside.effects.effect import Effect
from cinatra_sdk.testing import drive
from oas_compiler import compile_flow
from tests.flows import api, end, flow_of, node, port, start
from tests.governance.packs import admit_example, put
from tests.governance.small_pack import make_small_pack
from tests.governance.test_flows import GATED

BUDGET = admit_example().run.run_budget
ONE = Wanted(tool_calls=1, cost_cents=10.0, tokens=100)


def refuses(work: Callable[[], Any], what: str) -> None:
    with pytest.raises(GovernanceRefused, match=what) as caught:
        work()
    assert caught.value.code == "BUDGET_EXCEEDED"


def test_what_is_held_is_there_for_its_call_and_for_no_other() -> None:
    budget = BUDGET.model_copy(update={"max_tool_calls": 2})
    usage = RunUsage()
    usage.hold("a", budget, ONE)
    usage.hold("b", budget, ONE)
    refuses(lambda: usage.hold("c", budget, ONE), "3 tool calls")
    refuses(lambda: usage.reserve(budget, tool_calls=1), "3 tool calls")
    usage.reserve(budget, tool_calls=1, held="a")
    assert (usage.read().tool_calls, list(usage.list_held())) == (1, ["b"])
    usage.give_back("b")
    usage.reserve(budget, tool_calls=1)
    assert usage.read().tool_calls == 2


@pytest.mark.parametrize(
    ("wanted", "what"),
    [
        (Wanted(tool_calls=9), "tool calls"),
        (Wanted(cost_cents=25.5), "cents"),
        (Wanted(tokens=12_001), "tokens"),
    ],
)
def test_nothing_is_held_beyond_the_budget(wanted: Wanted, what: str) -> None:
    usage = RunUsage()
    refuses(lambda: usage.hold("a", BUDGET, wanted), what)
    assert usage.list_held() == {}


def test_the_same_question_asked_again_holds_once() -> None:
    usage = RunUsage()
    for _ in range(20):
        usage.hold("a", BUDGET, ONE)
    assert usage.list_held() == {"a": ONE}


def make_children(most: int) -> tuple[RunUsage, RunUsage, RunUsage]:
    """A parent with so many calls left, and two children of it."""
    above, budget = RunUsage(), BUDGET.model_copy(update={"max_tool_calls": most})
    below = [RunUsage(within=Allowance(above, budget)) for _ in range(2)]
    return above, below[0], below[1]


def test_what_a_child_holds_no_other_child_takes_of_the_parent() -> None:
    above, child, other = make_children(1)
    child.hold("a", BUDGET, ONE)
    refuses(lambda: other.hold("b", BUDGET, ONE), "2 tool calls")
    refuses(lambda: other.reserve(BUDGET, tool_calls=1), "2 tool calls")
    assert (above.list_held(), other.list_held()) == ({"a": ONE}, {})
    child.hold("a", BUDGET, ONE)  # asked again
    child.reserve(BUDGET, tool_calls=1, held="a")
    assert (above.read().tool_calls, above.list_held(), child.list_held()) == (1, {}, {})


def test_what_a_child_gives_back_another_child_may_take() -> None:
    above, child, other = make_children(1)
    child.hold("a", BUDGET, ONE)
    child.give_back("a")
    other.hold("b", BUDGET, ONE)
    assert above.list_held() == {"b": ONE}


@pytest.mark.parametrize("how", ["hold", "reserve"])
def test_a_child_that_is_refused_by_its_own_budget_holds_nothing_above(how: str) -> None:
    above, child, other = make_children(1)
    child.hold("a", BUDGET, ONE)
    least = BUDGET.model_copy(update={"max_tool_calls": 0})
    if how == "hold":
        refuses(lambda: child.hold("a", least, ONE), "1 tool calls")
    else:
        refuses(lambda: child.reserve(least, tool_calls=1, held="a"), "1 tool calls")
    assert above.list_held() == child.list_held() == {}
    other.reserve(BUDGET, tool_calls=1)


def test_what_a_grandchild_holds_and_another_process_held_counts_at_the_top() -> None:
    above, child, other = make_children(1)
    grandchild = RunUsage(within=Allowance(child, BUDGET), held={"a": ONE})
    refuses(lambda: other.hold("b", BUDGET, ONE), "2 tool calls")
    grandchild.reserve(BUDGET, tool_calls=1, held="a")
    assert (above.read().tool_calls, above.list_held(), child.list_held()) == (1, {}, {})


def test_tokens_of_a_call_are_corrected_by_what_it_took_up_to_the_parent() -> None:
    above = RunUsage()
    usage = RunUsage(within=Allowance(above, BUDGET))
    usage.reserve(BUDGET, tokens=100)
    usage.settle(reserved=100, spent=40)
    assert (usage.read().tokens, above.read().tokens) == (40, 40)
    usage.reserve(BUDGET, tokens=100)
    usage.settle(reserved=100, spent=160)
    assert (usage.read().tokens, above.read().tokens) == (200, 200)
    usage.settle(reserved=10_000, spent=-5)
    assert usage.read().tokens == 0, "never below nothing"


def test_tokens_are_reserved_for_models_alone() -> None:
    def make(**about: Any) -> Effect:
        given: dict[str, Any] = {
            "kind": "model",
            "capability": "m",
            "node": "n",
            "path": "n",
            "key": "k",
        }
        return Effect(**{**given, **about})

    asked = make(arguments={"messages": "x" * 400})
    assert reserve_for(asked, estimate_tokens) >= 100
    bound = make(arguments={"messages": "x" * 400, "generation": {"max_tokens": 50}})
    assert reserve_for(bound, lambda _text: 7) == 57
    for other in (make(kind="tool"), make(simulated=True), make(capability="simulated/m")):
        assert reserve_for(other, estimate_tokens) == 0


# ------------------------------------------------------------------ flows


def make_budgeted(**budget: Any) -> ContextPack:
    made = put(make_small_pack(GATED).to_json(), "pack_meta/environment_defaults/run_budget",
               BUDGET.model_copy(update=budget).to_json())  # fmt: skip
    return ContextPack.read(made)


TWO = flow_of(start(), api("send"), api("again", url="{{CINATRA_BASE_URL}}/api/send"), end())


def test_nobody_is_asked_about_a_call_that_the_budget_does_not_allow() -> None:
    flow = compile_flow(TWO, governance=Governance.of(make_budgeted(max_tool_calls=1)))
    done = drive(flow, {}, answers=[True, True], stubs={"send": {}})
    assert (done.status, len(done.calls), len(done.gates)) == ("failed", 1, 1)
    assert getattr(done.error, "code", "") == "BUDGET_EXCEEDED"


@pytest.mark.parametrize("answer", [False, Decision.deny(by="ann")], ids=["rejected", "denied"])
def test_a_question_that_is_answered_by_no_gives_back(answer: Any) -> None:
    flow = compile_flow(TWO, governance=Governance.of(make_budgeted(max_tool_calls=1)))
    done = drive(flow, {}, answers=[answer, True], stubs={"send": {}})
    if answer is False:
        assert (done.status, len(done.calls)) == ("rejected", 0)
    else:
        assert (done.status, len(done.calls), len(done.gates)) == ("completed", 1, 2)


def make_parallel() -> Any:
    """Two branches, each of which sends."""
    inner = [flow_of(start(), api("send"), end(), id_=f"branch{at}") for at in range(2)]
    both = node("ParallelFlowNode", "both", subflows=inner)
    return flow_of(start(), both, end())


@pytest.mark.parametrize(("most", "asked"), [(2, 2), (1, 1)])
def test_branches_that_ask_at_once_hold_no_more_than_there_is(most: int, asked: int) -> None:
    flow = compile_flow(
        make_parallel(), governance=Governance.of(make_budgeted(max_tool_calls=most))
    )
    done = drive(flow, {}, stubs={"send": {}})
    if most == 2:
        assert (done.status, len(done.gates)) == ("waiting", asked)
    else:
        assert (done.status, getattr(done.error, "code", "")) == ("failed", "BUDGET_EXCEEDED")
    assert done.calls == ()


def test_what_is_held_is_known_to_the_process_that_goes_on(fresh_database: str) -> None:
    governance = Governance.of(make_budgeted(max_tool_calls=2))
    host = HostParts(platform=SimulatedPlatform(stubs={"send": {}}), governance=governance)
    source = make_parallel()
    with RunStore.open(fresh_database, host=host) as store:
        flow = compile_flow(source, governance=governance, platform=host.platform)
        run = store.start(flow, {}, run_id="r1")
        assert len(run.waiting) == 2, run.error
    governance = Governance.of(make_budgeted(max_tool_calls=2))
    host = HostParts(platform=SimulatedPlatform(stubs={"send": {}}), governance=governance)
    with RunStore.open(fresh_database, host=host) as store:
        for gate in run.waiting:
            run = store.answer("r1", gate.id, Decision.approve(by="ann"))
        assert run.status == "completed", run.error


def test_tokens_of_a_model_are_refused_before_it_is_asked() -> None:
    asked: list[str] = []

    class Model(FakeListChatModel):
        def _call(self, *given: Any, **more: Any) -> str:
            asked.append("asked")
            return super()._call(*given, **more)

    llm = node("LlmNode", "draft", prompt_template="write " + "x" * 4_000, outputs=[port("text")],
               llm_config={"component_type": "OpenAiConfig", "id": "m", "name": "m", "model_id": "m"})  # fmt: skip
    flow = flow_of(start(), llm, end(port("text")), edges=[("draft", "text", "end", "text")])
    for tokens, status in ((50_000, "completed"), (500, "failed")):
        budget = BUDGET.model_copy(update={"total_tokens": tokens})
        pack = put(
            make_small_pack(kind="model", binds_to="*").to_json(),
            "pack_meta/environment_defaults/run_budget", budget.to_json(),
        )  # fmt: skip
        compiled = compile_flow(
            flow,
            governance=Governance.of(ContextPack.read(pack)),
            models={"*": Model(responses=["hi"])},
        )
        asked.clear()
        done = drive(compiled, {})
        assert done.status == status, done.error
        assert len(asked) == (status == "completed")
    assert isinstance(done.error, EffectRefused)
    assert Used().tokens == 0
