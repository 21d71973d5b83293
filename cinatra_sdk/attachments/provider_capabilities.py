"""Which files a provider's model reads, as data: the first rule for provider and model decides.

    find_capability("anthropic", "claude-opus-4", ref_of_a_pdf)
        -> CapabilityRule(provider="anthropic", …, native_kind="anthropic_document")
    find_capability("anthropic", "claude-opus-4", ref_of_a_word_file)
        -> NotReadable('anthropic reads no files of the type "application/msword"')

A ref is refused for the lack of a rule first, then for its type, then for its size.  A host gives rules
of its own in place of `RULES`.  Formats of office programs and archives stand in no rule: no provider
reads them as they are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Final, Literal

from cinatra_sdk.attachments.attachment_refs import AttachmentRef
from cinatra_sdk.light_imports.records import dataclass

Provider = Literal["openai", "anthropic", "gemini"]
NativeKind = Literal["openai_input_file", "anthropic_document", "gemini_file_data"]
"""How a provider's request names an uploaded file; see `content_blocks.py`."""

_MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class CapabilityRule:
    """The types and sizes of files that one family of models reads."""

    provider: Provider
    models: str
    """Pattern that a model's name begins with, in capital or small letters."""
    mimes: tuple[str, ...]
    """Types in small letters; `image/*` stands for all that begin with `image/`."""
    max_bytes: int
    native_kind: NativeKind
    ttl: timedelta
    """How long an upload may be used again."""

    def covers(self, provider: str, model: str) -> bool:
        return provider == self.provider and re.match(self.models, model, re.IGNORECASE) is not None

    def takes(self, mime: str) -> bool:
        """Whether the type is one of the rule's.  A parameter is part of the type: `text/plain;
        charset=utf-8` is not `text/plain`.
        """
        lower = mime.lower()
        return any(
            lower.startswith(known[:-1]) if known.endswith("/*") else lower == known
            for known in self.mimes
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NotReadable:
    """Why no rule takes a ref."""

    reason: str


_DOCUMENTS: Final = (
    "application/pdf", "text/plain", "text/markdown", "text/csv", "application/json", "image/*",
)  # fmt: skip

RULES: Final[tuple[CapabilityRule, ...]] = (
    CapabilityRule(
        provider="openai", models="gpt-(5|4o)", mimes=_DOCUMENTS, max_bytes=32 * _MIB,
        native_kind="openai_input_file", ttl=timedelta(hours=6),
    ),
    CapabilityRule(
        provider="anthropic", models="claude", mimes=_DOCUMENTS, max_bytes=32 * _MIB,
        native_kind="anthropic_document", ttl=timedelta(hours=6),
    ),
    CapabilityRule(
        provider="gemini", models="gemini", mimes=(*_DOCUMENTS, "audio/*", "video/*"),
        max_bytes=100 * _MIB, native_kind="gemini_file_data", ttl=timedelta(hours=47),
    ),
)  # fmt: skip

PROVIDER_NAMES: Final[Mapping[str, Provider]] = MappingProxyType(
    {
        "openai": "openai",
        "anthropic": "anthropic",
        "gemini": "gemini",
        "google": "gemini",
        "google_genai": "gemini",
    }
)
"""What files and libraries call the providers.  A server that only speaks as OpenAI does is not here:
it does not have the files that OpenAI has.
"""


def find_provider(name: str) -> str:
    """The provider's name in the rules; a name that is not known stays, and no rule takes it."""
    return PROVIDER_NAMES.get(name.strip().lower(), name)


def find_capability(
    provider: str, model: str, ref: AttachmentRef, *, rules: Sequence[CapabilityRule] = RULES
) -> CapabilityRule | NotReadable:
    """The rule that takes the ref, or the reason why none does."""
    rule = next((rule for rule in rules if rule.covers(provider, model)), None)
    if rule is None:
        return NotReadable(
            reason=f'the model "{model}" of {provider or "no provider"} reads no attached files'
        )
    if not rule.takes(ref.mime):
        return NotReadable(reason=f'{provider} reads no files of the type "{ref.mime}"')
    if ref.size is not None and ref.size > rule.max_bytes:
        return NotReadable(
            reason=f"the file has {ref.size} bytes, and {provider} takes {rule.max_bytes} at most"
        )
    return rule
