"""`oasflow export`: a signed file of one run, which `oasflow records --verify` verifies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, RunStore, SimulatedPlatform
from oas_compiler import compile_flow
from oas_compiler.cli.terminal.exits import Exit
from tests.flows import api, end, flow_of, gate, start
from tests.governance.record_exports import SECRET, make_pem

FLOW = flow_of(start(), gate("ok"), api("send"), end())


@pytest.fixture
def run_id(fresh_database: str) -> Iterator[str]:
    with RunStore.open(fresh_database) as store:
        flow = compile_flow(FLOW, platform=SimulatedPlatform())
        store.start(flow, run_id="r1", tenant="acme")
        store.answer("r1", "ok", Decision.approve(by="ann\u00e4"))
    return "r1"


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    private, public = make_pem()
    for name, content in (("private", private), ("public", public), ("secret", SECRET + b"\n")):
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize(("key", "option"), [("private", "--ed25519"), ("secret", "--hmac")])
def test_a_run_is_exported_signed_and_verified(
    cli: Any, run_id: str, keys: Path, key: str, option: str
) -> None:
    file = keys / "run.jsonl"
    done = cli(
        "export", run_id, "--out", str(file), "--key", f"k1={keys / key}", "--tenant", "acme"
    )
    assert (done.exit_code, done.stdout.startswith("run r1 in ")) == (Exit.OK, True), done.stderr
    assert "is not signed" not in done.stderr
    public = keys / ("public" if key == "private" else key)
    verify = ("records", run_id, "--verify", str(file), option, f"k1={public}")
    held = cli(*verify, "--tenant", "acme")
    told = " ".join(held.stdout.split())
    assert (held.exit_code, "hashes and chains hold, signed by k1" in told) == (Exit.OK, True)
    assert "run r1: ok approved by annä at" in told
    found = json.loads(cli(*verify, "--json").stdout)
    assert (found["evidence"], found["problems"], found["not_proved"]) == (["r1"], [], [])
    file.write_text(file.read_text().replace('"approved"', '"denied"', 1))
    wrong = cli(*verify)
    assert wrong.exit_code == Exit.FINDINGS
    assert "is not what was exported" in wrong.stdout


def test_it_goes_to_stdout_and_says_that_nobody_signed_it(cli: Any, run_id: str) -> None:
    done = cli("export", run_id, "--tenant", "acme")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert (lines[0]["kind"], list(lines[-1])) == ("run", ["manifest"])
    assert "the export is not signed, so it can be cut unseen" in " ".join(done.stderr.split())
    assert done.stdout.isascii()


def test_a_run_of_another_tenant_and_none_are_refused(cli: Any, run_id: str) -> None:
    other = cli("export", run_id, "--tenant", "beta")
    assert (other.exit_code, other.stdout) == (Exit.USAGE, "")
    assert "no run begins with 'r1'" in other.stderr
    assert cli("export", "").exit_code == Exit.USAGE


@pytest.mark.parametrize(
    ("key", "told"),
    [
        ("k1", "give the key a name, --key KID=FILE"),
        ("=private", "give the key a name, --key KID=FILE"),
        ("k1=public", "is no key to sign with"),
        ("k1=short", "is no key to sign with: the secret of a signer needs at least 32 bytes"),
        ("k1=none", "cannot be read"),
    ],
)
def test_what_is_no_key_to_sign_with_is_refused_before_anything_is_read(
    cli: Any, run_id: str, keys: Path, key: str, told: str
) -> None:
    (keys / "short").write_bytes(b"s3cret")
    kid, equals, name = key.partition("=")
    refused = cli("export", run_id, "--key", f"{kid}{equals}{keys / name if equals else ''}")
    said = " ".join(refused.stderr.split())
    assert (refused.exit_code, told in said) == (Exit.USAGE, True), said
    assert "s3cret" not in said
    assert refused.stdout == ""
