"""Verifies an export of decision records.  Needs nothing but Python's standard library.

    python verifier.py records.jsonl                          hashes and chains
    python verifier.py records.jsonl --hmac kid=KEYFILE       and signatures by a shared secret

Each line of an export is a JSON object: `{"run_id", "seq", "record", "transcript"?}`; the last one is
`{"manifest": {"records", "heads", "lines_sha256"}}`.  A hash is sha256 over canonical JSON (RFC 8785).

In: the file.  Out: what was verified, or every problem, each with its line; exit code 0, or 1.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

LEFT_OUT = ("record_hash", "signature")
"""Members that the hash of a record is not over."""


def write_canonical(value: Any) -> str:
    """Canonical JSON: members by UTF-16 code units, numbers as ECMAScript writes them."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return (
            "{"
            + ",".join(f"{quote_text(name)}:{write_canonical(value[name])}" for name in names)
            + "}"
        )
    if isinstance(value, list):
        return "[" + ",".join(write_canonical(one) for one in value) + "]"
    if isinstance(value, str):
        return quote_text(value)
    if isinstance(value, float):
        return write_number(value)
    return json.dumps(value)


def quote_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def write_number(value: float) -> str:
    """The shortest text of a double that ECMAScript's Number.toString gives."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, part = mantissa.partition(".")
    part = "" if part == "0" else part
    digits = (whole + part).lstrip("0")
    point = len(whole) + int(exponent or 0)  # digits before the point
    if whole == "0":
        point -= 1 + len(part) - len(digits) if part else 1
        point = int(exponent or 0) - (len(part) - len(part.lstrip("0")))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    power = point - 1
    shown = f"e{'+' if power > 0 else '-'}{abs(power)}"
    return sign + digits[0] + (f".{digits[1:]}" if count > 1 else "") + shown


def hash_of(value: Any) -> str:
    return "sha256:" + hashlib.sha256(write_canonical(value).encode()).hexdigest()


def find_problems(lines: Iterable[str], keys: dict[str, bytes]) -> Iterator[tuple[int, str]]:
    """Every problem with the number of its line.  keys: secrets of signatures, by their names."""
    heads: dict[str, tuple[int, str]] = {}
    digest = hashlib.sha256()
    count, manifest, at = 0, None, 0
    for at, line in enumerate(lines, 1):
        found = read_line(line)
        if found is None:
            yield at, "is no JSON object"
        elif manifest is not None:
            yield at, "stands after the manifest"
        elif "manifest" in found:
            manifest = found["manifest"]
        else:
            digest.update(line.rstrip("\n").encode() + b"\n")
            count += 1
            for problem in list_problems(found, heads, keys):
                yield at, problem
    if not isinstance(manifest, dict):
        yield at + 1, "the manifest is missing: the export is cut off"
        return
    for problem in check_manifest(manifest, count, heads, digest.hexdigest()):
        yield at, problem


def read_line(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line, object_pairs_hook=read_members)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def read_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no name stands twice: a reader that takes the first would see another one."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def list_problems(
    found: dict[str, Any], heads: dict[str, tuple[int, str]], keys: dict[str, bytes]
) -> list[str]:
    """Every problem of a line; what has no canonical JSON is one."""
    try:
        return list(check_line(found, heads, keys))
    except RecursionError:
        return ["is nested too deeply"]
    except UnicodeError:
        return ["holds a lone surrogate"]


def check_manifest(
    manifest: dict[str, Any], count: int, heads: dict[str, tuple[int, str]], digest: str
) -> Iterator[str]:
    if manifest.get("records") != count:
        yield f"the manifest counts {manifest.get('records')} records, and {count} are there"
    if manifest.get("lines_sha256") != "sha256:" + digest:
        yield "the lines are not those of the manifest"
    if manifest.get("heads") != {run: head for run, (_, head) in heads.items()}:
        yield "the last record of a run is not that of the manifest"


def check_line(
    found: dict[str, Any], heads: dict[str, tuple[int, str]], keys: dict[str, bytes]
) -> Iterator[str]:
    record, run, seq = found.get("record"), found.get("run_id"), found.get("seq")
    if not isinstance(record, dict) or not isinstance(run, str):
        yield "holds no record"
        return
    name = record.get("record_id")
    made = hash_of({key: one for key, one in record.items() if key not in LEFT_OUT})
    if record.get("record_hash") != made:
        yield f"record {name} is not what was hashed"
    stem, _, number = str(name).rpartition("_")
    if number == str(seq) and stem.startswith("dr_") and stem != f"dr_{run}":
        yield f"record {name} is of another run than {run}"
    before, head = heads.get(run, (0, None))
    if seq != before + 1 or record.get("sequence") != seq:
        yield f"record {name} has the number {seq}, and follows number {before} of its run"
    if record.get("previous_record_hash") != head:
        yield f"record {name} does not follow the record before it"
    heads[run] = (seq if isinstance(seq, int) else before, str(record.get("record_hash")))
    if "transcript" in found:
        refs = record.get("inputs_refs")
        named = refs.get("transcript") if isinstance(refs, dict) else None
        if named != hash_of(found["transcript"]):
            yield f"the transcript of record {name} is not the one that it was made from"
    yield from check_signature(record, keys)


def check_signature(record: dict[str, Any], keys: dict[str, bytes]) -> Iterator[str]:
    if not keys:
        return
    signature = record.get("signature")
    if not isinstance(signature, dict):
        yield f"record {record.get('record_id')} is not signed"
        return
    key = keys.get(str(signature.get("kid")))
    if key is None or signature.get("alg") != "HS256":
        yield f"record {record.get('record_id')} is signed with a key that was not given"
        return
    right = hmac.new(key, str(record.get("record_hash")).encode(), hashlib.sha256).digest()
    if not hmac.compare_digest(base64.b64encode(right).decode(), str(signature.get("value"))):
        yield f"the signature of record {record.get('record_id')} does not hold"


def read_file(name: str) -> bytes | None:
    """None, and a sentence on stderr, where the file cannot be read."""
    try:
        return Path(name).read_bytes()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no file can have this name"
    sys.stderr.write(f"{name} cannot be read: {why}\n")
    return None


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(str(__doc__))
        return 0 if arguments else 2
    keys: dict[str, bytes] = {}
    rest = arguments[1:]
    while rest:
        if rest[0] != "--hmac" or len(rest) < 2 or "=" not in rest[1]:
            sys.stderr.write(f"unknown argument {rest[0]}\n")
            return 2
        kid, _, file = rest[1].partition("=")
        key = read_file(file)
        if key is None:
            return 2
        keys[kid] = key.strip()
        rest = rest[2:]
    content = read_file(arguments[0])
    if content is None:
        return 2
    try:
        lines = [f"{line}\n" for line in content.decode("utf-8").split("\n") if line]
    except UnicodeDecodeError:
        sys.stderr.write(f"{arguments[0]} cannot be read: it is no UTF-8\n")
        return 2
    problems = list(find_problems(lines, keys))
    for at, problem in problems:
        sys.stdout.write(f"line {at}: {problem}\n")
    if not problems:
        sys.stdout.write(f"{len(lines) - 1} records: hashes and chains hold\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
