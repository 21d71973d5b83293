"""`oasflow run --context FILE`: real processes, real artifacts, runs that change hands."""

from __future__ import annotations

import http.server
import io
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from oasflow_process import Ended, Oasflow
from rich.console import Console
from selection_flow import THREE, selector, values

from oas_compiler.cli.view.run_view import said_view, without_offer
from oas_compiler.cli.view.values import Extent
from tests.flows import end, flow_of, port, start
from tests.slot_flows import declared, slot
from tests.wired_flows import GATE, LOOK, alone, artifact, context, wired

CORPUS = Path(__file__).resolve().parents[2].parent / "shared" / "corpus" / "cinatra"
needs_corpus = pytest.mark.skipif(
    not CORPUS.exists(), reason="the public flows are not beside the project"
)


@pytest.fixture
def rows(fresh_database: str) -> Iterator[Callable[[str], list[tuple[Any, ...]]]]:
    with psycopg.connect(
        fresh_database, autocommit=True, options="-c search_path=oasflow"
    ) as connection:
        yield lambda query: connection.execute(query).fetchall()


AUDIT = (
    "select slot_id, artifact_id, parent_package_name, source_scope, selected_by, selection_mode"
    " from run_context_selections where parent_run_id = '{}' order by selected_at, slot_id, artifact_id"
)


def envelope(run: Any, *ids: str, gate_id: str = GATE) -> str:
    (waiting,) = [one for one in run["waiting"] if one["id"] == gate_id]
    candidates = {ref["artifactId"]: ref for ref in waiting["values"]["candidates"]}
    keys = ("artifactId", "representationRevisionId", "semanticAssertionId")
    meta = waiting["values"]["slotMeta"]
    return json.dumps(
        {
            "slotId": meta["slotId"],
            "resolutionMode": meta["resolutionMode"],
            "selectedRefs": [{key: candidates[id_][key] for key in keys} for id_ in ids],
        }
    )


def offered(run: Any) -> list[str]:
    return [ref["artifactId"] for ref in run["waiting"][0]["values"]["candidates"]]


# ---------------------------------------------------------------- one run, many processes


def test_a_run_is_begun_answered_and_shown_by_different_processes(
    oasflow: Oasflow, flow_file: Any, context_file: Any, rows: Any, tmp_path: Path
) -> None:
    path = context_file(
        context(
            artifact("house", name="House voice", ownerId="bob", extensions=["@x/house-artifact"]),
            artifact("own", visibility="private"),
            artifact("theirs", visibility="private", ownerId="bob"),
            artifact("away", orgId="other"),
            extensions={"@x/house-artifact": ["@x/brand-artifact"]},
        )
    )
    flow, tape = flow_file(wired(declared())), tmp_path / "tape"
    begun = oasflow(
        "run", flow, "--context", path, "--simulate", "--record", str(tape), "--set", "topic=x",
        "--run-id", "r1", "--json",
    )  # fmt: skip
    assert begun.code == 3, begun.err
    assert offered(begun.json) == ["own", "house"]
    # Whoever goes on needs neither file, and keeps a record of their own.
    Path(path).unlink()
    Path(flow).unlink()
    value = envelope(begun.json, "house")
    answered = oasflow(
        "answer", f"r1/{GATE}", "--value", value, "--as", "ann", "--record", str(tape), "--json"
    )
    assert (answered.code, answered.json["status"]) == (0, "completed"), answered.err
    assert rows(AUDIT.format("r1")) == [
        ("brand", "house", "@test/agent", "organization", "user", "interactive")
    ]
    (call,) = [json.loads(line) for line in tape.read_text().splitlines()]
    (binding,) = call["body"]["contextSlotBindings"]
    assert (call["node"], binding["slotId"]) == ("write", "brand")
    assert [ref["artifactId"] for ref in binding["refs"]] == ["house"]
    (shown,) = oasflow("show", "r1", "--json").json["context_selections"]
    pins = rows("select id, 'rev' from representations where artifact_id = 'house' union all"
                " select id, 'sem' from semantic_assertions where artifact_id = 'house'")  # fmt: skip
    assert {shown.pop("revision_id"): "rev", shown.pop("assertion_id"): "sem"} == dict(pins)
    assert shown.pop("at").endswith("+00:00")
    assert shown == {
        "slot": "brand", "package": "@test/agent", "artifact": "house", "name": "House voice",
        "revision": 1, "extension": "@x/house-artifact", "scope": "organization", "by": "user",
        "mode": "interactive",
    }  # fmt: skip
    words = oasflow("show", "r1").out
    (line,) = [one for one in words.splitlines() if "House voice" in one]
    assert line.split()[:8] == ["brand", "house", "House", "voice", "1", "@x/house-artifact", "organization", "ann"]  # fmt: skip


