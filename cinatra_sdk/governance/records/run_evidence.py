"""The lines of an export that tell what the approvals of a run prove, read with the standard library alone.

    reader = EvidenceReader(show)
    reader.read({"kind": "gate", "run_id": "r1", "n": 3, …}, text, 3)     what is wrong with this line
    reader.problems, reader.told                                         of whole runs: problems, sentences

A run is told by lines of these kinds, in this order: `run`, `flow`, `gate`, `decision`, `effect`,
`settlement`, `event`, and after its decision records `end`, which names the sha256 of each line before it.
A value that was erased stands there as a mark (`MARK`), and is not hashed again.
`verifier.py` runs with this file beside it and without the package, so this file imports nothing of the
package.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

Problems = Iterator[tuple[int, str]]
"""Sentences, each with the number of its line."""
EVIDENCE_LINE = {"format", "run_id", "tenant", "n", "kind", "data"}
HELD = "$json"
"""The one member of an object that holds a value as its text: one that JSON does not hold exactly."""
MARK = re.compile("erased-[0-9a-f]{32}")
"""What stands in a text where a person's values were erased."""
EXACT_MOMENT = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{6}Z")
SKIPPED = "auto_skipped"
ENDED = ("completed", "rejected", "stopped")
"""How a run stands for good.  One that failed may go on."""
STANDS = ("running", "waiting", "failed", *ENDED)
WORDS = {
    "status": STANDS,
    "state": ("open", "decided", "closed"),
    "verdict": ("approved", "rejected", "denied", SKIPPED),
    "call": ("begun", "done", "failed", "unknown"),
}
CONTENTS = {
    "run": {
        "status": "status", "flow": "hash", "flow_name": "text", "file": "text", "governed": "flag",
        "started_by": "person", "owner": "text", "session": "text", "parent": "text?",
        "parent_path": "text", "children": "texts", "variables": "texts", "inputs": "json",
        "outputs": "json", "branch": "text?", "messages": "json", "error": "json", "policy": "policy",
        "stopped": "stop", "attempts": "number", "deadline": "moment?", "created_at": "moment",
        "updated_at": "moment", "archived_at": "moment?", "gone": "texts",
    },
    "flow": {"digest": "hash", "name": "text", "file": "text", "source": "text?", "source_base64": "text?"},
    "gate": {
        "gate": "text", "node": "text", "visit": "number", "step": "step", "state": "state",
        "payload": "json", "payload_sha256": "hash", "answer_schema": "json", "opened_at": "moment",
        "deadline": "moment?", "settled_at": "moment?",
    },
    "decision": {
        "gate": "text", "node": "text", "visit": "number", "step": "step", "decision": "verdict",
        "by": "person", "reason": "text", "answer": "json", "payload_sha256": "hash?",
        "policy_sha256": "hash?", "at": "moment",
    },
    "effect": {
        "key": "text", "kind": "text", "capability": "text", "path": "text", "visit": "number",
        "item": "number?", "risk": "text", "status": "call", "attempts": "number",
        "request_sha256": "hash?", "shown_sha256": "hash?", "result_sha256": "hash?", "usage": "json",
        "error": "json", "begun_at": "moment", "ended_at": "moment?",
    },
    "settlement": {
        "key": "text", "attempts": "number", "happened": "flag", "by": "person", "reason": "text",
        "value": "json", "at": "moment",
    },
    "event": {
        "seq": "number", "at": "moment", "kind": "text", "name": "text", "path": "text",
        "visit": "number", "data": "json",
    },
    "end": {"counts": "counts", "lines": "hashes"},
}  # fmt: skip
"""Kinds of lines, in their order, with the members of their data and what each holds; `?`: or nothing."""
PLACES = {kind: place for place, kind in enumerate(CONTENTS)}


def is_exact_moment(value: Any) -> bool:
    """Whether a value is a moment of the calendar, to a microsecond of UTC."""
    if not isinstance(value, str) or not EXACT_MOMENT.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value[:-1] + "+00:00")  # noqa: FURB162 - older Pythons read no Z
    except ValueError:
        return False
    return True


def is_hash(value: Any) -> bool:
    return isinstance(value, str) and bool(re.fullmatch("[0-9a-f]{64}", value))


def is_number(value: Any) -> bool:
    return type(value) is int and value >= 0


