"""The meaning of the risk classes of a flow: its sends, and the weight of each class.

In: a `riskClass` as an author wrote it, or a flow.  Out: its weight; the nodes of a send class.

    weight("read_only") < weight("write") < weight("approval") < weight("email_send")
    sends(flow) -> {("sender_flow", "send")}
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from cinatra_sdk.contract import RISK_CLASSES, is_known_risk, is_send_class
from oas_compiler.ir import FlowIR, InputMessageNode, Node, Path, walk

READ, WRITE, APPROVAL, SEND = range(4)
_READ_CLASSES = frozenset({"", "read_only", "read"})


def is_send(node: Node) -> bool:
    """Whether the node itself acts on the world outside: its author gave it a send class.

    A gate never does: its class describes the nodes that it guards.  A FlowNode acts when its
    subflow has run.
    """
    return not isinstance(node, InputMessageNode) and is_send_class(node.risk_class)


def weight(risk_class: str) -> int:
    """How much care a risk class asks for: reading, writing, approving, sending.

    A class nobody knows weighs as much as writing: authors make their own (`draft_create`).
    """
    if is_send_class(risk_class):
        return SEND
    if risk_class == "approval":
        return APPROVAL
    return READ if risk_class in _READ_CLASSES else WRITE


def sends(flow: FlowIR) -> frozenset[Path]:
    """The nodes of `flow`, at any depth, that act on the world outside; never a gate."""
    return frozenset(path for path, node in walk(flow) if is_send(node))


# ----------------------------------------------------------------------------
# Judges risk classes as authors write them: known, misspelt, or a send.
#
#     "email_send", "invoice_delete", "read_only"    known
#     "Email_Send", "email-send", "sendEmail"        not known; mean "email_send", a send
#     "email_s?nd", ? a Cyrillic letter like "e"       not known; means "email_send", a send
#     "email_sned"                                   not known; nearest "email_send"
#
# A host compares letter by letter, so that a send under another spelling has no protection at all.
# `risk.is_send_class` decides whether a class is a send at run time; this module is for rules.


KNOWN: Final = RISK_CLASSES
SEND_VERBS: Final = ("send", "publish", "post", "delete")
_FIRST_VERBS: Final = frozenset({"send", "publish", "delete"})
"""Verbs that mean a send also as the first word; "post_review", for instance, may mean a review
after a post.
"""
_LONGEST: Final = 120
"""Characters of the longest class that is read as a word."""
_SEPARATOR = re.compile(r"[\W_]+")
_LONGEST_WRITTEN: Final = 2_000
"""The same, before invisible characters are removed."""
_LOOKALIKES: Final = str.maketrans(
    # Cyrillic, Greek, and the i without a dot
    "\u0430\u0432\u0441\u0501\u0435\u04bb\u043d\u0456\u0458\u043a\u04cf\u043c\u043f\u043e"
    "\u051b\u0433\u0440\u0455\u0442\u0475\u051d\u0445\u0443"
    "\u03b1\u03b2\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03b7\u0131",
    "abcdehhijklmnoqrpstvwxyabeikvoptuxni",
)
"""Small letters that are read as Latin ones."""
_UNSEEN: Final = frozenset({"Cf", "Mn", "Cc"})
"""Unicode categories of invisible characters: zero-width characters and combining accents."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def is_known(risk_class: str) -> bool:
    return is_known_risk(risk_class)


def means_send(risk_class: str) -> bool:
    """Whether the author means a send, in any spelling."""
    return is_send_class(risk_class) or is_send_class(meant(risk_class))


def counted_class(node: Node) -> str:
    """The risk class of what a node does: its tool's or agent's where only that one is a send."""
    classes = [risk for risk in (node.risk_class, node.behind.risk_class) if risk.strip()]
    return next(filter(means_send, classes), classes[0] if classes else "")


def may_send(node: Node) -> bool:
    """Whether a node acts on the world outside, in whatever spelling its risk class says so.

    `risk.is_send` is the same for the exact spelling, which alone counts at run time.
    """
    return not isinstance(node, InputMessageNode) and means_send(counted_class(node))


def meant(risk_class: str) -> str:
    """The known class in another spelling or word order; empty where there is none."""
    seen = _as_seen(risk_class[: _LONGEST_WRITTEN + 1])
    # a longer text is not a word; not cached
    too_long = len(seen) > _LONGEST or len(risk_class) > _LONGEST_WRITTEN
    return "" if too_long else _find_meant_class(seen)


@lru_cache(maxsize=1024)
def _find_meant_class(risk_class: str) -> str:
    words = _split_words(risk_class)
    joined = "_".join(words)
    if is_known(joined):
        return joined
    for known in KNOWN:
        if sorted(known.split("_")) == sorted(words):
            return known
    if len(words) > 1 and words[0] in _FIRST_VERBS:
        return "_".join((*words[1:], words[0]))
    return ""


def nearby(risk_class: str) -> tuple[str, frozenset[str]]:
    """The class in the usual spelling, and the known classes that a slip of it could mean."""
    words = _split_words(_as_seen(risk_class[:_LONGEST]))
    begins = "" if not words or words[0] in SEND_VERBS else words[0]
    verbs = {"_".join((*words[:-1], verb)) for verb in SEND_VERBS if begins}
    return "_".join(words), frozenset({*KNOWN, *verbs})


def _split_words(risk_class: str) -> list[str]:
    spaced = _SEPARATOR.sub("_", _CAMEL.sub("_", risk_class))
    return [word.casefold().translate(_LOOKALIKES) for word in spaced.split("_") if word]


def _as_seen(risk_class: str) -> str:
    """The text without invisible characters, in normal form."""
    if risk_class.isascii():
        return risk_class
    split = unicodedata.normalize("NFKD", risk_class)
    return "".join(sign for sign in split if unicodedata.category(sign) not in _UNSEEN)
