"""What a run is trusted with is found nowhere afterwards, and goes only where its owner said."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from langgraph.graph import START, StateGraph
from typer.testing import CliRunner
from typing_extensions import TypedDict

from cinatra_sdk import SimulatedPlatform
from cinatra_sdk.blocks.platform_steps import child_agent, llm_step
from cinatra_sdk.errors import NodeFailed, StoreError
from cinatra_sdk.governed.secret_values import forms_of
from cinatra_sdk.langgraph_threads.host_context import host_context
from cinatra_sdk.outside.http_calls.protocol import Credentials, PlatformCall, PlatformResponseError
from cinatra_sdk.postgres.connection import connect
from oas_compiler import check, compile_flow
from oas_compiler.cli.app import app_for
from oas_compiler.explain import explain
from oas_compiler.ir.printout import print_ir
from oas_compiler.pipeline import compile_ir
from tests.attacks.book import Attack
from tests.attacks.families import Control, Place, tests_of
from tests.attacks.leaks import (
    BASE,
    BEARER,
    BRIDGE,
    CANARY,
    CRM,
    KEY,
    PLACEHOLDER,
    RUN_TOKEN,
    SPELLINGS,
    http,
    run_of,
)
from tests.flows import api, end, flow_of, gate, message, port, start, tool

FAMILY = "secrets"
ENV = {"CRM_TOKEN": PLACEHOLDER, "CRM_HOST": "canary-host.test"}
SENT = {"X-Key": "{{CRM_TOKEN}}"}


def attempt(attack: Attack, place: Place) -> str:
    doors = {
        "placeholder": _placeholder,
        "spelling of a placeholder": _spelling_of_placeholder,
        "spelling of a token": _spelling_of_token,
        "attestation": _attestation,
        "DSN": _dsn,
        "literal credential": _literal,
        "value that names the platform": _naming_value,
        "block that names the platform": _block,
        "opaque origin": _opaque,
        "tool": _tool,
        "platform of the host": _own_platform,
        "short token": _short,
        "record": _record,
        "origin": _naming_value,
    }
    return doors[attack.door.partition(",")[0]](attack.value, place)


# ------------------------------------------------------------------------- placeholders


def _calling(**fields: Any) -> dict[str, Any]:
    outputs = fields.pop("outputs", [port("echo", "object")])
    fields.setdefault("url", f"{CRM}/people")
    return flow_of(
        start(port("x", default="x")), api("call", outputs=outputs, **fields),
        end(port("echo", "object")), edges=[("call", "echo", "end", "echo")],
    )  # fmt: skip


def _echoing(how: str) -> Any:
    """A server that hands back all that it got, in one way or another."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        got = {
            "url": str(request.url), "headers": dict(request.headers),
            "body": request.content.decode(), "key": request.headers.get("x-key", ""),
        }  # fmt: skip
        text = json.dumps(got)
        if how == "unreachable":
            raise httpx2.ConnectError(f"no way to {text}")
        if how == "redirect":
            return httpx2.Response(302, headers={"location": f"https://evil.test/?{text}"})
        if how == "no JSON":
            return httpx2.Response(200, html=f"<p>{text}")
        if how == "wrong output":
            return httpx2.Response(200, json={"echo": text, got["key"] or "k": 1})
        if how == "missing output":
            return httpx2.Response(200, json={text[:40]: 1, got["key"] or got["url"]: 2})
        if how == "plain text":
            return httpx2.Response(200, text=text, headers={"content-type": "text/plain"})
        if how in {"500", "401", "503"}:
            said = {"error": got["key"] or "E", "code": "NO_LLM_PROVIDER", "message": text}
            return httpx2.Response(int(how), json=said)
        return httpx2.Response(200, json={"echo": got})

    return answer


