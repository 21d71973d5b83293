"""`oasflow records`, `replay`, `packs` and `memory` over a governed run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore
from oas_compiler.cli.terminal.exits import Exit
from tests.governance.packs import EXAMPLE
from tests.governance.refund import FINANCE, TENANT, lend_refund, request
from tests.governance.small_pack import make_small_pack
from tests.governance.test_flows import FLOW, GATED

OF_ACME = ("--tenant", TENANT)
PACKS = [str(EXAMPLE / "packs" / name) for name in ("ctxpack.support@5.2.0.json", "decision-catalog.support@2.1.0.json")]  # fmt: skip


@pytest.fixture
def run_id(fresh_database: str, tmp_path: Path) -> Iterator[str]:
    """A refund that was approved."""
    parts = lend_refund(tmp_path / "refunds")
    with RunStore.open(fresh_database, host=parts) as store:
        run = store.start(parts.graphs[0], {"request": request()}, tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
        store.answer(run.id, "gate", Decision.approve(by=FINANCE))
    return run.id


def test_records_are_listed_and_shown(cli: Any, run_id: str) -> None:
    listed = cli("records", *OF_ACME)
    assert listed.exit_code == Exit.OK
    assert "DECIDED" in listed.stdout
    assert FINANCE in listed.stdout
    found = json.loads(cli("records", run_id, "--json", *OF_ACME).stdout)["records"]
    assert [one["record"]["status"] for one in found] == ["DECIDED", "IN_FLIGHT", "IN_FLIGHT"]
    name = found[0]["record"]["record_id"]
    shown = cli("records", name, *OF_ACME)
    for words in (
        "support.refund.execute",
        "GATE_FINANCE_APPROVAL approved by",
        "(holds)",
        "order:ord_881",
    ):
        assert words in shown.stdout
    only = cli("records", "--status", "IN_FLIGHT", "--json", *OF_ACME)
    assert len(json.loads(only.stdout)["records"]) == 2
    page = json.loads(cli("records", "--limit", "2", "--json", *OF_ACME).stdout)
    rest = json.loads(cli("records", "--after", page["next"], "--json", *OF_ACME).stdout)
    assert len(page["records"]) + len(rest["records"]) == 3


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["--verifier", "--status", "DECIDED"], "--status does not go with --verifier"),
        (["--verifier", "r1"], "RUN does not go with --verifier"),
        (["--verify", "f", "--limit", "2"], "--limit does not go with --verify"),
        (["--verify", "f", "--export", "g"], "--export does not go with --verify"),
        (["--verify", "f", "--transcripts"], "--transcripts does not go with --verify"),
        (["--export", "f", "--status", "DECIDED"], "--status does not go with --export"),
        (["--export", "f", "dr_r1_1"], "RECORD does not go with --export"),
        (["dr_r1_1", "--after", "x"], "--after does not go with RECORD"),
        (["--transcripts"], "--transcripts is for --export FILE"),
        (["--hmac", "k=f"], "are keys for --verify FILE"),
    ],
)
def test_options_that_do_not_go_together_are_refused(cli: Any, given: list[str], told: str) -> None:
    refused = cli("records", *given)
    assert (refused.exit_code, told in refused.stderr) == (Exit.USAGE, True), refused.stderr


def test_nothing_is_listed_of_another_tenant(cli: Any, run_id: str) -> None:
    none = cli("records", "--tenant", "beta")
    assert (none.exit_code, "no decision records" in none.stderr) == (Exit.OK, True)
    assert cli("records", f"dr_{run_id}_1", "--tenant", "beta").exit_code == Exit.USAGE
    assert cli("replay", f"dr_{run_id}_1", "--tenant", "beta").exit_code == Exit.USAGE


def test_a_run_names_its_record_and_shows_it_on_request(cli: Any, run_id: str) -> None:
    shown = cli("show", run_id, *OF_ACME).stdout
    assert f"dr_{run_id}_3 (see oasflow records dr_{run_id}_3 --tenant {TENANT})" in " ".join(
        shown.split()
    )
    assert "principal_chain" not in shown
    assert "principal_chain" in cli("show", run_id, "--full", *OF_ACME).stdout
    outputs = json.loads(cli("show", run_id, "--json", *OF_ACME).stdout)["outputs"]
    assert outputs["decision_record"]["record_id"] == f"dr_{run_id}_3"


def test_an_export_is_verified(cli: Any, run_id: str, tmp_path: Path) -> None:
    file = tmp_path / "export.jsonl"
    done = cli("records", run_id, "--export", str(file), "--transcripts", *OF_ACME)
    assert (done.exit_code, "3 records" in done.stdout) == (Exit.OK, True)
    assert cli("records", "--verify", str(file)).exit_code == Exit.OK
    file.write_text(file.read_text().replace("4200", "4201"))
    wrong = cli("records", "--verify", str(file))
    assert wrong.exit_code == Exit.FINDINGS
    assert "is not what was hashed" in wrong.stdout
    assert cli("records", "--verify", str(tmp_path / "none")).exit_code == Exit.USAGE
    assert (
        cli("records", "--export", str(tmp_path / "no" / "folder"), *OF_ACME).exit_code
        == Exit.USAGE
    )
    assert len(cli("records", "--export", "-", *OF_ACME).stdout.splitlines()) == 4
    assert "Verifies an export" in cli("records", "--verifier").stdout


SIGNING = """
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.run.host_ports import GovernancePorts
from cinatra_sdk.governance.packs.pack_registry import MemoryRegistry
from cinatra_sdk.governance.records.record_maker import Signer
from cinatra_sdk.host_parts.host_parts import HostParts

