"""Verifies an export of runs and decision records.  Needs nothing but Python's standard library.

    python verifier.py records.jsonl                          what can be told without a key
    python verifier.py records.jsonl --hmac KID=FILE          and signatures by a shared secret
    python verifier.py records.jsonl --ed25519 KID=FILE       and by a private key, from the public one
    python verifier.py records.jsonl --tenant NAME --run RUN  and that it is of this tenant and run

Each line of an export is a JSON object: of a decision record `{"format", "run_id", "seq", "tenant",
"run_status", "created_at", "record", "transcript"?}`, of a run's evidence `{"format", "run_id", "tenant",
"n", "kind", "data"}`; the last one is `{"manifest": {…}, "signature"?: {…}}`.
A hash is sha256 over canonical JSON (RFC 8785).  Signed are the hash of a record, and
`oasflow-manifest:` with that of the manifest.  --hmac and --ed25519 stand once for each key.

In: the file.  Out: every problem with its line, and what is not proved; exit code 0, or 1 for problems.
With keys everything has to be proved; without them nothing proves who wrote the file.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

FORMAT = "oasflow-export/3"
OLD_FORMAT = "oasflow-records/2"
"""Of exports that had decision records alone; every rule on these is as it was."""
FORMATS = (OLD_FORMAT, FORMAT)
SIGNED_AS = "oasflow-manifest:"
"""Before the hash of a manifest that is signed: no signature of a record is one of a manifest."""
LEFT_OUT = ("record_hash", "signature")
"""Members that the hash of a record is not over."""
LINE = {"format", "run_id", "seq", "tenant", "run_status", "created_at", "record"}
MANIFEST = {
    "format", "made_at", "tenant", "run", "transcripts", "records", "counts", "heads",
    "without_end", "lines_sha256", "key", "evidence",
}  # fmt: skip
EVIDENCE = "evidence"
"""Of a manifest: the runs whose evidence stands in the export, each with the hash of its last line."""
OLD_MANIFESTS = {OLD_FORMAT: MANIFEST - {EVIDENCE}, None: {"records", "heads", "lines_sha256"}}
UNREADABLE = "unreadable"
"""Of a manifest, where rows of the export are no records: their numbers, by run."""
ERASED = "erased"
"""Of a record, and of a transcript, whose content was erased with a person's values: its place, its hash and its
signature stay.  Of a manifest: the numbers of such records, by run."""
OF_ERASED = {
    "record_id", "sequence", "status", "corrects", "previous_record_hash", "record_hash", "signature",
    ERASED,
}  # fmt: skip
READ = ("record", "transcript")
"""Members of a line that are JSON objects, or the text of what cannot be read."""
ENDS = ("DECIDED", "REJECTED", "ESCALATED", "CLOSED")
"""Of a run that failed the record is ESCALATED too, and somebody may go on with it."""
MOMENT = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z")
"""How an export writes a moment."""


def load_beside(name: str) -> Any:
    """The module in the file beside this one, which needs no more than this one; also where it runs alone."""
    if __package__:
        return importlib.import_module(f"{__package__}.{name}")
    file = Path(__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None or not file.is_file():
        sys.exit(f"{file.name} has to lie beside this file; or use: oasflow records --verifier")
    found = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


ALONE = "judge_signature" in globals()
"""Whether all four files stand in one text, as `oasflow records --verifier` prints them."""
exact_json: Any = sys.modules[__name__] if ALONE else load_beside("exact_json")
signatures: Any = sys.modules[__name__] if ALONE else load_beside("signatures")
run_evidence: Any = sys.modules[__name__] if ALONE else load_beside("run_evidence")
hash_of, write_canonical = exact_json.hash_of, exact_json.write_canonical
write_number = exact_json.write_number
ENDED, STANDS = run_evidence.ENDED, run_evidence.STANDS
OPTIONS = {"--hmac": signatures.HMAC, "--ed25519": signatures.ED25519}
show = signatures.show


@dataclass
class Verified:
    """What came of an export."""

    keys: Mapping[str, Any]
    """`signatures.Key`, by their names."""
    problems: list[tuple[int, str]] = field(default_factory=list)
    """With the number of the line."""
    records: int = 0
    transcripts: int = 0
    unsigned: int = 0
    heads: dict[str, str] = field(default_factory=dict)
    """Of each run, the hash of its last record."""
    counts: dict[str, int] = field(default_factory=dict)
    ended: dict[str, bool] = field(default_factory=dict)
    unreadable: dict[str, list[Any]] = field(default_factory=dict)
    """Numbers of the rows of each run that are no records."""
    erased: dict[str, list[Any]] = field(default_factory=dict)
    """Numbers of the records of each run whose content, or whose transcript, was erased."""
    kids: dict[str, str] = field(default_factory=dict)
    """With which something is signed, and how."""
    said: dict[tuple[str, str], int] = field(default_factory=dict)
    """What lines say of tenant, run and format, with the first line that says it."""
    manifest: dict[str, Any] = field(default_factory=dict)
    corrections: list[str] = field(default_factory=list)
    """Of each record that corrects another: whose word it is, and on what."""
    evidence: Any = field(default_factory=lambda: run_evidence.EvidenceReader(show))
    """`run_evidence.EvidenceReader`: the lines that tell of whole runs."""

    @property
    def without_end(self) -> list[str]:
        return sorted(run for run, ended in self.ended.items() if not ended)

    def judge(self, signature: Any, message: str) -> str:
        if isinstance(signature, dict):
            self.kids[str(signature.get("kid"))] = str(signature.get("alg"))
        return str(signatures.judge_signature(signature, message, self.keys))


def find_problems(lines: Iterable[str], keys: Mapping[str, Any]) -> Iterator[tuple[int, str]]:
    """Every problem with the number of its line.  keys: as `verify` takes them."""
    yield from verify(lines, keys).problems


def verify(
    lines: Iterable[str], keys: Mapping[str, Any], *, tenant: str = "", run: str = ""
) -> Verified:
    """keys: `signatures.Key` by their names; bytes are a shared secret.  tenant, run: whose export it
    has to be; empty: anybody's.
    """
    found, digest, at = Verified(read_keys(keys)), hashlib.sha256(), 0
    last: dict[str, Any] = {}
    for at, line in enumerate(lines, 1):
        text = line.removesuffix("\n")
        try:
            read = exact_json.read_line(text)
            told = ["stands after the manifest"] if last else []
            if "manifest" in read:
                last = last or read
            elif not last:
                digest.update(text.encode() + b"\n")
                told = list(check_line(found, read, text, at))
        except (exact_json.UnreadLine, RecursionError, UnicodeError) as error:
            told = [describe_error(error)]
            found.evidence.note_record(text, at, "the line")
        found.problems += ((at, problem) for problem in told)
    found.evidence.finish()
    found.problems += found.evidence.problems
    wanted = {"tenant": tenant, "run": run}
    try:
        told = list(check_end(found, last, "sha256:" + digest.hexdigest(), wanted))
    except (RecursionError, UnicodeError) as error:
        told = [f"the manifest {describe_error(error)}"]
    found.problems += ((at if last else at + 1, problem) for problem in told)
    found.problems.sort(key=lambda one: one[0])
    return found


def read_keys(keys: Mapping[str, Any]) -> dict[str, Any]:
    made = signatures.Key
    return {
        kid: made(signatures.HMAC, (one,)) if isinstance(one, bytes) else one
        for kid, one in keys.items()
    }


def describe_error(error: Exception) -> str:
    if isinstance(error, exact_json.UnreadLine):
        return str(error)
    return "is nested too deeply" if isinstance(error, RecursionError) else "holds a lone surrogate"


def check_line(found: Verified, line: dict[str, Any], text: str, at: int) -> Iterator[str]:
    """text: the line as it stands."""
    for name in ("tenant", "run_id", "format"):
        found.said.setdefault((name, json.dumps(line.get(name))), at)
    if "kind" in line and "record" not in line:
        yield from found.evidence.read(line, text, at)
    else:
        record = line.get("record")
        name = show(record.get("record_id")) if isinstance(record, dict) else ""
        found.evidence.note_record(text, at, f"record {name}")
        yield from check_record(found, line)


def check_record(found: Verified, line: dict[str, Any]) -> Iterator[str]:
    record, run, seq = line.get("record"), line.get("run_id"), line.get("seq")
    if isinstance(run, str) and not all(isinstance(line.get(name, {}), dict) for name in READ):
        found.unreadable.setdefault(run, []).append(seq)
    if not isinstance(record, dict) or not isinstance(run, str):
        yield "holds no record"
        return
    yield from (
        f"holds {show(name)} beside its record: no export has that"
        for name in line
        if name not in LINE and name != "transcript"
    )
    yield from check_content(found, line, record)
    yield from check_id(line, record)
    yield from check_place(found, line, record)
    if "corrects" in record and not is_erased(record):
        found.corrections.append(describe_correction(record))
    found.records += 1
    why = judge_record(found, record)
    if why:
        yield f"record {show(record.get('record_id'))} {why}"


def check_id(line: dict[str, Any], record: dict[str, Any]) -> Iterator[str]:
    """Whether a record is named by its run and its number."""
    run, seq, name = line.get("run_id"), line.get("seq"), show(record.get("record_id"))
    named = re.fullmatch(r"dr_(.+)_([0-9]+)", str(record.get("record_id")), re.DOTALL)
    if named and named[1] != run:
        yield f"record {name} is of another run than {show(run)}"
    elif line.get("format") in FORMATS and (not named or named[2] != str(seq)):
        yield f"record {name} is not named by its run and its number {show(seq)}"


def judge_record(found: Verified, record: dict[str, Any]) -> str:
    """What is wrong with its signature; empty: nothing, as far as the keys tell."""
    signature = record.get("signature")
    if signature is None:
        found.unsigned += 1
        return "is not signed" if found.keys else ""
    return found.judge(signature, str(record.get("record_hash")))


def describe_correction(record: dict[str, Any]) -> str:
    """A person's word, as the record marks it; earlier releases marked none."""
    rationale, actor = record.get("rationale"), record.get("actor")
    reasons = rationale.get("reasons") if isinstance(rationale, dict) else None
    told = [str(one) for one in reasons] if isinstance(reasons, list) else []
    marks = [one for one in told if one.startswith("corrected by ")]
    who = actor.get("id") if isinstance(actor, dict) else None
    word = show(marks[-1]) if marks else f"corrected by {show(who)}; not derived from results"
    return f"record {show(record.get('record_id'))} corrects {show(record['corrects'])}, a person's word: {word}"