def _placeholder(value: dict[str, Any], _place: Place) -> str:
    """One place of a flow in which a placeholder stands, and what the server does."""
    if "say" in value:
        flow = flow_of(start(), message("say", value["say"]), api("call"), end())
    elif "document" in value:
        flow = _document(value["document"])
    else:
        flow = _calling(**value["call"])
    kept = run_of(flow, _echoing(value.get("answer", "echo")), env=ENV)
    sent = any(
        CANARY in f"{one.headers.get('x-key')} {one.url} {one.content.decode()}"
        for one in kept.requests
    )
    if kept.holds(CANARY, "s3cret"):
        return "opened"
    return f"{kept.status}, {'sent' if sent else 'not sent'}, kept out"


def _document(where: str) -> dict[str, Any]:
    mark = "{{CRM_TOKEN}}"
    flows: dict[str, Any] = {
        "default of an input": lambda: flow_of(start(port("x", default=mark)), end()),
        "default of a gate": lambda: flow_of(
            start(), gate("g", output=port("a", default=mark)), end()
        ),
        "message of a gate": lambda: flow_of(start(), {**gate("g"), "message": mark}, end()),
        "name of a node": lambda: flow_of(start(), {**message("m", "x"), "name": mark}, end()),
        "name of the flow": lambda: {**flow_of(start(), end()), "name": mark},
        "description": lambda: {**flow_of(start(), end()), "description": mark},
        "metadata": lambda: flow_of(start(note=mark), end()),
        "schema": lambda: flow_of(start(port("x", default="a", description=mark)), end()),
    }
    made: dict[str, Any] = flows[where]()
    return made


def _spelling_of_placeholder(spelling: str, _place: Place) -> str:
    spelt = SPELLINGS[spelling](PLACEHOLDER)
    kept = run_of(
        _calling(headers=SENT),
        lambda _r: httpx2.Response(200, json={"echo": {"got": spelt}}),
        env=ENV,
    )
    return _unless(kept, spelt, PLACEHOLDER)


def _spelling_of_token(value: dict[str, str], _place: Place) -> str:
    secret = {"run": RUN_TOKEN, "bearer": BEARER, "bridge": BRIDGE}[value["token"]]
    spelt = SPELLINGS[value["as"]](secret)
    flow = _calling(url="{{CINATRA_BASE_URL}}/api/llm-bridge")
    if value.get("in") == "error":

        def answer(_request: httpx2.Request) -> httpx2.Response:
            return httpx2.Response(400, json={"error": "denied", "message": json.dumps(spelt)})
    else:

        def answer(_request: httpx2.Request) -> httpx2.Response:
            return httpx2.Response(200, json={"echo": {"got": spelt}})

    return _unless(run_of(flow, answer), spelt, secret)


def _unless(kept: Any, spelt: Any, secret: str) -> str:
    """What came of it, unless the secret or its spelling is found."""
    core = spelt if isinstance(spelt, str) else secret
    pieces = [core[i : i + 12] for i in range(0, max(1, len(core) - 12), 4)]
    found = [piece for piece in pieces if kept.holds(piece) and piece.lower() not in _HARMLESS]
    return f"opened: {found}" if found or kept.holds(secret) else f"{kept.status}, kept out"


_HARMLESS = ("basic dxnlcj",)


def _attestation(value: dict[str, str], _place: Place) -> str:
    """The proofs that the platform computes itself come back."""
    proofs: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        endpoint = "context" if "context" in request.url.path else "step"
        proofs.append(request.headers[f"x-cinatra-{endpoint}-attestation"])
        proof = proofs[0] if value.get("of") == "the first call" else proofs[-1]
        spelt = SPELLINGS[value["as"]](proof.rpartition(":")[2] if value.get("part") else proof)
        if value.get("in") == "error":
            return httpx2.Response(400, json={"code": "denied", "message": f"{spelt}"})
        return httpx2.Response(200, json={"echo": {"got": spelt}})

    url = f"{{{{CINATRA_BASE_URL}}}}/api/{value['endpoint']}"
    flow = flow_of(
        start(), api("first", url=url, outputs=[port("echo", "object")]),
        api("second", url=url, outputs=[port("echo", "object")]), end(),
    )  # fmt: skip
    kept = run_of(flow, answer)
    signatures = [proof.rpartition(":")[2] for proof in proofs]
    spelt = [str(SPELLINGS[value["as"]](s)) for s in signatures]
    return "opened" if kept.holds(*signatures, *spelt) else f"{kept.status}, kept out"


