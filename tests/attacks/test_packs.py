"""What a caller, a planner, a requester or another tenant tries against the rules of packs."""

from __future__ import annotations

import contextlib
import copy
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk.activations import advance
from cinatra_sdk.errors import FlowError
from cinatra_sdk.governance.contracts.context_pack import ContextPack, DecisionCatalog
from cinatra_sdk.governance.contracts.invocation import AgentIdentity, UserClaims
from cinatra_sdk.governance.contracts.plans import Plan
from cinatra_sdk.governance.contracts.record_format import thaw
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway import admission, critic, facts, gateway
from cinatra_sdk.governance.gateway.admission import HostWord, admit, make_claim
from cinatra_sdk.governance.gateway.facts import make_run_facts
from cinatra_sdk.governance.gateway.gateway import GateApproval, Gateway
from cinatra_sdk.governance.gateway.planners import Planned
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.loop import loop_nodes
from cinatra_sdk.governance.packs.pack_registry import FolderRegistry, MemoryRegistry
from cinatra_sdk.governance.run import evidence
from cinatra_sdk.governance.run.evidence import Evidence
from cinatra_sdk.langgraph_threads.host_context import host_context
from cinatra_sdk.testing import drive
from graphs.governed_run import build_graph
from oas_compiler import compile_flow
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, tests_of
from tests.flows import api, end, flow_of, port, start
from tests.governance.packs import (
    RECORDED,
    RUN,
    TENANT,
    USER,
    VERIFIED,
    make_ports,
    make_refund,
    make_request,
    put,
    read_catalog,
    read_example,
    read_pack,
)
from tests.governance.refund import FINANCE, lend_refund
from tests.governance.small_pack import make_small_pack
from tests.sources import ROOT

CANARY = "canary-7f3a"
ISSUE = "adp_payments.issue_refund"
RULES = "policy_layer/bundles/0/policy_dsl/rules"


def attempt(attack: Attack, place: Place) -> str:
    how = _HOW[attack.door.partition(":")[0]]
    return how(attack.value, place)


def changed(given: Mapping[str, Any], changes: Mapping[str, Any] | None) -> dict[str, Any]:
    made = dict(copy.deepcopy(given))
    for path, new in (changes or {}).items():
        parents, _, last = path.rpartition("/")
        if new == "~" and last.isdecimal():
            kept = _find(made, parents)
            made = put(made, parents, [one for at, one in enumerate(kept) if at != int(last)])
        else:
            made = put(made, path, ... if new == "~" else new)
    return made


def _find(value: Any, path: str) -> Any:
    for part in path.split("/"):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


# ------------------------------------------------------------------ admission


def _admit(value: Mapping[str, Any]) -> admission.Admitted:
    pack = changed(read_pack(), value.get("pack"))
    catalog = changed(read_catalog(), value.get("catalog"))
    request = changed(make_request(), value.get("request"))
    refs = value.get("refs")
    if refs is not None:
        request["context_pack_refs"] = refs
    told: dict[str, Any] = {"user": VERIFIED, "started_by": USER}
    if "by" in value:
        told = {"user": UserClaims(user_id=value["by"]) if value["by"] else None}
    if "user" in value:
        told["user"] = UserClaims.read({"user_id": USER, **value["user"]})
    if "agent" in value:
        told["agent"] = AgentIdentity.read(
            {**request["agent"], "identity_claim": None, **value["agent"]}
        )
    word = HostWord(tenant=TENANT, run_id=RUN, **told)
    ports = make_ports(
        **{name.removesuffix("_known"): _PORTS[name] for name in value.get("ports", ())}
    )
    lacking = dict.fromkeys(value.get("lacks", ()))
    ports = replace(ports, **lacking)
    read = [ContextPack.read(pack, code="PACK_INVALID"), DecisionCatalog.read(catalog)]
    read += [_make_lax(pack, version) for version in value.get("also", ())]
    registry: Any = MemoryRegistry(read)
    if "folder" in value:
        registry = _write_packs(value["folder"], read)
    if value.get("careless"):
        registry = _LoadsOnly(registry)
    return admit(request, word, registry, ports, pack_refs=tuple(value.get("host_refs", ())))