def test_a_gates_list_of_candidates_stands_there_once_and_not_as_json_too(
    here: Any, flow_file: Any, context_file: Any, screen: Any
) -> None:
    path = context_file(context(artifact("house", name="House voice")))
    flow = flow_file(wired(declared()))
    begin = ("run", flow, "--context", path, "--simulate", "--set", "topic=x", "--run-id", "r1")
    seen = screen(*begin, PAGER="cat")
    seen.wait_for("choose")
    seen.wait_for("leave waiting [q]: ")
    seen.type("v")
    seen.wait_for("leave waiting [q]: ")
    seen.type("q")
    assert seen.ended() == 3
    assert '"candidates"' not in seen.text
    shown = here("show", "r1", "--full").out
    assert shown.count("House voice") == 1
    assert '"candidates"' not in shown
    assert offered(here("show", "r1", "--json").json) == ["house"]


def test_what_else_was_said_before_a_checklist_is_shown() -> None:
    said = [
        {"role": "assistant", "content": json.dumps(values(*THREE))},
        {"role": "assistant", "content": "Tea is next."},
        {"role": "assistant", "content": json.dumps(values(*THREE, slotId="tone"))},
    ]
    left = without_offer(said, selector(*THREE))
    assert left == said[1:]
    told = io.StringIO()
    Console(file=told, width=80).print(said_view(left, Extent()))
    assert "Tea is next." in told.getvalue()
    assert '3 candidates for the context slot "tone"' in told.getvalue()
    assert "slotMeta" not in told.getvalue()


def test_nothing_chosen_is_shown_as_that_and_a_run_without_slots_shows_nothing(
    here: Any, flow_file: Any, context_file: Any
) -> None:
    flow, path = flow_file(alone()), context_file(context(artifact("a")))
    begun = here("run", flow, "--context", path, "--set", "topic=x", "--run-id", "r1", "--json")
    assert begun.code == 3, begun.err
    assert "context" not in here("show", "r1").out.split("waiting")[0].split()
    assert here("show", "r1", "--json").json["context_selections"] == []
    assert here("answer", "r1", "--value", envelope(begun.json)).code == 3
    (shown,) = here("show", "r1", "--json").json["context_selections"]
    assert (shown["slot"], shown["artifact"], shown["by"]) == ("brand", None, None)
    assert "none chosen" in here("show", "r1").out


def test_a_flow_that_calls_only_for_context_needs_no_other_platform(
    here: Any, flow_file: Any, context_file: Any, rows: Any
) -> None:
    flow, path = flow_file(alone()), context_file(context(artifact("a"), artifact("b")))
    begun = here("run", flow, "--context", path, "--set", "topic=x", "--run-id", "r1", "--json")
    assert begun.code == 3, begun.err
    chosen = here("answer", f"r1/{GATE}", "--value", envelope(begun.json, "b", "a"), "--json")
    assert chosen.code == 3, chosen.err
    assert [one["id"] for one in chosen.json["waiting"]] == ["look"]
    assert here("approve", "r1/look").code == 0
    assert [row[:2] for row in rows(AUDIT.format("r1"))] == [("brand", "a"), ("brand", "b")]


