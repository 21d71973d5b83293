"""A call whose tool or address names a send has a send class.

    "tool": "slack_message_send", riskClass "write"      ->  OAS234: write message_send
    "url": "…/press/publish", no riskClass               ->  OAS234: write press_publish
    "id": "send_newsletter", riskClass "read_only"       ->  OAS234: write newsletter_send
    "tool": "list_sent_mails", "tool": "blog_post_create", "url": "…/posts"

Without a send class no gate is required before the call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from cinatra_sdk.contract import SAFE_METHODS
from cinatra_sdk.data.ports import REFERENCE
from cinatra_sdk.data.text.message_words import did_you_mean
from oas_compiler.checks.lookup.value_flaws import meant_keys
from oas_compiler.checks.subject import Subject, Written
from oas_compiler.control.risk_classes import READ, is_known, means_send, weight
from oas_compiler.document.scope import DEFINITIONS
from oas_compiler.findings.rule import Report, rule
from oas_compiler.ir import JsonValue

_ENDING: Final = {
    "send": "send", "publish": "publish", "post": "post", "delete": "delete",
    "broadcast": "send", "deliver": "send", "tweet": "post", "unpublish": "delete",
    "destroy": "delete", "purge": "delete", "refund": "post", "pay": "post", "charge": "post",
}  # fmt: skip
"""Verb in the name of a call → the ending of its class."""
_NOUNS: Final = frozenset({"post", "broadcast", "tweet"})
"""Words that name a thing, not an action, unless they end the name."""
_READS: Final = frozenset(
    {
        "get", "list", "read", "fetch", "find", "search", "load", "parse", "check", "preview",
        "draft", "validate", "count", "describe", "show", "prepare", "plan", "simulate", "dry",
        "is", "can", "before", "after", "save", "store", "record", "log", "status", "policy", "lookup", "report", "info", "details", "form", "template",
        "settings", "config", "history", "url", "id", "ids",
    }
)  # fmt: skip
"""First or last words of calls that only read or list sends."""
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_LONGEST: Final = 200
_LOST_BLOCK: Final = "misspelt cinatra"
_LOST: Final = frozenset({"riskClass", _LOST_BLOCK})


@rule(
    code="OAS234",
    name="send-under-lesser-class",
    severity="warning",
    summary="A call is named like a send and has the class of a lesser act, or none.",
    fix="Write a riskClass that ends with _send, _publish, _post or _delete, and put a gate before it.",
    source="agent guide, rule 4; Cinatra risk classes",
    needs="cinatra",
    bad='"data": {"tool": "slack_message_send"}, … "riskClass": "write"',
    good='"data": {"tool": "slack_message_send"}, … "riskClass": "message_send"',
)
def send_under_lesser_class(subject: Subject, report: Report) -> None:
    slips = meant_keys(subject)
    tools = {
        found.pointer: found for found in subject.of_type("ServerTool", "ClientTool", "RemoteTool")
    }
    for node in subject.of_type("ApiNode", "ToolNode"):
        tool = _tool_of(node, tools) if node.type == "ToolNode" else None
        if (node.pointer, "riskClass") in slips or not _collect_outside_keys(node).isdisjoint(
            _LOST
        ):
            continue  # OAS133, OAS213, OAS250: the class is written where no host reads it
        risks = [node.cinatra.get("riskClass"), tool.cinatra.get("riskClass") if tool else None]
        if not all(map(_is_lesser, risks)):
            continue
        found = next(filter(None, map(_find_sending_name, _list_called_names(node, tool))), None)
        if found is not None:
            what, pointer, wanted = found
            own = risks[0] or risks[1]
            said = f'riskClass "{own}"' if own else "no riskClass"
            report(
                f"{node.label} {what}, which sounds like a send, and has {said}",
                subject.place(pointer),
                hint=f'write "riskClass": "{wanted}", and put a gate before it',
            )


def _collect_outside_keys(node: Written) -> set[str]:
    """Keys that stand at the node and in its metadata, where no host reads a class."""
    metadata = node.value.get("metadata")
    inner = list(metadata) if isinstance(metadata, dict) else []
    lost = [_LOST_BLOCK for key in inner if key != "cinatra" and did_you_mean(key, ["cinatra"])]
    return {*node.value, *inner, *lost}


def _is_lesser(risk: JsonValue) -> bool:
    """Whether a known class is no send class; an unknown class has its own finding."""
    if risk is None or risk == "":
        return True
    return isinstance(risk, str) and is_known(risk) and not means_send(risk)


def _tool_of(node: Written, tools: dict[str, Written]) -> Written | None:
    written = node.value.get("tool")
    name = written.get(REFERENCE) if isinstance(written, dict) else None
    if isinstance(name, str):
        for flow in (node.flow, ""):
            found = tools.get(f"{flow}/{DEFINITIONS}/{name}")
            if found is not None:
                return found
        return None
    return tools.get(node.at("tool"))


def _list_called_names(node: Written, tool: Written | None) -> Iterator[tuple[str, str, str]]:
    """(the node's action in words, the name to judge, its place)."""
    if tool is not None:
        yield f'runs the tool "{tool.text("name")[:80]}"', tool.text("name"), tool.at("name")
    data = node.value.get("data")
    called = data.get("tool") if isinstance(data, dict) else None
    if isinstance(called, str):
        yield f'calls the tool "{called[:80]}"', called, node.at("data", "tool")
    method = node.text("http_method").upper()
    if method == "DELETE":
        yield "calls with DELETE", "delete", node.at("http_method")
    if weight(str(node.cinatra.get("riskClass") or "")) == READ and node.id:
        yield f'is called "{node.id[:80]}"', node.id, node.at("id")
    if node.type == "ApiNode" and method not in SAFE_METHODS:
        last = _last_part(node.text("url"))
        yield f'calls ".../{last[:80]}"', last, node.at("url")


def _last_part(url: str) -> str:
    """The last part of the path that is no placeholder."""
    plain = re.sub(r"\{\{[^}]*\}\}", "", url[:2_000])
    try:
        parts = urlsplit(plain).path.split("/")
    except ValueError:
        return ""
    return next((part for part in reversed(parts) if part), "")


def _find_sending_name(named: tuple[str, str, str]) -> tuple[str, str, str] | None:
    """(words, pointer, class to write) where the name means a send."""
    what, name, pointer = named
    if "{{" in name or len(name) > _LONGEST:
        return None
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or not _READS.isdisjoint({words[0], words[-1]}):
        return None
    for verb in (words[-1], words[0]):
        if verb not in _ENDING or (verb in _NOUNS and verb != words[-1]):
            continue
        if verb == "post" and len(words) > 1 and words[-2] in {"blog", "forum", "the", "a"}:
            continue
        others = [word for word in words if word != verb][-2:]
        return what, pointer, "_".join((*(others or ["external"]), _ENDING[verb]))
    return None
