"""`Decision`: the answer of a person to a gate, and the hash of what the gate showed.

Decision.approve(by="ann@example.org", reason="fine", value={"subject": "Hello"})
Decision.reject(by="ann@example.org", reason="wrong list")
Decision.deny(by="ann@example.org", reason="not to this address")

A rejection ends the run.  A denial is for gates before a call alone: the call is not made, the outputs of
the node say so, and the run goes on.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, Final, Literal, TypedDict

from pydantic import JsonValue

from cinatra_sdk.data.text.person_texts import person_name, reason_text
from cinatra_sdk.errors import AnswerInvalid, GateChanged
from cinatra_sdk.governed.person import Person, PersonRecord, read_channel
from cinatra_sdk.light_imports.records import dataclass

# ----------------------------------------------------------------------------
# What a gate showed, by its hash: a decision is about that, and about nothing else.
#
# hash_payload({"xRenderer": …, "values": {"subject": "Bees"}})   ->   "5f0c…" (64 hex letters)
# `refuse_other_payload({"approved": True, "shown": "0a1b2c3d4e5f6071"}, payload, gate="review")`
#     ->   GateChanged: gate 'review' shows something else now …
#
# People and commands shorten a hash to its first letters, 16 at the least: two payloads with the same 8
# are made in a second, two with the same 16 are not.


SHORT: Final = 16
"""Letters of a hash in a printed command; a decision has to name as many."""
_FORM: Final = re.compile(f"[0-9a-f]{{{SHORT},64}}")


def hash_payload(payload: Mapping[str, JsonValue]) -> str:
    """sha256 (hex) of a gate's payload, in canonical JSON."""
    text = json.dumps(payload, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def read_shown(shown: object) -> str:
    """The hash that a decision names, or its beginning, in small letters; empty where it names none.

    Raises: `AnswerInvalid` for what is no such hash.
    """
    if shown == "":
        return ""
    if not isinstance(shown, str) or not _FORM.fullmatch(shown.lower()):
        raise AnswerInvalid(
            "'shown' is not the hash of what a gate showed",
            hint=f"give its first {SHORT} to 64 hex letters, as `Gate.shown` and printed commands have them",
        )
    return shown.lower()


def require_shown(shown: object) -> str:
    """As `read_shown`, of what is said: nothing at all is no hash either, and would lift the check of
    whoever filled it in from an empty place.
    """
    named = read_shown(shown) if shown is not None else ""
    if not named:
        raise AnswerInvalid(
            f"'shown' is {'null' if shown is None else 'empty'}, and no hash of what a gate showed",
            hint=f"give its first {SHORT} to 64 hex letters, or leave 'shown' out",
        )
    return named


def _read_said(shown: str | Unset) -> str:
    """What a decision says of what was shown; empty where it says nothing."""
    return "" if isinstance(shown, Unset) else require_shown(shown)


def refuse_other_payload(raw: object, payload: Mapping[str, JsonValue], *, gate: str) -> None:
    """Refuse an answer that is about something else than `payload`.

    Raises: `GateChanged`; `AnswerInvalid` for what is no hash.
    """
    named = ""
    if isinstance(raw, Mapping) and "shown" in raw:
        named = require_shown(raw["shown"])
    if named:
        shows = hash_payload(payload)
        if not shows.startswith(named):
            raise changed(gate, shows, named)


def changed(gate: str, shows: str, named: str, *, run_id: str = "") -> GateChanged:
    """The error of a decision about `named` at a gate that shows `shows`; run_id: of a stored run."""
    of_run = f" of run '{run_id}'" if run_id else ""
    look = f": oasflow show {shlex.quote(run_id)}" if run_id else ""
    return GateChanged(
        f"gate '{gate}'{of_run} shows something else now ({shows[:SHORT]}) than this decision is "
        f"about ({named[:SHORT]})",
        hint=f"see what it shows now, and decide that{look}",
    )


class Unset:
    def __repr__(self) -> str:
        return "UNSET"

    def __bool__(self) -> bool:
        return False


UNSET: Final = Unset()
"""Marks that no value was given, because null is a value."""
_OF_A_REFUSAL: Final = frozenset({"approved", "denied", "reason", "by", "shown"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A person's answer to one visit of a gate."""

    approved: bool
    by: str = ""
    """The person who decided; a durable run refuses an answer without a name.  See
    `cinatra_sdk.data.text.person_texts`.
    """
    reason: str = ""
    """The reason, for the record of decisions: the flow never reads it."""
    value: JsonValue | Unset = UNSET
    """The data or text that the person filled in, for the flow."""
    denied: bool = False
    """Not approved, and the run goes on without the call."""
    at: str = ""
    """ISO 8601 time with zone; set when the decision is recorded."""
    shown: str = ""
    """What its author saw: `Gate.shown`, or its first letters, 16 at the least.  The gate takes the
    decision only while it shows that.  Empty: not said, which is taken where the gate has only ever
    shown one thing.
    """
    person: Person | None = None
    """Who decided, where that is proved: then `by` is their name.  No answer of a flow holds it."""
    channel: str = ""
    """By which way the decision came, such as `inbox` or `slack`; empty where nobody said."""

    def __post_init__(self) -> None:
        """Raises: `AnswerInvalid` for a name with misleading or invisible characters, or another than
        that of the person; for a reason that cannot be kept, for what is no channel, and for what is no
        hash of what a gate showed.
        """
        for name, said in (("approved", self.approved), ("denied", self.denied)):
            if not isinstance(said, bool):
                raise AnswerInvalid(f"'{name}' of a decision is neither True nor False")
        if self.approved and self.denied:
            raise ValueError("a decision approves or denies, not both")
        object.__setattr__(self, "by", person_name(self.by))
        if self.person is not None and self.by != self.person.id:
            raise AnswerInvalid(
                "'by' is another name than that of the person", hint="give the person"
            )
        object.__setattr__(self, "channel", read_channel(self.channel))
        object.__setattr__(self, "reason", reason_text(self.reason))
        object.__setattr__(self, "shown", read_shown(self.shown))

    @property
    def author(self) -> PersonRecord:
        """Who decided, as the row of the decision keeps it."""
        return PersonRecord.of(self.by if self.person is None else self.person, self.channel)

    @property
    def kind(self) -> Literal["approved", "rejected", "denied"]:
        """The word of the record of decisions."""
        return "approved" if self.approved else "denied" if self.denied else "rejected"

    @classmethod
    def approve(
        cls,
        *,
        by: str | Person = "",
        reason: str = "",
        value: JsonValue | Unset = UNSET,
        shown: str | Unset = UNSET,
        channel: str = "",
    ) -> Decision:
        """by: a name, or the person where that is proved.

        Raises: `AnswerInvalid`, also for an empty `shown`, which is left out where it is not said.
        """
        return cls(
            approved=True, reason=reason, value=value, shown=_read_said(shown), channel=channel,
            **_name_author(by),
        )  # fmt: skip

    @classmethod
    def reject(
        cls,
        *,
        by: str | Person = "",
        reason: str = "",
        shown: str | Unset = UNSET,
        channel: str = "",
    ) -> Decision:
        """As `approve`."""
        return cls(
            approved=False, reason=reason, shown=_read_said(shown), channel=channel,
            **_name_author(by),
        )  # fmt: skip

    @classmethod
    def deny(
        cls,
        *,
        by: str | Person = "",
        reason: str = "",
        shown: str | Unset = UNSET,
        channel: str = "",
    ) -> Decision:
        """As `approve`."""
        return cls(
            approved=False, denied=True, reason=reason, shown=_read_said(shown), channel=channel,
            **_name_author(by),
        )  # fmt: skip

    @classmethod
    def of(cls, answer: object, *, by: str = "") -> Decision:
        """`answer` as a decision: a Decision, True, False, or a JSON value to approve with.

        An object with `approved` decides by itself: `{"approved": False, "reason": "…"}` rejects.

        Raises: `AnswerInvalid` for such an object that says neither, or more than a rejection does.
        """
        if isinstance(answer, Decision):
            return answer
        if answer is True:
            return cls.approve(by=by)
        if answer is False:
            return cls.reject(by=by)
        if isinstance(answer, Mapping) and "approved" in answer and answer["approved"] is not True:
            return cls._of_refusal(answer, by=by)
        return cls.approve(by=by, value=answer)  # type: ignore[arg-type]  # every JSON value, checked by approve

    @classmethod
    def _of_refusal(cls, answer: Mapping[str, Any], *, by: str) -> Decision:
        if answer["approved"] is not False:
            raise AnswerInvalid(
                "'approved' is neither true nor false", hint="give True or False, or a Decision"
            )
        others = sorted(str(key) for key in answer if key not in _OF_A_REFUSAL)
        if others:
            raise AnswerInvalid(
                f"the answer rejects, and has {', '.join(others)[:200]} as well",
                hint="give False or Decision.reject(reason=…) to reject, or Decision.approve(value=…) "
                "to approve with such an object",
            )
        said = {key: said for key, said in answer.items() if key in {"denied", "reason", "shown"}}
        if "shown" in said:
            require_shown(said["shown"])
        return cls(approved=False, by=answer.get("by") or by, **said)

    def wire(self) -> dict[str, JsonValue]:
        """The JSON that resumes the gate's interrupt."""
        message: dict[str, JsonValue] = {"approved": self.approved}
        if self.denied:
            message["denied"] = True
        if self.approved and self.at:
            message["approvedAt"] = self.at
        if not isinstance(self.value, Unset):
            message["value"] = self.value
        if self.reason:
            message["reason"] = self.reason
        if self.by:
            message["by"] = self.by
        if self.shown:
            message["shown"] = self.shown
        return message


class _Author(TypedDict):
    by: str
    person: Person | None


def _name_author(by: str | Person) -> _Author:
    return {"by": by.id, "person": by} if isinstance(by, Person) else {"by": by, "person": None}
