"""`LlmBridge`: the function of the route `POST /api/llm-bridge`.

In: a `RouteCall`.  Out: the model's JSON value, or a `RouteError` of the contract.

    {"user": "Draft it", "output_schema": {…}}     ->   {"draft": "Dear Ann …"}
    {"user": "Draft it", "max_step": 3}            ->   400, and no model is asked
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from mimetypes import guess_type
from pathlib import PurePosixPath
from typing import Any, Final, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.attachments import (
    AsyncAttachmentPorts,
    AttachmentPorts,
    AttachmentRef,
    UserEnvelopeInvalid,
    aresolve_attachments,
    find_provider,
    join_blocks,
    model_arguments,
    place_manifest,
    read_user_envelope,
    write_file_blocks,
    write_manifest,
)
from cinatra_sdk.attachments.manifest import write_one_line
from cinatra_sdk.data.retry_policy import CallRetryPolicy
from cinatra_sdk.data.schema.problems import first_problem
from cinatra_sdk.errors import NotConfigured, StoreError
from cinatra_sdk.governed.secret_values import redact
from cinatra_sdk.host.bridge.conversation_steps import MayGoOn, Talk, TalkAnswer, talk
from cinatra_sdk.host.bridge.model_offers import (
    ChosenModel,
    Offer,
    OfferedModel,
    OpenedModel,
    choose,
)
from cinatra_sdk.host.bridge.request_body import BridgeBody, Media, read_body, refuse_body
from cinatra_sdk.host.bridge.toolboxes import Toolbox, open_tools
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.http_calls.protocol import BRIDGE_PATH
from cinatra_sdk.outside.models.attempts import read_status
from cinatra_sdk.outside.routes import RouteCall, RouteError, RunOwner
from cinatra_sdk.threads import call_beside

# ----------------------------------------------------------------------------
# The text of a request's person, and the files that come with it.
#
#     read_user(body)                          ("Summarize it", (AttachmentRef(…),))
#     `await attach(refs, "openai", "gpt-5", ports)`
#         AttachedFiles(blocks=[{"type": "file", …}], note="", arguments={})
#
# Without references nothing is looked at, and nothing is added to what the model is sent.


PortsFor: TypeAlias = Callable[
    [RunOwner, OfferedModel], AttachmentPorts | AsyncAttachmentPorts | None
]
"""What a host lends for the files of one run and the model that is asked; None: nothing, so the model is
told what it cannot read.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFiles:
    """What a model is sent of a request's files."""

    blocks: list[dict[str, Any]] = field(default_factory=list)
    """Of LangChain, for those that the model can read."""
    note: str | None = None
    """For the system prompt, about those that it cannot."""
    arguments: dict[str, Any] = field(default_factory=dict)
    """What has to be bound to the model beside the messages."""


def lend_no_ports(_owner: RunOwner, _model: OfferedModel) -> None:
    """Of a host that keeps no files."""


def read_user(body: BridgeBody) -> tuple[str, tuple[AttachmentRef, ...]]:
    """The text as the model gets it, and the references of the envelope and of the body, in order.

    Raises: `RouteError` 400 `INVALID_USER_ENVELOPE`.
    """
    try:
        envelope = read_user_envelope(
            body.user, enabled=bool(body.user_envelope), attachments=tuple(body.attachments or ())
        )
    except UserEnvelopeInvalid as error:
        refused = error
    else:
        return envelope.text, envelope.attachments or ()
    raise RouteError(refused.status, refused.code, str(refused), more=refused.body())


async def attach(
    refs: Sequence[AttachmentRef],
    provider: str,
    model: str,
    ports: AttachmentPorts | AsyncAttachmentPorts | None,
) -> AttachedFiles:
    """Resolve the files for the model that was chosen; see `cinatra_sdk.attachments`."""
    found: Any = find_provider(provider)
    resolved = await aresolve_attachments(refs, found, model, ports)
    return AttachedFiles(
        blocks=write_file_blocks(found, resolved.parts),
        note=write_manifest(resolved.unreadable),
        arguments=model_arguments(found, resolved.parts),
    )


log = logging.getLogger("oasflow.bridge")