def _make_lax(pack: Mapping[str, Any], version: str) -> ContextPack:
    """Another version of a pack, without its rules, and as risky as can be.  `1.0.0 globex`: of a tenant."""
    number, _, tenant = version.partition(" ")
    changes = {
        "pack_meta/pack_version": number,
        "pack_meta/environment_defaults/safety_mode": "destructive",
        "policy_layer/bundles": [],
    }
    return ContextPack.read(changed(pack, {**changes, "pack_meta/tenant": tenant or TENANT}))


def _write_packs(folder: Any, packs: Iterable[Any]) -> FolderRegistry:
    for one in packs:
        (folder / f"{one.ref}.json").write_text(json.dumps(one.to_json()), encoding="utf-8")
    return FolderRegistry(folder)


@dataclass
class _LoadsOnly:
    """A registry of the host's that does not tell which version is the newest."""

    packs: MemoryRegistry

    def load(self, ref: str, *, tenant: str) -> Any:
        return self.packs.load(ref, tenant=tenant)


_PORTS: dict[str, Any] = {
    "claim_for": lambda run, tenant, urn: make_claim(run, tenant, urn, ("tools:read",)),
    "claim_for_known": lambda run, tenant, urn: (
        make_claim(run, tenant, urn) if urn == "agent:contextos/support-refund@1.2.0" else None
    ),
}


def _intent(value: Mapping[str, Any], place: Place) -> str:
    if value.get("folder"):
        value = {**value, "folder": place.folder}
    try:
        admitted = _admit(value)
    except GovernanceRefused as refused:
        return refused.code
    assert len(admitted.envelope.context_pack_refs) >= len(value.get("host_refs", ())), "left out"
    return "admitted"


def _run_example(value: Mapping[str, Any], _place: Place) -> str:
    """The shipped example, with its own host, up to the gate of finance."""
    place = spec_from_file_location("refund_host", ROOT / "examples" / "refund" / "host.py")
    assert place is not None
    assert place.loader is not None
    host = module_from_spec(place)
    place.loader.exec_module(host)
    request = changed(read_example("request.json"), value.get("request"))
    graph = build_graph(host.lend(), InMemorySaver())
    try:
        stop = advance(
            graph, {"request": request}, {"configurable": {"thread_id": "r1"}},
            context=host_context(run_id="r1", tenant=TENANT, started_by=value.get("by", USER)),
            answer=lambda _gate: None,
        )  # fmt: skip
    except FlowError as error:
        return str(getattr(error, "code", type(error).__name__))
    return stop.status


def _read_fact(value: Mapping[str, Any], _place: Place) -> str:
    """Whether a rule reads what only the envelope says."""
    try:
        admitted = _admit(value)
    except GovernanceRefused as refused:
        return refused.code
    facts: Any = make_run_facts(admitted.run, admitted.envelope.input)
    for part in value["fact"].split("."):
        facts = facts.get(part) if isinstance(facts, Mapping) else None
    return "read" if CANARY in json.dumps(thaw(facts)) else "not read"


# ------------------------------------------------------------------ one call


def _lift(value: Mapping[str, Any], _place: Place) -> str:
    """A call above the safety mode, with gates of the plan that somebody passed."""
    admitted = _admit(value)
    facts = make_run_facts(admitted.run, admitted.envelope.input)
    gate = Gateway(admitted.book, admitted.run, facts, ports=make_ports(), usage=gateway.RunUsage())
    call = make_refund(
        gates=tuple(value.get("gates", ())), args={**make_refund().args, **value.get("args", {})}
    )
    examined = gate.examine(call, RECORDED)
    given = [
        GateApproval(gate_id=name, approver=FINANCE, snapshot_hash=examined.snapshot_hash)
        for name in (*examined.gates, *value.get("passed", ()))
    ]
    try:
        gate.redeem(gate.examine(call, RECORDED), given)
    except GovernanceRefused as refused:
        return refused.code
    return "made"


# ------------------------------------------------------------------ the loop


