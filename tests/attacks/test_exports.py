"""Exports of decision records that somebody without the key changes, and hands to an auditor.

The export is one of two ended runs of the tenant acme.  Whoever attacks it can compute every hash, and
writes the manifest anew where `anew` is called; the key of the signer is not theirs.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cinatra_sdk.governance.records import exact_json, signatures, verifier
from cinatra_sdk.governance.records.record_maker import Signer
from cinatra_sdk.governance.records.signatures import ED25519, HMAC, read_key
from cinatra_sdk.governance.records.verifier import hash_of, list_unproved, split_lines, verify
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, tests_of
from tests.governance.record_exports import (
    SECRET,
    make_chain,
    make_export,
    make_pem,
    make_signer,
)

Export = list[dict[str, Any]]
"""The lines, read."""


def attempt(attack: Attack, _place: Place) -> str:
    how = attack.value
    kind = how.get("as", "hmac")
    content = MAKERS[how["do"]](kind)
    keys = list_keys(kind) if how.get("keys", True) else {}
    try:
        lines = split_lines(content)
    except UnicodeDecodeError:
        return "refused" if how["says"] == "no UTF-8" else "opened"
    found = verify(lines, keys, tenant=how.get("tenant", ""), run=how.get("run", ""))
    said = how.get("says", "")
    if found.problems:
        told = "; ".join(f"{at}: {problem}" for at, problem in found.problems)
        return "refused" if said and said in told else f"said otherwise: {told}"
    told = "; ".join([*verifier.describe(found), *list_unproved(found)])
    if said not in told:
        return f"said otherwise: {told}"
    return "not proved" if list(list_unproved(found)) else "opened"


def list_keys(kind: str) -> dict[str, Any]:
    """What the auditor has: the key of the host, and one from before it."""
    other = read_key(ED25519, make_pem(8)[1]) if kind == "ed25519" else read_key(HMAC, b"o" * 32)
    own = read_key(ED25519, make_pem()[1]) if kind == "ed25519" else read_key(HMAC, SECRET)
    return {"k0": other, "k1": own}


@functools.cache
def write_lines(kind: str, tenant: str = "acme", run: str = "") -> tuple[str, ...]:
    signer = make_signer(kind)
    names = ("r1", "r2") if tenant == "acme" else ("b1", "b2")
    chains = [make_chain(name, tenant=tenant, signer=signer) for name in names if run in ("", name)]
    return tuple(make_export(chains, signer=signer, tenant=tenant, run=run or None))


def read_export(kind: str, **about: str) -> Export:
    return [json.loads(line) for line in write_lines(kind, **about)]


def write(export: Export) -> bytes:
    return "".join(json.dumps(line) + "\n" for line in export).encode()


def anew(export: Export, *, signature: str = "kept", key: str = "kept") -> bytes:
    """With a manifest that tells of the lines as they are now."""
    records, last = export[:-1], dict(export[-1])
    text = write(records)
    told: dict[str, Any] = {"heads": {}, "counts": {}}
    ended: dict[str, bool] = {}
    for line in records:
        run, record = line["run_id"], line["record"]
        told["heads"][run] = record["record_hash"]
        told["counts"][run] = told["counts"].get(run, 0) + 1
        ended[run] = verifier.is_end(record["status"], line.get("run_status", "completed"))
    told["records"] = len(records)
    told["without_end"] = sorted(run for run, has_end in ended.items() if not has_end)
    told["lines_sha256"] = "sha256:" + hashlib.sha256(text).hexdigest()
    last["manifest"] = {**last["manifest"], **told}
    if key == "dropped":
        last["manifest"]["key"] = None
    if signature == "dropped":
        last.pop("signature", None)
    if signature == "own":
        signer = Signer.hmac("k1", b"the key of whoever attacks it: x!")
        last["signature"] = signer.sign(verifier.SIGNED_AS + hash_of(last["manifest"])).to_json()
        last["manifest"]["key"] = {"kid": "k1", "alg": "HS256"}
    return text + json.dumps(last).encode() + b"\n"


def rehash(export: Export) -> Export:
    """Every hash of the first run computed again, as whoever changes a record can do."""
    before: str | None = None
    for line in export[:-1]:
        if line["run_id"] != "r1":
            continue
        record = line["record"]
        record["previous_record_hash"] = before
        kept = {key: one for key, one in record.items() if key not in verifier.LEFT_OUT}
        before = record["record_hash"] = hash_of(kept)
    return export


def replacing(old: str, new: str) -> Callable[[str], bytes]:
    def make(kind: str) -> bytes:
        content = write(read_export(kind))
        assert old.encode() in content
        return content.replace(old.encode(), new.encode(), 1)

    return make


def setting(path: str, value: Any, *, rewrite: bool = False) -> Callable[[str], bytes]:
    """path: `0/record/outputs/amount`.  value None: the member is taken away.  rewrite: the manifest too."""

    def make(kind: str) -> bytes:
        export = read_export(kind)
        place: Any = export
        *way, name = path.split("/")
        for part in way:
            place = place[int(part)] if isinstance(place, list) else place[part]
        if value is None:
            del place[name]
        else:
            place[name] = value
        return anew(export) if rewrite else write(export)

    return make


def taking(*at: int, **how: str) -> Callable[[str], bytes]:
    """Only these lines, and the manifest; `how` as `anew` takes it."""

    def make(kind: str) -> bytes:
        export = read_export(kind)
        kept = [export[number] for number in at]
        return anew([*kept, export[-1]], **how) if how else write([*kept, export[-1]])

    return make


def _downgraded(kind: str) -> bytes:
    """Nothing is signed any more, and the last record is gone."""
    export = read_export(kind)
    kept = [*export[:2], export[-1]]
    for line in kept[:-1]:
        line["record"].pop("signature", None)
    return anew(kept, signature="dropped", key="dropped")


def _of_form_1(kind: str) -> bytes:
    """As exports were before their manifests were signed."""
    export = read_export(kind)
    content = anew([*export[:2], export[-1]])
    manifest = json.loads(content.splitlines()[-1])["manifest"]
    old = {name: manifest[name] for name in verifier.OLD_MANIFESTS[None]}
    return b"".join(
        [*(line + b"\n" for line in content.splitlines()[:-1]), write([{"manifest": old}])]
    )


def _renumbered(kind: str) -> bytes:
    """The second record is gone, and the third stands in its place."""
    export = read_export(kind)
    del export[1]
    export[1]["seq"] = export[1]["record"]["sequence"] = 2
    export[1]["record"]["record_id"] = "dr_r1_2"
    return anew(rehash(export))


def _other_outcome(kind: str) -> bytes:
    export = read_export(kind)
    export[2]["record"]["status"] = "DECIDED"
    return anew(rehash(export))


def _moved(kind: str) -> bytes:
    """The rejection of the second run stands at the end of the first."""
    export = read_export(kind)
    export[2] = {**export[5], "run_id": "r1"}
    return anew(export)


def _signature_of_a_record(kind: str) -> bytes:
    export = read_export(kind)
    export[-1]["signature"] = export[0]["record"]["signature"]
    return anew(export)


def _signature_of_the_record_before(kind: str) -> bytes:
    export = read_export(kind)
    export[1]["record"]["signature"] = export[0]["record"]["signature"]
    return anew(export)


def _by_the_public_key(kind: str) -> bytes:
    """A shared secret that everybody has, if a public key were taken as one."""
    export = read_export(kind)
    public = read_key(ED25519, make_pem()[1]).forms[0]
    manifest = {**export[-1]["manifest"], "key": {"kid": "k1", "alg": "HS256"}, "made_at": "x"}
    signer = Signer.hmac("k1", public)
    signed = signer.sign(verifier.SIGNED_AS + hash_of(manifest)).to_json()
    return write([*export[:-1], {"manifest": manifest, "signature": signed}])


def _without_transcripts(kind: str) -> bytes:
    export = read_export(kind)
    for line in export[:-1]:
        del line["transcript"]
    export[-1]["manifest"]["transcripts"] = False
    return anew(export)


def _other_transcript(kind: str) -> bytes:
    export = read_export(kind)
    export[0]["transcript"], export[1]["transcript"] = (
        export[1]["transcript"],
        export[0]["transcript"],
    )
    return anew(export)


def _with_the_other_tenants_lines(kind: str) -> bytes:
    other = read_export(kind, tenant="beta")
    export = read_export(kind)
    return anew([*export[:-1], *other[:-1], export[-1]])


def whole(kind: str) -> bytes:
    return "".join(write_lines(kind)).encode()


def _of_nobody(kind: str) -> bytes:
    return "".join(make_export([], signer=make_signer(kind))).encode()


def _half_done(kind: str) -> bytes:
    """Of a run that waits."""
    signer = make_signer(kind)
    return "".join(make_export([make_chain(statuses=["IN_FLIGHT"], signer=signer)], signer=signer)).encode()  # fmt: skip


def _signed_in_part(kind: str) -> bytes:
    """Records from before there was a signer."""
    chains = [make_chain("r1"), make_chain("r2", signer=make_signer(kind))]
    return "".join(make_export(chains, signer=make_signer(kind))).encode()


def _rotated(kind: str) -> bytes:
    """The records are signed with the key of before, the export with that of now."""
    before = (
        Signer.ed25519("k0", make_pem(8)[0]) if kind == "ed25519" else Signer.hmac("k0", b"o" * 32)
    )
    return "".join(make_export([make_chain(signer=before)], signer=make_signer(kind))).encode()


MAKERS: dict[str, Callable[[str], bytes]] = {
    "whole": whole,
    "one run": lambda kind: "".join(write_lines(kind, run="r1")).encode(),
    "of nobody": _of_nobody,
    "half done": _half_done,
    "rotated": _rotated,
    "signed in part": _signed_in_part,
    "without the end of its line": lambda kind: whole(kind)[:-1],
    # cut
    "last cut": taking(0, 1, 3, 4, 5),
    "last cut, anew": taking(0, 1, 3, 4, 5, signature="kept"),
    "last cut, anew, unsigned": taking(0, 1, 3, 4, 5, signature="dropped"),
    "last cut, anew, no key": taking(0, 1, 3, 4, 5, signature="dropped", key="dropped"),
    "last cut, anew, own key": taking(0, 1, 3, 4, 5, signature="own"),
    "downgraded": _downgraded,
    "of form 1": _of_form_1,
    "first cut, anew": taking(1, 2, 3, 4, 5, signature="kept"),
    "middle cut, anew": taking(0, 2, 3, 4, 5, signature="kept"),
    "run cut": taking(0, 1, 2),
    "run cut, anew": taking(0, 1, 2, signature="kept"),
    "emptied": taking(),
    "emptied, anew": taking(signature="kept"),
    "emptied, anew, unsigned": taking(signature="dropped", key="dropped"),
    "empty file": lambda _kind: b"",
    "a line's end": lambda _kind: b"\n",
    "manifest cut": lambda kind: write(read_export(kind)[:-1]),
    "half a manifest": lambda kind: whole(kind)[:-40],
    "half a file": lambda kind: whole(kind)[: len(whole(kind)) // 2],
    # order
    "swapped": taking(1, 0, 2, 3, 4, 5),
    "swapped, anew": taking(1, 0, 2, 3, 4, 5, signature="kept"),
    "runs swapped": taking(3, 4, 5, 0, 1, 2),
    "runs swapped, anew": taking(3, 4, 5, 0, 1, 2, signature="kept"),
    "manifest first": lambda kind: write([read_export(kind)[-1], *read_export(kind)[:-1]]),
    "manifest in the middle": lambda kind: write(
        [*read_export(kind)[:3], read_export(kind)[-1], *read_export(kind)[3:-1]]
    ),
    # numbers
    "renumbered": _renumbered,
    "a number that is true": setting("0/seq", True, rewrite=True),
    "a number with a fraction": setting("0/seq", 1.0, rewrite=True),
    "a number as a text": setting("0/seq", "1", rewrite=True),
    # twice
    "a line twice": taking(0, 1, 2, 2, 3, 4, 5),
    "a line twice, anew": taking(0, 1, 2, 2, 3, 4, 5, signature="kept"),
    "two exports": lambda kind: whole(kind) * 2,
    "two exports, one manifest": taking(*range(6), *range(6), signature="kept"),
    "two manifests": lambda kind: write([*read_export(kind), read_export(kind)[-1]]),
    "another's export behind it": lambda kind: whole(kind) + "".join(write_lines(kind, "beta")).encode(),
    "another's lines in it": _with_the_other_tenants_lines,
    # whose
    "another tenant": lambda kind: "".join(write_lines(kind, "beta")).encode(),
    "tenant renamed": setting("6/manifest/tenant", "beta"),
    "a line's tenant renamed": setting("0/tenant", "beta", rewrite=True),
    "a line's run renamed": setting("0/run_id", "r9", rewrite=True),
    "moved": _moved,
    "time of the export": setting("6/manifest/made_at", "2027-01-01T00:00:00.000Z"),
    "runs without an end": setting("6/manifest/without_end", ["r1"]),
    # beside the record
    "run_status": setting("2/run_status", "completed"),
    "run_status, anew": setting("2/run_status", "completed", rewrite=True),
    "run_status of none": setting("2/run_status", "done", rewrite=True),
    "run_status in a list": setting("2/run_status", ["rejected"], rewrite=True),
    "created_at of no calendar": setting("2/created_at", "2026-02-30T10:00:00.000Z", rewrite=True),
    "created_at as a number": setting("2/created_at", 1777888800, rewrite=True),
    "time of no calendar": setting("6/manifest/made_at", "2026-13-01T10:00:00.000Z"),
    "created_at, anew": setting("2/created_at", "2020-01-01T00:00:00.000Z", rewrite=True),
    "transcript": setting("0/transcript", {"calls": []}, rewrite=True),
    "transcripts exchanged": _other_transcript,
    "transcript gone": setting("0/transcript", None, rewrite=True),
    "transcripts gone": _without_transcripts,
    "extra": setting("0/extra", "approved by ann", rewrite=True),
    "tenant gone": setting("0/tenant", None, rewrite=True),
    "beside the manifest": setting("6/note", "verified"),
    "a record beside the manifest": setting("6/record", {"status": "DECIDED"}),
    "in the manifest": setting("6/manifest/note", "verified"),
    "no manifest in it": setting("6/manifest", [], rewrite=False),
    # the record
    "a value": replacing("4200", "4201"),
    "outcome": _other_outcome,
    "signature gone": setting("0/record/signature", None, rewrite=True),
    "signature of no kind": setting("0/record/signature/alg", "none", rewrite=True),
    "signature by another key": setting("0/record/signature/kid", "k0", rewrite=True),
    "signature by an unknown key": setting("0/record/signature/kid", "k7", rewrite=True),
    "signature with a member": setting("0/record/signature/at", "now", rewrite=True),
    "signature of the record before": _signature_of_the_record_before,
    "signature of a record": _signature_of_a_record,
    "manifest's key": setting("6/manifest/key", {"kid": "k0", "alg": "HS256"}),
    "by the public key": _by_the_public_key,
    # bytes
    "CRLF": lambda kind: whole(kind).replace(b"\n", b"\r\n"),
    "BOM": lambda kind: b"\xef\xbb\xbf" + whole(kind),
    "UTF-16": lambda kind: whole(kind).decode().encode("utf-16"),
    "Latin-1": lambda kind: whole(kind).replace(b"acme", b"acm\xe9"),
    "blank line": lambda kind: whole(kind).replace(b"\n", b"\n\n", 1),
    "spaces": lambda kind: whole(kind).replace(b'{"format"', b'{ "format"', 1),
    "NUL": lambda kind: whole(kind) + b"\0",
    "a name twice": replacing('{"format"', '{"tenant": "beta", "format"'),
    "a name twice in a record": replacing('"outputs": {', '"outputs": {"amount": 1}, "outputs": {'),
    "a name twice in the manifest": replacing('{"manifest": {', '{"manifest": {"records": 3, '),
    "NaN": replacing("4200.5", "NaN"),
    "infinite": replacing("4200.5", "1e999"),
    "a huge integer": replacing("4200.5", "9" * 5000),
    "an inexact integer": replacing("4200.5", str(2**53 + 1)),
    "a lone surrogate": replacing('"run": "r1"', '"run": "\\ud800"'),
    "deep": replacing("4200.5", "[" * 100_000 + "]" * 100_000),
    "deep within": replacing("4200.5", "[" * 900 + "]" * 900),
    "no object": lambda kind: b"[]\n" + whole(kind),
    "a terminal's command": setting("0/record/record_id", "dr_\x1b[2J", rewrite=True),
}  # fmt: skip


@contextmanager
def without(place: Place, module: Any, name: str, instead: Any) -> Iterator[None]:
    """The verifier without one of its checks."""
    with place.monkeypatch.context() as patch:
        patch.setattr(module, name, instead)
        yield


def nothing(*_given: Any) -> Iterator[str]:
    return iter(())


def control(module: Any, name: str, row: str, instead: Any = nothing) -> Control:
    return Control(open=lambda place: without(place, module, name, instead), row=row)


CONTROLS = {
    "no signature is verified": control(
        signatures, "judge_signature", "cut-last_record,_manifest_anew", lambda *_given: ""
    ),
    "the signature of the manifest is not asked for": control(
        verifier, "check_signature", "cut-last_record,_manifest_unsigned"
    ),
    "the manifest is not compared": control(verifier, "check_manifest", "cut-last_record"),
    "the chain is not followed": control(verifier, "check_place", "order-two_records_swapped,_anew"),
    "the lines are not read strictly": control(
        exact_json, "READER", "bytes-a_name_twice_in_a_record", json.JSONDecoder()
    ),
    "every key fits every signature": control(
        signatures.Key, "verifies", "keys-own_key_under_the_name_of_the_host's", lambda *_given: True
    ),
}  # fmt: skip
test_attack, test_twin, test_control = tests_of("exports", attempt, CONTROLS)
