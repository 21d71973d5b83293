"""The files of stored runs: read for the run's own tenant, under the key of the model that is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from cinatra_sdk import HostParts, RunStore
from cinatra_sdk.attachments import CachedFile
from cinatra_sdk.host_parts.host_parts import RunIdentity
from cinatra_sdk.outside.models.config import ModelConfig
from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.outside.models.uploads import FileToUpload
from cinatra_sdk.store.artifacts.attachment_store import AttachmentStore
from cinatra_sdk.store.runs.flow_cache import lend_stored_files
from oas_compiler import compile_flow
from tests.flow.test_attaching import FILE, llm_flow

GPT = ModelConfig(type="OpenAiConfig", provider="openai", model="gpt-5")


class Uploads:
    """A provider's files, kept by name."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []

    def upload(self, file: FileToUpload) -> CachedFile:
        self.taken.append(b"".join(file.chunks))
        return CachedFile(provider_file_id="file-1", mime=file.mime, size_bytes=file.size)


class Desk:
    """A store whose host lends the ports of a run's tenant."""

    def __init__(self, dsn: str) -> None:
        self.uploads, self.model = Uploads(), ScriptedModel(["ok"] * 9)
        self.host = HostParts(models={"*": self.model}, attachments_for=self._lend)
        self.store = RunStore.open(dsn, host=self.host)
        self.files = AttachmentStore(self.store.database)

    def _lend(self, run: RunIdentity, _config: ModelConfig) -> Any:
        return self.files.ports(run.tenant, {"openai": self.uploads})

    def add(self, tenant: str) -> Any:
        added = self.files.add(
            tenant, [b"%PDF"], mime="application/pdf", created_by="ann", max_bytes=99
        )
        return added.wire()

    def run(self, tenant: str, ref: Any) -> Any:
        flow = compile_flow(llm_flow(), host=HostParts(models={"*": self.model}))
        ran = self.store.start(flow, {"topic": "bees", "files": [ref]}, tenant=tenant)
        assert ran.status == "completed"
        return self.model.asked[-1].messages


@pytest.fixture
def desk(fresh_database: str) -> Iterator[Desk]:
    made = Desk(fresh_database)
    yield made
    made.store.close()


def test_a_run_sends_the_files_of_its_own_tenant(desk: Desk) -> None:
    ref = desk.add("o1")
    for _ in range(2):
        (prompt,) = desk.run("o1", ref)
        assert prompt.content == [{"type": "text", "text": "About bees"}, FILE]
    assert desk.uploads.taken == [b"%PDF"], "uploaded once"


@pytest.mark.parametrize("tenant", ["o1", ""])
def test_a_run_reads_no_file_of_another_tenant(desk: Desk, tenant: str) -> None:
    note, prompt = desk.run(tenant, desk.add("o2"))
    assert prompt.content == "About bees"
    told = "there is no such file" if tenant else "resolver unavailable for this run"
    assert told in note.text
    assert desk.uploads.taken == []


def test_what_the_provider_has_is_in_no_table_of_the_run(desk: Desk, fresh_database: str) -> None:
    desk.run("o1", desk.add("o1"))
    with psycopg.connect(fresh_database) as connection:
        tables = connection.execute(
            "SELECT table_schema || '.' || table_name FROM information_schema.tables "
            "WHERE table_schema NOT IN ('pg_catalog', 'information_schema')"
        ).fetchall()
        found = {
            name
            for (name,) in tables
            if connection.execute(
                f"SELECT 1 FROM {name} AS t WHERE t::text LIKE '%%file-1%%' LIMIT 1"
            ).fetchone()
        }
    assert [name.partition(".")[2] for name in found] == ["attachment_uploads"]


def test_a_store_lends_its_own_files_where_nobody_says_otherwise(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    lend: Any = lend_stored_files(desk.store.database, HostParts())
    assert list(lend(RunIdentity(id="r", tenant="o1"), GPT).providers) == ["openai"]
    assert lend(RunIdentity(id="r"), GPT) is None
    lent = HostParts(models={"*": desk.model})
    lend = lend_stored_files(desk.store.database, lent)
    assert list(lend(RunIdentity(id="r", tenant="o1"), GPT).providers) == []


@pytest.mark.parametrize(
    "config",
    [
        ModelConfig(type="OpenAiConfig", provider="openai", model="gpt-5", url="https://x.example"),
        ModelConfig(type="VllmConfig", provider="vllm", model="gpt-5"),
    ],
)
def test_nothing_is_uploaded_for_a_model_elsewhere(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, config: ModelConfig
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    lend: Any = lend_stored_files(desk.store.database, HostParts())
    assert lend(RunIdentity(id="r", tenant="o1"), config).providers == {}
