"""The attached files of a database, for the runs of their own tenant.

lend_files(database, offer)(RunOwner(tenant="acme"))     the ports of "acme", under the offer's keys
lend_files(database, offer)(RunOwner())                  None: nobody's run reads a file
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from cinatra_sdk.attachments import AttachmentPorts
from cinatra_sdk.bridge.offered import Offer
from cinatra_sdk.models.choosing import ask_key
from cinatra_sdk.models.connecting import find_key
from cinatra_sdk.models.uploads import AnthropicFiles, GeminiFiles, OpenAiFiles, ProviderFiles
from cinatra_sdk.postgres.database import Database
from cinatra_sdk.routed.call import RunOwner
from cinatra_sdk.store.attachments import AttachmentStore

_FILES: Final[Mapping[str, Callable[[str], ProviderFiles]]] = {
    "openai": OpenAiFiles,
    "anthropic": AnthropicFiles,
    "gemini": GeminiFiles,
}


def lend_files(database: Database, offer: Offer) -> Callable[[RunOwner], AttachmentPorts | None]:
    """The ports of a run's tenant; uploads go to the providers whose keys this process has."""
    store = AttachmentStore(database)

    def lend(owner: RunOwner) -> AttachmentPorts | None:
        return store.ports(owner.tenant, _list_providers(offer))

    return lend


def _list_providers(offer: Offer) -> dict[str, ProviderFiles]:
    found: dict[str, ProviderFiles] = {}
    for model in offer.models:
        make = _FILES.get(model.provider)
        # A server at an address of its own does not have the files of the provider.
        if make is None or model.stands_in or model.config.url or model.provider in found:
            continue
        key = ask_key(model.config, offer.api_key_for) or find_key(model.config)
        if key:
            found[model.provider] = make(key)
    return found
