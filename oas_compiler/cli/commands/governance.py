"""`oasflow records`, `replay` and `export`: decision records and evidence, for auditors; `packs`, `memory`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cinatra_sdk.data.text.author_files import read_named, replace_file
from cinatra_sdk.data.text.message_words import say_number
from cinatra_sdk.errors import FlowError, RunNotFound
from cinatra_sdk.light_imports.records import dataclass
from oas_compiler.cli.host import options, resources
from oas_compiler.cli.host.options import DriveOptions, StoreOptions
from oas_compiler.cli.host.resources import find_parts
from oas_compiler.cli.terminal.exits import Exit, Halt
from oas_compiler.cli.terminal.printable_text import clean
from oas_compiler.cli.terminal.streams import Terminal

if TYPE_CHECKING:
    from cinatra_sdk.governance.packs.pack_registry import PackRegistry, Published
    from cinatra_sdk.governance.records.record_maker import Signer
    from cinatra_sdk.store.evidence.decision_records import DecisionRecords, StoredRecord
    from cinatra_sdk.store.run_store import RunStore


MOST_BYTES: Final = 2_000_000_000
"""Of an export."""
MOST_KEY_BYTES: Final = 100_000
Named = Annotated[
    str, typer.Argument(metavar="[RECORD|RUN]", help="A record, or all records of a run.")
]
Packs = Annotated[
    Path | None,
    typer.Option(
        "--packs", metavar="DIR", help="Where the packs are; default: those in the database."
    ),
]


MANY: Final = 50
_LISTING: Final = ("--status", "--limit", "--after")
_STRAYS: Final = (
    ("--verifier", ("--verify", "--export", "RUN", *_LISTING, "--transcripts"), "it prints a program, of no records"),
    ("--verify", ("--export", "RECORD", *_LISTING, "--transcripts"), "it reads a file, and all of it"),
    ("--export", ("RECORD", *_LISTING), "it writes whole chains, of a run or of all"),
    ("RECORD", _LISTING, "they are for a list"),
)  # fmt: skip
"""What does not go with what, and why: an option that is left out in silence would be believed."""


class RecordStatusName(StrEnum):
    DECIDED = "DECIDED"
    DEFERRED = "DEFERRED"
    REJECTED = "REJECTED"
    ESCALATED = "ESCALATED"
    IN_FLIGHT = "IN_FLIGHT"
    CLOSED = "CLOSED"


def records(
    name: Named = "",
    *,
    status: Annotated[
        RecordStatusName | None, typer.Option(help="Only records of this status.")
    ] = None,
    export: Annotated[
        str,
        typer.Option(
            "--export", metavar="FILE", help="Write whole chains as JSON Lines; - is stdout."
        ),
    ] = "",
    transcripts: Annotated[
        bool, typer.Option("--transcripts", help="With what each record was made from.")
    ] = False,
    verify: Annotated[
        Path | None, typer.Option("--verify", metavar="FILE", help="Verify an export.")
    ] = None,
    verifier: Annotated[
        bool,
        typer.Option("--verifier", help="Print the program that verifies exports by itself."),
    ] = False,
    hmac: Annotated[
        list[str] | None,
        typer.Option("--hmac", metavar="KID=FILE", help="--verify: a shared secret of signatures."),
    ] = None,
    ed25519: Annotated[
        list[str] | None,
        typer.Option("--ed25519", metavar="KID=FILE", help="--verify: a public key of signatures."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="How many, the newest first.")] = MANY,
    after: options.After = "",
    host: options.Host = "",
    where: StoreOptions,
) -> Exit:
    """List the decision records of governed runs, show one, export or verify them.

    An export is signed by the signer of --host; --verify demands the tenant and the run that are given.

    A record says what a run came to, who approved it, on which evidence and under which rules.
    """
    terminal = where.open_terminal()
    _refuse_strays(
        {
            "--verifier": verifier, "--verify": verify is not None, "--export": bool(export),
            "RECORD": name.startswith("dr_"), "RUN": bool(name), "--status": status is not None,
            "--limit": limit != MANY, "--after": bool(after), "--transcripts": transcripts,
        }
    )  # fmt: skip
    if verifier:
        return _print_verifier(terminal)
    if verify is not None:
        keys = _read_keys({"--hmac": hmac or [], "--ed25519": ed25519 or []})
        return _verify_export(terminal, verify, keys, {"tenant": where.tenant, "run": name})
    if hmac or ed25519:
        raise Halt("--hmac and --ed25519 are keys for --verify FILE")
    signer = _find_signer(host) if export else None
    with resources.store(terminal, where.db) as store:
        found = _open_records(store, signer)
        if export:
            run = store.find(name, tenant=where.owner) if name else None
            lines = found.export(run_id=run, tenant=where.owner, transcripts=transcripts)
            return write_export(terminal, export, lines)
        if name.startswith("dr_"):
            return _show_record(terminal, found.get(name, tenant=where.owner))
        run = store.find(name, tenant=where.owner) if name else None
        page = found.page(
            run_id=run,
            status=None if status is None else status.value,
            tenant=where.owner,
            limit=limit,
            after=after,
        )
        now = store.database.now()
    from oas_compiler.cli.view.audit_view import list_records, records_table

    listed = {"records": list_records(page.items), "next": page.next or None}
    terminal.data(listed | options.list_unreadable(page), of_run=True)
    if page.items:
        terminal.show(records_table(page.items, now))
    elif not page.unreadable:
        terminal.say("no decision records: only governed runs have them")
    options.tell_unreadable(terminal, page)
    options.tell_more(terminal, page.next)
    return Exit.OK


def _refuse_strays(given: Mapping[str, bool]) -> None:
    """given: by option, whether it was.  Raises: `Halt` for two that do not go together."""
    for what, others, why in _STRAYS:
        stray = next((one for one in others if given[what] and given[one]), "")
        if stray:
            raise Halt(f"{stray} does not go with {what}: {why}")
    if given["--transcripts"] and not given["--export"]:
        raise Halt("--transcripts is for --export FILE")


def _open_records(store: RunStore, signer: Signer | None = None) -> DecisionRecords:
    from cinatra_sdk.store.evidence.decision_records import DecisionRecords

    return DecisionRecords(store.database, signer=signer)


def _find_signer(host: str) -> Signer | None:
    """That of `--host`, or of OASFLOW_HOST.  Raises: `HostRefused`."""
    parts = find_parts(host)
    return None if parts is None or parts.governance is None else parts.governance.ports.signer


def _show_record(terminal: Terminal, stored: StoredRecord) -> Exit:
    from oas_compiler.cli.view.audit_view import record_view

    terminal.data(stored.record.to_json(), of_run=True)
    terminal.show(record_view(stored))
    return Exit.OK


def write_export(terminal: Terminal, export: str, lines: Iterable[str]) -> Exit:
    """export: the file; `-`: stdout.  Raises: `Halt`, and what the lines raise."""
    if export == "-":
        last = ""
        for line in lines:
            last = line
            terminal.reveal(line.rstrip("\n"))
        _tell_export(terminal, json.loads(last))
        return Exit.OK
    content = "".join(lines).encode()
    try:
        replace_file(export, content)
    except OSError as error:
        raise Halt(f"{clean(export)} cannot be written: {error.strerror}") from None
    last_line = json.loads(content.splitlines()[-1])
    manifest = last_line["manifest"]
    terminal.data({"records": manifest["records"], "file": export, "manifest": manifest})
    terminal.show(f"{_describe_content(manifest)} in {clean(export)}")
    _tell_export(terminal, last_line)
    terminal.say(
        "verify it with: oasflow records --verify FILE, or the program of oasflow records --verifier"
    )
    return Exit.OK


def _describe_content(manifest: Mapping[str, Any]) -> str:
    """`run r1 and 3 records`, or `3 records`."""
    records = say_number(manifest["records"], "record")
    runs = [f"run {clean(run)}" for run in manifest["evidence"]]
    return " and ".join([*runs, records] if manifest["records"] or not runs else runs)


def _tell_export(terminal: Terminal, last: dict[str, Any]) -> None:
    """What an auditor will miss."""
    for run in last["manifest"]["without_end"]:
        terminal.say(f"run {clean(run)} has no record of its end")
    for run, numbers in last["manifest"].get("unreadable", {}).items():
        named = ", ".join(map(str, numbers))
        terminal.note(f"run {clean(run)}: what stands in place of record {named} cannot be read")
    if "signature" not in last:
        terminal.say(
            "the export is not signed, so it can be cut unseen: give --host MODULE:FACTORY (or "
            "OASFLOW_HOST) whose GovernancePorts have a signer"
        )


def _print_verifier(terminal: Terminal) -> Exit:
    terminal.reveal(make_verifier().rstrip("\n"))
    return Exit.OK


def make_verifier() -> str:
    """The four files that verify, as one program."""
    from cinatra_sdk.governance.records import exact_json, run_evidence, signatures, verifier

    future = "from __future__ import annotations\n"
    head, _, program = inspect.getsource(verifier).partition(future)
    beside = (exact_json, signatures, run_evidence)
    parts = (inspect.getsource(one).partition(future)[2] for one in beside)
    return "".join([head, future, *parts, program])


def _read_keys(given: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Raises: `Halt`."""
    from cinatra_sdk.governance.records.verifier import add_key

    keys: dict[str, Any] = {}
    for option, names in given.items():
        for one in names:
            try:
                add_key(keys, option, one, read_key_file)
            except ValueError as error:
                raise Halt(clean(str(error))) from None
    return keys


