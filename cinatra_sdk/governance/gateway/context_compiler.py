"""Compiling: packs, request and run become one CompiledContext, known by its hash.

    compile_context(admitted, ports)  ->  CompiledContext(…, context_ledger={…, "compiled_context_hash": …})

A pure function of its inputs but for the evidence that readers give: the same inputs give the same
hash, in any process and on any day.

Each bucket has its tokens.  Where its blocks need more, whole blocks are left out, the lowest priority
first, and the report names them; nothing is cut in the middle.  What holds the request itself (system
text, task) is never left out: a budget too small for it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.governance.contracts.context_pack import (
    Bucket,
    BudgetReport,
    CompiledContext,
    CompiledPrompt,
    ContextBlock,
    ContextPack,
    EvidenceManifestEntry,
    LedgerBudget,
    Manifests,
    PackBlock,
    PolicyManifestEntry,
    RuntimeControls,
    ToolManifestEntry,
)
from cinatra_sdk.governance.contracts.invocation import BucketTokens
from cinatra_sdk.governance.contracts.record_format import canonical_json, hash_of, thaw
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.gateway.admission import Admitted
from cinatra_sdk.governance.gateway.facts import make_run_facts
from cinatra_sdk.governance.packs.pack_policy import judge_condition, list_met
from cinatra_sdk.governance.packs.rulebook import Rulebook
from cinatra_sdk.governance.run.evidence import Evidence
from cinatra_sdk.governance.run.host_ports import GovernancePorts
from cinatra_sdk.host_parts.host_parts import ANY_WORKSPACE, find_reader, read_text

BUCKETS: Final[tuple[Bucket, ...]] = (
    "business",
    "policy",
    "tool",
    "evidence",
    "memory",
    "session",
)
"""In the order in which a prompt has them."""
REQUEST_BLOCK: Final = "request"
REQUEST_PRIORITY: Final = 1_000_000_000
HASH_FIELD: Final = "compiled_context_hash"


def compile_context(
    admitted: Admitted,
    ports: GovernancePorts,
    evidence: Iterable[Evidence] = (),
    *,
    told: Iterable[ContextBlock] = (),
) -> CompiledContext:
    """evidence: what the host puts in beside the attachments, resolved for this run.  told: blocks of
    the host's own, such as the context of a first turn.

    Raises: `GovernanceRefused` (BUDGET_EXCEEDED) where the request itself does not fit.
    """
    book, run, envelope = admitted.book, admitted.run, admitted.envelope
    facts = make_run_facts(run, envelope.input, mode=envelope.mode)
    known = list({one.ref: one for one in (*admitted.attachments, *evidence)}.values())
    blocks = [
        *_list_pack_blocks(book, envelope.input.intent),
        *_list_policy_blocks(book),
        *_list_tool_blocks(book),
        *_list_evidence_blocks(known),
        *told,
        _make_request_block(admitted),
    ]
    kept, report = fit_blocks(
        blocks, run.run_budget.bucket_tokens, run.run_budget.total_tokens, ports.count_tokens
    )
    prompt = _make_prompt(book, admitted, kept)
    manifests = _make_manifests(book, known)
    body: dict[str, Any] = {
        "compiled_prompt": prompt.to_json(),
        "manifests": manifests.to_json(),
        "runtime_controls": _make_controls(book, facts).to_json(),
        "budget_report": report.to_json(),
        "pack_hashes": {one.ref: one.content_hash for one in book.packs},
        "context_ledger": _make_ledger(admitted, known, kept, report),
    }
    ledger = {**body["context_ledger"], HASH_FIELD: hash_of(body)}
    return CompiledContext.read({**body, "context_ledger": ledger})


def _make_ledger(
    admitted: Admitted,
    known: Iterable[Evidence],
    kept: Iterable[ContextBlock],
    report: BudgetReport,
) -> dict[str, Any]:
    """Without the hash, which is over it too."""
    truncated = tuple(name for name in BUCKETS if report.bucket_truncations.get(name))
    used = LedgerBudget(
        tokens_used_at_compile=report.tokens_used_at_compile, truncated_buckets=truncated
    )
    book = admitted.book
    return {
        "pack_ref": book.primary.ref,
        "request_id": admitted.envelope.request_id,
        "policy_bundles": sorted({one.bundle_id for one in book.rules}),
        "tools": sorted(book.surface),
        "evidence_refs": [one.ref for one in known],
        "memory_refs": [one.block_id for one in kept if one.bucket == "memory"],
        "budget": used.to_json(),
    }


def compute_compiled_hash(compiled: CompiledContext) -> str:
    """The hash that its ledger has to have."""
    body = compiled.to_json()
    ledger = {key: one for key, one in body["context_ledger"].items() if key != HASH_FIELD}
    return hash_of({**body, "context_ledger": ledger})


def fit_blocks(
    blocks: Sequence[ContextBlock],
    allocated: BucketTokens,
    total: int,
    estimate: Callable[[str], int],
) -> tuple[list[ContextBlock], BudgetReport]:
    """The blocks that fit, in their order, and what was left out."""
    sizes = {one.block_id: estimate(one.content) for one in blocks}
    dropped: dict[Bucket, list[str]] = {}
    for name in BUCKETS:
        mine = [one for one in blocks if one.bucket == name]
        _drop(mine, sizes, getattr(allocated, name), dropped)
    gone = {one for ids in dropped.values() for one in ids}
    _drop([one for one in blocks if one.block_id not in gone], sizes, total, dropped)
    gone = {one for ids in dropped.values() for one in ids}
    kept = [one for one in blocks if one.block_id not in gone]
    used = {
        name: sum(sizes[one.block_id] for one in kept if one.bucket == name) for name in BUCKETS
    }
    report = BudgetReport(
        tokens_allocated=allocated,
        tokens_used_at_compile=sum(used.values()),
        tokens_used_by_bucket=BucketTokens(**used),
        bucket_truncations={name: True for name in BUCKETS if name in dropped},
        dropped_block_ids={name: tuple(dropped[name]) for name in BUCKETS if name in dropped},
        warnings=tuple(
            f"{name} bucket exceeded budget; dropped "
            f"{say_number(len(dropped[name]), 'low-priority block')}"
            for name in BUCKETS
            if name in dropped
        ),
    )
    return kept, report


def _drop(
    blocks: Sequence[ContextBlock],
    sizes: Mapping[str, int],
    most: int,
    dropped: dict[Bucket, list[str]],
) -> None:
    """Leave out blocks until the others fit: the lowest priority first, of these the last one."""
    used = sum(sizes[one.block_id] for one in blocks)
    places = {one.block_id: place for place, one in enumerate(blocks)}
    for one in sorted(blocks, key=lambda block: (block.priority, -places[block.block_id])):
        if used <= most:
            return
        if one.priority >= REQUEST_PRIORITY:
            raise GovernanceRefused(
                "BUDGET_EXCEEDED",
                f"the request itself takes {used} tokens of the {one.bucket} bucket, which has {most}",
            )
        used -= sizes[one.block_id]
        dropped.setdefault(one.bucket, []).append(one.block_id)


def _list_pack_blocks(book: Rulebook, intent: str) -> list[ContextBlock]:
    found: list[ContextBlock] = []
    for pack in book.packs:
        if not isinstance(pack, ContextPack):
            continue
        found += _list_blocks(pack, "business", pack.business_context.blocks, intent)
        tone = thaw(pack.tone_and_comms)
        if tone:
            found.append(
                ContextBlock(
                    block_id=f"{pack.pack_meta.pack_id}/tone",
                    bucket="business",
                    content=canonical_json(tone).decode(),
                    priority=0,
                )
            )
    for pack in book.packs:
        if isinstance(pack, ContextPack):
            found += _list_blocks(pack, "memory", pack.memory_layer.blocks, intent)
    return found


def _list_blocks(
    pack: ContextPack, bucket: Bucket, blocks: Iterable[PackBlock], intent: str
) -> list[ContextBlock]:
    return [
        ContextBlock(
            block_id=f"{pack.pack_meta.pack_id}/{one.block_id}",
            bucket=bucket,
            content=one.content,
            priority=min(one.priority, REQUEST_PRIORITY - 1),
            provenance_refs=one.provenance_refs,
        )
        for one in blocks
        if not one.intents or intent in one.intents
    ]


def _list_policy_blocks(book: Rulebook) -> list[ContextBlock]:
    """What the rules say in words; they hold whether the model reads them or not."""
    return [
        ContextBlock(
            block_id=f"{one.bundle_id}/{one.rule.rule_id}",
            bucket="policy",
            content=f"{one.rule.rule_id}: {one.rule.rationale}",
            priority=min(one.priority, REQUEST_PRIORITY - 1),
            provenance_refs=(f"policy:{one.bundle_id}#{one.rule.rule_id}",),
        )
        for one in book.rules
        if one.rule.rationale
    ]


def _list_tool_blocks(book: Rulebook) -> list[ContextBlock]:
    found = []
    for name in sorted(book.surface):
        declared = book.capabilities[name]
        about: dict[str, Any] = {"capability": name, "approval_mode": declared.mode}
        if declared.about.arg_schema is not None:
            about["arguments"] = thaw(declared.about.arg_schema)
        found.append(
            ContextBlock(
                block_id=f"tool/{name}",
                bucket="tool",
                content=canonical_json(about).decode(),
                priority=0,
            )
        )
    return found


def _list_evidence_blocks(evidence: Iterable[Evidence]) -> list[ContextBlock]:
    return [
        ContextBlock(
            block_id=one.ref,
            bucket="evidence",
            content=one.text or one.ref,
            priority=0,
            provenance_refs=(one.ref,),
        )
        for one in evidence
    ]


def _make_request_block(admitted: Admitted) -> ContextBlock:
    return ContextBlock(
        block_id=REQUEST_BLOCK,
        bucket="session",
        content=canonical_json(admitted.envelope.input.to_json()).decode(),
        priority=REQUEST_PRIORITY,
    )


def _make_prompt(
    book: Rulebook, admitted: Admitted, kept: Iterable[ContextBlock]
) -> CompiledPrompt:
    packs = [one for one in book.packs if isinstance(one, ContextPack)]
    return CompiledPrompt(
        system="\n\n".join(
            one.business_context.system for one in packs if one.business_context.system
        ),
        developer="\n\n".join(
            one.business_context.developer for one in packs if one.business_context.developer
        ),
        task=admitted.envelope.input.message,
        context_blocks=tuple(kept),
    )


def _make_manifests(book: Rulebook, evidence: Iterable[Evidence]) -> Manifests:
    bundles: dict[str, list[str]] = {}
    for one in book.rules:
        bundles.setdefault(one.bundle_id, []).append(one.rule.rule_id)
    surface = book.surface
    tools = []
    for name in sorted(book.adapters):
        adapter = book.adapters[name]
        mine = [one for one in adapter.capabilities if f"{name}.{one}" in surface]
        if mine:
            tools.append(
                ToolManifestEntry(
                    adapter_id=name,
                    capabilities=tuple(mine),
                    capability_metadata={
                        one: _describe_capability(book, f"{name}.{one}") for one in mine
                    },
                )
            )
    return Manifests(
        policy_manifest=tuple(
            PolicyManifestEntry(bundle_id=name, rule_ids=tuple(bundles[name]))
            for name in sorted(bundles)
        ),
        tool_manifest=tuple(tools),
        evidence_manifest=tuple(_describe_evidence(one) for one in evidence),
    )


def _describe_capability(book: Rulebook, name: str) -> Any:
    declared = book.capabilities[name]
    given = declared.about
    return given.model_copy(
        update={
            "kind": "write" if declared.writes else "read",
            "approval_mode": declared.mode,
            "source": given.source or "adapter_registry",
        }
    )


def _describe_evidence(one: Evidence) -> EvidenceManifestEntry:
    if not one.sha256:
        return EvidenceManifestEntry(evidence_ref=one.ref)
    return EvidenceManifestEntry(evidence_ref=one.ref, hash=one.sha256)


def _make_controls(book: Rulebook, facts: Mapping[str, Any]) -> RuntimeControls:
    """What is in force for this request."""
    active = {
        bundled.rule.then.requires_approval_gate
        for bundled in book.rules
        if bundled.rule.then.requires_approval_gate
        and bundled.rule.applies_to.intent in ("*", facts["intent"])
        and judge_condition(bundled.rule.condition, facts) != "not_met"
    }
    active |= {
        one.gate_id
        for one in book.gates.values()
        if one.capabilities and judge_condition(one.when, facts) != "not_met"
    }
    return RuntimeControls(
        must_refuse=tuple(one.guardrail_id for one in list_met(book.must_refuse, facts)),
        must_escalate=tuple(one.guardrail_id for one in list_met(book.must_escalate, facts)),
        approval_gates_active=tuple(sorted(name for name in active if name)),
        redaction_rules_active=tuple(
            one.rule_id for one in book.redactions if judge_condition(one.when, facts) != "not_met"
        ),
    )


# ----------------------------------------------------------------------------
# The context of a first turn as a block of the compiled context, where a pack asks for it.
#
#     `{"memory_layer": {"first_turn": {"image_id": "image_id", "workspace": "photos"}}}`
#         ->  ContextBlock(block_id="first_turn", bucket="memory", content="# Context of the first turn …")
#
# The request names the image, the pack the workspace, and the host alone knows which folder that is.  The
# text stands in the transcript, as everything that a planner was told.


BLOCK: Final = "first_turn"


def read_first_turn(admitted: Admitted, ports: GovernancePorts) -> tuple[ContextBlock, ...]:
    """Empty where no pack asks for it.

    Raises: `GovernanceRefused` (INVALID_ENVELOPE) where the request does not say what it is about;
    `NotConfigured` where the host lends no reader, or the reader fails.
    """
    asked = admitted.book.first_turn
    if asked is None:
        return ()
    given = thaw(admitted.envelope.input.context) or {}
    image_id = given.get(asked.image_id)
    if not isinstance(image_id, str):
        raise GovernanceRefused(
            "INVALID_ENVELOPE",
            f"input/context/{asked.image_id} is no text, and a pack begins with the first turn of it",
        )
    word = asked.workspace or ANY_WORKSPACE
    reader = find_reader(ports.first_turn or {}, given.get(word, word))
    if reader is None:
        raise NotConfigured(
            "a pack begins with the context of a first turn, which this process cannot read",
            hint="GovernancePorts(first_turn=…)",
        )
    text, problem = read_text(reader, image_id)
    if problem:
        raise NotConfigured(f"the first turn: {problem}")
    priority = min(asked.priority, REQUEST_PRIORITY - 1)
    return (ContextBlock(block_id=BLOCK, bucket="memory", content=text, priority=priority),)
