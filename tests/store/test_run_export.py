"""The export of a run: what its approvals prove, and every way to change it that the verifier has to find."""

from __future__ import annotations

import asyncio
import copy
import hashlib
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import Decision, HostParts, RunNotFound, RunStore, SimulatedPlatform
from cinatra_sdk.api import Person, schema_of
from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.governance.records import exact_json, run_evidence, signatures, verifier
from cinatra_sdk.governance.records.signatures import ED25519, HMAC, read_key
from cinatra_sdk.governance.records.verifier import (
    SIGNED_AS,
    describe,
    hash_of,
    list_unproved,
    verify,
)
from cinatra_sdk.langgraph_threads.host_context import host_context
from cinatra_sdk.store import PersonStore
from cinatra_sdk.store.evidence.run_export import hold
from oas_compiler import compile_flow
from oas_compiler.cli.commands.governance import make_verifier
from tests.api.test_json_shapes import ONCE, fail
from tests.effort import tries
from tests.flows import api, end, flow_of, gate, port, start
from tests.governance.record_exports import SECRET, make_pem, make_signer
from tests.governance.refund import FINANCE, TENANT, lend_refund, request
from tests.store.work.branches import Branches

ANN = Decision.approve(by="ann")
KEYS = {"k1": read_key(ED25519, make_pem()[1])}
BIG = 2**60 + 1


def named(name: str) -> dict[str, str]:
    """Somebody of whom a name alone is known."""
    return {"name": name, "sub": "", "issuer": "", "kind": "", "proof": "", "channel": ""}


MAIL = flow_of(
    start(port("to"), port("count", "integer", default=BIG)),
    gate("ok", inputs=[port("to"), port("count", "integer")]),
    api("send", outputs=[port("id")], data={"to": "{{to}}"}, inputs=[port("to")]),
    gate("sure"),
    end(port("id")),
    edges=[("start", "to", "ok", "to"), ("start", "count", "ok", "count"), ("start", "to", "send", "to"),
           ("send", "id", "end", "id")],
)  # fmt: skip
Export = list[dict[str, Any]]
"""The lines, read."""


@pytest.fixture
def store(fresh_database: str) -> Iterator[RunStore]:
    with RunStore.open(fresh_database) as opened:
        opened.lend_signer(make_signer("ed25519"))  # type: ignore[arg-type]  # one of a kind
        yield opened


def begin(store: RunStore, name: str = "r1", **about: Any) -> None:
    flow = compile_flow(MAIL, platform=SimulatedPlatform({"send": {"id": "m-1"}}))
    store.start(flow, {"to": "eve@example.org"}, run_id=name, by="bob", tenant="acme", **about)


def finish(store: RunStore, name: str = "r1", **about: Any) -> list[str]:
    begin(store, name, **about)
    store.answer(name, "ok", ANN)
    assert store.answer(name, "sure", ANN).status == "completed"
    return [*store.export(name)]


def settle(store: RunStore) -> list[str]:
    """A call of which nobody knew whether it happened, and a person's word on it."""
    flow = compile_flow(ONCE, tools={"post": fail})
    store.start(flow, run_id="r2", by="bob")
    store.answer("r2", "ask", ANN, flow=flow)
    (call,) = store.unknown("r2")
    store.settle("r2", call.key, happened=True, value={"y": "1"}, by="cleo", reason="it is there")
    return [*store.export("r2")]


def govern(store: RunStore, folder: Path) -> list[str]:
    parts = lend_refund(folder / "refunds", signer=make_signer("ed25519"))
    with RunStore.open(store.database.dsn, host=parts) as governed:
        run = governed.start(parts.graphs[0], {"request": request()}, run_id="g1", tenant=TENANT)  # type: ignore[arg-type]  # a GraphFlow
        governed.answer(run.id, "gate", Decision.approve(by=FINANCE))
        return [*governed.export("g1", transcripts=True)]


def read(lines: Sequence[str]) -> Export:
    return [json.loads(line) for line in lines]


