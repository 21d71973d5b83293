"""The attached files of a database for the bridge: those of the calling run's own tenant.

    lend_files(database, offer)(RunOwner(tenant="acme"), gpt)    the ports of "acme", under gpt's key
    lend_files(database, offer)(RunOwner(), gpt)                 None: nobody's run reads a file

Nothing is uploaded where the host's own chat model answers: nobody here knows its provider and key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from cinatra_sdk.attachments import AsyncAttachmentPorts, AttachmentPorts
from cinatra_sdk.bridge.offered import Offer, OfferedModel
from cinatra_sdk.errors import NotConfigured
from cinatra_sdk.lending.host_parts import NO_PARTS, HostParts, RunIdentity
from cinatra_sdk.models.uploads import ProviderFiles, open_provider_files
from cinatra_sdk.postgres.database import Database
from cinatra_sdk.routed.call import RunOwner
from cinatra_sdk.store.attachments import AttachmentStore

Ports: TypeAlias = "AttachmentPorts | AsyncAttachmentPorts | None"


def lend_files(
    database: Database, offer: Offer, host: HostParts = NO_PARTS
) -> Callable[[RunOwner, OfferedModel], Ports]:
    """The ports of a run's tenant, which upload to the provider of the chosen model.

    A host that lends `attachments_for` decides in their place, for runs that have a tenant.
    """
    store, own = AttachmentStore(database), host.attachments_for

    def lend(owner: RunOwner, model: OfferedModel) -> Ports:
        if not owner.tenant:
            return None  # also a host's own function could not tell whose files to lend
        if own is not None:
            run = RunIdentity(id=owner.run_id, tenant=owner.tenant, started_by=owner.person)
            return own(run, model.config)
        return store.ports(owner.tenant, _open_files(offer, model))

    return lend


def _open_files(offer: Offer, model: OfferedModel) -> Mapping[str, ProviderFiles]:
    """Empty where this process uploads nothing for the model; the note to the model says so."""
    try:
        if offer.is_lent(model):
            return {}
        return open_provider_files(model.config, offer.find_key(model))
    except NotConfigured:
        return {}
