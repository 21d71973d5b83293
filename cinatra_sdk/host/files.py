"""The attached files of a database, for the runs of their own tenant.

    lend_files(database, offer)(RunOwner(tenant="acme"), gpt)    the ports of "acme", under gpt's key
    lend_files(database, offer)(RunOwner(), gpt)                 None: nobody's run reads a file

Bytes go to the provider that answers, and to no other: not where the host's own chat model answers, nor
where the client of the provider is led to another address, whose key is not the provider's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from cinatra_sdk.attachments import AttachmentPorts
from cinatra_sdk.bridge.offered import Offer, OfferedModel
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.models.uploads import AnthropicFiles, GeminiFiles, OpenAiFiles, ProviderFiles
from cinatra_sdk.postgres.database import Database
from cinatra_sdk.routed.call import RunOwner
from cinatra_sdk.store.attachments import AttachmentStore


@dataclass(frozen=True, slots=True)
class _Provider:
    files: Callable[[str], ProviderFiles]
    elsewhere: tuple[str, ...]
    """Variables by which the provider's client is led to another address."""


_PROVIDERS: Final[Mapping[str, _Provider]] = {
    "openai": _Provider(OpenAiFiles, ("OPENAI_BASE_URL", "OPENAI_API_BASE")),
    "anthropic": _Provider(AnthropicFiles, ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_URL")),
    "gemini": _Provider(GeminiFiles, ("GOOGLE_GEMINI_BASE_URL",)),
}


def lend_files(
    database: Database, offer: Offer
) -> Callable[[RunOwner, OfferedModel], AttachmentPorts | None]:
    """The ports of a run's tenant, which upload to the provider of the chosen model."""
    store = AttachmentStore(database)

    def lend(owner: RunOwner, model: OfferedModel) -> AttachmentPorts | None:
        files = _open_files(offer, model)
        return store.ports(owner.tenant, {} if files is None else {model.provider: files})

    return lend


def _open_files(offer: Offer, model: OfferedModel) -> ProviderFiles | None:
    """None where this process uploads nothing for the model; the note to the model says so."""
    known = _PROVIDERS.get(model.provider)
    if known is None or model.stands_in or model.config.url:
        return None
    if any(os.environ.get(name) for name in known.elsewhere):
        return None
    try:
        if offer.is_lent(model):
            return None
        key = offer.find_key(model)
        return known.files(key) if key else None
    except (NotConfigured, ValueError):
        return None
