"""Files that go with a bridge call: read for the run's own tenant, and named where they cannot be."""

from __future__ import annotations

import importlib.util
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from bridge_world import WAYS, ask, bridge_of, offered, opened, outcome

from cinatra_sdk.attachments import CachedFile
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.host.bridge.answer_scripts import ScriptFile
from cinatra_sdk.host.bridge.model_offers import Offer, read_model_name
from cinatra_sdk.host.model_routes import lend_files
from cinatra_sdk.host_parts.host_parts import HostParts
from cinatra_sdk.outside.models.model_scripts import ScriptedModel
from cinatra_sdk.outside.models.uploads import FileToUpload
from cinatra_sdk.outside.routes import RunOwner
from cinatra_sdk.store.artifacts.attachment_store import AttachmentStore
from cinatra_sdk.store.database import Database

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("uvicorn") is None, reason="the extra `server` is not installed"
)

REF: Any = {
    "artifactId": "a1", "representationRevisionId": "r1", "digest": "d",
    "mime": "application/pdf", "originKind": "upload",
}  # fmt: skip


class Uploads:
    """A provider's files, kept by name."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, bytes]] = []

    def upload(self, file: FileToUpload) -> CachedFile:
        self.taken.append((file.name, b"".join(file.chunks)))
        return CachedFile(
            provider_file_id=f"file-{len(self.taken)}", mime=file.mime, size_bytes=file.size
        )


class Desk:
    """A bridge whose host keeps files."""

    def __init__(self, dsn: str, script: Any) -> None:
        self.database = Database.open(dsn)
        self.store = AttachmentStore(self.database)
        self.uploads = Uploads()
        model, self.double = offered("openai", "gpt-5-mini", script)
        self.bridge = bridge_of(
            model,
            ports_for=lambda owner, _model: self.store.ports(
                owner.tenant, {"openai": self.uploads}
            ),
        )

    def add(self, tenant: str, **more: Any) -> dict[str, Any]:
        ref = self.store.add(
            tenant, [b"%PDF"], mime="application/pdf", created_by="ann", max_bytes=99,
            title="plan.pdf", **more,
        )  # fmt: skip
        return ref.wire()

    @property
    def sent(self) -> tuple[str, Any]:
        """System prompt and content of the user's message of the last request."""
        messages = self.double.asked[-1].messages
        system = str(messages[0].content) if messages[0].type == "system" else ""
        return system, messages[-1].content


@pytest.mark.parametrize("way", WAYS)
def test_a_file_of_the_runs_tenant_goes_with_the_text_and_is_uploaded_once(
    fresh_database: str, way: str
) -> None:
    desk = Desk(fresh_database, ["One", "Two"])
    ref = desk.add("o1")
    with closing(desk.database), opened(way, desk.bridge) as platform:
        for _ in range(2):
            outcome(platform, ask({"user": "Sum up.", "system": "Be brief", "attachments": [ref]}))
            assert desk.sent == (
                "Be brief",
                [
                    {"type": "text", "text": "Sum up."},
                    {"type": "file", "file_id": "file-1", "mime_type": "application/pdf"},
                ],
            )
    assert desk.uploads.taken == [("plan.pdf", b"%PDF")]


@pytest.mark.parametrize("way", WAYS)
def test_a_file_of_another_tenant_is_never_read_and_named_as_missing(
    fresh_database: str, way: str
) -> None:
    desk = Desk(fresh_database, ["One"])
    ref = desk.add("o2")
    with closing(desk.database), opened(way, desk.bridge) as platform:
        outcome(platform, ask({"user": "Sum up.", "attachments": [ref], "agent_run_id": "r1"}))
    system, content = desk.sent
    assert "there is no such file" in system
    assert content == "Sum up."
    assert desk.uploads.taken == []


@pytest.mark.parametrize("way", WAYS)
def test_a_body_that_names_another_run_than_the_caller_reads_no_file(
    fresh_database: str, way: str
) -> None:
    desk = Desk(fresh_database, ["One"])
    ref = desk.add("o1")
    with closing(desk.database), opened(way, desk.bridge) as platform:
        outcome(platform, ask({"user": "Sum up.", "attachments": [ref], "agent_run_id": "r2"}))
    assert "resolver unavailable for this run" in desk.sent[0]
    assert desk.uploads.taken == []


@pytest.mark.parametrize("way", WAYS)
def test_a_call_of_nobodys_run_reads_no_file(fresh_database: str, way: str) -> None:
    desk = Desk(fresh_database, ["One"])
    ref = desk.add("o1")
    call = ask({"user": "Sum up.", "attachments": [ref], "agent_run_id": "r1"}, run_id="", context_id="")  # fmt: skip
    with closing(desk.database), opened(way, desk.bridge) as platform:
        outcome(platform, call)
    assert "resolver unavailable for this run" in desk.sent[0]
    assert desk.uploads.taken == []


