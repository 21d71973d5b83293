"""Registries of packs: a reference names one exact version, which never changes.

    FolderRegistry("packs").load("ctxpack.support@5.2.0", tenant="acme")     ->  a ContextPack

    packs/ctxpack.support@5.2.0.json            a pack
    packs/decision-catalog.support@2.1.0.json   a catalog of decisions

The registry in Postgres is `cinatra_sdk.store.evidence.governance_sources`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Final, Protocol, TypeAlias, runtime_checkable

from cinatra_sdk.data.text.author_files import read_unlinked
from cinatra_sdk.data.version_ranges import is_range, satisfies
from cinatra_sdk.governance.contracts.context_pack import ContextPack, DecisionCatalog
from cinatra_sdk.governance.contracts.record_format import SEMVER
from cinatra_sdk.governance.contracts.refusals import GovernanceRefused

Published: TypeAlias = ContextPack | DecisionCatalog
PACK_PREFIX: Final = "ctxpack."
CATALOG_PREFIX: Final = "decision-catalog."
EVERY_TENANT: Final = "*"
MOST_BYTES: Final = 4_000_000
_FOLDER: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")
"""A tenant's name that can be that of a folder; another has none of its own."""
_REF: Final = re.compile(rf"[A-Za-z0-9_.:-]+@{SEMVER}")


class PackRegistry(Protocol):
    """Safe to share between threads."""

    def load(self, ref: str, *, tenant: str) -> Published:
        """The pack, or catalog, that a pinned reference names.

        Raises: `GovernanceRefused` (PACK_REF_UNPINNED, PACK_NOT_FOUND, PACK_TENANT_MISMATCH).
        """
        ...


@runtime_checkable
class KnowsNewest(Protocol):
    """A registry that a host needs which names no packs itself (`Governance(pack_refs=…)`)."""

    def find_newest(self, ref: str, *, tenant: str) -> str:
        """The reference of the newest version under the same name that the tenant may use.

        Raises: `GovernanceRefused` (PACK_INVALID) where a newer one cannot be read.
        """
        ...


def require_newest(refs: Iterable[str], registry: PackRegistry, tenant: str) -> None:
    """Of rules that a request names itself: an older version may be laxer than the one that holds now.

    Raises: `GovernanceRefused` (PACK_UNVOUCHED).
    """
    hint = "let the host name its packs: Governance(pack_refs=('id@1.2.3',))"
    for ref in refs:
        if not isinstance(registry, KnowsNewest):
            raise GovernanceRefused(
                "PACK_UNVOUCHED",
                f"the request chose {_quote(ref)}, and the registry does not tell whether it is the newest",
                hint=f"{hint}, or give the registry a find_newest",
            )
        newest = registry.find_newest(ref, tenant=tenant)
        if newest != ref:
            raise GovernanceRefused(
                "PACK_UNVOUCHED",
                f"the request chose {_quote(ref)}, and {_quote(newest)} is published",
                hint=f"name the newest version, or {hint}",
            )


def version_of(ref: str) -> tuple[int, ...]:
    """Of a pinned reference; as numbers, so that 10 is newer than 9."""
    return tuple(int(number) for number in ref.rpartition("@")[2].split("."))


def pick_newest(ref: str, known: Iterable[str]) -> str:
    """Of references, the newest under the name of `ref`; `ref` itself where none is newer."""
    name = ref.rpartition("@")[0]
    named = [one for one in known if one.rpartition("@")[0] == name and _REF.fullmatch(one)]
    return max([ref, *named], key=version_of)


def require_pinned(ref: object, place: str = "") -> None:
    """Raises: `GovernanceRefused` (PACK_REF_UNPINNED) unless `ref` is `id@1.2.3`."""
    if not isinstance(ref, str) or len(ref) > 300 or not _REF.fullmatch(ref):
        where = f"{place}: " if place else ""
        raise GovernanceRefused(
            "PACK_REF_UNPINNED",
            f"{where}{_quote(ref)} names no exact version",
            hint="write id@1.2.3: no range, no tag, no leading zeros",
        )


def read_published(ref: str, text: str) -> Published:
    """The pack or catalog in a JSON text, by the prefix of its reference.

    Raises: `GovernanceRefused`: PACK_NOT_FOUND for another prefix, PACK_INVALID for another content.
    """
    kind = kind_of(ref)
    try:
        made = kind.read_json_text(text, code="PACK_INVALID")
    except GovernanceRefused as refused:
        problem = refused.message
    else:
        if made.ref == ref:
            return made
        problem = f"it holds '{made.ref}'"
    raise GovernanceRefused("PACK_INVALID", f"'{ref}': {problem}")


def kind_of(ref: str) -> type[ContextPack | DecisionCatalog]:
    if ref.startswith(PACK_PREFIX):
        return ContextPack
    if ref.startswith(CATALOG_PREFIX):
        return DecisionCatalog
    raise GovernanceRefused(
        "PACK_NOT_FOUND",
        f"{_quote(ref)} is of no known kind",
        hint=f"a pack and its file are named {PACK_PREFIX}NAME@1.2.3, a catalog {CATALOG_PREFIX}NAME@1.2.3",
    )


def owner_of(published: Published) -> str:
    return published.pack_meta.tenant if isinstance(published, ContextPack) else published.tenant


def require_tenant(published: Published, tenant: str) -> None:
    """Raises: `GovernanceRefused` (PACK_TENANT_MISMATCH)."""
    if owner_of(published) not in (tenant, EVERY_TENANT):
        raise GovernanceRefused(
            "PACK_TENANT_MISMATCH", f"'{published.ref}' is not for the tenant of the request"
        )


