"""Who acts: the name that is kept with everything that a person does to a run."""

from __future__ import annotations

from cinatra_sdk.errors import AnswerInvalid
from cinatra_sdk.governed.secrets import find_secret
from cinatra_sdk.text.people import person_name, reason_text


def read_actor(by: str) -> str:
    """The name as it is kept; may be empty.

    Raises: `AnswerInvalid` for a name that a gate would refuse, and for one that holds a credential.
    """
    name = person_name(by)
    if find_secret(name):
        raise AnswerInvalid("'by' holds a credential", hint="give a name")
    return name


def check_reason(reason: str) -> str:
    """The reason as it is kept.

    Raises: `AnswerInvalid` for a reason that no row takes, or that holds a credential.
    """
    said = reason_text(reason)
    if find_secret(said):
        raise AnswerInvalid("the reason holds a credential", hint="leave it out")
    return said