def read_key_file(name: str) -> bytes:
    """Raises: `ValueError`."""
    try:
        return read_named(name, MOST_KEY_BYTES)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no file can have this name"
    raise ValueError(f"{name} cannot be read: {why}")


def _verify_export(
    terminal: Terminal, file: Path, keys: Mapping[str, Any], wanted: Mapping[str, str]
) -> Exit:
    from cinatra_sdk.governance.records.verifier import describe, list_unproved, split_lines, verify

    found = verify(split_lines(read_export(file)), keys, **wanted)
    terminal.data(
        {
            "records": found.records,
            "runs": len(found.heads),
            "evidence": sorted(found.evidence.ends),
            "told": found.evidence.told,
            "tenant": found.manifest.get("tenant"),
            "made_at": found.manifest.get("made_at"),
            "without_end": found.without_end,
            "corrections": found.corrections,
            "not_proved": [] if found.problems else list(list_unproved(found)),
            "problems": [{"line": at, "problem": problem} for at, problem in found.problems],
        }
    )
    for at, problem in found.problems:
        terminal.show(f"line {at}: {clean(problem)}")
    for line in describe(found):
        terminal.show(clean(line))
    return Exit.FINDINGS if found.problems else Exit.OK


def read_export(file: Path) -> bytes:
    """Raises: `Halt`, also for what is no UTF-8."""
    try:
        content = read_named(file, MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise Halt(f"{clean(str(file))} has more than {MOST_BYTES:,} bytes", code="too_large")
        content.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8"
        raise Halt(f"{clean(str(file))} cannot be read: {why}") from None
    return content


def replay(
    record: Annotated[str, typer.Argument(metavar="RECORD", help="A decision record, dr_….")],
    *,
    packs: Packs = None,
    packet: Annotated[
        bool, typer.Option("--packet", help="Print the ReplayPacket of the record instead.")
    ] = False,
    where: StoreOptions,
) -> Exit:
    """Derive a decision record again from what was recorded, and say what differs.

    Nothing is called.  The rules are those of the packs, by the references in the record.
    """
    from cinatra_sdk.governance.records.replay import make_replay_packet
    from cinatra_sdk.governance.records.replay import replay as replay_record
    from oas_compiler.cli.view.audit_view import describe_replay, replay_view

    terminal = Terminal.open(as_json=where.as_json or packet)
    if packs is not None and packet:
        raise Halt("--packs does not go with --packet: nothing is derived for it")
    if packs is not None and not packs.is_dir():
        raise Halt(f"--packs {clean(str(packs))} is no folder")
    with resources.store(terminal, where.db) as store:
        stored = _find_record(store, record, where.tenant)
        if packet:
            made = make_replay_packet(stored.record, stored.transcript)
            terminal.data(made.to_json(), of_run=True)
            return Exit.OK
        registry = _open_packs(store, packs)
        replayed = replay_record(stored.record, stored.transcript, registry=registry)
    terminal.data(describe_replay(replayed), of_run=True)
    terminal.show(replay_view(replayed))
    if any("PACK_NOT_FOUND" in str(one.derived) for one in replayed.differences):
        place = "the database" if packs is None else clean(str(packs))
        terminal.say(
            f"the packs of the record are not in {place}: give their folder with --packs DIR, or "
            "publish them with oasflow packs publish FILE"
        )
    return Exit.FINDINGS if replayed.differences else Exit.OK


def _find_record(store: RunStore, name: str, tenant: str) -> StoredRecord:
    """Raises: `Halt` for the name of a run, `RunNotFound`."""
    try:
        return _open_records(store).get(name, tenant=tenant or None)
    except RunNotFound as error:
        if name.startswith("dr_"):
            raise
        missing = error
    try:
        run = store.find(name, tenant=tenant or None)
    except FlowError:
        raise missing from None
    raise Halt(f"'{run}' is a run, and no record: its records are in oasflow records {run}")


def _open_packs(store: RunStore, folder: Path | None) -> PackRegistry:
    from cinatra_sdk.governance.packs.pack_registry import FolderRegistry
    from cinatra_sdk.store.evidence.governance_sources import StoredPacks

    return StoredPacks(store.database) if folder is None else FolderRegistry(folder)


# ----------------------------------------------------------------------------
# `oasflow packs`: the packs of governed runs, in the database.


MOST_PACK_BYTES = 4_000_000


def publish(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", help="NAME@VERSION.json.")],
    *,
    by: Annotated[
        str,
        typer.Option(
            "--as", "--by", metavar="NAME", help="Who publishes; default: your user name."
        ),
    ] = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Publish packs and catalogs of decisions; a version never changes afterwards."""
    from cinatra_sdk.store.evidence.governance_sources import StoredPacks

    terminal = Terminal.open(as_json=as_json)
    who = resources.person(by)
    read = [_read_pack(file) for file in files]
    with resources.store(terminal, db) as store:
        packs = StoredPacks(store.database)
        done = [(one.ref, packs.publish(one, by=who)) for one in read]
    terminal.data(
        {
            "published": [ref for ref, new in done if new],
            "known": [ref for ref, new in done if not new],
        }
    )
    for ref, new in done:
        terminal.show(f"{clean(ref)} {'published' if new else 'was there already'}")
    return Exit.OK


def _read_pack(file: Path) -> Published:
    """Raises: `Halt`; `GovernanceRefused`."""
    from cinatra_sdk.governance.packs.pack_registry import read_published

    try:
        text = read_named(file, MOST_PACK_BYTES + 1).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no UTF-8"
        raise Halt(f"{clean(str(file))} cannot be read: {why}") from None
    if len(text) > MOST_PACK_BYTES:
        raise Halt(f"{clean(str(file))} has more than {MOST_PACK_BYTES:,} bytes")
    return read_published(file.name.removesuffix(".json"), text)


def list_packs(
    *,
    where: StoreOptions,
) -> Exit:
    """List the packs in the database."""
    from cinatra_sdk.store.evidence.governance_sources import StoredPacks
    from oas_compiler.cli.view.audit_view import packs_table

    terminal = where.open_terminal()
    with resources.store(terminal, where.db) as store:
        found = StoredPacks(store.database).list_entries(tenant=where.owner)
        now = store.database.now()
    terminal.data(
        {
            "packs": [
                {"ref": one.ref, "tenant": one.tenant, "sha256": one.sha256, "by": one.published_by,
                 "at": one.published_at.isoformat()}
                for one in found
            ]
        }
    )  # fmt: skip
    if found:
        terminal.show(packs_table(found, now))
    else:
        terminal.say("no packs: publish some with oasflow packs publish FILE…")
    return Exit.OK


# ----------------------------------------------------------------------------
# `oasflow memory`: what governed runs would like to be remembered, and the reviewer's word.


By = Annotated[
    str, typer.Option("--as", "--by", metavar="NAME", help="Who reviews; default: your user name.")
]
ProposalId = Annotated[str, typer.Argument(metavar="PROPOSAL", help="mp_….")]


def list_proposals(
    *,
    everything: Annotated[bool, typer.Option("--all", help="Reviewed ones too.")] = False,
    where: StoreOptions,
) -> Exit:
    """List what runs propose to remember and nobody has reviewed."""
    from cinatra_sdk.store.evidence.memory_proposals import MemoryProposals
    from oas_compiler.cli.view.audit_view import proposals_table

    terminal = where.open_terminal()
    with resources.store(terminal, where.db) as store:
        memory = MemoryProposals(store.database)
        page = memory.page(tenant=where.owner, is_open=not everything)
        found = page.items
        now = store.database.now()
    terminal.data(
        {
            "proposals": [
                {
                    "run": one.run_id,
                    "proposal": one.proposal.to_json(),
                    "review": None if one.review is None else one.review.to_json(),
                }
                for one in found
            ],
            **options.list_unreadable(page),
        },
        of_run=True,
    )
    if found:
        terminal.show(proposals_table(found, now))
    elif not page.unreadable:
        terminal.say("no proposals")
    options.tell_unreadable(terminal, page)
    return Exit.OK


def promote(
    proposal: ProposalId,
    *,
    by: By = "",
    reason: options.Reason = "",
    where: StoreOptions,
) -> Exit:
    """Say that a proposal is worth remembering; whoever keeps a pack puts it into the next version."""
    return _review(proposal, by, reason, where, promoted=True)


def decline(
    proposal: ProposalId,
    *,
    by: By = "",
    reason: options.Reason = "",
    where: StoreOptions,
) -> Exit:
    """Say that a proposal is not to be remembered."""
    return _review(proposal, by, reason, where, promoted=False)


def _review(proposal: str, by: str, reason: str, where: StoreOptions, *, promoted: bool) -> Exit:
    from cinatra_sdk.store.evidence.memory_proposals import MemoryProposals

    terminal = where.open_terminal()
    who = resources.person(by)
    with resources.store(terminal, where.db) as store:
        MemoryProposals(store.database).review(
            proposal, promoted=promoted, by=who, reason=reason, tenant=where.owner
        )
    verdict = "promoted" if promoted else "declined"
    terminal.data({"proposal": proposal, "verdict": verdict, "by": who})
    terminal.show(f"{clean(proposal)} {verdict}")
    return Exit.OK


# ----------------------------------------------------------------------------
# `oasflow export`: what the approvals of a run prove, as a file that anybody can verify.


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """What is exported, and as what."""

    out: Annotated[
        str, typer.Option("--out", metavar="FILE", help="Where to write it; - is stdout.")
    ] = "-"
    key: Annotated[
        str,
        typer.Option(
            "--key",
            metavar="KID=FILE",
            help="Sign it: with an Ed25519 private key (PEM), or a shared secret.",
        ),
    ] = ""
    transcripts: Annotated[
        bool,
        typer.Option("--transcripts", help="With what each decision record was made from."),
    ] = False


def export(run: options.RunId, *, wanted: ExportOptions, lent: DriveOptions) -> Exit:
    """Export what the approvals of a run prove: one signed file, governed or not.

    What each gate showed, who decided, under which policy and flow, and what was then done; of a governed run
    its decision records too.  Results of calls are not in it, only their hashes.
    Without --key the signer of --host signs.  Verify it with: oasflow records --verify FILE.
    """
    options.refuse_empty_run(run)
    signer = _read_signer(wanted.key) if wanted.key else None
    given = lent.lend()
    terminal = lent.open_terminal()
    with resources.store(terminal, lent.db, given.own) as store:
        if signer is not None:
            store.lend_signer(signer)
        found = store.find(run, tenant=lent.owner)
        lines = store.export(found, tenant=lent.owner, transcripts=wanted.transcripts)
        return write_export(terminal, wanted.out, lines)


def _read_signer(given: str) -> Signer:
    """given: `KID=FILE`.  Raises: `Halt`; `NotConfigured` where the package for Ed25519 is missing."""
    from cinatra_sdk.governance.records.record_maker import Signer

    kid, _, file = given.partition("=")
    if not kid or not file:
        raise Halt(f"--key {clean(given)}: give the key a name, --key KID=FILE")
    try:
        content = read_key_file(file)
        if b"-----BEGIN" in content:
            return Signer.ed25519(kid, content)
        return Signer.hmac(kid, content)
    except (ValueError, TypeError) as error:
        raise Halt(
            f"--key {clean(kid)}: {clean(file)} is no key to sign with: {clean(str(error))}"
        ) from None