def write(export: Export) -> list[str]:
    return [json.dumps(line) + "\n" for line in export]


def find(export: Export, kind: str, number: int = 0) -> dict[str, Any]:
    return [line for line in export if line.get("kind") == kind][number]


def make_anew(export: Export, *, signer: str = "", renumbered: bool = True) -> list[str]:
    """With every number, hash and count that somebody without the key can compute.

    signer: the kind of another signer that signs it; empty: nobody does.
    """
    *lines, last = export
    told = [line for line in lines if line.get("kind") != "end"]
    numbered = [line for line in told if "kind" in line]
    for n, line in enumerate(numbered, 1):
        line["n"] = n if renumbered else line["n"]
    texts = write(told)
    ending = find(lines, "end")
    kinds = [line.get("kind", "record") for line in told]
    ending["n"] = len(numbered) + 1
    ending["data"] = {
        "counts": {kind: kinds.count(kind) for kind in ending["data"]["counts"]},
        "lines": [hashlib.sha256(text[:-1].encode()).hexdigest() for text in texts],
    }
    texts.append(*write([ending]))
    manifest = copy.deepcopy(last["manifest"])
    manifest["lines_sha256"] = "sha256:" + hashlib.sha256("".join(texts).encode()).hexdigest()
    manifest["key"] = None
    run = ending["run_id"]
    end_sha256 = hashlib.sha256(texts[-1][:-1].encode()).hexdigest()
    manifest["evidence"] = {run: {"lines": len(texts), "end_sha256": end_sha256}}
    made: dict[str, Any] = {"manifest": manifest}
    other = make_signer(signer) if signer else None
    if other is not None:
        manifest["key"] = {"kid": other.kid, "alg": other.alg}
        made["signature"] = other.sign(SIGNED_AS + hash_of(manifest)).to_json()
    return [*texts, *write([made])]


def list_problems(lines: Sequence[str], keys: Any = KEYS) -> list[tuple[int, str]]:
    return verify(lines, keys).problems


# ------------------------------------------------------------------ what it holds


def test_it_tells_what_was_shown_who_decided_and_what_was_then_done(store: RunStore) -> None:
    export = read(finish(store))
    kinds = [line["kind"] for line in export[:-1]]
    assert list(dict.fromkeys(kinds)) == ["run", "flow", "gate", "decision", "effect", "event", "end"]  # fmt: skip
    asked = find(export, "gate")["data"]
    assert asked["payload"]["$json"].count(str(BIG)) == 1
    assert "eve@example.org" in asked["payload"]["$json"]
    decided = find(export, "decision")["data"]
    assert (decided["decision"], decided["by"], decided["gate"]) == (
        "approved",
        named("ann"),
        "ok",
    )
    assert decided["payload_sha256"] == asked["payload_sha256"]
    called = find(export, "effect")["data"]
    assert (called["status"], len(called["request_sha256"])) == ("done", 64)
    told = find(export, "run")["data"]
    assert decided["policy_sha256"] == told["policy"]["sha256"]
    source = find(export, "flow")["data"]["source"]
    assert hashlib.sha256(source.encode()).hexdigest() == told["flow"]
    assert told["started_by"] == named("bob")


