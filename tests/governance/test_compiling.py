"""CompiledContext: the same from the same, whole blocks left out, and a hash over all of it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest

from cinatra_sdk.governance.contracts.context_pack import CompiledContext, ContextBlock, ContextPack
from cinatra_sdk.governance.contracts.invocation import BucketTokens
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.context_compiler import (
    compile_context,
    compute_compiled_hash,
    fit_blocks,
)
from cinatra_sdk.governance.packs.rulebook import make_rulebook
from cinatra_sdk.governance.run.current_call import make_trace_context
from cinatra_sdk.governance.run.evidence import Evidence
from cinatra_sdk.governance.run.host_ports import estimate_tokens
from tests.governance.packs import admit_example, make_ports, make_registry, put, read_pack
from tests.sources import ROOT

ATTACHMENT = {
    "artifact_id": "art_1", "media_type": "application/pdf", "sha256": "a" * 64, "uri": "s3://a/b",
}  # fmt: skip


def compile_example(pack: dict[str, Any] | None = None, **changed: Any) -> CompiledContext:
    ports = changed.pop("ports", make_ports())
    return compile_context(admit_example(pack, ports, **changed), ports)


def test_the_same_inputs_give_the_same_hash_in_another_process() -> None:
    here = compile_example().context_ledger.compiled_context_hash
    program = (
        "from tests.governance.test_compiling import compile_example as c;"
        "print(c().context_ledger.compiled_context_hash)"
    )
    for seed in ("1", "2"):
        there = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        assert there.stdout.strip() == here


@pytest.mark.parametrize(
    "pack",
    [
        put(read_pack(), "business_context/system", "Another."),
        put(read_pack(), "policy_layer/bundles/0/policy_dsl/rules/2/if", False),
        put(read_pack(), "pack_meta/ttl_seconds", 1),
    ],
)
def test_another_pack_gives_another_hash(pack: dict[str, Any]) -> None:
    mine, other = compile_example(), compile_example(pack)
    assert mine.context_ledger.compiled_context_hash != other.context_ledger.compiled_context_hash


def test_the_hash_is_over_everything() -> None:
    compiled = compile_example()
    assert compute_compiled_hash(compiled) == compiled.context_ledger.compiled_context_hash
    changed = CompiledContext.read(put(compiled.to_json(), "compiled_prompt/task", "x"))
    assert compute_compiled_hash(changed) != compiled.context_ledger.compiled_context_hash


def test_manifests_and_controls() -> None:
    compiled = compile_example()
    assert compiled.runtime_controls.approval_gates_active == ("GATE_FINANCE_APPROVAL",)
    (payments,) = [
        one for one in compiled.manifests.tool_manifest if one.adapter_id == "adp_payments"
    ]
    about = payments.capability_metadata["issue_refund"]
    assert (about.kind, about.approval_mode, about.source) == (
        "write",
        "destructive",
        "adapter_registry",
    )
    assert compiled.context_ledger.tools == (
        "adp_orders.lookup", "adp_payments.issue_refund", "adp_policy.eval",
    )  # fmt: skip
    assert compiled.context_ledger.memory_refs == ("ctxpack.support/mem_tone",)


def test_hashes_of_attachments_stand_in_the_manifest() -> None:
    read = {"attachment": lambda ref, run: Evidence(ref, ref.partition("#")[2], run.tenant_id)}
    compiled = compile_example(ports=make_ports(evidence=read), attachments=[ATTACHMENT])
    (entry,) = compiled.manifests.evidence_manifest
    assert entry.hash == "sha256:" + "a" * 64


def block(name: str, size: int, priority: int = 0, bucket: Any = "evidence") -> ContextBlock:
    return ContextBlock(block_id=name, bucket=bucket, content="x" * 4 * size, priority=priority)


def test_whole_blocks_are_left_out_the_lowest_priority_first() -> None:
    blocks = [block("a", 50, 2), block("b", 40, 1), block("c", 30, 1), block("d", 20, 3)]
    kept, report = fit_blocks(blocks, BucketTokens(evidence=100), 1000, estimate_tokens)
    assert [one.block_id for one in kept] == ["a", "d"], (
        "c, then b: of equal ones the last goes first"
    )
    assert report.dropped_block_ids == {"evidence": ("c", "b")}
    assert report.tokens_used_by_bucket.evidence == 70
    assert report.bucket_truncations == {"evidence": True}
    assert "dropped 2 low-priority blocks" in report.warnings[0]


def test_the_total_holds_across_buckets() -> None:
    blocks = [block("a", 50, 2), block("m", 50, 1, "memory")]
    kept, report = fit_blocks(blocks, BucketTokens(evidence=100, memory=100), 60, estimate_tokens)
    assert [one.block_id for one in kept] == ["a"]
    assert report.tokens_used_at_compile == 50 <= 60


def test_what_is_used_never_exceeds_what_is_allocated() -> None:
    for most in range(0, 300, 7):
        blocks = [block(str(n), n % 40 + 1, n % 5) for n in range(30)]
        _, report = fit_blocks(blocks, BucketTokens(evidence=most), 10_000, estimate_tokens)
        assert report.tokens_used_by_bucket.evidence <= most


def test_a_request_that_does_not_fit_is_refused() -> None:
    pack = put(read_pack(), "pack_meta/environment_defaults/run_budget/bucket_tokens/session", 3)
    with pytest.raises(GovernanceRefused) as caught:
        compile_example(pack)
    assert caught.value.code == "BUDGET_EXCEEDED"


def test_a_tokenizer_of_the_host_is_asked() -> None:
    ports = make_ports(estimate=lambda _text: 7)
    report = compile_example(ports=ports).budget_report
    assert report.tokens_used_by_bucket.session == 7


RULES = "policy_layer/bundles/0/policy_dsl/rules"


@pytest.mark.parametrize(
    ("path", "new", "told"),
    [
        (f"{RULES}/0/rule_id", "R_HIGH_VALUE_REQUIRES_APPROVAL", "stands twice"),
        (f"{RULES}/2/then/requires_approval_gate", "NO_GATE", "which is no gate"),
        (f"{RULES}/0/applies_to/capabilities", ["adp_x.y"], "which no adapter declares"),
        (f"{RULES}/0/if", {"var": ["a"], "and": []}, "has 2 operators"),
        ("policy_layer/permissions/0/capability", "delete", "which no adapter declares"),
        ("policy_layer/permissions/0/permission_id", read_pack()["policy_layer"]["permissions"][1]["permission_id"], "stands twice"),
        (f"{RULES}/0/then/prohibits", ["adp_x.y"], "which no adapter declares"),
        ("policy_layer/guardrails/must_refuse/0/when", {"nope": 1}, "no operator 'nope'"),
        ("tooling_layer/adapters/0/capability_metadata/lookup/approval_mode", "network", "above the read_only"),
        ("tooling_layer/adapters/0/capability_metadata/lookup/kind", "write", "says it is read_only"),
        ("tooling_layer/adapters/0/capability_metadata", {"x": {}}, "which it does not have"),
        ("evaluation_layer/evaluators/1/evaluator_id", "refund_was_made", "stands twice"),
        ("tooling_layer/adapters/0/capability_metadata/lookup/arg_schema", {"type": "text"}, "arg_schema: no JSON Schema"),
        ("tooling_layer/adapters/0/capability_metadata/lookup/arg_schema", {"$ref": "#/nope"}, "arg_schema: no JSON Schema"),
        ("policy_layer/permissions/0/arg_constraints", {"a": {"pattern": "("}}, "argument 'a': no JSON Schema"),
        ("policy_layer/permissions/0/arg_constraints", {"a": {"min": 2, "max": 1}}, "min 2 is above max 1"),
        (f"{RULES}/0/then/arg_constraints", {"a": {"pattern": "[z-a]"}}, "argument 'a': no JSON Schema"),
        ("decision_layer/decisions", [{"decision_key": "d", "version": "1.0.0", "outputs_schema": {"type": 1}}], "outputs_schema: no JSON"),
        ("policy_layer/permissions/0/arg_constraints", {"a": {"pattern": "x)|(?:y"}}, "argument 'a', pattern: "),
        (f"{RULES}/0/then", {}, "rule 'R_REFUND_REQUIRES_IDV' says nothing under 'then'"),
        (f"{RULES}/0/then", {"requires": [], "arg_constraints": {}}, "says nothing under 'then'"),
        (f"{RULES}/0/if", {">": [{"var": "arg.amount"}, 1]}, "reads 'arg.amount', which is no fact there .did you mean .args"),
        (f"{RULES}/0/if", {"==": [{"var": ["agent.rol", "x"]}, 1]}, "reads 'agent.rol', .* .did you mean .role"),
        (f"{RULES}/0/if", {"==": [{"var": "call.heders.x"}, 1]}, "reads 'call.heders.x', .* .did you mean .headers"),
        (f"{RULES}/0/if", {"missing": ["args.a", "contxt.b"]}, "reads 'contxt.b'"),
        (f"{RULES}/0/if", {"missing_some": [1, ["args.a", "contxt.b"]]}, "reads 'contxt.b'"),
        (f"{RULES}/0/if", {"all": [{"var": "argss.to"}, {"var": "x"}]}, "reads 'argss.to'"),
        (f"{RULES}/0/if", {"var": "outputs.x"}, "reads 'outputs.x', .*there are: intent"),
        ("policy_layer/approval_gates/0/when", {"var": "arg.x"}, "gate 'GATE_FINANCE_APPROVAL' reads 'arg.x'"),
        ("policy_layer/guardrails/must_refuse/0/when", {"var": "arg.x"}, "reads 'arg.x'"),
        ("evaluation_layer/evaluators/0/when", {"var": "args.x"}, "reads 'args.x'"),
        ("contract_meta/contract_version", "two", "contract_version"),
        ("contract_meta/contract_name", "another.pack", "contract_name"),
        ("contract_meta/created_at", "yesterday", "created_at: it is no time"),
        ("contract_meta/created_at", "2026-05-01T00:00:00", "created_at: it is no time"),
        ("contract_meta/created_at", "2026-13-01", "created_at: it is no time"),
        ("pack_meta/sha256", "sha256:" + "0" * 64, "sha256 of .ctxpack.support@5.2.0. is the digest of another"),
        ("pack_meta/sha256", "sha256:ab...", "is the digest of another content"),
        ("pack_meta/sha256", "0" * 64, "sha256"),
        ("pack_meta/content_hash", "x", "nobody checks the digest .content_hash"),
        ("contract_meta/SHA-256", "x", "nobody checks the digest"),
        ("contract_meta/integrity", "x", "nobody checks the digest"),
        ("policy_layer/sha256", "0" * 64, "nobody checks the digest"),
        ("tooling_layer/lock", "sha256:" + "0" * 64, "nobody checks the digest .lock"),
        ("decision_layer/checksum", 7, "nobody checks the digest"),
    ],
)  # fmt: skip
def test_a_pack_that_contradicts_itself_is_refused_with_the_place(
    path: str, new: Any, told: str
) -> None:
    with pytest.raises(GovernanceRefused, match=told) as caught:
        admit_example(put(read_pack(), path, new))
    assert caught.value.code == "PACK_INVALID"


@pytest.mark.parametrize(
    ("path", "slip"),
    [
        ("policy_layer/approval_gate", "approval_gates"),
        ("policy_layer/permission", "permissions"),
        ("policy_layer/guard-rails", "guardrails"),
        ("policy_layer/Bundles", "bundles"),
        ("pack_meta/environment_defaults/run_budgets", "run_budget"),
        ("pack_meta/enviroment_defaults", "environment_defaults"),
        ("tooling_layer/adapter", "adapters"),
        ("evaluation_layer/evaluator", "evaluators"),
        ("decision_layer/decision", "decisions"),
    ],
)
def test_a_member_that_is_misspelt_is_refused_and_others_are_kept(path: str, slip: str) -> None:
    with pytest.raises(GovernanceRefused, match=f'did you mean "{slip}"') as caught:
        admit_example(put(read_pack(), path, []))
    assert caught.value.code == "PACK_INVALID"
    layer = path.rpartition("/")[0]
    for other in ("x_acme", "owner", "n" * 10_000):
        admit_example(put(read_pack(), f"{layer}/{other}", []))


def test_what_a_pack_says_of_itself_is_true_where_it_is_taken() -> None:
    pack = put(read_pack(), "contract_meta/created_at", "2026-05-01")
    pack = put(pack, f"{RULES}/0/if", {"and": [
        {"var": ["context.anything.at.all", 1]}, {"var": ""}, {"var": 1}, {"var": {"cat": ["a", "b"]}},
        {"reduce": [{"var": "evidence"}, {"var": "accumulator.x"}, {"var": "args.any"}]},
        {"filter": [{"var": "user.scopes"}, {"var": "no.fact"}]}, {"missing": ["call.body.x", "call"]},
    ]})  # fmt: skip
    digest = ContextPack.read(pack).content_hash
    stated = put(pack, "pack_meta/sha256", digest)
    assert admit_example(stated).book.primary.pack_meta.sha256 == digest
    newer = put(pack, "contract_meta/contract_version", "2.1.0")
    with pytest.raises(
        GovernanceRefused, match=r"written for contextos\.pack 2\.1\.0, and 2\.0\.0 is"
    ):
        admit_example(newer)
    with pytest.raises(GovernanceRefused, match=f"that of this one is {digest}"):
        admit_example(put(stated, "pack_meta/sha256", "sha256:" + "0" * 64))


def test_two_packs_narrow_each_other() -> None:

    other = put(read_pack(), "pack_meta/pack_id", "ctxpack.other")
    other = put(other, "pack_meta/environment_defaults/safety_mode", "read_only")
    other = put(other, "policy_layer/permissions", [
        {"permission_id": "P_NO", "adapter_id": "adp_payments", "capability": "*", "allow": False},
    ])  # fmt: skip
    other = put(other, "policy_layer/bundles", [])
    other = put(other, "evaluation_layer/evaluators", [])
    book = make_rulebook([ContextPack.read(read_pack()), ContextPack.read(other)])
    assert "adp_payments.issue_refund" not in book.surface
    assert book.safety_mode == "read_only"
    bundles = [{**read_pack()["policy_layer"]["bundles"][0], "policy_dsl": {"language": "jsonlogic", "rules": []}}]  # fmt: skip
    for path, new in (
        ("tooling_layer/adapters/0/approval_mode", "network"),
        ("policy_layer/bundles", bundles),
    ):
        changed = ContextPack.read(put(other, path, new))
        with pytest.raises(GovernanceRefused, match="declared twice, and not alike"):
            make_rulebook([ContextPack.read(read_pack()), changed])


@pytest.mark.parametrize(
    ("path", "told"),
    [
        (f"{RULES}/0/then/requires_gat", 'RULES/0/then: there is no member "requires_gat"; did you mean "requires"?'),
        (f"{RULES}/0/iff", 'RULES/0: there is no member "iff"; did you mean "if"?'),
        ("policy_layer/approval_gates/0/approver_role", 'approval_gates/0: there is no member "approver_role"; did you mean "required_approver_role"?'),
        ("tooling_layer/adapters/0/capability_metadata/lookup/bind_to", 'lookup: there is no member "bind_to"; did you mean "binds_to"?'),
        ("pack_meta/environment_defaults/run_budget/bucket_tokens/polcy", 'bucket_tokens: there is no member "polcy"; did you mean "policy"?'),
        ("zzzz", 'ContextPack: there is no member "zzzz"$'),
    ],
)  # fmt: skip
def test_an_unknown_member_of_a_closed_record_is_told_with_the_one_that_was_meant(
    path: str, told: str
) -> None:
    expected = re.escape(told.replace("RULES", RULES)).replace(r"\$", "$")
    with pytest.raises(GovernanceRefused, match=expected):
        ContextPack.read(put(read_pack(), path, "x"), code="PACK_INVALID")


def test_a_misspelt_member_is_told_before_all_that_lacks_because_of_it() -> None:
    budget = "pack_meta/environment_defaults/run_budget"
    with pytest.raises(GovernanceRefused) as caught:
        ContextPack.read(put(read_pack(), budget, {"max_tool_call": 3}), code="PACK_INVALID")
    first, second, *_ = caught.value.message.split("; ")[0::2]
    assert first == f'ContextPack: {budget}: there is no member "max_tool_call"'
    assert second.endswith(" is missing")


def test_what_is_wrong_with_packs_names_all_of_them() -> None:
    other = put(read_pack(), "pack_meta/pack_id", "ctxpack.other")
    with pytest.raises(GovernanceRefused) as caught:
        make_rulebook([ContextPack.read(read_pack()), ContextPack.read(other)])
    assert caught.value.message.startswith("'ctxpack.support@5.2.0', 'ctxpack.other@5.2.0': the ")
    assert caught.value.hint == "names are unique among all packs of a run"


@pytest.mark.parametrize(
    ("path", "new", "meant"),
    [
        (f"{RULES}/2/then/requires_approval_gate", "GATE_FINANCE_APROVAL", "GATE_FINANCE_APPROVAL"),
        (f"{RULES}/0/applies_to/capabilities", ["adp_orders.lokup"], "adp_orders.lookup"),
        ("policy_layer/permissions/0/capability", "lokup", "adp_orders.lookup"),
    ],
)
def test_a_name_that_nothing_has_is_told_with_the_nearest(path: str, new: Any, meant: str) -> None:
    with pytest.raises(GovernanceRefused) as caught:
        admit_example(put(read_pack(), path, new))
    assert caught.value.hint == f'did you mean "{meant}"?'


def test_registries_of_a_folder(tmp_path: Any) -> None:
    from cinatra_sdk.governance.packs.pack_registry import FolderRegistry

    file = tmp_path / "ctxpack.support@5.2.0.json"
    registry = FolderRegistry(tmp_path)
    with pytest.raises(GovernanceRefused) as caught:
        registry.load("ctxpack.support@5.2.0", tenant="tenant_acme_prod")
    assert caught.value.code == "PACK_NOT_FOUND"
    file.write_text(json.dumps(read_pack()))
    assert (
        registry.load("ctxpack.support@5.2.0", tenant="tenant_acme_prod").ref
        == "ctxpack.support@5.2.0"
    )
    for content in (
        b"\xff",
        b"{",
        b'{"a": 1, "a": 2}',
        json.dumps({**read_pack(), "x": 1}).encode(),
    ):
        file.write_bytes(content)
        with pytest.raises(GovernanceRefused) as caught:
            registry.load("ctxpack.support@5.2.0", tenant="tenant_acme_prod")
        assert caught.value.code == "PACK_INVALID"
    real = tmp_path / "real.json"
    real.write_text(json.dumps(read_pack()))
    file.unlink()
    file.symlink_to(real)
    with pytest.raises(GovernanceRefused):
        registry.load("ctxpack.support@5.2.0", tenant="tenant_acme_prod")


def test_each_call_has_a_span_of_its_own_in_the_trace() -> None:
    run = admit_example().run
    spans = set()
    for number in range(50):
        made = make_trace_context(run, f"t{number}", pack="ctxpack.support@5.2.0", decision="d")
        version, trace, span, flags = made.traceparent.split("-")
        assert (version, trace, flags) == ("00", run.trace_id, "01")
        spans.add(span)
        again = make_trace_context(run, f"t{number}", pack="ctxpack.support@5.2.0", decision="d")
        assert again == made, "an attempt after a crash is the same call"
    assert len(spans) == 50
    assert made.tracestate == "tenant=tenant_acme_prod,ctxpack=ctxpack.support@5.2.0"
    assert made.baggage == f"session_id=sess_42f1,decision_id=d,run_id={run.run_id}"


def test_registry_double_is_shipped() -> None:
    assert make_registry().load("ctxpack.support@5.2.0", tenant="tenant_acme_prod")
