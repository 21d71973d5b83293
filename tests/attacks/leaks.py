"""A run whose platform hands back what it was sent, and everything that is kept of it.

`seen_of(flow, …)` runs a flow against a server in this process and gives all texts in which a
secret could be found afterwards: checkpoints, state, events, errors, logs, descriptions.
"""

from __future__ import annotations

import base64
import html
import json
import logging
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Any
from urllib.parse import quote

import httpx2
from langgraph.checkpoint.memory import InMemorySaver

from cinatra_sdk.outside.http_calls.http_platform import HttpPlatform, MachineServices
from oas_compiler import compile_flow

BASE = "http://platform.test:3000"
CRM = "https://crm.test"
RUN_TOKEN = "canary-run-token/5f1d+0c77"
BEARER = "canary-bearer-91ab33ee"
BRIDGE = "canary-bridge-77aa01cc"
KEY = "canary-attest-key-0123"
PLACEHOLDER = 'canary/crm "s3cret" &5'
CANARY = "canary"

SPELLINGS: Mapping[str, Callable[[str], Any]] = {
    "as it is": lambda s: s,
    "in a sentence": lambda s: f"you sent {s}, thank you",
    "in capitals": str.upper,
    "percent-encoded": lambda s: quote(s, safe=""),
    "percent-encoded but for slashes": quote,
    "every byte percent-encoded": lambda s: "".join(f"%{b:02X}" for b in s.encode()),
    "form-encoded": lambda s: quote(s, safe="").replace("%20", "+"),
    "base64": lambda s: base64.b64encode(s.encode()).decode(),
    "url-safe base64": lambda s: base64.urlsafe_b64encode(s.encode()).decode(),
    "basic login": lambda s: "Basic " + base64.b64encode(f"user:{s}".encode()).decode(),
    "base64 one byte on": lambda s: base64.b64encode(f"x{s}yz".encode()).decode(),
    "base64 two bytes on": lambda s: base64.b64encode(f"xx{s}y".encode()).decode(),
    "hex": lambda s: s.encode().hex(),
    "hex in capitals": lambda s: s.encode().hex().upper(),
    "hex with colons": lambda s: s.encode().hex(":"),
    "hex with blanks": lambda s: s.encode().hex(" "),
    "backwards": lambda s: s[::-1],
    "JSON in a string": lambda s: json.dumps({"k": s}),
    "JSON in JSON in a string": lambda s: json.dumps(json.dumps({"k": s})),
    "JSON with escaped slashes": lambda s: json.dumps(s).replace("/", "\\/"),
    "as HTML": lambda s: html.escape(f"<b>{s}</b>"),
    "as a name": lambda s: {s: 1},
    "as a name far down": lambda s: {"a": [{"b": {f"x-{s}": [s]}}]},
    "twice without a gap": lambda s: s + s,
}


@dataclass(slots=True)
class Kept:
    """What is left of a run."""

    status: str
    error: str
    texts: list[str] = field(default_factory=list)
    requests: list[httpx2.Request] = field(default_factory=list)

    def holds(self, *words: str) -> bool:
        """Whether a secret, in a spelling that is looked for, is anywhere."""
        text = "\n".join(self.texts).lower()
        return any(word.lower() in text for word in words)


class _Texts(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.said.append(self.format(record))


def http(answer: Callable[[httpx2.Request], httpx2.Response], **settings: Any) -> HttpPlatform:
    """A platform whose server is in this process."""
    transport = httpx2.MockTransport(answer)
    return HttpPlatform(
        BASE,
        **{
            "allow": [CRM], "retries": 0, "bridge_token": BRIDGE, "attestation_key": KEY,
            "client": httpx2.Client(transport=transport),
            "async_client": httpx2.AsyncClient(transport=transport),
            "surroundings": MachineServices(resolve=lambda _h, _p: [ip_address("93.184.215.14")]),
            **settings,
        },
    )  # fmt: skip


def run_of(
    document: dict[str, Any],
    answer: Callable[[httpx2.Request], httpx2.Response],
    *,
    env: Mapping[str, str] | None = None,
    params: Mapping[str, Any] | None = None,
    tools: Mapping[str, Callable[..., Any]] | None = None,
    platform: Any = None,
    **settings: Any,
) -> Kept:
    """Run the flow as far as it goes."""
    kept = Kept(status="", error="")

    def noted(request: httpx2.Request) -> httpx2.Response:
        kept.requests.append(request)
        return answer(request)

    log, handler = logging.getLogger(), _Texts()
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    saver, flow = InMemorySaver(), None
    try:
        flow = compile_flow(
            document, env=env, tools=tools, platform=platform or http(noted, **settings)
        )
        context = flow.context(run_id="r1", run_token=RUN_TOKEN, bearer_token=BEARER)
        config = flow.config(run_id="r1")
        graph = flow.graph(saver)
        for event in graph.stream(
            flow.input(params or {}), config, context=context, stream_mode=["updates", "debug"]
        ):
            kept.texts.append(repr(event))
        kept.status = str(graph.get_state(config).values.get("status"))
    except Exception as error:
        kept.status, kept.error = type(error).__name__, str(error)
        kept.texts += _of_error(error)
    finally:
        log.setLevel(before)
        log.removeHandler(handler)
    kept.texts += handler.said
    kept.texts.append(_of_saver(saver))
    if flow is not None:
        shown = json.dumps(flow.platform.describe())
        kept.texts += [repr(flow), repr(flow.ir), shown, flow.mermaid()]
    return kept


def _of_error(error: BaseException | None) -> list[str]:
    texts: list[str] = []
    while error is not None:
        texts += [repr(error), str(error), type(error).__name__, repr(vars(error))]
        error = error.__cause__ or error.__context__
    return texts


def _of_saver(saver: InMemorySaver) -> str:
    held = (
        {key: dict(value) for key, value in saver.storage.items()},
        dict(saver.writes),
        dict(saver.blobs),
    )
    return pickle.dumps(held, protocol=0).decode("latin-1") + repr(held)