def check_content(found: Verified, line: dict[str, Any], record: dict[str, Any]) -> Iterator[str]:
    """Whether a record is what was hashed.  Of an erased one the hash is left, and what follows it."""
    name = show(record.get("record_id"))
    if is_erased(record) or is_erased(line.get("transcript")):
        found.erased.setdefault(line["run_id"], []).append(line.get("seq"))
    if is_erased(record):
        if set(record) - OF_ERASED:
            yield f"record {name} counts as erased, and has content"
    elif record.get("record_hash") != hash_of(
        {key: one for key, one in record.items() if key not in LEFT_OUT}
    ):
        yield f"record {name} is not what was hashed"


def is_erased(value: Any) -> bool:
    return isinstance(value, dict) and value.get(ERASED) is True


def check_place(found: Verified, line: dict[str, Any], record: dict[str, Any]) -> Iterator[str]:
    """Whether a record follows the one before it, and was made from what stands beside it."""
    run, seq, name = line["run_id"], line.get("seq"), show(record.get("record_id"))
    before, head = found.counts.get(run, 0), found.heads.get(run)
    if type(seq) is not int or seq != before + 1 or record.get("sequence") != seq:
        yield f"record {name} has the number {show(seq)}, and follows number {before} of its run"
    if record.get("previous_record_hash") != head:
        yield f"record {name} does not follow the record before it"
    found.heads[run] = str(record.get("record_hash"))
    found.counts[run] = seq if type(seq) is int else before
    if "corrects" not in record:
        found.ended[run] = is_end(record.get("status"), line.get("run_status", "completed"))
    if line.get("format") in FORMATS and not set(line) >= LINE:
        yield f"record {name} lacks {', '.join(sorted(LINE - set(line)))} beside it"
    if line.get("format") in FORMATS:
        yield from check_beside(line, name)
    if "transcript" in line:
        found.transcripts += 1
        refs = record.get("inputs_refs")
        named = refs.get("transcript") if isinstance(refs, dict) else None
        if not is_erased(line["transcript"]) and named != hash_of(line["transcript"]):
            yield f"the transcript of record {name} is not the one that it was made from"


