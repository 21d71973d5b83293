"""Answers in the words of other clients, as answers of this project: one reader for all of them.

In: an answer as a client sends it, and the question of the gate.  Out: the JSON that `answers.py` reads.

    at a question                                         ->  {"approved": True, "value": "Ann"}
        "Ann"                                                   a text alone
        {"userResponse": "Ann"}                                 Cinatra
        [{"type": "response", "args": "Ann"}]                   agent-inbox
        {"decisions": [{"type": "respond", "message": "Ann"}]}  LangChain
    at a choice as at a question, except a text alone that is also a word of decisions: "reject"
    at a gate that asks for a yes
        [{"type": "accept", "args": null}], {"decisions": [{"type": "approve"}]}   ->  {"approved": True}
        [{"type": "ignore"}], {"decisions": [{"type": "reject"}]}               ->  {"approved": False}
    at a gate before a call
        {"decisions": [{"type": "reject"}]}               ->  {"approved": False, "denied": True}
        [{"type": "edit", "args": {"action": "send", "args": {"to": "bob"}}}],
        {"decisions": [{"type": "edit", "edited_action": {"name": "send", "args": {"to": "bob"}}}]}
                                                          ->  {"approved": True, "value": {"to": "bob"}}

Words that mean one thing at one gate and its opposite at another are refused: some clients send
`response` where a person rejects with a remark, so `response` never approves.  An `accept` with arguments
approves these arguments: it is refused unless the gate shows the same (`drop_shown_args`).  `by` and
`shown` may stand beside the words.  An answer in no dialect is returned unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from pydantic import JsonValue

from cinatra_sdk.data.json_values import NotStrictJson, read_json
from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.gates.answers import ANSWER_KEYS, said_name
from cinatra_sdk.gates.decisions import UNSET, Unset

# ----------------------------------------------------------------------------
# A value that decides by itself inside an approval: taking it as a text would approve.
#
#     refuse_contradiction({"approved": False})    ->  AnswerInvalid: the value is a decision of its own …
#     refuse_contradiction({"type": "reject"})     ->  AnswerInvalid: …
#     refuse_contradiction('{"approved": false}')  ->  AnswerInvalid: …
#     refuse_contradiction(False)                  ->  AnswerInvalid: …
#     refuse_contradiction("no")                   ->  nothing: the flow may branch on the text
#
# Where a gate asks for a yes and gives a text to the flow, whatever is sent as the text approves.


_DECIDES: Final = frozenset({"approved", "denied", "decisions", "rejected"})
"""Members by which an object is a decision and no text."""
_NAMES_A_DECISION: Final = frozenset({"type", "action", "decision", "verdict"})
"""Members of which the value may be the word of a decision."""
_DECISIONS: Final = frozenset(
    {"accept", "accepted", "approve", "approved", "reject", "rejected", "ignore", "deny", "denied",
     "decline", "declined", "no", "cancel"}
)  # fmt: skip
"""Texts that are a decision where a client says nothing else."""
_REFUSALS: Final = _DECISIONS - {"accept", "accepted", "approve", "approved"}
_HOW: Final = "reject the gate, or approve it without a value and say why in the reason"


def refuse_contradiction(value: object, *, is_question: bool = False) -> None:
    """is_question: the gate asks for a text, which may be any.

    Raises: `AnswerInvalid`.
    """
    decoded = read_inside(value)
    if is_decision(decoded):
        raise AnswerInvalid("the value is a decision of its own inside an approval", hint=_HOW)
    if isinstance(decoded, list) and any(
        (isinstance(one, Mapping) and "type" in one)
        or is_decision(one)
        or (says_decision(one) and not is_question)
        for one in decoded
    ):
        raise AnswerInvalid("the value is a list of decisions inside an approval", hint=_HOW)
    if value is False and not is_question:
        raise AnswerInvalid("the value of the approval is false", hint=_HOW)


def refuse_no(value: object) -> None:
    """As `refuse_contradiction`, where the author may ask for an object with `approved` in it, or for
    true or false: what agrees with the approval is a value like any other.

    Raises: `AnswerInvalid`.
    """
    said = read_inside(value)
    listed = said if isinstance(said, list) else [said]
    if any(isinstance(one, Mapping) and _says_no(one) for one in listed):
        raise AnswerInvalid("the answer approves, and its value does not", hint=_HOW)


def _says_no(said: Mapping[object, object]) -> bool:
    if said.get("approved", True) is not True:
        return True
    if any(said.get(name) not in (None, False, "", []) for name in ("denied", "rejected")):
        return True
    words = (said.get(name) for name in _NAMES_A_DECISION)
    return any(isinstance(one, str) and one.strip().casefold() in _REFUSALS for one in words)


def is_decision(value: object) -> bool:
    """Whether an object is a decision, by its members or by the word of one of them."""
    if not isinstance(value, Mapping):
        return False
    if not _DECIDES.isdisjoint(map(str, value)):
        return True
    return any(says_decision(value[name]) for name in _NAMES_A_DECISION if name in value)


def says_decision(text: object) -> bool:
    """Whether a text alone is a word by which clients approve or reject."""
    return isinstance(text, str) and text.strip().casefold() in _DECISIONS


def read_inside(value: object) -> object:
    """The JSON object or list in a text; anything else as it is."""
    if not isinstance(value, str) or value.strip()[:1] not in {"{", "["}:
        return value
    try:
        return read_json(value)
    except NotStrictJson:
        return value


Asks: TypeAlias = Literal["words", "choice", "yes", "call"]
"""What a gate asks for: a text, one of some texts, a yes (with or without data), or whether a call is
made.
"""

AS_SHOWN: Final = (
    "the call is made as it was shown, or not at all, or with the arguments of an edit"
)
_ACCEPTS: Final = frozenset({"accept", "approve"})
_REFUSES: Final = frozenset({"ignore", "reject"})
_SPEAKS: Final = frozenset({"response", "respond"})
_INBOX: Final = frozenset({"accept", "ignore", "response", "edit"})
_LANGCHAIN: Final = frozenset({"approve", "reject", "respond", "edit"})
_ABOUT: Final = ("by", "shown")
"""Keys beside the words: who decides, and what they saw."""
_LANGCHAIN_KEYS: Final = {"reject": {"message"}, "respond": {"message"}, "edit": {"edited_action"}}


def read_dialect(
    raw: object,
    *,
    asks: Asks,
    yes: JsonValue | Unset = UNSET,
    call: str = "",
    schema: Mapping[str, JsonValue] | None = None,
) -> object:
    """What a client sent, in the words of `answers.py`; what is in no dialect as it is.

    yes:    the value of a plain yes, where the author's schema asks for one.
    call:   name of the call before which the gate stands.
    schema: JSON Schema of the value of an approval; None: nobody wrote one.

    Raises: `AnswerInvalid` for a dialect's word that does not fit this gate, for several decisions,
    and for keys that the dialect does not have.
    """
    takes_text = asks in {"words", "choice"}
    if isinstance(raw, str) and takes_text:
        return {"approved": True, "value": _refuse_ambiguous(raw, asks)}
    if isinstance(raw, list) and any(_has_type(one) for one in raw):
        return _Said(asks, yes, call).read(_take_one(raw), _INBOX, about={})
    if not isinstance(raw, Mapping):
        return raw
    if raw.get("approved") is True and "value" in raw:
        return _open_value(raw, asks, schema)
    about = {key: raw[key] for key in _ABOUT if key in raw}
    if "userResponse" in raw and takes_text and raw.keys() <= {"userResponse", *_ABOUT}:
        _refuse_ambiguous(raw["userResponse"], asks)
        return {"approved": True, **raw}
    if "decisions" in raw and "approved" not in raw:
        unknown = sorted(said_name(key) for key in raw if key not in {"decisions", *_ABOUT})
        if unknown:
            raise AnswerInvalid(f"the answer has unknown keys: {', '.join(unknown)[:200]}")
        return _Said(asks, yes, call).read(_take_one(raw["decisions"]), _LANGCHAIN, about=about)
    return raw


# ----------------------------------------------------------------------------
# A value that is an answer of its own, in the words of any client.  A graph that is resumed with it alone
# reads it: no door goes on with it as the value of another answer.
#
#     {"approved": true, "value": {"userResponse": "Lyon"}}    at a question: "Lyon", as without the envelope
#     {"approved": true, "value": {"decisions": […]}}          AnswerInvalid: the value is an answer of its own …
#     {"approved": true, "value": {"userResponse": "Lyon"}}    where the author's schema has a property of
#                                                              that name: the object, as its author asks


_WORDS: Final = _INBOX | _LANGCHAIN
_WORDED: Final = frozenset({"type", "args", "message", "edited_action"})
"""The keys of one decision of a list."""
_SPEAKERS: Final = ("approved", "decisions", "userResponse")
"""Members by which an object is a whole answer."""


def is_whole_answer(value: object) -> bool:
    """Whether a value is an answer of its own: of this project, of Cinatra, of agent-inbox, of LangChain."""
    if isinstance(value, list):
        return any(map(is_worded, value))
    if not isinstance(value, Mapping):
        return False
    if "approved" in value:
        return value.keys() <= {*ANSWER_KEYS}
    if "decisions" in value or "userResponse" in value:
        return value.keys() <= {"decisions", "userResponse", *_ABOUT}
    return is_worded(value)


def is_worded(one: object) -> bool:
    """Whether an object is one decision of a client's list."""
    if not isinstance(one, Mapping) or not one.keys() <= _WORDED:
        return False
    word = one.get("type")
    return isinstance(word, str) and word in _WORDS