class _Odd:
    """Planners that give no plan."""

    def __init__(self, form: str) -> None:
        self.form = form

    def __call__(self, request: Any) -> Any:
        plan = read_example("plan.json")
        match self.form:
            case "nothing":
                return None
            case "a text":
                return json.dumps(plan)
            case "a number":
                return 7
            case "a list":
                return [plan]
            case "an empty object":
                return {}
            case "an unknown member":
                return {**plan, "approved": True}
            case "steps that are a text":
                return {**plan, "steps": "all of them"}
            case "a made-up record":
                return Plan.model_construct(plan_id="p", intent="support.refund", steps="x")
            case "tokens below nothing":
                return Planned(plan=Plan.read(plan), tokens=-1_000_000)
            case "tokens that are a text":
                return Planned(plan=Plan.read(plan), tokens="many")  # type: ignore[arg-type]
            case "planned nothing":
                return Planned(plan=None)
            case "itself":
                return self
            case "an error with a secret":
                raise RuntimeError(f"cannot reach https://u:{CANARY}@model.example")
            case "an exit":
                raise ValueError(CANARY)
        raise AssertionError(self.form)


class _OddLater(_Odd):
    async def __call__(self, request: Any) -> Any:  # type: ignore[override]
        return super().__call__(request)


def _run_loop(value: Mapping[str, Any], place: Place) -> str:
    """The code with which the loop ends, and how often it paid."""
    registry = MemoryRegistry(
        [
            ContextPack.read(changed(read_pack(), value.get("pack")), code="PACK_INVALID"),
            DecisionCatalog.read(changed(read_catalog(), value.get("catalog"))),
        ]
    )
    ledger = place.folder / "refunds"
    parts = lend_refund(
        ledger, registry=registry, plans=[changed(read_example("plan.json"), value.get("plan"))]
    )
    governance: Any = parts.governance
    planner = value.get("planner")
    if planner is not None:
        odd = _OddLater(planner) if value.get("later") else _Odd(planner)
        governance = _with(governance, planner=odd)
    if "readers" in value:
        ports = replace(governance.ports, evidence={"kg": _READERS[value["readers"]]})
        governance = _with(governance, ports=ports)
    if "word" in value:
        governance = _with(governance, word_for=_Later(value["word"]))
    graph = build_graph(parts.with_parts(governance=governance, graphs=()), InMemorySaver())
    request = changed(read_example("request.json"), value.get("request"))
    by = iter(value.get("by", [FINANCE]))

    def answer(_gate: Any) -> Any:
        who = next(by, None)
        return None if who is None else {"approved": not who.startswith("no "), "by": who}

    told = ""
    try:
        stop = advance(
            graph, {"request": request}, {"configurable": {"thread_id": "r1"}},
            context=host_context(run_id="r1", tenant=TENANT, started_by=value.get("started_by", "")),
            answer=answer,
        )  # fmt: skip
        code, told = stop.status, json.dumps(dict(stop.outputs or {}))
    except FlowError as error:
        code, told = getattr(error, "code", "") or type(error).__name__, str(error)
    except Exception as error:
        code, told = f"opened: {type(error).__name__}", str(error)
    loop = thaw(graph.get_state({"configurable": {"thread_id": "r1"}}).values.get("loop") or {})
    if CANARY in told + json.dumps(loop, default=str):
        return "opened: told"
    paid = len(ledger.read_text().splitlines()) if ledger.exists() else 0
    return f"{code}, paid {paid}"


def _with(governance: Any, **new: Any) -> Governance:
    members = {name: getattr(governance, name) for name in governance.__dataclass_fields__}
    return Governance(**{**members, **new})