def is_person(value: Any) -> bool:
    """Who did something: a name, and what else the store knows of them, as texts or null."""
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return False
    return all(one is None or isinstance(one, str) for one in value.values())


def is_policy(value: Any) -> bool:
    if value is None:
        return True
    return (
        isinstance(value, dict)
        and set(value) == {"of", "value", "sha256"}
        and value["of"] in ("host", "flow")
        and is_hash(value["sha256"])
    )


def is_stop(value: Any) -> bool:
    if value is None:
        return True
    return (
        isinstance(value, dict)
        and set(value) == {"by", "reason"}
        and is_person(value["by"])
        and isinstance(value["reason"], str)
    )


def is_list_of(value: Any, fits: Callable[[Any], bool]) -> bool:
    return isinstance(value, list) and all(fits(one) for one in value)


def is_text(value: Any) -> bool:
    return isinstance(value, str)


FITS: dict[str, Callable[[Any], bool]] = {
    "text": is_text,
    "text?": lambda value: value is None or isinstance(value, str),
    "texts": lambda value: is_list_of(value, is_text),
    "flag": lambda value: isinstance(value, bool),
    "number": is_number,
    "step": lambda value: type(value) is int,  # -1: a gate of a graph that has no policy
    "number?": lambda value: value is None or is_number(value),
    "moment": is_exact_moment,
    "moment?": lambda value: value is None or is_exact_moment(value),
    "hash": is_hash,
    "hash?": lambda value: value == "" or is_hash(value),
    "hashes": lambda value: is_list_of(value, is_hash),
    "person": is_person,
    "policy": is_policy,
    "stop": is_stop,
    "counts": lambda value: isinstance(value, dict) and all(map(is_number, value.values())),
    "json": lambda _value: True,
    **{name: words.__contains__ for name, words in WORDS.items()},
}