def make():
    ports = GovernancePorts(signer=Signer.hmac("k1", b"s" * 32))
    return HostParts(governance=Governance(registry=MemoryRegistry(), ports=ports))
"""


def test_an_export_is_signed_by_the_host_and_verified_with_its_key(
    cli: Any, run_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "signing_host.py").write_text(SIGNING)
    (tmp_path / "key").write_bytes(b"s" * 32 + b"\n")
    monkeypatch.syspath_prepend(tmp_path)
    file, key = tmp_path / "export.jsonl", ("--hmac", f"k1={tmp_path / 'key'}")
    none = cli("records", "--export", str(file), "--tenant", "beta", "--host", "signing_host:make")
    assert (none.exit_code, "0 records" in none.stdout) == (Exit.OK, True)
    assert "is not signed" not in none.stderr
    held = cli("records", "--verify", str(file), *key, "--tenant", "beta")
    assert (held.exit_code, "hashes and chains hold, signed by k1" in held.stdout) == (0, True)
    other = cli("records", "--verify", str(file), *key, *OF_ACME)
    assert other.exit_code == Exit.FINDINGS
    assert f"the export is of the tenant beta, and not of {TENANT}" in " ".join(
        other.stdout.split()
    )
    unknown = json.loads(cli("records", "--verify", str(file), "--json").stdout)
    assert unknown["not_proved"] == ["the signatures by k1: give its key, --hmac k1=FILE"]
    plain = cli("records", "--export", str(file), *OF_ACME)
    assert "the export is not signed, so it can be cut unseen" in " ".join(plain.stderr.split())
    told = cli("records", "--verify", str(file)).stdout
    assert "not proved: who wrote it: nothing is signed" in " ".join(told.split())
    refused = cli("records", "--verify", str(file), "--hmac", f"k1={file.parent}")
    assert (refused.exit_code, "cannot be read" in refused.stderr) == (Exit.USAGE, True)
    alone = cli("records", *key)
    assert (alone.exit_code, "are keys for --verify FILE" in alone.stderr) == (Exit.USAGE, True)


def test_a_record_is_replayed(cli: Any, run_id: str) -> None:
    name = f"dr_{run_id}_3"
    folder = str(EXAMPLE / "packs")
    same = cli("replay", name, "--packs", folder, *OF_ACME)
    assert (same.exit_code, "comes out the same" in same.stdout) == (Exit.OK, True)
    lacking = cli("replay", name, *OF_ACME)
    assert (lacking.exit_code, "PACK_NOT_FOUND" in lacking.stdout) == (Exit.FINDINGS, True)
    assert "--packs DIR, or publish them with oasflow packs publish" in lacking.stderr
    nowhere = cli("replay", name, "--packs", "nowhere", *OF_ACME)
    assert (nowhere.exit_code, "--packs nowhere is no folder" in nowhere.stderr) == (
        Exit.USAGE,
        True,
    )
    of_run = cli("replay", run_id, *OF_ACME)
    assert of_run.exit_code == Exit.USAGE
    assert f"is a run, and no record: its records are in oasflow records {run_id}" in of_run.stderr
    assert cli("packs", "publish", *PACKS, "--as", "ann").exit_code == Exit.OK
    assert cli("replay", name, *OF_ACME).exit_code == Exit.OK
    packet = json.loads(cli("replay", name, "--packet", *OF_ACME).stdout)
    assert packet["side_effect_policy"] == "transcript_only"
    assert cli("replay", "dr_none", *OF_ACME).exit_code == Exit.USAGE


def test_packs_are_published_once(cli: Any, run_id: str, tmp_path: Path) -> None:
    assert "no packs" in cli("packs", "list").stderr
    done = cli("packs", "publish", *PACKS, "--as", "ann", "--json")
    assert len(json.loads(done.stdout)["published"]) == 2
    assert (
        len(json.loads(cli("packs", "publish", *PACKS, "--as", "ann", "--json").stdout)["known"])
        == 2
    )
    listed = cli("packs", "list").stdout
    assert "ctxpack.support@5.2.0" in listed
    tenants = {one["tenant"] for one in json.loads(cli("packs", "list", "--json").stdout)["packs"]}
    assert TENANT in tenants
    assert all(("every tenant" if one == "*" else one) in listed for one in tenants)
    changed = tmp_path / "ctxpack.support@5.2.0.json"
    changed.write_text(Path(PACKS[0]).read_text().replace("86400", "1"))
    refused = cli("packs", "publish", str(changed), "--as", "ann")
    assert refused.exit_code != Exit.OK
    assert "another content" in refused.stderr
    for name, content in (
        ("x.json", b"{}"),
        ("ctxpack.a@1.0.0.json", b"\xff"),
        ("ctxpack.a@1.0.0.json", b"{"),
    ):
        (tmp_path / name).write_bytes(content)
        assert cli("packs", "publish", str(tmp_path / name), "--as", "ann").exit_code == Exit.USAGE
    assert run_id


def test_proposals_are_reviewed_once(cli: Any, run_id: str) -> None:
    found = json.loads(cli("memory", "list", "--json", *OF_ACME).stdout)["proposals"]
    assert [one["run"] for one in found] == [run_id, run_id]
    first, second = (one["proposal"]["proposal_id"] for one in found)
    assert cli("memory", "promote", first, "--as", "ann", *OF_ACME).exit_code == Exit.OK
    assert cli("memory", "decline", first, "--as", "bob", *OF_ACME).exit_code == Exit.CONFLICT
    assert (
        cli("memory", "decline", second, "--as", "bob", "--tenant", "beta").exit_code
        == Exit.CONFLICT
    )
    assert (
        cli("memory", "decline", second, "--as", "bob", "--reason", "no", *OF_ACME).exit_code
        == Exit.OK
    )
    assert "no proposals" in cli("memory", "list", *OF_ACME).stderr
    assert "promoted" in cli("memory", "list", "--all", *OF_ACME).stdout


HOST = """
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.governance.governance import Governance
from cinatra_sdk.governance.contracts.context_pack import ContextPack
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform

PACK = ContextPack.read_json_text({pack!r}, code="PACK_INVALID")

def lend():
    platform = SimulatedPlatform(stubs={{"send": {{"id": "m1"}}}})
    return HostParts(governance=Governance.of(PACK), platform=platform)
"""


def test_a_run_of_the_command_line_with_the_host(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = json.dumps(make_small_pack(GATED).to_json())
    (tmp_path / "packs_of_mine.py").write_text(HOST.format(pack=pack))
    (tmp_path / "flow.json").write_text(json.dumps(FLOW))
    monkeypatch.syspath_prepend(str(tmp_path))
    lent = ("--host", "packs_of_mine:lend")
    asked = cli("run", str(tmp_path / "flow.json"), "--set", "to=bob", "--run-id", "r1", *lent)
    assert asked.exit_code == 3, asked.output
    assert "risk network" in asked.output
    assert cli("approve", "r1").exit_code != 0, "without its packs"
    assert cli("approve", "r1", *lent).exit_code == 0
    assert "dr_r1_3  DECIDED" in cli("records", "r1").stdout
