"""The shipped double: sampled answers, stubs, and the record of calls."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from loopback_server import CANARIES

from cinatra_sdk.outside.http_calls.protocol import (
    DeclaredOutput,
    Platform,
    PlatformError,
    PlatformOutputError,
    PlatformResponseError,
)
from cinatra_sdk.outside.http_calls.response_outputs import declared_outputs
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform, StubError

SUBJECT = DeclaredOutput(title="subject", schema={"type": "string"})
COUNT = DeclaredOutput(title="count", schema={"type": "integer", "minimum": 5})


def test_a_call_is_answered_from_its_declared_outputs(make_call):
    call = make_call(outputs=(SUBJECT, COUNT))
    answer = SimulatedPlatform().call(call)
    assert answer == {"subject": "simulated subject", "count": 5}
    assert declared_outputs(call, answer) == answer
    assert isinstance(SimulatedPlatform(), Platform)


def test_a_stub_is_laid_over_the_sample_so_it_may_give_some_keys_only(make_call):
    platform = SimulatedPlatform({"draft": {"subject": "Hello", "extra": 1}})
    answer = platform.call(make_call(node="draft", outputs=(SUBJECT, COUNT)))
    assert answer == {"subject": "Hello", "count": 5, "extra": 1}


def test_the_most_exact_stub_wins_path_then_id_then_the_longest_url_ending(make_call):
    stubs = {
        "/bridge": {"v": "short"},
        "/api/bridge": {"v": "long"},
        "draft": {"v": "id"},
        "outer/draft": {"v": "path"},
    }
    platform = SimulatedPlatform(stubs)
    by_path = make_call("/api/bridge", node="draft", path="outer/draft")
    by_id = make_call("/api/bridge", node="draft", path="other/draft")
    by_url = make_call("/api/bridge?x=1", node="n", path="n")
    answers = [platform.call(call) for call in (by_path, by_id, by_url)]
    assert answers == [{"v": "path"}, {"v": "id"}, {"v": "long"}]
    assert platform.unused_stubs == ["/bridge"]


def test_a_list_of_answers_is_used_in_turn_and_the_last_one_repeats(make_call):
    error = {"$error": {"status": 409, "code": "busy", "message": "Later."}}
    platform = SimulatedPlatform({"draft": [{"n": 1}, error, {"n": 2}]})
    call = make_call(node="draft")
    assert platform.call(call) == {"n": 1}
    with pytest.raises(PlatformResponseError) as caught:
        platform.call(call)
    assert (caught.value.status, caught.value.code, caught.value.node) == (409, "busy", "draft")
    assert str(caught.value).endswith("Later.")
    assert [platform.call(call), platform.call(call)] == [{"n": 2}, {"n": 2}]


def test_an_error_stub_reads_like_the_platforms_own_error(make_call):
    stub = {"$error": {"status": 503, "code": "NO_LLM_PROVIDER", "message": "Connect one."}}
    with pytest.raises(PlatformResponseError, match=r"^Connect one\. "):
        SimulatedPlatform({"/api/llm-bridge": stub}).call(make_call())


@pytest.mark.parametrize(
    ("stubs", "rule"),
    [
        ([], "must be an object"),
        ({"a": []}, '"a": a list of responses must not be empty'),
        ({"a": "text"}, '"a": a response must be an object'),
        ({"a": [{}, 1]}, '"a": a response must be an object'),
        ({"": {}}, "node path"),
        ({"/": {}}, "node path"),
        ({1: {}}, "node path"),
        ({"a": {"x": float("nan")}}, '"a" /x'),
        ({"a": {"x": {1, 2}}}, "is a set"),
        ({"a": {"$error": {"status": 200}}}, "400 to 599"),
        ({"a": {"$error": {"status": True}}}, "400 to 599"),
        ({"a": {"$error": {"code": "x"}}}, "400 to 599"),
        ({"a": {"$error": {"status": 500, "text": "x"}}}, 'not "text"'),
        ({"a": {"$error": {"status": 500, "code": 5}}}, "code must be a string"),
        ({"a": {"$error": {"status": 500}, "b": 1}}, "only key"),
    ],
)
def test_malformed_stubs_are_refused_by_key_and_rule(stubs, rule):
    if stubs == []:
        stubs = ["not a mapping"]
    with pytest.raises(StubError, match=rule.replace("(", r"\(")):
        SimulatedPlatform(stubs)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("stubs.json", '{"draft": {"subject": "Hello"}}'),
        ("stubs.yaml", "draft:\n  subject: Hello\n"),
        ("stubs.yml", "draft: {subject: Hello}"),
    ],
)
def test_stubs_are_read_from_json_and_yaml_files(tmp_path, make_call, name, text):
    (tmp_path / name).write_text(text)
    platform = SimulatedPlatform(tmp_path / name)
    assert platform.call(make_call(node="draft")) == {"subject": "Hello"}
    again = SimulatedPlatform(platform.describe()["stubs"])
    assert again.describe() == platform.describe()


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("stubs.json", "{", "not valid JSON"),
        ("stubs.json", '{"a": {}, "a": {}}', 'key "a" is written twice'),
        ("stubs.yaml", "a: [", "not valid YAML"),
        ("stubs.yaml", "a: {day: !!timestamp 2026-01-01}", "not valid YAML"),
        ("stubs.yaml", "- a", "must be an object"),
        ("stubs.yaml", "!!python/object/apply:os.getcwd []", "not valid YAML"),
        ("stubs.txt", "{}", r"\.json, \.yaml or \.yml"),
    ],
)
def test_a_bad_stubs_file_is_refused_by_name_and_rule(tmp_path, name, text, rule):
    (tmp_path / name).write_text(text)
    with pytest.raises(StubError, match=rule) as caught:
        SimulatedPlatform(tmp_path / name)
    assert name in str(caught.value)


def test_a_missing_stubs_file_is_named(tmp_path):
    with pytest.raises(StubError, match=r"gone\.json"):
        SimulatedPlatform(tmp_path / "gone.json")


def test_an_output_that_cannot_be_made_up_asks_for_a_stub(make_call):
    impossible = DeclaredOutput(title="never", schema={"enum": []})
    with pytest.raises(PlatformOutputError, match=r'"never".*stub'):
        SimulatedPlatform().call(make_call(outputs=(impossible,)))
    stubbed = SimulatedPlatform({"ctx-brand-resolve_context": {"never": 1}})
    assert stubbed.call(make_call(outputs=(impossible,))) == {"never": 1}


def test_calls_are_recorded_with_their_answers_and_without_credentials(make_call):
    platform = SimulatedPlatform({"bad": {"$error": {"status": 500}}})
    body = {"user": "hi"}
    answer = platform.call(make_call(outputs=(SUBJECT,), body=body, idempotency_key="k"))
    with pytest.raises(PlatformResponseError):
        platform.call(make_call(node="bad"))
    body["user"] = answer["subject"] = "changed"
    first, second = platform.calls
    assert (first.body, first.answer) == ({"user": "hi"}, {"subject": "simulated subject"})
    assert (first.method, first.url) == ("POST", "{{CINATRA_BASE_URL}}/api/llm-bridge")
    assert (first.run_id, first.idempotency_key, first.error) == ("run-1", "k", None)
    assert second.error == {"status": 500, "code": "", "message": ""}
    assert not [secret for secret in CANARIES if secret in repr(platform.calls)]


def test_calls_after_lists_what_followed_and_refuses_a_node_never_called(make_call):
    platform = SimulatedPlatform()
    for node in ("a", "b", "a", "c"):
        platform.call(make_call(node=node, path=f"outer/{node}"))
    assert [call.node for call in platform.calls_after("a")] == ["c"]
    assert [call.node for call in platform.calls_after("outer/b")] == ["a", "c"]
    assert platform.calls_after("c") == []
    with pytest.raises(ValueError, match='"d" was never called; called were: a, b, c'):
        platform.calls_after("d")


def test_threads_lose_no_call_and_no_turn(make_call, tmp_path):
    record = tmp_path / "record.jsonl"
    platform = SimulatedPlatform({"n": [{"i": i} for i in range(80)]}, record=record)
    answers: list[int] = []

    def work() -> None:
        answers.extend(platform.call(make_call(node="n"))["i"] for _ in range(20))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == list(range(80))
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert [line["answer"]["i"] for line in lines] == list(range(80))
    assert len(platform.calls) == 80


def test_the_async_twin_answers_and_records_the_same(make_call):
    platform = SimulatedPlatform()
    call = make_call(outputs=(COUNT,))
    assert asyncio.run(platform.acall(call)) == platform.call(call) == {"count": 5}
    assert platform.calls[0] == platform.calls[1]


KILLED = """
import os, signal, sys
from cinatra_sdk.outside.http_calls.protocol import PlatformCall
from cinatra_sdk.outside.http_calls.simulation import SimulatedPlatform
platform = SimulatedPlatform(record=sys.argv[1])
platform.call(PlatformCall(node="n", path="n", method="POST", url="/x", body={"a": "\u00fc"}))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_record_survives_a_kill_and_another_process_appends_to_it(tmp_path):
    record = tmp_path / "record.jsonl"
    root = Path(__file__).resolve().parents[2]
    for _ in range(2):
        killed = subprocess.run([sys.executable, "-c", KILLED, str(record)], cwd=root, check=False)
        assert killed.returncode == -signal.SIGKILL
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert [(line["node"], line["body"]) for line in lines] == [("n", {"a": "ü"})] * 2
    assert record.stat().st_mode & 0o077 == 0


def test_a_record_that_cannot_be_written_fails_the_call(tmp_path, make_call):
    platform = SimulatedPlatform(record=tmp_path / "no-folder" / "record.jsonl")
    with pytest.raises(PlatformError, match=r"record\.jsonl cannot be written"):
        platform.call(make_call())