class _Later:
    """The host's word, which is another one once the run waits for a person."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        self.said, self.asked = said, 0

    def __call__(self, run: Mapping[str, Any]) -> HostWord:
        self.asked += 1
        later = self.asked > self.said.get("after", 8)
        mode = self.said.get("mode") if later else None
        tenant = self.said.get("tenant", TENANT) if later else TENANT
        user = UserClaims(user_id=self.said["user"]) if later and "user" in self.said else None
        return HostWord(tenant=tenant, run_id=run["run_id"], safety_mode=mode, user=user)


def _hang(_ref: str, _run: Any) -> Evidence | None:
    threading.Event().wait(5)
    return None


def _fail(_ref: str, _run: Any) -> Evidence | None:
    raise ConnectionError(f"postgres://u:{CANARY}@db")


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "hangs": _hang,
    "fails with a secret": _fail,
    "gives a text": lambda ref, _run: ref,
    "gives an object": lambda ref, _run: {"ref": ref, "sha256": "", "tenant": TENANT},
    "gives too much": lambda ref, run: Evidence(ref, tenant=run.tenant_id, text="x" * 1_000_001),
    "gives another reference": lambda ref, run: Evidence(ref + "0", tenant=run.tenant_id),
    "gives another tenant's": lambda ref, _run: Evidence(ref, tenant="globex"),
    "gives a hash that is no text": lambda ref, _run: Evidence(ref, 7),  # type: ignore[arg-type]
    "gives a hash that is none": lambda ref, run: Evidence(ref, "sha256:abc", run.tenant_id),
    "gives what it should": lambda ref, run: Evidence(ref, tenant=run.tenant_id, text="order"),
}


# ------------------------------------------------------------------ the page's own pack


def _read_page() -> dict[str, Any]:
    page = (ROOT / "docs" / "governance.md").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(page.partition("```json\n")[2].partition("```")[0])
    return found


def _mail(value: Mapping[str, Any], _place: Place) -> str:
    """Mail under the smallest pack of the page; whether a person is asked about it."""
    flow = flow_of(start(), api("send", outputs=[port("id")], data=value, inputs=[]), end(port("id")),
                   edges=[("send", "id", "end", "id")])  # fmt: skip
    done = drive(compile_flow(flow, governance=_read_page()), {}, stubs={"send": {"id": "m1"}})
    if done.calls:
        return "sent"
    return "asked" if done.gates else str(getattr(done.error, "code", done.status))


# ------------------------------------------------------------------ what a rule sees


def _see(value: Mapping[str, Any], _place: Place) -> str:
    """A request that a rule forbids by some part of it."""
    rule = {"rule_id": "R_SEES", "if": value["if"], "then": {"allow": False}}
    pack = make_small_pack([rule], binds_to="POST {{CINATRA_BASE_URL}}/api/send")
    fields = value.get("node", {})
    send = api("send", **fields)
    flow = flow_of(start(), send, end())
    done = drive(compile_flow(flow, governance=Governance.of(pack)), {}, stubs={"send": {}})
    if done.error is not None:
        return str(getattr(done.error, "code", type(done.error).__name__))
    return "sent"


# ------------------------------------------------------------------ tenants


def _tenant(value: Mapping[str, Any], place: Place) -> str:
    """Whose pack a tenant gets."""
    folder = place.folder / "packs"
    packs = [_own(name, safety) for name, safety in value["packs"].items()]
    for one in packs:
        owner = one.pack_meta.tenant
        where = folder / value.get("folders", {}).get(owner, "" if owner == "*" else owner)
        where.mkdir(parents=True, exist_ok=True)
        (where / f"{one.ref}.json").write_text(json.dumps(one.to_json()), encoding="utf-8")
    registry: Any = MemoryRegistry(packs) if value.get("memory") else FolderRegistry(folder)
    if value.get("careless"):
        registry = _Careless(packs[0])
    asks = value["asks"]
    request = changed(
        make_request(), {"tenant_id": asks, "context_pack_refs": ["ctxpack.small@1.0.0"]}
    )
    claim = make_claim(RUN, asks, request["agent"]["agent_urn"]).to_json()
    request["agent"]["identity_claim"] = claim
    word = HostWord(tenant=asks, run_id=RUN, user=UserClaims(user_id=USER))
    try:
        admitted = admit(request, word, registry, make_ports())
    except GovernanceRefused as refused:
        return refused.code
    return f"that of {admitted.book.primary.pack_meta.tenant}"


def _own(tenant: str, safety: str) -> ContextPack:
    return ContextPack.read(
        put(make_small_pack(safety=safety).to_json(), "pack_meta/tenant", tenant)
    )


@dataclass
class _Careless:
    """A registry of the host's that asks nobody for a tenant."""

    pack: ContextPack

    def load(self, ref: str, *, tenant: str) -> ContextPack:
        return self.pack

    def find_newest(self, ref: str, *, tenant: str) -> str:
        return ref


_HOW: dict[str, Callable[[Any, Place], str]] = {
    "intent": _intent,
    "packs": _intent,
    "example": _run_example,
    "fact": _read_fact,
    "lift": _lift,
    "loop": _run_loop,
    "mail": _mail,
    "see": _see,
    "tenant": _tenant,
}


# ------------------------------------------------------------------ controls


@contextlib.contextmanager
def _patched(place: Place, module: Any, name: str, new: Any) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        patch.setattr(module, name, new)
        yield