def check_beside(line: dict[str, Any], name: str) -> Iterator[str]:
    """Whether what stands beside a record is what an export writes there, also where nothing is signed.

    name: of the record.
    """
    standing, moment, tenant = line.get("run_status"), line.get("created_at"), line.get("tenant")
    if "run_status" in line and standing not in STANDS:
        yield f"record {name} says that its run is {show(standing)}: a run is {', '.join(STANDS)}"
    if "created_at" in line and not is_moment(moment):
        yield f"record {name} was written {show(moment)}, which is no moment"
    if "tenant" in line and not isinstance(tenant, str):
        yield f"record {name} is of the tenant {show(tenant)}, which is no text"


def check_words(manifest: dict[str, Any]) -> Iterator[str]:
    """Whether the manifest says of itself what an export says."""
    if not is_moment(manifest.get("made_at")):
        yield f"the manifest was written {show(manifest.get('made_at'))}, which is no moment"
    for name in ("tenant", "run"):
        if not isinstance(manifest.get(name), (str, type(None))):
            yield f"the manifest is of the {name} {show(manifest[name])}, which is no text"
    if not isinstance(manifest.get("transcripts"), bool):
        told = show(manifest.get("transcripts"))
        yield f"the manifest says {told} of transcripts: true or false is meant"


