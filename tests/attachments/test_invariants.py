"""The seven rules that hold wherever a file goes, each by its name."""

from __future__ import annotations

import ast
import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage

from cinatra_sdk.attachments import (
    AttachmentRef,
    ChatTurn,
    FilePart,
    PreparedTurns,
    aprepare_turns,
    attach_files,
    find_answer_rules,
    list_betas,
    prepare_turns,
    read_resume,
    read_user_envelope,
    resolve_attachments,
    strip_resolved,
    wrap_resume,
    write_blocks,
    write_content,
)
from cinatra_sdk.attachments.envelope import BridgeCall
from cinatra_sdk.blocks.platform_steps import llm_step
from cinatra_sdk.langgraph_threads.host_context import host_context
from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform
from cinatra_sdk.store.artifacts.attachment_store import AttachmentStore
from cinatra_sdk.store.database import Database
from tests.attachments.samples import PDF, AwaitedPorts, RecordingPorts, ref, wire
from tests.blocks.block_samples import CONFIG, graph_of
from tests.platform.loopback_server import LoopbackServer

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).parent / "golden"
PROVIDERS = {"openai": "gpt-5", "anthropic": "claude-3", "gemini": "gemini-2.5-pro"}


class Untouched:
    """Ports of which not even a name may be asked."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(f"the port {name} was touched")


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    loopback = LoopbackServer()
    loopback.answers({"verdict": "fine"})
    yield loopback
    loopback.close()


def post(server: LoopbackServer, **options: Any) -> bytes:
    """The bytes that `llm_step` posts to the bridge."""
    with HttpPlatform(server.url) as platform:
        step = llm_step(
            platform, node="ask", agent_id="@t/a", user="About {{ goal }}", system="Be brief.",
            outputs={"verdict": {"type": "string"}}, options=options or None,
        )  # fmt: skip
        graph_of(step).invoke({"goal": "cats"}, CONFIG, context=host_context(run_id="r1"))
    return server.last.body


def golden(name: str) -> bytes:
    return (GOLDEN / name).read_bytes().strip()


# ------------------------------------------------------------------------ 1


def test_invariant_1_without_attachments_the_request_to_the_bridge_is_the_same_bytes(
    server: LoopbackServer,
) -> None:
    assert post(server) == golden("bridge.json")


def test_invariant_1_the_control_with_attachments_only_their_keys_are_new(
    server: LoopbackServer,
) -> None:
    sent = post(server, attachments=[PDF], user_envelope=True)
    assert sent == golden("bridge_with_file.json")
    told = json.loads(sent)
    assert told.pop("attachments") == [PDF]
    assert told.pop("user_envelope") is True
    assert json.dumps(told) == json.dumps(json.loads(golden("bridge.json")))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_invariant_1_without_attachments_nothing_is_resolved_and_nothing_changes(
    provider: Any,
) -> None:
    turns = [ChatTurn(role="user", text="q"), ChatTurn(role="assistant", text="a")]
    ports: Any = Untouched()
    about = {"provider": provider, "model": PROVIDERS[provider]}
    prepared = prepare_turns("Be brief.", turns, ports=ports, **about)
    assert prepared.system == "Be brief."
    assert [(turn.role, turn.text, turn.parts) for turn in prepared.turns] == [
        ("user", "q", ()),
        ("assistant", "a", ()),
    ]
    assert asyncio.run(aprepare_turns("Be brief.", turns, ports=ports, **about)) == prepared
    plain: Any = [{"text": "q"}] if provider == "gemini" else "q"
    assert write_content(provider, "q", ()) == plain
    assert write_blocks(provider, "q", ()) == "q"
    assert list_betas(()) == ()
    messages = [SystemMessage("Be brief."), HumanMessage("q")]
    attached = attach_files(messages, ports=ports, **about)
    assert attached.messages == messages
    assert attached.arguments == {}


def test_invariant_1_a_text_that_looks_like_an_envelope_stays_a_text() -> None:
    text = json.dumps({"text": "x", "attachments": [PDF]})
    assert read_user_envelope(text).text == text
    assert read_user_envelope(text).attachments is None
    assert wrap_resume(text) == text
    request: Any = {"user": "q", "messages": [{"role": "user"}]}
    assert json.dumps(strip_resolved(request)) == json.dumps(request)


# ------------------------------------------------------------------------ 2

BROKEN = {
    "no ports": None,
    "an upload that fails": RecordingPorts(uploads={"a1": {"raises": "HTTP 503"}}),
    "an upload that says nothing": RecordingPorts(uploads={"a1": None}),
    "a cache and an upload that fail": RecordingPorts(
        cache={"a1": {"raises": "down"}}, uploads={"a1": {"raises": "down"}}
    ),
}
UNREADABLE = {"a type that nobody reads": {"mime": "application/zip"}, "a size": {"size": 2**40}}


def tell(system: str, *refs: AttachmentRef, **about: Any) -> PreparedTurns:
    given: dict[str, Any] = {"provider": "openai", "model": "gpt-5", "ports": RecordingPorts()}
    turns = about.pop("turns", [ChatTurn(role="user", text="q")])
    return prepare_turns(system, turns, request_refs=refs, **given | about)


@pytest.mark.parametrize("ports", BROKEN.values(), ids=BROKEN)
def test_invariant_2_no_file_is_dropped_silently_whatever_a_port_does(ports: Any) -> None:
    prepared = tell("Be brief.", ref(title="Plan"), ports=ports)
    assert prepared.turns[0].parts == ()
    assert prepared.system is not None
    assert prepared.system.startswith("[ATTACHMENTS")
    assert prepared.system.endswith("\n\nBe brief.")
    assert '"Plan"' in prepared.system


@pytest.mark.parametrize("changes", UNREADABLE.values(), ids=UNREADABLE)
def test_invariant_2_no_file_is_dropped_silently_whatever_it_is(changes: Any) -> None:
    prepared = tell("Be brief.", ref(), ref(title="Plan", **changes))
    assert len(prepared.turns[0].parts) == 1, "the other file is not affected"
    assert '"Plan"' in str(prepared.system)
    assert "a1" not in str(prepared.system), "a file that can be read is not listed"


@pytest.mark.parametrize(
    "turns",
    [
        [],
        [ChatTurn(role="assistant", text="a")],
        [ChatTurn(role="user", text="q", attachments=(ref(),))],
    ],
)
def test_invariant_2_no_file_is_dropped_silently_whatever_the_conversation(turns: Any) -> None:
    assert '"Plan"' in str(tell("Be brief.", ref(title="Plan"), turns=turns).system)


def test_invariant_2_no_file_is_dropped_silently_for_a_provider_that_reads_none() -> None:
    prepared = tell("", ref(title="Plan"), provider="ollama", model="gemma")
    assert '"Plan"' in str(prepared.system)


# ------------------------------------------------------------------------ 3


def test_invariant_3_parts_come_from_the_resolver_and_never_from_a_caller() -> None:
    part = {"nativeKind": "openai_input_file", "providerFileId": "file-of-another-tenant"}
    smuggled: Any = {
        "user": "q",
        "resolvedAttachments": [part],
        "messages": [{"role": "user", "text": "q", "resolvedAttachments": [part]}],
    }
    assert "file-of-another-tenant" not in json.dumps(strip_resolved(smuggled))
    with pytest.raises(TypeError, match="parts"):
        ChatTurn(role="user", text="q", parts=(part,))  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="providerFileId is no member of a ref"):
        read_user_envelope("q", attachments=[wire(providerFileId="file-of-another-tenant")])


def test_invariant_3_what_asks_a_model_takes_refs_and_no_parts() -> None:
    import inspect

    for function in (prepare_turns, aprepare_turns, attach_files):
        names = set(inspect.signature(function).parameters)
        assert names.isdisjoint({"parts", "resolved", "resolved_attachments"})
        assert {"request_refs", "ports"} <= names


# ------------------------------------------------------------------------ 4


def test_invariant_4_ports_belong_to_one_tenant_and_a_run_without_one_has_none(
    fresh_database: str,
) -> None:
    database = Database.open(fresh_database)
    try:
        store = AttachmentStore(database)
        about: Any = {"mime": "application/pdf", "created_by": "ann", "max_bytes": 9}
        ours, theirs = store.add("acme", [b"ours"], **about), store.add("beta", [b"b"], **about)
        assert store.ports("", {}) is None
        assert store.ports(None, {}) is None

        class Files:
            def upload(self, file: Any) -> str:
                return "file-" + b"".join(file.chunks).decode()

        lent: Any = {"openai": Files()}
        resolved = resolve_attachments([ours, theirs], "openai", "gpt-5", store.ports("acme", lent))
        assert [part.provider_file_id for part in resolved.parts] == ["file-ours"]
        assert [file.ref for file in resolved.unreadable] == [theirs]
    finally:
        database.close()


def test_invariant_4_a_ref_cannot_name_a_tenant() -> None:
    for key in ("orgId", "tenant", "org_id"):
        with pytest.raises(ValueError, match=f"{key} is no member of a ref"):
            read_user_envelope("q", attachments=[wire(**{key: "beta"})])


# ------------------------------------------------------------------------ 5


def test_invariant_5_a_message_between_agents_is_one_part_of_text() -> None:
    wrapped = wrap_resume("Use these.", [wire(title="Plan")])
    answer = read_resume({"userResponse": wrapped})
    assert answer.parts() == [{"kind": "text", "text": wrapped}]
    assert [set(part) for part in answer.parts()] == [{"kind", "text"}]


def test_invariant_5_the_flow_decides_which_call_opens_the_envelope() -> None:
    sources = {"note": [("ask", "note")]}
    calls = [
        BridgeCall(node="opens", body={"user": "{{note}}", "user_envelope": True}, sources=sources),
        BridgeCall(node="shows", body={"user": "{{note}}"}, sources=sources),
    ]
    assert [rule.call for rule in find_answer_rules(calls, [("ask", "note")])] == ["opens"]


# ------------------------------------------------------------------------ 6


def test_invariant_6_the_package_knows_no_network_no_database_and_no_store() -> None:
    allowed = {"cinatra_sdk.attachments", "cinatra_sdk.errors", "cinatra_sdk.governed.secret_values",
               "cinatra_sdk.threads", "cinatra_sdk.data.json_values",
               "cinatra_sdk.light_imports.records"}  # fmt: skip
    packages = {*sys.stdlib_module_names, "pydantic", "pydantic_core", "langchain_core"}
    for file in sorted((ROOT / "cinatra_sdk/attachments").glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                known = name.startswith(tuple(allowed)) or name.split(".")[0] in packages
                assert known, f"{file.name} imports {name}"


def test_invariant_6_reading_refs_loads_no_client_no_engine_and_no_database() -> None:
    code = (
        "import sys, cinatra_sdk.attachments; "
        "heavy = {'httpx2', 'psycopg', 'langgraph', 'langchain', 'langchain_core', 'openai'}; "
        "print(sorted(heavy & {name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# ------------------------------------------------------------------------ 7


def test_invariant_7_a_single_file_that_a_step_sends_itself_is_left_as_it_was(
    server: LoopbackServer,
) -> None:
    media: Any = [{"type": "image", "url": "https://x.example/1.png"}]
    alone = json.loads(post(server, media=media))
    assert alone["media"] == media
    beside = json.loads(post(server, media=media, attachments=[PDF]))
    assert beside.pop("attachments") == [PDF]
    assert beside == alone
    assert strip_resolved(alone) == alone


def test_parts_are_made_by_the_resolver_alone() -> None:
    """No module beside it calls the class."""
    makers = [
        path.name
        for path in sorted((ROOT / "cinatra_sdk").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == FilePart.__name__
    ]
    assert makers == ["uploads.py"]


def test_awaited_ports_and_others_give_the_same() -> None:
    about: Any = {"provider": "openai", "model": "gpt-5", "request_refs": [ref()]}
    turns = [ChatTurn(role="user", text="q")]
    awaited = AwaitedPorts(RecordingPorts())
    assert asyncio.run(aprepare_turns("s", turns, ports=awaited, **about)) == prepare_turns(
        "s", turns, ports=RecordingPorts(), **about
    )
