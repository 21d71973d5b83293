"""A stored run of a module goes on in another process, which lends the module and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cinatra_sdk import Decision, RunStore
from cinatra_sdk.errors import FlowChanged, NotConfigured
from cinatra_sdk.host_parts.host_parts import HostParts
from oas_compiler.emit.python_module import emit_module
from tests.emit.modules import compile_whole, import_text
from tests.emit.test_emitted_plans import EXAMPLES

NEWSLETTER = next(file for file in EXAMPLES if file.parts[-3] == "newsletter-agent")
ANSWER = """
import sys
from cinatra_sdk import Decision, RunStore
import news

with RunStore.open(host=news.host()) as store:
    run = store.answer(sys.argv[1], sys.argv[2], Decision.approve(by="ben"))
    print(run.status, [gate.id for gate in run.waiting])
"""


def run_program(code: str, *arguments: str, folder: Path, dsn: str) -> str:
    told = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True,
        check=False, env={**os.environ, "DATABASE_URL": dsn},
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    return told.stdout.strip()


def test_a_run_of_a_module_is_answered_by_other_processes(
    fresh_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", fresh_database)
    module = import_text(emit_module(compile_whole(NEWSLETTER)).text, tmp_path, "news")
    with RunStore.open(host=module.host()) as store:
        run = store.start(module.flow, {"topic": "Bees"})
        assert [gate.id for gate in run.waiting] == ["review_draft"]
    told = run_program(ANSWER, run.id, "review_draft", folder=tmp_path, dsn=fresh_database)
    assert told == "waiting ['confirm_send']"
    program = "from oas_compiler.cli import main; import sys; sys.argv[0] = 'oasflow'; main()"
    approved = run_program(
        program, "approve", f"{run.id}/confirm_send", "--host", "news:host", "--json", folder=tmp_path, dsn=fresh_database
    )  # fmt: skip
    assert '"completed"' in approved
    with RunStore.open(host=module.host()) as store:
        ended = store.get(run.id)
        assert ended.result()["subject"]
        assert [one.gate_id for one in store.decisions(run.id)] == ["review_draft", "confirm_send"]


def test_a_process_without_the_module_says_what_it_lacks(
    fresh_database: str, tmp_path: Path
) -> None:
    module = import_text(emit_module(compile_whole(NEWSLETTER)).text, tmp_path, "lacking_news")
    with RunStore.open(fresh_database, host=module.host()) as store:
        run = store.start(module.flow, {"topic": "Bees"})
    with (
        RunStore.open(fresh_database) as store,
        pytest.raises(NotConfigured, match="does not lend"),
    ):
        store.answer(run.id, "review_draft", Decision.approve(by="ben"))


def test_a_run_stays_on_the_text_of_its_module(fresh_database: str, tmp_path: Path) -> None:
    text = emit_module(compile_whole(NEWSLETTER)).text
    module = import_text(text, tmp_path, "changing_news")
    with RunStore.open(fresh_database, host=module.host()) as store:
        run = store.start(module.flow, {"topic": "Bees"})
    other = import_text(text.replace("Newsletter sent", "Sent"), tmp_path, "changing_news")
    with (
        RunStore.open(fresh_database, host=HostParts(graphs=[other.flow])) as store,
        pytest.raises(FlowChanged, match="changed since the run began"),
    ):
        store.answer(run.id, "review_draft", Decision.approve(by="ben"))
