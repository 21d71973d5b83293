"""The ApiNodes that call the host's model bridge.  For rules; not a rule itself.

{"url": "{{CINATRA_BASE_URL}}/api/llm-bridge"}     a bridge node
{"url": "{{CINATRA_BASE_URL}}/api/llm-bridge/"}    one too: the same route
{"url": "{{CINATRA_BASE_URL}}/api/llm-bridge/v2"}  none: the url must end there
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Final

from cinatra_sdk.text.spelling import LONGEST_COMPARED
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.findings.finding import Edit
from oas_compiler.ir import Json, JsonValue

BRIDGE = "/api/llm-bridge"
_MOST_COMPARED: Final = 100
BODIES = ("data", "body", "config")
"""Fields in which a node may keep its request body; tools name the field differently."""


def bridge_nodes(subject: Subject) -> Iterator[Written]:
    """The ApiNodes of all flows that post to the bridge."""
    nodes = subject.of_type("ApiNode")
    return (node for node in nodes if node.text("url").rstrip("/").endswith(BRIDGE))


def lacks(node: Written, key: str) -> bool:
    """Whether `data` of the node, where the loader looks, lacks `key`."""
    data = node.value.get("data")
    return not isinstance(data, dict) or key not in data


def misspelt_key(node: Written, key: str) -> str:
    """The key of `data` that is almost `key`; empty where there is none."""
    data = node.value.get("data")
    names = (
        [name for name in data if len(name) <= LONGEST_COMPARED] if isinstance(data, dict) else []
    )
    near = get_close_matches(key, names[:_MOST_COMPARED], n=1, cutoff=0.75)
    return near[0] if near else ""


class Addition:
    """Puts one value under one key of `data`, as the loader's own pass over a file does.

    The value is written out once, however many nodes it goes to.
    """

    def __init__(self, key: str, value: JsonValue) -> None:
        self._key = key
        self._value = Json.of(value)
        self._body = Json.of({key: value})

    def to(self, node: Written) -> tuple[Edit, ...]:
        """The edit of this node; None where `data` is no object, or has a key that is spelt almost
        the same.
        """
        if misspelt_key(node, self._key):
            return ()
        if isinstance(node.value.get("data"), dict):
            return (Edit(pointer=node.at("data", self._key), value=self._value),)
        if "data" in node.value:
            return ()
        return (Edit(pointer=node.at("data"), value=self._body),)