def test_it_is_verified_by_the_printed_program_alone(store: RunStore, tmp_path: Path) -> None:
    program, file, key = (tmp_path / name for name in ("verify.py", "run.jsonl", "key"))
    program.write_text(make_verifier())
    file.write_text("".join(finish(store)))
    key.write_bytes(make_pem()[1])
    command = [sys.executable, "-I", "-S", str(program), str(file), "--ed25519", f"k1={key}"]
    for more in ((), ("--run", "r1", "--tenant", "acme")):
        done = subprocess.run([*command, *more], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        head, *rest = done.stdout.splitlines()
        assert "1 run, with 0 records" in head
        assert "hashes and chains hold, signed by k1" in head
        assert any("run r1: ok approved by ann at 20" in line for line in rest), rest
    other = subprocess.run([*command, "--run", "r2"], capture_output=True, text=True, check=False)
    assert (other.returncode, "is of the run r1, and not of r2" in other.stdout) == (1, True)


def test_the_files_of_the_program_share_no_name() -> None:
    """They stand in one text, where a name that stands twice would be the later one."""
    names: dict[str, list[str]] = {}
    for module in (exact_json, signatures, run_evidence, verifier):
        own = {
            name
            for name, value in vars(module).items()
            if not name.startswith("__") and getattr(value, "__module__", module.__name__) == module.__name__
        }  # fmt: skip
        for name in own - {
            "ENDED",
            "STANDS",
            "Any",
            "annotations",
            "json",
            "re",
            "hashlib",
            "base64",
        }:
            names.setdefault(name, []).append(module.__name__)
    shared = {
        name: places
        for name, places in names.items()
        if len(places) > 1 and len({id(vars(sys.modules[place])[name]) for place in places}) > 1
    }
    assert shared == {}


SHAPES: dict[str, Callable[[RunStore, Path], list[str]]] = {
    "completed": lambda store, _folder: finish(store),
    "waiting": lambda store, _folder: begin(store) or [*store.export("r1")],  # type: ignore[func-returns-value]
    "settled": lambda store, _folder: settle(store),
    "governed": govern,
}


@pytest.mark.parametrize("shape", ["without a decision", "rejected", "denied in a branch", "stopped", "failed", "created", "hand-written", "skipped", *SHAPES])  # fmt: skip
def test_a_run_of_every_shape_is_exported_and_verified(
    shape: str, store: RunStore, tmp_path: Path
) -> None:
    if shape in SHAPES:
        lines = SHAPES[shape](store, tmp_path)
    else:
        make_shape(store, shape)
        lines = [*store.export("r1")]
    assert list_problems(lines) == []
    assert list(list_unproved(verify(lines, {}))) == ["the signatures by k1: give its key, --ed25519 k1=FILE"]  # fmt: skip
    for line in read(lines):
        name = "ExportEndJson" if "manifest" in line else "EvidenceLineJson" if "kind" in line else "RecordLineJson"  # fmt: skip
        assert first_problem(line, schema_of(name)) == "", line


def make_shape(store: RunStore, shape: str) -> None:
    if shape in ("without a decision", "failed"):
        stubs = {"send": {"$error": {"status": 400, "code": "x", "message": "y"}}}
        made = compile_flow(
            flow_of(start(), api("send"), end()),
            platform=SimulatedPlatform(stubs if shape == "failed" else {}),
        )
        status = store.start(made, run_id="r1").status
        assert status == ("failed" if shape == "failed" else "completed")
    elif shape in ("denied in a branch", "hand-written"):
        store.start(Branches(("a", "b")), run_id="r1")
        store.answer("r1", "a", ANN)
    elif shape == "created":
        store.create(compile_flow(MAIL, platform=SimulatedPlatform()), {"to": "x"}, run_id="r1")
    elif shape == "skipped":
        policy = {"steps": [{"stepNumber": step, "requiresApproval": step == 2} for step in (1, 2)]}
        flow = compile_flow(MAIL, platform=SimulatedPlatform({"send": {"id": "m"}}))
        context = host_context(run_id="r1", approval_policy=policy)
        store.start(flow, {"to": "x"}, context=context)
        store.answer("r1", "sure", ANN)
    else:
        begin(store)
        if shape == "rejected":
            store.answer("r1", "ok", Decision.reject(by="ann", reason="no"))
        else:
            store.stop("r1", by="ann", reason="no")


def test_all_lines_are_of_one_moment(store: RunStore) -> None:
    begin(store)
    lines = store.export("r1")
    first = next(lines)
    with RunStore.open(store.database.dsn) as other:
        other.stop("r1", by="ann")
    export = [json.loads(first), *read([*lines])]
    assert find(export, "run")["data"]["status"] == "waiting"
    assert list_problems(write(export)) == []


def test_async_gives_the_same_lines(store: RunStore) -> None:
    lines = finish(store)

    async def collect() -> list[str]:
        return [line async for line in store.aexport("r1")]

    assert asyncio.run(collect())[:-1] == lines[:-1]


def test_there_is_no_export_of_a_run_of_another_tenant(store: RunStore) -> None:
    begin(store)
    with pytest.raises(RunNotFound, match="r1"):
        store.export("r1", tenant="beta")


def test_an_archived_run_tells_what_is_kept_and_what_is_gone(store: RunStore) -> None:
    before = read(finish(store))
    store.archive("r1", by="ann")
    lines = [*store.export("r1")]
    found = verify(lines, KEYS)
    assert found.problems == []
    assert any("checkpoints and results of calls are gone" in told for told in describe(found))
    after = read(lines)
    for kind in ("flow", "gate", "decision", "effect"):
        assert find(after, kind)["data"] == find(before, kind)["data"]
    assert find(before, "run")["data"]["gone"] == []


def test_it_holds_no_credential_and_no_result_of_a_call(fresh_database: str) -> None:
    flow = compile_flow(
        MAIL, platform=SimulatedPlatform({"send": {"id": "m-1", "canary": "result-canary"}})
    )
    with RunStore.open(fresh_database) as store:
        context = host_context(
            run_id="r1", run_token="run-token-canary", bearer_token="bearer-canary"
        )
        store.start(flow, {"to": "eve"}, context=context)
        store.answer("r1", "ok", ANN, context=context)
        text = "".join(store.export("r1"))
    assert "eve" in text, "the control"
    for secret in ("run-token-canary", "bearer-canary", "result-canary", "dsn", "postgresql://"):
        assert secret not in text


def test_a_person_is_told_of_no_run_that_they_may_not_see(fresh_database: str) -> None:
    from tests.store.test_person_visibility import hide

    with RunStore.open(fresh_database, host=HostParts(may=hide)) as store:
        begin(store, "zoe-parent")
        store.create(compile_flow(MAIL), {"to": "x"}, run_id="hers", by="zoe", tenant="acme")
        store.create(compile_flow(MAIL), {"to": "x"}, run_id="mine", by="ann", tenant="acme", parent="hers", parent_path="p")  # fmt: skip
        store.create(compile_flow(MAIL), {"to": "x"}, run_id="hidden", by="zoe", tenant="acme", parent="mine")  # fmt: skip
        store.create(compile_flow(MAIL), {"to": "x"}, run_id="seen", by="ann", tenant="acme", parent="mine")  # fmt: skip
        own = PersonStore(store, Person(id="ann", tenant="acme", proof="token"))
        with pytest.raises(RunNotFound):
            own.export("hers")
        told = find(read([*own.export("mine")]), "run")["data"]
        whole = find(read([*store.export("mine")]), "run")["data"]
    assert (told["parent"], told["parent_path"], told["children"]) == (None, "", ["seen"])
    assert (whole["parent"], whole["children"]) == ("hers", ["hidden", "seen"])


@pytest.mark.parametrize(
    "value",
    [2**53, -(2**53), {"a": [10**400]}, "\ud800", {"\udfff": 1}, {"$json": "1"}, [float("inf")]],
    ids=str,
)
def test_what_json_does_not_hold_exactly_stands_as_its_text(value: Any) -> None:
    held = hold(value)
    assert isinstance(held, dict)
    assert json.loads(held["$json"]) == value
    for exact in (2**53 - 1, {"a": {"$json": 1, "b": 2}}, [1.5, None, True], "x"):
        assert hold(exact) is exact
    deep: Any = 1
    for _ in range(300):
        deep = [deep]
    assert isinstance(hold(deep), dict)


# ------------------------------------------------------------------ changes


def change(value: Any) -> Iterator[Any]:
    """Other values than this, of its own kind and of others."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + 1
    elif isinstance(value, str):
        yield value + "x"
        if len(value) == 64:
            yield ("0" if value[0] != "0" else "1") + value[1:]
        if value.endswith("Z") and value[:2] == "20":
            yield value.replace("20", "19", 1)
    elif value is None:
        yield "x"
    yield [] if value != [] else {}


def list_places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()  # fmt: skip
    for name, one in inside:
        yield from list_places(one, (*path, name))


def put(line: Any, path: tuple[Any, ...], value: Any) -> Any:
    made = copy.deepcopy(line)
    place = made
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return made


def mutate(line: dict[str, Any]) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Each field of a line changed, removed and doubled, one at a time."""
    for path in list_places(line):
        place: Any = line
        for name in path:
            place = place[name]
        for other in change(place) if path else ():
            yield path, put(line, path, other)
        if isinstance(place, dict):
            yield path, (put(line, path, {**place, "added": 1}) if path else {**line, "added": 1})
            for name in place:
                less = {key: one for key, one in place.items() if key != name}
                yield (*path, name), (put(line, path, less) if path else less)


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_a_field_that_is_changed_anywhere_is_found_and_its_line_is_named(
    shape: str, store: RunStore, tmp_path: Path
) -> None:
    lines = SHAPES[shape](store, tmp_path)
    export = read(lines)
    rng = random.Random(7)
    tried = 0
    for at, line in enumerate(export, 1):
        mutants = list(mutate(line))
        few = tries(3, 30) if shape == "governed" else tries(12, 10_000)
        for path, mutant in mutants if len(mutants) <= few else rng.sample(mutants, few):
            if mutant == line:
                continue
            tried += 1
            problems = list_problems([*lines[: at - 1], *write([mutant]), *lines[at:]])
            named = {place for place, _ in problems}
            assert at in named, (at, path, problems)
    assert tried > 100


def test_a_byte_that_is_changed_anywhere_is_found_and_its_line_is_named(store: RunStore) -> None:
    lines = finish(store)
    content = "".join(lines).encode()
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    rng = random.Random(seed)
    for _ in range(tries(150, 5_000)):
        place = rng.randrange(len(content))
        other = rng.choice([one for one in b' 0aZ{"\\' if one != content[place]])
        changed = content[:place] + bytes([other]) + content[place + 1 :]
        at = content[:place].count(b"\n") + 1
        found = list_problems(changed.decode().split("\n")[:-1])
        told = {number for number, _ in found}
        if content[place : place + 1] == b"\n":  # two lines have become one
            assert found
        elif json.loads(lines[at - 1]) == parse(changed.split(b"\n")[at - 1]) and at == len(lines):
            continue  # the manifest is signed as a value: another spelling of it says the same
        else:
            assert at in told, (at, place, found)


def parse(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def test_a_line_that_is_dropped_doubled_or_moved_is_found(store: RunStore) -> None:
    lines = finish(store)
    for at in range(len(lines) - 1):
        assert list_problems([*lines[:at], *lines[at + 1 :]]), at
        assert list_problems([*lines[: at + 1], *lines[at:]]), at
        if at:
            moved = [*lines[: at - 1], lines[at], lines[at - 1], *lines[at + 1 :]]
            assert list_problems(moved), at
    assert list_problems(lines) == [], "the control"


# ------------------------------------------------------------------ lies


def drop_decision(export: Export) -> Export:
    return [line for line in export if line is not find(export, "decision")]


def drop_decision_and_event(export: Export) -> Export:
    told = next(
        line
        for line in export
        if line.get("kind") == "event" and line["data"]["kind"] == "decision"
    )
    left = [line for line in drop_decision(export) if line is not told]
    for seq, line in enumerate((one for one in left if one.get("kind") == "event"), 1):
        line["data"]["seq"] = seq
    return left


def swap_events(export: Export) -> Export:
    first = export.index(find(export, "event", 3))
    export[first], export[first + 1] = export[first + 1], export[first]
    return export


def swap_decisions(export: Export) -> Export:
    first = export.index(find(export, "decision"))
    export[first], export[first + 1] = export[first + 1], export[first]
    return export


def change_content(export: Export) -> Export:
    asked = find(export, "gate")["data"]
    asked["payload"] = {"$json": asked["payload"]["$json"].replace("eve", "eva")}
    return export


def change_content_and_hash(export: Export) -> Export:
    change_content(export)
    asked = find(export, "gate")["data"]
    asked["payload_sha256"] = run_evidence.hash_shown(asked["payload"])
    return export


def name_another(export: Export) -> Export:
    find(export, "decision")["data"]["by"] = {"name": "mallory"}
    return export


def approve_a_rejection(export: Export) -> Export:
    find(export, "decision")["data"]["decision"] = "denied"
    return export


def date_back(export: Export) -> Export:
    find(export, "decision")["data"]["at"] = "2001-01-01T00:00:00.000000Z"
    return export


def change_flow(export: Export) -> Export:
    find(export, "flow")["data"]["source"] += " "
    return export


def change_policy(export: Export) -> Export:
    find(export, "run")["data"]["policy"]["value"] = {"steps": []}
    return export


def send_something_else(export: Export) -> Export:
    find(export, "effect")["data"]["shown_sha256"] = "0" * 64
    return export


def end_otherwise(export: Export) -> Export:
    find(export, "run")["data"]["status"] = "waiting"
    return export


def govern_it(export: Export) -> Export:
    find(export, "run")["data"]["governed"] = True
    return export


LIES: dict[str, tuple[Callable[[Export], Export], str]] = {
    "a decision is dropped": (drop_decision, "gate ok was decided, and its decision is missing"),
    "a decision is dropped with its event": (drop_decision_and_event, "gate ok was decided, and its decision is missing"),
    "events are reordered": (swap_events, "event 5 stands where event 4 is meant"),
    "decisions are reordered": (swap_decisions, "was made before the one above it"),
    "something else was shown": (change_content, "gate ok shows something else than what was hashed"),
    "something else was shown, hashed anew": (change_content_and_hash, "the decision at ok is on something that no gate of the run showed"),
    "somebody else decided": (name_another, "the decision at ok is told by no event of the run"),
    "another word": (approve_a_rejection, "the decision at ok is told by no event of the run"),
    "it was decided before it was asked": (date_back, "the decision at ok was made before the gate was asked"),
    "another flow": (change_flow, "is not the file that its digest names"),
    "another policy": (change_policy, "the policy of run r1 is not what was hashed"),
    "another call than was approved": (send_something_else, "is another one than a person approved"),
    "another end": (end_otherwise, "run r1 is waiting, and an event tells that it was completed"),
    "records are left out": (govern_it, "is governed, and has no decision record"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_contradicts_itself_even_where_everything_is_hashed_anew(
    lie: str, store: RunStore
) -> None:
    """By somebody without the key, to an auditor who has none either."""
    lines = finish(store)
    tell, said = LIES[lie]
    told = [problem for _, problem in list_problems(make_anew(tell(read(lines))), {})]
    assert any(said in problem for problem in told), told
    assert list_problems(make_anew(read(lines)), {}) == [], "the control: made anew, and no lie"


@pytest.mark.parametrize("lie", [*LIES, ""])
def test_whoever_has_the_key_finds_every_export_that_another_key_signed(
    lie: str, store: RunStore
) -> None:
    export = read(finish(store))
    made = make_anew(LIES[lie][0](export) if lie else export, signer="hmac")
    told = [problem for _, problem in list_problems(made)]
    assert "the manifest is signed with HS256, and the key k1 is one of EdDSA" in told
    other = {"k1": read_key(ED25519, make_pem(8)[1])}
    assert "the manifest has a signature that does not hold" in [
        problem for _, problem in list_problems(finish(store, "r9"), other)
    ]
    assert list_problems(made, {"k1": read_key(HMAC, SECRET)}) == [] or lie, "the control"


def test_a_gate_of_another_run_is_found(store: RunStore) -> None:
    export = read(finish(store))
    stranger = find(read(finish(store, "r2")), "gate")
    place = export.index(find(export, "gate"))
    taken = [*export[:place], stranger, *export[place + 1 :]]
    told = [problem for _, problem in list_problems(make_anew(taken), {})]
    assert "gate ok is of run r2, among the lines of run r1" in told
    adopted = {**stranger, "run_id": "r1"}
    adopted["data"] = {**stranger["data"], "payload_sha256": "1" * 64}
    told = [p for _, p in list_problems(make_anew([*export[:place], adopted, *export[place:]]), {})]
    assert "gate ok was asked, and no event of the run tells of it" in told


def test_another_word_on_a_call_is_found(store: RunStore) -> None:
    lines = settle(store)
    assert find(read(lines), "settlement")["data"]["by"] == named("cleo")
    for name, value in (("happened", False), ("by", {"name": "x"}), ("key", "k"), ("reason", "x")):
        export = read(lines)
        find(export, "settlement")["data"][name] = value
        told = [problem for _, problem in list_problems(make_anew(export), {})]
        assert any("is told by no event of the run" in problem for problem in told), name
    dropped = [line for line in read(lines) if line.get("kind") != "settlement"]
    told = [problem for _, problem in list_problems(make_anew(dropped), {})]
    assert any("tells of a word on a call, and no line says the same" in one for one in told)


def test_another_word_on_who_stopped_or_started_a_run_is_found(store: RunStore) -> None:
    begin(store)
    store.stop("r1", by="ann", reason="no")
    lines = [*store.export("r1")]
    for name, value, said in (
        ("stopped", {"by": {"name": "x"}, "reason": "no"}, "who stopped the run, or why"),
        ("stopped", {"by": {"name": "ann"}, "reason": "x"}, "who stopped the run, or why"),
        ("stopped", None, "who stopped it does not fit that"),
        ("started_by", {"name": "x"}, "tells otherwise who started the run"),
    ):
        export = read(lines)
        find(export, "run")["data"][name] = value
        told = [problem for _, problem in list_problems(make_anew(export), {})]
        assert any(said in problem for problem in told), (name, told)


def test_what_was_erased_is_said_and_verifies(store: RunStore) -> None:
    """An erased value stands as a mark; the hash of the whole stays, and is not computed again."""
    export = read(finish(store))
    mark = f"erased-{'0f' * 16}"
    find(export, "gate")["data"]["payload"] = {"xRenderer": "x", "values": {"to": f"<{mark}>"}}
    find(export, "decision")["data"]["by"] = {"name": mark}
    made = make_anew(export)
    found = verify(made, {})
    assert found.problems == []
    told = [line for line in describe(found) if "erased, and not hashed again" in line]
    assert [one.split(": ", 2)[2] for one in told] == ["gate ok, the decision at ok"]
    find(export, "gate")["data"]["payload"]["values"]["to"] = "eva"
    assert list_problems(make_anew(export), {}), "the control"


def test_a_run_from_before_events_were_kept_is_told_as_that(store: RunStore) -> None:
    """Such a run has decisions, and no rows of gates or events."""
    export = [line for line in read(finish(store)) if line.get("kind") not in ("gate", "event")]
    found = verify(make_anew(export), {})
    assert found.problems == []
    assert any("run r1 began before events were kept" in one for one in describe(found))


# ------------------------------------------------------------------ exports of before


def test_an_export_of_the_format_before_verifies_as_it_did() -> None:
    file = Path(__file__).parents[1] / "governance" / "vectors" / "records_of_2.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    found = verify(lines, KEYS, tenant="acme")
    assert found.problems == []
    assert describe(found)[0].startswith("5 records of 2 runs of tenant acme")
    assert list_problems([*lines[:3], *lines[4:]])
    claimed = read(lines)
    claimed[-1]["manifest"]["format"] = verifier.FORMAT
    told = [problem for _, problem in list_problems(write(claimed))]
    assert "the manifest lacks, or has too much: evidence" in told
    evidence = {"format": verifier.OLD_FORMAT, "run_id": "r1", "tenant": "acme", "n": 1, "kind": "run", "data": {}}  # fmt: skip
    assert list_problems([*lines[:-1], *write([evidence]), lines[-1]])