def test_two_slots_are_chosen_for_one_after_the_other(
    here: Any, flow_file: Any, context_file: Any, rows: Any
) -> None:
    flow = declared("brand", "voice")
    own = flow["metadata"]["cinatra"]["contextSlots"]
    own[1] |= {"acceptedArtifactExtensions": ["@x/voice-artifact"], "resolutionMode": "override"}
    path = context_file(context(artifact("a"), artifact("v", extensions=["@x/voice-artifact"])))
    begun = here(
        "run", flow_file(wired(flow)), "--context", path, "--simulate", "--set", "topic=x",
        "--run-id", "r1", "--json",
    )  # fmt: skip
    run, code = begun.json, begun.code
    for slot_id, id_ in (("brand", "a"), ("voice", "v")):
        gate_id = f"context_{slot_id}/ctx-{slot_id}-context_select_gate"
        assert (code, offered(run)) == (3, [id_])
        value = envelope(run, id_, gate_id=gate_id)
        done = here("answer", f"r1/{gate_id}", "--value", value, "--json")
        run, code = done.json, done.code
    assert (code, run["status"]) == (0, "completed")
    assert [row[:2] for row in rows(AUDIT.format("r1"))] == [("brand", "a"), ("voice", "v")]


def test_an_autonomous_slot_asks_nobody(
    here: Any, flow_file: Any, context_file: Any, rows: Any
) -> None:
    flow = declared()
    flow["metadata"]["cinatra"]["contextSlots"][0] |= {
        "selectionMode": "autonomous", "resolutionMode": "override",
    }  # fmt: skip
    path = context_file(
        context(
            artifact("wide"),
            artifact("narrow", visibility="project:spring"),
            projectId="spring",
        )
    )
    done = here(
        "run", flow_file(wired(flow)), "--context", path, "--simulate", "--set", "topic=x",
        "--run-id", "r1", "--json",
    )  # fmt: skip
    assert (done.code, done.json["status"]) == (0, "completed"), done.err
    assert rows(AUDIT.format("r1")) == [
        ("brand", "narrow", "@test/agent", "project", "autonomous", "autonomous")
    ]


@pytest.mark.parametrize(
    ("own", "asked", "seen"),
    [("", "", ["wide"]), ("", "spring", ["narrow"]), ("", "summer", []), ("spring", "summer", ["narrow"])],
    ids=["none", "one of the actor's", "somebody else's", "the run's own counts first"],
)  # fmt: skip
def test_a_project_is_seen_by_those_who_are_in_it(
    here: Any, flow_file: Any, context_file: Any, own: str, asked: str, seen: list[str]
) -> None:
    path = context_file(
        context(
            artifact("wide"),
            artifact("narrow", visibility="project:spring"),
            artifact("foreign", visibility="project:summer"),
            **({"projectId": own} if own else {}),
        )
    )
    begun = here(
        "run", flow_file(alone()), "--context", path, "--set", "topic=x",
        "--set", f"projectId={asked}", "--json",
    )  # fmt: skip
    assert begun.code == 3, begun.err
    assert offered(begun.json) == seen


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("autonomous", 'the slot "brand" needs at least 1, 0 were chosen'),
        ("interactive", 'the slot "brand" needs at least 1, 0 can be chosen'),
    ],
)
def test_too_few_fails_the_run_by_name_and_leaves_no_record(
    here: Any, flow_file: Any, context_file: Any, rows: Any, mode: str, words: str
) -> None:
    flow = declared()
    flow["metadata"]["cinatra"]["contextSlots"][0] |= {"selectionMode": mode, "minItems": 1}
    arguments = ("run", flow_file(wired(flow)), "--simulate", "--set", "topic=x", "--context")
    nothing = context_file(context(artifact("away", orgId="other")), "nothing.json")
    failed = here(*arguments, nothing, "--run-id", "r1")
    assert failed.code == 6
    assert words in failed.out
    # What cannot help is not offered.
    assert "oasflow resume" not in failed.out + here("show", "r1").out
    assert "this run keeps what its slot was offered" in failed.out
    assert here("resume", "r1").code == 6
    assert rows(AUDIT.format("r1")) == []
    enough = context_file(context(artifact("a")), "enough.json")
    assert here(*arguments, enough, "--run-id", "r2", "--yes").code == 0
    assert len(rows(AUDIT.format("r2"))) == 1


