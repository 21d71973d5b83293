"""A pack is its tenant's, in the database as elsewhere: the same reference may be another of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cinatra_sdk import RunStore
from cinatra_sdk.governance.contracts.context_pack import ContextPack
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused
from cinatra_sdk.governance.packs.pack_registry import FolderRegistry
from cinatra_sdk.store.evidence.governance_sources import StoredPacks
from tests.governance.packs import put
from tests.governance.small_pack import make_small_pack

REF = "ctxpack.small@1.0.0"


def make_pack(tenant: str, mode: str) -> ContextPack:
    return ContextPack.read(put(make_small_pack(safety=mode).to_json(), "pack_meta/tenant", tenant))


def read_mode(found: Any) -> str:
    return str(found.pack_meta.environment_defaults.safety_mode)


def test_a_reference_stands_for_the_pack_of_whoever_asks(fresh_database: str) -> None:
    with RunStore.open(fresh_database) as store:
        packs = StoredPacks(store.database)
        assert packs.publish(make_pack("acme", "network"), by="ann")
        assert packs.publish(make_pack("globex", "read_only"), by="bob")
        assert not packs.publish(make_pack("acme", "network"), by="ann")
        assert read_mode(packs.load(REF, tenant="acme")) == "network"
        assert read_mode(packs.load(REF, tenant="globex")) == "read_only"
        with pytest.raises(GovernanceRefused) as caught:
            packs.load(REF, tenant="initech")
        assert caught.value.code == "PACK_TENANT_MISMATCH"
        assert [one.tenant for one in packs.list_entries()] == ["acme", "globex"]
        assert [one.tenant for one in packs.list_entries(tenant="acme")] == ["acme"]
        assert packs.list_entries(tenant="initech") == []
        newer = put(make_pack("acme", "network").to_json(), "pack_meta/pack_version", "1.10.0")
        assert packs.publish(ContextPack.read(newer), by="ann")
        assert packs.find_newest(REF, tenant="acme") == "ctxpack.small@1.10.0"
        assert packs.find_newest(REF, tenant="globex") == REF


@pytest.mark.parametrize("mode", ["network", "local_write"])
def test_a_version_that_runs_of_a_tenant_use_already_is_not_published_over(
    fresh_database: str, mode: str
) -> None:
    with RunStore.open(fresh_database) as store:
        packs = StoredPacks(store.database)
        packs.publish(make_pack("*", "read_only"), by="ann")
        with pytest.raises(GovernanceRefused, match="published with another content") as caught:
            packs.publish(make_pack("acme", mode), by="bob")
        assert caught.value.code == "PACK_INVALID"
        assert read_mode(packs.load(REF, tenant="acme")) == "read_only"


def test_that_of_everybody_changes_nothing_for_who_has_an_own(fresh_database: str) -> None:
    with RunStore.open(fresh_database) as store:
        packs = StoredPacks(store.database)
        packs.publish(make_pack("acme", "read_only"), by="bob")
        assert packs.publish(make_pack("*", "network"), by="ann")
        assert read_mode(packs.load(REF, tenant="acme")) == "read_only"
        assert read_mode(packs.load(REF, tenant="globex")) == "network"


@pytest.mark.parametrize("tenant", ["..", ".", "a/b", "", "a\x00b", "C:", ".hidden"])
def test_a_tenants_name_leads_to_no_other_folder(tmp_path: Path, tenant: str) -> None:
    (tmp_path / "packs").mkdir()
    outside = tmp_path / f"{REF}.json"
    outside.write_text(make_pack("*", "network").model_dump_json(by_alias=True))
    with pytest.raises(GovernanceRefused) as caught:
        FolderRegistry(tmp_path / "packs").load(REF, tenant=tenant)
    assert caught.value.code == "PACK_NOT_FOUND"
