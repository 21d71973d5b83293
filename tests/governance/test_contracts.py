"""The records of the contract: every sample of the seed parses, and nothing beside the contract does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.errors import ValueRefused
from cinatra_sdk.governance.contracts.decision_record import DecisionRecord
from cinatra_sdk.governance.contracts.invocation import TraceContext
from cinatra_sdk.governance.contracts.record_format import canonical_json, hash_of
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.contracts.schemas import CONTRACTS, VERSION, schema_of
from cinatra_sdk.governance.packs.pack_registry import require_pinned
from tests.governance.packs import put, read_catalog, read_pack
from tests.sources import ROOT

SAMPLES = Path(__file__).parent / "samples"
KINDS = {
    "run_context": "RunContext",
    "invoke_agent_built": "InvokeAgent",
    "invoke_agent": "InvokeAgent",
    "tool_call": "ToolCallEnvelope",
    "tool_result": "ToolResultEnvelope",
    "decision_record": "DecisionRecord",
    "compiled_context": "CompiledContext",
    "decision_output": "DecisionOutput",
}
SCHEMAS = ROOT / "docs" / "schemas" / "governance" / VERSION


def read_sample(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SAMPLES / f"{name}.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("name", sorted(KINDS))
def test_samples_parse_and_come_out_as_they_went_in(name: str) -> None:
    sample = read_sample(name)
    assert CONTRACTS[KINDS[name]].read(sample).to_json() == sample


def test_every_sample_is_looked_at() -> None:
    others = {"trace_context", "pack_refs"}
    assert {one.stem for one in SAMPLES.glob("*.json")} == {*KINDS, *others}
    TraceContext.read(read_sample("trace_context")["trace_context"])
    for ref in read_sample("pack_refs")["context_pack_refs"]:
        require_pinned(ref)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_member_that_the_contract_lacks_is_refused_by_name(name: str) -> None:
    sample = {**read_sample(name), "surprise": 1}
    with pytest.raises(GovernanceRefused, match="surprise") as caught:
        CONTRACTS[KINDS[name]].read(sample)
    assert caught.value.code == "INVALID_ENVELOPE"


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_missing_member_is_named(name: str) -> None:
    kind = CONTRACTS[KINDS[name]]
    for member, field in kind.model_fields.items():
        if field.is_required() and member in read_sample(name):
            sample = {k: one for k, one in read_sample(name).items() if k != member}
            with pytest.raises(GovernanceRefused, match=member):
                kind.read(sample)


@pytest.mark.parametrize(
    ("name", "path", "wrong"),
    [
        ("run_context", "trace_id", "0" * 32),
        ("run_context", "trace_id", "4BF92F3577B34DA6A3CE929D0E0E4736"),
        ("run_context", "safety_mode", "unsafe"),
        ("run_context", "run_budget/max_tool_calls", -1),
        ("run_context", "run_budget/max_tool_calls", "8"),
        ("run_context", "run_budget/max_tool_calls", True),
        ("run_context", "agent/workload_identity", "spiffe://contextos/../agents"),
        ("run_context", "agent/workload_identity", "https://contextos/agents"),
        ("run_context", "agent/agent_urn", "agent:contextos/support@1.2"),
        ("run_context", "agent/agent_urn", "agent:contextos/support@01.2.0"),
        ("invoke_agent", "mode", "sometimes"),
        ("invoke_agent", "context_pack_refs", []),
        ("invoke_agent", "trace/span_id", "0" * 16),
        ("invoke_agent", "attachments/0/sha256", "sha256:" + "0" * 64),
        ("tool_call", "envelope_version", "contextos.tool_call.v2"),
        ("tool_call", "capability_id", "issue_refund"),
        ("tool_call", "evidence_refs/0", "the order"),
        ("tool_result", "status", "done"),
        ("decision_record", "status", "MAYBE"),
        ("decision_record", "confidence", 1.5),
        ("decision_record", "timestamp", "yesterday"),
        ("decision_record", "lineage/pack_version", "ctxpack.support@latest"),
    ],
)
def test_wrong_values_are_refused_without_being_quoted(name: str, path: str, wrong: Any) -> None:
    with pytest.raises(GovernanceRefused) as caught:
        CONTRACTS[KINDS[name]].read(put(read_sample(name), path, wrong))
    told = str(caught.value)
    assert path.rsplit("/", maxsplit=1)[-1] in told or path.split("/")[-2] in told
    if isinstance(wrong, str) and len(wrong) > 12:
        assert wrong not in told


def test_records_cannot_be_changed() -> None:
    record = DecisionRecord.read(read_sample("decision_record"))
    with pytest.raises(ValidationError):
        record.status = "CLOSED"  # type: ignore[misc]
    with pytest.raises(TypeError):
        record.outputs["currency"] = "EUR"


def test_packs_of_the_example_parse() -> None:
    for name, value in (("ContextPack", read_pack()), ("DecisionCatalog", read_catalog())):
        assert CONTRACTS[name].read(value).to_json() == value


@pytest.mark.parametrize("name", sorted(CONTRACTS))
def test_published_schemas_are_those_of_the_code(name: str) -> None:
    published = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    assert published == schema_of(name), "run scripts/schemas"
    assert published["$id"] == f"urn:oasflow:governance:{VERSION}:{name}"


@pytest.mark.parametrize("name", sorted(KINDS))
def test_schemas_accept_the_samples(name: str) -> None:
    assert first_problem(schema_of(KINDS[name]), read_sample(name)) == ""


def test_a_text_in_which_a_name_stands_twice_is_refused() -> None:
    text = json.dumps(read_sample("tool_call"))
    with pytest.raises(GovernanceRefused, match="twice"):
        CONTRACTS["ToolCallEnvelope"].read_json_text(text[:-1] + ', "run_id": "other"}')


# ------------------------------------------------------------------ canonical JSON


def test_canonical_json_is_that_of_rfc_8785() -> None:
    # From the RFC: order by UTF-16 code units, numbers as ECMAScript writes them.
    assert canonical_json({"b": 1e21, "a": [1.0, 0.002, 1e-27], "\u20ac": "\u00f6"}) == (
        '{"a":[1,0.002,1e-27],"b":1e+21,"\u20ac":"\u00f6"}'.encode()
    )
    assert hash_of({"b": 1, "a": 2}) == hash_of({"a": 2, "b": 1})
    assert hash_of({"a": 1.0}) == hash_of({"a": 1})


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 2**60, "\ud800", {1: 2}, object()])
def test_what_json_cannot_hold_exactly_has_no_hash(wrong: Any) -> None:
    with pytest.raises(ValueRefused):
        hash_of(wrong)


# ------------------------------------------------------------------ pinned references


@pytest.mark.parametrize("ref", ["ctxpack.support@5.2.0", "a@0.0.0", "A_b.c:d-e@10.20.30"])
def test_pinned_references(ref: str) -> None:
    require_pinned(ref)


@pytest.mark.parametrize(
    "ref",
    [
        "ctxpack.support", "ctxpack.support@latest", "ctxpack.support@^5.2.0", "ctxpack.support@5.2",
        "ctxpack.support@5.2.0-rc.1", "a@b@1.2.3", "ctxpack.support@05.2.0", "ctxpack.support@5.2.0\n",
        "@1.2.3", "", "../ctxpack@1.2.3", "ctxpack support@1.2.3", "ctxpack@1.2.3.4", "x@1.2.٣",
    ],
)  # fmt: skip
def test_references_without_one_exact_version(ref: str) -> None:
    with pytest.raises(GovernanceRefused) as caught:
        require_pinned(ref)
    assert caught.value.code == "PACK_REF_UNPINNED"
