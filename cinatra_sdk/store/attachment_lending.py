"""The attached files of a database for the models that stored runs ask.

    lend = lend_stored_files(database, host)
    lend(RunIdentity(id="r1", tenant="acme"), config)     the ports of "acme", under the key of the model
    lend(RunIdentity(id="r1"), config)                    None: a run without a tenant reads no file

Where the host lends the chat model itself, nothing is uploaded: nobody here knows its provider and key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.lending.host_parts import AttachmentsFor, HostParts, RunIdentity
from cinatra_sdk.models.choosing import ask_key, find_lent
from cinatra_sdk.models.config import ModelConfig
from cinatra_sdk.models.connecting import find_key
from cinatra_sdk.postgres.database import Database

if TYPE_CHECKING:
    from cinatra_sdk.attachments import AttachmentPorts
    from cinatra_sdk.models.uploads import ProviderFiles


def lend_stored_files(database: Database, host: HostParts) -> AttachmentsFor:
    """What a process lends that says nothing else of its files."""

    def lend(run: RunIdentity, config: ModelConfig) -> AttachmentPorts | None:
        # Late: most runs have no files.
        from cinatra_sdk.store.attachments import AttachmentStore

        return AttachmentStore(database).ports(run.tenant, _open_files(host, config))

    return lend


def _open_files(host: HostParts, config: ModelConfig) -> dict[str, ProviderFiles]:
    from cinatra_sdk.models.uploads import open_provider_files

    try:
        if find_lent(config, host.models) is not None:
            return {}
        return open_provider_files(config, ask_key(config, host.api_key_for) or find_key(config))
    except NotConfigured:
        return {}