# ------------------------------------------------------------------------------ database


def _dsn(dsn: str, _place: Place) -> str:
    try:
        connect(dsn.encode().decode("unicode_escape") if "\\u" in dsn or "\\x" in dsn else dsn)
    except StoreError as error:
        said = f"{error} {error!r} {error.hint} {error.__context__} {error.__cause__}"
        if re.search("SEC|RET|%43", said):
            return f"opened: {said}"
        name = re.search(r"the database (.*?) failed", said)
        return f"StoreError, {name[1] if name else error}"
    return "connected"


# -------------------------------------------------------------------- literal credentials

_LITERALS = {
    "by shape": "sk-live0123456789abcdefCANARY",
    "by name": "hunter2-CANARY-9x",
    "by randomness": "cAnaryQ1w2e3r4t5y6u7i8o9p0ZZxxVV",
    "in an address": "https://bob:hunter2-CANARY-9x@crm.test/v1",
    "in a query": "https://crm.test/v1?token=hunter2-CANARY-9x",
    "a private key": "-----BEGIN PRIVATE KEY-----\nCANARYMIIEvQIBADANBgkqhkiG9w0BAQEF",
    "a webhook": "https://hooks.slack.com/services/TCANARY0/BCANARY0/CANARYabcdefghijklmnop1",
}


def _with_literal(kind: str, end_: str = "") -> dict[str, Any]:
    secret = _LITERALS[kind] + end_
    url = secret if secret.startswith("https") else f"{CRM}/v1"
    return flow_of(
        start(port("x", default=secret), port("api_key", default=secret), port("other")),
        api("call", url=url, headers={"X-Api-Key": secret}, data={"password": secret, "p": f"a {secret}"}),
        {**gate("ask"), "description": f"with {secret}"}, message("say", f"with {secret}"),
        end(port("x", default=secret)), edges=[("start", "x", "end", "x")],
    )  # fmt: skip


def _literal(value: dict[str, Any], place: Place) -> str:
    for number, end_ in enumerate(("", "7")):
        (place.folder / f"{number}.json").write_text(json.dumps(_with_literal(value["kind"], end_)))
    files = [str(place.folder / "0.json")]
    command, *options = value["command"].split()
    if command == "diff":
        files.append(str(place.folder / "1.json"))
    words = [command, *options, *files]
    result = CliRunner().invoke(app_for(words), words)
    said = result.output + result.stderr
    if re.search(r"(?i)canary", said) or len(said) < 20:
        return f"opened: {said}"
    return "kept out"


# --------------------------------------------------------------------- naming the platform


def _naming_value(value: dict[str, Any], _place: Place) -> str:
    """A value of the run, an answer or a placeholder says where a call goes."""
    source = value.get("from", "input")
    url, named = value["url"], value["value"]
    more = {key: value[key] for key in ("headers", "data", "query_params") if key in value}
    if source == "answer":
        flow = flow_of(
            start(), api("first", url=f"{CRM}/next", outputs=[port("next")]),
            api("second", url=url, inputs=[port("next")], **more), end(),
            edges=[("first", "next", "second", "next")],
        )  # fmt: skip
    else:
        inputs = [port("next")] if source == "input" else []
        edges = [("start", "next", "second", "next")] if inputs else []
        flow = flow_of(
            start(port("next", default=named)), api("second", url=url, inputs=inputs, **more), end(),
            edges=edges,
        )  # fmt: skip
    kept = run_of(
        flow, lambda _r: httpx2.Response(200, json={"next": named}),
        env={"NEXT": named} if source == "placeholder" else None,
        **({"allow": [CRM, BASE]} if value.get("allowed") else {}),
    )  # fmt: skip
    proven = [one for one in kept.requests if "authorization" in one.headers]
    if any(one.headers["host"] != "platform.test:3000" for one in proven):
        return "opened: tokens went elsewhere"
    there = [one for one in kept.requests if one.headers["host"] == "platform.test:3000"]
    reached = "with tokens" if proven else "without tokens" if there else "never"
    return f"{kept.status}, platform called {reached}"


