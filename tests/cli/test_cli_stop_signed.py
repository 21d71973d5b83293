"""The record of a governed run that ends without its flow is signed by the host's signer, if there is one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import HostParts, RunStore
from cinatra_sdk.governance.records.record_maker import Signer
from cinatra_sdk.governance.records.signatures import HMAC
from cinatra_sdk.store.evidence.decision_records import DecisionRecords
from oas_compiler.cli.terminal.exits import Exit
from tests.governance.refund import FINANCE, TENANT, lend_refund, request
from tests.governance.signed_records import verify_hmac

SECRET = b"s" * 32
SIGNING = """
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.run.host_ports import GovernancePorts
from cinatra_sdk.governance.packs.pack_registry import MemoryRegistry
from cinatra_sdk.governance.records.record_maker import Signer
from cinatra_sdk.host_parts.host_parts import HostParts

def lend(signer):
    ports = GovernancePorts(signer=signer)
    return HostParts(governance=Governance(registry=MemoryRegistry(), ports=ports))

def make():
    return lend(Signer.hmac("k1", b"s" * 32))

def ask_a_vault(text):
    raise ConnectionError("the vault at 10.0.0.7 is closed")

def make_failing():
    return lend(Signer("k2", "HS256", ask_a_vault))

def make_nothing_signed():
    return HostParts()

def make_reserved():
    return HostParts(env={"CINATRA_RUN_TOKEN": "x"})

def fail():
    raise ValueError("s3cret-of-the-host")

def leave():
    raise SystemExit(3)
"""


@pytest.fixture
def store(fresh_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """`r1` and `r2` wait, with records that are signed; the module `stop_host` has hosts."""
    (tmp_path / "stop_host.py").write_text(SIGNING)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("OASFLOW_TENANT", TENANT)
    parts = lend_refund(tmp_path / "refunds", signer=Signer.hmac("k1", SECRET))
    with RunStore.open(fresh_database, host=parts) as opened:
        for name in ("r1", "r2"):
            opened.start(parts.graphs[0], {"request": request()}, name, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
        yield opened


def last(store: RunStore, run_id: str) -> Any:
    return DecisionRecords(store.database).page(run_id=run_id).items[0].record


def is_signed(store: RunStore, run_id: str) -> bool:
    record = last(store, run_id)
    assert record.status == "CLOSED"
    return verify_hmac(record, SECRET)


@pytest.mark.parametrize("by", ["--host", "OASFLOW_HOST"])
def test_a_stop_is_signed_by_the_signer_of_the_host(
    cli: Any, store: RunStore, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    option = ("--host", "stop_host:make") if by == "--host" else ()
    if not option:
        monkeypatch.setenv("OASFLOW_HOST", "stop_host:make")
    stopped = cli("stop", "r1", *option)
    assert (stopped.exit_code, stopped.stderr) == (Exit.OK, "")
    assert is_signed(store, "r1")
    both = cli("stop", "r1", "r2", "--yes", *option)
    assert "is not signed" not in both.stderr
    assert is_signed(store, "r2")


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("", ""),
        ("stop_host", "is not of the form module:factory"),
        ("no_such_module:make", "there is no module 'no_such_module'"),
        ("stop_host:nothing", "has no 'nothing'"),
        ("stop_host:fail", "it raises ValueError"),
        ("stop_host:leave", "it ends the process"),
        ("stop_host:lend", "takes arguments"),
        ("stop_host:make_nothing_signed", ""),
        ("stop_host:make_reserved", "it raises PlaceholderRefused"),
        ("stop_host:make_failing", ""),
    ],
)
def test_no_host_prevents_a_stop_and_a_record_without_signature_is_named(
    cli: Any, store: RunStore, host: str, words: str
) -> None:
    stopped = cli("stop", "r1", "--host", host, "--reason", "wrong customer")
    said = " ".join(stopped.stderr.split())
    assert stopped.exit_code == Exit.OK
    assert f"the decision record {last(store, 'r1').record_id} is not signed" in said
    assert words in said
    # Who lends a host needs no advice to lend one.
    assert ("lends a signer" in said) is (host == "")
    assert ("the host of this command did not sign it" in said) is (host != "")
    assert (
        "the host has no signer" not in said
    )  # of a host that governs nothing, nobody expects one
    assert ("the host's signer failed (" in said) is (host == "stop_host:make_failing")
    assert ("the host is not used" in said) is bool(words)
    assert "s3cret" not in said
    assert not is_signed(store, "r1")
    assert "wrong customer" in last(store, "r1").reason


def test_a_rejection_without_the_flow_is_signed_too_and_no_host_prevents_it(
    cli: Any, store: RunStore
) -> None:
    rejected = cli("reject", "r1/gate", "--host", "stop_host:make", "--as", FINANCE)
    assert rejected.exit_code == Exit.REJECTED
    assert "is not signed" not in rejected.stderr
    signed = last(store, "r1")
    assert (signed.status, verify_hmac(signed, SECRET)) == ("REJECTED", True)
    assert "of the host it uses the signer and the policy (may)" in rejected.stderr
    # The host may have the flow: what lends it is not asked for, and is not told to be lacking.
    assert "HostParts(graphs" not in rejected.stderr
    assert "the host has no signer" not in rejected.stderr
    shown = " ".join(cli("show", "r2").stdout.split())
    assert "it is a graph of the host, and that code really acts" in shown
    assert "simulated" not in shown
    plain = cli("reject", "r2/gate", "--host", "stop_host:fail", "--as", FINANCE)
    said = " ".join(plain.stderr.split())
    assert plain.exit_code == Exit.REJECTED
    assert "the host is not used" in said
    assert f"the decision record {last(store, 'r2').record_id} is not signed" in said


def test_a_host_of_the_environment_prevents_no_stop_either(
    cli: Any, store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OASFLOW_HOST", "stop_host:fail")
    stopped = cli("stop", "r1")
    assert (stopped.exit_code, "the host is not used" in stopped.stderr) == (Exit.OK, True)
    assert not is_signed(store, "r1")


def test_a_run_that_no_pack_governs_has_no_record_to_name(
    cli: Any, flow_file: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("run", flow_file(), "--simulate", "--run-id", "plain").exit_code == Exit.WAITING
    assert cli("stop", "plain").stderr == ""


def test_python_signs_with_the_stores_signer_and_stops_where_it_fails(
    fresh_database: str, store: RunStore, caplog: pytest.LogCaptureFixture
) -> None:
    store.stop("r1", by="ann")
    assert is_signed(store, "r1")

    def fail(_text: bytes) -> bytes:
        raise ConnectionError("the vault at 10.0.0.7 is closed")

    parts = lend_refund(Path("unused"), signer=Signer("k2", HMAC, fail))
    with RunStore.open(fresh_database, host=HostParts(governance=parts.governance)) as other:
        assert other.stop("r2", by="ann").status == "stopped"
    assert not is_signed(store, "r2")
    assert (
        "the end of run 'r2' is not signed: the host's signer failed (ConnectionError)"
        in caplog.text
    )
    assert "10.0.0.7" not in caplog.text