@pytest.mark.parametrize("way", WAYS)
def test_an_envelope_brings_its_files_before_those_of_the_body(
    fresh_database: str, way: str
) -> None:
    desk = Desk(fresh_database, ["One"])
    first, second = desk.add("o1", filename="first.pdf"), desk.add("o1", filename="second.pdf")
    user = json.dumps({"text": "Compare.", "attachments": [first]})
    with closing(desk.database), opened(way, desk.bridge) as platform:
        outcome(platform, ask({"user": user, "user_envelope": True, "attachments": [second]}))
    assert [name for name, _ in desk.uploads.taken] == ["first.pdf", "second.pdf"]
    assert desk.sent[1][0] == {"type": "text", "text": "Compare."}


@pytest.mark.parametrize("way", WAYS)
def test_without_files_the_request_is_the_one_of_a_host_without_files(
    fresh_database: str, way: str
) -> None:
    desk = Desk(fresh_database, ["One", "Two"])
    model, plain = offered("openai", "gpt-5-mini", ["One"])
    body = {"user": '{"text": "hi"}', "system": "Be brief"}
    with closing(desk.database), opened(way, desk.bridge) as platform:
        outcome(platform, ask(body))
        outcome(platform, ask({**body, "attachments": []}))
    with opened(way, bridge_of(model)) as platform:
        outcome(platform, ask(body))
    assert desk.double.asked[0].messages == plain.asked[0].messages
    assert desk.double.asked[1].messages == plain.asked[0].messages


def lend(dsn: str, monkeypatch: pytest.MonkeyPatch, **lent: Any) -> Any:
    """The ports that a host with the key of OpenAI lends for its model."""
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    offer = Offer.of([read_model_name("openai:gpt-5-mini")], **lent)
    with closing(Database.open(dsn)) as database:
        return lend_files(database, offer)(RunOwner(tenant="o1", run_id="r1"), offer.models[0])


def test_a_host_that_lends_its_own_ports_is_not_asked_for_nobodys_run(fresh_database: str) -> None:
    asked: list[str] = []
    host = HostParts(attachments_for=lambda run, _config: asked.append(run.tenant))
    offer = Offer.of([read_model_name("openai:gpt-5-mini")])
    with closing(Database.open(fresh_database)) as database:
        lent = lend_files(database, offer, host)
        for owner in (RunOwner(), RunOwner(run_id="r1"), RunOwner(run_id="r1", tenant="o1")):
            lent(owner, offer.models[0])
    assert asked == ["o1"]


@pytest.mark.parametrize("way", WAYS)
def test_a_host_that_fails_to_lend_ports_is_named_without_its_words(way: str) -> None:
    def fail(_owner: Any, _model: Any) -> Any:
        raise KeyError("vault-password")

    model, double = offered("openai", "gpt-5-mini", ["One"])
    with opened(way, bridge_of(model, ports_for=fail)) as platform:
        got = outcome(platform, ask({"user": "Sum up.", "attachments": [REF]}))
    assert got == (500, "ATTACHMENTS_FAILED", "the host's attachments_for raised KeyError")
    assert double.asked == []


def test_files_go_to_the_provider_that_answers(
    fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(lend(fresh_database, monkeypatch).providers) == ["openai"]


@pytest.mark.parametrize(
    ("variable", "lent"),
    [
        ("OPENAI_BASE_URL", {}),
        ("NOTHING", {"lent": {"*": ScriptedModel(["x"])}}),
        ("NOTHING", {"lent": lambda _config: ScriptedModel(["x"])}),
    ],
)
def test_files_go_nowhere_where_somebody_else_answers(
    fresh_database: str, monkeypatch: pytest.MonkeyPatch, variable: str, lent: Any
) -> None:
    monkeypatch.setenv(variable, "https://gateway.example/v1")
    assert list(lend(fresh_database, monkeypatch, **lent).providers) == []


def test_a_script_in_place_of_a_model_gets_no_upload(
    fresh_database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-host-0123")
    (tmp_path / "script.json").write_text("[]")
    script = ScriptFile.read(tmp_path / "script.json").offered()
    with closing(Database.open(fresh_database)) as database:
        ports: Any = lend_files(database, Offer.of([script]))(RunOwner(tenant="acme"), script)
        assert list(ports.providers) == []


def test_a_key_that_cannot_be_had_is_no_upload(
    fresh_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_config: Any) -> str:
        raise NotConfigured("the vault is closed")

    assert list(lend(fresh_database, monkeypatch, api_key_for=refuse).providers) == []