def has_named(value: object, schema: Mapping[str, JsonValue] | None) -> bool:
    """Whether a schema names the members by which a value is a whole answer, so that the author asks for
    just such a value.
    """
    listed = value if isinstance(value, list) else [value]
    own = {str(key) for one in listed if isinstance(one, Mapping) for key in one}
    speaking = own.intersection(_SPEAKERS) or own.intersection({"type"})
    return bool(speaking) and not speaking.isdisjoint(_list_members(schema))


def _list_members(schema: object) -> set[str]:
    """The members that a schema names, at any depth."""
    found: set[str] = set()
    parts = [schema]
    while parts:
        part = parts.pop()
        if isinstance(part, list):
            parts += part
        elif isinstance(part, Mapping):
            for key, inner in part.items():
                if key in {"properties", "const"} and isinstance(inner, Mapping):
                    found |= {str(name) for name in inner}
                elif key == "enum" and isinstance(inner, list):
                    found |= {
                        str(name) for one in inner if isinstance(one, Mapping) for name in one
                    }
                parts.append(inner)
    return found


def _open_value(
    raw: Mapping[Any, Any], asks: Asks, schema: Mapping[str, JsonValue] | None
) -> Mapping[Any, Any]:
    """An approval as it is; where its value is an answer of its own that gives the words which the gate
    asks for, with these words in its place.

    Raises: `AnswerInvalid` where the client's words do not fit the gate.
    """
    value = raw["value"]
    if asks not in {"words", "choice"} or not is_whole_answer(value) or has_named(value, schema):
        return raw
    if isinstance(value, Mapping) and "approved" in value:
        return raw
    inner = read_dialect(value, asks=asks)
    if (
        isinstance(inner, Mapping) and len(inner) == 2
    ):  # the yes and the words, and nothing beside them
        words = [inner[key] for key in ("value", "userResponse") if key in inner]
        return {**raw, "value": words[0]} if words else raw
    return raw


