"""Whether a document is plain Agent Spec, or has a sign of Cinatra or of WayFlow.

    {"component_type": "Flow", …}                                          ->  plain
    the same with "metadata": {"cinatra": …} at a node, or a call of {{CINATRA_BASE_URL}}  ->  not
    the same with an ExtendedToolNode                                      ->  not

The text of Agent Spec decides about a plain document.  Files of the others mean more by a template,
and lead values of unknown types into named ones.
"""

from __future__ import annotations

from typing import Final

from cinatra_sdk.contract import BASE_URL
from oas_compiler.ir import JsonValue

_WAYFLOW: Final = ("Plugin", "Extended")
"""What the types of WayFlow begin with."""


def is_plain(document: JsonValue) -> bool:
    """In: the document as written."""
    waiting = [document]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if BASE_URL in one:
                return False
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, dict):
            kind, metadata = one.get("component_type"), one.get("metadata")
            if isinstance(kind, str) and kind.startswith(_WAYFLOW):
                return False
            if isinstance(metadata, dict) and "cinatra" in metadata:
                return False
            waiting += one.values()
    return True
