"""Files that go with a question to a model: refs, never bytes.

    refs.py          AttachmentRef: what a caller may say of a file, read strictly
    capabilities.py  which provider's models read which types and sizes, as data
    ports.py         what the host lends: a cache of uploads, and the upload
    resolving.py     refs -> parts that the model reads, and files that it cannot read, with reasons
    manifest.py      the note about the latter in the system prompt;  one_line.py  strangers' words in it
    turns.py         a whole conversation: which turn carries which file; the one way in
    parts.py         the parts as each provider's request has them
    blocks.py        the same as content blocks of LangChain;  messages.py  in a whole conversation
    file_names.py    the name under which a file is uploaded
    envelope.py      a user's text that is an envelope of text and refs
    resuming.py      a person's answer with refs, through a channel of text
    answer_rules.py  which answer reaches which call as an envelope
    errors.py        what a caller gets wrong

All modules are pure: no network, no database, no engine.  Uploads to providers are in
`cinatra_sdk.models.uploads`, bytes and the cache in `cinatra_sdk.store.attachments`.
docs/attachments.md walks one file through them.
"""

from __future__ import annotations

from cinatra_sdk.attachments.answer_rules import (
    AnswerRule,
    BridgeCall,
    find_answer_rules,
    wrap_answer,
)
from cinatra_sdk.attachments.blocks import (
    join_blocks,
    model_arguments,
    write_blocks,
    write_file_blocks,
)
from cinatra_sdk.attachments.capabilities import (
    RULES,
    CapabilityRule,
    NotReadable,
    find_capability,
    find_provider,
)
from cinatra_sdk.attachments.envelope import UserEnvelope, read_user_envelope
from cinatra_sdk.attachments.errors import AttachmentRefInvalid, UserEnvelopeInvalid
from cinatra_sdk.attachments.manifest import place_manifest, write_manifest
from cinatra_sdk.attachments.messages import AttachedMessages, aattach_files, attach_files
from cinatra_sdk.attachments.parts import list_betas, write_content
from cinatra_sdk.attachments.ports import AsyncAttachmentPorts, AttachmentPorts, CachedFile
from cinatra_sdk.attachments.refs import MAX_REFS, AttachmentRef, read_ref, read_refs
from cinatra_sdk.attachments.resolving import (
    NO_PORTS,
    FilePart,
    Resolved,
    UnreadableFile,
    aresolve_attachments,
    resolve_attachments,
)
from cinatra_sdk.attachments.resuming import ResumedAnswer, read_resume, wrap_resume
from cinatra_sdk.attachments.turns import (
    ChatTurn,
    PreparedTurn,
    PreparedTurns,
    aprepare_turns,
    prepare_turns,
    strip_resolved,
)

__all__ = [
    "AttachmentRef",
    "read_ref",
    "read_refs",
    "MAX_REFS",
    "CapabilityRule",
    "NotReadable",
    "RULES",
    "find_capability",
    "find_provider",
    "AttachmentPorts",
    "AsyncAttachmentPorts",
    "CachedFile",
    "Resolved",
    "FilePart",
    "UnreadableFile",
    "NO_PORTS",
    "resolve_attachments",
    "aresolve_attachments",
    "write_manifest",
    "place_manifest",
    "ChatTurn",
    "PreparedTurn",
    "PreparedTurns",
    "prepare_turns",
    "aprepare_turns",
    "strip_resolved",
    "write_content",
    "list_betas",
    "join_blocks",
    "write_blocks",
    "write_file_blocks",
    "model_arguments",
    "AttachedMessages",
    "attach_files",
    "aattach_files",
    "UserEnvelope",
    "read_user_envelope",
    "ResumedAnswer",
    "read_resume",
    "wrap_resume",
    "AnswerRule",
    "BridgeCall",
    "find_answer_rules",
    "wrap_answer",
    "AttachmentRefInvalid",
    "UserEnvelopeInvalid",
]
