"""Refuses a module in whose text a literal credential of the flow would stand.

A module is committed and shipped.  Sensitive fields stay behind (`sensitive.py`), but a credential in a
header, a body or an address is part of the flow itself, and nothing could lend it.
"""

from __future__ import annotations

import ast
import json
from typing import Final

from cinatra_sdk.text.counting import say_number
from oas_compiler.checks.program_arguments import find_argument_credentials
from oas_compiler.checks.safety.credential_by_name import is_told
from oas_compiler.emit.sensitive import EmitRefused
from oas_compiler.findings.finding import Findings
from oas_compiler.pipeline import subject_of
from oas_compiler.text.source import read_source

_SHORTEST_PART: Final = 8
"""A shorter value counts where it is a whole text of the module, because it occurs in ordinary words."""


def require_no_credential(source: bytes, module: str) -> None:
    """source: the bytes of the flow.  module: what would be written.

    Raises: `EmitRefused`, which names no credential.
    """
    read = read_source(source, Findings())
    if read is None:
        return  # it was compiled: there is a document
    subject = subject_of(read, Findings(), None, None)
    texts = [one.value for one in ast.walk(ast.parse(module)) if isinstance(one, ast.Constant)]
    whole = {text for text in texts if isinstance(text, str)}
    told = [text.value for text in subject.texts if is_told(text)]
    told += [argument.whole for argument in find_argument_credentials(subject)]
    left = sum(_stands_in(secret, whole) for secret in dict.fromkeys(told))
    if left:
        raise EmitRefused(
            f"the flow has {say_number(left, 'credential')} written out, which would stand in "
            "the module (oasflow check names the places): remove each and make it invalid, or write a "
            "placeholder such as {{API_KEY}}"
        )


def _stands_in(secret: str, texts: set[str]) -> bool:
    if len(secret) < _SHORTEST_PART:
        return secret in texts
    spellings = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    return any(one in text for text in texts for one in spellings)