class MemoryRegistry:
    """Packs that a program holds, by their tenants; the shipped double.

    The same reference may stand for another pack of each tenant; a tenant's own comes before that of
    every tenant.
    """

    def __init__(self, packs: Iterable[Published] = ()) -> None:
        self._packs: Mapping[tuple[str, str], Published] = {
            (owner_of(one), one.ref): one for one in packs
        }

    def load(self, ref: str, *, tenant: str) -> Published:
        require_pinned(ref)
        kind_of(ref)
        for owner in (tenant, EVERY_TENANT):
            found = self._packs.get((owner, ref))
            if found is not None:
                return found
        for (_, known), other in self._packs.items():
            if known == ref:
                require_tenant(other, tenant)
        raise not_found(ref)

    def find_newest(self, ref: str, *, tenant: str) -> str:
        return pick_newest(
            ref, (known for owner, known in self._packs if owner in (tenant, EVERY_TENANT))
        )


class FolderRegistry:
    """Packs in a folder, a JSON file each; read anew whenever one is asked for.

    `packs/acme/ctxpack.mail@1.0.0.json` is the tenant's acme, and comes before `packs/ctxpack.mail@1.0.0.json`.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    def load(self, ref: str, *, tenant: str) -> Published:
        require_pinned(ref)
        kind_of(ref)
        # A pinned reference has no separator of folders, so the name stays in the folder.
        if _FOLDER.fullmatch(tenant):
            own = self._read(self._folder / tenant, ref)
            if own is not None:
                require_tenant(own, tenant)
                return own
        found = self._read(self._folder, ref)
        if found is None:
            self._require_folder(ref)
            raise not_found(ref)
        require_tenant(found, tenant)
        return found

    def find_newest(self, ref: str, *, tenant: str) -> str:
        folders = [self._folder]
        if _FOLDER.fullmatch(tenant):
            folders.append(self._folder / tenant)
        known = {
            file.name.removesuffix(".json")
            for folder in folders
            if folder.is_dir()
            for file in folder.iterdir()
            if file.name.endswith(".json")
        }
        while True:
            newest = pick_newest(ref, known)
            if newest == ref:
                return ref
            try:
                self.load(newest, tenant=tenant)
            except GovernanceRefused as refused:
                if refused.code != "PACK_TENANT_MISMATCH":
                    raise
                known.discard(newest)  # another tenant's: it says nothing about this one
            else:
                return newest

    def _require_folder(self, ref: str) -> None:
        if not self._folder.is_dir():
            is_there = self._folder.exists() or self._folder.is_symlink()
            raise GovernanceRefused(
                "PACK_NOT_FOUND",
                f"no registry has {_quote(ref)}: its folder '{self._folder}' is "
                f"{'no folder' if is_there else 'not there'}",
                hint="FolderRegistry takes a path from where the process works, or a whole one",
            )

    def _read(self, folder: Path, ref: str) -> Published | None:
        """None where there is no such file."""
        problem = ""
        try:
            content = read_unlinked(folder / f"{ref}.json", MOST_BYTES + 1)
            text = content.decode("utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except UnicodeDecodeError:
            problem = f"'{ref}' is no UTF-8"
        except OSError as error:
            problem = f"'{ref}' cannot be read: {error.strerror}"
        else:
            problem = (
                f"'{ref}' has more than {MOST_BYTES} bytes" if len(content) > MOST_BYTES else ""
            )
        if problem:
            raise GovernanceRefused("PACK_INVALID", problem)
        return read_published(ref, text)


def not_found(ref: str) -> GovernanceRefused:
    return GovernanceRefused(
        "PACK_NOT_FOUND",
        f"no registry has {_quote(ref)}",
        hint="put its file into the folder of the registry, or publish it: oasflow packs publish FILE",
    )


def _quote(ref: object) -> str:
    return f"'{str(ref)[:120]}'"


# ----------------------------------------------------------------------------
# Whether packs fit this runtime, and each other.
#
#     `{"requires": {"oasflow": ">=0.1 <1", "ctxpack.base": "^2.1.0", "contextos.pack": "^2.0.0"}}`
#
# A name that is neither a contract of this runtime nor a pack of the same request is not there.


CONTRACTS: Final = {
    "contextos.pack": "2.0.0",
    "contextos.tool_call": "1.0.0",
    "contextos.tool_result": "1.0.0",
    "contextos.decision_record": "1.0.0",
}
"""What this runtime speaks."""


@cache
def _read_own_version() -> str:
    return version("oasflow")


def _require_contract(pack: ContextPack) -> None:
    meta = pack.contract_meta
    known = CONTRACTS[meta.contract_name]
    if not satisfies(known, f"^{meta.contract_version}"):
        raise GovernanceRefused(
            "PACK_INCOMPATIBLE",
            f"'{pack.ref}' is written for {meta.contract_name} {meta.contract_version}, "
            f"and {known} is there",
        )


def require_compatible(packs: Iterable[Published]) -> None:
    """Raises: `GovernanceRefused` (PACK_INCOMPATIBLE), which names the pack and what it needs."""
    every = tuple(packs)
    there = {**CONTRACTS, "oasflow": _read_own_version()}
    there.update(one.ref.rpartition("@")[::2] for one in every)
    for one in every:
        if isinstance(one, ContextPack):
            _require_contract(one)
        meta = (
            one.contract_meta.compatibility if isinstance(one, ContextPack) else one.compatibility
        )
        for name, wanted in meta.requires.items():
            found = there.get(name)
            if found is None:
                problem = "which is not there"
            elif not is_range(wanted):
                problem = "which is no range of versions"
            elif not satisfies(found, wanted):
                problem = f"and {found} is there"
            else:
                continue
            raise GovernanceRefused(
                "PACK_INCOMPATIBLE", f"'{one.ref}' needs {name[:100]} {wanted[:100]}, {problem}"
            )
