"""`oasflow attach FILE …`: keeps files for models, and prints their refs.

    oasflow attach plan.pdf photo.png
    [{"artifactId": "att_1…", "mime": "application/pdf", …}, …]

The refs go into an input of a flow (`--set 'files=[…]'`), or with an answer (`oasflow answer --attach`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from cinatra_sdk.text.files import read_named
from oas_compiler.cli import opening, options
from oas_compiler.cli.exits import Exit, Halt
from oas_compiler.cli.opening import USUAL_ORG
from oas_compiler.cli.terminal import Terminal

if TYPE_CHECKING:
    from cinatra_sdk import RunStore
    from cinatra_sdk.attachments import AttachmentRef
    from cinatra_sdk.gates.decisions import Decision

MAX_BYTES = 100 * 2**20
"""Bytes of a file: the most that any provider takes."""


def attach(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Files that a model is to read.")
    ],
    *,
    mime: Annotated[
        str,
        typer.Option(metavar="TYPE", help="The type of the files; default: by their names."),
    ] = "",
    by: options.As = "",
    tenant: options.Tenant = "",
    db: options.Db = "",
    as_json: options.Json = False,
) -> Exit:
    """Keep files for models, and print the refs by which flows name them.

    A ref goes into an input that holds files, or along with an answer at a gate.
    """
    terminal = Terminal.open(as_json=as_json)
    read = [read_attached(path, mime) for path in files]
    with opening.store(terminal, db) as store:
        kept = keep(store, read, tenant=tenant, by=opening.person(by))
    refs = [ref.wire() for ref in kept]
    terminal.data({"attachments": refs})
    terminal.show(json.dumps(refs, ensure_ascii=False))
    return Exit.OK


def read_attached(path: str, mime: str = "") -> tuple[str, str, bytes]:
    """Name, type and bytes of a file.

    Raises: `Halt`.
    """
    from cinatra_sdk.attachments.file_names import find_type

    try:
        content = read_named(path, MAX_BYTES + 1)
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise Halt(f"{path}: {why}", code="unreadable") from None
    except ValueError:
        raise Halt("this is not a file name", code="unreadable") from None
    if len(content) > MAX_BYTES:
        raise Halt(f"{path}: larger than {MAX_BYTES:,} bytes", code="unreadable")
    name = PurePath(path).name
    type_ = mime or find_type(name)
    if not type_:
        raise Halt(
            f"the type of {name} is not known by its name: say it with --mime, such as "
            "--mime application/pdf"
        )
    return name, type_, content


def keep(
    store: RunStore, files: Sequence[tuple[str, str, bytes]], *, tenant: str, by: str
) -> list[AttachmentRef]:
    """Add files to those of the tenant.

    Raises: `InputInvalid`.
    """
    from cinatra_sdk.store.attachments import AttachmentStore

    kept = AttachmentStore(store.database)
    return [
        kept.add(
            tenant or USUAL_ORG,
            [content],
            mime=mime,
            created_by=by,
            max_bytes=MAX_BYTES,
            filename=name,
        )
        for name, mime, content in files
    ]


def put_in(
    store: RunStore,
    place: tuple[str, str],
    decision: Decision,
    *,
    files: Sequence[tuple[str, str, bytes]],
    tenant: str,
) -> Decision:
    """The decision, whose text is an envelope with the files.

    place: the ids of run and gate.

    Raises: `Halt` where no call opens an envelope: its model would be shown the JSON.
    """
    from cinatra_sdk.attachments import MAX_REFS, wrap_answer

    if len(files) > MAX_REFS:  # the envelope would leave the others out
        raise Halt(f"{len(files)} files are attached; an answer takes {MAX_REFS} at most")
    run_id, gate_id = place
    rules = [rule for rule in store.answer_rules(run_id) if rule.takes(gate_id)]
    if not rules:
        raise Halt(
            f"the answer of gate '{gate_id}' reaches no model with files: a call of the bridge takes "
            'them whose "user" is this answer alone, with "user_envelope": true; leave out --attach'
        )
    refs = [ref.wire() for ref in keep(store, files, tenant=tenant, by=decision.by)]
    text = wrap_answer(str(decision.value), refs, gate=gate_id, rules=rules)
    return replace(decision, value=text)