ROUTE: Final = f"POST {BRIDGE_PATH}"
MOST_MEDIA: Final = 100 * 2**20
"""Bytes of a medium, where the host can tell them."""
_ABOUT_KEYS: Final = frozenset({401, 403})
_LONGEST: Final = 300
_USUAL_MIMES: Final = {"audio": "audio/mpeg", "video": "video/mp4"}
_NO_TEXT: Final = "(no text)"


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmBridge:
    """Answers from the models of `offer`, with the tools that the host allows."""

    offer: Offer
    toolboxes: Mapping[str, Toolbox] = field(default_factory=dict)
    ports_for: PortsFor = field(default=lend_no_ports, repr=False)
    """What the host keeps of files, for the owner of a run and the model that was chosen; never for a
    body that names one.
    """
    may_go_on: MayGoOn = field(default=lambda _owner: None, repr=False)
    """Raises `RouteError` where the run of a call has ended: asked before each step and each tool."""
    media_size: Callable[[str], int | None] | None = field(default=None, repr=False)
    """Bytes behind the address of a medium; None where nobody can tell, and nothing is refused."""
    rules: CallRetryPolicy = field(default_factory=CallRetryPolicy)

    async def __call__(self, call: RouteCall) -> JsonValue:
        body = read_body(call.body)
        _check_schema(body)
        user, refs = read_user(body)
        choice = choose(self.offer, body)
        media = await call_beside(self._read_media, body.media, choice)
        tools = await open_tools(self.toolboxes, body.list_toolboxes(self.toolboxes))
        if choice.warning:
            asker = write_one_line(call.node or body.agent_id or ROUTE, most=80)
            log.warning("%s: %s", asker, write_one_line(choice.warning, most=200))
        # Beside the loop: a host's function for keys may wait, and a client's package takes a second.
        opened = await call_beside(self._connect, choice, call, body)
        files = await self._attach(refs, choice, call, body)
        more = [*media, *files.blocks]
        asked = Talk(
            model=opened.chat,
            name=choice.capability,
            arguments=files.arguments,
            system=place_manifest(body.system, files.note) or "",
            user=join_blocks(_say(user) if refs and not more else user, more),
            tools=tools,
            steps=body.steps,
            schema=body.output_schema,
            secrets=opened.secrets,
            rules=self.rules,
            may_go_on=self.may_go_on,
        )
        return (await self._talk(asked, choice, call)).value

    async def _attach(
        self, refs: Sequence[AttachmentRef], choice: ChosenModel, call: RouteCall, body: BridgeBody
    ) -> AttachedFiles:
        if not refs:
            return AttachedFiles()
        # Of another run than the one that calls, nothing is read.
        own = body.agent_run_id in (None, "", call.owner.run_id)
        ports = await call_beside(self._open_ports, call.owner, choice.model) if own else None
        return await attach(refs, choice.model.provider, choice.model.name, ports)

    def _open_ports(
        self, owner: RunOwner, model: OfferedModel
    ) -> AttachmentPorts | AsyncAttachmentPorts | None:
        """Raises: `RouteError`."""
        try:
            return self.ports_for(owner, model)
        except Exception as error:  # noqa: BLE001 - a function of the host raises anything
            name = type(error).__name__
        # Out here: what was caught may hold what the host does not show.
        raise RouteError(500, "ATTACHMENTS_FAILED", f"the host's attachments_for raised {name}")

    def _connect(self, choice: ChosenModel, call: RouteCall, body: BridgeBody) -> OpenedModel:
        problem = ""
        try:
            return self.offer.connect(choice.model, call, body.agent_id)
        except NotConfigured as error:
            problem = str(error)
        raise RouteError(503, "NO_LLM_PROVIDER", problem)

    async def _talk(self, asked: Talk, choice: ChosenModel, call: RouteCall) -> TalkAnswer:
        try:
            return await talk(asked, call)
        except (RouteError, StoreError):
            raise  # the latter of `may_go_on`: no model failed, and its words are not for callers
        except Exception as error:  # noqa: BLE001 - a provider's client raises anything
            failed = _describe(choice, error, asked.secrets)
        # Out here: in the handler it would drag the client's error along, with the request in it.
        raise failed

    def _read_media(self, media: Media | None, choice: ChosenModel) -> list[dict[str, Any]]:
        if media is None:
            return []
        if not media.url.startswith(("https://", "http://")):
            raise RouteError(400, "MEDIA-URL-INVALID", "media.url is no http or https address")
        if "media_input" not in choice.model.capabilities:
            raise RouteError(
                400, "MEDIA-UNSUPPORTED",
                f"{choice.capability} takes no audio and no video; prefer a model of gemini",
            )  # fmt: skip
        size = self._measure(media.url)
        if size is not None and size > MOST_MEDIA:
            raise RouteError(
                413, "MEDIA-SIZE-EXCEEDED", f"the medium has more than {MOST_MEDIA} bytes"
            )
        return [{"type": "media", "file_uri": media.url, "mime_type": _guess_mime(media)}]

    def _measure(self, url: str) -> int | None:
        """Raises: `RouteError`."""
        if self.media_size is None:
            return None
        try:
            return self.media_size(url)
        except Exception as error:  # noqa: BLE001 - a function of the host raises anything
            name = type(error).__name__
        # Out here, as in `_open_ports`.
        raise RouteError(500, "MEDIA-SIZE-FAILED", f"the host's media_size raised {name}")


def _say(user: str) -> str:
    """What a turn says whose files are all unreadable: providers refuse one without a word."""
    return user if user.strip() else _NO_TEXT


def _guess_mime(media: Media) -> str:
    """Of the address's ending, as far as it is of the kind that the body names; Gemini takes no `video/*`."""
    kind = media.kind
    if kind == "youtube":
        return _USUAL_MIMES["video"]
    path = media.url.partition("#")[0].partition("?")[0]
    mime = guess_type("medium" + PurePosixPath(path).suffix)[0] or ""
    family = mime.partition("/")[0]
    if family in _USUAL_MIMES and kind in (None, family):
        return mime
    return _USUAL_MIMES[kind or "video"]


def _check_schema(body: BridgeBody) -> None:
    """Refuse a schema by which no answer could be judged, before a model is asked."""
    if body.output_schema is None:
        return
    problem = first_problem(body.output_schema, None)
    if problem.startswith("its schema is no JSON Schema"):
        raise refuse_body([("output_schema", problem)])


def _describe(choice: ChosenModel, error: Exception, secrets: tuple[str, ...]) -> RouteError:
    status = read_status(error)
    what = f"status {status}" if status is not None else type(error).__name__
    said = "" if status in _ABOUT_KEYS else redact(str(error), secrets)[:_LONGEST]
    detail = f"the model {choice.capability} failed with {what}" + (f": {said}" if said else "")
    return RouteError(500, "MODEL_FAILED", detail, more={"detail": detail})