def hash_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def hash_shown(value: Any) -> str:
    """The hash of what a gate shows, as a decision names it.  Raises: `ValueError`, `RecursionError`."""
    if isinstance(value, dict) and set(value) == {HELD}:
        value = json.loads(str(value[HELD]))
    return hash_text(json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")))


def holds_mark(value: Any) -> bool:
    """Whether something was erased anywhere in a value."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, str) and MARK.search(one):
            return True
        left += (
            [*one, *one.values()] if isinstance(one, dict) else one if isinstance(one, list) else ()
        )
    return False


@dataclass
class ToldLine:
    """A line of a run, as it stands in the export."""

    at: int
    name: str
    sha256: str
    data: dict[str, Any] = field(default_factory=dict)
    """Empty where the line cannot be read, and of a decision record."""


@dataclass
class ToldRun:
    """What an export has told of a run so far."""

    run_id: str
    at: int
    lines: list[ToldLine] = field(default_factory=list)
    kinds: dict[str, list[ToldLine]] = field(default_factory=lambda: {kind: [] for kind in PLACES})
    n: int = 0
    """Of the last line that has one."""
    records: int = 0
    last: str = "run"
    """The kind of the last line."""

    @property
    def data(self) -> dict[str, Any]:
        return self.kinds["run"][0].data if self.kinds["run"] else {}

    @property
    def is_whole(self) -> bool:
        """Whether the events of the run were kept from its beginning: not of runs from before they were."""
        first = next((one.data for one in self.kinds["event"]), {})
        return (first.get("kind"), first.get("name")) == ("run", "created")

    def list_events(self, kind: str, *names: str) -> list[ToldLine]:
        """Those with an object as data."""
        return [
            one
            for one in self.kinds["event"]
            if one.data["kind"] == kind
            and (one.data["name"] in names or not names)
            and isinstance(one.data["data"], dict)
        ]


@dataclass
class EvidenceReader:
    """Reads the lines of an export in their order."""

    show: Callable[[Any], str]
    """Makes a foreign text harmless for a terminal."""
    problems: list[tuple[int, str]] = field(default_factory=list)
    """Of whole runs, each with its line."""
    told: list[str] = field(default_factory=list)
    """Sentences: what was decided, and what is not there."""
    ends: dict[str, tuple[int, int, str]] = field(default_factory=dict)
    """Of each run: its last line, its number of lines, and the sha256 of the last one."""
    current: ToldRun | None = None

    def read(self, line: Mapping[str, Any], text: str, at: int) -> Iterator[str]:
        """What is wrong with a line that has a kind, as far as the line itself tells."""
        kind, run, data = line.get("kind"), line.get("run_id"), line.get("data")
        if set(line) != EVIDENCE_LINE:
            odd = ", ".join(sorted(set(line) ^ EVIDENCE_LINE))
            yield f"the line lacks, or has too much: {self.show(odd)}"
        if kind == "run":
            self.finish()
            self.current = ToldRun(str(run), at)
        told = self.current
        if told is None:
            yield f"stands before the run that it belongs to ({self.show(kind)})"
            return
        is_known = isinstance(kind, str) and kind in CONTENTS
        wrong = [*self.find_odd(str(kind), data)] if is_known else ["is of no kind of line"]
        known: dict[str, Any] = data if isinstance(data, dict) and not wrong else {}
        name = self.name_line(str(kind), known, told)
        yield from (f"{name} {one}" for one in wrong)
        yield from self.check_place(told, line, name)
        self.note_line(told, str(kind), ToldLine(at, name, hash_text(text), known))

    def note_line(self, told: ToldRun, kind: str, made: ToldLine) -> None:
        """A line of a run, whatever is wrong with it."""
        if made.data:
            told.kinds[kind].append(made)
        if kind == "end":
            self.end(told, made)
        else:
            told.lines.append(made)

    def note_record(self, text: str, at: int, name: str) -> None:
        """A line of a decision record, or one that cannot be read, among those of a run."""
        if self.current is not None:
            self.current.lines.append(ToldLine(at, name, hash_text(text)))
            self.current.records += name.startswith("record ")

    def find_odd(self, kind: str, data: Any) -> Iterator[str]:
        """What in the data of a line is not what an export writes there."""
        wanted = CONTENTS[kind]
        if not isinstance(data, dict) or set(data) != set(wanted):
            odd = set(data) ^ set(wanted) if isinstance(data, dict) else {"data"}
            yield f"lacks, or has too much: {self.show(', '.join(sorted(odd)))}"
            return
        for name, form in wanted.items():
            if not FITS[form](data[name]):
                yield f"says {self.show(data[name])} as its {name}, which no export does"

    def name_line(self, kind: str, data: Mapping[str, Any], told: ToldRun) -> str:
        run = self.show(told.run_id)
        names = {
            "run": f"run {run}",
            "flow": f"the flow of run {run}",
            "gate": f"gate {self.show(data.get('gate'))}",
            "decision": f"the decision at {self.show(data.get('gate'))}",
            "effect": f"the call of {self.show(data.get('path'))} ({self.show(data.get('key'))[:12]})",
            "settlement": f"the word on the call {self.show(data.get('key'))[:12]}",
            "event": f"event {self.show(data.get('seq'))}",
            "end": f"the end of run {run}",
        }
        return names.get(kind, f"the line of kind {self.show(kind)}")

    def check_place(self, told: ToldRun, line: Mapping[str, Any], name: str) -> Iterator[str]:
        """Whether a line belongs to the run around it, and follows the line before it."""
        kind, n, run = str(line.get("kind")), line.get("n"), line.get("run_id")
        if run != told.run_id:
            yield f"{name} is of run {self.show(run)}, among the lines of run {self.show(told.run_id)}"
        if type(n) is not int or n != told.n + 1:
            yield f"{name} has the number {self.show(n)}, and follows number {told.n} of its run"
        told.n = n if type(n) is int else told.n + 1
        if PLACES.get(kind, 0) < PLACES[told.last]:
            yield f"{name} stands after a line of kind {told.last}"
        elif kind in PLACES:
            told.last = kind

    def end(self, told: ToldRun, last: ToldLine) -> None:
        """At the last line of a run."""
        self.current = None
        if told.run_id in self.ends:
            self.problems.append((told.at, f"run {self.show(told.run_id)} stands twice"))
        self.ends[told.run_id] = (last.at, len(told.lines) + 1, last.sha256)
        self.problems += list_index_problems(told, last)
        self.problems += list_run_problems(told, self.show)
        self.told += list_run_words(told, self.show)

    def finish(self) -> None:
        """At the end of the lines of a run that has none of its own, and of the file."""
        if self.current is not None:
            run = self.show(self.current.run_id)
            self.problems.append(
                (self.current.at, f"run {run} is cut off: its last line is missing")
            )
            self.current = None

    def list_end_problems(self, manifest: Mapping[str, Any]) -> Problems:
        """Whether the runs are those of the manifest."""
        named = read_named_runs(manifest)
        for run, (at, lines, sha256) in self.ends.items():
            if named.get(run) != {"lines": lines, "end_sha256": sha256}:
                yield at, f"the end of run {self.show(run)} is not that of the manifest"

    def list_lacking(self, manifest: Mapping[str, Any]) -> Iterator[str]:
        """Runs of the manifest that are not there."""
        for run in sorted(set(read_named_runs(manifest)) - set(self.ends)):
            yield f"the manifest names the evidence of run {self.show(run)}, which is not there"


def read_named_runs(manifest: Mapping[str, Any]) -> dict[str, Any]:
    named = manifest.get("evidence", {})
    return named if isinstance(named, dict) else {}


# ------------------------------------------------------------------ one run


def list_index_problems(told: ToldRun, last: ToldLine) -> Problems:
    """Whether the lines of a run are those that its last line names."""
    if not last.data:
        return
    wanted = last.data["lines"]
    known = set(wanted)
    there = [one.sha256 for one in told.lines]
    changed = [one for one in told.lines if one.sha256 not in known]
    yield from ((one.at, f"{one.name} is not what was exported") for one in changed)
    lacking = Counter(wanted) - Counter(there)
    if len(there) != len(wanted) or (lacking and not changed):
        yield (
            last.at,
            f"{last.name} counts {len(wanted)} lines before it, and {len(there)} are there",
        )
    elif not changed and there != wanted:
        moved = next(
            one for one, sha256 in zip(told.lines, wanted, strict=True) if one.sha256 != sha256
        )
        yield moved.at, f"{moved.name} stands in another place than when it was exported"
    yield from list_count_problems(told, last)


def list_count_problems(told: ToldRun, last: ToldLine) -> Problems:
    """Whether there are as many lines of each kind as the last line says."""
    counts = {kind: len(lines) for kind, lines in told.kinds.items() if kind != "end"}
    for kind, number in {**counts, "record": told.records}.items():
        if last.data["counts"].get(kind) != number:
            yield last.at, f"{last.name} counts another number of lines of kind {kind}"
    if set(last.data["counts"]) != {*counts, "record"}:
        yield last.at, f"{last.name} counts other kinds of lines than there are"


def list_run_problems(told: ToldRun, show: Callable[[Any], str]) -> Problems:
    """What contradicts itself in what is told of a run."""
    yield from list_flow_problems(told, show)
    yield from list_gate_problems(told, show)
    yield from list_decision_problems(told, show)
    yield from list_call_problems(told, show)
    yield from list_event_problems(told, show)


def list_flow_problems(told: ToldRun, show: Callable[[Any], str]) -> Problems:
    if not told.data:
        return
    flows, policy = told.kinds["flow"], told.data["policy"]
    if len(flows) != 1:
        yield told.at, f"run {show(told.run_id)} has {len(flows)} flows: one is meant"
    for flow in flows:
        source = read_source(flow.data)
        if source is None or hashlib.sha256(source).hexdigest() != flow.data["digest"]:
            yield flow.at, f"{flow.name} is not the file that its digest names"
        if flow.data["digest"] != told.data["flow"]:
            yield flow.at, f"{flow.name} is another one than that of the run"
    if policy is not None and not is_hash_of(policy["value"], policy["sha256"]):
        yield told.at, f"the policy of run {show(told.run_id)} is not what was hashed"
    if told.data["governed"] and not told.records:
        yield told.at, f"run {show(told.run_id)} is governed, and has no decision record"


def read_source(flow: Mapping[str, Any]) -> bytes | None:
    """The file; None where it is neither a text nor the one spelling of some bytes."""
    if isinstance(flow["source"], str) and flow["source_base64"] is None:
        return str(flow["source"]).encode("utf-8", "surrogatepass")
    given = flow["source_base64"]
    if not isinstance(given, str) or flow["source"] is not None:
        return None
    try:
        found = base64.b64decode(given.encode("ascii", "replace"), validate=True)
    except binascii.Error:
        return None
    return found if base64.b64encode(found).decode() == given else None


def is_hash_of(value: Any, sha256: str) -> bool:
    """Also of what was erased, whose hash nobody can compute."""
    if holds_mark(value):
        return True
    try:
        return hash_shown(value) == sha256
    except (ValueError, RecursionError):
        return False


def list_gate_problems(told: ToldRun, show: Callable[[Any], str]) -> Problems:
    decided = {name_shown(one) for one in list_words(told)}
    opened = {
        (str(one.data["data"].get("gate")), str(one.data["data"].get("payload_sha256")))
        for one in told.list_events("gate", "opened")
    }
    seen: set[tuple[str, str]] = set()
    for gate in told.kinds["gate"]:
        shown = name_shown(gate)
        if not is_hash_of(gate.data["payload"], gate.data["payload_sha256"]):
            yield gate.at, f"{gate.name} shows something else than what was hashed"
        if shown in seen:
            yield gate.at, f"{gate.name} stands twice with the same content"
        seen.add(shown)
        if gate.data["state"] == "decided" and shown not in decided:
            yield gate.at, f"{gate.name} was decided, and its decision is missing"
        if gate.data["state"] != "decided" and shown in decided:
            yield gate.at, f"{gate.name} is {gate.data['state']}, and a decision on it is there"
        if told.is_whole and shown not in opened:
            yield gate.at, f"{gate.name} was asked, and no event of the run tells of it"
    if told.is_whole:
        for run_gate, sha256 in sorted(opened - seen):
            what = f"gate {show(run_gate)} with the content {show(sha256)[:16]}"
            yield told.at, f"an event tells of {what}, and the gate is missing"


def name_shown(line: ToldLine) -> tuple[str, str]:
    """A gate and what it showed, of a gate or a decision."""
    return line.data["gate"], line.data["payload_sha256"]


def list_words(told: ToldRun) -> list[ToldLine]:
    """Decisions of people."""
    return [one for one in told.kinds["decision"] if one.data["decision"] != SKIPPED]


def list_decision_problems(told: ToldRun, show: Callable[[Any], str]) -> Problems:
    asked = {name_shown(gate): gate for gate in told.kinds["gate"]}
    policy = told.data.get("policy") or {}
    before = ""
    for one in told.kinds["decision"]:
        if one.data["at"] < before:
            yield one.at, f"{one.name} was made before the one above it"
        before = one.data["at"]
        is_host = policy.get("of") == "host"
        if is_host and one.data["policy_sha256"] not in {"", policy["sha256"]}:
            yield one.at, f"{one.name} was made under another policy than that of the run"
    for one in list_words(told) if told.is_whole else []:
        gate = asked.get(name_shown(one))
        if gate is None:
            yield one.at, f"{one.name} is on something that no gate of the run showed"
        elif one.data["at"] < gate.data["opened_at"]:
            yield one.at, f"{one.name} was made before the gate was asked"
    yield from compare_decisions_with_events(told, show)


def compare_decisions_with_events(told: ToldRun, show: Callable[[Any], str]) -> Problems:
    """Each decision of a person was told once when it was made, by whom and why."""
    if not told.is_whole:
        return
    events = told.list_events("decision", "approved", "rejected", "denied")
    left = list(list_words(told))
    for event in events:
        about = event.data["data"]
        found = next((one for one in left if is_told(one.data, event.data["name"], about)), None)
        if found is None:
            what = f"that gate {show(about.get('gate'))} was {event.data['name']}"
            yield event.at, f"{event.name} tells {what}, and no decision says the same"
        else:
            left.remove(found)
    for one in left:
        yield one.at, f"{one.name} is told by no event of the run"


def is_told(decision: Mapping[str, Any], name: str, about: Mapping[str, Any]) -> bool:
    said = decision["gate"], decision["decision"]
    return said == (about.get("gate"), name) and is_same_word(decision, about)


def is_same_word(row: Mapping[str, Any], about: Mapping[str, Any]) -> bool:
    """Whether the same person said the same, as far as neither was erased."""
    pairs = ((row["by"]["name"], about.get("by")), (row["reason"], about.get("reason")))
    return all(
        (one or "") == (two or "") or holds_mark(one) or holds_mark(two) for one, two in pairs
    )


def list_call_problems(told: ToldRun, show: Callable[[Any], str]) -> Problems:
    calls = {one.data["key"]: one for one in told.kinds["effect"]}
    if len(calls) != len(told.kinds["effect"]):
        yield told.at, f"a call of run {show(told.run_id)} stands twice"
    for call in calls.values():
        shown = call.data["shown_sha256"]
        if shown and shown != call.data["request_sha256"]:
            yield call.at, f"{call.name} is another one than a person approved"
    for word in told.kinds["settlement"]:
        if word.data["key"] not in calls:
            yield word.at, f"{word.name} is on a call that the run never made"
    if told.is_whole:
        yield from compare_settlements_with_events(told)


def compare_settlements_with_events(told: ToldRun) -> Problems:
    """Each word on a call was told once when it was given, by whom and why."""
    left = list(told.kinds["settlement"])
    for event in told.list_events("effect", "settled"):
        about = event.data["data"]
        wanted = about.get("key"), about.get("happened")
        found = next(
            (
                one
                for one in left
                if (one.data["key"], one.data["happened"]) == wanted
                and is_same_word(one.data, about)
            ),
            None,
        )
        if found is None:
            yield event.at, f"{event.name} tells of a word on a call, and no line says the same"
        else:
            left.remove(found)
    for one in left:
        yield one.at, f"{one.name} is told by no event of the run"


def list_event_problems(told: ToldRun, show: Callable[[Any], str]) -> Problems:
    for place, event in enumerate(told.kinds["event"], 1):
        if event.data["seq"] != place:
            yield event.at, f"{event.name} stands where event {place} is meant"
            break
    if told.data and told.is_whole:
        yield from compare_run_with_events(told, show(told.run_id))


def compare_run_with_events(told: ToldRun, run: str) -> Problems:
    """Who started the run, how it stands, and who stopped it."""
    status, stop = told.data["status"], told.data["stopped"]
    ends = [one.data["name"] for one in told.list_events("run", *ENDED)]
    if status in ENDED and status not in ends:
        yield told.at, f"run {run} is {status}, and no event tells of it"
    if status not in ENDED and ends:
        yield told.at, f"run {run} is {status}, and an event tells that it was {ends[-1]}"
    if (status == "stopped") != (stop is not None):
        yield told.at, f"run {run} is {status}, and who stopped it does not fit that"
    for event in told.list_events("run", "stopped") if stop is not None else []:
        if not is_same_word(stop, event.data["data"]):
            yield event.at, f"{event.name} tells otherwise who stopped the run, or why"
    started = {"by": told.data["started_by"], "reason": ""}
    for event in told.list_events("run", "created"):
        if not is_same_word(started, {**event.data["data"], "reason": ""}):
            yield event.at, f"{event.name} tells otherwise who started the run"


def list_run_words(told: ToldRun, show: Callable[[Any], str]) -> Iterator[str]:
    """What the evidence of a run comes to, in sentences."""
    if not told.data:
        return
    run = show(told.run_id)
    by = show(told.data["started_by"]["name"]) or "nobody who is named"
    yield f"run {run} is {told.data['status']}, of flow {show(told.data['flow_name'])}, started by {by}"
    for one in told.kinds["decision"]:
        yield f"run {run}: {describe_word(one.data, show)}"
    if told.data["stopped"] is not None:
        yield f"run {run}: stopped by {show(told.data['stopped']['by']['name'])}"
    yield from (f"run {run}: {show(one)}" for one in told.data["gone"])
    erased = [one.name for kind in told.kinds.values() for one in kind if holds_mark(one.data)]
    if erased:
        yield f"run {run}: erased, and not hashed again: {', '.join(erased)}"
    if not told.is_whole:
        yield f"run {run} began before events were kept: decisions are not compared with events"
    known = told.data["policy"]["sha256"] if told.data["policy"] is not None else ""
    others = sorted({one.data["policy_sha256"] for one in told.kinds["decision"]} - {known, ""})
    for sha256 in others:
        yield f"run {run}: of the policy {sha256[:16]}… of a decision only the hash is here"


def describe_word(decision: Mapping[str, Any], show: Callable[[Any], str]) -> str:
    where, at = show(decision["gate"]), decision["at"]
    if decision["decision"] == SKIPPED:
        return f"nobody was asked at {where}: the policy skips it"
    shown = decision["payload_sha256"][:16] or "nothing"
    return f"{where} {decision['decision']} by {show(decision['by']['name'])} at {at}, who was shown {shown}"