def refuse_own_answer(raw: object, schema: Mapping[str, JsonValue] | None) -> None:
    """Refuse an approval whose value is an answer of its own, which the form would take as data.

    raw:    what the form has read.
    schema: as of `read_dialect`.
    Raises: `AnswerInvalid`.
    """
    value = raw.get("value") if isinstance(raw, Mapping) else None
    said = read_inside(value)
    if is_whole_answer(said) and not has_named(said, schema):
        raise AnswerInvalid(
            "the value is an answer of its own inside an approval",
            hint="send that answer alone, or its text as the value; to refuse, reject the gate",
        )


def drop_shown_args(raw: object, values: Mapping[str, JsonValue]) -> object:
    """What a client sent, without the arguments of an agent-inbox `accept` that are exactly those that
    the gate shows; others stay, and `read_dialect` refuses them.

    values: the data that the gate shows; at a gate before a call its name and its arguments.
    """
    if not isinstance(raw, list) or len(raw) != 1 or not isinstance(raw[0], Mapping):
        return raw
    said = raw[0]
    if said.get("type") != "accept" or not isinstance(said.get("args"), Mapping):
        return raw
    shown: list[JsonValue] = [dict(values)]
    if "call" in values:
        shown = [{"action": values["call"], "args": values.get("arguments")}]
    return [{**said, "args": None}] if _as_json(said["args"]) in map(_as_json, shown) else raw


def _as_json(value: object) -> str:
    # As text, since True is 1 for Python.  What is no JSON equals nothing that a gate shows.
    return json.dumps(value, sort_keys=True, default=repr)


def _refuse_ambiguous(text: Any, asks: Asks) -> Any:
    """`text`, unless it may be a decision as well as what is chosen.

    Raises: `AnswerInvalid`.
    """
    if asks == "choice" and says_decision(text):
        raise AnswerInvalid(
            f"the gate asks for a choice, and '{text.strip()}' alone may be a decision as well",
            hint='send it as the value of an approval to choose it, or {"approved": false} to reject',
        )
    return text


def _has_type(one: object) -> bool:
    return isinstance(one, Mapping) and "type" in one


def _take_one(listed: object) -> Mapping[Any, Any]:
    """The one decision of a list; one gate is answered by one."""
    if not isinstance(listed, list) or not listed or not all(map(_has_type, listed)):
        raise AnswerInvalid(
            "the decisions are no list of objects with a type",
            hint="give one decision for one gate",
        )
    if len(listed) > 1:
        raise AnswerInvalid(
            f"there are {len(listed)} decisions for one gate",
            hint="give one decision; each gate is answered by itself",
        )
    first: Mapping[Any, Any] = listed[0]
    return first


