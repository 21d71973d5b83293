"""Refuses a module in whose text a literal credential of the flow would stand.

    "headers": {"X-Auth": "9fK2…"}   ->   EmitRefused: … the ApiNode "call" at headers/X-Auth …

A module is committed and shipped.  Sensitive fields stay behind (`sensitive.py`), but a credential in a
header, a body or an address is part of the flow itself, and nothing could lend it.  What counts as one
is what no command prints (`checks/written_credentials.py`).
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from typing import Final

from cinatra_sdk.text.counting import say_number
from oas_compiler.checks.concealed import find_written_names
from oas_compiler.checks.program_arguments import find_argument_credentials
from oas_compiler.checks.safety.credential_by_name import is_told
from oas_compiler.checks.subject import Subject
from oas_compiler.checks.written_credentials import find_written, is_written_name
from oas_compiler.emit.sensitive import EmitRefused
from oas_compiler.findings.finding import Findings
from oas_compiler.pipeline import subject_of
from oas_compiler.rewriting.spans import keys_of
from oas_compiler.text.secrets import without_secrets
from oas_compiler.text.source import read_source

_SHORTEST_PART: Final = 8
"""A shorter value counts where it is a whole text of the module, because it occurs in ordinary words."""
_MOST_PLACES: Final = 5
"""Places that a refusal names."""


def require_no_credential(source: bytes, module: str) -> None:
    """source: the bytes of the flow.  module: what would be written.

    Raises: `EmitRefused`, which names the places of the credentials and no credential.
    """
    read = read_source(source, Findings())
    if read is None:
        return  # it was compiled: there is a document
    subject = subject_of(read, Findings(), None, None)
    texts = [one.value for one in ast.walk(ast.parse(module)) if isinstance(one, ast.Constant)]
    whole = {text for text in texts if isinstance(text, str)}
    found = list(_find_credentials(subject))
    left = dict.fromkeys(
        pointer
        for pointer, secrets in found
        if any(_stands_in(secret, whole) for secret in secrets)
    )
    if left:
        places = ", ".join(_describe_place(subject, one) for one in list(left)[:_MOST_PLACES])
        for secret in (one for _, secrets in found for one in secrets):
            # an id or a name may repeat one
            places = places.replace(secret, "…") if len(secret) >= _SHORTEST_PART else places
        more = f" and {len(left) - _MOST_PLACES} more" if len(left) > _MOST_PLACES else ""
        raise EmitRefused(
            f"the flow has {say_number(len(left), 'credential')} written out, which would "
            f"stand in the module: {places}{more}; remove each and make it invalid, or write a placeholder "
            "such as {{API_KEY}}, which the environment of the run fills in (--env API_KEY)"
        )


def _find_credentials(subject: Subject) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The pointer of each text with a credential; the text, and the credentials in it."""
    for text in subject.texts:
        parts = find_written(text)
        if parts or is_told(text):
            yield text.pointer, (text.value, *(one for one in parts if len(one) >= _SHORTEST_PART))
    for argument in find_argument_credentials(subject):
        yield argument.pointer, (argument.whole,)
    for name, pointer in find_written_names(subject.document.source.value):
        yield pointer, (name,)


def _describe_place(subject: Subject, pointer: str) -> str:
    """`the ApiNode "call" at headers/X-Api-Key`; a name that is a credential itself is left out."""
    around, below = pointer, ""
    found = subject.written_at(around)
    while found is None and around:
        around = around.rpartition("/")[0]
        found = subject.written_at(around)
        below = pointer[len(around) :]
    names = [
        "…" if is_written_name(key, is_sent=True) else without_secrets(key)[:80]
        for key in keys_of(below)
    ]
    label = without_secrets(found.label) if found is not None else "the document"
    return f"{label} at {'/'.join(names)}" if names else label


def _stands_in(secret: str, texts: set[str]) -> bool:
    if len(secret) < _SHORTEST_PART:
        return secret in texts
    spellings = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    return any(one in text for text in texts for one in spellings)