def is_moment(value: Any) -> bool:
    """Whether a value is a moment of the calendar, as exports write it."""
    if not isinstance(value, str) or not MOMENT.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value[:-1] + "+00:00")  # noqa: FURB162 - older Pythons read no Z
    except ValueError:
        return False
    return True


def is_end(status: Any, run_status: Any) -> bool:
    """Whether a record is that of a run's end: by its status, and by how the run stood then."""
    return status in ENDS and run_status in ENDED


def check_end(
    found: Verified, last: dict[str, Any], digest: str, wanted: Mapping[str, str]
) -> Iterator[str]:
    """last: the line of the manifest; empty where there is none."""
    manifest = last.get("manifest")
    if not isinstance(manifest, dict):
        empty = not found.problems and not found.records and not last
        yield "the file is empty" if empty else "the manifest is missing: the export is cut off"
        return
    found.manifest = manifest
    if set(last) - {"manifest", "signature"}:
        yield "something stands beside the manifest: nothing but its signature does"
    made = manifest.get("format")
    if "format" in manifest and made not in FORMATS:
        yield f"the export is of the format {show(made)}, and not of {FORMAT}"
    members = OLD_MANIFESTS.get(made if isinstance(made, str | None) else "", MANIFEST)
    odd = sorted((set(manifest) - {UNREADABLE, ERASED}) ^ members)
    if odd:
        yield f"the manifest lacks, or has too much: {show(', '.join(odd))}"
    if made in FORMATS:
        yield from check_words(manifest)
    yield from check_manifest(found, manifest, digest)
    for name, value in wanted.items():
        if value and manifest.get(name) != value:
            whose = manifest.get(name)
            told = f"every {name}" if whose is None else f"the {name} {show(whose)}"
            yield f"the export is of {told}, and not of {show(value)}"
    yield from check_signature(found, last)


def check_manifest(found: Verified, manifest: dict[str, Any], digest: str) -> Iterator[str]:
    """Whether the lines are those that it tells of."""
    yield from check_tally(found, manifest, digest)
    yield from found.evidence.list_lacking(manifest)
    found.problems += found.evidence.list_end_problems(manifest)
    for (name, value), at in found.said.items():
        told = manifest.get("run" if name == "run_id" else name)
        if told is not None and value != json.dumps(told):
            yield f"line {at} is of the {name} {show(value)}, and the manifest of {show(told)}"


def check_tally(found: Verified, manifest: dict[str, Any], digest: str) -> Iterator[str]:
    """Whether the records are as many, and in such a state, as it says."""
    if write_canonical(manifest.get("records")) != str(found.records):
        told = show(manifest.get("records"))
        yield f"the manifest counts {told} records, and {found.records} are there"
    made = {
        "lines_sha256": (digest, "the lines are not those of the manifest"),
        "heads": (found.heads, "the last record of a run is not that of the manifest"),
        "counts": (found.counts, "a run has another number of records than in the manifest"),
        "without_end": (found.without_end, "the manifest names other runs without an end"),
        UNREADABLE: (found.unreadable, "the manifest names other rows that cannot be read"),
    }
    if write_canonical(manifest.get(ERASED, {})) != write_canonical(found.erased):
        yield "the manifest names other records that were erased"
    for name, (value, problem) in made.items():
        if name in manifest and write_canonical(manifest[name]) != write_canonical(value):
            yield problem
    if "transcripts" in manifest:
        has_all = manifest["transcripts"] is True
        if found.transcripts != (found.records if has_all else 0):
            yield f"{found.transcripts} of {found.records} records stand with a transcript"


