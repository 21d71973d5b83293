"""What a gate showed, by its hash: a decision is about that, and about nothing else.

hash_payload({"xRenderer": …, "values": {"subject": "Bees"}})   ->   "5f0c…" (64 hex letters)
refuse_other_payload({"approved": True, "shown": "0a1b2c3d4e5f6071"}, payload, gate="review")
    ->   GateChanged: gate 'review' shows something else now …

People and commands shorten a hash to its first letters, 16 at the least: two payloads with the same 8
are made in a second, two with the same 16 are not.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from cinatra_sdk.errors import AnswerInvalid, GateChanged

SHORT: Final = 16
"""Letters of a hash in a printed command; a decision has to name as many."""
_FORM: Final = re.compile(f"[0-9a-f]{{{SHORT},64}}")


def hash_payload(payload: Mapping[str, JsonValue]) -> str:
    """sha256 (hex) of a gate's payload, in canonical JSON."""
    text = json.dumps(payload, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_shown(shown: object) -> str:
    """The hash that a decision names, or its beginning, in small letters; empty where it names none.

    Raises: `AnswerInvalid` for what is no such hash.
    """
    if shown is None or shown == "":
        return ""
    if not isinstance(shown, str) or not _FORM.fullmatch(shown.lower()):
        raise AnswerInvalid(
            "'shown' is not the hash of what a gate showed",
            hint=f"give its first {SHORT} to 64 hex letters, as `Gate.shown` and printed commands have them",
        )
    return shown.lower()


def refuse_other_payload(raw: object, payload: Mapping[str, JsonValue], *, gate: str) -> None:
    """Refuse an answer that is about something else than `payload`.

    Raises: `GateChanged`; `AnswerInvalid` for what is no hash.
    """
    named = read_shown(raw.get("shown", "")) if isinstance(raw, Mapping) else ""
    if named:
        shows = hash_payload(payload)
        if not shows.startswith(named):
            raise changed(gate, shows, named)


def changed(gate: str, shows: str, named: str, *, run_id: str = "") -> GateChanged:
    """The error of a decision about `named` at a gate that shows `shows`; run_id: of a stored run."""
    of_run = f" of run '{run_id}'" if run_id else ""
    look = f": oasflow show {shlex.quote(run_id)}" if run_id else ""
    return GateChanged(
        f"gate '{gate}'{of_run} shows something else now ({shows[:SHORT]}) than this decision is "
        f"about ({named[:SHORT]})",
        hint=f"see what it shows now, and decide that{look}",
    )
