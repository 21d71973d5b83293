"""The lines of an export of decision records, and the manifest that is signed over them.

    tally = ExportTally(tenant="acme")
    tally.add(row)                    the line of a row of `decision_records`
    tally.end("2026-05-04T…Z", signer)    the last line: what has to be there, signed

`governance/verifier.py` reads them, and has the other half of each rule.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cinatra_sdk.governance.canonical import hash_of
from cinatra_sdk.governance.recording import format_time
from cinatra_sdk.governance.signing import Signer
from cinatra_sdk.governance.verifier import FORMAT, READ, SIGNED_AS, is_end


@dataclass(kw_only=True)
class ExportTally:
    """What an export has come to so far."""

    tenant: str | None = None
    """None: records of every tenant."""
    run: str | None = None
    """None: of every run."""
    transcripts: bool = False
    records: int = 0
    unsigned: int = 0
    heads: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    ended: dict[str, bool] = field(default_factory=dict)
    unreadable: dict[str, list[int]] = field(default_factory=dict)
    """Numbers of the rows of each run that no reader can make into a record."""
    _digest: Any = field(default_factory=hashlib.sha256, repr=False)

    @property
    def without_end(self) -> list[str]:
        """Runs whose last record, corrections aside, is none of an end."""
        return sorted(run for run, ended in self.ended.items() if not ended)

    def add(self, row: Mapping[str, Any]) -> str:
        """The line of a record.  What is no JSON is exported as its text: manifest and verifier name it."""
        run, record = row["run_id"], _read_json(row["record"])
        made = {
            "format": FORMAT,
            "run_id": run,
            "seq": row["seq"],
            "tenant": row["tenant"],
            "run_status": row["run_status"],
            "created_at": format_time(row["created_at"]),
            "record": record,
        }
        if self.transcripts:
            made["transcript"] = _read_json(row["transcript"])
        if not all(isinstance(made.get(name, {}), dict) for name in READ):
            self.unreadable.setdefault(run, []).append(row["seq"])
        line = _write_line(made)
        self._digest.update(line.encode())
        self.records += 1
        self.heads[run], self.counts[run] = row["record_hash"], self.counts.get(run, 0) + 1
        told = record if isinstance(record, dict) else {}
        self.unsigned += told.get("signature") is None
        if "corrects" not in told:
            self.ended[run] = is_end(told.get("status"), row["run_status"])
        return line

    def end(self, made_at: str, signer: Signer | None) -> str:
        """The line of the manifest."""
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "made_at": made_at,
            "tenant": self.tenant,
            "run": self.run,
            "transcripts": self.transcripts,
            "records": self.records,
            "counts": self.counts,
            "heads": self.heads,
            "without_end": self.without_end,
            "lines_sha256": f"sha256:{self._digest.hexdigest()}",
            "key": None if signer is None else {"kid": signer.kid, "alg": signer.alg},
        }
        if self.unreadable:
            manifest["unreadable"] = self.unreadable
        last: dict[str, Any] = {"manifest": manifest}
        if signer is not None:
            last["signature"] = signer.sign(SIGNED_AS + hash_of(manifest)).to_json()
        return _write_line(last)


def _write_line(value: Any) -> str:
    """JSON that neither a terminal nor the log of a build obeys: ASCII, without DEL and `##[…]`."""
    text = json.dumps(value).replace("\x7f", "\\u007f").replace("##", "#\\u0023")
    return text + "\n"


def _read_json(text: str) -> Any:
    """The value, or the text where it is no JSON that a line can hold: not a number, too deep."""
    try:
        value = json.loads(text)
        json.dumps([value], allow_nan=False)
    except (ValueError, RecursionError):
        return text
    return value