def test_a_consumer_whose_process_was_killed_gets_what_was_pinned_in_one_batch(
    oasflow: Oasflow, flow_file: Any, context_file: Any, rows: Any
) -> None:
    # The consumer's platform holds the call, so that the process is killed after the record.
    held = threading.Event()
    released = threading.Event()
    bodies = []

    class Held(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            held.set()
            released.wait(120)
            body = b'{"text": "written"}'
            try:
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                self.close_connection = True

        def log_message(self, *_arguments: Any) -> None:
            """Quiet."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Held)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_address[1]}"
        path = context_file(context(artifact("a")))
        begun = oasflow(
            "run", flow_file(wired(declared())), "--context", path, "--base-url", url,
            "--set", "topic=x", "--run-id", "r1", "--json",
        )  # fmt: skip
        assert begun.code == 3, begun.err
        value = envelope(begun.json, "a")
        process = oasflow.begin("answer", f"r1/{GATE}", "--value", value)
        assert held.wait(120)
        process.kill()
        process.wait()
        assert len(rows(AUDIT.format("r1"))) == 1
        released.set()
        # Meanwhile the file says something else: the run keeps what was pinned.
        again = context_file(context(artifact("a", content="Changed.")))
        other = oasflow("run", flow_file(alone()), "--context", again, "--set", "topic=x")
        assert other.code == 3, other.err
        resumed = oasflow("resume", "r1", "--json")
        assert (resumed.code, resumed.json["outputs"]) == (0, {"text": "written"}), resumed.err
    finally:
        released.set()
        server.shutdown()
        server.server_close()
    first, second = (body["contextSlotBindings"] for body in bodies)
    assert first == second
    assert [ref["artifactId"] for ref in first[0]["refs"]] == ["a"]
    pinned = "select r.revision from run_context_selections s join representations r on r.id = s.representation_revision_id"  # fmt: skip
    assert rows(pinned) == [(1,)]
    assert rows("select max(revision) from representations") == [(2,)]


# -------------------------------------------------------------------------- loading


def test_processes_that_load_one_file_at_once_write_it_once(
    oasflow: Oasflow, flow_file: Any, context_file: Any, rows: Any
) -> None:
    flow = flow_file(alone())
    many = [artifact(f"a{number}") for number in range(20)]
    path = context_file(context(*many))
    started = [
        oasflow.begin("run", flow, "--context", path, "--set", "topic=x", "--run-id", f"r{number}")
        for number in range(3)
    ]
    for process in started:
        _out, err = process.communicate(timeout=120)
        assert process.returncode == 3, err
        assert "context: 20 artifacts" in err
    tables = ("objects", "representations", "semantic_assertions")
    assert [rows(f"select count(*) from {table}") for table in tables] == [[(20,)]] * 3


def test_an_artifact_of_another_organisation_is_refused_before_a_run_is_begun(
    here: Any, flow_file: Any, context_file: Any, rows: Any
) -> None:
    flow = flow_file(alone())
    arguments = ("run", flow, "--set", "topic=x", "--run-id", "r1", "--context")
    theirs = context(artifact("a"), actor={"orgId": "other", "principalId": "eve"})
    assert here(*arguments[:-2], "r0", "--context", context_file(theirs)).code == 3
    mine = context_file(context(artifact("a", content="Mine."), artifact("b")))
    refused = here(*arguments, mine, "--json")
    assert (refused.code, refused.json["error"]["code"]) == (2, "context_unresolved")
    assert '"a" belongs to another organisation' in refused.err
    assert rows("select run_id from runs") == [("r0",)]
    assert rows("select id from objects") == [("a",)]
    assert here(*arguments, context_file(context(artifact("b")))).code == 3


def test_a_run_id_that_is_taken_loads_nothing(
    here: Any, flow_file: Any, context_file: Any, rows: Any
) -> None:
    arguments = ("run", flow_file(alone()), "--set", "topic=x", "--run-id", "r1", "--context")
    assert here(*arguments, context_file(context(artifact("a")))).code == 3
    assert here(*arguments, context_file(context(artifact("b")))).code == 4
    assert rows("select id from objects") == [("a",)]


# ------------------------------------------------------------------- what is refused


def refused(ended: Ended, *words: str) -> None:
    assert ended.code == 2, ended.err
    assert ended.out == ""
    for word in words:
        assert word in ended.err, ended.err


def test_a_file_that_does_not_fit_is_told_with_all_its_places_before_a_database_is_needed(
    oasflow: Oasflow, flow_file: Any, context_file: Any
) -> None:
    bad = context_file(context(artifact("a", visibility="all"), artifact("b", zzz=1)))
    offline = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}
    arguments = ("run", flow_file(alone()), "--set", "topic=x", "--context")
    refused(
        oasflow(*arguments, bad, **offline),
        "context.json: artifacts[0].visibility: write private, org",
        "context.json: artifacts[1].zzz: no such key",
    )
    refused(oasflow(*arguments, "gone.yaml", **offline), "gone.yaml: cannot be read")
    good = context_file(context(artifact("a"), artifact("b")))
    assert oasflow(*arguments, good, **offline).code == 7
    assert oasflow(*arguments, good).code == 3


def test_calls_that_nobody_answers_are_refused_and_the_way_out_is_told(
    here: Any, flow_file: Any, context_file: Any
) -> None:
    path = context_file(context(artifact("a")))
    more, only = flow_file(wired(declared()), "more.json"), flow_file(alone(), "only.json")
    plain = flow_file(flow_of(start(), LOOK | {"inputs": []}, end()), "plain.json")
    topic = ("--set", "topic=x")
    refused(here("run", only, *topic), "--simulate", "--context FILE fills its context slots")
    refused(here("run", more, *topic), "--simulate", "--context FILE fills its context slots")
    refused(
        here("run", more, *topic, "--context", path),
        "calls more than --context answers (first at 'The write')", "--base-url or CINATRA_BASE_URL",
    )  # fmt: skip
    refused(
        here("run", only, *topic, "--context", path, "--env", "CINATRA_BASE_URL=http://x"),
        "--env CINATRA_BASE_URL", "the commands that run a flow take it by --base-url",
    )  # fmt: skip
    refused(here("run", only, *topic, "--context", path, "--yes"), "--yes", "--simulate only")
    assert here("run", plain, "--context", path).code == 3


def test_a_simulation_without_a_person_chooses_from_the_real_artifacts(
    here: Any, flow_file: Any, context_file: Any, rows: Any
) -> None:
    path = context_file(context(artifact("a"), artifact("b")))
    flow = declared()
    flow["metadata"]["cinatra"]["contextSlots"][0]["minItems"] = 1
    done = here(
        "run", flow_file(wired(flow)), "--context", path, "--simulate", "--yes", "--run-id", "r1"
    )
    assert done.code == 0, done.err
    assert {row[1] for row in rows(AUDIT.format("r1"))} <= {"a", "b"}
    assert len(rows(AUDIT.format("r1"))) >= 1


def test_a_slot_of_a_child_package_is_one_of_the_file(
    here: Any, flow_file: Any, context_file: Any, rows: Any
) -> None:
    # The child's flow is copied into the run's own, and its declaration is not.
    flow = alone()
    about = flow["metadata"]["cinatra"]
    about["contextSlots"] = []
    for holder in (flow, flow["$referenced_components"]["start"]):
        for title in holder["inputs"]:
            if title["title"] == "brandParentPackageName":
                title["default"] = "@x/child"
    path = flow_file(flow)
    arguments = ("run", path, "--set", "topic=x", "--context")
    without = here(*arguments, context_file(context(artifact("a"))))
    assert (without.code, "package_mismatch" in without.out) == (6, True)
    child = context(artifact("a"), packages={"@x/child": [slot()]})
    begun = here(*arguments, context_file(child), "--run-id", "r1", "--json")
    assert begun.code == 3, begun.err
    assert here("answer", "r1", "--value", envelope(begun.json, "a")).code == 3
    assert rows(AUDIT.format("r1"))[0][:3] == ("brand", "a", "@x/child")


# ----------------------------------------------------------------------- public agents


@needs_corpus
def test_the_public_blog_writer_runs_over_real_artifacts(
    here: Any, context_file: Any, rows: Any
) -> None:
    voice = "@cinatra-ai/brand-voice-artifact"
    path = context_file(
        "actor: {orgId: acme, principalId: ann}\n"
        "artifacts:\n"
        f"  - {{id: voice, visibility: org, extensions: ['{voice}'], content: Plain words.}}\n"
        f"  - {{id: idea, visibility: org, extensions: ['@cinatra-ai/blog-idea-artifact'], content: I}}\n"
        f"  - {{id: icp, visibility: org, extensions: ['@cinatra-ai/marketing-icp-artifact'], content: M}}\n",
        "context.yaml",
    )  # fmt: skip
    begun = here(
        "run", str(CORPUS / "blog-draft-writer-agent"), "--context", path, "--simulate",
        "--set", 'idea={"title": "t", "summary": "s"}', "--run-id", "r1", "--json",
    )  # fmt: skip
    assert begun.code == 3, begun.err
    assert offered(begun.json) == ["idea", "voice"]
    gate_id = "context_draftContext/ctx-draftContext-context_select_gate"
    value = envelope(begun.json, "voice", gate_id=gate_id)
    Path(path).unlink()
    done = here("answer", "r1", "--value", value, "--json")
    assert (done.code, done.json["status"]) == (0, "completed"), done.err
    assert rows(AUDIT.format("r1")) == [
        ("draftContext", "voice", "@cinatra-ai/blog-draft-writer-agent", "organization", "user", "interactive")
    ]  # fmt: skip


@needs_corpus
def test_the_public_selection_agent_selects_for_a_run_of_ones_own(
    here: Any, flow_file: Any, context_file: Any, rows: Any
) -> None:
    path = context_file(context(artifact("a")))
    may = context_file(context(artifact("a"), selectsForOtherRuns=True), "may.json")
    parent = ("run", flow_file(alone()), "--set", "topic=x", "--run-id", "parent", "--context")
    assert here(*parent, path).code == 3

    def choose(run_id: str, file: str) -> Ended:
        asked = {"parentRunId": "parent", "parentPackageName": "@test/agent", "slotId": "brand"}
        return here(
            "run", str(CORPUS / "context-selection-agent"), "--context", file, "--json",
            "--run-id", run_id, *(part for pair in asked.items() for part in ("--set", "=".join(pair))),
        )  # fmt: skip

    itself = choose("r0", path)
    assert (itself.code, "403 run_mismatch" in itself.json["error"]["message"]) == (6, True)
    eve = context(actor={"orgId": "acme", "principalId": "eve"}, selectsForOtherRuns=True)
    stranger = choose("r1", context_file(eve, "eve.json"))
    assert (stranger.code, "404 run_missing" in stranger.json["error"]["message"]) == (6, True)
    # Whoever answers is another process, which has the word from the run's own row.
    begun = choose("r2", may)
    assert begun.code == 3, begun.err
    value = envelope(begun.json, "a", gate_id="context_select_gate")
    assert here("answer", "r2", "--value", value).code == 0
    assert [row[:2] for row in rows(AUDIT.format("parent"))] == [("brand", "a")]
    assert rows(AUDIT.format("r2")) == []


# --------------------------------------------------------------------------- misspelt


def test_an_artifact_that_no_slot_takes_is_named(
    here: Any, flow_file: Any, context_file: Any
) -> None:
    other = [artifact(f"n{number}", extensions=["@x/brand-artefact"]) for number in range(5)]
    path = context_file(context(artifact("a"), *other))
    begun = here("run", flow_file(alone()), "--context", path, "--set", "topic=x", "--json")
    assert (begun.code, offered(begun.json)) == (3, ["a"])
    told = " ".join(begun.err.split())
    assert (
        'note: no slot of this flow takes the artifact "n0": it is @x/brand-artefact, '
        "and the slots take @x/brand-artifact"
    ) in told
    assert '"n2"' in told
    assert '"n3"' not in told
    assert "and 2 more that no slot takes" in told


@pytest.mark.parametrize(
    ("flow", "changes"),
    [
        (alone(), {"extensions": {"@x/house-artifact": ["@x/brand-artifact"]}}),
        (alone(), {"selectsForOtherRuns": True}),
        (flow_of(start(port("topic", default="")), end()), {}),
    ],
    ids=["it satisfies what the slot takes", "for another run", "no slots"],
)
def test_an_artifact_that_is_right_or_may_be_is_not_mentioned(
    here: Any, flow_file: Any, context_file: Any, flow: Any, changes: Any
) -> None:
    path = context_file(context(artifact("a", extensions=["@x/house-artifact"]), **changes))
    begun = here("run", flow_file(flow), "--context", path, "--set", "topic=x")
    assert "context: 1 artifact" in begun.err
    assert "no slot" not in begun.err
