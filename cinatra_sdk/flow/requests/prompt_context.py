"""The files, and the context of a first turn, that go with the question of a node to a model.

In: the input of a node that holds refs, and the parts that the host lends.  Out: the messages with the
files, in the form of the provider of the node's model.

    "files"   {"files": [{"artifactId": "att_1", …}]}   ->   [HumanMessage([text, file])]

The refs belong to the identity of the effect.  The ports are asked right before the model is: where the
ledger has the answer already, nobody uploads a file.  The run stores no id of a provider's file.
Without refs the ports are not asked, and the request is the same as without the input.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.attachments import (
    MAX_REFS,
    AsyncAttachmentPorts,
    AttachedMessages,
    AttachmentPorts,
    AttachmentRef,
    AttachmentRefInvalid,
    aattach_files,
    attach_files,
    read_refs,
)
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.flow.plan.frame import Frame
from cinatra_sdk.host_parts.host_parts import (
    ANY_WORKSPACE,
    AttachmentsFor,
    FirstTurnReaders,
    HostParts,
    RunIdentity,
    find_reader,
    read_text,
)
from cinatra_sdk.langgraph_threads.host_context import context_of
from cinatra_sdk.light_imports.records import dataclass
from cinatra_sdk.outside.models.config import ModelConfig

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage


LendPorts: TypeAlias = "Callable[[ModelConfig], AttachmentPorts | AsyncAttachmentPorts | None]"


@dataclass(frozen=True, slots=True, kw_only=True)
class FilesInput:
    """Reads the refs of one node."""

    frame: Frame
    title: str
    config: ModelConfig
    """The model of the node."""
    lent: AttachmentsFor | None = field(default=None, repr=False)

    def read(self, values: Mapping[str, Any], context: object) -> QuestionFiles | None:
        """The files of one visit, None where there are none; values: those of the node's inputs.

        Raises: `NodeFailed`.
        """
        value, problem = values.get(self.title), ""
        refs: Sequence[AttachmentRef] = ()
        try:
            refs = () if value is None else read_refs(value, where=self.title)
        except AttachmentRefInvalid as error:
            problem = str(error)
        if len(refs) > MAX_REFS:
            problem = f"{self.title} has {len(refs)} files, and {MAX_REFS} may be at most"
        if problem:
            raise self.frame.failed(f"its files: {problem}")
        if not refs:
            return None
        host, lent = context_of(context), self.lent
        run = RunIdentity(id=host.run_id, tenant=host.tenant)
        lend = host.files or (None if lent is None else partial(lent, run))
        return QuestionFiles(refs=tuple(refs), about=self, lend=lend)

    def open_ports(self, lend: LendPorts | None) -> AttachmentPorts | AsyncAttachmentPorts | None:
        """What the host lends to the run; None where it lends nothing.

        Raises: `NodeFailed`.
        """
        if lend is None:
            return None
        try:
            return lend(self.config)
        except Exception as error:  # noqa: BLE001 - a function of the host raises anything
            name = type(error).__name__
        # Out here: what was caught may hold what the host does not show.
        raise self.frame.failed(f"its files: the host's attachments_for raised {name}")


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFiles:
    """The files of one question."""

    refs: tuple[AttachmentRef, ...]
    about: FilesInput
    lend: LendPorts | None = field(default=None, repr=False)
    """Of the run; None where nobody lends anything."""

    def describe(self) -> list[JsonValue]:
        """For the arguments of the effect."""
        return [ref.wire() for ref in self.refs]

    def attach(self, messages: Sequence[BaseMessage]) -> AttachedMessages:
        """The messages as the model gets them.

        Raises: `NodeFailed`; `TypeError` for ports that have to be awaited.
        """
        config: Any = self.about.config
        ports: Any = self.about.open_ports(self.lend)
        return attach_files(
            messages,
            provider=config.provider,
            model=config.model,
            request_refs=self.refs,
            ports=ports,
        )

    async def aattach(self, messages: Sequence[BaseMessage]) -> AttachedMessages:
        """As `attach`, for an event loop."""
        config = self.about.config
        ports = await asyncio.to_thread(self.about.open_ports, self.lend)
        return await aattach_files(
            messages,
            provider=config.provider,
            model=config.model,
            request_refs=self.refs,
            ports=ports,
        )


def make_files_input(
    frame: Frame, host: HostParts, title: str, config: ModelConfig, *, is_asked: bool
) -> FilesInput | None:
    """None for a node without such an input.  is_asked: whether the config's own model is, and not a
    script in its place, for which nothing is uploaded.

    A host that lends no ports is no error: the model is told of each file that it cannot read.
    """
    if not title:
        return None
    return FilesInput(
        frame=frame, title=title, config=config, lent=host.attachments_for if is_asked else None
    )


def read_files(
    files: FilesInput | None, values: Mapping[str, Any], context: object
) -> QuestionFiles | None:
    """The files of one visit; None where the node has no such input, or nothing is in it."""
    return None if files is None else files.read(values, context)


# ----------------------------------------------------------------------------
# The context of a first turn before the prompt of a node that asks a model.
#
# In: the two names of a node's record, and the reader that the host lends.  Out: the text for the
# values of one visit.
#
#     ("image_id", "photos")   {"image_id": "img-7"}   ->   "# Context of the first turn, version 1 …"
#
# A file names an input and a word; which folder a word means, only the host knows.  The text is read
# each time that the model is asked, and stands in no record of the effect: notes that change between
# a crash and the next try must not make another effect of the same one.


Opened: TypeAlias = "tuple[str, str] | None"
"""The input with the image's id, and the workspace: an input, or a word of the file; None: the node
has no context.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstTurnOpening:
    """Reads the context for one node."""

    frame: Frame
    readers: FirstTurnReaders
    image_id: str
    workspace: str

    def read(self, values: Mapping[str, Any]) -> str:
        """The text; values: those of the node's inputs.

        Raises: `NodeFailed`.
        """
        image_id = values.get(self.image_id)
        if not isinstance(image_id, str):
            raise self.frame.failed(f"its input '{self.image_id}' is no image's id: it is no text")
        workspace = values.get(self.workspace, self.workspace) or ANY_WORKSPACE
        reader = find_reader(self.readers, workspace)
        if reader is None:
            raise self.frame.failed(
                "the host lends no reader for this workspace", hint="HostParts(first_turn={…})"
            )
        text, problem = read_text(reader, image_id)
        if problem:
            raise self.frame.failed(f"the first turn: {problem}")
        return text


def make_opening(
    frame: Frame, host: HostParts, opened: Opened, *, simulated: bool
) -> FirstTurnOpening | None:
    """simulated: the calls of the run are made up.

    Raises: `NotConfigured` where a model would be told the context, and the host lends no reader.
    """
    if opened is None:
        return None
    if not host.first_turn:
        if simulated and not host.models:
            return None  # a simulation is told no context, so it needs none
        raise NotConfigured(
            f"node '{frame.where}' begins with the context of a first turn, which this process cannot "
            "read",
            hint="give a reader with HostParts(first_turn=…); at the command line, --host MODULE:FACTORY",
        )
    return FirstTurnOpening(
        frame=frame, readers=host.first_turn, image_id=opened[0], workspace=opened[1]
    )


def read_opening(opening: FirstTurnOpening | None, state: Mapping[str, Any]) -> str:
    """The text for one visit; empty where the node has no context."""
    return "" if opening is None else opening.read(opening.frame.gather(state))