class _Said:
    """One decision of a list, at one gate."""

    def __init__(self, asks: Asks, yes: JsonValue | Unset, call: str) -> None:
        self._asks, self._yes, self._call = asks, yes, call

    def read(
        self, said: Mapping[Any, Any], words: frozenset[str], *, about: dict[str, Any]
    ) -> dict[str, Any]:
        """words: the types of the dialect.  about: what stands beside them, see `_ABOUT`."""
        word = said["type"]
        if not isinstance(word, str) or word not in words:
            raise AnswerInvalid(
                f"a decision is of the type '{said_name(word)}'",
                hint=f"the types are {', '.join(sorted(words))}",
            )
        keys = {"args"} if words is _INBOX else _LANGCHAIN_KEYS.get(word, set())
        unknown = ", ".join(sorted(said_name(key) for key in said if key not in {"type", *keys}))
        if unknown:
            raise AnswerInvalid(
                f"the decision '{word}' has unknown keys: {unknown[:200]}",
                hint=AS_SHOWN if self._asks == "call" else "",
            )
        if word in _REFUSES:
            return {**self._refuse(word, said), **about}
        if word in _ACCEPTS:
            return {**self._accept(word, said), **about}
        if word in _SPEAKS:
            return {**self._speak(word, said), **about}
        return {**self._edit(said), **about}

    def _refuse(self, word: str, said: Mapping[Any, Any]) -> dict[str, Any]:
        # LangChain's rejection of a call lets the run go on, as a denial does here.
        denied = {"denied": True} if word == "reject" and self._asks == "call" else {}
        reason = {"reason": _read_text(said, "message")} if "message" in said else {}
        return {"approved": False, **denied, **reason}

    def _accept(self, word: str, said: Mapping[Any, Any]) -> dict[str, Any]:
        args = said.get("args")
        if self._asks == "words":
            raise AnswerInvalid(
                f"the gate asks a question, and '{word}' has no words",
                hint="send the answer as a text",
            )
        if self._asks == "choice":
            raise AnswerInvalid(
                f"the gate asks for a choice, and '{word}' chooses nothing",
                hint="send what is chosen as the value of an approval",
            )
        if isinstance(args, str) and args.strip():
            raise AnswerInvalid(
                f"'{word}' comes with a text, which nothing would read",
                hint='send {"approved": true, "reason": "…"}, or reject with the reason',
            )
        is_nothing = args is None or args == "" or (args == {} and self._asks != "call")
        if not is_nothing:
            raise AnswerInvalid(
                f"'{word}' comes with other arguments than the gate shows",
                hint=f"accept with null, or with exactly what is shown; {AS_SHOWN}"
                if self._asks == "call"
                else "accept with null, or with exactly what is shown",
            )
        value = {} if isinstance(self._yes, Unset) else {"value": self._yes}
        return {"approved": True, **value}

    def _speak(self, word: str, said: Mapping[Any, Any]) -> dict[str, Any]:
        if self._asks not in {"words", "choice"}:
            raise AnswerInvalid(
                f"'{word}' neither approves nor rejects, and this gate asks for one of the two",
                hint='send {"approved": true} or {"approved": false, "reason": "…"}',
            )
        text = _read_text(said, "args" if word == "response" else "message")
        return {"approved": True, "value": _refuse_ambiguous(text, self._asks)}

    def _edit(self, said: Mapping[Any, Any]) -> dict[str, Any]:
        if self._asks != "call":
            raise AnswerInvalid(
                "this gate stands before no call, so there are no arguments to edit",
                hint="approve it, with a value where it takes one, or reject it",
            )
        edited, name = (said.get("args"), "action") if "args" in said else (None, "name")
        edited = said.get("edited_action") if edited is None else edited
        if not isinstance(edited, Mapping) or set(edited) != {name, "args"}:
            raise AnswerInvalid(f"the edited call is no object with {name} and args")
        if edited[name] != self._call:
            raise AnswerInvalid(
                f"the edited call is of '{said_name(edited[name])}', and the gate stands before "
                f"'{self._call}'",
                hint="only the arguments of a call can be edited; deny it to have another made",
            )
        if not isinstance(edited["args"], Mapping):
            raise AnswerInvalid(
                "the edited arguments are no object", hint=f"give all of them by name; {AS_SHOWN}"
            )
        return {"approved": True, "value": edited["args"]}


def _read_text(said: Mapping[Any, Any], key: str) -> str:
    text = said.get(key)
    if not isinstance(text, str):
        raise AnswerInvalid(f"the {key} of the decision is not a string")
    return text