def _block(value: dict[str, Any], _place: Place) -> str:
    """A block of a hand-written graph, whose mapping takes a value that names the platform."""
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, json={"a": "b"})

    class State(TypedDict, total=False):
        bearer_token: str
        goal: Any
        ask_output: Any

    outputs = {"a": {"type": "string"}}
    block = (
        llm_step(http(answer), node="ask", agent_id="@a/b", user="{{ goal }}", outputs=outputs)
        if value["block"] == "llm_step"
        else child_agent(
            http(answer), node="ask", package="@a/b", outputs=outputs,
            input_mapping={"url": "{{ goal }}", "deep": ["{{ goal }}"]},
        )
    )  # fmt: skip
    graph = StateGraph(State)
    graph.add_node("ask", block)
    graph.add_edge(START, "ask")
    graph.compile().invoke(
        {"goal": value["value"], "bearer_token": ""},
        context=host_context(run_id="r1", run_token=RUN_TOKEN, bearer_token=BEARER),
    )
    verbatim = all("platform.test" not in one.content.decode() for one in seen)
    urls = {str(one.url) for one in seen}
    fixed = {f"{BASE}/api/llm-bridge", f"{BASE}/api/agents/passthrough"}
    return "one call, its own" if len(seen) == 1 and urls <= fixed and verbatim else "opened"


# -------------------------------------------------------------------------- opaque origins