def check_signature(found: Verified, last: dict[str, Any]) -> Iterator[str]:
    key = last["manifest"].get("key")
    if "signature" in last:
        signature: Any = last["signature"]
        why = found.judge(signature, SIGNED_AS + hash_of(last["manifest"]))
        if why:
            yield f"the manifest {why}"
        elif key != {"kid": signature["kid"], "alg": signature["alg"]}:
            yield "the manifest names another key than that of its signature"
    elif found.unsigned < found.records:
        yield "the records are signed, and the manifest is not: the export may be cut"
    elif key is not None or found.keys:
        yield "the manifest is not signed"
    elif not found.records and not found.evidence.ends:
        yield "the export has no record, and no signature says so"


def list_unproved(found: Verified) -> Iterator[str]:
    """What an export without problems leaves open."""
    if found.keys:
        return
    if not found.kids:
        yield "who wrote it: nothing is signed, so whoever had the file can have changed, cut or made it"
    for kid, alg in sorted(found.kids.items()):
        option = next((name for name, one in OPTIONS.items() if one == alg), "")
        yield f"the signatures by {show(kid)}: give its key, {option} {show(kid)}=FILE"
    if found.unsigned and found.manifest.get("key") is not None:
        yield f"{count(found.unsigned, 'record')} without a signature: only the whole export is signed"


def count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def describe(found: Verified) -> list[str]:
    """Sentences for people, beside the problems."""
    manifest = found.manifest
    about = f"{count(found.records, 'record')} of {count(len(found.heads), 'run')}"
    if found.evidence.ends:
        runs = found.evidence.ends
        lines = sum(number for _, number, _ in runs.values())
        about = f"{count(lines, 'line')} on {count(len(runs), 'run')}, with {about}"
    if manifest.get("tenant") is not None:
        about += f" of tenant {show(manifest['tenant'])}"
    if "made_at" in manifest:
        about += f", written {show(manifest['made_at'])}"
    told = [f"run {show(run)} has no record of its end" for run in found.without_end]
    told += [*found.evidence.told, *found.corrections]
    told += [
        f"of run {show(run)}, the content of record {', '.join(map(show, numbers))} was erased: its place, its "
        "hash and its signature are all that is left to check"
        for run, numbers in found.erased.items()
    ]
    if found.problems:
        return [f"{about}: {count(len(found.problems), 'problem')}", *told]
    open_ = list(list_unproved(found))
    by = ", ".join(show(kid) for kid in sorted(found.kids))
    held = "no problem is found" if open_ else f"hashes and chains hold, signed by {by}"
    return [f"{about}: {held}", *told, *(f"not proved: {one}" for one in open_)]


def read_file(name: str) -> bytes:
    """Raises: `ValueError` with a sentence."""
    try:
        return Path(name).read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no file can have this name"
    raise ValueError(f"{show(name)} cannot be read: {why}")


def read_arguments(rest: list[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Keys, and whose export it has to be.  Raises: `ValueError`."""
    keys: dict[str, Any] = {}
    wanted = {"tenant": "", "run": ""}
    for option, value in zip(rest[::2], [*rest[1::2], ""][: len(rest[::2])], strict=True):
        if option in ("--tenant", "--run") and value:
            wanted[option[2:]] = value
        elif option in OPTIONS and "=" in value:
            add_key(keys, option, value)
        else:
            raise ValueError(f"unknown argument {show(option)}, or it lacks its value")
    return keys, wanted


def add_key(
    keys: dict[str, Any], option: str, given: str, read: Callable[[str], bytes] = read_file
) -> None:
    """given: `KID=FILE`.  Raises: `ValueError`."""
    kid, _, file = given.partition("=")
    if not kid or kid in keys:
        raise ValueError(
            f"{option} {show(given)}: each key has a name of its own, {option} KID=FILE"
        )
    content = read(file)
    try:
        keys[kid] = signatures.read_key(OPTIONS[option], content)
    except ValueError as error:
        raise ValueError(f"{show(file)} {error}") from None


def split_lines(content: bytes) -> list[str]:
    """Raises: `UnicodeDecodeError`."""
    lines = content.decode("utf-8").split("\n")
    return lines[:-1] if not lines[-1] else lines


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(str(__doc__))
        return 0 if arguments else 2
    try:
        keys, wanted = read_arguments(arguments[1:])
        lines = split_lines(read_file(arguments[0]))
    except UnicodeDecodeError:
        sys.stderr.write(f"{show(arguments[0])} cannot be read: it is no UTF-8\n")
        return 2
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    found = verify(lines, keys, **wanted)
    told = [f"line {at}: {problem}" for at, problem in found.problems]
    sys.stdout.write("".join(f"{line}\n" for line in [*told, *describe(found)]))
    return 1 if found.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
