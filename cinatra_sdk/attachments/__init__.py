"""Files that go with a question to a model: refs, never bytes.

attachment_refs.py        `AttachmentRef`, one file, read strictly; the errors of a caller
envelope.py               a user's text with refs, as JSON; a person's answer with refs
turns.py                  the files of a whole conversation: the entrance for all that ask models
provider_capabilities.py  which provider's models read which types and sizes, as data
uploads.py                the host's ports; refs -> files of the provider, or reasons why not
content_blocks.py         files of a provider as content blocks, and as parts of its requests
manifest.py               the note in the system prompt about files that the model cannot read

All modules are pure: no network, no database, no engine.  Uploads to providers are in
`cinatra_sdk.outside.models.uploads`, bytes and the cache in `cinatra_sdk.store.artifacts.attachment_store`.
docs/attachments.md walks one file through them.
"""

from __future__ import annotations

from cinatra_sdk.attachments.attachment_refs import (
    MAX_REFS,
    AttachmentRef,
    AttachmentRefInvalid,
    UserEnvelopeInvalid,
    read_ref,
    read_refs,
)
from cinatra_sdk.attachments.content_blocks import (
    join_blocks,
    list_betas,
    model_arguments,
    write_blocks,
    write_content,
    write_file_blocks,
)
from cinatra_sdk.attachments.envelope import (
    AnswerRule,
    BridgeCall,
    ResumedAnswer,
    UserEnvelope,
    find_answer_rules,
    read_resume,
    read_user_envelope,
    wrap_answer,
    wrap_resume,
)
from cinatra_sdk.attachments.manifest import place_manifest, write_manifest
from cinatra_sdk.attachments.provider_capabilities import (
    RULES,
    CapabilityRule,
    NotReadable,
    find_capability,
    find_provider,
)
from cinatra_sdk.attachments.turns import (
    AttachedMessages,
    ChatTurn,
    PreparedTurn,
    PreparedTurns,
    aattach_files,
    aprepare_turns,
    attach_files,
    prepare_turns,
    strip_resolved,
)
from cinatra_sdk.attachments.uploads import (
    NO_PORTS,
    AsyncAttachmentPorts,
    AttachmentPorts,
    CachedFile,
    FilePart,
    Resolved,
    UnreadableFile,
    aresolve_attachments,
    resolve_attachments,
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
