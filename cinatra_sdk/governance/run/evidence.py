"""Evidence: the references that a call rests on, and the hash over everything that a person was shown.

    freeze_evidence("adp_payments.issue_refund", {"amount_inr": 4200}, [Evidence("kg:order:…", "sha256:…")])
        ->  "sha256:b2a1…"

A person approves the hash.  It is computed again before the call: another argument, another reference,
or another content behind the same reference gives another hash, and voids the approval.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

from cinatra_sdk.governance.contracts.invocation import RunContext
from cinatra_sdk.governance.contracts.record_format import find_inexact, hash_of, thaw
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.run.budgets import call_within
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.effects.effect import hash_json

READER_MS: Final = 10_000
"""Milliseconds that a reader may take for one reference."""
_HASH: Final = re.compile(r"sha256:[0-9a-f]{64}")
MOST_LETTERS: Final = 1_000_000
"""Of the text of one piece of evidence."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What stands behind a reference now."""

    ref: str
    sha256: str = ""
    """`sha256:…` of its content; empty where the reference itself pins it, as a snapshot does."""
    tenant: str | None = None
    """Whose it is; None: nobody's in particular."""
    text: str = ""
    """What a model may be told of it."""


EvidenceReader: TypeAlias = Callable[[str, RunContext], Evidence | None]
"""From a reference to what stands behind it for the run; None: there is no such thing."""


def resolve_evidence(
    refs: Iterable[str],
    run: RunContext,
    readers: Mapping[str, EvidenceReader],
    recorded: Mapping[str, Evidence],
) -> list[Evidence]:
    """What stands behind each reference, in order, each once.

    readers:  by the kind of reference (`kg`, `attachment`, `context`), `*` for every other.
    recorded: what the run itself knows: results of its calls, rules, its session.
    Raises: `GovernanceRefused`: EVIDENCE_MISSING where nothing stands there, TENANT_MISMATCH where it
    is another tenant's; ATTACHMENT_FORBIDDEN for a file in both cases.
    """
    found: dict[str, Evidence] = {}
    for ref in refs:
        if ref not in found:
            found[ref] = _resolve(ref, run, readers, recorded)
    return list(found.values())


def _resolve(
    ref: str,
    run: RunContext,
    readers: Mapping[str, EvidenceReader],
    recorded: Mapping[str, Evidence],
) -> Evidence:
    if ref in recorded:
        return recorded[ref]
    kind = ref.partition(":")[0]
    reader = readers.get(kind) or readers.get("*")
    evidence = None if reader is None else _read(reader, ref, run)
    is_there = evidence is not None and evidence.ref == ref
    is_own = evidence is not None and evidence.tenant in (None, run.tenant_id)
    if evidence is not None and kind == "attachment":
        # The reference says which bytes: a reader that speaks of others has not found these.
        is_there = is_there and evidence.sha256 in ("", ref.rpartition("#")[2])
    if kind == "attachment" and not (is_there and is_own):
        # In the same words: nobody learns whether another tenant has the file.
        raise GovernanceRefused("ATTACHMENT_FORBIDDEN", f"the run may not read '{ref[:200]}'")
    if evidence is None or not is_there:
        raise GovernanceRefused(
            "EVIDENCE_MISSING",
            f"nothing stands behind '{ref[:200]}'",
            hint="" if reader else f"the host gives no reader for '{kind}:'",
        )
    if not is_own:
        raise GovernanceRefused("TENANT_MISMATCH", f"'{ref[:200]}' is another tenant's")
    return evidence


def _read(reader: EvidenceReader, ref: str, run: RunContext) -> Evidence | None:
    """What a reader of the host gives, within its time, and no larger than it may be.

    Raises: `GovernanceRefused` (EVIDENCE_MISSING) for everything else; its own words are not repeated:
    they may name what it reads with.
    """
    try:
        made = call_within(READER_MS, reader, ref, run)
    except GovernanceRefused:
        problem = f"its reader took longer than {READER_MS} ms"
    except Exception as error:  # noqa: BLE001 - a reader may raise anything
        problem = f"its reader failed ({type(error).__name__})"
    else:
        if made is None:
            return None
        problem = _find_form_problem(made)
        if not problem:
            return made  # type: ignore[no-any-return]  # looked at a line before
    raise GovernanceRefused("EVIDENCE_MISSING", f"nothing is known of '{ref[:200]}': {problem}")


def _find_form_problem(made: Any) -> str:
    if not isinstance(made, Evidence):
        return f"its reader gave a {type(made).__name__}, no Evidence"
    texts = (made.ref, made.sha256, made.text, made.tenant or "")
    if not all(isinstance(one, str) for one in texts):
        return "its reader gave an Evidence without texts"
    if made.sha256 and not _HASH.fullmatch(made.sha256):
        return "its reader gave an Evidence with a hash that is no sha256: and 64 hex digits"
    if len(made.text) > MOST_LETTERS:
        return f"its reader gave more than {MOST_LETTERS} letters"
    return ""


def list_lacking(required: Iterable[str], refs: Iterable[str]) -> list[str]:
    """Required beginnings (`kg:order:`, `tool:adp_policy.eval`) that no reference has."""
    known = list(refs)
    return [one for one in required if not any(_begins(ref, one) for ref in known)]


def _begins(ref: str, wanted: str) -> bool:
    """`tool:a.b` is a beginning of `tool:a.b:t1`, and not of `tool:a.bc:t1`."""
    return ref == wanted or (
        ref.startswith(wanted) and (wanted[-1] in ":#" or ref[len(wanted)] in ":#/")
    )


def freeze_evidence(capability: str, args: Any, evidence: Iterable[Evidence], *, mode: str) -> str:
    """The hash that a person approves.

    Arguments without canonical JSON (an integer beyond 2**53) stand in it by a hash of their own.
    """
    frozen = sorted({one.ref: one.sha256 for one in evidence}.items())
    given = thaw(args)
    exact = find_inexact(given) is None
    return hash_of(
        {
            "capability": capability,
            **({"arguments": given} if exact else {"arguments_sha256": hash_json(given)}),
            "approval_mode": mode,
            "evidence": [{"evidence_ref": ref, "hash": sha256} for ref, sha256 in frozen],
        }
    )