def _opaque(value: dict[str, Any], _place: Place) -> str:
    opaque = value.get("opaque", {CRM: value.get("level", "status")})
    outputs = [port(title, **schema) for title, schema in value["outputs"].items()]
    flow = flow_of(start(), api("call", url=f"{CRM}/v1/x", outputs=outputs, headers=SENT), end())

    def answer(_request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(value.get("status", 200), json=value["answer"])

    kept = run_of(flow, answer, env=ENV, opaque=opaque)
    told = "opened" if kept.holds("leaked") else "nothing kept"
    return f"{kept.status}, {told}"


# ------------------------------------------------------------------ tools, platforms, tokens


def _raised(how: str, secret: str) -> BaseException:
    noted = ValueError("no")
    noted.add_note(secret)
    chained = RuntimeError("outer")
    chained.__cause__ = ValueError(secret)
    carrying = NodeFailed("no", node="call", hint=f"use {secret}")
    made: dict[str, Any] = {
        "message": lambda: ValueError(secret),
        "many arguments": lambda: ValueError(1, [secret], {"k": secret}),
        "note": lambda: noted,
        "cause": lambda: chained,
        "hint": lambda: carrying,
        "class name": lambda: type(f"E{secret}", (Exception,), {})("no"),
        "key error": lambda: KeyError(secret),
        "base64": lambda: ValueError(SPELLINGS["base64"](secret)),
        "capitals": lambda: ValueError(secret.upper()),
        "system exit": lambda: SystemExit(secret),
        "url and code": lambda: PlatformResponseError(
            f"no {secret}", node="call", url=f"https://x/{secret}", status=500, code=secret
        ),
        "only the url": lambda: PlatformResponseError("no", node="call", url=f"https://x/{secret}"),
        "a class of its own": lambda: type(
            "Own", (PlatformResponseError,), {"__str__": lambda _s: f"no {secret}"}
        )("no", node="call"),
        "a named class of its own": lambda: type(f"E{secret}", (PlatformResponseError,), {})(
            "no", node="call"
        ),
        "group": lambda: ExceptionGroup("g", [ValueError(secret)]),
    }
    error: BaseException = made[how]()
    return error


def _secret_of(name: str) -> str:
    return {"placeholder": PLACEHOLDER, "run token": RUN_TOKEN, "bearer": BEARER}[name]


def _tool(value: dict[str, str], _place: Place) -> str:
    secret = _secret_of(value["secret"])

    def leak(x: str) -> Any:
        if value["way"] == "returns it":
            return f"it is {secret}"
        if value["way"] == "returns it far down":
            return json.dumps({"a": [{secret: secret}]})
        raise _raised(value["way"], secret)

    flow = flow_of(
        start(port("x", default="x")), tool("leak", "leak", [port("x")], [port("y")]), end(port("y")),
        edges=[("start", "x", "leak", "x"), ("leak", "y", "end", "y")],
    )  # fmt: skip
    kept = run_of(flow, _echoing("echo"), env=ENV, tools={"leak": leak})
    return "opened" if kept.holds(CANARY, "s3cret") else f"{kept.status}, kept out"


def _own_platform(value: dict[str, str], _place: Place) -> str:
    secret = _secret_of(value["secret"])

    class Own(SimulatedPlatform):
        def call(self, call: PlatformCall) -> Any:
            if value["way"] == "prints the call":
                raise PlatformResponseError(f"no answer to {call!r}", node=call.node)
            if value["way"] == "answers":
                return {"echo": {"all": [call.url, dict(call.headers), call.body], secret: 1}}
            raise _raised(value["way"], secret)

    flow = _calling(url=f"{CRM}/{{{{CRM_TOKEN}}}}", headers=SENT, data={"k": "{{CRM_TOKEN}}"})
    kept = run_of(flow, _echoing("echo"), env=ENV, platform=Own())
    return "opened" if kept.holds(CANARY, "s3cret") else f"{kept.status}, kept out"


def _short(value: dict[str, str], _place: Place) -> str:
    try:
        if value["as"] in {"bridge_token", "attestation_key"}:
            http(_echoing("echo"), **{value["as"]: value["token"]})
        else:
            host_context(**{value["as"]: value["token"]})
    except ValueError as error:
        return "opened" if value["token"] in str(error).split() else "ValueError"
    return "taken"


def _record(what: str, place: Place) -> str:
    """What is written or shown of a flow that was given placeholders."""
    flow = _calling(
        url="https://{{CRM_HOST}}/x?k={{CRM_TOKEN}}", headers=SENT, data={"a": ["{{ CRM_TOKEN }}"]}
    )
    file = place.folder / "calls.jsonl"
    platform = SimulatedPlatform(record=file)
    kept = run_of(flow, _echoing("echo"), env=ENV, platform=platform)
    made = compile_flow(flow, env=ENV, platform=platform)
    call = PlatformCall(
        node="n", path="n", method="GET", url="https://x", headers={"x-key": PLACEHOLDER},
        body={"k": PLACEHOLDER}, credentials=Credentials(run_token=RUN_TOKEN),
    )  # fmt: skip
    shown: dict[str, Any] = {
        "record of a simulation": file.read_text,
        "explanation": lambda: json.dumps(explain(flow, env=ENV).to_json()),
        "findings": lambda: json.dumps(check(flow, env=ENV).to_json()),
        "flow": lambda: repr(made) + repr(made.compiled) + repr(made.ir),
        "printed IR": lambda: print_ir(made.ir),
        "picture": made.mermaid,
        "description of the platform": lambda: json.dumps(platform.describe()),
        "calls of the simulation": lambda: repr(platform.calls),
        "call": lambda: repr(call),
        "schemas": lambda: json.dumps(
            [made.input_schema, made.output_schema, made.approval_policy]
        ),
    }
    text = shown[what]()
    if CANARY in text or kept.holds(CANARY) or len(text) < 2:
        return f"opened: {text}"
    return "kept out"


# -------------------------------------------------------------------------------- controls


@contextlib.contextmanager
def _patched(place: Place, *changes: tuple[str, Any]) -> Iterator[None]:
    with place.monkeypatch.context() as patch:
        for target, value in changes:
            patch.setattr(target, value)
        yield


def _without(*changes: tuple[str, Any]) -> Any:
    return lambda place: _patched(place, *changes)


def _compile_with_values(source: Any, **_more: Any) -> Any:
    return compile_ir(source, env=ENV)


CONTROLS = {
    "answers and errors are kept as they come": Control(
        open=_without(("cinatra_sdk.governed.secret_values.cut_from", lambda text, _forms: text)),
        row="placeholder,_echoed-in_a_header",
    ),
    "only the secret itself is looked for": Control(
        open=_without(
            ("cinatra_sdk.governed.secret_values._list_encoded_forms", lambda _secret: ()),
            ("cinatra_sdk.governed.secret_values.forms_of", forms_of.__wrapped__),
        ),
        row="spelling_of_a_placeholder-base64",
    ),
    "the written url is not kept apart": Control(
        open=_without(
            ("cinatra_sdk.outside.http_calls.protocol.PlatformCall.shown_url", property(lambda s: s.url)),
            ("cinatra_sdk.governed.secret_values.cut_from", lambda text, _forms: text),
        ),
        row="placeholder,_refused-host_that_is_not_allowed",
    ),
    "placeholders are put in before compiling": Control(
        open=_without(("oas_compiler.lower.flow.compile_ir", _compile_with_values)),
        row="placeholder,_elsewhere-message",
    ),
    "a rendered url may spell the platform": Control(
        open=_without(
            ("cinatra_sdk.flow.nodes.api_node.spells_platform", lambda _url: False),
            ("cinatra_sdk.flow.requests.request_template._ORIGIN", re.compile("")),
        ),
        row="value_that_names_the_platform-whole_url",
    ),
    "a value may name the platform's origin": Control(
        open=_without(("cinatra_sdk.flow.requests.request_template._ORIGIN", re.compile(""))),
        row="value_that_names_the_platform-origin_as_the_whole_url",
    ),
    "proofs are no secrets": Control(
        open=_without(
            ("cinatra_sdk.outside.http_calls.wire_request._PROOFS", frozenset()),
            ("cinatra_sdk.governed.secret_values._ATTESTATION", re.compile("(?!)")),
            ("cinatra_sdk.governed.secret_values._PATTERNS", ()),
        ),
        row="attestation-step_attestation_in_an_answer",
    ),
    "libpq's reading of a DSN is believed": Control(
        open=_without(("cinatra_sdk.postgres.dsn._PLAIN", {})),
        row="DSN-slash_in_the_password",
    ),
    "a flow is shown as written": Control(
        open=_without(
            ("oas_compiler.checks.credentials.credential_cover._find_whole_and_parts", lambda _subject: ([], []))
        ),
        row="literal_credential,_schema-by_name",
    ),
    "opaque answers are kept": Control(
        open=_without(("cinatra_sdk.outside.http_calls.wire_request.level_of", lambda _marked, _target: None)),
        row="opaque_origin-text_of_an_answer",
    ),
    "errors of tools are kept as they come": Control(
        open=_without(
            ("cinatra_sdk.governed.secret_values.cut_from", lambda text, _forms: text),
        ),
        row="tool-message,_placeholder",
    ),
}  # fmt: skip

test_attack, test_twin, test_control = tests_of(FAMILY, attempt, CONTROLS)


@pytest.mark.parametrize("secret", [PLACEHOLDER, RUN_TOKEN, BEARER, BRIDGE, KEY])
def test_every_secret_of_the_family_is_long_enough_to_be_found(secret: str) -> None:
    assert CANARY in secret
    assert len(secret) >= 16
    assert Path(__file__).with_name("book").is_dir()