def _replacing(module: Any, name: str, new: Any) -> Callable[[Place], Any]:
    return lambda place: _patched(place, module, name, new)


def _lifting(place: Place) -> Any:
    """Gates of a plan count as those of a rule."""
    find = Gateway._find_missing_gate

    def careless(self: Any, declared: Any, decision: Any, gates: Any) -> Any:
        every = tuple(gates)
        return find(self, declared, decision.model_copy(update={"approval_gates": every}), every)

    return _patched(place, Gateway, "_find_missing_gate", careless)


def _trusting(place: Place) -> Any:
    """Every planner's answer is a plan."""

    def read(made: Any) -> Any:
        return Plan.read(read_example("plan.json")), 0

    return _patched(place, loop_nodes, "read_planned", read)


def _keeping_the_word(place: Place) -> Any:
    from cinatra_sdk.governance.loop import loop_state

    return _patched(place, loop_state, "follow_word", lambda run, *_: run)


def _matching_anything(_place: Place) -> Any:
    from cinatra_sdk.governance.conditions import operators

    return _operator("matches", operators._make_plain(2, 2, lambda _text, _pattern: True))


@contextlib.contextmanager
def _operator(name: str, new: Any) -> Iterator[None]:
    """Conditions are read anew, with another operator."""
    from cinatra_sdk.governance.conditions import condition, operators

    operators.OPERATORS[name] = new
    condition._read.cache_clear()
    condition._KNOWN.clear()
    try:
        yield
    finally:
        operators.OPERATORS[name] = operators._FORMS[name]
        condition._read.cache_clear()
        condition._KNOWN.clear()


CONTROLS = {
    "nobody asks the catalogs": Control(
        open=_replacing(admission, "require_intent", lambda _book, _intent: None),
        row="intent:_of_the_request-one_letter_more",
    ),
    "any version may be chosen": Control(
        open=_replacing(admission, "require_newest", lambda *_: None),
        row="packs:_chosen_by_the_request-an_older_one",
    ),
    "the host's packs do not count": Control(
        open=_replacing(admission, "_set_packs", lambda envelope, _refs: envelope),
        row="packs:_beside_those_of_the_host-an_older_one",
    ),
    "the envelope names the user": Control(
        open=_replacing(admission, "admit_user", lambda asked, _host, _ports: asked),
        row="intent:_another_user-the_head_of_the_company",
    ),
    "the envelope says the role": Control(
        open=_replacing(admission, "admit_user", lambda asked, _host, _ports: asked),
        row="fact:_of_the_user-role",
    ),
    "a gate of the plan lifts": Control(open=_lifting, row="lift:_a_gate_of_the_plan-one_of_chat"),
    "an outcome claims nothing": Control(
        open=_replacing(critic, "find_outcome_problem", lambda *_: ""),
        row="loop:_a_story_of_the_planner-declined_and_paid",
    ),
    "outputs may be made up": Control(
        open=_replacing(critic, "find_output_problem", lambda *_, **__: ""),
        row="loop:_a_story_of_the_planner-an_invented_transaction",
    ),
    "whatever a planner says is a plan": Control(open=_trusting, row="loop:_no_plan-nothing"),
    "the requester may approve": Control(
        open=_replacing(gateway, "find_requester_problem", lambda *_: ""),
        row="loop:_the_requester_approves-the_user_of_the_run",
    ),
    "a reader's words are told": Control(
        open=_replacing(evidence, "_read", lambda reader, ref, run: reader(ref, run)),
        row="loop:_a_reader_that-fails_with_a_secret",
    ),
    "an address may be anything": Control(
        open=_matching_anything, row="mail:_outside-a_name_without_a_domain"
    ),
    "tokens are facts": Control(
        open=_replacing(
            facts, "star_headers", lambda headers: {k.lower(): v for k, v in headers.items()}
        ),
        row="see:_a_token-in_a_header",
    ),
    "no tenant is asked for": Control(
        open=_replacing(admission, "require_tenant", lambda _pack, _tenant: None),
        row="tenant:_a_pack_of_another-a_registry_that_does_not_ask",
    ),
    "the host's word is kept": Control(
        open=_keeping_the_word,
        row="loop:_the_word_of_the_host_changes-another_user",
    ),
}


test_attack, test_twin, test_control = tests_of("packs", attempt, CONTROLS)
