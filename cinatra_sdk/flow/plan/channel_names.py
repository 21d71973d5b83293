"""Names in the graph: of nodes (the OAS ids, escaped where LangGraph forbids them) and of channels.

    node_name("review")   -> "review"          channel_of("review") -> "node.review"
    node_name("a:b|c")    -> "a%3Ab%7Cc"       node_name("status")  -> "%73tatus"

The escape is reversible and never maps two ids to one name.  The node's metadata has the original id, which
the platform and the gates use.
"""

from __future__ import annotations

from typing import Final

INPUTS: Final = "inputs"
OUTPUTS: Final = "outputs"
BRANCH: Final = "branch"
MESSAGES: Final = "messages"
CURSOR: Final = "cursor"
DECISIONS: Final = "decisions"
ENDED: Final = "ended"
ENDINGS: Final = ("rejected_at", "status")
"""State keys by which a node that acts sees whether somebody ended the run meanwhile."""

_STATE_KEYS: Final = frozenset(
    {
        INPUTS, OUTPUTS, BRANCH, MESSAGES, CURSOR, DECISIONS, ENDED,
        "bearer_token", "approval_policy", "run", *ENDINGS,
    }
)  # fmt: skip
_RESERVED: Final = frozenset("|:%\"'`<>{}[]()#;&\\\x7f")
"""Characters that LangGraph reserves, or that its pictures (unescaped Mermaid) would read as
commands.
"""


def channel_of(node_id: str) -> str:
    """The state key that holds what the node put out."""
    return f"node.{node_id}"


def in_a_picture(text: str) -> str:
    """`text` with everything escaped that is no letter for a picture's language."""
    return "".join(
        c if c.isprintable() and c not in _RESERVED else _percent_encode(c) for c in text
    )


def _percent_encode(letter: str) -> str:
    return "".join(f"%{byte:02X}" for byte in letter.encode("utf-8", "surrogatepass"))


def node_name(node_id: str) -> str:
    """The LangGraph name of the node with this OAS id."""
    escaped = in_a_picture(node_id)
    if escaped in _STATE_KEYS or escaped.startswith(("__", "node.", "branch.")) or not escaped:
        head = escaped[:1] or " "
        escaped = f"%{ord(head):02X}{escaped[1:]}"
    return escaped
