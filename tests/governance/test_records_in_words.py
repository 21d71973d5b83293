"""Records, verified and told in this process, and the small decisions behind them."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.governance.contracts.context_pack import ContextPack, DecisionCatalog
from cinatra_sdk.governance.contracts.decision_record import DecisionRecord
from cinatra_sdk.governance.packs.rulebook import make_rulebook
from cinatra_sdk.governance.records import verifier
from cinatra_sdk.governance.records.record_maker import Signer, seal_record
from cinatra_sdk.governance.records.replay import _describe_word
from cinatra_sdk.governance.records.signatures import HMAC, Key
from cinatra_sdk.governance.records.story import _measure, join_calls
from cinatra_sdk.governance.run.current_call import list_trace_headers, make_trace_context
from tests.governance.packs import admit_example, put, read_catalog, read_pack
from tests.governance.record_exports import SECRET, make_chain, make_export, make_pem, make_signer
from tests.governance.signed_records import verify_ed25519, verify_hmac
from tests.governance.test_generated_runs import read_record

KEYS = {"k1": Key(HMAC, (SECRET,))}


def test_a_signed_export_holds_and_one_record_without_its_signature_does_not() -> None:
    signer = make_signer("hmac")
    whole = make_export([make_chain("r1", signer=signer)], signer=signer)
    found = verifier.verify(whole, KEYS)
    assert (found.problems, found.unsigned, found.records) == ([], 0, 3)
    assert verifier.describe(found)[0].endswith("hashes and chains hold, signed by k1")
    bare = verifier.verify(make_export([make_chain("r1")], signer=signer), KEYS)
    assert [problem.partition("_1 ")[2] for _, problem in bare.problems][:1] == ["is not signed"]
    assert bare.unsigned == 3
    assert f": {len(bare.problems)} problems" in verifier.describe(bare)[0]
    unknown = verifier.verify(whole, {})
    assert unknown.problems == []
    assert any("not proved: the signatures" in line for line in verifier.describe(unknown))


def test_the_program_tells_how_it_is_used_and_what_it_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (verifier.main([]), verifier.main(["--help"])) == (2, 0)
    assert capsys.readouterr().out == str(verifier.__doc__) * 2
    file = tmp_path / "records.jsonl"
    lines = make_export([make_chain("r1")])
    file.write_text("".join(lines), encoding="utf-8")
    assert verifier.main([str(file)]) == 0
    assert capsys.readouterr().out.startswith("3 records of 1 run of tenant acme")
    file.write_text("".join(lines[1:]), encoding="utf-8")
    assert verifier.main([str(file)]) == 1
    assert " problem" in capsys.readouterr().out


def test_a_signature_holds_under_its_own_key_alone() -> None:
    record = DecisionRecord.read(read_record())
    signed = seal_record(record, make_signer("hmac"))
    assert verify_hmac(signed, SECRET) is True
    assert verify_hmac(signed, SECRET[::-1]) is False
    assert verify_hmac(record, SECRET) is False
    signed = seal_record(record, make_signer("ed25519"))
    assert verify_ed25519(signed, make_pem()[1]) is True
    assert verify_ed25519(signed, make_pem(8)[1]) is False


def test_a_signer_that_lacks_its_package_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None)
    with pytest.raises(NotConfigured, match="cryptography"):
        Signer.ed25519("k1", make_pem()[0])


@pytest.mark.parametrize(
    ("reasons", "told"),
    [
        (("corrected by ann: once",), "corrected by ann: once"),
        (("corrected by ann: once", "corrected by bob: twice", "x"), "corrected by bob: twice"),
    ],
)
def test_the_last_correction_is_the_one_that_is_told(reasons: tuple[str, ...], told: str) -> None:
    record = DecisionRecord.read(read_record())
    rationale = record.rationale.model_copy(update={"reasons": reasons})
    corrected = record.model_copy(update={"rationale": rationale, "corrects": "dr_r1_1"})
    assert _describe_word(corrected) == f"record dr_r1_1: {told}"


def _call(name: str, **more: Any) -> dict[str, Any]:
    return {"call": {"tool_call_id": name}, "result": {"status": "ok"}, **more}


def test_a_call_that_only_the_ledger_knows_is_joined_and_of_two_the_trusted_one_is_kept() -> None:
    known, other = _call("a", by="transcript"), _call("a", by="ledger")
    assert join_calls([], [other], trusts_ledger=False) == [other]
    assert join_calls([known], [other, _call("b")], trusts_ledger=False) == [known, _call("b")]
    assert join_calls([known], [other], trusts_ledger=True) == [other]
    assert join_calls([{**known, "result": None}], [other], trusts_ledger=False) == [other]


def test_what_has_no_beginning_or_no_end_took_no_known_time() -> None:
    first = datetime(2026, 5, 4, 9, 0, 0, tzinfo=UTC)
    last = datetime(2026, 5, 4, 9, 0, 1, 500_000, tzinfo=UTC)
    found = [
        _measure(first, last),
        _measure(last, first),
        _measure(None, last),
        _measure(first, None),
    ]
    assert found == [1500, 0, None, None]


def test_an_argument_may_be_held_to_one_number() -> None:
    limits = "policy_layer/permissions/2/arg_constraints/amount_inr"
    assert admit_example(put(read_pack(), limits, {"min": 900, "max": 900}))


def test_a_decision_without_intents_is_that_of_its_own_name() -> None:
    (decision,) = read_catalog()["decisions"]
    key = decision["decision_key"]
    bare = put(read_catalog(), "decisions/0/intents", ...)
    packs = (ContextPack.read(read_pack()), DecisionCatalog.read(bare))
    book = make_rulebook(packs)
    assert book.intents == {key}
    assert book.decision_for(key) == book.decisions[key]
    assert book.decision_for("support.nothing") is None


@pytest.mark.parametrize(
    ("hint", "member"),
    [
        ("max_tool_calls", "max_tool_calls"),
        ("max_cost_cents", "max_cost_cents"),
        ("max_session_duration_ms", "wall_clock_ms"),
    ],
)
def test_a_hint_of_a_request_lowers_a_limit_and_never_raises_it(hint: str, member: str) -> None:
    limit = getattr(admit_example(**{f"runtime__{hint}": ...}).run.run_budget, member)
    for asked, given in ((limit * 10, limit), (limit - 1, limit - 1)):
        run = admit_example(**{f"runtime__{hint}": asked}).run
        assert getattr(run.run_budget, member) == given


def test_only_headers_that_say_something_are_sent() -> None:
    trace = make_trace_context(admit_example().run, "call_1", pack="p@1.0.0")
    sent = list_trace_headers(trace)
    assert set(sent) == {"traceparent", "tracestate", "baggage"}
    assert list_trace_headers(trace.model_copy(update={"tracestate": "", "baggage": ""})) == {
        "traceparent": trace.traceparent
    }
